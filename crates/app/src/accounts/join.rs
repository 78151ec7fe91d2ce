//! Coming into a flow by its join link, which anybody who has it may use.

use std::net::IpAddr;

use eddyline_model::UserId;
use eddyline_model::flows::Flow;
use eddyline_model::names::Email;
use eddyline_model::organizations::Organization;
use eddyline_model::policy::{self, MembershipState};
use eddyline_storage::{Reader, Tx};

use super::FlowPath;
use crate::actor::Actor;
use crate::core::transaction::NoCaller;
use crate::core::transaction::TxResult;
use crate::invitations::MailLimits;
use crate::invitations::accept::request_join_in;
use crate::join::join_flow;
use crate::{Accounts, Error, Result};

/// What the page of a join link shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinLink {
    /// The flow's name.
    pub flow_name: String,
    /// The name of its organization.
    pub organization_name: String,
    /// Where the flow is.
    pub path: FlowPath,
    /// Whether the one who asks is in it already.
    pub joined: bool,
}

impl Accounts {
    /// What a join link leads to: the flow with this secret, whose name in URLs stands beside it.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] when there is no such flow, it takes no members by a link, or it
    /// is archived; [`Error::denied`] for one who is blocked from it, and when its organization is
    /// inactive.
    pub async fn join_link(
        &self,
        actor: Option<&Actor>,
        secret: &str,
        flow: &str,
    ) -> Result<JoinLink> {
        let (secret, name, user) = (
            secret.to_owned(),
            flow.to_owned(),
            actor.and_then(Actor::user_id),
        );
        self.core
            .read(move |reader| {
                let Door {
                    flow,
                    organization,
                    place,
                } = find(reader, &secret, &name, user)?;
                Ok(JoinLink {
                    path: FlowPath::of(&organization, &flow),
                    flow_name: flow.name,
                    organization_name: organization.name,
                    joined: place == MembershipState::Inside,
                })
            })
            .await
    }

    /// Brings somebody who is signed in into a flow by its join link, and gives where it is. Who is
    /// in already stays.
    ///
    /// # Errors
    ///
    /// As in [`Accounts::join_link`]; [`Error::conflict`] when the organization is full,
    /// [`Error::invalid`] when another user there has the nick.
    pub async fn join_by_link(&self, actor: &Actor, secret: &str, flow: &str) -> Result<FlowPath> {
        actor.user()?;
        let (secret, name) = (secret.to_owned(), flow.to_owned());
        let (path, event) = self
            .core
            .transaction_as(actor, move |tx, actor| {
                let user = actor.user()?.user.clone();
                let door = find_locked(tx, &secret, &name, Some(user.id))?;
                join_flow(tx, door.flow.room, &user, false)?;
                Ok(FlowPath::of(&door.organization, &door.flow))
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(path)
    }

    /// Has an invitation mailed to an address by a join link: who has no account must first prove
    /// that the address is theirs. The answer does not tell whether there is an account.
    ///
    /// # Errors
    ///
    /// As in [`Accounts::join_link`], and [`Error::too_many_requests`] for a client that asks too
    /// often, [`Error::mail_quota`] for the quota of the organization, [`Error::conflict`] for too
    /// many pending requests.
    pub async fn request_join(
        &self,
        secret: &str,
        flow: &str,
        email: &Email,
        client: IpAddr,
    ) -> Result<()> {
        self.mail.count_mail_request(&email.key(), client)?;
        let (secret, name, email) = (secret.to_owned(), flow.to_owned(), email.clone());
        let limits = MailLimits::of(self.core.config());
        let ((), event) = self
            .core
            .transaction(NoCaller::Link, move |tx| {
                let door = find_locked(tx, &secret, &name, None)?;
                request_join_in(tx, limits, door.flow.room, &email)
            })
            .await?;
        self.mail.mail_is_queued();
        self.core.wait_until_applied(event).await;
        Ok(())
    }
}

/// A flow that can be joined by its link, as somebody finds it.
struct Door {
    flow: Flow,
    organization: Organization,
    place: MembershipState,
}

/// Finds the flow and locks its room, so that a concurrent request cannot replace the link before
/// this transaction ends.
fn find_locked(tx: &mut Tx<'_>, secret: &str, name: &str, user: Option<UserId>) -> TxResult<Door> {
    let found = find(tx, secret, name, user)?;
    tx.rooms().lock(found.flow.room)?;
    find(tx, secret, name, user)
}

fn find(reader: &mut Reader<'_>, secret: &str, name: &str, user: Option<UserId>) -> TxResult<Door> {
    let room = reader
        .flows()
        .find_room_by_join_secret(secret)?
        .ok_or_else(Error::not_found)?;
    let flow = reader.flows().find(room)?.ok_or_else(Error::not_found)?;
    if flow.parameterized_name != name {
        return Err(Error::not_found().into());
    }
    let organization = reader
        .organizations()
        .find(flow.organization)?
        .ok_or_else(Error::not_found)?;
    let membership = match user {
        Some(user) => reader.members().find(room, user)?,
        None => None,
    };
    let place = match membership {
        None => MembershipState::Outside,
        Some(membership) if membership.blocked => MembershipState::Blocked,
        Some(_) => MembershipState::Inside,
    };
    policy::join_by_link(place, &flow).map_err(Error::from)?;
    policy::write(&organization).map_err(Error::from)?;
    Ok(Door {
        flow,
        organization,
        place,
    })
}
