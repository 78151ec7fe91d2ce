//! Making invitations and sending them again, within the bounds on both.

use std::collections::HashMap;

use eddyline_model::audit::AuditAction;
use eddyline_model::invitations::Invitation;
use eddyline_model::mail::{MailKind, Purpose};
use eddyline_model::names::{Email, email_key};
use eddyline_model::{InvitationId, UserId};
use eddyline_storage::{NewInvitations, NewMail, Result as StoreResult, Tx};
use serde_json::json;

use super::accept::is_in_force;
use crate::audit::of_flow;
use crate::config::MailQuotas;
use crate::mail_quota::MailCause;
use crate::mail_quota::MailQuotaExceeded;
use crate::pending_invitations::revoke;
use crate::rooms::FlowRoom;
use crate::{Config, Error, InvitationLimits, Limit};

/// What bounds invitations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MailLimits {
    pub(crate) quotas: MailQuotas,
    pub(crate) invitations: InvitationLimits,
}

impl MailLimits {
    pub(crate) fn of(config: &Config) -> Self {
        Self {
            quotas: config.mail_quotas,
            invitations: config.invitations,
        }
    }
}

/// Why an address gets no invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum InvitationRefusal {
    #[error("the flow has {0} pending invitations, and no more are possible; cancel some first")]
    Full(u32),
    #[error(transparent)]
    Mail(MailQuotaExceeded),
}

impl From<InvitationRefusal> for Error {
    fn from(refusal: InvitationRefusal) -> Self {
        match refusal {
            InvitationRefusal::Full(_) => {
                Self::full(Limit::PendingInvitations, refusal.to_string())
            }
            InvitationRefusal::Mail(exceeded) => exceeded.into(),
        }
    }
}

/// Invitations into one flow, by one person and with the same words.
pub(super) struct Sending<'a> {
    limits: MailLimits,
    room: &'a FlowRoom,
    kind: MailKind,
    inviter: Option<UserId>,
    message: Option<&'a str>,
}

/// What became of some addresses; each is in one part, in the order in which they were given.
#[derive(Debug, Default)]
pub(super) struct Sent {
    /// All invitations, new ones and those that were pending.
    pub(super) invitations: Vec<Invitation>,
    /// The addresses of the new ones.
    pub(super) new: Vec<String>,
    /// How many got no mail, since the last one was sent just now.
    pub(super) unmailed: usize,
    pub(super) refused: Vec<(Email, InvitationRefusal)>,
}

impl<'a> Sending<'a> {
    /// By a member of the flow.
    pub(super) fn of_member(
        limits: MailLimits,
        room: &'a FlowRoom,
        inviter: Option<UserId>,
        message: Option<&'a str>,
    ) -> Self {
        Self {
            limits,
            room,
            kind: MailKind::Invitation,
            inviter,
            message,
        }
    }

    /// By a visitor of the page of the join link.
    pub(super) fn of_join_page(limits: MailLimits, room: &'a FlowRoom) -> Self {
        Self {
            limits,
            room,
            kind: MailKind::JoinRequest,
            inviter: None,
            message: None,
        }
    }

    /// Invites each of these addresses, which are different. The same mail goes to an address once
    /// in a pause; within it the invitation gets the new words, and no second mail.
    pub(super) fn send(&self, tx: &mut Tx<'_>, emails: &[&Email]) -> StoreResult<Sent> {
        let keys: Vec<String> = emails.iter().map(|email| email.key()).collect();
        let mut fates = self.plan(tx, &keys)?;
        self.record_mail(tx, &keys, &mut fates)?;
        let made = self.write(tx, emails, &fates)?;
        let mut made = made.into_iter();
        let mut sent = Sent::default();
        for (email, fate) in emails.iter().zip(fates) {
            match fate {
                AddressOutcome::New => {
                    sent.new.push(email.to_string());
                    sent.invitations.extend(made.next());
                }
                AddressOutcome::Again(invitation) => sent.invitations.push(invitation),
                AddressOutcome::Waiting(invitation) => {
                    sent.invitations.push(invitation);
                    sent.unmailed += 1;
                }
                AddressOutcome::Refused(refusal) => sent.refused.push(((*email).clone(), refusal)),
            }
        }
        Ok(sent)
    }

    /// What is to become of each address, as far as quotas on mail allow.
    fn plan(&self, tx: &mut Tx<'_>, keys: &[String]) -> StoreResult<Vec<AddressOutcome>> {
        let room = self.room.id();
        let pending = self.pending_in_force(tx, keys)?;
        let ids: Vec<InvitationId> = pending.iter().map(|invitation| invitation.id).collect();
        let queued = tx.mails().list_waiting_invitations(&ids)?;
        let mut pending: HashMap<String, Invitation> = pending
            .into_iter()
            .map(|invitation| (email_key(&invitation.email), invitation))
            .collect();
        let limit = self.limits.invitations.pending;
        let mut left = match limit {
            0 => i64::MAX,
            limit => {
                i64::from(limit)
                    - tx.invitations()
                        .count_pending(room, self.inviter.is_some())?
            }
        };
        let since = tx.now().plus_millis(-self.limits.invitations.pause_millis);
        let mut fate = |key: &String| match pending.remove(key) {
            Some(known) if known.sent_at > since || queued.contains(&known.id) => {
                AddressOutcome::Waiting(known)
            }
            Some(known) => AddressOutcome::Again(known),
            None if left <= 0 => AddressOutcome::Refused(InvitationRefusal::Full(limit)),
            None => {
                left -= 1;
                AddressOutcome::New
            }
        };
        Ok(keys.iter().map(&mut fate).collect())
    }

    /// The pending invitations to some addresses. Those that cannot be accepted any more end, and
    /// their addresses get new ones.
    fn pending_in_force(&self, tx: &mut Tx<'_>, keys: &[String]) -> StoreResult<Vec<Invitation>> {
        let pending = tx.invitations().list_pending_to(self.room.id(), keys)?;
        let mut known: HashMap<Option<UserId>, bool> = HashMap::new();
        let (mut in_force, mut over) = (Vec::new(), Vec::new());
        for invitation in pending {
            let lets_in = match known.get(&invitation.inviter) {
                Some(lets_in) => *lets_in,
                None => is_in_force(tx, &self.room.flow, invitation.inviter)?,
            };
            known.insert(invitation.inviter, lets_in);
            if lets_in {
                in_force.push(invitation);
            } else {
                over.push(invitation.id);
            }
        }
        revoke(tx, &over)?;
        Ok(in_force)
    }

    /// Records the mail that is to be sent, and refuses what the quotas do not allow.
    fn record_mail(
        &self,
        tx: &mut Tx<'_>,
        keys: &[String],
        fates: &mut [AddressOutcome],
    ) -> StoreResult<()> {
        let organization = Some(self.room.organization.id);
        let cause = MailCause {
            kind: self.kind,
            sender: self.inviter,
            organization,
        };
        let mailed: Vec<usize> = (0..keys.len())
            .filter(|place| fates[*place].is_mailed())
            .collect();
        let recipients: Vec<&str> = mailed.iter().map(|place| keys[*place].as_str()).collect();
        let verdicts = self.limits.quotas.record(tx, cause, &recipients)?;
        for (place, verdict) in mailed.into_iter().zip(verdicts) {
            if let Some(exceeded) = verdict {
                fates[place] = AddressOutcome::Refused(InvitationRefusal::Mail(exceeded));
            }
        }
        Ok(())
    }

    /// Does what was planned, and gives the new invitations in the order of their addresses.
    fn write(
        &self,
        tx: &mut Tx<'_>,
        emails: &[&Email],
        fates: &[AddressOutcome],
    ) -> StoreResult<Vec<Invitation>> {
        let now = tx.now();
        let known = |wanted: fn(&AddressOutcome) -> bool| -> Vec<InvitationId> {
            fates
                .iter()
                .filter(|fate| wanted(fate))
                .filter_map(AddressOutcome::id)
                .collect()
        };
        if let Some(inviter) = self.inviter {
            tx.invitations()
                .touch(&known(|_| true), inviter, self.message)?;
        }
        tx.invitations()
            .set_sent(&known(AddressOutcome::is_mailed), now)?;
        let new: Vec<&Email> = emails
            .iter()
            .zip(fates)
            .filter(|(_, fate)| matches!(fate, AddressOutcome::New))
            .map(|(email, _)| *email)
            .collect();
        let made = tx.invitations().insert(NewInvitations {
            room: self.room.id(),
            emails: &new,
            inviter: self.inviter,
            message: self.message,
            now,
        })?;
        let again = fates.iter().filter_map(|fate| match fate {
            AddressOutcome::Again(invitation) => Some(invitation),
            _ => None,
        });
        let mails: Vec<NewMail> = again
            .chain(&made)
            .map(|invitation| NewMail {
                purpose: Purpose::Invitation(invitation.id),
                recipient: invitation.email.clone(),
                detail: None,
            })
            .collect();
        tx.mails().insert(&mails, now)?;
        if !mails.is_empty() {
            let ids: Vec<i64> = mails.iter().filter_map(invitation_of).collect();
            let entry = of_flow(&self.room.flow, AuditAction::InvitationCreate);
            tx.audit()
                .insert(&entry.with(json!({"invitations": ids})))?;
        }
        Ok(made)
    }
}

/// The number of the invitation that a mail is about.
fn invitation_of(mail: &NewMail) -> Option<i64> {
    match mail.purpose {
        Purpose::Invitation(id) => Some(id.0),
        _ => None,
    }
}

/// What becomes of an address.
enum AddressOutcome {
    /// It gets an invitation.
    New,
    /// The mail of its pending invitation is sent again.
    Again(Invitation),
    /// Its pending invitation was sent a moment ago, or is about to be.
    Waiting(Invitation),
    Refused(InvitationRefusal),
}

impl AddressOutcome {
    fn is_mailed(&self) -> bool {
        matches!(self, Self::New | Self::Again(_))
    }

    fn id(&self) -> Option<InvitationId> {
        match self {
            Self::Again(invitation) | Self::Waiting(invitation) => Some(invitation.id),
            Self::New | Self::Refused(_) => None,
        }
    }
}
