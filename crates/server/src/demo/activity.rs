//! What goes on in the demonstration by itself: people talk and react, and tools report.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use eddyline_app::Error;
use tokio::sync::Mutex;

use super::company::{Company, Persona, SentLine, Spot};
use super::script::{Conversation, LOBBY_TALK, MAIN_TALK};
use super::tools::{Remark, Tools};
use super::{LOBBY, MAIN};

/// Seconds between two events.
const PAUSES: [u64; 7] = [8, 6, 11, 7, 13, 9, 6];

/// What happens when nothing follows from what happened before.
const COURSE: [Initiative; 11] = [
    Initiative::Tool(3),
    Initiative::Talk(0),
    Initiative::Tool(0),
    Initiative::Talk(1),
    Initiative::Tool(4),
    Initiative::Tool(3),
    Initiative::Talk(0),
    Initiative::Tool(2),
    Initiative::Tool(1),
    Initiative::Talk(1),
    Initiative::Tool(5),
];

/// The flows, and what is said in them.
const TALK: [(&str, &[Conversation]); 2] = [(MAIN, MAIN_TALK), (LOBBY, LOBBY_TALK)];

/// Something that begins.
#[derive(Clone, Copy)]
enum Initiative {
    /// The next conversation of one of the flows ([`TALK`]).
    Talk(usize),
    /// The next state in a series of items.
    Tool(usize),
}

/// Something that follows from what happened.
enum Consequence {
    /// The rest of a conversation.
    Answers(Conversation, Spot),
    Reaction {
        by: Persona,
        to: SentLine,
        emoji: &'static str,
    },
    Remark(Remark),
}

/// What was done, and what is to be done about it.
struct Course {
    company: Company,
    tools: Arc<Mutex<Tools>>,
    /// How many things began.
    begun: usize,
    /// How many conversations each flow had.
    talked: [usize; 2],
    following: VecDeque<Consequence>,
}

/// Waits, at the pace of people.
#[expect(
    clippy::disallowed_methods,
    reason = "people take their time; nothing tells when they are ready"
)]
pub(super) async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Says what is to be said about an item.
pub(super) async fn make(company: &Company, remark: &Remark) {
    if let Err(error) = company.say(remark.by, &remark.spot, &remark.text).await {
        tracing::debug!(%error, "a remark could not be made");
    }
}

/// Has all of a conversation at once, with its reactions. Gives its last message.
pub(super) async fn converse(
    company: &Company,
    flow: &str,
    conversation: Conversation,
) -> Result<Option<SentLine>, Error> {
    let (mut spot, mut last) = (Spot::chat(flow), None);
    for utterance in conversation {
        let spoken = company.say(utterance.by, &spot, utterance.text).await?;
        for (by, emoji) in utterance.reactions {
            company
                .react(*by, &spoken.spot.flow, spoken.message, emoji)
                .await?;
        }
        spot = spoken.spot.clone();
        last = Some(spoken);
    }
    Ok(last)
}

/// Goes on for ever.
pub(super) async fn go_on(company: Company, tools: Arc<Mutex<Tools>>) {
    let mut course = Course {
        company,
        tools,
        begun: 0,
        talked: [0, 0],
        following: VecDeque::new(),
    };
    for (turn, seconds) in PAUSES.into_iter().cycle().enumerate() {
        pause(Duration::from_secs(seconds)).await;
        // Something new begins now and then, however much follows from the rest.
        let consequence = match turn % 3 {
            0 => None,
            _ => course.following.pop_front(),
        };
        let outcome = match consequence {
            Some(consequence) => course.follow(consequence).await,
            None => course.begin().await,
        };
        if let Err(error) = outcome {
            tracing::debug!(%error, "something of the demonstration did not happen");
        }
    }
}

impl Course {
    async fn begin(&mut self) -> Result<(), Error> {
        let initiative = COURSE[self.begun % COURSE.len()];
        self.begun += 1;
        match initiative {
            Initiative::Talk(flow) => {
                let (name, talk) = TALK[flow];
                let conversation = talk[self.talked[flow] % talk.len()];
                self.talked[flow] += 1;
                self.speak(conversation, Spot::chat(name)).await
            }
            Initiative::Tool(series) => {
                let remark = self.tools.lock().await.step(series).await?;
                self.following.extend(remark.map(Consequence::Remark));
                Ok(())
            }
        }
    }

    async fn follow(&mut self, consequence: Consequence) -> Result<(), Error> {
        match consequence {
            Consequence::Answers(rest, spot) => self.speak(rest, spot).await,
            Consequence::Reaction { by, to, emoji } => {
                let flow = &to.spot.flow;
                self.company.react(by, flow, to.message, emoji).await
            }
            Consequence::Remark(remark) => {
                // A visitor may have pressed a button since.
                let suits = self.tools.lock().await.suits(&remark);
                if suits {
                    make(&self.company, &remark).await;
                }
                Ok(())
            }
        }
    }

    /// Says the first of these; what follows from it is done later.
    async fn speak(&mut self, conversation: Conversation, spot: Spot) -> Result<(), Error> {
        let Some((first, rest)) = conversation.split_first() else {
            return Ok(());
        };
        let spoken = self.company.say(first.by, &spot, first.text).await?;
        for (by, emoji) in first.reactions {
            self.following.push_back(Consequence::Reaction {
                by: *by,
                to: spoken.clone(),
                emoji,
            });
        }
        if !rest.is_empty() {
            let answers = Consequence::Answers(rest, spoken.spot);
            self.following.push_back(answers);
        }
        Ok(())
    }
}
