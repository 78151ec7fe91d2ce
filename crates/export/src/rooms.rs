//! The records of a room.

use std::collections::{BTreeMap, HashMap};

use eddyline_archive::{
    AttachedFile, ConversationRecord, DigestHex, FlowRecord, FormerMemberRecord, MemberRecord,
    MessageRecord, PersonNumber, ReactionRecord, SourceRecord, ThreadRecord,
};
use eddyline_model::flows::{Flow, FlowMembership};
use eddyline_model::messages::Message;
use eddyline_model::reactions::Reactions;
use eddyline_model::{MessageId, RoomId, UserId};
use eddyline_storage::{FileOfMessage, Reader, ThreadOfRoom};
use serde::Deserialize;

use crate::people::People;
use crate::{Error, Result, content};

/// How many messages or threads are read at once.
const PAGE: i64 = 250;

/// Numbers of sources by what the server calls them.
pub(crate) type SourceNumbers = HashMap<i64, u32>;

/// The record of a flow, and the numbers of its sources.
pub(crate) fn flow(
    reader: &mut Reader<'_>,
    people: &People,
    flow: &Flow,
    only_of: Option<UserId>,
) -> Result<(FlowRecord, SourceNumbers)> {
    let organization = reader.organizations().find(flow.organization)?;
    let organization = organization.ok_or(Error::Corrupt("flow without organization"))?;
    let is_named = |user: UserId| only_of.is_none_or(|only| only == user);
    let members = reader.members().list_of_room(flow.room)?;
    let members = members.into_iter().map(|(membership, _)| membership);
    let members = members.filter(|membership| is_named(membership.user));
    let (mut former_members, mut sources, mut numbers) = Default::default();
    if only_of.is_none() {
        former_members = former(reader, people, flow.room)?;
        (sources, numbers) = sources_of(reader, people, flow.room)?;
    }
    let record = FlowRecord {
        id: flow.id.0.clone(),
        organization: organization.parameterized_name,
        name: flow.name.clone(),
        parameterized_name: flow.parameterized_name.clone(),
        description: flow.description.clone(),
        access_mode: flow.access_mode.as_str().to_owned(),
        disabled: flow.disabled,
        creator: flow
            .creator
            .filter(|user| is_named(*user))
            .map(|user| people.number(user)),
        created_at: flow.created_at.0,
        last_message: flow.last_message_id,
        only_of: only_of.map(|user| people.number(user)),
        members: member_records(people, members),
        former_members,
        sources,
    };
    Ok((record, numbers))
}

/// The record of a private conversation. In the archive of one person, what the other has read and
/// shows of it is left out.
pub(crate) fn conversation(
    reader: &mut Reader<'_>,
    people: &People,
    room: RoomId,
    of_person: Option<UserId>,
) -> Result<ConversationRecord> {
    let last_message = reader.rooms().find_last_message_id(room)?;
    let members = reader.members().list_of_room(room)?;
    let members = members.into_iter().map(|(mut membership, _)| {
        if of_person.is_some_and(|person| person != membership.user) {
            (membership.open, membership.blocked) = (false, false);
            membership.read_up_to = MessageId(0);
            membership.inbox_read_up_to = MessageId(0);
        }
        membership
    });
    Ok(ConversationRecord {
        last_message: last_message.map_or(0, |id| id.0),
        members: member_records(people, members),
    })
}

/// What the pages call a private conversation.
pub(crate) fn name_of(
    conversation: &ConversationRecord,
    names: &BTreeMap<PersonNumber, String>,
) -> String {
    let members = conversation.members.iter();
    let members: Vec<_> = members
        .filter_map(|member| names.get(&member.person))
        .map(String::as_str)
        .collect();
    members.join(" and ")
}

/// The title of the item of a thread of the inbox.
pub(crate) fn title(thread: &ThreadRecord) -> Option<String> {
    #[derive(Deserialize)]
    struct Titled {
        title: String,
    }
    let item = thread.item.as_ref().filter(|_| thread.inbox)?;
    let Titled { title } = serde_json::from_str(item.get()).ok()?;
    Some(title)
}

fn member_records(
    people: &People,
    members: impl Iterator<Item = FlowMembership>,
) -> Vec<MemberRecord> {
    let record = |membership: FlowMembership| MemberRecord {
        person: people.number(membership.user),
        open: membership.open,
        blocked: membership.blocked,
        read_up_to: membership.read_up_to.0,
        inbox_read_up_to: membership.inbox_read_up_to.0,
    };
    let mut records: Vec<_> = members.map(record).collect();
    records.sort_by_key(|member| member.person);
    records
}

fn former(
    reader: &mut Reader<'_>,
    people: &People,
    room: RoomId,
) -> Result<Vec<FormerMemberRecord>> {
    let former = reader.members().list_former(room)?;
    let record = |user: eddyline_model::users::User| FormerMemberRecord {
        person: people.number(user.id),
        name: user.name,
        nick: user.nick,
    };
    let mut records: Vec<_> = former.into_iter().map(record).collect();
    records.sort_by_key(|member| member.person);
    Ok(records)
}

fn sources_of(
    reader: &mut Reader<'_>,
    people: &People,
    room: RoomId,
) -> Result<(Vec<SourceRecord>, SourceNumbers)> {
    let (mut records, mut numbers) = (Vec::new(), SourceNumbers::new());
    for (found, number) in reader
        .sources()
        .list_all_of_room(room)?
        .into_iter()
        .zip(1..)
    {
        let source = found.source;
        numbers.insert(source.id.0, number);
        records.push(SourceRecord {
            number,
            name: source.name,
            application: found.application,
            external_url: source.external_url,
            creator: source.creator.map(|user| people.number(user)),
            created_at: source.created_at.0,
            removed_at: source.removed_at.map(|at| at.0),
        });
    }
    Ok((records, numbers))
}

/// Gives the records of all threads of a room.
pub(crate) fn each_thread(
    reader: &mut Reader<'_>,
    room: RoomId,
    sources: &SourceNumbers,
    mut each: impl FnMut(&ThreadRecord) -> Result<()>,
) -> Result<()> {
    let mut after = MessageId(0);
    loop {
        let page = reader.threads().list_page_of_room(room, after, PAGE)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.root;
        for found in page {
            each(&thread(found, sources)?)?;
        }
    }
}

fn thread(found: ThreadOfRoom, sources: &SourceNumbers) -> Result<ThreadRecord> {
    let item = found.item.as_deref().map(content::document).transpose()?;
    Ok(ThreadRecord {
        id: found.root.0,
        inbox: found.is_inbox,
        source: found.source.and_then(|id| sources.get(&id).copied()),
        external_id: found.external_id,
        activities: found.activities,
        internal_comments: found.internal_comments,
        external_comments: found.external_comments,
        created_at: found.created_at.0,
        updated_at: found.updated_at.0,
        item_message: found.item_message.map(|id| id.0),
        item_from: found.item_from.map(|id| id.0),
        item,
    })
}

/// A message with the files that it has.
pub(crate) struct FoundMessage {
    pub(crate) record: MessageRecord,
    pub(crate) files: Vec<FileOfMessage>,
}

/// Gives the records of all messages of a room, or those of one author.
pub(crate) fn each_message(
    reader: &mut Reader<'_>,
    people: &People,
    room: RoomId,
    only_of: Option<UserId>,
    mut each: impl FnMut(FoundMessage) -> Result<()>,
) -> Result<()> {
    let mut after = MessageId(0);
    loop {
        let page = reader.messages().list_page(room, after, only_of, PAGE)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        after = last.id;
        let ids: Vec<i64> = page.iter().map(|message| message.id.0).collect();
        let mut reactions = reader.reactions().list(room, &ids)?;
        let mut files: BTreeMap<MessageId, Vec<FileOfMessage>> = BTreeMap::new();
        for file in reader.files().list_of_messages(room, &ids)? {
            files.entry(file.message).or_default().push(file);
        }
        for message in page {
            let files = files.remove(&message.id).unwrap_or_default();
            let reactions = reactions.remove(&message.id).unwrap_or_default();
            let record = message_record(people, message, &files, &reactions)?;
            each(FoundMessage { record, files })?;
        }
    }
}

fn message_record(
    people: &People,
    message: Message,
    files: &[FileOfMessage],
    reactions: &Reactions,
) -> Result<MessageRecord> {
    Ok(MessageRecord {
        content: content::content(people, &message)?,
        tags: content::tags(people, message.tags.iter()),
        explicit_tags: content::tags(people, &message.explicit_tags),
        deleted: message.is_emptied(),
        id: message.id.0,
        event: message.event.as_str().to_owned(),
        author: message.author.user.map(|user| people.number(user)),
        external_name: message.author.external_name,
        to: message.to.map(|user| people.number(user)),
        sent: message.sent.0,
        edited: message.edited.map(|at| at.0),
        thread: message.thread_root.map(|id| id.0),
        parent: message.parent.map(|id| id.0),
        uuid: message.uuid,
        files: files.iter().map(file_record).collect::<Result<_>>()?,
        reactions: reactions
            .iter()
            .map(|reaction| ReactionRecord {
                emoji: reaction.emoji.clone(),
                people: reaction
                    .users
                    .iter()
                    .map(|user| people.number(*user))
                    .collect(),
            })
            .collect(),
    })
}

fn file_record(file: &FileOfMessage) -> Result<AttachedFile> {
    Ok(AttachedFile {
        id: file.id.clone(),
        name: file.name.clone(),
        content_type: file.content_type.clone(),
        size: file.size.unsigned_abs(),
        sha256: DigestHex::from(digest_of(file)?),
        width: file.width,
        height: file.height,
    })
}

/// The digest of a file.
pub(crate) fn digest_of(file: &FileOfMessage) -> Result<eddyline_archive::Digest> {
    let digest = file.digest.as_slice().try_into();
    digest.map_err(|_| Error::Corrupt("digest of a file"))
}
