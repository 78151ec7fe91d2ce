//! The judge: from what was posted, what is there afterwards, and what each listener heard, it
//! counts what went wrong. It knows nothing of servers.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// How many mistakes of a kind are told in words.
const EXAMPLES: usize = 5;

/// What the poster of a message, known by its name, was told about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing clear: it may be there or not.
    Unclear,
    /// That it is on disk.
    Accepted,
    /// That it is on disk, and is the message with this number.
    Numbered(i64),
}

/// An edit of a message, of which there is at most one for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Whether a request for it was granted.
    pub answered: bool,
}

/// Everything that was posted.
#[derive(Clone, Debug, Default)]
pub struct Posted {
    /// The messages and comments, by a name that each has for itself.
    pub messages: BTreeMap<String, Answer>,
    /// The edits, by the number of the message.
    pub edits: BTreeMap<i64, Edit>,
}

/// A message as it is listed afterwards.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Its number.
    pub id: i64,
    /// Its name, and what its text is; `None` when the server made the message.
    pub post: Option<(String, Text)>,
}

/// What is known of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// It is as it was posted.
    Posted,
    /// It is as it was edited.
    Edited,
    /// It is neither.
    Altered,
}

/// One event that a listener heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The position in the log, from the event id.
    pub seq: i64,
    /// The number in the room; `None` for what has none.
    pub id: Option<i64>,
    /// What it is.
    pub what: What,
}

/// What an event tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A message or comment with this name, and what its text is.
    Post(Arc<str>, Text),
    /// That the message with this number was edited.
    Edit(i64),
    /// Something of the server's own, or something that the listener did not look into.
    Other,
}

/// How often something went wrong, with the first few cases in words.
#[derive(Clone, Debug, Default)]
pub struct Count {
    /// How often.
    pub number: usize,
    examples: Vec<String>,
}

impl Count {
    fn add(&mut self, example: impl FnOnce() -> String) {
        self.add_many(1, example);
    }

    fn add_many(&mut self, number: usize, example: impl FnOnce() -> String) {
        if number > 0 && self.examples.len() < EXAMPLES {
            self.examples.push(example());
        }
        self.number += number;
    }
}

/// What the checker found.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Answered, but not there, not as it was answered, or not heard.
    pub lost: Count,
    /// There or heard more than once, or never posted.
    pub doubled: Count,
    /// Listed or heard after something later.
    pub reordered: Count,
    /// Numbers of the room that a listener did not hear between two that it heard.
    pub gapped: Count,
}

impl Verdict {
    /// Whether nothing went wrong.
    pub fn is_clean(&self) -> bool {
        self.counts().iter().all(|(_, count)| count.number == 0)
    }

    /// The four counts with their names.
    pub fn counts(&self) -> [(&'static str, &Count); 4] {
        [
            ("lost", &self.lost),
            ("doubled", &self.doubled),
            ("reordered", &self.reordered),
            ("gapped", &self.gapped),
        ]
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, count) in self.counts() {
            writeln!(f, "{name}: {}", count.number)?;
            for example in &count.examples {
                writeln!(f, "    {example}")?;
            }
        }
        Ok(())
    }
}

/// Compares everything with everything. First comes [`Checker::stored`], then each listener.
pub struct Checker<'a> {
    posted: &'a Posted,
    /// The numbers of what is there.
    numbers: HashMap<String, i64>,
    verdict: Verdict,
}

impl<'a> Checker<'a> {
    /// A checker that knows what was posted.
    pub fn new(posted: &'a Posted) -> Self {
        Self {
            posted,
            numbers: HashMap::new(),
            verdict: Verdict::default(),
        }
    }

    /// Takes the complete list of what is there afterwards, in the order of the list.
    pub fn stored(&mut self, listed: impl IntoIterator<Item = Stored>) {
        let mut last = i64::MIN;
        for message in listed {
            let id = message.id;
            match id.cmp(&last) {
                std::cmp::Ordering::Greater => {}
                std::cmp::Ordering::Equal => {
                    self.verdict.doubled.add(|| format!("{id} is listed twice"));
                }
                std::cmp::Ordering::Less => {
                    self.verdict
                        .reordered
                        .add(|| format!("{id} is listed after {last}"));
                }
            }
            last = last.max(id);
            let Some((name, text)) = message.post else {
                continue;
            };
            let edit = self.posted.edits.get(&id);
            let as_it_should = match text {
                Text::Posted => edit.is_none_or(|edit| !edit.answered),
                Text::Edited => edit.is_some(),
                Text::Altered => false,
            };
            if !as_it_should {
                self.verdict
                    .lost
                    .add(|| format!("{name}, as {id}, is listed with another text"));
            }
            if !self.posted.messages.contains_key(&name) {
                self.verdict
                    .doubled
                    .add(|| format!("{name} is listed as {id}, and nobody posted it"));
            }
            if let Some(other) = self.numbers.insert(name.clone(), id) {
                self.verdict
                    .doubled
                    .add(|| format!("{name} is listed as {other} and as {id}"));
            }
        }
        self.compare_with_answers();
    }

    fn compare_with_answers(&mut self) {
        for (name, answer) in &self.posted.messages {
            match (answer, self.numbers.get(name)) {
                (Answer::Unclear, _) | (Answer::Accepted, Some(_)) => {}
                (Answer::Numbered(answered), Some(id)) if answered == id => {}
                (Answer::Numbered(answered), Some(id)) => {
                    self.verdict
                        .lost
                        .add(|| format!("{name} was answered as {answered}, and is {id}"));
                }
                (_, None) => self
                    .verdict
                    .lost
                    .add(|| format!("{name} was answered and is not listed")),
            }
        }
    }

    /// Takes what one listener heard, across all its connections, of the numbers above `after`.
    pub fn heard(&mut self, listener: &str, after: i64, events: impl IntoIterator<Item = Heard>) {
        let mut order = Order::new(listener);
        let mut posts: HashMap<Arc<str>, i64> = HashMap::new();
        let mut edits: BTreeMap<i64, usize> = BTreeMap::new();
        for event in events {
            let again = order.take(&event, &mut self.verdict);
            match event.what {
                // That it came again is counted already.
                _ if again => {}
                What::Post(name, text) => {
                    let id = event.id.unwrap_or_default();
                    self.compare_post(listener, id, &name, text);
                    if let Some(other) = posts.insert(Arc::clone(&name), id) {
                        self.verdict
                            .doubled
                            .add(|| format!("{listener} heard {name} as {other} and as {id}"));
                    }
                }
                What::Edit(message) => *edits.entry(message).or_default() += 1,
                What::Other => {}
            }
        }
        self.compare_edits(listener, after, &edits);
        let numbers = order.finish(&mut self.verdict);
        let answered = self
            .posted
            .messages
            .iter()
            .filter(|(_, answer)| **answer != Answer::Unclear);
        for (name, id) in answered.filter_map(|(name, _)| Some((name, *self.numbers.get(name)?))) {
            if id > after && !numbers.contains(&id) {
                self.verdict
                    .lost
                    .add(|| format!("{listener} did not hear {name}, which is {id}"));
            }
        }
    }

    fn compare_post(&mut self, listener: &str, id: i64, name: &Arc<str>, text: Text) {
        let edited = self.posted.edits.contains_key(&id);
        if text == Text::Altered || (text == Text::Edited && !edited) {
            self.verdict
                .lost
                .add(|| format!("{listener} heard {name} with another text"));
        }
        if self.numbers.get(&**name) != Some(&id) {
            self.verdict
                .lost
                .add(|| format!("{listener} heard {name} as {id}, where it is not listed"));
        }
    }

    fn compare_edits(&mut self, listener: &str, after: i64, heard: &BTreeMap<i64, usize>) {
        for (message, edit) in &self.posted.edits {
            let times = heard.get(message).copied().unwrap_or(0);
            if edit.answered && times == 0 && *message > after {
                self.verdict
                    .lost
                    .add(|| format!("{listener} did not hear of the edit of {message}"));
            }
            // A second request for the same text changes nothing, and is not told.
            let surplus = times.saturating_sub(1);
            self.verdict.doubled.add_many(surplus, || {
                format!("{listener} heard the edit of {message} again")
            });
        }
        for message in heard
            .keys()
            .filter(|message| !self.posted.edits.contains_key(message))
        {
            self.verdict
                .doubled
                .add(|| format!("{listener} heard of an edit of {message} that nobody made"));
        }
    }

    /// What was found.
    pub fn verdict(self) -> Verdict {
        self.verdict
    }
}

/// The numbers and positions of what one listener heard.
struct Order<'a> {
    listener: &'a str,
    seqs: HashSet<i64>,
    last_seq: i64,
    ids: BTreeSet<i64>,
}

impl<'a> Order<'a> {
    fn new(listener: &'a str) -> Self {
        Self {
            listener,
            seqs: HashSet::new(),
            last_seq: i64::MIN,
            ids: BTreeSet::new(),
        }
    }

    /// Takes the next event, and tells whether it came before.
    fn take(&mut self, event: &Heard, verdict: &mut Verdict) -> bool {
        let Heard { seq, id, .. } = *event;
        let listener = self.listener;
        let after_later = id.is_some_and(|id| self.ids.last().is_some_and(|last| id < *last));
        let new_seq = self.seqs.insert(seq);
        let new_id = id.is_none_or(|id| self.ids.insert(id));
        if !new_seq || !new_id {
            verdict
                .doubled
                .add(|| format!("{listener} heard {id:?}, at {seq}, twice"));
        } else if after_later || seq < self.last_seq {
            let last = self.ids.last();
            verdict
                .reordered
                .add(|| format!("{listener} heard {id:?}, at {seq}, after {last:?}"));
        }
        self.last_seq = self.last_seq.max(seq);
        !new_seq || !new_id
    }

    fn finish(self, verdict: &mut Verdict) -> BTreeSet<i64> {
        for (one, next) in self.ids.iter().zip(self.ids.iter().skip(1)) {
            let missing = usize::try_from(next - one - 1).unwrap_or(0);
            let listener = self.listener;
            verdict
                .gapped
                .add_many(missing, || format!("{listener} heard {one}, then {next}"));
        }
        self.ids
    }
}

#[cfg(test)]
mod tests;
