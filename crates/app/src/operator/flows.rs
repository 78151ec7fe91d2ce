//! Flows, who is in them, and their tokens.

use std::collections::BTreeSet;

use eddyline_auth::Secret;
use eddyline_model::audit::AuditAction;
use eddyline_model::flows::Flow;
use eddyline_model::names::{Email, FlowName};
use eddyline_model::{RoomId, UserId};
use eddyline_storage::Reader;
use serde_json::json;

use super::find_organization;
use super::users::unproved;
use crate::audit::note_flow;
use crate::core::transaction::NoCaller;
use crate::email_addresses::holds_address;
use crate::flows::admit_member;
use crate::flows::{insert_flow, write_flow};
use crate::{Error, Operator, Result};

/// A flow to be made.
#[derive(Clone, Debug)]
pub struct NewFlow {
    /// The organization's name in URLs.
    pub organization: String,
    /// Display name.
    pub name: FlowName,
}

impl Operator {
    /// Makes a flow with nobody in it, and gives its id and its name in URLs.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization.
    pub async fn create_flow(&self, new: NewFlow) -> Result<(String, String)> {
        let (flow, _) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                let organization = find_organization(tx, &new.organization)?;
                let room = insert_flow(tx, organization, &new.name, None)?;
                Ok(tx.flows().find(room)?.ok_or_else(Error::not_found)?)
            })
            .await?;
        Ok((flow.id.0, flow.parameterized_name))
    }

    /// Puts a member of the organization into a flow. Doing it twice does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] for an unknown flow or address, [`Error::conflict`] when the person is
    /// not of the organization, or has the address unproved.
    pub async fn add_flow_user(
        &self,
        organization: &str,
        flow: &str,
        email: &Email,
    ) -> Result<UserId> {
        let (organization, flow, key) = (organization.to_owned(), flow.to_owned(), email.key());
        let (user, event) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                let room = find_flow(tx, &organization, &flow)?.ok_or_else(Error::not_found)?;
                tx.rooms().lock(room)?;
                let account = tx
                    .users()
                    .find_account_by_email(&key)?
                    .ok_or_else(Error::not_found)?;
                let organization = find_organization(tx, &organization)?;
                if !holds_address(tx, &account.user, organization)? {
                    return Err(unproved().into());
                }
                let user = account.user.id;
                if !tx
                    .organization_members()
                    .list_of_user(user)?
                    .iter()
                    .any(|m| m.organization == organization)
                {
                    return Err(
                        Error::conflict("the user is not a member of the organization").into(),
                    );
                }
                if tx.members().find(room, user)?.is_none() {
                    admit_member(tx, room, &account.user)?;
                }
                Ok(user)
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(user)
    }

    /// The names in URLs of all flows of an organization that are not archived.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such an organization.
    pub async fn flow_names(&self, organization: &str) -> Result<BTreeSet<String>> {
        let organization = organization.to_owned();
        self.core
            .read(move |reader| {
                let id = find_organization(reader, &organization)?;
                let flows = reader.flows().list_of_organization(id)?.into_iter();
                let open = flows.filter(|flow| !flow.disabled);
                Ok(open.map(|flow| flow.parameterized_name).collect())
            })
            .await
    }

    /// Archives a flow, which ends all streams of it, or brings it back. Gives its id. Doing it
    /// twice does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such a flow.
    pub async fn archive_flow(
        &self,
        organization: &str,
        flow: &str,
        archived: bool,
    ) -> Result<String> {
        let (organization, flow) = (organization.to_owned(), flow.to_owned());
        let (id, event) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                let room = find_flow(tx, &organization, &flow)?.ok_or_else(Error::not_found)?;
                tx.rooms().lock(room)?;
                let before = tx.flows().find(room)?.ok_or_else(Error::not_found)?;
                let after = Flow {
                    disabled: archived,
                    ..before.clone()
                };
                write_flow(tx, &before, &after)?;
                Ok(after.id.0)
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(id)
    }

    /// Adds an API token to a flow.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`].
    pub async fn create_flow_token(&self, organization: &str, flow: &str) -> Result<Secret> {
        let token = Secret::generate();
        let (hash, organization, flow) = (token.hash(), organization.to_owned(), flow.to_owned());
        self.core
            .transaction(NoCaller::Operator, move |tx| {
                let room = find_flow(tx, &organization, &flow)?.ok_or_else(Error::not_found)?;
                let now = tx.now();
                tx.sources().insert_token(&hash.0, room, None, now)?;
                let detail = json!({"token": hash.credential().0});
                Ok(note_flow(tx, room, AuditAction::TokenCreate, &detail)?)
            })
            .await?;
        Ok(token)
    }
}

pub(super) fn find_flow(
    reader: &mut Reader<'_>,
    organization: &str,
    flow: &str,
) -> eddyline_storage::Result<Option<RoomId>> {
    match reader.organizations().find_id_by_name(organization)? {
        Some(organization) => reader.flows().find_room_by_name(organization, flow),
        None => Ok(None),
    }
}
