//! The tags of a message: those it was given and those its text makes.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use eddyline_syntax::{Prose, prose};

use super::list::{Cohort, CohortMarks, Tags};
use crate::UserId;

use super::nicks::{Addressee, addressee, longest};
use super::scan::{Piece, Scanner};
use super::{
    FILE, HIGHLIGHT, INFLUX, MAX_TAGS, Roster, UNREAD, URL, USER, USER_EVERYONE, group_tag,
    highlight_tag, lower, parse_unread, parse_user, resolve, unread_tag, user_tag,
};

/// What there is to know about a message besides its text and its tags.
#[derive(Debug)]
pub struct Context<'a, R> {
    /// Who can be mentioned.
    pub roster: &'a R,
    /// Who posts or edits, and is therefore not told of it; `None` when anonymous.
    pub sender: Option<UserId>,
    /// Whether the message has files.
    pub has_attachments: bool,
}

/// The tags of a message and what follows from them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extracted {
    /// All tags in their order: those given, those of the text, those of everybody mentioned
    /// together. Each is there once.
    pub tags: Tags,
    /// Those of `tags` that were given, mentions by user id, without what the server makes of
    /// them. They stay when the text is edited.
    pub explicit: Vec<String>,
}

/// The tags of a new message.
///
/// `explicit` are the tags it was given, in any form. Among them and in `content`, a mention of a
/// user on the roster becomes `:user:<id>` and `:unread:<id>`, one of a group its tag and
/// `:unread:<id>` for those of its other members who are on the roster, one of everyone becomes
/// `:user:everyone` and `:unread:<id>` for all others; any other mention is dropped. From `content`
/// come also hashtags (at most [`MAX_TAGS`]), `:highlight:<id>` and `:url`.
#[must_use]
pub fn extract<R: Roster>(
    explicit: &[String],
    content: &str,
    context: &Context<'_, R>,
) -> Extracted {
    let mut builder = Builder::new(context, Basis::New);
    builder.add_explicit(explicit);
    builder.add_content(content);
    builder.finish()
}

/// The tags of a message after its text was changed to `content`: the explicit ones stay, those
/// of the old text give way to those of the new.
///
/// `previous` are all its tags before, `explicit` those of them that were given
/// ([`Extracted::explicit`]). Who was mentioned before and has read it is not told again.
#[must_use]
pub fn reparse<R: Roster>(
    previous: &Tags,
    explicit: &[String],
    content: &str,
    context: &Context<'_, R>,
) -> Extracted {
    let mut builder = Builder::new(context, Basis::Text(Previous::of(previous)));
    builder.add_explicit(explicit);
    builder.add_content(content);
    builder.finish()
}

/// The tags of a message after somebody set them all to `wanted`, whatever its text says.
///
/// `previous` and `explicit` are as for [`reparse`]. Of the tags that only the server makes,
/// those stay that are in `wanted` and were there before. Who is mentioned newly is told.
#[must_use]
pub fn replace<R: Roster>(
    previous: &Tags,
    explicit: &[String],
    wanted: &[String],
    context: &Context<'_, R>,
) -> Extracted {
    let mut builder = Builder::new(context, Basis::Tags(Previous::of(previous)));
    builder.add_explicit(wanted);
    let mut extracted = builder.finish();
    // A tag that the text made has been sent back, not given.
    let (previous, explicit) = (Previous::of(previous), set(explicit));
    extracted
        .explicit
        .retain(|tag| explicit.contains(tag.as_str()) || !previous.contains(tag));
    extracted
}

/// The complete list for [`replace`]: the `previous` tags without `remove` and with `add`, both in
/// any form. A tag in both is added.
///
/// Removing the mention of a user also removes that user's unread mark.
#[must_use]
pub fn amend<R: Roster>(
    previous: &Tags,
    add: &[String],
    remove: &[String],
    roster: &R,
) -> Vec<String> {
    let mut gone: HashSet<String> = HashSet::with_capacity(remove.len());
    for tag in remove.iter().filter_map(|tag| resolve(tag, roster)) {
        gone.extend(parse_user(&tag).map(unread_tag));
        gone.insert(tag);
    }
    let kept = previous.iter().filter(|tag| !gone.contains(tag.as_ref()));
    kept.map(Cow::into_owned)
        .chain(add.iter().cloned())
        .collect()
}

fn set(tags: &[String]) -> HashSet<&str> {
    tags.iter().map(String::as_str).collect()
}

/// The tags that a message had, to be looked up.
struct Previous<'a> {
    listed: HashSet<&'a str>,
    marked: HashSet<UserId>,
    cohorts: &'a [Arc<Cohort>],
}

impl<'a> Previous<'a> {
    fn of(tags: &'a Tags) -> Self {
        Self {
            listed: set(tags.listed()),
            marked: tags.marked().collect(),
            cohorts: tags.cohorts(),
        }
    }

    fn contains(&self, tag: &str) -> bool {
        self.listed.contains(tag)
            || parse_unread(tag)
                .is_some_and(|user| self.marked.contains(&user) && unread_tag(user) == tag)
    }
}

/// What the tags were before.
enum Basis<'a> {
    /// There is no before.
    New,
    /// The text is edited.
    Text(Previous<'a>),
    /// The tags are edited.
    Tags(Previous<'a>),
}

impl<'a> Basis<'a> {
    fn previous(&self) -> Option<&Previous<'a>> {
        match self {
            Self::New => None,
            Self::Text(previous) | Self::Tags(previous) => Some(previous),
        }
    }

    fn had(&self, tag: &str) -> bool {
        self.previous()
            .is_some_and(|previous| previous.contains(tag))
    }

    /// Whether a mention by `mention` makes `user` unread: because it is new, or, unless the tags
    /// say themselves who is unread, because it was so before.
    fn makes_unread(&self, mention: &str, user: UserId) -> bool {
        !self.had(mention) || (matches!(self, Self::Text(_)) && self.had(&unread_tag(user)))
    }

    /// Whether a tag of the server's making can be given.
    fn allows(&self, tag: &str) -> bool {
        matches!(self, Self::Tags(_)) && self.had(tag)
    }
}

/// A group that is mentioned.
struct NamedGroup<'a> {
    tag: String,
    members: &'a [UserId],
}

struct Builder<'a, R> {
    context: &'a Context<'a, R>,
    basis: Basis<'a>,
    tags: Vec<String>,
    explicit: Vec<String>,
    named: HashSet<UserId>,
    groups: Vec<NamedGroup<'a>>,
    everyone: bool,
    unread: HashSet<UserId>,
    highlighted: HashSet<UserId>,
    key: String,
}

impl<'a, R: Roster> Builder<'a, R> {
    fn new(context: &'a Context<'a, R>, basis: Basis<'a>) -> Self {
        Self {
            context,
            basis,
            tags: Vec::new(),
            explicit: Vec::new(),
            named: HashSet::new(),
            groups: Vec::new(),
            everyone: false,
            unread: HashSet::new(),
            highlighted: HashSet::new(),
            key: String::new(),
        }
    }

    fn add_explicit(&mut self, tags: &[String]) {
        // Not a search in the result: tags set as a whole can be as many as the flow has users.
        let mut seen = HashSet::with_capacity(tags.len());
        for tag in tags
            .iter()
            .filter_map(|tag| resolve(tag, self.context.roster))
        {
            if !seen.insert(tag.clone()) {
                continue;
            }
            if let Some(user) = parse_unread(&tag) {
                if self.basis.allows(&tag) {
                    self.make_unread(user);
                }
            } else if tag.starts_with(UNREAD)
                || tag.starts_with(HIGHLIGHT)
                || tag.starts_with(INFLUX)
                || tag == FILE
            {
                if self.basis.allows(&tag) {
                    self.tags.push(tag);
                }
            } else if tag == USER_EVERYONE {
                self.mention_everyone();
                self.explicit.push(tag);
            } else if let Some(name) = tag.strip_prefix(USER) {
                match name.bytes().all(|byte| byte.is_ascii_digit()) {
                    true => self.add_explicit_user(&tag),
                    false => self.add_explicit_group(name),
                }
            } else {
                self.explicit.push(tag.clone());
                self.tags.push(tag);
            }
        }
    }

    fn add_explicit_user(&mut self, tag: &str) {
        let Some(user) = parse_user(tag) else { return };
        let tag = user_tag(user);
        // A mention stays when its user is blocked later.
        if self.named.contains(&user)
            || !(self.context.roster.contains(user) || self.basis.had(&tag))
        {
            return;
        }
        self.mention(user);
        self.explicit.push(tag);
    }

    fn add_explicit_group(&mut self, key: &str) {
        let members = match self.context.roster.group(key) {
            Some(members) => members,
            // A mention stays when its group is removed later.
            None if self.basis.had(&group_tag(key)) => &[],
            None => return,
        };
        self.mention_group(key, members);
        self.explicit.push(group_tag(key));
    }

    /// The unread marks of its members come last, for they may be many.
    fn mention_group(&mut self, key: &str, members: &'a [UserId]) {
        let tag = group_tag(key);
        if self.groups.len() >= MAX_TAGS || self.groups.iter().any(|group| group.tag == tag) {
            return;
        }
        self.tags.push(tag.clone());
        self.groups.push(NamedGroup { tag, members });
    }

    fn mention(&mut self, user: UserId) {
        if !self.named.insert(user) {
            return;
        }
        let mention = user_tag(user);
        let told = self.context.sender != Some(user)
            && self.context.roster.contains(user)
            && self.basis.makes_unread(&mention, user);
        self.tags.push(mention);
        if told {
            self.make_unread(user);
        }
    }

    fn make_unread(&mut self, user: UserId) {
        if self.unread.insert(user) {
            self.tags.push(unread_tag(user));
        }
    }

    fn mention_everyone(&mut self) {
        if !self.everyone {
            self.everyone = true;
            self.tags.push(USER_EVERYONE.to_owned());
        }
    }

    fn add_content(&mut self, content: &str) {
        let mut hashtags = 0;
        for part in prose(content) {
            self.add_prose(part, &mut hashtags);
        }
    }

    /// A quote repeats what was said, and tells nobody again.
    fn add_prose(&mut self, part: Prose<'_>, hashtags: &mut usize) {
        let roster = self.context.roster;
        let mut scanner = Scanner::new(part.text);
        while let Some(piece) = scanner.next() {
            match piece {
                Piece::Url => {
                    if !self.tags.iter().any(|tag| tag == URL) {
                        self.tags.push(URL.to_owned());
                    }
                }
                Piece::Hashtag(_) if *hashtags == MAX_TAGS => {}
                Piece::Hashtag(tag) => *hashtags += usize::from(self.add_hashtag(tag)),
                Piece::Mention(_) | Piece::Word(_) if part.is_quoted => {}
                Piece::Mention(run) => {
                    match longest(run, true, &mut self.key, |key| addressee(key, roster)) {
                        Some((Addressee::Everyone, length)) => {
                            scanner.consume(length);
                            self.mention_everyone();
                        }
                        Some((Addressee::User(user), length)) => {
                            scanner.consume(length);
                            self.mention(user);
                        }
                        Some((Addressee::Group(members), length)) => {
                            scanner.consume(length);
                            let key = std::mem::take(&mut self.key);
                            self.mention_group(&key, members);
                            self.key = key;
                        }
                        None => {}
                    }
                }
                Piece::Word(run) => {
                    if let Some((user, length)) =
                        longest(run, false, &mut self.key, |key| roster.by_nick(key))
                    {
                        scanner.consume(length);
                        self.highlight(user);
                    }
                }
            }
        }
    }

    /// Whether the tag was not there yet.
    fn add_hashtag(&mut self, tag: &str) -> bool {
        let tag = lower(tag);
        let new = !self.tags.contains(&tag);
        if new {
            self.tags.push(tag);
        }
        new
    }

    fn highlight(&mut self, user: UserId) {
        if self.context.sender != Some(user) && self.highlighted.insert(user) {
            self.tags.push(highlight_tag(user));
        }
    }

    fn finish(mut self) -> Extracted {
        if self.context.has_attachments && !self.tags.iter().any(|tag| tag == FILE) {
            self.tags.push(FILE.to_owned());
        }
        let tags = match &self.basis {
            Basis::New => self.with_cohorts(),
            Basis::Text(_) | Basis::Tags(_) => self.with_kept_marks(),
        };
        Extracted {
            tags,
            explicit: self.explicit,
        }
    }

    /// Returns the users whom a group that is mentioned here addresses.
    fn cohort_of(&self, group: &NamedGroup<'_>) -> Arc<Cohort> {
        let key = group.tag.strip_prefix(USER).unwrap_or_default();
        self.context.roster.group_cohort(key, group.members)
    }

    /// The tags of a new message. Those whom groups and everyone address come last, for they may be
    /// many.
    fn with_cohorts(&mut self) -> Tags {
        let mut cohorts: Vec<_> = self
            .groups
            .iter()
            .map(|group| self.cohort_of(group))
            .collect();
        if self.everyone {
            cohorts.push(self.context.roster.everyone());
        }
        let sender = self.context.sender.iter();
        let mut without: Vec<UserId> = sender.chain(&self.unread).copied().collect();
        without.sort_unstable();
        without.dedup();
        // A cohort that marks no user addresses none.
        let marks = |cohort: &Arc<Cohort>| {
            let mut users = cohort.users().iter();
            users.any(|user| without.binary_search(user).is_err())
        };
        cohorts.retain(marks);
        let listed = std::mem::take(&mut self.tags);
        let marks = (!cohorts.is_empty()).then_some(CohortMarks {
            place: listed.len(),
            cohorts,
            without,
        });
        Tags::new(listed, marks)
    }

    /// The tags of a message that is edited, in which those whom it mentioned before and who have
    /// read it get no mark.
    fn with_kept_marks(&mut self) -> Tags {
        let previous = self.basis.previous();
        let mut known = previous.map_or(Vec::new(), |previous| previous.cohorts.to_vec());
        for NamedGroup { tag, members } in std::mem::take(&mut self.groups) {
            let group = NamedGroup { tag, members };
            if !self.basis.had(&group.tag) {
                known.push(self.cohort_of(&group));
            }
            self.mark(&group.tag, group.members.iter().copied());
        }
        if self.everyone {
            let everyone = self.context.roster.everyone();
            self.mark(USER_EVERYONE, everyone.users().iter().copied());
            if !self.basis.had(USER_EVERYONE) {
                known.push(everyone);
            }
        }
        Tags::compact(std::mem::take(&mut self.tags), &known)
    }

    /// Marks the message as unread for those whom a mention addresses.
    fn mark(&mut self, mention: &str, users: impl Iterator<Item = UserId>) {
        for user in users {
            let is_newly_unread = Some(user) != self.context.sender
                && self.context.roster.contains(user)
                && self.basis.makes_unread(mention, user);
            if is_newly_unread {
                self.make_unread(user);
            }
        }
    }
}
