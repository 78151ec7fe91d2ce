//! Removing now and then what has ended: links, unused sessions, codes, tokens, and servers that
//! died.

use std::time::Duration;

use eddyline_model::audit_export::GRACE_DAYS;
use eddyline_model::{MessageId, RoomId, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::Result;
use crate::accounts::SESSION_DAYS;
use crate::audit_destination::AuditDestination;
use crate::core::Core;
use crate::core::liveness::FORGOTTEN_MILLIS;
use crate::core::transaction::NoCaller;
use crate::jobs::Ticker;

const EVERY: Duration = Duration::from_secs(3600);
const DAY_MILLIS: i64 = 24 * 3_600_000;
/// How many grants end, or records of mail, in one transaction, since everybody else who writes
/// waits for it.
const BATCH: i64 = 500;
/// The number of messages of a room that are examined at a time for what is to be rewritten.
const EXAMINED: i64 = 5_000;

/// A form in which earlier versions have stored messages, and which is rewritten.
#[derive(Clone, Copy)]
enum Rewriting {
    /// Unread marks of groups and of everyone were spelled out.
    Marks,
    /// Texts with letters such as `ß`, and of scripts such as Thai, were filed under other words.
    Words,
}

impl Rewriting {
    const EACH: [Self; 2] = [Self::Marks, Self::Words];

    /// The setting with the room and the message up to which messages were rewritten.
    fn setting(self) -> &'static str {
        match self {
            Self::Marks => "marks_compacted",
            Self::Words => "words_refiled",
        }
    }

    /// The number of messages that one transaction rewrites.
    fn at_once(self) -> usize {
        match self {
            // Each may have thousands of marks.
            Self::Marks => 4,
            Self::Words => 50,
        }
    }
}

impl Core {
    /// Tidies up once an hour.
    pub(crate) async fn run_tidying(self, stop: CancellationToken) {
        let mut ticker = Ticker::new(EVERY, stop);
        while ticker.tick().await {
            if let Err(error) = self.tidy().await {
                tracing::debug!(%error, "what has ended could not be thrown away");
            }
        }
    }

    pub(crate) async fn tidy(&self) -> Result<()> {
        let ended = self.store().write(NoCaller::Process, |tx| {
            let now = tx.now();
            tx.mails().delete_ended_links(now)?;
            tx.emails().delete_ended_claims(now)?;
            tx.nodes()
                .delete_silent_writers(now.plus_millis(-DAY_MILLIS))?;
            tx.nodes()
                .delete_silent(now.plus_millis(-FORGOTTEN_MILLIS))?;
            tx.sessions()
                .delete_idle(now.plus_millis(-SESSION_DAYS * DAY_MILLIS))
        });
        ended.await?;
        self.tidy_mail_records().await?;
        self.tidy_audit().await?;
        self.tidy_grants().await?;
        for rewriting in Rewriting::EACH {
            self.rewrite(rewriting).await?;
        }
        Ok(())
    }

    /// Rewrites messages of earlier versions, a few at a time. It goes on where it ended.
    async fn rewrite(&self, rewriting: Rewriting) -> Result<()> {
        let setting = rewriting.setting();
        let place = self.store().read(|reader| reader.settings().find(setting));
        let place = place.await?.unwrap_or_default();
        let begin: (i64, i64) = serde_json::from_slice(&place).unwrap_or_default();
        let (mut room, mut after) = begin;
        while let Some((next_room, first)) = self.next_message(room, after).await? {
            // Numbers have gaps of any size: those that are not there are passed over.
            let through = first.0.saturating_add(EXAMINED);
            let examined = (MessageId(first.0 - 1), MessageId(through));
            let rewritten = self.rewrite_some(rewriting, next_room, examined).await?;
            (room, after) = (next_room.0, through);
            if rewritten > 0 {
                self.note_rewritten(rewriting, (room, after)).await?;
            }
        }
        match (room, after) == begin {
            true => Ok(()),
            false => self.note_rewritten(rewriting, (room, after)).await,
        }
    }

    /// Notes up to which message of which room messages were rewritten.
    async fn note_rewritten(&self, rewriting: Rewriting, place: (i64, i64)) -> Result<()> {
        let place = serde_json::json!(place).to_string();
        let setting = rewriting.setting();
        let note = self.store().write(NoCaller::Process, move |tx| {
            tx.settings().delete(setting)?;
            tx.settings().insert_or_find(setting, place.as_bytes())
        });
        note.await?;
        Ok(())
    }

    /// The first message behind this one, in the order of rooms and numbers.
    async fn next_message(&self, room: i64, after: i64) -> Result<Option<(RoomId, MessageId)>> {
        let (room, after) = (RoomId(room), MessageId(after));
        let next = self
            .store()
            .read(move |reader| reader.messages().find_next(room, after));
        Ok(next.await?)
    }

    /// Rewrites messages of a room after one and through another, and returns how many.
    async fn rewrite_some(
        &self,
        rewriting: Rewriting,
        room: RoomId,
        (after, through): (MessageId, MessageId),
    ) -> Result<usize> {
        let messages = self.store().read(move |reader| {
            let mut messages = reader.messages();
            match rewriting {
                Rewriting::Marks => messages.list_with_spelled_marks(room, after, through),
                Rewriting::Words => messages.list_with_former_words(room, after, through),
            }
        });
        let messages = messages.await?;
        for ids in messages.chunks(rewriting.at_once()) {
            let ids = ids.to_vec();
            let rewrite = self.store().write(NoCaller::Process, move |tx| {
                let mut messages = tx.messages();
                match rewriting {
                    Rewriting::Marks => messages.set_compact_marks(room, &ids),
                    Rewriting::Words => messages.set_words(room, &ids),
                }
            });
            rewrite.await?;
        }
        Ok(messages.len())
    }

    /// Removes the records that are older than the log keeps them. Those that a destination has not
    /// taken stay longer.
    async fn tidy_audit(&self) -> Result<()> {
        let days = i64::from(self.config().audit.days);
        let until = self.now().plus_millis(-days * DAY_MILLIS);
        let taken = self.find_taken_by_all().await?;
        self.delete_audit(until, taken).await?;
        if taken.is_some() {
            let grace = i64::from(GRACE_DAYS) * DAY_MILLIS;
            self.delete_audit(until.plus_millis(-grace), None).await?;
        }
        Ok(())
    }

    /// The last record that all destinations of the audit log have taken; `None` without any.
    async fn find_taken_by_all(&self) -> Result<Option<i64>> {
        let destinations = &self.config().audit.destinations;
        let names: Vec<_> = destinations.iter().map(AuditDestination::name).collect();
        if names.is_empty() {
            return Ok(None);
        }
        let exports = self.store().read(|reader| reader.audit_exports().list());
        let exports = exports.await?;
        let configured = exports
            .iter()
            .filter(|export| names.contains(&&*export.name));
        Ok(configured.map(|export| export.last_id).min())
    }

    async fn delete_audit(&self, until: Timestamp, through: Option<i64>) -> Result<()> {
        loop {
            let (deleted, _) = self
                .store()
                .write(NoCaller::Process, move |tx| {
                    tx.audit().delete_until(until, through, BATCH)
                })
                .await?;
            if i64::try_from(deleted).is_ok_and(|deleted| deleted < BATCH) {
                return Ok(());
            }
        }
    }

    async fn tidy_mail_records(&self) -> Result<()> {
        let until = self.now().plus_millis(-DAY_MILLIS);
        loop {
            let (deleted, _) = self
                .store()
                .write(NoCaller::Process, move |tx| {
                    tx.mail_records().delete_until(until, BATCH)
                })
                .await?;
            if i64::try_from(deleted).is_ok_and(|deleted| deleted < BATCH) {
                return Ok(());
            }
        }
    }

    /// What ended a day ago: so clocks of several servers need not agree, and a client that comes a
    /// little late is still told why it is refused. Grants go before codes, which stay as long as
    /// what they were exchanged for.
    async fn tidy_grants(&self) -> Result<()> {
        let long_ago = self.now().plus_millis(-DAY_MILLIS);
        loop {
            let (ended, _) = self
                .store()
                .write(NoCaller::Process, move |tx| {
                    let idle = tx.grants().list_idle(long_ago, BATCH)?;
                    for grant in &idle {
                        tx.grants().delete(*grant)?;
                    }
                    Ok(idle.len())
                })
                .await?;
            if i64::try_from(ended).is_ok_and(|ended| ended < BATCH) {
                break;
            }
        }
        self.store()
            .write(NoCaller::Process, move |tx| {
                tx.oauth_tokens().delete_ended_access(long_ago)
            })
            .await?;
        self.store()
            .write(NoCaller::Process, move |tx| {
                tx.oauth_tokens().delete_ended_refresh(long_ago)
            })
            .await?;
        self.store()
            .write(NoCaller::Process, move |tx| {
                tx.oauth_tokens().delete_ended_codes(long_ago)
            })
            .await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use eddyline_model::messages::{Message, MessageKind, MessageQuery};
    use eddyline_model::policy::FlowAction;
    use eddyline_model::search::SearchTokens;
    use eddyline_model::tags::Tags;

    use super::*;
    use crate::accounts::tests::World;
    use crate::{FlowRoom, NewPost, Posted};

    /// Posts a message whose row spells out marks, as earlier versions wrote it.
    async fn post_with_spelled_marks(world: &World, room: &Arc<FlowRoom>) -> MessageId {
        let post = NewPost {
            wait: true,
            ..NewPost::of(MessageKind::Message, "tea".into())
        };
        let posted = world.app.messages().post(&world.ada, room.clone(), post);
        let Posted::Message(view) = posted.await.unwrap() else {
            panic!("no message was posted");
        };
        let mut message = view.message.clone();
        let spelled = (5..30).map(|user| format!(":unread:{user}"));
        let tags = std::iter::once(":user:everyone".to_owned()).chain(spelled);
        message.tags = Tags::from(tags.collect::<Vec<_>>());
        let (before, after) = (view.message.clone(), message);
        let store = world.app.core().store();
        let update = store.write(NoCaller::Process, move |tx| {
            tx.messages()
                .update(&before, &after, &SearchTokens::default())
        });
        update.await.unwrap();
        view.message.id
    }

    async fn list_spelled(world: &World, room: RoomId) -> Vec<MessageId> {
        let read = world.app.core().store().read(move |reader| {
            let (first, last) = (MessageId(0), MessageId::MAX);
            reader.messages().list_with_spelled_marks(room, first, last)
        });
        read.await.unwrap()
    }

    #[tokio::test]
    async fn marks_that_earlier_versions_spelled_out_are_compacted_in_all_rooms() {
        let world = World::new().await;
        let rooms = world.app.rooms();
        let room = rooms.find(&world.ada, "acme", "main", FlowAction::Post);
        let room = room.await.unwrap();
        let id = room.id();
        let mut posted = Vec::new();
        for _ in 0..=2 * Rewriting::Marks.at_once() {
            posted.push(post_with_spelled_marks(&world, &room).await);
        }
        assert_eq!(list_spelled(&world, id).await, posted);
        world.app.core().tidy().await.unwrap();
        assert_eq!(list_spelled(&world, id).await, []);
        let store = world.app.core().store();
        let messages = store.read(move |reader| {
            let ids: Vec<i64> = posted.iter().map(|id| id.0).collect();
            reader.messages().list_by_id(id, &ids)
        });
        for message in messages.await.unwrap() {
            assert_eq!(message.tags.to_vec().len(), 26, "all are shown as before");
        }
        // What is looked at once is not looked at again.
        let place = || store.read(|reader| reader.settings().find(Rewriting::Marks.setting()));
        let noted = place().await.unwrap();
        assert!(noted.is_some());
        world.app.core().tidy().await.unwrap();
        assert_eq!(place().await.unwrap(), noted);
    }

    #[tokio::test]
    async fn words_of_earlier_versions_are_filed_anew_in_all_rooms() {
        let world = World::new().await;
        let rooms = world.app.rooms();
        let room = rooms.find(&world.ada, "acme", "main", FlowAction::Post);
        let room = room.await.unwrap();
        let post = NewPost {
            wait: true,
            ..NewPost::of(MessageKind::Message, "Eine Maß Bier".into())
        };
        let posted = world.app.messages().post(&world.ada, room.clone(), post);
        let Posted::Message(view) = posted.await.unwrap() else {
            panic!("no message was posted");
        };
        // As an earlier version has filed it.
        let (message, id) = (view.message.clone(), room.id());
        let before = Message {
            content: "Eine".into(),
            ..message.clone()
        };
        let store = world.app.core().store();
        let update = store.write(NoCaller::Process, move |tx| {
            let words = eddyline_model::search::tokens("eine bier");
            tx.messages().update(&before, &message, &words)
        });
        update.await.unwrap();
        let count_found = async || {
            let query = MessageQuery {
                search: Some(eddyline_model::search::query("mass")),
                limit: 10,
                ..MessageQuery::default()
            };
            let list = store.list(id, query, usize::MAX, |page| page.messages.len());
            list.await.unwrap()
        };
        assert_eq!(count_found().await, 0);
        world.app.core().tidy().await.unwrap();
        assert_eq!(count_found().await, 1);
    }
}
