//! The flows and private conversations of an archive.

use std::collections::HashSet;

use eddyline_archive::{ConversationRecord, FlowRecord, PersonNumber};
use eddyline_model::names::parameterized_candidates;
use eddyline_model::{FlowId, MessageId, OrganizationId, RoomId, UserId};
use eddyline_storage::{ImportedKind, NewFlowRow, Result as StoreResult, Tx};
use serde::Deserialize;

use super::content::Users;
use super::plan::{RoomPlan, messages_of};
use super::room::RoomImport;
use super::{OwnArchive, numbers};
use crate::authority::{
    InvitingRoom, NotedRoom, Pair, Participant, confirm_room, may_still_converse,
};
use crate::target::ImportWork;
use crate::{Error, LeftOutKind, Result, texts};

/// The longest id of a flow.
const MAX_FLOW_ID: usize = 64;

impl OwnArchive {
    /// Imports all flows and conversations.
    pub(super) fn rooms(&self, work: &mut ImportWork<'_>, users: &Users) -> Result<()> {
        let origin = work.origin.clone();
        let (noted, begun, complete) = work.read(move |reader| {
            Ok((
                reader.imports().list(&origin, ImportedKind::Room)?,
                reader.imports().list(&origin, ImportedKind::BegunRoom)?,
                reader.imports().list(&origin, ImportedKind::CompleteRoom)?,
            ))
        })?;
        let mut flows = Vec::new();
        for plan in self.plans(work, users)? {
            let invited = plan.members.iter();
            let invited = invited.filter(|member| !member.blocked);
            let invited: Vec<&Participant> = invited
                .filter_map(|member| users.get(&member.person))
                .collect();
            let count = self.count(&plan);
            let is_of_this = begun.contains_key(&self.begun_id(&plan.foreign_id));
            if let Some(room) = complete.get(&plan.foreign_id) {
                flows.push(InvitingRoom {
                    room: RoomId(*room),
                    is_complete: !is_of_this,
                    people: invited,
                });
                work.report.known_messages += count;
                continue;
            }
            if work.target.is_dry_run {
                work.report.messages += count;
                count_room(work, &plan);
                continue;
            }
            let (organization, pair) = (work.origin.organization, plan.pair);
            let note = noted.get(&plan.foreign_id).copied();
            let is_of_this = begun.get(&self.begun_id(&plan.foreign_id)).copied() == note;
            let note = note.map(RoomId);
            let room =
                match work.read(move |reader| confirm_room(reader, organization, note, pair))? {
                    NotedRoom::Same(room) => Some(room).filter(|_| is_of_this),
                    NotedRoom::Absent => make_room(work, self, &plan, users)?,
                    NotedRoom::Another => None,
                };
            match room {
                Some(room) => {
                    RoomImport::new(work, self, &plan, users, room).run()?;
                    count_room(work, &plan);
                    flows.push(InvitingRoom {
                        room,
                        is_complete: false,
                        people: invited,
                    });
                }
                None => work
                    .report
                    .leave_out(LeftOutKind::ExistingRoom, plan.folder),
            }
        }
        work.report_invitations(flows)
    }

    /// The id under which it is noted that an import of this archive has begun a room. Another
    /// archive does not go on with it: users may have changed the room since.
    fn begun_id(&self, foreign_id: &str) -> String {
        format!("{} {foreign_id}", self.digest)
    }

    /// Returns the number of records of messages that a room has.
    fn count(&self, plan: &RoomPlan) -> u64 {
        let chain = self.reader.chain(&messages_of(&plan.folder));
        chain.map_or(0, |chain| chain.records)
    }

    fn plans(&self, work: &mut ImportWork<'_>, users: &Users) -> Result<Vec<RoomPlan>> {
        let mut plans = Vec::new();
        for folder in self.folders("/flow.json") {
            let mut flow: FlowRecord = self.reader.record(&format!("{folder}/flow.json"))?;
            keep_first(&mut flow.members, |member| member.person);
            keep_first(&mut flow.former_members, |former| former.person);
            if let Some(last) = self.last(work, &folder, flow.last_message)? {
                plans.push(RoomPlan {
                    foreign_id: flow.id.clone(),
                    last,
                    members: std::mem::take(&mut flow.members),
                    pair: None,
                    flow: Some(flow),
                    folder,
                });
            }
        }
        for folder in self.folders("/conversation.json") {
            let path = format!("{folder}/conversation.json");
            let mut record: ConversationRecord = self.reader.record(&path)?;
            keep_first(&mut record.members, |member| member.person);
            let members = record.members.iter();
            let members: Vec<_> = members.map(|member| users.get(&member.person)).collect();
            let Some(pair) = Pair::of(&members) else {
                work.report.leave_out(LeftOutKind::Conversation, folder);
                continue;
            };
            let (low, high) = pair.users();
            if let Some(last) = self.last(work, &folder, record.last_message)? {
                plans.push(RoomPlan {
                    foreign_id: format!("{low}-{high}"),
                    last,
                    members: record.members,
                    pair: Some(pair),
                    flow: None,
                    folder,
                });
            }
        }
        Ok(plans)
    }

    /// The last number of a room; `None` for one that leaves too few numbers.
    fn last(
        &self,
        work: &mut ImportWork<'_>,
        folder: &str,
        last: i64,
    ) -> Result<Option<MessageId>> {
        /// The number of a message.
        #[derive(Deserialize)]
        struct Numbered {
            id: i64,
        }
        let mut last_record = 0;
        if !numbers::fit(last, last_record) {
            let each = |record: Numbered| {
                last_record =
                    last_record.max(Some(record.id).filter(|id| *id <= last).unwrap_or(0));
                Ok::<_, Error>(())
            };
            self.reader.each_record(&messages_of(folder), each)?;
        }
        if numbers::fit(last, last_record) {
            return Ok(Some(MessageId(last)));
        }
        work.report.leave_out(LeftOutKind::RoomNumbers, folder);
        Ok(None)
    }
}

/// Keeps the first record of each person.
fn keep_first<T>(records: &mut Vec<T>, person: impl Fn(&T) -> PersonNumber) {
    let mut seen = HashSet::new();
    records.retain(|record| seen.insert(person(record)));
    records.shrink_to_fit();
}

fn count_room(work: &mut ImportWork<'_>, plan: &RoomPlan) {
    match plan.flow {
        Some(_) => work.report.flows += 1,
        None => work.report.conversations += 1,
    }
}

/// Makes a room whose numbers up to the last of the archive are left to it; `None` when there is
/// such a room already.
fn make_room(
    work: &mut ImportWork<'_>,
    archive: &OwnArchive,
    plan: &RoomPlan,
    users: &Users,
) -> Result<Option<RoomId>> {
    let begun_id = archive.begun_id(&plan.foreign_id);
    let (origin, last, foreign_id) = (work.origin.clone(), plan.last, plan.foreign_id.clone());
    let (flow, pair) = (plan.flow.clone(), plan.pair);
    let creator = flow.as_ref().and_then(|flow| flow.creator);
    let creator = creator.and_then(|number| users.get(&number)?.user());
    let room = work.write(move |tx| {
        let room = match (&flow, pair) {
            (Some(flow), _) => make_flow(tx, origin.organization, flow, creator)?,
            (None, Some(pair)) if may_still_converse(tx, origin.organization, pair)? => {
                make_conversation(tx, pair)?.map(|room| (room, None))
            }
            (None, Some(_)) => None,
            (None, None) => None,
        };
        let Some((room, renamed)) = room else {
            return Ok(None);
        };
        tx.imports().claim_numbers(room, last)?;
        for (kind, id) in [
            (ImportedKind::Room, &foreign_id),
            (ImportedKind::BegunRoom, &begun_id),
        ] {
            // There may be a note of a room that is gone.
            tx.imports().delete_record(&origin, kind, id)?;
            let record = [(id.clone(), room.0)];
            tx.imports().insert_records(&origin, kind, &record)?;
        }
        Ok(Some((room, renamed)))
    })?;
    Ok(room.map(|(room, renamed)| {
        if let Some(name) = renamed {
            work.report.leave_out(LeftOutKind::TakenName, name);
        }
        room
    }))
}

/// Makes a conversation, or takes an existing one without messages.
fn make_conversation(tx: &mut Tx<'_>, pair: Pair) -> StoreResult<Option<RoomId>> {
    let (one, other) = pair.users();
    if let Some(room) = tx.rooms().find_private(one, other)? {
        let last = tx.rooms().find_last_message_id(room.id)?;
        if last.is_some_and(|last| last.0 > 0) {
            return Ok(None);
        }
    }
    tx.rooms().insert_private(one, other).map(Some)
}

/// Makes a flow, under its id unless another organization has a flow of that id. Returns the name
/// in URLs that the archive gives it if the flow got another one.
fn make_flow(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    record: &FlowRecord,
    creator: Option<UserId>,
) -> StoreResult<Option<(RoomId, Option<String>)>> {
    let same = match tx.flows().find_room_by_id(&record.id)? {
        Some(room) => tx.flows().find(room)?,
        None => None,
    };
    let is_taken = same.is_some();
    if same.is_some_and(|same| same.organization == organization) {
        return Ok(None);
    }
    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    let is_id = (1..=MAX_FLOW_ID).contains(&record.id.len()) && record.id.bytes().all(fits);
    let id = match is_id && !is_taken {
        true => record.id.clone(),
        false => uuid::Uuid::new_v4().to_string(),
    };
    tx.organizations().lock(organization)?;
    let mut name = String::new();
    let random = eddyline_random::hex::<4>();
    for candidate in parameterized_candidates(&record.parameterized_name, &random) {
        if tx
            .flows()
            .find_room_by_name(organization, &candidate)?
            .is_none()
        {
            name = candidate;
            break;
        }
    }
    let renamed = (name != record.parameterized_name).then(|| record.parameterized_name.clone());
    let created_at = texts::time(record.created_at, tx.now());
    let room = tx.flows().insert(&NewFlowRow {
        id: FlowId(id),
        organization,
        name: texts::display_name(&record.name),
        parameterized_name: name,
        creator,
        join_secret: eddyline_random::hex::<20>(),
        created_at,
    })?;
    Ok(Some((room, renamed)))
}
