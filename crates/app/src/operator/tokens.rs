//! API tokens of users and tokens of flows: which there are, and ending them.

use eddyline_auth::TokenHash;
use eddyline_model::audit::AuditAction;
use eddyline_model::log::Control;
use eddyline_model::names::Email;
use eddyline_model::{CredentialId, SourceId, Timestamp};
use serde_json::json;

use super::flows::find_flow;
use crate::accounts::{end_token, tokens_of};
use crate::audit::note_flow;
use crate::core::transaction::NoCaller;
use crate::{ApiToken, Error, Operator, Result};

/// A token that posts to a flow, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowToken {
    /// What it is named by.
    pub id: CredentialId,
    /// The source that it is of, and its name; `None` for a token of the flow itself.
    pub source: Option<(SourceId, String)>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Operator {
    /// The API tokens of a user, the oldest first.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without an account with that address.
    pub async fn user_tokens(&self, email: &Email) -> Result<Vec<ApiToken>> {
        let key = email.key();
        self.core
            .read(move |reader| {
                let user = reader
                    .users()
                    .find_account_by_email(&key)?
                    .ok_or_else(Error::not_found)?
                    .user
                    .id;
                Ok(tokens_of(reader, user)?
                    .into_iter()
                    .map(|(_, token)| token)
                    .collect())
            })
            .await
    }

    /// Ends an API token of a user. It is dead in every process once this answers, and streams
    /// opened with it have ended.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without an account with that address, or the user has no such token.
    pub async fn end_user_token(&self, email: &Email, id: CredentialId) -> Result<()> {
        let key = email.key();
        let ((), event) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                let user = tx
                    .users()
                    .find_account_by_email(&key)?
                    .ok_or_else(Error::not_found)?
                    .user
                    .id;
                tx.users().lock(user)?;
                let all = tokens_of(tx, user)?;
                let (hash, token) = all
                    .iter()
                    .find(|(_, token)| token.id == id)
                    .ok_or_else(Error::not_found)?;
                Ok(end_token(tx, user, (hash, token))?)
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(())
    }

    /// The tokens of a flow, its sources' among them, the oldest first.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such a flow.
    pub async fn flow_tokens(&self, organization: &str, flow: &str) -> Result<Vec<FlowToken>> {
        let (organization, flow) = (organization.to_owned(), flow.to_owned());
        self.core
            .read(move |reader| {
                let room = find_flow(reader, &organization, &flow)?.ok_or_else(Error::not_found)?;
                let mut found = Vec::new();
                for token in reader.sources().list_tokens(room)? {
                    let Some(hash) = TokenHash::from_bytes(&token.hash) else {
                        continue;
                    };
                    let source = match token.source {
                        Some(id) => reader.sources().find(id)?,
                        None => None,
                    };
                    // Its token is refused already.
                    if source
                        .as_ref()
                        .is_some_and(|source| source.removed_at.is_some())
                    {
                        continue;
                    }
                    let source = source.map(|source| (source.id, source.name));
                    found.push(FlowToken {
                        id: hash.credential(),
                        source,
                        created_at: token.created_at,
                    });
                }
                Ok(found)
            })
            .await
    }

    /// Ends a token of a flow, or of one of its sources, which stays without one. It is dead in
    /// every process once this answers.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such a flow, or when the flow has no such token.
    pub async fn end_flow_token(
        &self,
        organization: &str,
        flow: &str,
        id: CredentialId,
    ) -> Result<()> {
        let (organization, flow) = (organization.to_owned(), flow.to_owned());
        let ((), event) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                let room = find_flow(tx, &organization, &flow)?.ok_or_else(Error::not_found)?;
                tx.rooms().lock(room)?;
                let named = |hash: &[u8]| {
                    TokenHash::from_bytes(hash).is_some_and(|hash| hash.credential() == id)
                };
                let all = tx.sources().list_tokens(room)?;
                let token = all
                    .iter()
                    .find(|token| named(&token.hash))
                    .ok_or_else(Error::not_found)?;
                tx.sources().delete_token(&token.hash)?;
                note_flow(tx, room, AuditAction::TokenRevoke, &json!({"token": id.0}))?;
                // Posts that were let in before are looked at again.
                tx.rooms().advance_access(room)?;
                tx.record_event(Control::FlowTokens { room });
                Ok(())
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(())
    }
}
