//! Invitations into flows.

use std::collections::HashMap;

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use eddyline_model::invitations::{Invitation, InvitationState};
use eddyline_model::names::{Email, email_key};
use eddyline_model::users::User;
use eddyline_model::{InvitationId, OrganizationId, RoomId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::areas::Invitations;
use crate::reader::{Access, Reader};
use crate::schema::{flows, invitations, organization_members, users};
use crate::transaction::Tx;
use crate::users::{UserRow, to_user};
use crate::{Error, Result};

/// How many rows one statement adds, or how many keys it is given.
const ROWS: usize = 500;

const PENDING: i16 = 0;
/// The condition as text: the databases use an index of pending invitations only where they see the
/// number.
const IS_PENDING: &str = "state = 0";
const ACCEPTED: i16 = 1;

#[derive(Queryable, Selectable)]
#[diesel(table_name = invitations)]
struct Row {
    id: i64,
    room_id: i64,
    email: String,
    inviter_id: Option<i64>,
    message: Option<String>,
    state: i16,
    created_at: i64,
    sent_at: i64,
}

fn to_invitation(row: Row) -> Result<Invitation> {
    Ok(Invitation {
        id: InvitationId(row.id),
        room: RoomId(row.room_id),
        email: row.email,
        inviter: row.inviter_id.map(UserId),
        message: row.message,
        state: match row.state {
            PENDING => InvitationState::Pending,
            ACCEPTED => InvitationState::Accepted,
            _ => return Err(Error::Corrupt("state of an invitation")),
        },
        created_at: Timestamp(row.created_at),
        sent_at: Timestamp(row.sent_at),
    })
}

/// Invitations to be made, all by the same person and with the same words.
#[derive(Clone, Copy, Debug)]
pub struct NewInvitations<'a> {
    /// The room of the flow.
    pub room: RoomId,
    /// Whom to invite, each address once.
    pub emails: &'a [&'a Email],
    /// Who invites.
    pub inviter: Option<UserId>,
    /// What the inviter adds in words.
    pub message: Option<&'a str>,
    /// The time of making.
    pub now: Timestamp,
}

/// The account that an address belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressOwner {
    /// The form by which addresses are compared.
    pub email_key: String,
    /// Whose it is.
    pub user: User,
    /// Whether the user belongs to the organization in question.
    pub belongs: bool,
}

#[portable]
impl<C: Access> Invitations<'_, C> {
    /// The invitation with this number.
    pub fn find(c: &mut Connection, id: InvitationId) -> Result<Option<Invitation>> {
        let row = invitations::table
            .find(id.0)
            .select(Row::as_select())
            .get_result(c)
            .optional()?;
        row.map(to_invitation).transpose()
    }

    /// The pending invitations into a room with higher numbers than `after`, at most `limit`,
    /// ordered by number.
    pub fn list_pending(
        c: &mut Connection,
        room: RoomId,
        after: InvitationId,
        limit: i64,
    ) -> Result<Vec<Invitation>> {
        let rows = invitations::table
            .filter(invitations::room_id.eq(room.0))
            .filter(invitations::id.gt(after.0))
            .filter(sql::<Bool>(IS_PENDING))
            .order(invitations::id)
            .limit(limit)
            .select(Row::as_select())
            .load(c)?;
        rows.into_iter().map(to_invitation).collect()
    }

    /// The pending invitations into a room that were sent to some addresses, given in the form by
    /// which addresses are compared; in no order.
    pub fn list_pending_to(
        c: &mut Connection,
        room: RoomId,
        email_keys: &[String],
    ) -> Result<Vec<Invitation>> {
        let mut found = Vec::new();
        for part in email_keys.chunks(ROWS) {
            let rows = invitations::table
                .filter(invitations::room_id.eq(room.0))
                .filter(sql::<Bool>(IS_PENDING))
                .filter(invitations::email_key.eq_any(part))
                .select(Row::as_select())
                .load(c)?;
            for row in rows {
                found.push(to_invitation(row)?);
            }
        }
        Ok(found)
    }

    /// How many invitations into a room are pending: those that members sent, or those that were
    /// requested on the page of the join link.
    pub fn count_pending(c: &mut Connection, room: RoomId, by_members: bool) -> Result<i64> {
        let pending = || {
            invitations::table
                .filter(invitations::room_id.eq(room.0))
                .filter(sql::<Bool>(IS_PENDING))
                .count()
        };
        Ok(match by_members {
            true => pending()
                .filter(invitations::inviter_id.is_not_null())
                .get_result(c)?,
            false => pending()
                .filter(invitations::inviter_id.is_null())
                .get_result(c)?,
        })
    }

    /// The pending invitations into the flows of an organization that were sent to an address.
    pub fn list_into_organization(
        c: &mut Connection,
        organization: OrganizationId,
        email_key: &str,
    ) -> Result<Vec<InvitationId>> {
        let rooms = flows::table
            .filter(flows::organization_id.eq(organization.0))
            .select(flows::room_id);
        let ids = invitations::table
            .filter(invitations::email_key.eq(email_key))
            .filter(sql::<Bool>(IS_PENDING))
            .filter(invitations::room_id.eq_any(rooms))
            .order(invitations::id)
            .select(invitations::id)
            .load::<i64>(c)?;
        Ok(ids.into_iter().map(InvitationId).collect())
    }

    /// The pending invitations into the flows of an organization that a user made, as room and
    /// number, ordered by number.
    pub fn list_made_by(
        c: &mut Connection,
        organization: OrganizationId,
        inviter: UserId,
    ) -> Result<Vec<(RoomId, InvitationId)>> {
        let rooms = flows::table
            .filter(flows::organization_id.eq(organization.0))
            .select(flows::room_id);
        let found = invitations::table
            .filter(invitations::room_id.eq_any(rooms))
            .filter(sql::<Bool>(IS_PENDING))
            .filter(invitations::inviter_id.eq(inviter.0))
            .order(invitations::id)
            .select((invitations::room_id, invitations::id))
            .load::<(i64, i64)>(c)?;
        Ok(found
            .into_iter()
            .map(|(room, id)| (RoomId(room), InvitationId(id)))
            .collect())
    }

    /// The pending invitations into some rooms that were requested on the pages of their join
    /// links.
    pub fn list_requested(c: &mut Connection, rooms: &[RoomId]) -> Result<Vec<InvitationId>> {
        let mut found = Vec::new();
        for part in rooms.chunks(ROWS) {
            let rooms: Vec<i64> = part.iter().map(|room| room.0).collect();
            let ids = invitations::table
                .filter(invitations::room_id.eq_any(rooms))
                .filter(sql::<Bool>(IS_PENDING))
                .filter(invitations::inviter_id.is_null())
                .select(invitations::id)
                .load::<i64>(c)?;
            found.extend(ids.into_iter().map(InvitationId));
        }
        Ok(found)
    }

    /// The pending invitations into any room that were sent to an address, ordered by number.
    pub fn list_for_email(c: &mut Connection, email_key: &str) -> Result<Vec<Invitation>> {
        let rows = invitations::table
            .filter(invitations::email_key.eq(email_key))
            .filter(sql::<Bool>(IS_PENDING))
            .order(invitations::id)
            .select(Row::as_select())
            .load(c)?;
        rows.into_iter().map(to_invitation).collect()
    }

    /// Whose some addresses are, given in the form by which addresses are compared, and whether
    /// they belong to an organization; in no order.
    pub fn list_address_owners(
        c: &mut Connection,
        email_keys: &[String],
        organization: OrganizationId,
    ) -> Result<Vec<AddressOwner>> {
        let membership = organization_members::user_id
            .eq(users::id)
            .and(organization_members::organization_id.eq(organization.0));
        let mut found = Vec::new();
        for part in email_keys.chunks(ROWS) {
            let rows = users::table
                .left_join(organization_members::table.on(membership))
                .filter(users::email_key.eq_any(part))
                .select((
                    UserRow::as_select(),
                    users::email_key,
                    organization_members::user_id.nullable(),
                ))
                .load(c)?;
            found.extend(rows.into_iter().map(
                |(row, email_key, member): (_, String, Option<i64>)| AddressOwner {
                    email_key,
                    user: to_user(row),
                    belongs: member.is_some(),
                },
            ));
        }
        Ok(found)
    }
}

#[portable]
impl Invitations<'_, Tx<'_>> {
    /// Adds pending invitations and gives them in the order of the addresses.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] when one to such an address is pending already.
    pub fn insert(c: &mut Connection, new: NewInvitations<'_>) -> Result<Vec<Invitation>> {
        let mut made = Vec::with_capacity(new.emails.len());
        for part in new.emails.chunks(ROWS) {
            let rows: Vec<_> = part
                .iter()
                .map(|email| {
                    (
                        invitations::room_id.eq(new.room.0),
                        invitations::email.eq(email.as_str()),
                        invitations::email_key.eq(email.key()),
                        invitations::inviter_id.eq(new.inviter.map(|user| user.0)),
                        invitations::message.eq(new.message),
                        invitations::state.eq(PENDING),
                        invitations::created_at.eq(new.now.0),
                        invitations::sent_at.eq(new.now.0),
                    )
                })
                .collect();
            diesel::insert_into(invitations::table)
                .values(rows)
                .execute(c)?;
            let keys: Vec<String> = part.iter().map(|email| email.key()).collect();
            let found = Invitations(&mut Reader::from(&mut *c)).list_pending_to(new.room, &keys)?;
            let mut by_key: HashMap<String, Invitation> = found
                .into_iter()
                .map(|invitation| (email_key(&invitation.email), invitation))
                .collect();
            made.extend(keys.iter().filter_map(|key| by_key.remove(key)));
        }
        Ok(made)
    }

    /// Records that the mails of invitations are sent again.
    pub fn set_sent(c: &mut Connection, ids: &[InvitationId], now: Timestamp) -> Result<()> {
        for part in ids.chunks(ROWS) {
            let ids: Vec<i64> = part.iter().map(|id| id.0).collect();
            diesel::update(invitations::table.filter(invitations::id.eq_any(ids)))
                .set(invitations::sent_at.eq(now.0))
                .execute(c)?;
        }
        Ok(())
    }

    /// Records who asked for invitations again, and with which words. Words and the name under them
    /// go together: new words are the asker's; without new ones the old stay, and nobody's become
    /// the asker's.
    pub fn touch(
        c: &mut Connection,
        ids: &[InvitationId],
        asker: UserId,
        message: Option<&str>,
    ) -> Result<()> {
        for part in ids.chunks(ROWS) {
            let ids: Vec<i64> = part.iter().map(|id| id.0).collect();
            let all = || invitations::table.filter(invitations::id.eq_any(&ids));
            match message {
                Some(words) => diesel::update(all())
                    .set((
                        invitations::message.eq(words),
                        invitations::inviter_id.eq(asker.0),
                    ))
                    .execute(c)?,
                None => diesel::update(all().filter(invitations::inviter_id.is_null()))
                    .set(invitations::inviter_id.eq(asker.0))
                    .execute(c)?,
            };
        }
        Ok(())
    }

    /// Notes that somebody came in by each of these invitations.
    pub fn set_accepted(c: &mut Connection, ids: &[InvitationId]) -> Result<()> {
        for part in ids.chunks(ROWS) {
            let ids: Vec<i64> = part.iter().map(|id| id.0).collect();
            diesel::update(invitations::table.filter(invitations::id.eq_any(ids)))
                .set(invitations::state.eq(ACCEPTED))
                .execute(c)?;
        }
        Ok(())
    }

    /// Removes invitations.
    pub fn delete(c: &mut Connection, ids: &[InvitationId]) -> Result<()> {
        for part in ids.chunks(ROWS) {
            let ids: Vec<i64> = part.iter().map(|id| id.0).collect();
            diesel::delete(invitations::table.filter(invitations::id.eq_any(ids))).execute(c)?;
        }
        Ok(())
    }
}
