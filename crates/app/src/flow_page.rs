//! What the page of a flow shows, read in one go.

use eddyline_model::flows::FlowPerson;
use eddyline_model::messages::{Around, MessageQuery};
use eddyline_model::threads::ThreadQuery;
use eddyline_model::{MessageId, RoomId, UserId};
use eddyline_storage::{MessagePage, Reader, Result as StoreResult};
use eddyline_wire::{Flow, FormerUser, User, UserPresence, avatar_url};

use crate::actor::Actor;
use crate::flow_view::describe_at;
use crate::messages::{LIST_BYTES, MessageViews};
use crate::page_frame::PageFrame;
use crate::rooms::FlowRoom;
use crate::threads::ThreadPage;
use crate::{App, Error, Result};

/// What a page of a flow shows in it.
#[derive(Clone, Debug)]
pub struct FlowPageQuery {
    /// The kinds of the messages, how many, and the place around which they stand. Without a place
    /// the chat opens at the first message that the reader has not read.
    pub messages: MessageQuery,
    /// The threads beside the messages.
    pub threads: Option<ThreadQuery>,
}

/// The page of a flow. For those who are not in the flow it has neither people nor messages.
#[derive(Clone, Debug)]
pub struct FlowPage {
    /// What stands around it.
    pub frame: PageFrame,
    /// The flow, without its people.
    pub flow: Flow,
    /// The users of the flow, and those who have left it.
    pub people: Vec<PagePerson>,
    /// The messages.
    pub messages: MessageViews,
    /// Whether the messages are those around a place, and not the newest.
    pub is_around: bool,
    /// The threads.
    pub threads: ThreadPage,
}

/// A user as pages show them beside messages.
#[derive(Clone, Debug)]
pub struct PagePerson {
    /// Number.
    pub id: i64,
    /// Short name.
    pub nick: String,
    /// Full name.
    pub name: String,
    /// URL of the picture, without its size.
    pub avatar: String,
    /// What the user says of themselves.
    pub status: Option<String>,
    /// How the user belongs to the flow.
    pub place: FlowPlace,
    /// How the user appears to the others in the flow. `None` in the classic profile.
    pub presence: Option<UserPresence>,
}

/// How a user belongs to the flow of a page, or to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowPlace {
    /// As any other.
    Member,
    /// Shut out until unblocked.
    Blocked,
    /// Not any more.
    Former,
}

impl PagePerson {
    fn of(person: FlowPerson, base: &str) -> Self {
        let place = match person.blocked {
            true => FlowPlace::Blocked,
            false => FlowPlace::Member,
        };
        Self {
            id: person.user.0,
            nick: person.nick,
            name: person.name,
            avatar: avatar_url(&person.avatar, base),
            status: person.status,
            place,
            presence: None,
        }
    }
}

impl From<FormerUser> for PagePerson {
    fn from(user: FormerUser) -> Self {
        Self {
            id: user.id,
            nick: user.nick,
            name: user.name,
            avatar: user.avatar,
            status: None,
            place: FlowPlace::Former,
            presence: None,
        }
    }
}

impl From<User> for PagePerson {
    /// One of the two users of a private conversation, which has no former ones.
    fn from(user: User) -> Self {
        let User {
            id,
            nick,
            name,
            avatar,
            ..
        } = user;
        Self {
            place: FlowPlace::Member,
            ..FormerUser {
                id,
                nick,
                name,
                avatar,
            }
            .into()
        }
    }
}

/// What is in a flow, as it is read.
#[derive(Default)]
struct FlowRows {
    people: Vec<PagePerson>,
    messages: MessageViews,
    is_around: bool,
    threads: ThreadPage,
}

impl App {
    /// The page of a flow that the caller sees.
    ///
    /// # Errors
    ///
    /// As [`App::page_frame`]; [`Error::not_found`] when the flow is gone.
    pub async fn flow_page(
        &self,
        actor: &Actor,
        room: &FlowRoom,
        wanted: FlowPageQuery,
    ) -> Result<FlowPage> {
        let page = self.page_reader(actor)?;
        let room = room.id();
        let read = self.core().store().read(move |reader| {
            let frame = page.read_frame(reader)?;
            let listed = frame.flows.iter().find(|(id, _)| *id == room);
            let flow = match listed {
                Some((_, flow)) => Some(flow.clone()),
                // The reader is not in it, or it is archived.
                None => describe_at(reader, &page.addresses, (room, page.user), page.scopes)?,
            };
            let rows = match &flow {
                Some(flow) if flow.joined => {
                    FlowRows::read(reader, room, flow, &wanted, &page.addresses.base)?
                }
                _ => FlowRows::default(),
            };
            Ok((frame, flow, rows))
        });
        let (frame, flow, mut rows) = read.await?;
        let users: Vec<UserId> = rows.people.iter().map(|each| UserId(each.id)).collect();
        let shown = self.presence().presence_over(&[room], &users);
        for person in &mut rows.people {
            person.presence = shown.get(&person.id).copied();
        }
        Ok(FlowPage {
            frame: self.frame_of(actor, frame, None)?,
            flow: flow.ok_or_else(Error::not_found)?,
            people: rows.people,
            messages: rows.messages,
            is_around: rows.is_around,
            threads: rows.threads,
        })
    }
}

impl FlowRows {
    fn read(
        reader: &mut Reader<'_>,
        room: RoomId,
        flow: &Flow,
        wanted: &FlowPageQuery,
        base: &str,
    ) -> StoreResult<Self> {
        let (messages, is_around) = list_messages(reader, room, flow, &wanted.messages)?;
        let threads = match &wanted.threads {
            Some(query) => reader.threads().list(room, query, LIST_BYTES)?,
            None => ThreadPage::default(),
        };
        Ok(Self {
            people: list_people(reader, room, base)?,
            messages: MessageViews::of(messages),
            is_around,
            threads,
        })
    }
}

/// The messages that a chat opens with, and whether they are those around a place. A reader with
/// unread messages sees the latest, or those around the first unread one where it is older.
fn list_messages(
    reader: &mut Reader<'_>,
    room: RoomId,
    flow: &Flow,
    wanted: &MessageQuery,
) -> StoreResult<(MessagePage, bool)> {
    let mut list = |query: &MessageQuery| reader.messages().list(room, query, LIST_BYTES);
    if wanted.around.is_some() {
        return Ok((list(wanted)?, true));
    }
    let first = flow.first_unread.map(MessageId);
    if flow.unread < wanted.limit {
        let latest = list(wanted)?;
        if !first.is_some_and(|first| begins_after(&latest, first)) {
            return Ok((latest, false));
        }
    }
    let around = MessageQuery {
        around: first.map(Around::Message),
        ..wanted.clone()
    };
    Ok((list(&around)?, around.around.is_some()))
}

/// Whether messages between this one and the first of the page are missing.
fn begins_after(page: &MessagePage, id: MessageId) -> bool {
    let first = page.messages.first().map(|view| view.message.id);
    page.next.is_some() && first.is_some_and(|first| first > id)
}

/// The users of a flow, and those who have left it.
fn list_people(reader: &mut Reader<'_>, room: RoomId, base: &str) -> StoreResult<Vec<PagePerson>> {
    let people = reader.members().list_people(room)?;
    let former = reader.members().list_former(room)?;
    let former = former.iter().map(|user| FormerUser::of(user, base).into());
    let people = people
        .into_iter()
        .map(|person| PagePerson::of(person, base));
    Ok(people.chain(former).collect())
}
