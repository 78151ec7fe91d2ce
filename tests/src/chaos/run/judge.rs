//! The judgement about a run: everything that is there is listed and heard again, and compared with
//! what was posted and what each listener heard.

use std::sync::Arc;
use std::time::Duration;

use eddyline_client::{Client, Message, MessageQuery};

use super::{Cast, in_time};
use crate::chaos::checker::{Answer, Checker, Heard, Stored, What};
use crate::chaos::deeds::{Deeds, Refusals, identify};
use crate::chaos::listeners::{Notes, hear_again};
use crate::chaos::plan::Random;
use crate::chaos::posters::FLOW;
use crate::chaos::report::{Row, print};
use crate::chaos::ways::Ways;

/// How many strange answers are told.
const EXAMPLES: usize = 10;

/// A run whose people have stopped.
pub struct Finished {
    /// The number of the last message.
    pub last: i64,
    /// What was posted.
    pub deeds: Arc<Deeds>,
    pub(super) notes: Vec<Notes>,
    pub(super) name: String,
    pub(super) cast: Cast,
    pub(super) ways: Ways,
    pub(super) random: Random,
    pub(super) time: Duration,
}

/// What listeners heard of whom the run does not know.
#[derive(Clone, Debug, Default)]
pub struct Others {
    /// They are to have heard everything above this number.
    pub after: i64,
    /// Positions and numbers of what each heard.
    pub heard: Vec<Vec<(i64, Option<i64>)>>,
}

impl Finished {
    /// Compares everything, and prints the line of the table. `rounds` is how often the fault came.
    ///
    /// # Panics
    /// When anything was lost, doubled, reordered or gapped, and when there was a refusal that
    /// there should not be.
    pub async fn judge(self, rounds: usize, remark: String, others: Others) {
        let stored = in_time("everything was listed", list(self.ways.client())).await;
        let (first, again) = self.hear_again().await;
        let posted = self.deeds.posted();
        let mut row = Row {
            name: self.name.clone(),
            rounds,
            remark,
            time: self.time,
            ..Row::default()
        };
        let strange = self.count(&mut row);
        row.unclear = posted
            .messages
            .values()
            .filter(|answer| **answer == Answer::Unclear)
            .count();
        row.listeners = self.notes.len() + others.heard.len();

        let mut checker = Checker::new(&posted);
        checker.stored(stored);
        for (number, notes) in self.notes.into_iter().enumerate() {
            row.heard += notes.heard.len();
            checker.heard(&format!("listener {number}"), 0, notes.heard);
        }
        checker.heard("who hears all again", first, again.heard);
        for (number, heard) in others.heard.into_iter().enumerate() {
            row.heard += heard.len();
            checker.heard(&format!("another {number}"), others.after, events(heard));
        }
        row.verdict = checker.verdict();
        print(&row);
        let (name, verdict) = (&row.name, &row.verdict);
        assert!(
            verdict.is_clean(),
            "{name}: not everything was told once and in order\n{verdict}"
        );
        let examples = &strange[..strange.len().min(EXAMPLES)];
        assert!(
            strange.is_empty(),
            "{name}: {} strange answers: {examples:#?}",
            strange.len()
        );
    }

    /// The number of the first message, and everything after it as somebody hears it who comes
    /// late.
    async fn hear_again(&self) -> (i64, Notes) {
        let notes = &self.notes[0];
        let first = notes
            .first_event_id
            .as_deref()
            .expect("every listener heard the first message");
        let again = hear_again(self.ways.clone(), first, &self.random);
        (
            notes.heard[0].id.unwrap_or(0),
            in_time("all was told again", again).await,
        )
    }

    /// Counts answers and refusals, and tells of those that there should not be.
    fn count(&self, row: &mut Row) -> Vec<String> {
        let (posts, reads) = self.deeds.refusals();
        let mut strange = Vec::new();
        let refused = reads.unavailable + reads.full;
        if refused > 0 && !self.cast.reading_stops && !self.cast.servers_die {
            strange.push(format!("{refused} reads were refused"));
        }
        count_refusals(row, posts, &mut strange);
        count_refusals(row, reads, &mut strange);
        for (number, notes) in self.notes.iter().enumerate() {
            row.returns += notes.cut + notes.left;
            if notes.cut > 0 && !self.cast.servers_die && !self.cast.streams_end {
                strange.push(format!(
                    "the stream of listener {number} ended {} times",
                    notes.cut
                ));
            }
            count_refusals(row, notes.refusals.clone(), &mut strange);
        }
        if self.cast.streams_end {
            if row.unavailable > 0 {
                strange.push(format!("{} requests were refused", row.unavailable));
            }
            let gaps = self.notes.iter().map(|notes| notes.longest_gap);
            let longest = gaps.max().unwrap_or_default().as_millis();
            row.remark = format!("longest gap of a stream {longest} ms; {}", row.remark);
        }
        if row.broken > 0 && !self.cast.servers_die {
            strange.push(format!("{} requests got no answer", row.broken));
        }
        row.answers = self.deeds.answers();
        row.reads = self.deeds.reads();
        strange
    }
}

fn count_refusals(row: &mut Row, refusals: Refusals, strange: &mut Vec<String>) {
    row.unavailable += refusals.unavailable;
    row.full += refusals.full;
    row.broken += refusals.broken;
    strange.extend(refusals.strange);
}

fn events(heard: Vec<(i64, Option<i64>)>) -> impl Iterator<Item = Heard> {
    heard.into_iter().map(|(seq, id)| Heard {
        seq,
        id,
        what: What::Other,
    })
}

/// All messages of the flow, oldest first.
async fn list(client: &Client) -> Vec<Stored> {
    let flow = client.flow(FLOW.0, FLOW.1);
    let mut stored = Vec::new();
    let mut since = 0;
    loop {
        let query = MessageQuery::new().oldest().limit(100).since(since);
        let page = flow.messages(&query).await.unwrap();
        let Some(last) = page.last() else {
            return stored;
        };
        since = last.id;
        stored.extend(page.iter().map(as_stored));
    }
}

fn as_stored(message: &Message) -> Stored {
    let known = identify(
        message.uuid.as_deref(),
        &message.content,
        message.title.as_deref(),
    );
    Stored {
        id: message.id,
        post: known,
    }
}
