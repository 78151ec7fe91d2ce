//! What an import has done, and what it could not take.

use eddyline_model::policy::PersonRelation;
use serde::Serialize;

/// The number of people of one kind that a plan names.
const NAMED: usize = 5;

/// The people whom an import concerns. They are known before anything is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportPlan {
    /// People by their relation to the organization.
    pub people: Vec<PlannedPeople>,
}

/// People with the same relation to the organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedPeople {
    /// Their relation.
    pub relation: PersonRelation,
    /// Their number.
    pub count: u64,
    /// The first of them, by their addresses, or their names where they have none.
    pub first: Vec<String>,
}

impl ImportPlan {
    /// Counts a person.
    pub(crate) fn add(&mut self, relation: PersonRelation, who: &str) {
        let known = self.people.iter().position(|of| of.relation == relation);
        let place = known.unwrap_or_else(|| {
            self.people.push(PlannedPeople {
                relation,
                count: 0,
                first: Vec::new(),
            });
            self.people.len() - 1
        });
        let of_kind = &mut self.people[place];
        of_kind.count += 1;
        if of_kind.first.len() < NAMED {
            of_kind.first.push(shortened(who));
        }
    }
}

/// People who have an account and come in by an invitation: into the first flow of the archive that
/// names them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlowInvitations {
    /// The flow, by its name in URLs.
    pub flow: String,
    /// The address of a member who may invite into the flow, an administrator where one is in it.
    pub inviter: Option<String>,
    /// The addresses of the people.
    pub addresses: Vec<String>,
}

/// A kind of what an archive has and an import could not take, or not as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "`what` says what each is")]
pub enum LeftOutKind {
    UnreadableRecord,
    UnusedField,
    UnprovedAddress,
    ElsewherePerson,
    MailQuota,
    AnotherDomain,
    TakenNick,
    RemovedPerson,
    Parent,
    Conversation,
    GroupConversation,
    ExistingRoom,
    RoomNumbers,
    TakenName,
    BeyondLimit,
    NotSaid,
    LongText,
    CutText,
    ShortenedText,
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
            Self::ElsewherePerson => {
                "people who have an account and do not belong to the organization; they come in by an invitation, \
                 and their messages bear their names"
            }
            Self::MailQuota => {
                "people who were not mailed, since the organization has caused as much mail as it may in a day"
            }
            Self::AnotherDomain => {
                "people whose address is within the domain of another organization; they get no account, and their \
                 messages bear their names"
            }
            Self::Parent => "organizations above the new one; --parent puts it below one",
            Self::TakenNick => {
                "people who could not enter the organization, since another user there has their nick"
            }
            Self::RemovedPerson => {
                "people who were removed from the organization, or kept out of it; they stay out"
            }
            Self::Conversation => {
                "messages of private conversations with people who do not belong to this organization alone"
            }
            Self::GroupConversation => {
                "conversations of several people, which became flows of those people"
            }
            Self::ExistingRoom => {
                "flows and conversations that are here already and were left as they are"
            }
            Self::RoomNumbers => {
                "flows and conversations whose numbers of messages leave too few for new ones"
            }
            Self::BeyondLimit => {
                "groups, sources, names, tags and reactions beyond the number that there may be"
            }
            Self::TakenName => "names that were taken; the number behind them is new",
            Self::NotSaid => "messages of the system, such as topics that were set",
            Self::LongText => "messages whose text was too long for one; they became several",
            Self::CutText => "messages whose text was cut after a hundred messages",
            Self::ShortenedText => "messages whose text was too long and was cut",
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
    /// The people to invite, since they have an account that does not belong to the organization.
    pub invitations: Vec<FlowInvitations>,
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
