//! What users allow applications: a grant is what came of one consent, and all tokens that follow
//! from it are one family.

use crate::scopes::Scopes;
use crate::{ApplicationId, GrantId, Timestamp, UserId};

/// What a user allowed an application at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Its number.
    pub id: GrantId,
    /// The application.
    pub application: ApplicationId,
    /// The user.
    pub user: UserId,
    /// What the application may do for the user.
    pub scopes: Scopes,
    /// How many times its refresh token has been replaced: the present one bears this number.
    pub generation: i64,
    /// When it was given.
    pub created_at: Timestamp,
    /// When tokens were last issued.
    pub used_at: Timestamp,
}

/// A code on its way from the consent to the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationCode {
    /// Whose it is.
    pub application: ApplicationId,
    /// Who consented.
    pub user: UserId,
    /// To what.
    pub scopes: Scopes,
    /// Where the code was sent.
    pub redirect_uri: String,
    /// Whether the request named that place, so that the client that exchanges the code must name
    /// it too.
    pub redirect_named: bool,
    /// The PKCE challenge (RFC 7636), if there was one; the method is S256.
    pub challenge: Option<String>,
    /// When it ends.
    pub expires_at: Timestamp,
    /// What it was exchanged for; a code can be used once.
    pub grant: Option<GrantId>,
}

/// An access token, without its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessToken {
    /// What it came from.
    pub grant: GrantId,
    /// What it may be used for: what was granted, or less.
    pub scopes: Scopes,
    /// When it was issued.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// A refresh token, without its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshToken {
    /// What it came from.
    pub grant: GrantId,
    /// Which of the grant's refresh tokens it is, counted from 0.
    pub generation: i64,
    /// When it ends, unless it is used before.
    pub expires_at: Timestamp,
}

/// What to make of a refresh token that somebody presents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refresh {
    /// It is the present one: it is replaced.
    Rotate,
    /// It was replaced, and its successor has not been used: perhaps the answer with the successor
    /// was lost and this is a retry. It is refused, and nothing else happens.
    Refuse,
    /// Its successor was used, so two parties hold tokens of one family, and one of them stole
    /// them. It is refused and the family ends (RFC 9700, section 4.14.2).
    EndFamily,
    /// It is too old.
    Expired,
}

impl RefreshToken {
    /// What becomes of the token when it is presented now; its grant has this `generation`.
    #[must_use]
    pub fn presented(&self, generation: i64, now: Timestamp) -> Refresh {
        match generation - self.generation {
            ..=0 if self.expires_at <= now => Refresh::Expired,
            ..=0 => Refresh::Rotate,
            1 => Refresh::Refuse,
            _ => Refresh::EndFamily,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(generation: i64) -> RefreshToken {
        RefreshToken {
            grant: GrantId(1),
            generation,
            expires_at: Timestamp(1000),
        }
    }

    #[test]
    fn only_the_present_token_is_replaced() {
        assert_eq!(token(3).presented(3, Timestamp(999)), Refresh::Rotate);
        assert_eq!(token(3).presented(3, Timestamp(1000)), Refresh::Expired);
    }

    #[test]
    fn a_token_whose_successor_was_not_used_may_be_a_retry() {
        assert_eq!(token(2).presented(3, Timestamp(0)), Refresh::Refuse);
        assert_eq!(token(2).presented(3, Timestamp(5000)), Refresh::Refuse);
    }

    #[test]
    fn a_token_whose_successor_was_used_ends_the_family_however_old_it_is() {
        for now in [0, 5000] {
            assert_eq!(token(1).presented(3, Timestamp(now)), Refresh::EndFamily);
            assert_eq!(token(0).presented(3, Timestamp(now)), Refresh::EndFamily);
        }
    }
}
