//! The kinds of messages.

/// What kind of message it is (specification, section 6).
///
/// The discriminants are what the store keeps. Everything but chat is at 2 or above, which an
/// index for the rarer kinds counts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MessageKind {
    /// Chat.
    Message = 0,
    /// Answer to a chat message.
    Comment = 1,
    /// Sets the sender's status.
    Status = 2,
    /// An uploaded file.
    File = 3,
    /// A change of an item in an outside service.
    Activity = 4,
    /// A comment in an outside service.
    Discussion = 5,
    /// What the server tells of the flow itself: joins, blocks and the like.
    Action = 6,
    /// A mail pushed into the inbox.
    Mail = 7,
    /// A message was edited or truncated; on the stream only.
    MessageEdit = 8,
    /// The tags of a message were edited; on the stream only.
    TagChange = 9,
    /// A message was removed; on the stream only.
    MessageDelete = 10,
    /// A user reacted to a message, or took a reaction back; on the stream only.
    EmojiReaction = 11,
}

impl MessageKind {
    /// Every kind, in the order of their stored numbers.
    pub const ALL: [Self; 12] = [
        Self::Message,
        Self::Comment,
        Self::Status,
        Self::File,
        Self::Activity,
        Self::Discussion,
        Self::Action,
        Self::Mail,
        Self::MessageEdit,
        Self::TagChange,
        Self::MessageDelete,
        Self::EmojiReaction,
    ];

    /// The name on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Comment => "comment",
            Self::Status => "status",
            Self::File => "file",
            Self::Activity => "activity",
            Self::Discussion => "discussion",
            Self::Action => "action",
            Self::Mail => "mail",
            Self::MessageEdit => "message-edit",
            Self::TagChange => "tag-change",
            Self::MessageDelete => "message-delete",
            Self::EmojiReaction => "emoji-reaction",
        }
    }

    /// Reads the name on the wire.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == name)
    }

    /// The number the store keeps.
    #[must_use]
    pub fn code(self) -> i16 {
        self as i16
    }

    /// Reads the number the store keeps.
    #[must_use]
    pub fn from_code(code: i16) -> Option<Self> {
        usize::try_from(code)
            .ok()
            .and_then(|index| Self::ALL.get(index).copied())
    }

    /// Whether lists, searches and single reads show messages of this kind; the rest lives on the
    /// stream only.
    #[must_use]
    pub fn is_listed(self) -> bool {
        !matches!(
            self,
            Self::MessageEdit | Self::TagChange | Self::MessageDelete | Self::EmojiReaction
        )
    }

    /// Whether content is plain text rather than a JSON document.
    #[must_use]
    pub fn has_text(self) -> bool {
        matches!(self, Self::Message | Self::Comment | Self::Status)
    }

    /// Whether a message of this kind that answers nothing starts a thread of its own.
    #[must_use]
    pub fn starts_thread(self) -> bool {
        matches!(
            self,
            Self::Message
                | Self::Status
                | Self::File
                | Self::Activity
                | Self::Discussion
                | Self::Mail
        )
    }

    /// The deprecated `app` field: which half of the flow the message belongs to.
    #[must_use]
    pub fn app(self) -> Option<&'static str> {
        match self {
            Self::Message | Self::Comment | Self::Status | Self::File | Self::Action => {
                Some("chat")
            }
            Self::Activity | Self::Discussion | Self::Mail => Some("influx"),
            Self::MessageEdit | Self::TagChange | Self::MessageDelete | Self::EmojiReaction => None,
        }
    }
}
