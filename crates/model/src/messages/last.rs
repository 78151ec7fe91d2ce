//! The last message of a thread, as lists of threads show it.

use super::{Author, MessageKind, reference};
use crate::search::{discussed, document_author};
use crate::{MessageId, Timestamp, UserId};

const MAX_TEXT_CHARS: usize = 200;

/// What lists of threads show of the last message of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastMessage {
    /// Number.
    pub id: MessageId,
    /// Kind.
    pub event: MessageKind,
    /// The user who posted it; `None` when it is anonymous.
    pub user: Option<UserId>,
    /// The name of the author that the message itself bears: that of an activity or a discussion,
    /// or of an anonymous sender.
    pub author_name: Option<String>,
    /// The first line that can be read in it, at most 200 characters. Empty when the text was
    /// removed.
    pub text: String,
    /// When it was sent.
    pub sent: Timestamp,
}

impl LastMessage {
    /// Of a message with this content, as it is kept.
    #[must_use]
    pub fn new(
        id: MessageId,
        event: MessageKind,
        author: Author,
        content: &str,
        sent: Timestamp,
    ) -> Self {
        let is_document = matches!(event, MessageKind::Activity | MessageKind::Discussion);
        let named = is_document.then(|| document_author(content)).flatten();
        Self {
            id,
            event,
            user: author.user,
            author_name: named.or(author.external_name),
            text: line(event, content),
            sent,
        }
    }
}

/// What was said, in one line.
fn line(event: MessageKind, content: &str) -> String {
    let discussed = match event {
        // The title of a discussion says only that there is one.
        MessageKind::Discussion => discussed(content),
        _ => None,
    };
    let text = discussed.map_or_else(|| reference(event, content), Into::into);
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty()).unwrap_or_default();
    first.chars().take(MAX_TEXT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(event: MessageKind, content: &str) -> (Option<String>, String) {
        let author = Author::anonymous(Some("bot".to_owned()));
        let last = LastMessage::new(MessageId(1), event, author, content, Timestamp(0));
        (last.author_name, last.text)
    }

    #[test]
    fn the_first_line_of_a_text_is_shown() {
        let bot = Some("bot".to_owned());
        assert_eq!(
            of(MessageKind::Message, "\n  one \ntwo"),
            (bot.clone(), "one".to_owned())
        );
        let long = "é".repeat(MAX_TEXT_CHARS + 1);
        let shown = of(MessageKind::Comment, &long).1;
        assert_eq!(shown.chars().count(), MAX_TEXT_CHARS);
        assert_eq!(of(MessageKind::Message, ""), (bot, String::new()));
    }

    #[test]
    fn an_integration_names_the_author_and_what_happened() {
        let json = r#"{"author":{"name":"Karin"},"title":"<b>closed</b> it","body":"<p>Done &amp; out</p>"}"#;
        let karin = || Some("Karin".to_owned());
        assert_eq!(
            of(MessageKind::Activity, json),
            (karin(), "closed it".to_owned())
        );
        assert_eq!(
            of(MessageKind::Discussion, json),
            (karin(), "Done & out".to_owned())
        );
        let untold = r#"{"author":null,"title":"spoke","body":""}"#;
        let bot = Some("bot".to_owned());
        assert_eq!(
            of(MessageKind::Discussion, untold),
            (bot, "spoke".to_owned())
        );
    }
}
