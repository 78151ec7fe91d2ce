//! The list beside the chat that shows what a search of the flow found.

use eddyline_app::Room;
use eddyline_model::messages::MessageQuery;
use eddyline_model::{MessageId, UserId};

use super::found::{FoundContext, FoundList, FoundRow, Question};
use super::message::PageMessage;
use super::rows::RowContext;
use crate::error::PageError;
use crate::visit::Visit;

/// The form of a search, and what it found.
pub(super) struct Search {
    pub(super) question: Question,
    pub(super) mistake: Option<String>,
    pub(super) found: FoundList,
}

impl Search {
    pub(super) async fn of(
        visit: &Visit,
        room: &Room,
        context: &RowContext<'_>,
    ) -> Result<Self, PageError> {
        let question = Question::of(visit);
        let with_nick = |nick: &str| {
            let users = context.people.values();
            let mut named = users.filter(|user| user.nick.eq_ignore_ascii_case(nick));
            named.next().map(|user| UserId(user.id))
        };
        let (mistake, found) = match question.query(visit, with_nick) {
            Err(mistake) => (Some(mistake), FoundList::default()),
            Ok(query) if question.is_asked() => {
                (None, find(visit, room, &question, query, context).await?)
            }
            Ok(_) => (None, FoundList::default()),
        };
        Ok(Self {
            question,
            mistake,
            found,
        })
    }
}

async fn find(
    visit: &Visit,
    room: &Room,
    question: &Question,
    query: MessageQuery,
    context: &RowContext<'_>,
) -> Result<FoundList, PageError> {
    let words = question.words().unwrap_or_default();
    let query = MessageQuery {
        beyond: visit.query("beyond").parse::<MessageId>().ok(),
        ..query
    };
    let list = visit.app().messages().list_views(room, query).await?;
    let of_found = FoundContext {
        visit,
        people: context.people,
        words: &words,
    };
    let rows = list.messages.into_iter().rev();
    let path = format!("{}/search", context.room);
    Ok(FoundList {
        rows: rows
            .map(|view| PageMessage::of(view, room, visit.app()))
            .map(|message| FoundRow::of(&message, context.room, None, &of_found))
            .collect(),
        further: list
            .next
            .map(|next| question.further(&path, "beyond", &next.to_string())),
    })
}
