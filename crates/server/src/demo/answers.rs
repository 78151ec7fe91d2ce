//! People of the demonstration hear what visitors write, and answer it.

use std::time::Duration;

use eddyline_app::streaming::{StreamFormat, Subscription};
use eddyline_app::{App, Error, Listening, NewPost, StreamPoint, StreamRequest};
use eddyline_model::messages::MessageKind;
use eddyline_model::policy::MessageAction;
use eddyline_model::{MessageId, UserId};
use serde_json::Value;

use super::activity::pause;
use super::company::{Company, Persona, Spot};
use super::{LOBBY, MAIN, ORGANIZATION};

/// How long it takes to read a message, and then to write an answer.
const READING: Duration = Duration::from_secs(1);
const WRITING: Duration = Duration::from_secs(3);

/// What a message is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tone {
    Greeting,
    Thanks,
    Question,
    File,
    Statement,
}

impl Tone {
    fn of(text: &str) -> Self {
        let lower = text.to_lowercase();
        let has = |words: &[&str]| {
            lower
                .split(|c: char| !c.is_alphanumeric())
                .any(|word| words.contains(&word))
        };
        if text.is_empty() {
            Self::File
        } else if lower.contains('?') {
            Self::Question
        } else if has(&["thanks", "thank", "thx"]) {
            Self::Thanks
        } else if has(&["hi", "hello", "hey", "morning", "test"]) {
            Self::Greeting
        } else {
            Self::Statement
        }
    }

    fn emoji(self) -> &'static str {
        match self {
            Self::Greeting => "👋",
            Self::Thanks => "😊",
            Self::Question | Self::File => "👀",
            Self::Statement => "👍",
        }
    }

    fn answers(self) -> &'static [&'static str] {
        match self {
            Self::Greeting => &[
                "Hello! Good to have you here.",
                "Hi! It arrived, loud and clear.",
            ],
            Self::Thanks => &["You are welcome.", "Gladly."],
            Self::Question => &[
                "Let me look at the logs first. I write here as soon as I know.",
                "Good question. I look into it and write here later today.",
                "Yes, as far as I can see.",
                "Not yet, but I can take it right after the release.",
            ],
            Self::File => &["Thanks, I have a look.", "Got it, thank you."],
            Self::Statement => &[
                "Makes sense to me.",
                "Thanks, noted. I keep an eye on it.",
                "Agreed, let us do it like that.",
                "Good to know. I open a ticket for it.",
            ],
        }
    }
}

/// What is said to a statement about an item.
const ABOUT_ITEM: [&str; 3] = [
    "Right, I add it to the description.",
    "Good point. I try it and report here.",
    "Agreed. I take care of it today.",
];

/// What is said in private now and then.
const CONFESSION: &str = "I have to say that I am one of the invented people of this demonstration, and know a few sentences only.";

/// A message of a visitor.
struct Overheard {
    id: MessageId,
    by: UserId,
    text: String,
    /// Where it stands; `None` when it is private.
    spot: Option<Spot>,
    /// Whether the thread is that of an item.
    is_about_item: bool,
}

impl Overheard {
    /// Reads an event of a stream, if it is something to answer.
    fn read(company: &Company, line: &[u8]) -> Option<Self> {
        let event: Value = serde_json::from_slice(line).ok()?;
        let text = |value: &Value| Some(value.as_str()?.to_owned());
        let content = &event["content"];
        let said = match event["event"].as_str()? {
            "message" => text(content)?,
            "comment" => text(&content["text"])?,
            "file" => String::new(),
            _ => return None,
        };
        let by = UserId(event["user"].as_str()?.parse().ok()?);
        let is_invented = Persona::EACH
            .into_iter()
            .any(|persona| persona != Persona::Ada && company.user_id(persona) == Some(by));
        if by.0 <= 0 || is_invented {
            return None;
        }
        Some(Self {
            id: MessageId(event["id"].as_i64()?),
            by,
            text: said,
            spot: text(&event["flow"]).map(|flow| Spot {
                flow,
                thread: text(&event["thread_id"]),
            }),
            is_about_item: !event["thread"]["source"].is_null(),
        })
    }

    /// Who answers in a flow: who is mentioned, or else one after the other.
    fn addressee(&self) -> Persona {
        let words = self.text.split(|c: char| !c.is_alphanumeric() && c != '@');
        let mut nicks = words.filter_map(|word| word.strip_prefix('@'));
        let mentioned = nicks.find_map(|nick| {
            Persona::EACH.into_iter().find(|persona| {
                *persona != Persona::Ada && persona.nick().eq_ignore_ascii_case(nick)
            })
        });
        mentioned.unwrap_or_else(|| {
            let count = Persona::TALKING.len();
            let turn = usize::try_from(self.id.0).unwrap_or_default();
            Persona::TALKING[turn % count]
        })
    }

    fn answer(&self, persona: Persona, turn: usize) -> &'static str {
        let tone = Tone::of(&self.text);
        let texts: &[_] = match persona {
            Persona::Charles => &["I am on leave until Monday. Grace knows about it."],
            Persona::Eddy => &["I am a bot, and tell when something is deployed or backed up."],
            _ if self.spot.is_none() && turn % 3 == 1 => &[CONFESSION],
            _ if self.is_about_item && tone == Tone::Statement => &ABOUT_ITEM,
            _ => tone.answers(),
        };
        texts[turn % texts.len()]
    }
}

/// The stream of a person, who is shown as present while it is open.
pub(super) struct Attention {
    stream: Subscription,
    _listening: Listening,
}

impl Attention {
    pub(super) async fn open(company: &Company, persona: Persona) -> Result<Self, Error> {
        let flows = [MAIN, LOBBY].map(|flow| format!("{ORGANIZATION}/{flow}"));
        let request = StreamRequest {
            flows: flows.into(),
            joined: false,
            user: true,
            format: StreamFormat::Json,
            from: StreamPoint::Now,
            shows: persona.presence(),
            presence: false,
        };
        let streams = company.app.streams();
        let (stream, _listening) = streams.listen(company.actor(persona)?, &request).await?;
        Ok(Self { stream, _listening })
    }

    /// Answers what is heard, until the stream ends.
    async fn answer(mut self, company: &Company, persona: Persona) -> Result<(), Error> {
        let mut turn = 0;
        while let Some(batch) = self.stream.next().await {
            for line in batch.into_bytes().split(|byte| *byte == b'\n') {
                if let Some(message) = Overheard::read(company, line)
                    && is_for(company, &message, persona)
                {
                    // The message may be gone meanwhile. The next one is answered all the same.
                    if let Err(error) = respond(company, persona, &message, turn).await {
                        tracing::debug!(%error, "a message was not answered");
                    }
                    turn += 1;
                }
            }
        }
        Ok(())
    }
}

/// Listens as this person, and answers.
pub(super) async fn listen(
    company: Company,
    persona: Persona,
    mut opened: Result<Attention, Error>,
) {
    loop {
        let outcome = match opened {
            Ok(attention) => attention.answer(&company, persona).await,
            Err(error) => Err(error),
        };
        if let Err(error) = outcome {
            tracing::debug!(%error, "a person of the demonstration did not listen");
        }
        // The person may have been removed, and added again.
        pause(Duration::from_secs(10)).await;
        opened = Attention::open(&company, persona).await;
    }
}

fn is_for(company: &Company, message: &Overheard, persona: Persona) -> bool {
    match message.spot {
        Some(_) => message.addressee() == persona,
        None => company.user_id(persona) != Some(message.by),
    }
}

/// Reacts to a message and answers it, where it stands.
async fn respond(
    company: &Company,
    persona: Persona,
    message: &Overheard,
    turn: usize,
) -> Result<(), Error> {
    let text = message.answer(persona, turn);
    pause(READING).await;
    let Some(spot) = &message.spot else {
        pause(WRITING).await;
        return whisper(company, persona, message.by, text).await;
    };
    let emoji = Tone::of(&message.text).emoji();
    company
        .react(persona, &spot.flow, message.id, emoji)
        .await?;
    pause(WRITING).await;
    company.say(persona, spot, text).await.map(drop)
}

/// Says something in private.
pub(super) async fn whisper(
    company: &Company,
    persona: Persona,
    to: UserId,
    text: &str,
) -> Result<(), Error> {
    let app: &App = &company.app;
    let actor = company.actor(persona)?;
    let room = app.rooms().private(actor, to, MessageAction::Post).await?;
    let post = NewPost::of(MessageKind::Message, text.to_owned());
    app.messages().post(actor, room, post).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overheard(id: i64, text: &str) -> Overheard {
        Overheard {
            id: MessageId(id),
            by: UserId(1),
            text: text.to_owned(),
            spot: Some(Spot::chat(MAIN)),
            is_about_item: false,
        }
    }

    #[test]
    fn who_is_mentioned_answers() {
        for (text, persona) in [
            ("@Hedy looks good", Persona::Hedy),
            ("Can you look, @katherine?", Persona::Katherine),
            ("(@Charles, @Grace)", Persona::Charles),
        ] {
            assert_eq!(overheard(7, text).addressee(), persona, "{text}");
        }
    }

    #[test]
    fn without_a_mention_the_people_take_turns() {
        let of = |id| overheard(id, "@everyone hello, @Ada").addressee();
        assert_ne!(of(1), of(2));
        assert_eq!(of(1), of(5));
    }

    #[test]
    fn an_answer_fits_what_was_written() {
        for (text, tone) in [
            ("Good morning!", Tone::Greeting),
            ("Thanks, that helps", Tone::Thanks),
            ("Hi, is it done?", Tone::Question),
            ("This is it", Tone::Statement),
            ("", Tone::File),
        ] {
            assert_eq!(Tone::of(text), tone, "{text}");
        }
    }
}
