//! Adding messages to rooms: the one way by which anything that is kept comes to be.

mod batch;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use eddyline_model::files::NewFile;
use eddyline_model::messages::{Draft, MessageView, Placement};
use eddyline_model::search::SearchTokens;
use eddyline_model::{MessageId, RoomId, UserId};

use self::batch::{AppendState, Earlier, mirror_of};
use crate::Result;
use crate::areas::{Files, Members, Messages, Rooms, Threads};
use crate::cohorts::CohortIds;
use crate::find;
use crate::messages::{is_indexed, to_message};
use crate::reader::{Access, dialect};
use crate::rows::{LockedRoom, MentionRow, MessageRow};
use crate::transaction::Tx;

/// What became of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppendOutcome {
    /// It is a message now.
    Added(Arc<MessageView>),
    /// The same was posted before under this uuid; this is the message it became.
    Repeated(MessageId),
    /// Something else was posted before under this uuid.
    UuidTaken,
    /// Who may post here, or which credentials hold, changed since the draft was checked: check it
    /// again.
    Stale,
    /// The message it answers is not there.
    NoParent,
    /// The message it answers is itself a comment.
    ParentIsComment,
    /// It brings a new state for a thread that somebody else keeps.
    ForeignThread,
    /// The room is not there, or holds as many messages as it can.
    NoRoom,
}

impl<C: Access> Messages<'_, C> {
    fn load_uuids<'d>(&mut self, drafts: &'d [Draft], batch: &mut AppendState<'d>) -> Result<()> {
        let wanted: HashMap<(i64, &str), &str> = drafts
            .iter()
            .filter_map(|d| d.uuid.as_deref().map(|uuid| ((d.room.0, uuid), uuid)))
            .collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let pairs: Vec<(i64, &str)> = wanted.keys().copied().collect();
        for row in dialect!(self, same_uuid, &pairs)? {
            let Some(uuid) = row.uuid.as_deref() else {
                continue;
            };
            if let Some(uuid) = wanted.get(&(row.room_id, uuid)) {
                let earlier = Earlier {
                    id: MessageId(row.id),
                    user: row.user_id,
                    external_name: row.external_user_name,
                    fingerprint: row.fingerprint,
                };
                batch.uuids.insert((row.room_id, uuid), earlier);
            }
        }
        Ok(())
    }

    /// Finds the threads that integrations name by ids of their own.
    fn load_mirrors<'d>(&mut self, drafts: &'d [Draft], batch: &mut AppendState<'d>) -> Result<()> {
        let wanted: BTreeSet<(i64, i64, &str)> = drafts.iter().filter_map(mirror_of).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let wanted: Vec<(i64, i64, &str)> = wanted.into_iter().collect();
        let roots = dialect!(self, mirrors, &wanted)?;
        let found = wanted
            .into_iter()
            .zip(roots)
            .filter_map(|(mirror, root)| Some((mirror, root?)));
        batch.mirrors.extend(found);
        Ok(())
    }

    /// Loads what the drafts of one room answer: the messages, and the state of their threads.
    fn load_referred(
        &mut self,
        drafts: &[Draft],
        room: RoomId,
        batch: &mut AppendState<'_>,
    ) -> Result<()> {
        let mut ids: Vec<i64> = drafts
            .iter()
            .filter(|draft| draft.room == room)
            .filter_map(|draft| match draft.placement {
                Placement::Answers(id) | Placement::InThread(id) => Some(id.0),
                Placement::StartsThread | Placement::Unthreaded | Placement::InMirror => None,
            })
            .collect();
        ids.extend(
            batch
                .mirrors
                .iter()
                .filter(|((of, ..), _)| *of == room.0)
                .map(|(_, root)| *root),
        );
        if ids.is_empty() {
            return Ok(());
        }
        ids.sort_unstable();
        ids.dedup();
        let found = Threads(self.0).list_referred(room, &ids)?;
        let roots: Vec<i64> = found
            .iter()
            .map(|(id, m)| m.thread_root.map_or(*id, |root| root.0))
            .chain(ids.iter().copied())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let missing: Vec<i64> = roots
            .iter()
            .copied()
            .filter(|id| !found.contains_key(id))
            .collect();
        let further = Threads(self.0).list_referred(room, &missing)?;
        batch.referred.extend(
            found
                .into_iter()
                .chain(further)
                .map(|(id, m)| ((room.0, id), m)),
        );
        let records = Threads(self.0).list_records(room, &roots)?;
        batch.threads.extend(
            records
                .into_iter()
                .map(|(id, record)| ((room.0, id), record)),
        );
        Ok(())
    }
}

impl Messages<'_, Tx<'_>> {
    /// Adds messages and their log entries.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn append(&mut self, drafts: &[Draft]) -> Result<Vec<AppendOutcome>> {
        self.append_if(drafts, |_| true)
    }

    /// The same, but those that are not admitted are [`AppendOutcome::Stale`].
    pub(crate) fn append_if(
        &mut self,
        drafts: &[Draft],
        admits: impl Fn(&Draft) -> bool,
    ) -> Result<Vec<AppendOutcome>> {
        let outcomes = self.append_drafts(drafts, admits)?;
        for outcome in &outcomes {
            if let AppendOutcome::Added(view) = outcome {
                self.0.record_message(view.clone());
            }
        }
        Ok(outcomes)
    }

    /// Adds the drafts, in order, within the transaction at hand, and says what became of each.
    /// Nothing is written to the log; that comes last, with
    /// [`Log::append_pending`](crate::areas::Log::append_pending).
    fn append_drafts(
        &mut self,
        drafts: &[Draft],
        admits: impl Fn(&Draft) -> bool,
    ) -> Result<Vec<AppendOutcome>> {
        let mut batch = self.load_batch(drafts)?;
        let mut rows = Vec::with_capacity(drafts.len());
        let mut added: Vec<(usize, Arc<MessageView>)> = Vec::with_capacity(drafts.len());
        let mut outcomes: Vec<Option<AppendOutcome>> = vec![None; drafts.len()];
        for (i, draft) in drafts.iter().enumerate() {
            let placed = if admits(draft) {
                batch.place(draft)
            } else {
                Err(AppendOutcome::Stale)
            };
            match placed {
                Ok((row, tags)) => {
                    // At once: it shows its thread as it leaves it, whatever comes later in the
                    // batch.
                    let mut view = batch.view(to_message(row.clone(), tags)?);
                    if let Some(live) = &draft.live {
                        view.message.content.clone_from(&live.content);
                        view.subject.clone_from(&live.subject);
                    }
                    rows.push(row);
                    added.push((i, Arc::new(view)));
                }
                Err(outcome) => outcomes[i] = Some(outcome),
            }
        }
        self.write_batch(drafts, &rows, &added, &batch)?;
        for (i, view) in added {
            outcomes[i] = Some(AppendOutcome::Added(view));
        }
        Ok(outcomes.into_iter().flatten().collect())
    }

    fn load_batch<'d>(&mut self, drafts: &'d [Draft]) -> Result<AppendState<'d>> {
        let ids: Vec<i64> = drafts
            .iter()
            .map(|d| d.room.0)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let locked: Vec<LockedRoom> = dialect!(self, lock_rooms, &ids)?;
        let mut batch = AppendState::of(locked);
        self.load_uuids(drafts, &mut batch)?;
        self.load_mirrors(drafts, &mut batch)?;
        for room in ids {
            self.load_referred(drafts, RoomId(room), &mut batch)?;
            let drafts = drafts.iter().filter(|draft| draft.room.0 == room);
            let cohorts = self.find_cohorts(RoomId(room), drafts.map(|draft| &draft.tags))?;
            batch.cohorts.insert(room, cohorts);
        }
        Ok(batch)
    }

    fn write_batch(
        &mut self,
        drafts: &[Draft],
        rows: &[MessageRow],
        added: &[(usize, Arc<MessageView>)],
        batch: &AppendState<'_>,
    ) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut tags: Vec<(i64, &str, i64)> = Vec::new();
        let mut words: Vec<(i64, i64, &SearchTokens)> = Vec::new();
        let mut mentions: Vec<MentionRow> = Vec::new();
        let mut addressed: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
        let mut arrived: BTreeSet<(i64, i64)> = BTreeSet::new();
        let mut files: Vec<(RoomId, MessageId, &[NewFile])> = Vec::new();
        for (i, view) in added {
            let (draft, message) = (&drafts[*i], &view.message);
            let (room, id) = (message.room.0, message.id.0);
            tags.extend(
                message
                    .tags
                    .listed()
                    .iter()
                    .filter(|tag| is_indexed(tag))
                    .map(|tag| (room, tag.as_str(), id)),
            );
            tags.extend(find::kind_tag(message.event).map(|kind| (room, kind, id)));
            if !draft.search_tokens.is_empty() {
                words.push((room, id, &draft.search_tokens));
            }
            if !draft.files.is_empty() {
                files.push((message.room, message.id, &draft.files));
            }
            if let Some(to) = message
                .to
                .filter(|to| message.event.is_listed() && message.author.user != Some(*to))
            {
                arrived.insert((room, to.0));
            }
            let keys = batch.cohorts_of(room).mention_keys(&message.tags);
            mentions.extend(CohortIds::mention_rows(message, keys.iter().copied()));
            addressed.entry(room).or_default().extend(keys);
        }
        dialect!(self, insert_messages, rows)?;
        if !tags.is_empty() {
            dialect!(self, insert_tags, &tags)?;
        }
        if !words.is_empty() {
            dialect!(self, index_at_once, &words)?;
        }
        for (room, keys) in &addressed {
            self.insert_cohorts(RoomId(*room), batch.cohorts_of(*room), keys)?;
        }
        self.insert_mentions(&mentions)?;
        if let Some(now) = added
            .iter()
            .map(|(_, view)| view.message.sent)
            .max()
            .filter(|_| !files.is_empty())
        {
            Files(self.0).insert(&files, now)?;
        }
        let items = batch.item_rows()?;
        if !items.is_empty() {
            Threads(self.0).insert_items(&items)?;
        }
        let threads = batch.thread_rows();
        if !threads.is_empty() {
            dialect!(self, put_threads, &threads)?;
        }
        // What is unread shows itself (specification, section 3).
        for (room, user) in arrived {
            Members(self.0).set_open_if_closed(RoomId(room), UserId(user))?;
        }
        let rooms: Vec<(i64, i64, Option<i64>)> = batch
            .changed
            .iter()
            .filter_map(|id| batch.rooms.get(id))
            .map(|room| (room.id, room.last_message_id, room.last_message_at))
            .collect();
        dialect!(self, update_rooms, &rooms)
    }
}

impl Rooms<'_, Tx<'_>> {
    /// Holds a room against other writers until the transaction ends.
    ///
    /// # Errors
    ///
    /// As any query.
    pub fn lock(&mut self, room: RoomId) -> Result<()> {
        let _locked: Vec<LockedRoom> = dialect!(self, lock_rooms, &[room.0])?;
        Ok(())
    }
}
