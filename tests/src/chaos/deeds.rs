//! The record of a run: what was posted, what was answered, and what was refused.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use eddyline_client::{Error, Json, StatusCode};
use tokio::sync::watch;

use super::checker::{Answer, Edit, Posted, Text};

/// How a request was not granted, for all requests of one kind.
#[derive(Clone, Debug, Default)]
pub struct Refusals {
    /// 503 with `Retry-After` and a JSON body.
    pub unavailable: usize,
    /// 507 with a JSON body.
    pub full: usize,
    /// No answer, or half of one.
    pub broken: usize,
    /// Anything else, in words; there should be none.
    pub strange: Vec<String>,
}

impl Refusals {
    /// Notes one.
    pub fn note(&mut self, what: &str, error: &Error) {
        match error.api() {
            Some(refusal) if !refusal.message.is_empty() => match refusal.status {
                StatusCode::SERVICE_UNAVAILABLE if refusal.retry_after.is_some() => {
                    self.unavailable += 1;
                }
                StatusCode::INSUFFICIENT_STORAGE => self.full += 1,
                _ => self.strange.push(format!("{what}: {error}")),
            },
            Some(_) => self
                .strange
                .push(format!("{what}: {error}, and no JSON that says so")),
            None if matches!(error, Error::Transport(_) | Error::Body(_)) => self.broken += 1,
            None => self.strange.push(format!("{what}: {error}")),
        }
    }
}

/// What posters and readers of a run write down, together.
#[derive(Default)]
pub struct Deeds {
    state: Mutex<State>,
    answers: watch::Sender<usize>,
    failures: watch::Sender<usize>,
    reads: watch::Sender<usize>,
}

#[derive(Default)]
struct State {
    posted: Posted,
    posts: Refusals,
    reads: Refusals,
    last_answer: Option<Instant>,
    longest_silence: Duration,
}

impl Deeds {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message is about to be posted.
    pub fn begin_message(&self, name: &str) {
        self.state()
            .posted
            .messages
            .insert(name.to_owned(), Answer::Unclear);
    }

    /// The message was answered.
    pub fn answered(&self, name: &str, answer: Answer) {
        self.state().posted.messages.insert(name.to_owned(), answer);
        self.count_answer();
    }

    /// The message is about to be edited.
    pub fn begin_edit(&self, message: i64) {
        self.state()
            .posted
            .edits
            .insert(message, Edit { answered: false });
    }

    /// The edit was granted.
    pub fn edited(&self, message: i64) {
        if let Some(edit) = self.state().posted.edits.get_mut(&message) {
            edit.answered = true;
        }
        self.count_answer();
    }

    fn count_answer(&self) {
        {
            let mut state = self.state();
            let silence = state
                .last_answer
                .replace(Instant::now())
                .map(|last| last.elapsed());
            state.longest_silence = state.longest_silence.max(silence.unwrap_or_default());
        }
        self.answers.send_modify(|count| *count += 1);
    }

    /// Something was read.
    pub fn read(&self) {
        self.reads.send_modify(|count| *count += 1);
    }

    /// A post, comment or edit was not granted.
    pub fn post_failed(&self, error: &Error) {
        self.state().posts.note("a post", error);
        self.failures.send_modify(|count| *count += 1);
    }

    /// A read was not granted.
    pub fn read_failed(&self, error: &Error) {
        self.state().reads.note("a read", error);
    }

    /// How many posts, comments and edits were granted so far.
    pub fn answers(&self) -> usize {
        *self.answers.borrow()
    }

    /// Waits for so many answers more.
    pub async fn more_answers(&self, count: usize) {
        more(&self.answers, count).await;
    }

    /// Waits until so many posts more were not granted.
    pub async fn more_failures(&self, count: usize) {
        more(&self.failures, count).await;
    }

    /// The longest time between two answers since it was last asked for, now included.
    pub fn longest_silence(&self) -> Duration {
        let mut state = self.state();
        let present = state
            .last_answer
            .map(|last| last.elapsed())
            .unwrap_or_default();
        std::mem::take(&mut state.longest_silence).max(present)
    }

    /// How many reads were granted so far.
    pub fn reads(&self) -> usize {
        *self.reads.borrow()
    }

    /// Waits until so many reads more were granted.
    pub async fn more_reads(&self, count: usize) {
        more(&self.reads, count).await;
    }

    /// Everything that was posted.
    pub fn posted(&self) -> Posted {
        self.state().posted.clone()
    }

    /// The refusals of posts, and those of reads.
    pub fn refusals(&self) -> (Refusals, Refusals) {
        let state = self.state();
        (state.posts.clone(), state.reads.clone())
    }
}

async fn more(counter: &watch::Sender<usize>, count: usize) {
    let target = *counter.borrow() + count;
    counter
        .subscribe()
        .wait_for(|number| *number >= target)
        .await
        .expect("we hold the sender");
}

/// The text of the message with this name: it can be known from it.
pub(crate) fn text_of(name: &str, filler: &str) -> String {
    format!("{name} said #{} {filler}", name.len())
}

/// The text that an edit gives it.
pub(crate) fn edited_text_of(name: &str) -> String {
    format!("{name} corrected")
}

/// The name of a message, which is its uuid if it has one and in any case its first word, and what
/// is known of its text: what was said, the title of what was pushed, or the name of a file. `None`
/// for messages that the server made.
pub(crate) fn identify(
    uuid: Option<&str>,
    content: &Json,
    title: Option<&str>,
) -> Option<(String, Text)> {
    let spoken = || content.as_str().or_else(|| content["text"].as_str());
    let text = title
        .or_else(spoken)
        .or_else(|| content["file_name"].as_str());
    let name = uuid.or_else(|| text?.split(' ').next())?;
    let state = match text {
        Some(text) if text == edited_text_of(name) => Text::Edited,
        // Titles and names lose the blank at their end.
        Some(text) if text.starts_with(text_of(name, "").trim_end()) => Text::Posted,
        _ => Text::Altered,
    };
    Some((name.to_owned(), state))
}
