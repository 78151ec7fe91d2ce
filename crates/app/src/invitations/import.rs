//! Inviting many addresses at once.

use std::collections::{BTreeMap, HashMap, HashSet};

use eddyline_model::address_list::{self, Item};
use eddyline_model::flows::FlowMembership;
use eddyline_model::invitations::Invitation;
use eddyline_model::log::Control;
use eddyline_model::names::{Email, email_key};
use eddyline_model::policy::FlowDeed;
use eddyline_model::users::User;
use eddyline_model::{InvitationId, MessageId, RoomId, Timestamp, UserId};
use eddyline_storage::{NewInvitations, Result as StoreResult, Tx};
use eddyline_wire::{FlowUser, ImportedInvitations};
use serde_json::{Value, json};

use super::accept::fulfil;
use super::queue;
use crate::actor::Actor;
use crate::flow_users::action;
use crate::rooms::Room;
use crate::{App, Error, Result};

/// How many entries a list may have.
const MAX_ITEMS: usize = 10_000;
/// How many addresses the flow is told of by name.
const TOLD: usize = 50;

/// An entry of a list, each of which is there once: an address, or what stands in its place and what is
/// wrong with it.
type Entry = std::result::Result<Email, (String, String)>;

/// What becomes of the entries, each of which is in one place, in the order of the list.
#[derive(Default)]
struct Sorted {
    invite: Vec<Email>,
    add: Vec<User>,
    erroneous: Vec<BTreeMap<String, String>>,
}

impl Sorted {
    fn refuse(&mut self, text: &str, why: &str) {
        self.erroneous.push(BTreeMap::from([(text.to_owned(), why.to_owned())]));
    }
}

impl App {
    /// Invites everybody on a list into a flow, and adds those at once who belong to its organization.
    /// Each address and each broken entry of the list is in one part of the answer, once. Invitations
    /// that are pending already are sent again.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a list without entries or with more than 10,000; [`Error::NotFound`],
    /// [`Error::Denied`], also when the organization is inactive.
    pub async fn import_invitations(
        &self,
        actor: &Actor,
        room: &Room,
        list: &str,
        message: Option<String>,
    ) -> Result<ImportedInvitations> {
        let list = read(list)?;
        let (done, event) = self
            .change_room(actor, room.id(), FlowDeed::Invite, move |tx, actor, room| {
                let sorted = sort(tx, room, &list)?;
                add(tx, room.id(), &sorted)?;
                let (invitations, new) = invite(tx, room.id(), &sorted, actor.user_id(), message.as_deref())?;
                tell(tx, room.id(), actor.user_id(), &sorted.add, &new)?;
                Ok((sorted, invitations, tx.now()))
            })
            .await?;
        self.mail_is_queued();
        let (sorted, invitations, now) = done;
        // Invitations change nothing that a process remembers.
        if !sorted.add.is_empty() {
            self.settle(event).await;
        }
        let base = &self.config().addresses.base;
        Ok(ImportedInvitations {
            invitations: invitations.iter().map(|invitation| self.show(room, invitation)).collect(),
            added_users: sorted.add.iter().map(|user| added(room, user, now, base)).collect(),
            erroneous_emails: sorted.erroneous,
        })
    }
}

fn read(text: &str) -> Result<Vec<Entry>> {
    let items = address_list::parse(text);
    if items.is_empty() {
        return Err(Error::field("list", "can't be blank"));
    }
    if items.len() > MAX_ITEMS {
        return Err(Error::field("list", format!("has too many entries (maximum is {MAX_ITEMS})")));
    }
    let mut seen = HashSet::new();
    let mut entry = |Item { text, address, .. }: Item| match address {
        Ok(email) => seen.insert(email.key()).then_some(Ok(email)),
        // No address has the same key: this text is none.
        Err(problem) => seen.insert(text.clone()).then(|| Err((text, problem.to_string()))),
    };
    Ok(items.into_iter().filter_map(&mut entry).collect())
}

fn sort(tx: &mut Tx<'_, '_>, room: &Room, list: &[Entry]) -> StoreResult<Sorted> {
    let keys: Vec<String> = list.iter().flatten().map(Email::key).collect();
    let owners = tx.owners_of_addresses(&keys, room.organization.id)?;
    let mut owners: HashMap<String, _> =
        owners.into_iter().map(|owner| (owner.email_key.clone(), owner)).collect();
    let mut sorted = Sorted::default();
    for entry in list {
        let email = match entry {
            Ok(email) => email,
            Err((text, why)) => {
                sorted.refuse(text, why);
                continue;
            }
        };
        let owner = owners.remove(&email.key());
        let member = owner.as_ref().and_then(|owner| room.member(owner.user.id));
        match (member, owner) {
            (Some(member), _) if member.blocked => sorted.refuse(email.as_str(), "is blocked from the flow"),
            (Some(_), _) => sorted.refuse(email.as_str(), "is already in the flow"),
            (None, Some(owner)) if owner.belongs => sorted.add.push(owner.user),
            (None, _) => sorted.invite.push(email.clone()),
        }
    }
    Ok(sorted)
}

/// Puts members of the organization into the flow. Invitations they had are over.
fn add(tx: &mut Tx<'_, '_>, room: RoomId, sorted: &Sorted) -> StoreResult<()> {
    if sorted.add.is_empty() {
        return Ok(());
    }
    fulfil(tx, room, &sorted.add)?;
    let users: Vec<UserId> = sorted.add.iter().map(|user| user.id).collect();
    let now = tx.now();
    tx.insert_room_members(room, &users, now)?;
    tx.bump_access(room)?;
    for user in users {
        tx.tell(Control::FlowAdd { room, user });
        tx.tell(Control::UserJoin { room, user });
    }
    Ok(())
}

/// Invites, in the order of the list. Gives all invitations, and the addresses of the new ones.
fn invite(
    tx: &mut Tx<'_, '_>,
    room: RoomId,
    sorted: &Sorted,
    inviter: Option<UserId>,
    message: Option<&str>,
) -> StoreResult<(Vec<Invitation>, Vec<String>)> {
    let now = tx.now();
    let keys: Vec<String> = sorted.invite.iter().map(Email::key).collect();
    let by_key = |invitation: Invitation| (email_key(&invitation.email), invitation);
    let mut all: HashMap<String, Invitation> =
        tx.pending_invitations_to(room, &keys)?.into_iter().map(by_key).collect();
    let known: Vec<InvitationId> = all.values().map(|invitation| invitation.id).collect();
    tx.touch_invitations(&known, inviter, message, now)?;
    let new: Vec<&Email> =
        sorted.invite.iter().zip(&keys).filter(|(_, key)| !all.contains_key(*key)).map(|(e, _)| e).collect();
    let told = new.iter().map(|email| email.to_string()).collect();
    let made = tx.insert_invitations(NewInvitations { room, emails: &new, inviter, message, now })?;
    all.extend(made.into_iter().map(by_key));
    let invitations: Vec<Invitation> = keys.iter().filter_map(|key| all.remove(key)).collect();
    queue(tx, &invitations)?;
    Ok((invitations, told))
}

/// Tells the flow once, whatever was done: who was added, or else who was invited.
fn tell(
    tx: &mut Tx<'_, '_>,
    room: RoomId,
    actor: Option<UserId>,
    added: &[User],
    invited: &[String],
) -> StoreResult<()> {
    let draft = if !added.is_empty() {
        let nicks: Vec<&str> = added.iter().map(|user| user.nick.as_str()).collect();
        action(tx, room, actor, "add_people", &json!(nicks.join(",")))
    } else if !invited.is_empty() {
        action(tx, room, actor, "invite", &invited_in_words(invited))
    } else {
        return Ok(());
    };
    tx.post(&[draft])?;
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

fn added(room: &Room, user: &User, now: Timestamp, base: &str) -> FlowUser {
    let membership = FlowMembership {
        room: room.id(),
        user: user.id,
        open: true,
        blocked: false,
        last_activity: now,
        last_ping: Timestamp(0),
        read_up_to: MessageId(room.flow.last_message_id),
    };
    FlowUser::of(&membership, user, base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_and_each_broken_entry_is_read_once() {
        let list = read("bob@@x\nAda <ada@example.org>, ADA@example.org; bob@@x,bob@example.org").unwrap();
        let read: Vec<_> = list.iter().map(|entry| entry.as_ref().map(Email::as_str)).collect();
        assert!(matches!(
            read[..],
            [Err((text, _)), Ok("ada@example.org"), Ok("bob@example.org")] if text == "bob@@x"
        ));
    }

    #[test]
    fn a_list_has_entries_but_not_too_many() {
        let most = "a@x.org,".repeat(MAX_ITEMS);
        assert_eq!(read(&most).unwrap().len(), 1);
        for bad in ["", " ,\n; ", &format!("{most}b@x.org")] {
            assert!(matches!(read(bad), Err(Error::Invalid(_))));
        }
    }

    #[test]
    fn the_first_fifty_are_named_and_the_others_counted() {
        let invited: Vec<String> = (0..52).map(|n| format!("a{n}@x.org")).collect();
        let words = invited_in_words(&invited);
        assert_eq!(words["more"], 2);
        assert_eq!(words["email"].as_str().unwrap().split(',').count(), 50);
        assert_eq!(invited_in_words(&invited[..2]), json!({"email": "a0@x.org,a1@x.org"}));
    }
}
