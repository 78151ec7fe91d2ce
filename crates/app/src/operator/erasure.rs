//! Erasing a person: what they wrote, and what they were known by. The number of the user stays.
//!
//! It is done in many small transactions, so that posts do not wait. The account is made inactive
//! before the first message is erased, and gets its new names after the last: until then the same
//! command goes on where it was interrupted.

use std::collections::BTreeSet;
use std::ops::Range;

use eddyline_auth::Secret;
use eddyline_model::audit::{AuditAction, AuditEntry};
use eddyline_model::deletion::DeletionTarget;
use eddyline_model::erasure::{self, ErasedProfile, MessageErasure};
use eddyline_model::log::Control;
use eddyline_model::messages::{Message, Notice, subject_of};
use eddyline_model::names::Email;
use eddyline_model::organizations::OrganizationRole;
use eddyline_model::search::SearchTokens;
use eddyline_model::tags::{self, TagChanges};
use eddyline_model::users::User;
use eddyline_model::{MessageId, OrganizationId, RoomId, UserId};
use eddyline_storage::{PersonalNames, Result as StoreResult, Tx};
use serde::Deserialize;
use serde_json::json;

use super::OPERATOR;
use super::retention::refuse_held;
use crate::account_links::end_address_claims;
use crate::accounts::end_access;
use crate::audit::note_in;
use crate::core::transaction::{NoCaller, TxResult};
use crate::messages::delete::{remove, truncate};
use crate::messages::notice;
use crate::offboarding::{Leaving, lock_for_removal, offboard};
use crate::pending_invitations::revoke;
use crate::{Error, Operator, Result};

/// Through how many numbers of messages one read looks.
const LOOKED_AT: i64 = 10_000;
/// How many messages one transaction erases.
const BATCH: usize = 50;

/// What was erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErasedUser {
    /// The number of the user, which stays.
    pub id: UserId,
    /// How many messages were emptied or removed.
    pub messages: u64,
}

/// Whose words are erased.
#[derive(Clone)]
struct Person {
    id: UserId,
    known: PersonalNames,
    /// The flows in which the person is or was: elsewhere others have the same nick or name.
    rooms: BTreeSet<RoomId>,
}

impl Person {
    /// By what a message of the server in this room names the person.
    fn names_in(&self, room: RoomId) -> Vec<String> {
        let names = match self.rooms.contains(&room) {
            true => &self.known.names[..],
            false => &[],
        };
        self.known.addresses.iter().chain(names).cloned().collect()
    }
}

impl Operator {
    /// Erases a person: empties or removes everything that they wrote, deletes their files and what
    /// lets them in, and gives the account the names of an erased one. Others' messages stay. The
    /// bytes of the files, and what the database keeps of deleted rows, are removed after that, by
    /// [`Files::remove_deleted`](crate::Files::remove_deleted) and
    /// [`Store::scrub`](eddyline_storage::Store::scrub).
    ///
    /// `progress` gets the number of messages that have been erased. The same call goes on with an erasure
    /// that was interrupted; of an erased user it erases what has come since, which is nothing.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] without an account with that address, [`Error::conflict`] for the last
    /// administrator of an organization, and for a person whom a legal hold covers.
    pub async fn erase_user(
        &self,
        email: &Email,
        progress: impl Fn(u64) + Send + Sync,
    ) -> Result<ErasedUser> {
        let person = self.shut_out(email).await?;
        let id = person.id;
        let rooms = self
            .core
            .read(move |reader| Ok(reader.rooms().list_written_by(id)?))
            .await?;
        let mut messages = 0;
        for (room, last) in rooms {
            let mut start = 1;
            while start <= last.0 {
                let range = start..(start + LOOKED_AT).min(last.0 + 1);
                start = range.end;
                for batch in self.list_to_erase(room, id, range).await?.chunks(BATCH) {
                    messages += self.erase_batch(room, batch.to_vec(), &person).await?;
                    progress(messages);
                }
            }
        }
        self.forget_person(person).await?;
        Ok(ErasedUser { id, messages })
    }

    /// Takes the user out of all organizations and ends what lets them in, so that they write
    /// nothing more.
    async fn shut_out(&self, email: &Email) -> Result<Person> {
        let key = email.key();
        let (person, event) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                let account = tx.users().find_account_by_email(&key)?;
                let id = account.ok_or_else(Error::not_found)?.user.id;
                let organizations = organizations_of(tx, id)?;
                let closed = closed_organizations_of(tx, id)?;
                lock_for_removal(tx, &[&organizations[..], &closed].concat(), id)?;
                if organizations_of(tx, id)? != organizations
                    || closed_organizations_of(tx, id)? != closed
                {
                    let text = "an organization of the user has just changed; ask again";
                    return Err(Error::unavailable(text).into());
                }
                refuse_last_of_closed(tx, id)?;
                let user = tx.users().find(id)?.ok_or_else(Error::not_found)?;
                tx.retention().lock_holds()?;
                refuse_held(tx, id)?;
                let (known, is_begun) = keep_names(tx, id)?;
                if !is_begun {
                    note_erasure(tx, &organizations, &user)?;
                }
                let (rooms, _) = tx.retention().list_rooms_ever(id)?;
                offboard(tx, &organizations, &user, OPERATOR, Leaving::Silent)?;
                tx.users().set_active(id, false)?;
                end_access(tx, id)?;
                end_address_claims(tx, id)?;
                Ok(Person { id, known, rooms })
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(person)
    }

    async fn list_to_erase(
        &self,
        room: RoomId,
        user: UserId,
        range: Range<i64>,
    ) -> Result<Vec<i64>> {
        let found = self.core.read(move |reader| {
            Ok(reader
                .messages()
                .list_ids_by_or_about(room, user, range.clone())?)
        });
        found.await
    }

    async fn erase_batch(&self, room: RoomId, batch: Vec<i64>, person: &Person) -> Result<u64> {
        let person = person.clone();
        let (erased, _) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                tx.rooms().lock(room)?;
                // A hold may have been placed since the last batch, or be on a flow of others.
                let holds = tx.retention().lock_holds()?;
                refuse_held(tx, person.id)?;
                let Some(place) = tx.retention().find_room(room)? else {
                    return Ok(0);
                };
                let mut erased = 0;
                for id in &batch {
                    let found = tx.messages().find(room, MessageId(*id))?;
                    if let Some(message) = found
                        && holds.covering(&place, message.author.user).is_none()
                    {
                        erased += u64::from(erase_message(tx, &message, &person)?);
                    }
                }
                Ok(erased)
            })
            .await?;
        Ok(erased)
    }

    /// Replaces everything that the person was known by.
    async fn forget_person(&self, person: Person) -> Result<()> {
        let avatar = Secret::generate().expose().to_owned();
        let ((), event) = self
            .core
            .transaction(NoCaller::Operator, move |tx| {
                let Person { id, known, .. } = &person;
                tx.users().lock(*id)?;
                let to_person = tx.invitations().clear_of_user(*id, &known.addresses)?;
                revoke(tx, &to_person)?;
                tx.users().delete_mail_to(&known.addresses)?;
                let erased = ErasedProfile::of(*id);
                tx.users().clear_person(*id, known, &erased, &avatar)?;
                tx.audit().clear_user(*id)?;
                tx.settings().delete(&begun_erasure(*id))?;
                tx.deletions().delete_closed_of_user(*id)?;
                tx.deletions().delete(DeletionTarget::User(*id))?;
                tx.record_event(Control::UserEdit { user: *id });
                Ok(())
            })
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(())
    }
}

/// The organizations that a user belongs to, and the one whose identity provider knows the user.
fn organizations_of(tx: &mut Tx<'_>, user: UserId) -> StoreResult<Vec<OrganizationId>> {
    let memberships = tx.organization_members().list_of_user(user)?;
    let mut found: BTreeSet<OrganizationId> = memberships.iter().map(|m| m.organization).collect();
    found.extend(tx.identities().find(user)?.map(|known| known.organization));
    Ok(found.into_iter().collect())
}

/// The closed organizations that a user belonged to.
pub(crate) fn closed_organizations_of(
    tx: &mut Tx<'_>,
    user: UserId,
) -> StoreResult<Vec<OrganizationId>> {
    let closed = tx.deletions().list_closed_of_user(user)?;
    Ok(closed.into_iter().map(|of| of.organization).collect())
}

/// Refuses to take a user away who was the last administrator of a closed organization: it may be
/// opened again until a server begins to delete it. The caller holds the organization.
pub(crate) fn refuse_last_of_closed(tx: &mut Tx<'_>, user: UserId) -> TxResult<()> {
    for closed in tx.deletions().list_closed_of_user(user)? {
        let target = DeletionTarget::Organization(closed.organization);
        let deletion = tx.deletions().find(target)?;
        if closed.role != OrganizationRole::Administrator
            || !deletion.is_some_and(|deletion| deletion.is_cancellable())
        {
            continue;
        }
        if !has_other_administrator(tx, closed.organization, user)? {
            return Err(last_administrator().into());
        }
    }
    Ok(())
}

/// Whether an administrator of a closed organization besides this user can restore it. One who is to
/// be deleted is inactive.
fn has_other_administrator(
    tx: &mut Tx<'_>,
    closed: OrganizationId,
    user: UserId,
) -> StoreResult<bool> {
    for (other, admin) in tx.deletions().list_members(closed)? {
        if admin && other != user && tx.users().find(other)?.is_some_and(|other| other.active) {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(crate) fn last_administrator() -> Error {
    let text = "this is the last administrator of an organization; let another user administer it \
                first, or delete the organization";
    Error::conflict(text)
}

/// Records the erasure, without a name: the record outlives it.
fn note_erasure(tx: &mut Tx<'_>, organizations: &[OrganizationId], user: &User) -> StoreResult<()> {
    let entry = AuditEntry::new(AuditAction::UserErase, None).by(OPERATOR);
    note_in(tx, organizations.iter().copied(), &entry.about(user.id))
}

/// The setting with everything that a person was known by, from the beginning of an erasure to its
/// end: what is deleted at the beginning is still to be looked for when another call goes on.
fn begun_erasure(user: UserId) -> String {
    format!("erasure:{user}")
}

/// Keeps what a person is known by until the erasure ends. Gives it, with whether an earlier call has
/// begun the erasure.
fn keep_names(tx: &mut Tx<'_>, user: UserId) -> TxResult<(PersonalNames, bool)> {
    let account = tx.users().find(user)?.ok_or_else(Error::not_found)?;
    let mut known = tx.users().find_personal_names(user)?;
    known.addresses.push(account.email.to_lowercase());
    let name = begun_erasure(user);
    let kept = json!([known.addresses, known.names]).to_string();
    let is_begun = tx.settings().find(&name)?.is_some();
    let kept = tx.settings().insert_or_find(&name, kept.as_bytes())?;
    if let Ok((addresses, names)) = serde_json::from_slice::<(Vec<String>, Vec<String>)>(&kept) {
        known.addresses.extend(addresses);
        known.names.extend(names);
    }
    for list in [&mut known.addresses, &mut known.names] {
        list.sort();
        list.dedup();
    }
    Ok((known, is_begun))
}

/// Erases what a message has of a person. Says whether that was anything that others could read.
fn erase_message(tx: &mut Tx<'_>, message: &Message, person: &Person) -> TxResult<bool> {
    let (room, id) = (message.room, message.id);
    match erasure::of_message(message, person.id, &person.names_in(room)) {
        MessageErasure::Keep => return Ok(false),
        MessageErasure::Truncate => {
            truncate(tx, message.author.user, message)?;
            tx.messages().clear_post(room, id)?;
            return Ok(!message.is_emptied());
        }
        MessageErasure::Remove => {
            remove(tx, message.author.user, message)?;
            return Ok(true);
        }
        MessageErasure::Discard => {
            take_tags_back(tx, message, person.id)?;
            tx.messages().delete(message)?;
        }
        MessageErasure::Bare => tx.messages().clear_post(room, id)?,
    }
    Ok(false)
}

/// The tags that a kept `tag-change` says were added.
#[derive(Deserialize)]
struct AddedTags {
    #[serde(default)]
    add: Vec<String>,
}

/// Takes the tags off a message that a user put there, as a change of its tags says.
fn take_tags_back(tx: &mut Tx<'_>, change: &Message, user: UserId) -> StoreResult<()> {
    let (Some(subject), Ok(AddedTags { mut add })) = (
        subject_of(change.event, &change.content),
        serde_json::from_str(&change.content),
    ) else {
        return Ok(());
    };
    let Some(before) = tx.messages().find(change.room, subject)? else {
        return Ok(());
    };
    // Tags of the text come back with the next edit, and are its author's.
    add.retain(|tag| !tags::is_generated(tag) && before.explicit_tags.contains(tag));
    let mut after = before.clone();
    after
        .tags
        .retain(|tag| !add.iter().any(|added| added == tag));
    after.explicit_tags.retain(|tag| !add.contains(tag));
    let changes = TagChanges::between(&before.tags, &after.tags);
    if changes.is_empty() {
        return Ok(());
    }
    tx.messages()
        .update(&before, &after, &SearchTokens::default())?;
    let told = Notice::tag_change(&after, &changes);
    let draft = notice(&after, Some(user), told, tx.now());
    tx.messages().append(&[draft])?;
    Ok(())
}
