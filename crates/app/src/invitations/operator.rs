//! Inviting addresses in the name of a member, as operators do.

use std::collections::BTreeMap;

use eddyline_model::names::{Email, email_key};
use eddyline_model::policy::{self, FlowAction, FlowCaller, MembershipState};
use eddyline_model::{OrganizationId, RoomId, UserId};
use eddyline_storage::{Abort, Tx};

use super::import::{ImportItem, Outcome, PORTION, invite};
use super::send::Sending;
use crate::core::transaction::{NoCaller, TxResult};
use crate::invitations::MailLimits;
use crate::rooms::FlowRoom;
use crate::{Error, Invitations, PRESENT_ADDRESS, Result};

/// Invitations into a flow that an operator has sent in the name of a member.
#[derive(Clone, Debug)]
pub struct OperatorInvitations {
    /// The organization, by its name in URLs.
    pub organization: String,
    /// The flow, by its own name in URLs.
    pub flow: String,
    /// Who invites: a member of the flow.
    pub inviter: Email,
    /// Who is invited.
    pub addresses: Vec<Email>,
    /// The words of the inviter in the mail.
    pub message: Option<String>,
    /// Whether nothing is to be done but to find out what would be.
    pub is_rehearsal: bool,
}

/// What became of an address that was invited into a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressFate {
    /// It was invited.
    Invited,
    /// An invitation to it was pending, and was mailed again, unless it was mailed just now.
    Pending,
    /// Its owner, a member of the organization, was added to the flow.
    Added,
    /// Its owner is in the flow.
    Present,
    /// It was refused, for this reason.
    Refused(String),
}

/// Why a portion was not committed.
enum NotCommitted {
    Refused(Error),
    Rehearsed(Box<(Outcome, Vec<String>)>),
}

impl From<Error> for NotCommitted {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl Invitations {
    /// Invites addresses into a flow in the name of a member, as [`Invitations::import`] does for
    /// members, and gives what became of each, in their order. Quotas on mail count it for the member
    /// and the organization.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without such a flow, [`Error::conflict`] when the inviter may not invite
    /// into it, or its organization is inactive.
    pub async fn invite_for(
        &self,
        wanted: OperatorInvitations,
    ) -> Result<Vec<(Email, AddressFate)>> {
        let flow = self
            .rooms
            .room_id_by_name(&wanted.organization, &wanted.flow);
        let (flow, inviter) = (flow.await?, wanted.inviter.key());
        let (organization, user) = self
            .core
            .read(move |reader| {
                let account = reader.users().find_account_by_email(&inviter)?;
                let user = account.ok_or_else(not_inviting)?.user.id;
                let flow = reader.flows().find(flow)?.ok_or_else(Error::not_found)?;
                Ok((flow.organization, user))
            })
            .await?;
        let place = (organization, flow, user);
        let (mut done, mut added) = (Outcome::default(), Vec::new());
        let (mut last, mut is_changed) = (None, false);
        for portion in wanted.addresses.chunks(PORTION) {
            let (part, keys, event) = self.portion_for(place, portion.to_vec(), &wanted).await?;
            is_changed |= !keys.is_empty();
            done.extend(part);
            added.extend(keys);
            last = event.or(last);
        }
        if !wanted.is_rehearsal {
            self.mail.mail_is_queued();
            last = self.announce((flow, Some(user)), &done).await?.or(last);
            if is_changed {
                self.core.wait_until_applied(last).await;
            }
        }
        Ok(fates(&wanted.addresses, &done, &added))
    }

    /// Invites a portion, and gives the keys of the addresses whose owners were added.
    async fn portion_for(
        &self,
        (organization, flow, user): (OrganizationId, RoomId, UserId),
        portion: Vec<Email>,
        wanted: &OperatorInvitations,
    ) -> Result<(Outcome, Vec<String>, Option<eddyline_model::EventId>)> {
        let (limits, message) = (MailLimits::of(self.core.config()), wanted.message.clone());
        let entries: Vec<ImportItem> = portion.into_iter().map(Ok).collect();
        let is_rehearsal = wanted.is_rehearsal;
        let committed = self
            .core
            .store()
            .transaction(NoCaller::Operator, move |tx| {
                let room = match lock_for(tx, (organization, flow, user)) {
                    Ok(room) => room,
                    Err(Abort::Store(error)) => return Err(Abort::Store(error)),
                    Err(other) => {
                        return Err(Abort::Rejected(Error::from(other).into()));
                    }
                };
                let sending = Sending::of_member(limits, &room, Some(user), message.as_deref());
                let (outcome, add) = invite(tx, &room, &entries, &sending)?;
                let keys: Vec<String> = add.iter().map(|user| email_key(&user.email)).collect();
                match is_rehearsal {
                    true => Err(Abort::Rejected(NotCommitted::Rehearsed(Box::new((
                        outcome, keys,
                    ))))),
                    false => Ok((outcome, keys)),
                }
            })
            .await;
        match committed {
            Ok(((outcome, keys), event)) => Ok((outcome, keys, event)),
            Err(Abort::Rejected(NotCommitted::Rehearsed(tried))) => Ok((tried.0, tried.1, None)),
            Err(
                Abort::Rejected(NotCommitted::Refused(error))
                | Abort::Commit {
                    reason: NotCommitted::Refused(error),
                    ..
                },
            ) => Err(error),
            Err(Abort::Store(error)) => Err(error.into()),
            Err(Abort::Commit { .. }) => Err(Error::internal("a rehearsal was committed")),
        }
    }
}

fn not_inviting() -> Error {
    Error::conflict("the inviter is no member of the flow; name a member with --by")
}

/// Holds a flow, into which the user may invite.
fn lock_for(
    tx: &mut Tx<'_>,
    (organization, flow, user): (OrganizationId, RoomId, UserId),
) -> TxResult<FlowRoom> {
    tx.rooms().lock(flow)?;
    let room = FlowRoom::load(tx, flow)?.ok_or_else(Error::not_found)?;
    let memberships = tx.organization_members().list_of_user(user)?;
    let membership = memberships
        .iter()
        .find(|of| of.organization == organization);
    let place = match room.member(user) {
        Some(member) if member.blocked => MembershipState::Blocked,
        Some(_) => MembershipState::Inside,
        None => MembershipState::Outside,
    };
    let caller = FlowCaller::User {
        user,
        role: membership.map(|of| of.role),
        place,
    };
    if policy::write(&room.organization).is_err() {
        return Err(Error::conflict("the organization is inactive").into());
    }
    policy::flow(caller, &room.flow, FlowAction::Invite).map_err(|_| not_inviting())?;
    Ok(room)
}

/// What became of each address.
fn fates(addresses: &[Email], done: &Outcome, added: &[String]) -> Vec<(Email, AddressFate)> {
    let mut known = BTreeMap::new();
    for invitation in &done.invitations {
        known.insert(email_key(&invitation.email), AddressFate::Pending);
    }
    for email in &done.new {
        known.insert(email_key(email), AddressFate::Invited);
    }
    for key in added {
        known.insert(key.clone(), AddressFate::Added);
    }
    for (email, why) in done.erroneous.iter().flatten() {
        let fate = match why.as_str() {
            PRESENT_ADDRESS => AddressFate::Present,
            why => AddressFate::Refused(why.to_owned()),
        };
        known.insert(email_key(email), fate);
    }
    let fate = |email: &Email| known.get(&email.key()).cloned();
    let all = addresses.iter();
    all.filter_map(|email| Some((email.clone(), fate(email)?)))
        .collect()
}
