//! What the pages of the web client show around their rooms, read in one go.

use std::collections::BTreeMap;

use eddyline_model::flows::FlowPerson;
use eddyline_model::{RoomId, UserId};
use eddyline_storage::{Reader, Result as StoreResult};
use eddyline_wire::{Flow, FormerUser, PrivateConversation, User, UserPresence, avatar_url};

use crate::actor::Actor;
use crate::flow_view::CredentialScopes;
use crate::flows::list_joined;
use crate::notifications::{PageNotifications, session};
use crate::rooms::FlowRoom;
use crate::{App, Result};

/// What a page of the web client shows around its room.
#[derive(Clone, Debug)]
pub struct PageFrame {
    /// The flows that the user is in, without their people.
    pub flows: Vec<Flow>,
    /// The flow of the page, if it is among [`PageFrame::flows`].
    pub shown: Option<Flow>,
    /// The users of the flow of the page, and those who have left it.
    pub people: Vec<PagePerson>,
    /// The user's private conversations, as [`crate::Messages::conversations`] gives them.
    pub conversations: Vec<PrivateConversation>,
    /// The presence of the other users of the open conversations in the flows that the user is in,
    /// by their ids.
    pub presence: BTreeMap<i64, UserPresence>,
    /// What the user is notified of.
    pub notifications: PageNotifications,
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
    fn from(user: User) -> Self {
        Self {
            id: user.id,
            nick: user.nick,
            name: user.name,
            avatar: user.avatar,
            status: None,
            place: FlowPlace::Member,
            presence: None,
        }
    }
}

impl App {
    /// What a page of the web client shows around its room; `shown` is the flow of the page.
    ///
    /// # Errors
    ///
    /// [`Error::denied`](crate::Error::denied) for callers without a session,
    /// [`Error::unavailable`](crate::Error::unavailable).
    pub async fn page_frame(&self, actor: &Actor, shown: Option<&FlowRoom>) -> Result<PageFrame> {
        let (session, user) = session(actor)?;
        let (caller, scopes) = (actor.user()?.clone(), CredentialScopes::by(actor));
        let addresses = self.core().config().addresses.clone();
        let room = shown.map(FlowRoom::id);
        let read = self.core().store().read(move |reader| {
            let flows = list_joined(reader, &addresses, &caller, scopes)?;
            let people = match room {
                Some(room) => list_people(reader, room, &addresses.base)?,
                None => Vec::new(),
            };
            Ok((
                flows,
                people,
                reader.rooms().list_conversations(user, None)?,
                PageNotifications::read(reader, &session, user)?,
            ))
        });
        let (flows, mut people, conversations, notifications) = read.await?;
        if let Some(room) = room {
            let users: Vec<UserId> = people.iter().map(|person| UserId(person.id)).collect();
            let shown = self.presence().presence_over(&[room], &users);
            for person in &mut people {
                person.presence = shown.get(&person.id).copied();
            }
        }
        let own = &actor.user()?.user;
        let shown_to_user = conversations
            .iter()
            .map(|conversation| self.messages().show_conversation(own, conversation));
        let conversations: Vec<PrivateConversation> = shown_to_user.collect();
        let rooms: Vec<RoomId> = flows.iter().map(|(room, _)| *room).collect();
        let open = conversations
            .iter()
            .filter(|each| each.open || each.activity.mentions > 0);
        let others: Vec<UserId> = open.map(|each| UserId(each.id)).collect();
        let is_shown = |(id, _): &&(RoomId, Flow)| Some(*id) == room;
        Ok(PageFrame {
            shown: flows.iter().find(is_shown).map(|(_, flow)| flow.clone()),
            presence: self.presence().presence_over(&rooms, &others),
            flows: flows.into_iter().map(|(_, flow)| flow).collect(),
            people,
            conversations,
            notifications,
        })
    }
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
