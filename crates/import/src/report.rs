//! What an import has done, and what it could not take.

use serde::Serialize;

/// A kind of what an archive has and an import could not take, or not as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "`what` says what each is")]
pub enum LeftOutKind {
    UnreadableRecord,
    UnusedField,
    UnprovedAddress,
    TakenNick,
    RemovedPerson,
    Conversation,
    GroupConversation,
    ExistingRoom,
    TakenName,
    NotSaid,
    LongText,
    CutText,
    TooManyFiles,
    MissingParent,
    MissingFile,
    DamagedFile,
    UnknownEmoji,
    UnknownPerson,
    Picture,
}

impl LeftOutKind {
    /// What was left out, in words.
    #[must_use]
    pub fn what(self) -> &'static str {
        match self {
            Self::UnreadableRecord => "records that cannot be read",
            Self::UnusedField => "settings that have no counterpart here",
            Self::UnprovedAddress => {
                "people whose address an account has that has not proved it; their messages bear their names"
            }
            Self::TakenNick => {
                "people who could not enter the organization, since another user there has their nick"
            }
            Self::RemovedPerson => {
                "people who were removed from the organization, or kept out of it; they stay out"
            }
            Self::Conversation => {
                "messages of private conversations with people who have no account here"
            }
            Self::GroupConversation => {
                "conversations of several people, which became flows of those people"
            }
            Self::ExistingRoom => {
                "flows and conversations that are here already and were left as they are"
            }
            Self::TakenName => "names that were taken; the number behind them is new",
            Self::NotSaid => "messages of the system, such as topics that were set",
            Self::LongText => "messages whose text was too long for one; they became several",
            Self::CutText => "messages whose text was cut after a hundred messages",
            Self::TooManyFiles => "files behind the hundredth of a message",
            Self::MissingParent => {
                "answers to messages that the archive does not have; they stand alone"
            }
            Self::MissingFile => "files whose bytes the archive does not have",
            Self::DamagedFile => "files that could not be kept",
            Self::UnknownEmoji => "reactions with emoji that are not of Unicode",
            Self::UnknownPerson => "reactions and memberships of people who have no account here",
            Self::Picture => "pictures of people that could not be taken",
        }
    }
}

/// What was left out of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The kind.
    pub kind: LeftOutKind,
    /// How many.
    pub count: u64,
    /// The first of them, by what the archive calls it.
    pub first: String,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// People of the archive who had an account here.
    pub known_people: u64,
    /// Accounts that were made.
    pub new_people: u64,
    /// People who were mailed a link to choose a password.
    pub invited: u64,
    /// Flows that were made.
    pub flows: u64,
    /// Private conversations that were filled.
    pub conversations: u64,
    /// Messages that were added.
    pub messages: u64,
    /// Messages that an earlier import had added.
    pub known_messages: u64,
    /// Files that came with them.
    pub files: u64,
    /// Their bytes.
    pub file_bytes: u64,
    /// Reactions that came with them.
    pub reactions: u64,
    /// What was left out.
    pub left_out: Vec<LeftOut>,
}

impl ImportReport {
    /// Counts something that was left out.
    pub(crate) fn leave_out(&mut self, kind: LeftOutKind, what: impl Into<String>) {
        match self.left_out.iter_mut().find(|known| known.kind == kind) {
            Some(known) => known.count += 1,
            None => self.left_out.push(LeftOut {
                kind,
                count: 1,
                first: shortened(&what.into()),
            }),
        }
    }
}

/// As much of a text as a report shows, without what would move the cursor of a terminal.
fn shortened(text: &str) -> String {
    const MOST: usize = 120;
    text.chars()
        .filter(|c| !c.is_control())
        .take(MOST)
        .collect()
}
