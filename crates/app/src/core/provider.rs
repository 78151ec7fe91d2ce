//! Identity providers as callers.

use eddyline_auth::TokenHash;
use eddyline_model::OrganizationId;
use eddyline_model::deletion::DeletionTarget;
use eddyline_model::identities::Provider;
use eddyline_storage::{Reader, Tx};

use super::result::TxResult;
use crate::Error;
use crate::quota::{QuotaKey, QuotaSubject};

/// An identity provider that has shown its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScimProvider {
    pub(crate) organization: OrganizationId,
    pub(crate) uid: String,
    pub(crate) token: TokenHash,
}

impl ScimProvider {
    /// What its addresses name its organization by.
    #[must_use]
    pub fn uid(&self) -> &str {
        &self.uid
    }

    /// The key that the provider's use of resources counts for: its organization.
    #[must_use]
    pub const fn quota_subject(&self) -> QuotaSubject {
        QuotaSubject::organization(self.organization)
    }

    /// The provider's own key, so that the members of its organization do not delay its writes.
    pub(crate) const fn own_key(&self) -> QuotaKey {
        QuotaKey::Tokens(self.organization)
    }

    /// Checks that the token has not been replaced.
    ///
    /// # Errors
    ///
    /// [`Error::denied`].
    pub(crate) fn verify(&self, reader: &mut Reader<'_>) -> TxResult<()> {
        let provider = reader.identities().find_provider(&self.uid)?;
        let holds = provider.is_some_and(|provider| {
            provider.organization == self.organization && is_token_of(&provider, &self.token)
        });
        if !holds {
            return Err(wrong_token().into());
        }
        self.refuse_closed(reader)
    }

    /// Refuses a provider whose organization is closed.
    fn refuse_closed(&self, reader: &mut Reader<'_>) -> TxResult<()> {
        let deletion = DeletionTarget::Organization(self.organization);
        match reader.deletions().find(deletion)? {
            Some(deletion) => Err(Error::closed(deletion.due_at).into()),
            None => Ok(()),
        }
    }

    /// The same, and keeps it from being replaced before the transaction ends.
    ///
    /// # Errors
    ///
    /// [`Error::denied`].
    pub(crate) fn lock_credential(&self, tx: &mut Tx<'_>) -> TxResult<()> {
        let holds = tx.identities().lock_provider(&self.uid, &self.token.0)?;
        if holds {
            Ok(())
        } else {
            Err(wrong_token().into())
        }
    }

    /// Who it is in records of what was done.
    pub(crate) fn actor(&self) -> String {
        format!("scim:{}", self.uid)
    }
}

pub(crate) fn wrong_token() -> Error {
    Error::denied().with_message("The token is not valid")
}

pub(crate) fn is_token_of(provider: &Provider, shown: &TokenHash) -> bool {
    TokenHash::from_bytes(&provider.token_hash).is_some_and(|hash| hash == *shown)
}
