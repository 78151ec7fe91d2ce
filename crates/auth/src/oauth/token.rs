//! What the token endpoint is asked for (RFC 6749, sections 4.1.3, 4.3.2 and 6).

use eddyline_model::Timestamp;
use eddyline_model::grants::AuthorizationCode;
use eddyline_model::scopes::Scopes;

use super::error::OAuthError;
use super::parameters::OAuthParameters;
use super::pkce::Challenge;
use crate::password::Password;
use crate::token::Secret;

/// What a client wants tokens for.
#[derive(Clone, Debug)]
pub enum TokenRequest {
    /// A code that a user brought.
    Code {
        /// The code.
        code: Secret,
        /// Where the code was sent.
        redirect_uri: Option<String>,
        /// The PKCE verifier.
        verifier: Option<String>,
    },
    /// A user's password.
    Password {
        /// E-mail address.
        username: String,
        /// Password.
        password: Password,
        /// The scopes that are wanted.
        scopes: Scopes,
    },
    /// A refresh token.
    Refresh {
        /// The refresh token.
        token: Secret,
        /// Fewer scopes than were granted, if fewer are wanted.
        scopes: Option<Scopes>,
    },
}

impl TokenRequest {
    /// Reads the body of a request.
    ///
    /// # Errors
    ///
    /// [`OAuthError`], saying what is missing or wrong.
    pub fn read(body: &OAuthParameters) -> Result<Self, OAuthError> {
        let needed = |name| body.get(name)?.ok_or_else(|| OAuthError::missing(name));
        let text = |name| Ok::<_, OAuthError>(body.get(name)?.map(str::to_owned));
        let scopes = || {
            let text = body.get("scope")?;
            text.map(|text| text.parse::<Scopes>().map_err(|_| OAuthError::SCOPE))
                .transpose()
        };
        match needed("grant_type")? {
            "authorization_code" => Ok(Self::Code {
                code: Secret::presented(needed("code")?),
                redirect_uri: text("redirect_uri")?,
                verifier: text("code_verifier")?,
            }),
            "password" => Ok(Self::Password {
                username: needed("username")?.to_owned(),
                password: Password::new(needed("password")?),
                scopes: scopes()?
                    .filter(|scopes| !scopes.is_empty())
                    .unwrap_or(Scopes::DEFAULT),
            }),
            "refresh_token" => Ok(Self::Refresh {
                token: Secret::presented(needed("refresh_token")?),
                scopes: scopes()?,
            }),
            _ => Err(OAuthError::UnsupportedGrantType),
        }
    }
}

/// Whether a code that was not used yet is good for the client that presents it: it must not have
/// ended, must be presented with the place it was sent to, and with proof where there was a
/// challenge. Proof without a challenge is refused too: the challenge may have been taken out of
/// the request on its way (RFC 9700, section 4.8.2).
///
/// # Errors
///
/// [`OAuthError::InvalidGrant`].
pub fn check_code(
    code: &AuthorizationCode,
    redirect_uri: Option<&str>,
    verifier: Option<&str>,
    now: Timestamp,
) -> Result<(), OAuthError> {
    if code.expires_at <= now {
        return Err(OAuthError::InvalidGrant("the code has ended"));
    }
    match redirect_uri {
        Some(uri) if uri != code.redirect_uri => {
            return Err(OAuthError::InvalidGrant(
                "redirect_uri is not where the code was sent",
            ));
        }
        None if code.redirect_named => {
            return Err(OAuthError::InvalidGrant(
                "redirect_uri is missing, which the code was asked for with",
            ));
        }
        _ => {}
    }
    match (code.challenge.as_deref().map(Challenge::parse), verifier) {
        (None, None) => Ok(()),
        (Some(Some(challenge)), Some(verifier)) if challenge.is_met_by(verifier) => Ok(()),
        (Some(_), None) => Err(OAuthError::InvalidGrant("code_verifier is missing")),
        (None, Some(_)) => Err(OAuthError::InvalidGrant("there was no code_challenge")),
        (Some(_), Some(_)) => Err(OAuthError::InvalidGrant(
            "code_verifier does not fit the code_challenge",
        )),
    }
}

#[cfg(test)]
mod tests {
    use eddyline_model::scopes::Scope;
    use eddyline_model::{ApplicationId, UserId};

    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<TokenRequest, OAuthError> {
        let pairs = pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        TokenRequest::read(&OAuthParameters::new(pairs))
    }

    /// Shows: 5.7
    #[test]
    fn each_grant_type_has_its_fields() {
        let code = read(&[
            ("grant_type", "authorization_code"),
            ("code", "c"),
            ("redirect_uri", "u"),
            ("code_verifier", "v"),
        ]);
        let Ok(TokenRequest::Code {
            code,
            redirect_uri: Some(uri),
            verifier: Some(verifier),
        }) = code
        else {
            panic!("{code:?}")
        };
        assert_eq!((code.expose(), &*uri, &*verifier), ("c", "u", "v"));

        let password = read(&[
            ("grant_type", "password"),
            ("username", "ann@x.example"),
            ("password", "p"),
        ]);
        assert!(matches!(
            password,
            Ok(TokenRequest::Password {
                scopes: Scopes::DEFAULT,
                ..
            })
        ));

        let refresh = read(&[
            ("grant_type", "refresh_token"),
            ("refresh_token", "r"),
            ("scope", "flow"),
        ]);
        let wanted = Scopes::of(&[Scope::Flow]);
        assert!(
            matches!(refresh, Ok(TokenRequest::Refresh { scopes: Some(scopes), .. }) if scopes == wanted)
        );
    }

    #[test]
    fn what_is_missing_or_comes_twice_is_named() {
        let says = |pairs: &[(&str, &str)]| read(pairs).expect_err("is refused").to_string();
        assert_eq!(says(&[]), "grant_type is missing");
        assert_eq!(
            says(&[("grant_type", "authorization_code")]),
            "code is missing"
        );
        assert_eq!(
            says(&[("grant_type", "authorization_code"), ("code", "")]),
            "code is missing"
        );
        assert_eq!(
            says(&[("grant_type", "password"), ("username", "ann")]),
            "password is missing"
        );
        assert_eq!(
            says(&[("grant_type", "refresh_token")]),
            "refresh_token is missing"
        );
        assert_eq!(
            says(&[("grant_type", "password"), ("grant_type", "password")]),
            "grant_type is given more than once"
        );
    }

    #[test]
    fn unknown_grant_types_and_scopes_are_refused() {
        assert_eq!(
            read(&[("grant_type", "implicit")]).err(),
            Some(OAuthError::UnsupportedGrantType)
        );
        let scope = [
            ("grant_type", "refresh_token"),
            ("refresh_token", "r"),
            ("scope", "everything"),
        ];
        assert_eq!(read(&scope).err(), Some(OAuthError::SCOPE));
    }

    /// RFC 7636, appendix B.
    const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

    fn code(redirect_named: bool, challenge: Option<&str>) -> AuthorizationCode {
        AuthorizationCode {
            application: ApplicationId(1),
            user: UserId(1),
            scopes: Scopes::DEFAULT,
            redirect_uri: "https://a.example/".into(),
            redirect_named,
            challenge: challenge.map(str::to_owned),
            expires_at: Timestamp(1000),
            grant: None,
        }
    }

    #[test]
    fn a_code_is_good_at_the_place_it_was_sent_to_until_it_ends() {
        let there = Some("https://a.example/");
        let good =
            |named, uri, now| check_code(&code(named, None), uri, None, Timestamp(now)).is_ok();
        assert!(good(true, there, 999) && good(false, there, 999) && good(false, None, 999));
        assert!(
            !good(true, None, 999),
            "it was named, so it must be named again"
        );
        for named in [true, false] {
            assert!(!good(named, Some("https://a.example"), 999));
            assert!(!good(named, there, 1000));
        }
    }

    #[test]
    fn a_challenge_must_be_met_and_proof_without_one_is_refused() {
        let good = |challenge, verifier| {
            check_code(&code(false, challenge), None, verifier, Timestamp(0)).is_ok()
        };
        assert!(good(None, None));
        assert!(good(Some(CHALLENGE), Some(VERIFIER)));
        assert!(!good(Some(CHALLENGE), None));
        assert!(!good(Some(CHALLENGE), Some(CHALLENGE)));
        assert!(!good(None, Some(VERIFIER)));
        assert!(!good(Some("broken"), Some(VERIFIER)));
    }
}
