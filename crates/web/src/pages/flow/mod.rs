//! The page of a flow: its chat, and beside it the inbox, the people, or a thread.

mod everywhere;
mod excerpt;
mod files;
mod found;
mod landing;
mod message;
mod private;
mod rows;
mod search;
mod tag_links;
mod threads;

use std::sync::Arc;

use askama::Template;
use axum::extract::{FromRequestParts, Path};
use axum::response::Response;
use eddyline_app::{FlowPage, FlowPageQuery, FlowPlace, FlowRoom, PagePerson, Room};
use eddyline_model::messages::{MessageKind, MessageQuery};
use eddyline_model::policy::FlowAction;
use eddyline_model::threads::ThreadSelection;
use eddyline_wire::{Flow, UserPresence};
use http::request::Parts;

pub(super) use self::everywhere::{mentions, search as search_everywhere};
use self::files::FileList;
use self::landing::{Landing, Stretch};
pub(super) use self::landing::{choose_day, message, on};
pub(super) use self::private::{message as private_message, on as private_on, show as private};
use self::rows::{Row, RowContext, UsersById, rows};
use self::search::Search;
use self::threads::{ThreadHead, ThreadList};
use crate::Site;
use crate::error::PageError;
use crate::pages::flows::show_settings;
use crate::pages::shell::{Shell, presence_word};
use crate::segments::FlowNames;
use crate::texts::Texts;
use crate::visit::Visit;

/// How many messages a page opens with.
const MESSAGES: i64 = 50;
/// The kinds of message that the chat shows. What integrations say is in the inbox.
const CHAT: [MessageKind; 4] = [
    MessageKind::Message,
    MessageKind::Comment,
    MessageKind::Status,
    MessageKind::File,
];

/// The messages that the chat shows.
fn of_chat() -> MessageQuery {
    MessageQuery {
        events: CHAT.to_vec(),
        ..MessageQuery::default()
    }
}

/// The list beside the chat.
enum List<'a> {
    Inbox(ThreadList),
    Threads(ThreadList),
    Files(FileList),
    People(Vec<&'a PagePerson>),
    Search(Search),
}

/// The thread that stands over the list, or beside it where there is room.
struct ThreadPane {
    head: ThreadHead,
    rows: Vec<Row>,
    /// Whether older messages are there.
    more: bool,
    /// Whether newer messages are there: the pane opens at one of its messages.
    newer: bool,
}

#[derive(Template)]
#[template(path = "app/flow.html")]
struct FlowTemplate<'a> {
    t: &'static Texts,
    shell: Shell,
    flow: Flow,
    /// The path of the page.
    path: String,
    /// `organization/flow`.
    api: String,
    rows: Vec<Row>,
    /// A row without a message, which the script fills.
    empty: Row,
    /// Those who are in the flow.
    people: Vec<&'a PagePerson>,
    /// The same with those who are blocked or have left, whose messages stay.
    everybody: &'a UsersById,
    list: List<'a>,
    thread: Option<ThreadPane>,
    /// What a narrow page shows, which has room for one pane.
    pane: &'static str,
    /// The message up to which the reader has read.
    read: i64,
    /// The number of the last message, of whatever kind.
    last: i64,
    /// Whether older messages are there.
    more: bool,
    /// Whether newer messages are there: the page opens in the midst of the chat.
    newer: bool,
    /// Whether the page says what a flow is.
    hint: bool,
}

impl FlowTemplate<'_> {
    fn is_inbox(&self) -> bool {
        matches!(self.list, List::Inbox(_))
    }

    fn is_threads(&self) -> bool {
        matches!(self.list, List::Threads(_))
    }

    fn is_files(&self) -> bool {
        matches!(self.list, List::Files(_))
    }

    fn is_people(&self) -> bool {
        matches!(self.list, List::People(_))
    }

    fn is_search(&self) -> bool {
        matches!(self.list, List::Search(_))
    }

    /// What the script brings up to date in the list.
    fn list_kind(&self) -> &'static str {
        match self.list {
            List::Inbox(_) => "inbox",
            List::Threads(_) => "threads",
            List::Files(_) => "files",
            List::People(_) => "people",
            List::Search(_) => "search",
        }
    }

    /// What stands beside the chat.
    fn list_name(&self) -> &'static str {
        match self.list {
            List::Inbox(_) => &self.t.flow.inbox,
            List::Threads(_) => &self.t.flow.threads,
            List::Files(_) => &self.t.flow.files,
            List::People(_) => &self.t.both.people,
            List::Search(_) => &self.t.shell.search,
        }
    }

    /// How many of these people are online. `None` in the classic profile, whose API does not say how
    /// users appear.
    #[expect(clippy::unused_self, reason = "templates call methods")]
    fn online(&self, people: &[&PagePerson]) -> Option<usize> {
        let shown: Option<Vec<UserPresence>> = people.iter().map(|each| each.presence).collect();
        let is_online = |presence: &UserPresence| *presence != UserPresence::Offline;
        shown.map(|shown| shown.into_iter().filter(is_online).count())
    }

    /// What a screen reader says of how a person appears.
    fn presence_word(&self, person: &PagePerson) -> &'static str {
        presence_word(person.presence, self.t)
    }

    /// The id of the thread that is open.
    fn shown_id(&self) -> &str {
        let shown = self.thread.as_ref();
        shown.map_or("", |shown| &shown.head.thread.id)
    }

    /// Where the newest messages are, unless the page shows them.
    fn newest(&self) -> &str {
        if self.newer { &self.path } else { "" }
    }

    /// The label of the field.
    fn write_to(&self) -> String {
        let phrase = &self.t.composer.write_to;
        phrase.with("name", &self.flow.name).to_string()
    }
}

/// The id of a thread behind the names of a flow.
pub(super) struct ThreadSegment(String);

impl FromRequestParts<Site> for ThreadSegment {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, PageError> {
        let path = Path::<(String, String, String)>::from_request_parts(parts, site).await;
        path.map(|Path((_, _, thread))| Self(thread))
            .map_err(|_| PageError::not_found())
    }
}

pub(super) async fn chat(visit: Visit, names: FlowNames) -> Result<Response, PageError> {
    show(visit, names, Wanted::Chat, None).await
}

pub(super) async fn inbox(visit: Visit, names: FlowNames) -> Result<Response, PageError> {
    show(visit, names, Wanted::Inbox, None).await
}

pub(super) async fn threads(visit: Visit, names: FlowNames) -> Result<Response, PageError> {
    show(visit, names, Wanted::Threads, None).await
}

pub(super) async fn files(visit: Visit, names: FlowNames) -> Result<Response, PageError> {
    show(visit, names, Wanted::Files, None).await
}

pub(super) async fn people(visit: Visit, names: FlowNames) -> Result<Response, PageError> {
    show(visit, names, Wanted::People, None).await
}

pub(super) async fn search(visit: Visit, names: FlowNames) -> Result<Response, PageError> {
    show(visit, names, Wanted::Search, None).await
}

pub(super) async fn thread(
    visit: Visit,
    ThreadSegment(thread): ThreadSegment,
    Path((organization, flow, _)): Path<(String, String, String)>,
) -> Result<Response, PageError> {
    let names = FlowNames(organization, flow);
    let at = visit.query("at").parse().ok().map(Landing::Message);
    show(visit, names, Wanted::Thread(thread, at), None).await
}

/// What a request wants of a flow: its chat, or what stands beside it.
enum Wanted {
    /// The chat, beside which the inbox stands.
    Chat,
    Inbox,
    Threads,
    Files,
    People,
    Search,
    /// A thread, and where in it the pane opens, if that is not at its newest messages.
    Thread(String, Option<Landing>),
}

impl Wanted {
    /// The threads that stand beside the chat.
    fn threads(&self) -> Option<ThreadSelection> {
        match self {
            Self::Chat | Self::Inbox | Self::Thread(..) => Some(ThreadSelection::Inbox),
            Self::Threads => Some(ThreadSelection::Chat),
            Self::People | Self::Search | Self::Files => None,
        }
    }

    /// What a narrow page shows, which has room for one pane.
    fn pane(&self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Thread(..) => "thread",
            Self::Inbox | Self::Threads | Self::Files | Self::People | Self::Search => "inbox",
        }
    }
}

async fn show(
    visit: Visit,
    FlowNames(organization, flow): FlowNames,
    wanted: Wanted,
    landing: Option<Landing>,
) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let app = visit.app();
    let room = app
        .rooms()
        .find(actor, &organization, &flow, FlowAction::See)
        .await?;
    // Before anything is read: the stream tells what happens after this.
    let event = app.streams().position();
    let query = FlowPageQuery {
        messages: MessageQuery {
            limit: MESSAGES,
            around: landing.map(Landing::around),
            ..of_chat()
        },
        threads: wanted
            .threads()
            .map(|of| ThreadList::query(&visit, &room, of)),
    };
    let page = app.flow_page(actor, &room, query).await?;
    let FlowPage { frame, flow, .. } = page;
    if !flow.joined {
        return show_settings(&visit, flow).await;
    }
    let everybody = page.people.into_iter();
    let everybody: UsersById = everybody.map(|person| (person.id, person)).collect();
    let path = format!(
        "/app/{}/{}",
        flow.organization.parameterized_name, flow.parameterized_name
    );
    let context = RowContext {
        t: visit.texts(),
        people: &everybody,
        zone: visit.zone(),
        now: app.now(),
        me: actor.user_id().map_or(0, |id| id.0),
        flow: &path,
        room: &path,
        // In the midst of the chat the first message that is shown need not be the first unread.
        read: flow.read.filter(|_| landing.is_none()),
        in_thread: false,
        focus: Landing::focus(landing),
    };
    let chat: Room = room.clone().into();
    let Stretch {
        messages,
        more,
        newer,
    } = Stretch::of(page.messages, page.is_around, &chat, app);
    let pane = wanted.pane();
    let list = match wanted {
        Wanted::People => List::People(current(&everybody)),
        Wanted::Search => List::Search(Search::of(&visit, &chat, &context).await?),
        Wanted::Chat | Wanted::Inbox | Wanted::Thread(..) => {
            List::Inbox(ThreadList::of(page.threads, &room, "/inbox", app, &context))
        }
        Wanted::Threads => List::Threads(ThreadList::of(
            page.threads,
            &room,
            "/threads",
            app,
            &context,
        )),
        Wanted::Files => List::Files(FileList::of(&visit, &chat, &context).await?),
    };
    let thread = match wanted {
        Wanted::Thread(id, at) => Some(thread_pane(&visit, &room, (&id, at), &context).await?),
        _ => None,
    };
    let shell = Shell::around(&visit, actor, frame, (Some(&flow), None), event)?;
    let page = FlowTemplate {
        t: visit.texts(),
        api: format!(
            "{}/{}",
            flow.organization.parameterized_name, flow.parameterized_name
        ),
        rows: rows(messages, &context),
        empty: Row::default(),
        read: flow.read.unwrap_or_default(),
        last: flow.last_message_id.unwrap_or_default(),
        people: current(&everybody),
        everybody: &everybody,
        shell,
        flow,
        path,
        list,
        thread,
        pane,
        more,
        newer,
        hint: visit.is_hinted(),
    };
    visit.client_page(&page).await
}

async fn thread_pane(
    visit: &Visit,
    room: &Arc<FlowRoom>,
    (id, at): (&str, Option<Landing>),
    context: &RowContext<'_>,
) -> Result<ThreadPane, PageError> {
    let head = ThreadHead::find(visit, room, id, context).await?;
    let root = visit.app().messages().thread_root(room, id)?;
    let chat: Room = room.clone().into();
    let query = MessageQuery {
        thread_root: Some(root),
        ..MessageQuery::default()
    };
    let stretch = Landing::stretch(at, visit, &chat, query).await?;
    let context = RowContext {
        read: None,
        in_thread: true,
        focus: Landing::focus(at),
        ..*context
    };
    Ok(ThreadPane {
        head,
        rows: rows(stretch.messages, &context),
        more: stretch.more,
        newer: stretch.newer,
    })
}

/// Those who are in the flow now.
fn current(people: &UsersById) -> Vec<&PagePerson> {
    let is_current = |person: &&PagePerson| person.place == FlowPlace::Member;
    people.values().filter(is_current).collect()
}
