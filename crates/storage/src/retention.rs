//! Rules of retention, legal holds, and the oldest messages of rooms.

use std::collections::BTreeSet;

use diesel::prelude::*;
use eddyline_model::messages::MessageKind;
use eddyline_model::retention::{
    HoldTarget, LegalHolds, RetentionPeriod, RetentionRules, RetentionScope, RoomUnderHold,
};
use eddyline_model::{MessageId, OrganizationId, RoomId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::areas::{Messages, Retention, Threads};
use crate::reader::{Access, Inner};
use crate::schema::{
    closed_members, closed_room_members, flows, former_members, legal_holds, messages,
    organization_members, private_rooms, removed_members, retention_rules, room_members,
    thread_items, thread_markers, threads,
};
use crate::transaction::Tx;
use crate::{Error, Result};

/// A legal hold with why and when it was placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedHold {
    /// What it is placed on.
    pub target: HoldTarget,
    /// Why, in the words of the operator.
    pub reason: String,
    /// When.
    pub placed_at: Timestamp,
}

/// A message as retention looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldMessage {
    /// Its number.
    pub id: MessageId,
    /// Who wrote it.
    pub author: Option<UserId>,
    /// When it was sent.
    pub sent: Timestamp,
}

fn scope_key(scope: RetentionScope) -> (i16, i64) {
    match scope {
        RetentionScope::Organization(organization) => (0, organization.0),
        RetentionScope::Flow(room) => (1, room.0),
        RetentionScope::Private => (2, 0),
    }
}

fn scope_of((scope, target): (i16, i64)) -> Result<RetentionScope> {
    match scope {
        0 => Ok(RetentionScope::Organization(OrganizationId(target))),
        1 => Ok(RetentionScope::Flow(RoomId(target))),
        2 => Ok(RetentionScope::Private),
        _ => Err(Error::Corrupt("retention_rules.scope")),
    }
}

fn hold_key(target: HoldTarget) -> (i16, i64) {
    match target {
        HoldTarget::Organization(organization) => (0, organization.0),
        HoldTarget::Flow(room) => (1, room.0),
        HoldTarget::User(user) => (2, user.0),
    }
}

fn hold_of((scope, target): (i16, i64)) -> Result<HoldTarget> {
    match scope {
        0 => Ok(HoldTarget::Organization(OrganizationId(target))),
        1 => Ok(HoldTarget::Flow(RoomId(target))),
        2 => Ok(HoldTarget::User(UserId(target))),
        _ => Err(Error::Corrupt("legal_holds.scope")),
    }
}

#[portable]
impl<C: Access> Retention<'_, C> {
    /// All rules.
    pub fn list_rules(c: &mut Connection) -> Result<RetentionRules> {
        let rows = retention_rules::table
            .order((retention_rules::scope, retention_rules::target_id))
            .load::<(i16, i64, i64)>(c)?;
        let rule = |(scope, target, days)| {
            let period =
                RetentionPeriod::from_code(days).ok_or(Error::Corrupt("retention_rules.days"))?;
            Ok((scope_of((scope, target))?, period))
        };
        Ok(RetentionRules(
            rows.into_iter().map(rule).collect::<Result<_>>()?,
        ))
    }

    /// All legal holds.
    pub fn list_holds(c: &mut Connection) -> Result<Vec<PlacedHold>> {
        let rows = legal_holds::table
            .order((legal_holds::scope, legal_holds::target_id))
            .load::<(i16, i64, String, i64)>(c)?;
        let hold = |(scope, target, reason, placed_at)| {
            Ok(PlacedHold {
                target: hold_of((scope, target))?,
                reason,
                placed_at: Timestamp(placed_at),
            })
        };
        rows.into_iter().map(hold).collect()
    }

    /// What the legal holds are placed on.
    pub fn find_holds(c: &mut Connection) -> Result<LegalHolds> {
        let rows = legal_holds::table
            .select((legal_holds::scope, legal_holds::target_id))
            .load::<(i16, i64)>(c)?;
        Ok(LegalHolds(
            rows.into_iter().map(hold_of).collect::<Result<_>>()?,
        ))
    }

    /// All flows with their organizations, archived ones among them.
    pub fn list_flows(c: &mut Connection) -> Result<Vec<(RoomId, OrganizationId)>> {
        let rows = flows::table
            .order(flows::room_id)
            .select((flows::room_id, flows::organization_id))
            .load::<(i64, i64)>(c)?;
        let rows = rows.into_iter();
        Ok(rows
            .map(|(room, organization)| (RoomId(room), OrganizationId(organization)))
            .collect())
    }

    /// The private conversations with a number above `after`, ordered by number.
    pub fn list_private_page(c: &mut Connection, after: RoomId, limit: i64) -> Result<Vec<RoomId>> {
        let rows = private_rooms::table
            .filter(private_rooms::room_id.gt(after.0))
            .order(private_rooms::room_id)
            .limit(limit)
            .select(private_rooms::room_id)
            .load::<i64>(c)?;
        Ok(rows.into_iter().map(RoomId).collect())
    }

    /// The organizations to which one of these users belongs or belonged.
    pub fn list_organizations_ever(
        c: &mut Connection,
        users: &[UserId],
    ) -> Result<BTreeSet<OrganizationId>> {
        let users: Vec<i64> = users.iter().map(|user| user.0).collect();
        let mut found = organization_members::table
            .filter(organization_members::user_id.eq_any(&users))
            .select(organization_members::organization_id)
            .load::<i64>(c)?;
        found.extend(
            removed_members::table
                .filter(removed_members::user_id.eq_any(&users))
                .select(removed_members::organization_id)
                .load::<i64>(c)?,
        );
        found.extend(
            closed_members::table
                .filter(closed_members::user_id.eq_any(&users))
                .select(closed_members::organization_id)
                .load::<i64>(c)?,
        );
        Ok(found.into_iter().map(OrganizationId).collect())
    }

    /// The flows in which a user is or was, and the other users of their private conversations.
    pub fn list_rooms_ever(
        c: &mut Connection,
        user: UserId,
    ) -> Result<(BTreeSet<RoomId>, BTreeSet<UserId>)> {
        let mut rooms = room_members::table
            .filter(room_members::user_id.eq(user.0))
            .select(room_members::room_id)
            .load::<i64>(c)?;
        rooms.extend(
            former_members::table
                .filter(former_members::user_id.eq(user.0))
                .select(former_members::room_id)
                .load::<i64>(c)?,
        );
        rooms.extend(
            closed_room_members::table
                .filter(closed_room_members::user_id.eq(user.0))
                .select(closed_room_members::room_id)
                .load::<i64>(c)?,
        );
        let pairs = private_rooms::table
            .filter(
                private_rooms::low_user_id
                    .eq(user.0)
                    .or(private_rooms::high_user_id.eq(user.0)),
            )
            .select((private_rooms::low_user_id, private_rooms::high_user_id))
            .load::<(i64, i64)>(c)?;
        let others = pairs.into_iter().flat_map(|(low, high)| [low, high]);
        Ok((
            rooms.into_iter().map(RoomId).collect(),
            others.map(UserId).collect(),
        ))
    }

    fn flow_organization(c: &mut Connection, room: RoomId) -> Result<Option<i64>> {
        Ok(flows::table
            .find(room.0)
            .select(flows::organization_id)
            .get_result(c)
            .optional()?)
    }

    fn private_users(c: &mut Connection, room: RoomId) -> Result<Option<(i64, i64)>> {
        Ok(private_rooms::table
            .find(room.0)
            .select((private_rooms::low_user_id, private_rooms::high_user_id))
            .get_result(c)
            .optional()?)
    }
}

impl<C: Access> Retention<'_, C> {
    /// A room as legal holds cover it; `None` when there is no such room.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub fn find_room(&mut self, room: RoomId) -> Result<Option<RoomUnderHold>> {
        if let Some(organization) = self.flow_organization(room)? {
            let organization = OrganizationId(organization);
            return Ok(Some(RoomUnderHold::Flow(room, organization)));
        }
        let Some((low, high)) = self.private_users(room)? else {
            return Ok(None);
        };
        let users = [UserId(low), UserId(high)];
        let organizations = self.list_organizations_ever(&users)?;
        Ok(Some(RoomUnderHold::Private(users, organizations)))
    }
}

#[portable]
impl Retention<'_, Tx<'_>> {
    /// Sets a rule.
    pub fn upsert_rule(
        c: &mut Connection,
        scope: RetentionScope,
        period: RetentionPeriod,
    ) -> Result<()> {
        let (scope, target) = scope_key(scope);
        diesel::insert_into(retention_rules::table)
            .values((
                retention_rules::scope.eq(scope),
                retention_rules::target_id.eq(target),
                retention_rules::days.eq(period.code()),
            ))
            .on_conflict((retention_rules::scope, retention_rules::target_id))
            .do_update()
            .set(retention_rules::days.eq(period.code()))
            .execute(c)?;
        Ok(())
    }

    /// Deletes a rule. Says whether there was one.
    pub fn delete_rule(c: &mut Connection, scope: RetentionScope) -> Result<bool> {
        let deleted = diesel::delete(retention_rules::table.find(scope_key(scope))).execute(c)?;
        Ok(deleted > 0)
    }

    /// Places a hold. One that is there keeps its time, and gets the new reason.
    pub fn upsert_hold(c: &mut Connection, hold: &PlacedHold) -> Result<()> {
        let (scope, target) = hold_key(hold.target);
        diesel::insert_into(legal_holds::table)
            .values((
                legal_holds::scope.eq(scope),
                legal_holds::target_id.eq(target),
                legal_holds::reason.eq(&hold.reason),
                legal_holds::placed_at.eq(hold.placed_at.0),
            ))
            .on_conflict((legal_holds::scope, legal_holds::target_id))
            .do_update()
            .set(legal_holds::reason.eq(&hold.reason))
            .execute(c)?;
        Ok(())
    }

    /// Releases a hold. Says whether there was one.
    pub fn delete_hold(c: &mut Connection, target: HoldTarget) -> Result<bool> {
        Ok(diesel::delete(legal_holds::table.find(hold_key(target))).execute(c)? > 0)
    }
}

#[portable]
impl<C: Access> Messages<'_, C> {
    /// Messages of any kind with a number above `after`, ordered by number.
    pub fn list_oldest(
        c: &mut Connection,
        room: RoomId,
        after: MessageId,
        limit: i64,
    ) -> Result<Vec<OldMessage>> {
        let rows = messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::id.gt(after.0))
            .order(messages::id)
            .limit(limit)
            .select((messages::id, messages::user_id, messages::sent))
            .load::<(i64, Option<i64>, i64)>(c)?;
        let old = |(id, author, sent): (i64, Option<i64>, i64)| OldMessage {
            id: MessageId(id),
            author: author.map(UserId),
            sent: Timestamp(sent),
        };
        Ok(rows.into_iter().map(old).collect())
    }
}

#[portable]
impl<C: Access> Threads<'_, C> {
    /// Whether a thread has messages. Notices do not count.
    pub fn has_messages(c: &mut Connection, room: RoomId, root: MessageId) -> Result<bool> {
        let notices = MessageKind::MessageEdit.code();
        let first = messages::table
            .find((room.0, root.0))
            .filter(messages::event.lt(notices));
        // Their numbers come from the index of answers. With the kind in the same select, SQLite would
        // rather read the whole room.
        let answers = diesel::alias!(messages as answers);
        let numbers = answers
            .filter(answers.field(messages::room_id).eq(room.0))
            .filter(answers.field(messages::thread_root).eq(root.0))
            .filter(
                answers
                    .field(messages::thread_root)
                    .ne(answers.field(messages::id).nullable()),
            )
            .select(answers.field(messages::id));
        let answers = messages::table
            .filter(messages::room_id.eq(room.0))
            .filter(messages::id.eq_any(numbers))
            .filter(messages::event.lt(notices));
        Ok(
            diesel::select(diesel::dsl::exists(first)).get_result::<bool>(c)?
                || diesel::select(diesel::dsl::exists(answers)).get_result::<bool>(c)?,
        )
    }
}

impl Threads<'_, Tx<'_>> {
    /// Deletes a thread with its item and its markers when none of its messages is left. Notices do
    /// not count.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn delete_empty(&mut self, room: RoomId, root: MessageId) -> Result<()> {
        match self.has_messages(room, root)? {
            true => Ok(()),
            false => self.delete_row(room, root),
        }
    }
}

#[portable]
impl Threads<'_, Tx<'_>> {
    /// Deletes a thread with its item and its markers.
    fn delete_row(c: &mut Connection, room: RoomId, root: MessageId) -> Result<()> {
        let item = threads::table
            .find((room.0, root.0))
            .select(threads::item_id)
            .get_result::<Option<i64>>(c)
            .optional()?
            .flatten();
        if let Some(item) = item {
            diesel::delete(thread_items::table.find((room.0, item))).execute(c)?;
        }
        diesel::delete(threads::table.find((room.0, root.0))).execute(c)?;
        let markers = thread_markers::table
            .filter(thread_markers::room_id.eq(room.0))
            .filter(thread_markers::root_id.eq(root.0));
        diesel::delete(markers).execute(c)?;
        Ok(())
    }
}

impl Retention<'_, Tx<'_>> {
    /// What the legal holds are placed on, for a transaction that deletes what they do not cover. None
    /// is placed or released until it ends: a hold that was placed covers whatever is still there.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn lock_holds(&mut self) -> Result<LegalHolds> {
        match self.0.connection() {
            // Otherwise a hold could be committed between this read and the commit of the deletion.
            #[cfg(feature = "postgres")]
            Inner::Postgres(c) => {
                diesel::sql_query("lock table legal_holds in share mode").execute(c)?;
            }
            // A transaction that writes to SQLite runs alone.
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(_) => {}
        }
        self.find_holds()
    }
}
