//! Private conversations.

use eddyline_model::messages::{MAX_CONTENT_CHARS, MAX_UUID_CHARS};

use crate::request;
use crate::request::{boolean, text, texts, unchecked_text};

request! {
    /// Whether a conversation has a tab.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct UpdatePrivateConversation {
        /// Whether your clients show a tab.
        open: bool = boolean(),
    }
}

request! {
    /// What kind of private message is sent.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PrivateEvent {
        /// message; with --profile classic also file.
        event: Option<String> = text(1..=100).required().of(&["message", "file"]),
        /// Your own id for it; repeating a post with it is safe.
        uuid: Option<String> = text(0..=MAX_UUID_CHARS).filled(),
    }
}

request! {
    /// What a private message says.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PrivateContent {
        /// The text; of a file the file, or data, content_type and file_name.
        content: String = unchecked_text(1..=MAX_CONTENT_CHARS),
    }
}

request! {
    /// What only the classic profile knows of private messages.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PrivateTags {
        /// All tags it is to have; with --profile classic.
        tags: Option<Vec<String>> = texts(),
    }
}

request! {
    /// A change of a private message.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct EditPrivateMessage {
        /// The new text.
        content: Option<String> = unchecked_text(1..=MAX_CONTENT_CHARS),
    }
}
