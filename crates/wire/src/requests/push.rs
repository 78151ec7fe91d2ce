//! What scripts and mail gateways push.

use eddyline_model::MessageId;
use eddyline_model::messages::{MAX_CONTENT_CHARS, MAX_EXTERNAL_NAME_CHARS};

use super::messages::wrong_name;
use crate::request;
use crate::request::{Text, id, text, texts, unchecked_text};

request! {
    /// A chat message for the flows of the tokens in the path.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PushChat {
        /// What is said.
        content: String = unchecked_text(1..=MAX_CONTENT_CHARS),
        /// A sender's name.
        external_user_name: String = text(1..=MAX_EXTERNAL_NAME_CHARS).checked(wrong_name),
        /// Tags, also as a comma-separated text.
        tags: Option<Vec<String>> = texts(),
        /// The message to comment on.
        message_id: Option<MessageId> = id::<MessageId>(),
    }
}

/// The use case judges mails.
fn any() -> Text {
    text(0..=usize::MAX)
}

request! {
    /// A mail for the inboxes of the flows of the tokens in the path.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PushMail {
        /// What pushes it.
        source: String = any(),
        /// The address it is from.
        from_address: String = any(),
        /// What it is about.
        subject: String = any(),
        /// What it says, in HTML.
        content: String = any(),
        /// The name of the sender.
        from_name: Option<String> = any().filled(),
        /// Where an answer would go.
        reply_to: Option<String> = any().filled(),
        /// What it belongs to.
        project: Option<String> = any().filled(),
        /// Tags, also as a comma-separated text.
        tags: Option<Vec<String>> = texts(),
        /// Where more is to be read.
        link: Option<String> = any().filled(),
    }
}
