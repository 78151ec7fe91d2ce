//! The tags of a message as they are kept: unread marks that a mention of a group or of everyone
//! sets are not spelled out.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use super::{parse_unread, unread_tag};
use crate::UserId;

/// The number of members of a cohort that a message may leave out before it gets a cohort of its
/// own.
const MOST_LEFT_OUT: usize = 64;

/// The users whom a mention of a group or of everyone addresses: the members of the flow, or those
/// of the group who are in the flow, at that time. It never changes, and messages that address the
/// same users share it.
#[derive(Debug)]
pub struct Cohort {
    users: Box<[UserId]>,
    digest: [u8; 32],
}

impl Cohort {
    /// The cohort of these users, in the order in which their marks are shown; each is named once.
    #[must_use]
    pub fn of(users: Vec<UserId>) -> Self {
        let mut hash = ring::digest::Context::new(&ring::digest::SHA256);
        for user in &users {
            hash.update(&user.0.to_be_bytes());
        }
        let mut digest = [0; 32];
        digest.copy_from_slice(hash.finish().as_ref());
        Self {
            users: users.into(),
            digest,
        }
    }

    /// The users, in the order in which their marks are shown.
    #[must_use]
    pub fn users(&self) -> &[UserId] {
        &self.users
    }

    /// The SHA-256 of the users, by which equal cohorts are found.
    #[must_use]
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }
}

impl PartialEq for Cohort {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for Cohort {}

/// The unread marks of a message that are not spelled out among its tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CohortMarks {
    /// The number of the other tags that are shown before the marks.
    pub place: usize,
    /// Those whom the message addresses, in the order in which they are shown.
    pub cohorts: Vec<Arc<Cohort>>,
    /// Those who have no mark here, in ascending order: the author, those who have a mark among the
    /// other tags, and those whose mark was taken off.
    pub without: Vec<UserId>,
}

impl CohortMarks {
    /// The users who have a mark, each once, in the order in which the marks are shown.
    fn users(&self) -> impl Iterator<Item = UserId> {
        let mut shown = HashSet::new();
        let may_repeat = self.cohorts.len() > 1;
        let members = self.cohorts.iter().flat_map(|cohort| cohort.users());
        members.copied().filter(move |user| {
            self.without.binary_search(user).is_err() && (!may_repeat || shown.insert(*user))
        })
    }

    fn contains(&self, user: UserId) -> bool {
        let mut cohorts = self.cohorts.iter();
        self.without.binary_search(&user).is_err()
            && cohorts.any(|cohort| cohort.users().contains(&user))
    }
}

/// The tags of a message, in the order in which they are shown.
#[derive(Clone, Debug, Default)]
pub struct Tags {
    listed: Vec<String>,
    marks: Option<Box<CohortMarks>>,
}

impl Tags {
    /// Tags of which `marks` stand for some.
    #[must_use]
    pub fn new(listed: Vec<String>, marks: Option<CohortMarks>) -> Self {
        let mut marks = marks.map(Box::new);
        if let Some(marks) = &mut marks {
            marks.place = marks.place.min(listed.len());
        }
        Self { listed, marks }
    }

    /// Tags that are all given. Of the unread marks among them, the longest run becomes cohorts:
    /// those of `known` that it consists of, or one of its own.
    #[must_use]
    pub fn compact(mut shown: Vec<String>, known: &[Arc<Cohort>]) -> Self {
        let (place, run) = longest_run(&shown);
        if run.len() < 2 {
            return shown.into();
        }
        shown.drain(place..place + run.len());
        let (cohorts, without) = match known_cohorts(known, &run) {
            Some(found) => found,
            None => (vec![Arc::new(Cohort::of(run))], Vec::new()),
        };
        Self::new(
            shown,
            Some(CohortMarks {
                place,
                cohorts,
                without,
            }),
        )
    }

    /// All tags.
    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let (before, after) = self.listed.split_at(self.place());
        let marks = self.marked().map(|user| Cow::Owned(unread_tag(user)));
        let before = before.iter().map(|tag| Cow::Borrowed(tag.as_str()));
        let after = after.iter().map(|tag| Cow::Borrowed(tag.as_str()));
        before.chain(marks).chain(after)
    }

    /// All tags.
    #[must_use]
    pub fn to_vec(&self) -> Vec<String> {
        self.iter().map(Cow::into_owned).collect()
    }

    /// The tags that are spelled out: all but the marks of cohorts.
    #[must_use]
    pub fn listed(&self) -> &[String] {
        &self.listed
    }

    /// The unread marks that are not spelled out.
    #[must_use]
    pub fn marks(&self) -> Option<&CohortMarks> {
        self.marks.as_deref()
    }

    /// The cohorts that the message addresses with everyone and with groups.
    #[must_use]
    pub fn cohorts(&self) -> &[Arc<Cohort>] {
        self.marks().map_or(&[], |marks| &marks.cohorts)
    }

    /// Those with a mark that a cohort gives them.
    pub fn marked(&self) -> impl Iterator<Item = UserId> {
        self.marks().into_iter().flat_map(CohortMarks::users)
    }

    /// Those with an unread mark that is spelled out.
    pub fn listed_unread(&self) -> impl Iterator<Item = UserId> {
        let users = self.listed.iter().filter_map(|tag| parse_unread(tag));
        users.filter(|user| user.0 > 0)
    }

    /// Returns `true` if this is one of the tags.
    #[must_use]
    pub fn contains(&self, tag: &str) -> bool {
        let is_marked = |marks: &CohortMarks| {
            parse_unread(tag).is_some_and(|user| unread_tag(user) == tag && marks.contains(user))
        };
        self.listed.iter().any(|listed| listed == tag) || self.marks().is_some_and(is_marked)
    }

    /// Returns the approximate number of bytes that the tags have when they are shown.
    #[must_use]
    pub fn shown_len(&self) -> usize {
        const MARK: usize = ":unread:123456".len();
        let listed: usize = self.listed.iter().map(String::len).sum();
        let addressed = self.cohorts().iter().map(|cohort| cohort.users.len());
        listed + MARK * addressed.sum::<usize>()
    }

    /// Puts a tag before all others.
    pub fn put_first(&mut self, tag: String) {
        self.retain(|other| *other != tag);
        self.listed.insert(0, tag);
        if let Some(marks) = &mut self.marks {
            marks.place += 1;
        }
    }

    /// Takes tags away that are spelled out.
    pub fn retain(&mut self, keeps: impl Fn(&str) -> bool) {
        let place = self.place();
        let before = self.listed[..place].iter().filter(|tag| keeps(tag)).count();
        self.listed.retain(|tag| keeps(tag));
        if let Some(marks) = &mut self.marks {
            marks.place = before;
        }
    }

    fn place(&self) -> usize {
        self.marks().map_or(0, |marks| marks.place)
    }
}

impl From<Vec<String>> for Tags {
    fn from(listed: Vec<String>) -> Self {
        Self {
            listed,
            marks: None,
        }
    }
}

/// Two lists are equal that show the same.
impl PartialEq for Tags {
    fn eq(&self, other: &Self) -> bool {
        // Marks may be many, and are mostly kept in the same form.
        let is_same_form = self.listed == other.listed && self.marks == other.marks;
        is_same_form || self.iter().eq(other.iter())
    }
}

impl Eq for Tags {}

impl<const N: usize> PartialEq<[&str; N]> for Tags {
    fn eq(&self, other: &[&str; N]) -> bool {
        self.iter().eq(other.iter().map(|tag| Cow::Borrowed(*tag)))
    }
}

/// Returns the place at which the longest run of unread marks begins, and the users of these marks.
fn longest_run(tags: &[String]) -> (usize, Vec<UserId>) {
    let mut longest = 0..0;
    let mut run = 0..0;
    let mut distinct = HashSet::new();
    for (place, tag) in tags.iter().enumerate() {
        match parse_mark(tag) {
            Some(user) if distinct.insert(user) => run.end = place + 1,
            _ => {
                distinct.clear();
                run = place + 1..place + 1;
            }
        }
        if run.len() > longest.len() {
            longest = run.clone();
        }
    }
    let users = tags[longest.clone()]
        .iter()
        .filter_map(|tag| parse_mark(tag));
    (longest.start, users.collect())
}

/// The user of an unread mark in the form in which one is shown.
fn parse_mark(tag: &str) -> Option<UserId> {
    parse_unread(tag).filter(|user| user.0 > 0 && unread_tag(*user) == tag)
}

/// Those of some cohorts that together are a run of marks but for a few users, and these users.
fn known_cohorts(known: &[Arc<Cohort>], run: &[UserId]) -> Option<(Vec<Arc<Cohort>>, Vec<UserId>)> {
    let marked: HashSet<UserId> = run.iter().copied().collect();
    let is_used = |cohort: &Arc<Cohort>| {
        let users = cohort.users();
        2 * users.iter().filter(|user| marked.contains(user)).count() >= users.len()
    };
    let mut cohorts: Vec<Arc<Cohort>> = Vec::new();
    for cohort in known.iter().filter(|cohort| is_used(cohort)) {
        if !cohorts.contains(cohort) {
            cohorts.push(cohort.clone());
        }
    }
    let members = cohorts.iter().flat_map(|cohort| cohort.users());
    let mut without: Vec<UserId> = members
        .copied()
        .filter(|user| !marked.contains(user))
        .collect();
    without.sort_unstable();
    without.dedup();
    let marks = CohortMarks {
        place: 0,
        cohorts,
        without,
    };
    let fits = marks.without.len() <= MOST_LEFT_OUT && marks.users().eq(run.iter().copied());
    fits.then_some((marks.cohorts, marks.without))
}
