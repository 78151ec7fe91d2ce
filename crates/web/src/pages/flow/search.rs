//! The list beside the chat that shows what a search of the flow found.

use eddyline_app::Room;
use eddyline_model::MessageId;
use eddyline_model::messages::MessageQuery;

use super::found::{FOUND, FoundContext, FoundList, FoundRow, Question};
use super::message::{PageMessage, decoded};
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
        let mistake = question.mistake(visit.texts());
        let found = match mistake.is_none() && question.is_asked() {
            true => find(visit, room, &question, context).await?,
            false => FoundList::default(),
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
    context: &RowContext<'_>,
) -> Result<FoundList, PageError> {
    let words = question.words();
    let query = MessageQuery {
        limit: FOUND,
        beyond: visit.query("beyond").parse::<MessageId>().ok(),
        tags: question.tags.clone(),
        search: words.clone(),
        ..MessageQuery::default()
    };
    let list = visit.app().messages().list(room, query).await?;
    let messages: Vec<PageMessage> = decoded(&list.json)?;
    let of_found = FoundContext {
        visit,
        people: context.people,
        words: words.as_deref().unwrap_or_default(),
    };
    let rows = messages.iter().rev();
    let path = format!("{}/search", context.room);
    Ok(FoundList {
        rows: rows
            .map(|message| FoundRow::of(message, context.room, None, &of_found))
            .collect(),
        further: list
            .next
            .map(|next| question.further(&path, "beyond", &next.to_string())),
    })
}
