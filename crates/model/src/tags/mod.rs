//! Tags: what a message is marked with, by its sender and by the server (specification,
//! section 2).
//!
//! A tag is kept in one form, lower-case and without a leading `#` ([`normalize`]). Those with a
//! colon mean something:
//!
//! | tag | meaning |
//! |---|---|
//! | `:user:<id>`, `:user:<name>`, `:user:everyone` | mentions a user, a group, or everyone |
//! | `:unread:<id>` | the user was mentioned and is to be told |
//! | `:highlight:<id>` | the text has the user's nick as a plain word |
//! | `:url`, `:file` | the text has a link, the message has files |
//! | `:influx:<id>` | the message is a comment on that one |
//!
//! Nobody but the server makes `:unread:` and `:highlight:`. The rules are in [`extract()`],
//! [`reparse`] and [`replace`]; they ask a [`Roster`] who is in the flow.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use unicode_normalization::UnicodeNormalization;

use crate::UserId;
use crate::names::nick_key;

pub use self::extract::{Context, Extracted, amend, extract, reparse, replace};
pub use self::list::{Cohort, CohortMarks, Tags};
pub use self::private::{keeps_unread, set_unread};

mod extract;
mod list;
mod nicks;
mod private;
mod scan;
#[cfg(test)]
mod tests;

/// The most tags a client may give a message. Those the server makes do not count.
pub const MAX_TAGS: usize = 50;
/// The most characters of a tag.
pub const MAX_TAG_CHARS: usize = 100;

/// Mentions everybody in the flow.
pub const USER_EVERYONE: &str = ":user:everyone";
/// The text has a link.
pub const URL: &str = ":url";
/// The message has files.
pub const FILE: &str = ":file";

const USER: &str = ":user:";
const UNREAD: &str = ":unread:";
const HIGHLIGHT: &str = ":highlight:";
const INFLUX: &str = ":influx:";

/// Who can be mentioned in a flow: its users that are not blocked.
///
/// Each word of each message is looked up, so this wants to be a map in memory.
pub trait Roster {
    /// The user with this nick, given as [`nick_key`].
    fn by_nick(&self, key: &str) -> Option<UserId>;

    /// Whether the user is one of them.
    fn contains(&self, user: UserId) -> bool;

    /// All of them, in any order.
    fn users(&self) -> impl Iterator<Item = UserId>;

    /// All of them as those whom a message addresses, ordered by number.
    fn everyone(&self) -> Arc<Cohort> {
        let mut users: Vec<UserId> = self.users().collect();
        users.sort_unstable();
        Arc::new(Cohort::of(users))
    }

    /// The members of the group with this name, given as [`nick_key`]: ordered by number, also
    /// those who are not on the roster. Where no groups can be mentioned, there is none.
    fn group(&self, key: &str) -> Option<&[UserId]> {
        let _ = key;
        None
    }

    /// Those of the members of the group with this name who are on the roster, as those whom a
    /// message addresses. A roster that is asked often may give the same one again.
    fn group_cohort(&self, key: &str, members: &[UserId]) -> Arc<Cohort> {
        let _ = key;
        Arc::new(self.present(members))
    }

    /// Those of some users who are on the roster, in their order.
    fn present(&self, users: &[UserId]) -> Cohort {
        let users = users.iter().copied();
        Cohort::of(users.filter(|user| self.contains(*user)).collect())
    }
}

/// Why tags were refused. The text is fit to stand beside the field's name in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TagError {
    /// More than [`MAX_TAGS`].
    #[error("can't be more than {MAX_TAGS}")]
    TooMany,
    /// One of more than [`MAX_TAG_CHARS`] characters.
    #[error("can't hold a tag longer than {MAX_TAG_CHARS} characters")]
    TooLong,
    /// One with a NUL or another control character.
    #[error("can't hold a tag with control characters")]
    ControlCharacter,
}

/// The form in which a tag is kept and compared: trimmed, without `#` in front, lower-case,
/// composed (NFC), without control characters. `None` when nothing is left.
///
/// A mention in its human form, `@nick`, stays one; [`resolve`] goes further.
#[must_use]
pub fn normalize(tag: &str) -> Option<String> {
    let form = if tag.contains(char::is_control) {
        lower(bare(
            &tag.chars().filter(|c| !c.is_control()).collect::<String>(),
        ))
    } else {
        lower(bare(tag))
    };
    (!form.is_empty()).then_some(form)
}

fn bare(tag: &str) -> &str {
    tag.trim_start_matches(|c: char| c == '#' || c.is_whitespace())
        .trim_end()
}

fn lower(tag: &str) -> String {
    if tag.is_ascii() {
        return tag.to_ascii_lowercase();
    }
    // A letter may combine with its accents in lower case only.
    tag.nfc().collect::<String>().to_lowercase().nfc().collect()
}

/// The form in which a flow keeps a tag: [`normalize`], and a mention by its `:user:<id>`,
/// [`group_tag`] or [`USER_EVERYONE`]. `None` when nothing is left, or when an `@` stands before
/// neither a nick on the roster nor the name of a group. A group's tag need not be that of a group
/// that is there.
///
/// This is also what a list of messages filtered by tags has to ask for.
#[must_use]
pub fn resolve<R: Roster>(tag: &str, roster: &R) -> Option<String> {
    let tag = normalize(tag)?;
    let Some(nick) = tag.strip_prefix('@') else {
        return Some(match tag.strip_prefix(USER) {
            // Letters of other scripts have more than one form in lower case.
            Some(name) if !name.is_ascii() => group_tag(&nick_key(name)),
            _ => tag,
        });
    };
    let key = nick_key(nick);
    match nicks::addressee(&key, roster)? {
        nicks::Addressee::Everyone => Some(USER_EVERYONE.to_owned()),
        nicks::Addressee::User(user) => Some(user_tag(user)),
        nicks::Addressee::Group(_) => Some(group_tag(&key)),
    }
}

/// Takes the comma form of a list of tags apart. What lies between the commas is trimmed, and
/// left out when empty.
#[must_use]
pub fn parse_list(text: &str) -> Vec<String> {
    text.split(',')
        .map(str::trim)
        .filter(|tag| !tag.is_empty())
        .map(str::to_owned)
        .collect()
}

/// How many tags a list can hold that is read back from a message of a flow with so many users and
/// groups: the client's own, for each user a mention, an unread mark and a highlight, and for each
/// group a mention.
#[must_use]
pub fn most_tags(users: usize, groups: usize) -> usize {
    2 * MAX_TAGS + 3 * users + groups
}

/// Checks the tags a client gave, in whatever form.
///
/// # Errors
///
/// When they break a limit; repeated tags, and those that only the server or a mention makes,
/// do not count.
pub fn validate(tags: &[String]) -> Result<(), TagError> {
    for tag in tags {
        if tag.trim().contains(char::is_control) {
            return Err(TagError::ControlCharacter);
        }
        // No form of a tag has more characters than its text has bytes.
        if tag.len() > MAX_TAG_CHARS
            && normalize(tag).is_some_and(|tag| tag.chars().nth(MAX_TAG_CHARS).is_some())
        {
            return Err(TagError::TooLong);
        }
    }
    if tags.len() > MAX_TAGS {
        let counted = |tag: &String| normalize(tag).filter(|tag| !is_made_by_server(tag));
        if tags
            .iter()
            .filter_map(counted)
            .collect::<HashSet<_>>()
            .len()
            > MAX_TAGS
        {
            return Err(TagError::TooMany);
        }
    }
    Ok(())
}

/// The tag that mentions a user.
#[must_use]
pub fn user_tag(user: UserId) -> String {
    format!("{USER}{user}")
}

/// The tag that mentions a group, whose name is given as [`nick_key`]. No name of a group is a
/// number, so it is never that of a user.
#[must_use]
pub fn group_tag(key: &str) -> String {
    format!("{USER}{key}")
}

/// The tag that a mentioned user has not read the message yet.
#[must_use]
pub fn unread_tag(user: UserId) -> String {
    format!("{UNREAD}{user}")
}

/// The tag that the text has the user's nick as a plain word.
#[must_use]
pub fn highlight_tag(user: UserId) -> String {
    format!("{HIGHLIGHT}{user}")
}

/// The user of an `:unread:<id>` tag; `None` for any other tag.
#[must_use]
pub fn parse_unread(tag: &str) -> Option<UserId> {
    tag.strip_prefix(UNREAD)?.parse().ok()
}

/// The user of a `:user:<id>` tag; `None` for any other tag, also for [`USER_EVERYONE`] and for a
/// group's.
#[must_use]
pub fn parse_user(tag: &str) -> Option<UserId> {
    tag.strip_prefix(USER)?.parse().ok()
}

/// What an edit did to the tags of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagChanges {
    /// Tags that are new.
    pub add: Vec<String>,
    /// Tags that are gone.
    pub remove: Vec<String>,
}

impl TagChanges {
    /// Compares the tags before an edit with those after it.
    #[must_use]
    pub fn between(before: &Tags, after: &Tags) -> Self {
        let missing = |from: &Tags, of: &Tags| {
            let from: HashSet<_> = from.iter().collect();
            let missing = of.iter().filter(|tag| !from.contains(tag));
            missing.map(Cow::into_owned).collect()
        };
        Self {
            add: missing(before, after),
            remove: missing(after, before),
        }
    }

    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.add.is_empty() && self.remove.is_empty()
    }
}

/// Whether the server made the tag, or could have: it names a user or a message by number, or a
/// kind of content, and repeats no word of the sender's.
#[must_use]
pub fn is_generated(tag: &str) -> bool {
    let is_number = |rest: &str| rest.parse::<u64>().is_ok();
    let numbered = [USER, UNREAD, HIGHLIGHT, INFLUX]
        .iter()
        .filter_map(|prefix| tag.strip_prefix(prefix));
    [URL, FILE, USER_EVERYONE].contains(&tag) || numbered.into_iter().any(is_number)
}

fn is_made_by_server(tag: &str) -> bool {
    tag == URL
        || tag == FILE
        || [USER, UNREAD, HIGHLIGHT]
            .iter()
            .any(|prefix| tag.starts_with(prefix))
}
