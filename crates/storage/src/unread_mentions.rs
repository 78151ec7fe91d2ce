//! The statement that counts the unread mentions of a member.

use eddyline_model::reading::ReadMarker;
use eddyline_model::{MessageId, RoomId, UserId};

use crate::find::Statement;

/// The most mentions of a user by name, and of each cohort with the user, that are examined: the
/// newest.
pub(crate) const MENTIONS_OF_KEY_LOOKED_AT: i64 = 1_000;
/// The most of all of them that are examined.
const MENTIONS_LOOKED_AT: i64 = 5_000;
/// The most cohorts of a room, of those mentioned behind a marker, that are examined.
const COHORTS_LOOKED_AT: i64 = 5_000;

/// A member whose unread mentions are counted, and up to where the member has read.
pub(crate) struct MentionsReader {
    pub(crate) room: RoomId,
    pub(crate) user: UserId,
    pub(crate) read_up_to: MessageId,
    pub(crate) inbox_read_up_to: MessageId,
}

impl MentionsReader {
    /// The nearer marker: no message before it is unread.
    pub(crate) fn nearest(&self) -> MessageId {
        self.read_up_to.min(self.inbox_read_up_to)
    }

    /// The keys under which the user is mentioned behind the nearer marker: that of the user, 0 for
    /// everyone as earlier versions wrote it, and those of the cohorts with the user. The list of
    /// users of a cohort may be long, so it is read only for those that are mentioned there: the
    /// offset and the cross join keep the databases to this order, here and in the statement.
    fn keys(&self) -> String {
        let Self { room, user, .. } = self;
        let nearest = self.nearest();
        format!(
            "select {user} as mention_key union all select 0 union all \
             select -o.id from (select c.id from cohorts c where c.room_id = {room} and exists \
             (select 1 from mentions p where p.room_id = {room} and p.user_id = -c.id \
             and p.message_id > {nearest} limit 1 offset 0) limit {COHORTS_LOOKED_AT}) b \
             cross join cohorts o where o.room_id = {room} and o.id = b.id \
             and o.users like '%,{user},%'"
        )
    }

    /// A statement that gives the messages that mention the user, stand behind the marker for their
    /// kind and were not read with their thread, at most `limit` of them. Marks that members of a
    /// cohort took off are in `mentions_seen`.
    ///
    /// `newest` joins `k`, which has the keys, with `m`: the newest mentions of each key.
    pub(crate) fn statement(&self, newest: &str, limit: i64) -> Statement {
        let Self {
            room,
            user,
            read_up_to,
            inbox_read_up_to,
        } = self;
        let keys = self.keys();
        let inbox = ReadMarker::Inbox.kinds();
        let inbox = inbox.map(|kind| kind.code().to_string()).join(", ");
        let sql = format!(
            "select distinct a.message_id as id from (select m.message_id, m.user_id, m.sender_id \
             from ({keys}) k {newest} limit {MENTIONS_LOOKED_AT}) a \
             where (a.user_id > 0 or a.sender_id <> {user} and not exists \
             (select 1 from mentions_seen s where s.room_id = {room} and s.user_id = {user} \
             and s.message_id = a.message_id)) and exists (select 1 from messages g \
             where g.room_id = {room} and g.id = a.message_id \
             and (g.event not in ({inbox}) and g.id > {read_up_to} \
             or g.event in ({inbox}) and g.id > {inbox_read_up_to} and not exists \
             (select 1 from thread_markers t where t.room_id = {room} and t.user_id = {user} \
             and (t.root_id = g.thread_root or t.root_id = g.id) and t.read_up_to >= g.id)) \
             limit 1 offset 0) limit {limit}"
        );
        Statement {
            sql,
            values: Vec::new(),
        }
    }
}
