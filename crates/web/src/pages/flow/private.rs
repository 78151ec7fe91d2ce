//! The page of a private conversation: its chat, with nothing beside it.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use eddyline_app::{Profile, Room};
use eddyline_model::UserId;
use eddyline_model::policy::MessageAction;
use eddyline_wire::User;

use super::landing::{Landing, Stretch, day, message_id};
use super::of_chat;
use super::rows::{Row, RowContext, UsersById, rows};
use crate::error::PageError;
use crate::pages::shell::Shell;
use crate::segments::Numbered;
use crate::texts::Texts;
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "app/private.html")]
struct PrivatePage {
    t: &'static Texts,
    shell: Shell,
    /// The other user.
    other: User,
    /// The reader and the other.
    people: UsersById,
    rows: Vec<Row>,
    /// A row without a message, which the script fills.
    empty: Row,
    /// Whether older messages are there.
    more: bool,
    /// Whether newer messages are there.
    newer: bool,
    /// The message up to which the reader has read, and the last number of the conversation.
    read: i64,
    last: i64,
    path: String,
    /// Whether conversations take files, which they do in the classic profile only (specification,
    /// section 4, Private conversations and private messages).
    takes_files: bool,
}

impl PrivatePage {
    /// Where the newest messages are, unless the page shows them.
    fn newest(&self) -> &str {
        if self.newer { &self.path } else { "" }
    }

    /// The label of the field.
    fn write_to(&self) -> String {
        let phrase = &self.t.composer.write_to;
        phrase.with("name", &self.other.name).to_string()
    }
}

pub(in crate::pages) async fn show(
    visit: Visit,
    Numbered(with): Numbered<UserId>,
) -> Result<Response, PageError> {
    show_at(visit, with, None).await
}

pub(in crate::pages) async fn message(
    visit: Visit,
    Path((with, id)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let id = message_id(&id)?;
    let with: UserId = with.parse().map_err(|_| PageError::not_found())?;
    let rooms = visit.app().rooms();
    let room = rooms.private(actor, with, MessageAction::Read).await?;
    visit.app().messages().get(&room.into(), id).await?;
    show_at(visit, with, Some(Landing::Message(id))).await
}

pub(in crate::pages) async fn on(
    visit: Visit,
    Path((with, text)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let at = day(&visit, &text)?;
    let with: UserId = with.parse().map_err(|_| PageError::not_found())?;
    show_at(visit, with, Some(Landing::Day(at))).await
}

async fn show_at(
    visit: Visit,
    with: UserId,
    landing: Option<Landing>,
) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let app = visit.app();
    // The conversation may not exist yet. The page is empty then, and creates none.
    let room = app
        .rooms()
        .private(actor, with, MessageAction::Read)
        .await?;
    // Before anything is read: the stream tells what happens after this.
    let event = app.streams().position();
    let other = app.users().get(actor, with).await?;
    let me = User::of(&actor.user()?.user, &app.config().addresses.base);
    let people: UsersById = [&me, &other]
        .map(|user| (user.id, user.clone().into()))
        .into();
    let frame = app.page_frame(actor, Some(with)).await?;
    let conversation = frame.conversations.iter().find(|one| one.id == with.0);
    let read = conversation.map_or(0, |one| one.read);
    let last = conversation.and_then(|one| one.last_message_id);
    let path = format!("/app/-/private/{with}");
    let context = RowContext {
        t: visit.texts(),
        people: &people,
        zone: visit.zone(),
        now: app.now(),
        me: me.id,
        flow: "",
        room: &path,
        read: Some(read).filter(|_| landing.is_none()),
        in_thread: false,
        focus: Landing::focus(landing),
    };
    let stretch = Landing::stretch(landing, &visit, &Room::from(room), of_chat()).await?;
    let Stretch {
        messages,
        more,
        newer,
    } = stretch;
    let page = PrivatePage {
        t: visit.texts(),
        shell: Shell::around(&visit, actor, frame, (None, Some(&other)), event)?,
        read,
        last: last.unwrap_or_default(),
        rows: rows(messages, &context),
        empty: Row::default(),
        other,
        people,
        more,
        newer,
        path,
        takes_files: app.config().profile == Profile::Classic,
    };
    visit.client_page(&page).await
}
