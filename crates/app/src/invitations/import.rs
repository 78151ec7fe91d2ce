//! Inviting many addresses at once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use eddyline_model::address_list::{self, AddressEntry};
use eddyline_model::audit::AuditAction;
use eddyline_model::flows::FlowMembership;
use eddyline_model::invitations::Invitation;
use eddyline_model::log::Control;
use eddyline_model::names::Email;
use eddyline_model::policy::FlowAction;
use eddyline_model::users::User;
use eddyline_model::{EventId, MessageId, RoomId, Timestamp, UserId};
use eddyline_storage::{Result as StoreResult, Tx};
use eddyline_streaming::presence::PresenceState;
use eddyline_wire::{FlowUser, ImportedInvitations};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::send::{InvitationRefusal, Sending};
use crate::action_message::action;
use crate::actor::Actor;
use crate::audit::note_flow_member;
use crate::core::transaction::NoCaller;
use crate::email_addresses::holds_address;
use crate::invitations::MailLimits;
use crate::mail_quota::MailQuotaExceeded;
use crate::pending_invitations::mark_accepted;
use crate::presence::presence_field;
use crate::quota::{KeyedSemaphore, Quota, QuotaKey};
use crate::rooms::FlowRoom;
use crate::{Error, Invitations, Limit, Result};

/// How many entries a list may have.
const MAX_ITEMS: usize = 10_000;
/// How many entries one transaction takes. Other writes come between them.
pub(super) const PORTION: usize = 200;
/// The bounds on imports under way, in the process and for one organization. They work in turns, so
/// more of them would only take turns from those of others.
const IMPORTS: Quota = Quota::new(32, 2, 2).capped();
/// Why an address is refused whose user is blocked from the flow.
pub const BLOCKED_ADDRESS: &str = "is blocked from the flow";
/// Why an address is refused whose user is in the flow.
pub const PRESENT_ADDRESS: &str = "is already in the flow";
/// How many addresses the flow is told of by name.
const TOLD: usize = 50;

/// An entry of a list, each of which is there once: an address, or what stands in its place and
/// what is wrong with it.
pub(super) type ImportItem = std::result::Result<Email, (String, String)>;

/// The imports that are under way.
#[derive(Debug)]
pub(crate) struct Imports {
    permits: KeyedSemaphore,
    /// Held for each portion, so that a post waits for one of them at most, however many imports
    /// there are.
    portion: Mutex<()>,
}

impl Default for Imports {
    fn default() -> Self {
        Self {
            permits: KeyedSemaphore::new(IMPORTS),
            portion: Mutex::new(()),
        }
    }
}

/// An import into a flow.
struct Import {
    inviting: Invitations,
    actor: Actor,
    room: Arc<FlowRoom>,
    message: Option<String>,
}

/// What became of the entries, each of which is in one place, in the order of the list.
#[derive(Default)]
pub(super) struct Outcome {
    /// How many of the invitations got no mail, since the last one was sent just now.
    unmailed: usize,
    pub(super) invitations: Vec<Invitation>,
    /// The addresses of new invitations.
    pub(super) new: Vec<String>,
    added: Vec<FlowUser>,
    /// The nicks of those who were added.
    nicks: Vec<String>,
    pub(super) erroneous: Vec<BTreeMap<String, String>>,
    /// A quota on mail that was exceeded.
    exceeded: Option<MailQuotaExceeded>,
}

impl Outcome {
    fn refuse(&mut self, text: &str, why: impl Into<String>) {
        self.erroneous
            .push(BTreeMap::from([(text.to_owned(), why.into())]));
    }

    pub(super) fn extend(&mut self, more: Self) {
        self.unmailed += more.unmailed;
        self.invitations.extend(more.invitations);
        self.new.extend(more.new);
        self.added.extend(more.added);
        self.nicks.extend(more.nicks);
        self.erroneous.extend(more.erroneous);
        self.exceeded = self.exceeded.or(more.exceeded);
    }
}

/// What came of a list of addresses that were invited.
#[derive(Debug)]
pub struct InvitedList {
    /// What became of each.
    pub addresses: ImportedInvitations,
    /// How many of the invitations were pending and got no mail: the last one was sent just now.
    pub unmailed: usize,
}

impl Invitations {
    /// Invites a list of addresses to a flow. Users of its organization who hold their address are
    /// added at once. Each address and each malformed entry of the list is in one part of the
    /// answer, once. Invitations that are pending already are sent again, unless they were sent
    /// just now.
    ///
    /// The list is worked in portions, each a transaction of its own. An import that was
    /// interrupted is simply repeated: what was done is found done.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`] for a list without entries or with more than 10,000;
    /// [`Error::not_found`], [`Error::denied`], also when the organization is inactive;
    /// [`Error::too_many_requests`] while too many imports are under way; [`Error::mail_quota`]
    /// when a quota on mail leaves nothing to be done.
    pub async fn import(
        &self,
        actor: &Actor,
        room: &Arc<FlowRoom>,
        list: &str,
        message: Option<String>,
    ) -> Result<InvitedList> {
        let list = read(list)?;
        let permit = self
            .imports
            .permits
            .acquire(QuotaKey::Organization(room.organization.id).into(), 1)
            .map_err(|exceeded| exceeded.of(Limit::Imports))?;
        let import = Import {
            inviting: self.clone(),
            actor: actor.clone(),
            room: Arc::clone(room),
            message,
        };
        // To its end: a client that hangs up must not keep the flow from hearing of what was done.
        let work = async move {
            let _permit = permit;
            import.run(list).await
        };
        self.core.jobs().finish("import of invitations", work).await
    }
}

impl Import {
    async fn run(self, list: Vec<ImportItem>) -> Result<InvitedList> {
        let mut done = Outcome::default();
        let (mut last, mut failed) = (None, None);
        for portion in list.chunks(PORTION) {
            match self.portion(portion.to_vec()).await {
                Ok((part, event)) => {
                    done.extend(part);
                    last = event.or(last);
                }
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        // Also of an import that broke off: what was done stays.
        if let Some(event) = self.announce(&done).await? {
            last = Some(event);
        }
        // Invitations change nothing that a process remembers.
        if !done.added.is_empty() {
            self.inviting.core.wait_until_applied(last).await;
        }
        if let Some(error) = failed {
            return Err(error);
        }
        match done.exceeded {
            Some(exceeded) if done.invitations.is_empty() && done.added.is_empty() => {
                Err(Error::from(exceeded))
            }
            _ => Ok(InvitedList {
                addresses: ImportedInvitations {
                    invitations: done
                        .invitations
                        .iter()
                        .map(|i| self.inviting.show(&self.room, i))
                        .collect(),
                    added_users: done.added,
                    erroneous_emails: done.erroneous,
                },
                unmailed: done.unmailed,
            }),
        }
    }

    async fn portion(&self, entries: Vec<ImportItem>) -> Result<(Outcome, Option<EventId>)> {
        let inviting = &self.inviting;
        // Counted before the lock is taken: while this caller waits for its own transactions,
        // imports of others go on.
        let counted = inviting
            .core
            .store()
            .transaction_permit(self.actor.quota_keys())
            .await?;
        let _turn = inviting.imports.portion.lock().await;
        let (limits, message) = (MailLimits::of(inviting.core.config()), self.message.clone());
        let base = inviting.core.config().addresses.base.clone();
        // A stream shows the users in the flow from its next connection on.
        let presence = presence_field(inviting.core.config().profile, PresenceState::Offline);
        let change = inviting.rooms.change_flow(
            &self.actor,
            self.room.id(),
            FlowAction::Invite,
            move |tx, actor, room| {
                let sending = Sending::of_member(limits, room, actor.user_id(), message.as_deref());
                let (mut outcome, add) = invite(tx, room, &entries, &sending)?;
                let now = tx.now();
                outcome.added = add
                    .iter()
                    .map(|user| FlowUser {
                        presence,
                        ..added(room, user, now, &base)
                    })
                    .collect();
                Ok(outcome)
            },
        );
        let done = inviting.core.store().run_counted(counted, change).await?;
        inviting.mail.mail_is_queued();
        Ok(done)
    }

    async fn announce(&self, done: &Outcome) -> Result<Option<EventId>> {
        let by = (self.room.id(), self.actor.user_id());
        self.inviting.announce(by, done).await
    }
}

impl Invitations {
    /// Tells a flow once, whatever was done: who was added, or else who was invited.
    pub(super) async fn announce(
        &self,
        (room, actor): (RoomId, Option<UserId>),
        done: &Outcome,
    ) -> Result<Option<EventId>> {
        let (kind, description) = if !done.nicks.is_empty() {
            ("add_people", json!(done.nicks.join(",")))
        } else if !done.new.is_empty() {
            ("invite", invited_in_words(&done.new))
        } else {
            return Ok(None);
        };
        let told = self.core.transaction(NoCaller::Announcement, move |tx| {
            tx.rooms().lock(room)?;
            // Nothing is said in an archived flow.
            if tx.flows().find(room)?.is_some_and(|flow| !flow.disabled) {
                let draft = action(tx, room, actor, kind, &description);
                tx.messages().append(&[draft])?;
            }
            Ok(())
        });
        Ok(told.await?.1)
    }
}

/// Invites a portion into a flow, which is held, and gives what became of each entry, with the users
/// who were added.
pub(super) fn invite(
    tx: &mut Tx<'_>,
    room: &FlowRoom,
    entries: &[ImportItem],
    sending: &Sending<'_>,
) -> StoreResult<(Outcome, Vec<User>)> {
    let Sorted {
        invite,
        add,
        mut outcome,
    } = sort(tx, room, entries)?;
    add_members(tx, room.id(), &add)?;
    let emails: Vec<&Email> = invite.iter().collect();
    let sent = sending.send(tx, &emails)?;
    for (email, refusal) in sent.refused {
        outcome.refuse(email.as_str(), refusal.to_string());
        if let InvitationRefusal::Mail(exceeded) = refusal {
            outcome.exceeded.get_or_insert(exceeded);
        }
    }
    outcome.nicks = add.iter().map(|user| user.nick.clone()).collect();
    (outcome.invitations, outcome.new) = (sent.invitations, sent.new);
    outcome.unmailed = sent.unmailed;
    Ok((outcome, add))
}

fn read(text: &str) -> Result<Vec<ImportItem>> {
    let items = address_list::parse(text);
    if items.is_empty() {
        return Err(Error::invalid("list", "can't be blank"));
    }
    if items.len() > MAX_ITEMS {
        return Err(Error::invalid(
            "list",
            format!("has too many entries (maximum is {MAX_ITEMS})"),
        ));
    }
    let mut seen = HashSet::new();
    let mut entry = |AddressEntry { text, address, .. }: AddressEntry| match address {
        Ok(email) => seen.insert(email.key()).then_some(Ok(email)),
        // No address has the same key: this text is none.
        Err(problem) => seen
            .insert(text.clone())
            .then(|| Err((text, problem.to_string()))),
    };
    Ok(items.into_iter().filter_map(&mut entry).collect())
}

/// What is to be done about a portion, in the order of the list.
#[derive(Default)]
struct Sorted {
    invite: Vec<Email>,
    add: Vec<User>,
    /// With what is wrong with the others.
    outcome: Outcome,
}

fn sort(tx: &mut Tx<'_>, room: &FlowRoom, list: &[ImportItem]) -> StoreResult<Sorted> {
    let keys: Vec<String> = list.iter().flatten().map(Email::key).collect();
    let mut owners = HashMap::new();
    for owner in tx
        .invitations()
        .list_address_owners(&keys, room.organization.id)?
    {
        // An unproved address may belong to another person, who proves it by the mailed link.
        if holds_address(tx, &owner.user, room.organization.id)? {
            owners.insert(owner.email_key.clone(), owner);
        }
    }
    let mut sorted = Sorted::default();
    for entry in list {
        let email = match entry {
            Ok(email) => email,
            Err((text, why)) => {
                sorted.outcome.refuse(text, why.as_str());
                continue;
            }
        };
        let owner = owners.remove(&email.key());
        let member = owner.as_ref().and_then(|owner| room.member(owner.user.id));
        match (member, owner) {
            (Some(member), _) if member.blocked => {
                sorted.outcome.refuse(email.as_str(), BLOCKED_ADDRESS);
            }
            (Some(_), _) => sorted.outcome.refuse(email.as_str(), PRESENT_ADDRESS),
            (None, Some(owner)) if owner.belongs => sorted.add.push(owner.user),
            (None, _) => sorted.invite.push(email.clone()),
        }
    }
    Ok(sorted)
}

/// Puts members of the organization into the flow. Invitations they had are over.
fn add_members(tx: &mut Tx<'_>, room: RoomId, add: &[User]) -> StoreResult<()> {
    if add.is_empty() {
        return Ok(());
    }
    mark_accepted(tx, room, add)?;
    let users: Vec<UserId> = add.iter().map(|user| user.id).collect();
    let now = tx.now();
    tx.members().insert_all(room, &users, now)?;
    tx.rooms().advance_access(room)?;
    for user in users {
        note_flow_member(tx, room, AuditAction::FlowMemberAdd, user)?;
        tx.record_event(Control::FlowAdd { room, user });
        tx.record_event(Control::UserJoin { room, user });
    }
    Ok(())
}

fn invited_in_words(invited: &[String]) -> Value {
    let named = &invited[..invited.len().min(TOLD)];
    let mut description = json!({"email": named.join(",")});
    if invited.len() > named.len() {
        description["more"] = json!(invited.len() - named.len());
    }
    description
}

fn added(room: &FlowRoom, user: &User, now: Timestamp, base: &str) -> FlowUser {
    let membership = FlowMembership {
        room: room.id(),
        user: user.id,
        open: true,
        tab_position: None,
        blocked: false,
        last_activity: now,
        last_ping: Timestamp(0),
        read_up_to: MessageId(room.flow.last_message_id),
        inbox_read_up_to: MessageId(room.flow.last_message_id),
    };
    FlowUser::of(&membership, user, base)
}

#[cfg(test)]
mod tests {
    use eddyline_model::OrganizationId;

    use super::*;
    use crate::ErrorKind;
    use crate::error::kind_of;
    use crate::quota::QuotaExceeded;

    #[test]
    fn each_address_and_each_broken_entry_is_read_once() {
        let list =
            read("bob@@x\nAda <ada@example.org>, ADA@example.org; bob@@x,bob@example.org").unwrap();
        let read: Vec<_> = list
            .iter()
            .map(|entry| entry.as_ref().map(Email::as_str))
            .collect();
        assert!(matches!(
            read[..],
            [Err((text, _)), Ok("ada@example.org"), Ok("bob@example.org")] if text == "bob@@x"
        ));
    }

    #[test]
    fn imports_under_way_are_bounded_for_an_organization_and_for_all() {
        let imports = Imports::default();
        let import = |id| {
            imports
                .permits
                .acquire(QuotaKey::Organization(OrganizationId(id)).into(), 1)
        };
        let mut held = vec![import(1).unwrap(), import(1).unwrap()];
        let full = QuotaExceeded::Share(QuotaKey::Organization(OrganizationId(1)));
        assert_eq!(import(1).err(), Some(full));
        held.extend((2..=16).flat_map(|id| [import(id).unwrap(), import(id).unwrap()]));
        assert_eq!(import(17).err(), Some(QuotaExceeded::Total));
        held.pop();
        assert!(import(17).is_ok());
    }

    #[test]
    fn a_list_has_entries_but_not_too_many() {
        let most = "a@x.org,".repeat(MAX_ITEMS);
        assert_eq!(read(&most).unwrap().len(), 1);
        for bad in ["", " ,\n; ", &format!("{most}b@x.org")] {
            assert_eq!(kind_of(&read(bad)), Some(ErrorKind::Invalid));
        }
    }

    #[test]
    fn the_first_fifty_are_named_and_the_others_counted() {
        let invited: Vec<String> = (0..52).map(|n| format!("a{n}@x.org")).collect();
        let words = invited_in_words(&invited);
        assert_eq!(words["more"], 2);
        assert_eq!(words["email"].as_str().unwrap().split(',').count(), 50);
        assert_eq!(
            invited_in_words(&invited[..2]),
            json!({"email": "a0@x.org,a1@x.org"})
        );
    }
}
