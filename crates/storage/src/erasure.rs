//! What is erased with a person, beside the messages.

use diesel::prelude::*;
use eddyline_model::erasure::ErasedProfile;
use eddyline_model::messages::MessageKind;
use eddyline_model::names::email_key;
use eddyline_model::{InvitationId, MessageId, RoomId, UserId};
use eddyline_portable::portable;

use crate::Result;
use crate::areas::{Invitations, Messages, Rooms, Users};
use crate::imports::ImportedKind;
use crate::reader::Access;
use crate::schema::{
    avatars, email_claims, flows, former_members, identities, imported_records, invitations, links,
    mail_records, mails, messages, notification_levels, notification_settings, private_rooms,
    rooms, suspended_memberships, user_group_members, users,
};
use crate::transaction::Tx;

/// What a user is and was known by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersonalNames {
    /// Addresses, in the form by which they are compared.
    pub addresses: Vec<String>,
    /// Nicks and full names: the present ones, and those under which the user left flows.
    pub names: Vec<String>,
}

#[portable]
impl<C: Access> Users<'_, C> {
    /// Everything that the database knows a user by.
    pub fn find_personal_names(c: &mut Connection, user: UserId) -> Result<PersonalNames> {
        let (email, recovery, name, nick) = users::table
            .find(user.0)
            .select((
                users::email_key,
                users::recovery_key,
                users::name,
                users::nick,
            ))
            .get_result::<(String, Option<String>, String, String)>(c)?;
        let claimed = email_claims::table
            .filter(email_claims::user_id.eq(user.0))
            .select(email_claims::email_key)
            .load::<String>(c)?;
        let stated = identities::table
            .find(user.0)
            .select(identities::stated_email)
            .get_result::<Option<String>>(c)
            .optional()?;
        let former = former_members::table
            .filter(former_members::user_id.eq(user.0))
            .select((former_members::name, former_members::nick))
            .load::<(String, String)>(c)?;
        let mut addresses = vec![email];
        addresses.extend(recovery);
        addresses.extend(claimed);
        addresses.extend(stated.flatten());
        let mut names = vec![name, nick];
        names.extend(former.into_iter().flat_map(|(name, nick)| [name, nick]));
        for list in [&mut addresses, &mut names] {
            list.retain(|text| !text.is_empty());
            list.sort();
            list.dedup();
        }
        Ok(PersonalNames { addresses, names })
    }
}

#[portable]
impl<C: Access> Rooms<'_, C> {
    /// The rooms in which a user may have written: all flows, and the user's private conversations;
    /// each with the number of its last message.
    pub fn list_written_by(c: &mut Connection, user: UserId) -> Result<Vec<(RoomId, MessageId)>> {
        let with = private_rooms::low_user_id
            .eq(user.0)
            .or(private_rooms::high_user_id.eq(user.0));
        let private = private_rooms::table
            .filter(with)
            .select(private_rooms::room_id);
        let all = rooms::table.filter(rooms::last_message_id.gt(0));
        let extent = (rooms::id, rooms::last_message_id);
        let mut found = all
            .filter(rooms::id.eq_any(flows::table.select(flows::room_id)))
            .select(extent)
            .load::<(i64, i64)>(c)?;
        found.extend(
            all.filter(rooms::id.eq_any(private))
                .select(extent)
                .load::<(i64, i64)>(c)?,
        );
        let found = found.into_iter();
        Ok(found
            .map(|(room, last)| (RoomId(room), MessageId(last)))
            .collect())
    }
}

#[portable]
impl<C: Access> Messages<'_, C> {
    /// The numbers of messages of a user, and of those that the server itself posted, with
    /// numbers in this range.
    pub fn list_ids_by_or_about(
        c: &mut Connection,
        room: RoomId,
        user: UserId,
        range: std::ops::Range<i64>,
    ) -> Result<Vec<i64>> {
        let wanted = messages::user_id
            .assume_not_null()
            .eq(user.0)
            .or(messages::event.eq(MessageKind::Action.code()));
        Ok(messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::id.ge(range.start))
            .filter(messages::id.lt(range.end))
            .filter(wanted)
            .order(messages::id)
            .select(messages::id)
            .load(c)?)
    }
}

#[portable]
impl Messages<'_, Tx<'_>> {
    /// Clears what a client sent with a message beside its text: the id of the post, and the digest
    /// by which a repeat is known.
    pub fn clear_post(c: &mut Connection, room: RoomId, id: MessageId) -> Result<()> {
        diesel::update(messages::table.find((room.0, id.0)))
            .set((
                messages::uuid.eq(None::<String>),
                messages::fingerprint.eq(0),
                messages::external_user_name.eq(None::<String>),
            ))
            .execute(c)?;
        Ok(())
    }
}

#[portable]
impl Invitations<'_, Tx<'_>> {
    /// Empties the texts with which a user invited others, and gives the invitations to these
    /// addresses, pending and accepted ones.
    pub fn clear_of_user(
        c: &mut Connection,
        user: UserId,
        addresses: &[String],
    ) -> Result<Vec<InvitationId>> {
        diesel::update(invitations::table.filter(invitations::inviter_id.eq(user.0)))
            .set(invitations::message.eq(None::<String>))
            .execute(c)?;
        let ids = invitations::table
            .filter(invitations::email_key.eq_any(addresses))
            .select(invitations::id)
            .load::<i64>(c)?;
        Ok(ids.into_iter().map(InvitationId).collect())
    }
}

#[portable]
impl Users<'_, Tx<'_>> {
    /// Gives a user the profile of an erased one, with a picture of this name, and deletes
    /// everything else that is kept of the person. Messages, memberships and what lets the user in
    /// are not touched.
    pub fn clear_person(
        c: &mut Connection,
        user: UserId,
        known: &PersonalNames,
        erased: &ErasedProfile,
        avatar: &str,
    ) -> Result<()> {
        diesel::delete(avatars::table.find(user.0)).execute(c)?;
        diesel::delete(email_claims::table.filter(email_claims::user_id.eq(user.0))).execute(c)?;
        diesel::delete(identities::table.find(user.0)).execute(c)?;
        diesel::delete(
            suspended_memberships::table.filter(suspended_memberships::user_id.eq(user.0)),
        )
        .execute(c)?;
        diesel::delete(user_group_members::table.filter(user_group_members::user_id.eq(user.0)))
            .execute(c)?;
        // What an archive called the user may be a name.
        diesel::delete(
            imported_records::table
                .filter(imported_records::kind.eq_any(ImportedKind::OF_USERS))
                .filter(imported_records::local_id.eq(user.0)),
        )
        .execute(c)?;
        diesel::delete(notification_settings::table.find(user.0)).execute(c)?;
        diesel::delete(notification_levels::table.filter(notification_levels::user_id.eq(user.0)))
            .execute(c)?;
        diesel::update(former_members::table.filter(former_members::user_id.eq(user.0)))
            .set((
                former_members::name.eq(erased.name),
                former_members::nick.eq(&erased.nick),
            ))
            .execute(c)?;
        diesel::delete(
            mail_records::table.filter(mail_records::recipient_key.eq_any(&known.addresses)),
        )
        .execute(c)?;
        diesel::update(users::table.find(user.0))
            .set((
                users::email.eq(&erased.email),
                users::email_key.eq(email_key(&erased.email)),
                users::name.eq(erased.name),
                users::nick.eq(&erased.nick),
                users::website.eq(""),
                users::avatar.eq(avatar),
                users::status.eq(None::<String>),
                users::password_hash.eq(None::<String>),
                users::email_proved.eq(false),
                users::active.eq(false),
                users::recovery_key.eq(None::<String>),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Deletes the mails that wait to be sent to these addresses, in any case, and the links that
    /// name them.
    pub fn delete_mail_to(c: &mut Connection, addresses: &[String]) -> Result<()> {
        let waiting = mails::table
            .select((mails::id, mails::recipient, mails::detail))
            .load::<(i64, String, Option<String>)>(c)?;
        let is_named = |text: &str| addresses.contains(&email_key(text));
        let ids: Vec<i64> = waiting
            .into_iter()
            .filter(|(_, recipient, detail)| {
                is_named(recipient) || detail.as_deref().is_some_and(is_named)
            })
            .map(|(id, ..)| id)
            .collect();
        diesel::delete(mails::table.filter(mails::id.eq_any(ids))).execute(c)?;
        let mailed = links::table
            .filter(links::email.is_not_null())
            .select((links::hash, links::email.assume_not_null()))
            .load::<(Vec<u8>, String)>(c)?;
        for (hash, email) in mailed {
            if is_named(&email) {
                diesel::delete(links::table.find(hash)).execute(c)?;
            }
        }
        Ok(())
    }
}
