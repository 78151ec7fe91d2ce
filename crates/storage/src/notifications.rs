//! What users are notified of, and the browsers that take push messages.

use std::collections::{BTreeSet, HashMap, HashSet};

use diesel::dsl::exists;
use diesel::prelude::*;
use eddyline_model::notifications::{
    NotificationLevel, NotificationSettings, QuietHours, TimeOfDay,
};
use eddyline_model::{FlowId, MessageId, RoomId, Timestamp, UserId};
use eddyline_portable::portable;

use crate::areas::{Messages, Notifications};
use crate::reader::Access;
use crate::schema::{
    flows, mentions, notification_levels, notification_settings, push_subscriptions, room_members,
};
use crate::transaction::Tx;
use crate::{Error, Result};

/// A browser that takes push messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushSubscription {
    /// The digest of the secret of its session.
    pub session: Vec<u8>,
    /// The user who is signed in there.
    pub user: UserId,
    /// The address that its push service gave.
    pub endpoint: String,
    /// Its public key.
    pub p256dh: Vec<u8>,
    /// The secret that it shares with us.
    pub auth: Vec<u8>,
}

/// A browser by its session, and its user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subscriber {
    /// The digest of the secret of the session.
    pub session: Vec<u8>,
    /// The user.
    pub user: UserId,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = notification_settings)]
struct SettingsRow {
    user_id: i64,
    level: i16,
    shows_text: bool,
    quiet_from: Option<i16>,
    quiet_until: Option<i16>,
    zone: Option<String>,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = push_subscriptions)]
struct SubscriptionRow {
    session_hash: Vec<u8>,
    user_id: i64,
    endpoint: String,
    p256dh: Vec<u8>,
    auth: Vec<u8>,
}

fn level(code: i16) -> Result<NotificationLevel> {
    NotificationLevel::from_code(code).ok_or(Error::Corrupt("level of notifications"))
}

fn time(minutes: i16) -> Result<TimeOfDay> {
    let minutes = u16::try_from(minutes).ok();
    minutes
        .and_then(TimeOfDay::from_minutes)
        .ok_or(Error::Corrupt("time of quiet hours"))
}

fn to_settings(row: SettingsRow) -> Result<(UserId, NotificationSettings)> {
    let quiet = match (row.quiet_from, row.quiet_until, row.zone) {
        (Some(from), Some(until), Some(zone)) => Some(QuietHours {
            from: time(from)?,
            until: time(until)?,
            zone,
        }),
        _ => None,
    };
    let settings = NotificationSettings {
        level: level(row.level)?,
        shows_text: row.shows_text,
        quiet,
    };
    Ok((UserId(row.user_id), settings))
}

fn minutes(time: TimeOfDay) -> i16 {
    i16::try_from(time.minutes()).unwrap_or_default()
}

fn numbers(users: &[UserId]) -> Vec<i64> {
    users.iter().map(|user| user.0).collect()
}

#[portable]
impl<C: Access> Notifications<'_, C> {
    /// What a user has chosen, if anything.
    pub fn find_settings(c: &mut Connection, user: UserId) -> Result<Option<NotificationSettings>> {
        let row = notification_settings::table
            .find(user.0)
            .select(SettingsRow::as_select())
            .first(c)
            .optional()?;
        let settings = row.map(to_settings).transpose()?;
        Ok(settings.map(|(_, settings)| settings))
    }

    /// What some users have chosen. Those who have chosen nothing are left out.
    pub fn list_settings(
        c: &mut Connection,
        users: &[UserId],
    ) -> Result<HashMap<UserId, NotificationSettings>> {
        let rows = notification_settings::table
            .filter(notification_settings::user_id.eq_any(numbers(users)))
            .select(SettingsRow::as_select())
            .load(c)?;
        rows.into_iter().map(to_settings).collect()
    }

    /// What some users have chosen for some flows. Where nothing is chosen, nothing is given.
    pub fn list_levels(
        c: &mut Connection,
        rooms: &[RoomId],
        users: &[UserId],
    ) -> Result<HashMap<(RoomId, UserId), NotificationLevel>> {
        let rooms: Vec<i64> = rooms.iter().map(|room| room.0).collect();
        let rows = notification_levels::table
            .filter(notification_levels::room_id.eq_any(rooms))
            .filter(notification_levels::user_id.eq_any(numbers(users)))
            .load::<(i64, i64, i16)>(c)?;
        rows.into_iter()
            .map(|(room, user, code)| Ok(((RoomId(room), UserId(user)), level(code)?)))
            .collect()
    }

    /// What a user has chosen for single flows.
    pub fn list_levels_of_user(
        c: &mut Connection,
        user: UserId,
    ) -> Result<HashMap<FlowId, NotificationLevel>> {
        let rows = notification_levels::table
            .inner_join(flows::table.on(flows::room_id.eq(notification_levels::room_id)))
            .filter(notification_levels::user_id.eq(user.0))
            .select((flows::public_id, notification_levels::level))
            .load::<(String, i16)>(c)?;
        rows.into_iter()
            .map(|(flow, code)| Ok((FlowId(flow), level(code)?)))
            .collect()
    }

    /// Whether any browser takes push messages.
    pub fn has_subscriptions(c: &mut Connection) -> Result<bool> {
        Ok(diesel::select(exists(
            push_subscriptions::table.select(push_subscriptions::user_id),
        ))
        .get_result(c)?)
    }

    /// The browser of a session, if it takes push messages.
    pub fn find_subscription(
        c: &mut Connection,
        session: &[u8],
    ) -> Result<Option<PushSubscription>> {
        let row = push_subscriptions::table
            .find(session)
            .select(SubscriptionRow::as_select())
            .get_result(c)
            .optional()?;
        Ok(row.map(|row| PushSubscription {
            session: row.session_hash,
            user: UserId(row.user_id),
            endpoint: row.endpoint,
            p256dh: row.p256dh,
            auth: row.auth,
        }))
    }

    /// The browsers of members of some flows that take push messages, each with its flow. Blocked
    /// members are left out.
    pub fn list_subscribers_of_rooms(
        c: &mut Connection,
        rooms: &[RoomId],
    ) -> Result<Vec<(RoomId, Subscriber)>> {
        let rooms: Vec<i64> = rooms.iter().map(|room| room.0).collect();
        let rows = push_subscriptions::table
            .inner_join(
                room_members::table.on(room_members::user_id.eq(push_subscriptions::user_id)),
            )
            .filter(room_members::room_id.eq_any(rooms))
            .filter(room_members::blocked.eq(false))
            .select((
                room_members::room_id,
                push_subscriptions::session_hash,
                push_subscriptions::user_id,
            ))
            .load::<(i64, Vec<u8>, i64)>(c)?;
        let known = |(room, session, user)| {
            let user = UserId(user);
            (RoomId(room), Subscriber { session, user })
        };
        Ok(rows.into_iter().map(known).collect())
    }

    /// The browsers of some users that take push messages, the latest first.
    pub fn list_subscribers(c: &mut Connection, users: &[UserId]) -> Result<Vec<Subscriber>> {
        let rows = push_subscriptions::table
            .filter(push_subscriptions::user_id.eq_any(numbers(users)))
            .order((
                push_subscriptions::created_at.desc(),
                push_subscriptions::session_hash,
            ))
            .select((
                push_subscriptions::session_hash,
                push_subscriptions::user_id,
            ))
            .load::<(Vec<u8>, i64)>(c)?;
        let known = |(session, user)| Subscriber {
            session,
            user: UserId(user),
        };
        Ok(rows.into_iter().map(known).collect())
    }

    fn list_mentioned_by_name(
        c: &mut Connection,
        room: RoomId,
        messages: &[i64],
        users: &[UserId],
    ) -> Result<HashSet<(MessageId, UserId)>> {
        let rows = mentions::table
            .filter(mentions::room_id.eq(room.0))
            .filter(mentions::message_id.eq_any(messages))
            .filter(mentions::user_id.eq_any(numbers(users)))
            .select((mentions::message_id, mentions::user_id))
            .load::<(i64, i64)>(c)?;
        let mentioned = |(message, user)| (MessageId(message), UserId(user));
        Ok(rows.into_iter().map(mentioned).collect())
    }
}

impl<C: Access> Notifications<'_, C> {
    /// Returns the pairs of a message of a room and one of these users whom it mentions: by name,
    /// as a member of a group, or with everyone.
    ///
    /// # Errors
    ///
    /// When the database fails.
    pub fn list_mentioned(
        &mut self,
        room: RoomId,
        messages: &[MessageId],
        users: &[UserId],
    ) -> Result<HashSet<(MessageId, UserId)>> {
        let ids: Vec<i64> = messages.iter().map(|id| id.0).collect();
        let mut mentioned = self.list_mentioned_by_name(room, &ids, users)?;
        let (Some(first), Some(last)) = (ids.iter().min(), ids.iter().max()) else {
            return Ok(mentioned);
        };
        let mut rows = Messages(self.0).list_cohort_mentions(room, *first, *last)?;
        rows.retain(|(_, _, message, _)| ids.contains(message));
        let cohorts: BTreeSet<i64> = rows.iter().map(|(_, key, ..)| -key).collect();
        let cohorts: Vec<i64> = cohorts.into_iter().collect();
        let cohorts = match rows.is_empty() {
            true => HashMap::new(),
            false => Messages(self.0).load_cohorts(room, &cohorts)?,
        };
        let users: HashSet<UserId> = users.iter().copied().collect();
        for (_, key, message, sender) in rows {
            let message = MessageId(message);
            let addressed: Vec<UserId> = match (key, cohorts.get(&-key)) {
                // Everyone, as earlier versions wrote it.
                (0, _) => users.iter().copied().collect(),
                (_, Some(cohort)) => cohort.users().to_vec(),
                (_, None) => Vec::new(),
            };
            let others = addressed.into_iter().filter(|user| user.0 != sender);
            mentioned.extend(
                others
                    .filter(|user| users.contains(user))
                    .map(|user| (message, user)),
            );
        }
        Ok(mentioned)
    }
}

#[portable]
impl Notifications<'_, Tx<'_>> {
    /// Sets what a user has chosen.
    pub fn upsert_settings(
        c: &mut Connection,
        user: UserId,
        settings: &NotificationSettings,
    ) -> Result<()> {
        let quiet = settings.quiet.as_ref();
        let values = (
            notification_settings::level.eq(settings.level.code()),
            notification_settings::shows_text.eq(settings.shows_text),
            notification_settings::quiet_from.eq(quiet.map(|quiet| minutes(quiet.from))),
            notification_settings::quiet_until.eq(quiet.map(|quiet| minutes(quiet.until))),
            notification_settings::zone.eq(quiet.map(|quiet| quiet.zone.as_str())),
        );
        diesel::insert_into(notification_settings::table)
            .values((notification_settings::user_id.eq(user.0), values))
            .on_conflict(notification_settings::user_id)
            .do_update()
            .set(values)
            .execute(c)?;
        Ok(())
    }

    /// Sets what a user has chosen for a flow; `None` for what the user has chosen for all.
    pub fn set_level(
        c: &mut Connection,
        room: RoomId,
        user: UserId,
        level: Option<NotificationLevel>,
    ) -> Result<()> {
        let Some(level) = level else {
            let row = notification_levels::table.find((room.0, user.0));
            diesel::delete(row).execute(c)?;
            return Ok(());
        };
        diesel::insert_into(notification_levels::table)
            .values((
                notification_levels::room_id.eq(room.0),
                notification_levels::user_id.eq(user.0),
                notification_levels::level.eq(level.code()),
            ))
            .on_conflict((notification_levels::room_id, notification_levels::user_id))
            .do_update()
            .set(notification_levels::level.eq(level.code()))
            .execute(c)?;
        Ok(())
    }

    /// Notes that the browser of a session takes push messages, in place of what was known of that
    /// session and of that browser.
    pub fn insert_subscription(
        c: &mut Connection,
        new: &PushSubscription,
        now: Timestamp,
    ) -> Result<()> {
        let known = push_subscriptions::session_hash
            .eq(&new.session)
            .or(push_subscriptions::endpoint.eq(&new.endpoint));
        diesel::delete(push_subscriptions::table.filter(known)).execute(c)?;
        diesel::insert_into(push_subscriptions::table)
            .values((
                push_subscriptions::session_hash.eq(&new.session),
                push_subscriptions::user_id.eq(new.user.0),
                push_subscriptions::endpoint.eq(&new.endpoint),
                push_subscriptions::p256dh.eq(&new.p256dh),
                push_subscriptions::auth.eq(&new.auth),
                push_subscriptions::created_at.eq(now.0),
            ))
            .execute(c)?;
        Ok(())
    }

    /// Sends no more push messages to the browser of a session.
    pub fn delete_subscription(c: &mut Connection, session: &[u8]) -> Result<()> {
        diesel::delete(push_subscriptions::table.find(session)).execute(c)?;
        Ok(())
    }

    /// Sends no more push messages to any browser.
    pub fn delete_all_subscriptions(c: &mut Connection) -> Result<()> {
        diesel::delete(push_subscriptions::table).execute(c)?;
        Ok(())
    }
}
