//! Whether everything in a database goes together.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use eddyline_model::RoomId;
use eddyline_model::messages::MessageKind;
use eddyline_model::search;

use super::Defect;
use super::dump::{Dump, each};
use crate::areas::{Messages, Organizations};
use crate::reader::Inner;
use crate::transaction::Tx;
use crate::{Error, Result, Store};

/// How many rows of a defect are named.
const EXAMPLES: usize = 5;

/// A rule that rows must keep, and the rows that do not: one text for each.
struct Rule {
    what: &'static str,
    broken: &'static str,
}

/// What foreign keys do not say, since messages refer to each other and to users by numbers alone.
const RULES: &[Rule] = &[
    Rule {
        what: "messages of rooms that are missing",
        broken: "select m.room_id || '/' || m.id as value from messages m \
                 left join rooms r on r.id = m.room_id where r.id is null",
    },
    Rule {
        what: "messages of users that are missing",
        broken: "select m.room_id || '/' || m.id as value from messages m \
                 left join users u on u.id = m.user_id where m.user_id is not null and u.id is null",
    },
    Rule {
        what: "rooms with newer messages than they know of",
        broken: "select cast(r.id as text) as value from rooms r \
                 join (select room_id, max(id) as newest from messages group by room_id) m on m.room_id = r.id \
                 where m.newest > r.last_message_id",
    },
    Rule {
        what: "tags of messages that are missing",
        broken: "select t.room_id || '/' || t.message_id || ' ' || t.tag as value from message_tags t \
                 left join messages m on m.room_id = t.room_id and m.id = t.message_id where m.id is null",
    },
    Rule {
        what: "mentions in messages that are missing",
        broken: "select t.room_id || '/' || t.message_id as value from mentions t \
                 left join messages m on m.room_id = t.room_id and m.id = t.message_id where m.id is null",
    },
    Rule {
        what: "mentions of cohorts that are missing",
        broken: "select t.room_id || '/' || t.message_id as value from mentions t \
                 left join cohorts a on a.room_id = t.room_id and a.id = -t.user_id \
                 where t.user_id < 0 and a.id is null",
    },
    Rule {
        what: "reactions to messages that are missing",
        broken: "select t.room_id || '/' || t.message_id as value from reactions t \
                 left join messages m on m.room_id = t.room_id and m.id = t.message_id where m.id is null",
    },
    Rule {
        what: "files of messages that are missing",
        broken: "select t.id as value from files t \
                 left join messages m on m.room_id = t.room_id and m.id = t.message_id where m.id is null",
    },
    Rule {
        what: "files whose bytes may be removed",
        broken: "select t.id as value from files t \
                 left join objects o on o.object_key = t.object_key where o.state is null or o.state <> 1",
    },
    Rule {
        what: "thumbnails whose bytes may be removed",
        broken: "select t.id as value from files t \
                 left join objects o on o.object_key = t.thumbnail_key \
                 where t.thumbnail_key is not null and (o.state is null or o.state <> 1)",
    },
    Rule {
        what: "events of the log behind its end",
        broken: "select cast(e.seq as text) as value from event_log e \
                 join log_clock c on c.id = 1 where e.seq > c.sequence",
    },
    Rule {
        what: "places in the log without an event",
        broken: "select cast(e.seq + 1 as text) as value from event_log e \
                 join log_clock c on c.id = 1 left join event_log n on n.seq = e.seq + 1 \
                 where n.seq is null and e.seq < c.sequence",
    },
];

/// Organizations whose number of people is kept wrong.
const MISCOUNTED: Rule = Rule {
    what: "organizations that know a wrong number of their members",
    broken: "select o.parameterized_name as value from organizations o where o.user_count <> \
             (select count(*) from organization_members m where m.organization_id = o.id) + \
             (select count(*) from closed_members m where m.organization_id = o.id)",
};

/// What a check of the database found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// What is not as it must be.
    pub defects: Vec<Defect>,
    /// How many messages were read.
    pub messages: u64,
    rooms_to_index: Vec<RoomId>,
    is_miscounted: bool,
}

impl Dump<'_> {
    /// Reads the whole database, and looks whether its rows go together: references, numbers of
    /// messages and events, and the index of words. An SQLite file is checked page by page as well.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`], and [`Error::Corrupt`] for a message that cannot be read.
    pub fn check(&mut self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        report.defects.extend(each!(self, damage)?);
        for rule in RULES {
            report.defects.extend(self.broken(rule, false)?);
        }
        let miscounted = self.broken(&MISCOUNTED, true)?;
        report.is_miscounted = miscounted.is_some();
        report.defects.extend(miscounted);
        self.compare_words(&mut report)?;
        Ok(report)
    }

    fn broken(&mut self, rule: &Rule, is_repairable: bool) -> Result<Option<Defect>> {
        let (mut count, mut examples) = (0, Vec::new());
        each!(self, texts, rule.broken, |text| {
            count += 1;
            if examples.len() < EXAMPLES {
                examples.push(text);
            }
        })?;
        Ok((count > 0).then_some(Defect {
            what: rule.what,
            count,
            examples,
            is_repairable,
        }))
    }

    /// Compares the index with the words of all messages, a sum for each room: only the sums of a
    /// room are in memory.
    fn compare_words(&mut self, report: &mut CheckReport) -> Result<()> {
        let mut rooms = BTreeMap::<i64, (u64, u64)>::new();
        let ends = each!(self, ends_of_index)?;
        let mut unreadable = None;
        each!(self, messages, |room, id, event, content: String| {
            report.messages += 1;
            if ends.get(&room).is_some_and(|end| id > *end) {
                return;
            }
            let Some(event) = MessageKind::from_code(event) else {
                unreadable = Some(Error::Corrupt("event"));
                return;
            };
            let sums = rooms.entry(room).or_default();
            for word in search::of_message(event, &content).iter() {
                sums.0 = sums.0.wrapping_add(hash(id, word));
            }
        })?;
        if let Some(error) = unreadable {
            return Err(error);
        }
        each!(self, indexed_words, |room, id, word: &str| {
            let sums = rooms.entry(room).or_default();
            sums.1 = sums.1.wrapping_add(hash(id, word));
        })?;
        let differ = rooms
            .iter()
            .filter(|(_, (expected, found))| expected != found);
        report.rooms_to_index = differ.map(|(room, _)| RoomId(*room)).collect();
        let rooms = &report.rooms_to_index;
        if !rooms.is_empty() {
            report.defects.push(Defect {
                what: "rooms whose messages are not found by all of their words",
                count: rooms.len() as u64,
                examples: rooms
                    .iter()
                    .take(EXAMPLES)
                    .map(|room| room.0.to_string())
                    .collect(),
                is_repairable: true,
            });
        }
        Ok(())
    }
}

fn hash(id: i64, word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (id, word).hash(&mut hasher);
    hasher.finish()
}

impl Store {
    /// Makes right what a check found and other rows tell: the index of words, and numbers of
    /// members.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`], [`Error::Unavailable`], [`Error::DiskFull`].
    pub async fn repair(&self, report: &CheckReport) -> Result<()> {
        if report.is_miscounted {
            self.write(|tx| tx.organizations().update_counts()).await?;
        }
        for room in report.rooms_to_index.clone() {
            self.write(move |tx| tx.messages().update_index(room))
                .await?;
        }
        Ok(())
    }
}

impl Organizations<'_, Tx<'_>> {
    fn update_counts(&mut self) -> Result<()> {
        let counts = "update organizations set user_count = \
                      (select count(*) from organization_members where organization_id = organizations.id) + \
                      (select count(*) from closed_members where organization_id = organizations.id)";
        match crate::reader::Connected::connection(self.0) {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(c) => super::sqlite::execute(c, counts),
            #[cfg(feature = "postgres")]
            Inner::Postgres(c) => super::postgres::execute(c, counts),
        }
    }
}

impl Messages<'_, Tx<'_>> {
    /// Files all messages of a room under their words once more.
    fn update_index(&mut self, room: RoomId) -> Result<()> {
        match crate::reader::Connected::connection(self.0) {
            #[cfg(feature = "sqlite")]
            Inner::Sqlite(c) => super::sqlite::index_room(c, room.0),
            #[cfg(feature = "postgres")]
            Inner::Postgres(c) => super::postgres::index_room(c, room.0),
        }
    }
}
