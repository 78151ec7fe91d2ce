//! API tokens as their owners see them: for programs that act as the user, with all of their
//! rights.

use eddyline_auth::{Secret, TokenHash};
use eddyline_model::audit::{AuditAction, AuditEntry, AuditTarget};
use eddyline_model::log::Control;
use eddyline_model::names::display_name;
use eddyline_model::{CredentialId, Timestamp, UserId};
use eddyline_storage::{Reader, Result as StoreResult, Tx};
use serde_json::{Value, json};

use crate::actor::{Actor, Credential};
use crate::audit::{differences, note_account};
use crate::{Accounts, Error, Result};

/// The most API tokens that users make for themselves. Operators may add more.
pub const MAX_API_TOKENS: usize = 100;

/// An API token, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiToken {
    /// What it is named by.
    pub id: CredentialId,
    /// What its owner calls it.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Accounts {
    /// The API tokens of the caller, the oldest first.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for applications and flow tokens.
    pub async fn api_tokens(&self, actor: &Actor) -> Result<Vec<ApiToken>> {
        let user = require_first_party_user(actor)?;
        let found = self
            .core
            .store()
            .read(move |reader| tokens_of(reader, user))
            .await?;
        Ok(found.into_iter().map(|(_, token)| token).collect())
    }

    /// Makes an API token for the caller, and gives its secret, which is told here only. The name
    /// has 1 to 100 characters.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for applications and flow tokens, [`Error::invalid`] for the name,
    /// [`Error::conflict`] for a user with [`MAX_API_TOKENS`], [`Error::unauthenticated`] when
    /// what the caller has shown ended meanwhile.
    pub async fn make_api_token(&self, actor: &Actor, name: &str) -> Result<Secret> {
        let (user, name) = (
            require_first_party_user(actor)?,
            display_name(name).map_err(Error::invalid_name)?,
        );
        let secret = Secret::generate();
        let hash = secret.hash();
        self.core
            .transaction_as(actor, move |tx, _| {
                // Held, so that nobody makes one beside this one.
                tx.users().lock(user)?;
                if tx.api_tokens().list_of_user(user)?.len() >= MAX_API_TOKENS {
                    let text =
                        format!("you have {MAX_API_TOKENS} API tokens; end one of them first");
                    return Err(Error::conflict(text).into());
                }
                Ok(insert_token(tx, user, &hash, &name)?)
            })
            .await?;
        Ok(secret)
    }

    /// Gives an API token of the caller's another name, of 1 to 100 characters. Doing it twice does
    /// nothing.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when the caller has no such token, [`Error::invalid`] for the name,
    /// [`Error::denied`] for applications and flow tokens.
    pub async fn rename_api_token(
        &self,
        actor: &Actor,
        id: CredentialId,
        name: &str,
    ) -> Result<()> {
        let name = display_name(name).map_err(Error::invalid_name)?;
        let user = require_first_party_user(actor)?;
        self.with_api_token(actor, id, move |tx, hash, token| {
            if token.name == name {
                return Ok(());
            }
            tx.api_tokens().set_name(&hash.0, &name)?;
            let changed = differences(&[("name", json!(token.name), json!(name))]);
            note_token(tx, user, AuditAction::TokenRename, (hash, &name), &changed)
        })
        .await
    }

    /// Ends an API token of the caller's. It is dead in every process once this answers, and
    /// streams opened with it have ended.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when the caller has no such token, [`Error::denied`] for applications
    /// and flow tokens.
    pub async fn end_api_token(&self, actor: &Actor, id: CredentialId) -> Result<()> {
        let user = require_first_party_user(actor)?;
        self.with_api_token(actor, id, move |tx, hash, token| {
            end_token(tx, user, (hash, token))
        })
        .await
    }

    async fn with_api_token(
        &self,
        actor: &Actor,
        id: CredentialId,
        work: impl Fn(&mut Tx<'_>, &TokenHash, &ApiToken) -> StoreResult<()> + Send + Sync + 'static,
    ) -> Result<()> {
        let user = require_first_party_user(actor)?;
        let ((), event) = self
            .core
            .transaction_as(actor, move |tx, actor| {
                tx.users().lock(user)?;
                // It may be the one that ends.
                actor.lock_credential(tx)?;
                let all = tokens_of(tx, user)?;
                let (hash, token) = all
                    .iter()
                    .find(|(_, token)| token.id == id)
                    .ok_or_else(Error::not_found)?;
                Ok(work(tx, hash, token)?)
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(())
    }
}

/// Adds an API token to a user, who is held.
pub(crate) fn insert_token(
    tx: &mut Tx<'_>,
    user: UserId,
    hash: &TokenHash,
    name: &str,
) -> StoreResult<()> {
    let now = tx.now();
    tx.api_tokens().insert(&hash.0, user, name, now)?;
    note_token(tx, user, AuditAction::TokenCreate, (hash, name), &json!({}))
}

fn note_token(
    tx: &mut Tx<'_>,
    user: UserId,
    action: AuditAction,
    (hash, name): (&TokenHash, &str),
    detail: &Value,
) -> StoreResult<()> {
    let target = AuditTarget::new("api_token", hash.credential().0, name);
    let entry = AuditEntry::new(action, None).on(target);
    note_account(tx, user, entry.with(detail))
}

/// Ends an API token of a user, who is held, with the streams opened with it.
pub(crate) fn end_token(
    tx: &mut Tx<'_>,
    user: UserId,
    (hash, token): (&TokenHash, &ApiToken),
) -> StoreResult<()> {
    if tx.api_tokens().delete(&hash.0)? {
        let named = (hash, token.name.as_str());
        note_token(tx, user, AuditAction::TokenRevoke, named, &json!({}))?;
        tx.record_event(Control::CredentialEnd {
            user,
            credential: hash.credential(),
        });
    }
    Ok(())
}

/// Ends all API tokens of a user, who is held.
pub(crate) fn end_all_tokens(tx: &mut Tx<'_>, user: UserId) -> StoreResult<()> {
    for (hash, token) in tokens_of(tx, user)? {
        end_token(tx, user, (&hash, &token))?;
    }
    Ok(())
}

/// The user, if they ask in person or with a program of their own: an application must not see or
/// make what outlives the permission it was given.
pub(super) fn require_first_party_user(actor: &Actor) -> Result<UserId> {
    match actor.credential() {
        Some(Credential::AccessToken(_)) => Err(Error::denied()),
        _ => Ok(actor.user()?.user.id),
    }
}

/// The API tokens of a user with their digests, the oldest first.
pub(crate) fn tokens_of(
    reader: &mut Reader<'_>,
    user: UserId,
) -> StoreResult<Vec<(TokenHash, ApiToken)>> {
    let found = reader
        .api_tokens()
        .list_of_user(user)?
        .into_iter()
        .filter_map(|token| {
            let hash = TokenHash::from_bytes(&token.hash)?;
            let token = ApiToken {
                id: hash.credential(),
                name: token.name,
                created_at: token.created_at,
            };
            Some((hash, token))
        });
    Ok(found.collect())
}
