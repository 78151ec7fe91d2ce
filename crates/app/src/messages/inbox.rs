//! Activities and discussions, as integrations push them (specification, section 4, Push path).

use std::sync::Arc;

use eddyline_model::items::{Item, MAX_BODY_BYTES, MAX_ITEM_BYTES, MAX_TITLE_CHARS};
use eddyline_wire::{Attachment, Author, InboxContent};

use super::prepared::{Prepared, is_blank};
use crate::{Error, FieldErrors, Result};

/// The most characters of a title that is made of a body.
const MADE_TITLE_CHARS: usize = 200;
/// The most bytes of a body as it goes out.
const MAX_WRITTEN_BYTES: usize = 2 * MAX_BODY_BYTES;

/// What an activity or a discussion says, as somebody wrote it.
#[derive(Clone, Debug, Default)]
pub struct NewInbox {
    /// Who did it; the caller, unless somebody else is named.
    pub author: Option<Author>,
    /// What happened.
    pub title: String,
    /// What was said.
    pub body: String,
    /// The new state of the thread's item.
    pub item: Option<Item>,
}

impl NewInbox {
    /// The same as it is kept: with its HTML made harmless, and references of the body to
    /// attachments made their paths. `user` did it, unless it names somebody else.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`].
    pub(super) fn prepare(
        &self,
        user: Option<Author>,
        attachments: Vec<Attachment>,
    ) -> Result<Prepared> {
        let mut errors = FieldErrors::new();
        let mut wrong =
            |name: &str, text: String| errors.entry(name.to_owned()).or_default().push(text);
        if self.title.chars().count() > MAX_TITLE_CHARS {
            wrong(
                "title",
                format!("is too long (maximum is {MAX_TITLE_CHARS} characters)"),
            );
        }
        if self.body.len() > MAX_BODY_BYTES {
            wrong(
                "body",
                format!("is too long (maximum is {MAX_BODY_BYTES} bytes)"),
            );
        }
        let title = eddyline_markup::title(self.title.trim());
        let body = eddyline_markup::body(&self.body, |cid| {
            let found = attachments
                .iter()
                .find(|file| file.content_id.as_deref() == Some(cid));
            found.map(|file| file.path.clone())
        });
        // Escapes are longer than what they stand for, and so are paths.
        if body.len() > MAX_WRITTEN_BYTES {
            wrong(
                "body",
                format!("is too long as it is written (maximum is {MAX_WRITTEN_BYTES} bytes)"),
            );
        }
        let silent = is_blank(&title) && body.trim().is_empty();
        if silent && self.item.is_none() && attachments.is_empty() {
            wrong(
                "title",
                "can't be blank when there is no body, no thread and no attachment".into(),
            );
        }
        let item = self.item.as_ref().map(harmless);
        if let Some(item) = &item {
            if is_blank(&item.title) {
                wrong("thread[title]", "can't be blank".into());
            }
            if item.weight() > MAX_ITEM_BYTES {
                let most = format!("(maximum is {MAX_ITEM_BYTES} bytes)");
                wrong(
                    "thread",
                    format!("is too large in all as it is written {most}"),
                );
            }
        }
        if !errors.is_empty() {
            return Err(Error::invalid_fields(errors));
        }
        let called = if is_blank(&title) {
            first_line(&body)
        } else {
            title.clone()
        };
        let author = self.author.clone().or(user);
        let content = serde_json::to_string(&InboxContent {
            author,
            title,
            body,
            attachments,
        })
        .map_err(|error| Error::internal(error.to_string()))?;
        Ok(Prepared {
            content,
            title: called,
            item: item.map(Arc::new),
            tag: None,
        })
    }
}

/// What can be read first in a body; HTML.
fn first_line(body: &str) -> String {
    let text = eddyline_markup::text(body);
    let line = text
        .lines()
        .find(|line| !is_blank(line))
        .unwrap_or_default();
    eddyline_markup::escape(&line.chars().take(MADE_TITLE_CHARS).collect::<String>())
}

/// An item whose HTML can do no harm.
fn harmless(item: &Item) -> Item {
    let mut item = item.clone();
    item.title = eddyline_markup::title(item.title.trim());
    item.body = eddyline_markup::body(&item.body, |_| None);
    for field in &mut item.fields {
        field.value = eddyline_markup::title(&field.value);
    }
    item
}
