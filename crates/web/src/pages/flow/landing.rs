//! Pages that open in the midst of a chat: at a message, or at a day.

use axum::extract::Path;
use axum::response::Response;
use eddyline_app::{App, MessageViews, Room};
use eddyline_model::messages::{Around, MessageQuery};
use eddyline_model::policy::FlowAction;
use eddyline_model::{MessageId, Timestamp};

use super::found::path_of;
use super::message::PageMessage;
use super::rows::Focus;
use super::{CHAT, MESSAGES, Wanted, show};
use crate::answer::see_other;
use crate::error::PageError;
use crate::segments::FlowNames;
use crate::visit::Visit;
use crate::zone::Day;

/// The messages that a chat opens with.
pub(super) struct Stretch {
    pub(super) messages: Vec<PageMessage>,
    /// Whether older messages are there.
    pub(super) more: bool,
    /// Whether newer messages are there.
    pub(super) newer: bool,
}

impl Stretch {
    /// A list of messages of a room; `is_around` says whether it is one around a place.
    pub(super) fn of(list: MessageViews, is_around: bool, room: &Room, app: &App) -> Self {
        let views = list.messages.into_iter();
        let more = if is_around { list.previous } else { list.next };
        Self {
            messages: views.map(|view| PageMessage::of(view, room, app)).collect(),
            more: more.is_some(),
            newer: is_around && list.next.is_some(),
        }
    }
}

/// Where in a chat a page opens.
#[derive(Clone, Copy)]
pub(super) enum Landing {
    Message(MessageId),
    Day(Timestamp),
}

impl Landing {
    /// What of the rows is pointed at.
    pub(super) fn focus(landing: Option<Self>) -> Focus {
        match landing {
            None => Focus::None,
            Some(Self::Message(id)) => Focus::Message(id.0),
            Some(Self::Day(at)) => Focus::Since(at.0),
        }
    }

    /// The place in a list.
    pub(super) fn around(self) -> Around {
        match self {
            Self::Message(id) => Around::Message(id),
            Self::Day(at) => Around::Time(at),
        }
    }

    /// The messages of a query around it, or the latest where there is no landing.
    pub(super) async fn stretch(
        landing: Option<Self>,
        visit: &Visit,
        room: &Room,
        of: MessageQuery,
    ) -> Result<Stretch, PageError> {
        let around = landing.map(Self::around);
        let query = MessageQuery {
            limit: MESSAGES,
            around,
            ..of
        };
        let list = visit.app().messages().list_views(room, query).await?;
        Ok(Stretch::of(list, around.is_some(), room, visit.app()))
    }
}

/// The message of a path.
pub(super) fn message_id(text: &str) -> Result<MessageId, PageError> {
    text.parse().map_err(|_| PageError::not_found())
}

/// The beginning of the day of a path.
pub(super) fn day(visit: &Visit, text: &str) -> Result<Timestamp, PageError> {
    let day: Day = text.parse().map_err(|()| PageError::not_found())?;
    visit.zone().start(day).ok_or_else(PageError::not_found)
}

/// Checks that a message is there. `Some` is the path of one that the chat does not show.
async fn elsewhere(
    visit: &Visit,
    room: &Room,
    id: MessageId,
    path: &str,
) -> Result<Option<String>, PageError> {
    let view = visit.app().messages().get(room, id).await?;
    if CHAT.contains(&view.message.event) {
        return Ok(None);
    }
    let message = PageMessage::of(view, room, visit.app());
    Ok(message.thread.as_ref().map(|_| path_of(&message, path)))
}

pub(in crate::pages) async fn message(
    visit: Visit,
    Path((organization, flow, id)): Path<(String, String, String)>,
) -> Result<Response, PageError> {
    let actor = visit.signed_in()?;
    let id = message_id(&id)?;
    let rooms = visit.app().rooms();
    let room = rooms
        .find(actor, &organization, &flow, FlowAction::Read)
        .await?;
    let path = format!("/app/{organization}/{flow}");
    if let Some(path) = elsewhere(&visit, &room.into(), id, &path).await? {
        return Ok(see_other(&path));
    }
    let names = FlowNames(organization, flow);
    show(visit, names, Wanted::Chat, Some(Landing::Message(id))).await
}

pub(in crate::pages) async fn on(
    visit: Visit,
    Path((organization, flow, text)): Path<(String, String, String)>,
) -> Result<Response, PageError> {
    let at = day(&visit, &text)?;
    let names = FlowNames(organization, flow);
    show(visit, names, Wanted::Chat, Some(Landing::Day(at))).await
}

/// Leads from the form with a date to the page of that day.
pub(in crate::pages) async fn choose_day(
    visit: Visit,
    FlowNames(organization, flow): FlowNames,
) -> Result<Response, PageError> {
    visit.signed_in()?;
    let room = format!("/app/{organization}/{flow}");
    Ok(see_other(&match visit.query("date").parse::<Day>() {
        Ok(day) => format!("{room}/on/{}#here", day.key()),
        Err(()) => format!("{room}/search"),
    }))
}
