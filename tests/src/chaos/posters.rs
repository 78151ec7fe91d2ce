//! Those who post, and those who read lists meanwhile: good clients, which send what was not
//! clearly answered again under the same uuid.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use eddyline_client::requests::EditMessage;
use eddyline_client::{
    Client, Credentials, Error, FlowClient, Json, MessageQuery, NewMessage, Posted,
};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::interval;

use super::checker::Answer;
use super::deeds::{Deeds, edited_text_of, text_of};
use super::plan::Random;
use super::ways::Ways;

/// How many messages a poster remembers to answer or edit.
const REMEMBERED: usize = 20;
/// How long a reader rests between two lists.
const READERS_REST: Duration = Duration::from_millis(15);

/// The organization and the flow that everything happens in.
pub(crate) const FLOW: (&str, &str) = ("acme", "main");

fn flow(client: &Client) -> FlowClient {
    client.flow(FLOW.0, FLOW.1)
}

/// How posters post.
#[derive(Clone, Debug, Default)]
pub struct Manner {
    /// Whether comments, edits, files and what an integration pushes are among the posts.
    pub varied: bool,
    /// The time from one post of a poster to its next; 0 for no rest at all.
    pub pace: Duration,
    /// Stands at the end of each text.
    pub filler: String,
}

/// One who posts.
pub(crate) struct Poster {
    name: String,
    ways: Ways,
    deeds: Arc<Deeds>,
    manner: Arc<Manner>,
    random: Random,
    /// With which it pushes.
    flow_token: String,
    /// Chat of its own, as number and name, neither answered nor edited yet.
    known: VecDeque<(i64, String)>,
}

impl Poster {
    /// A poster, with whose name those of its messages begin.
    pub(crate) fn new(
        name: &str,
        ways: Ways,
        deeds: &Arc<Deeds>,
        manner: &Arc<Manner>,
        random: Random,
        flow_token: &str,
    ) -> Self {
        let (deeds, manner) = (Arc::clone(deeds), Arc::clone(manner));
        let (name, flow_token) = (name.to_owned(), flow_token.to_owned());
        Self {
            name,
            ways,
            deeds,
            manner,
            random,
            flow_token,
            known: VecDeque::new(),
        }
    }

    /// Posts until it is told to stop.
    pub(crate) async fn work(mut self, stop: watch::Receiver<bool>) {
        let mut pace = interval(self.manner.pace.max(Duration::from_micros(1)));
        for number in 0.. {
            if !self.manner.pace.is_zero() {
                pace.tick().await;
            }
            if *stop.borrow() {
                return;
            }
            let name = format!("{}-{number}", self.name);
            match self.random.below(10) {
                0 if self.manner.varied => self.edit().await,
                1 | 2 if self.manner.varied => self.comment(&name).await,
                3 if self.manner.varied => self.push(&name).await,
                4 if self.manner.varied => self.send_file(&name).await,
                _ => self.chat(&name).await,
            }
        }
    }

    async fn chat(&mut self, name: &str) {
        let request = Request::Chat(self.message("message", name));
        if let Some(Answer::Numbered(id)) = self.post(name, &request).await {
            self.known.push_back((id, name.to_owned()));
            if self.known.len() > REMEMBERED {
                self.known.pop_front();
            }
        }
    }

    async fn comment(&mut self, name: &str) {
        let Some((parent, _)) = self.known.front().cloned() else {
            return self.chat(name).await;
        };
        let request = Request::Comment(parent, self.message("comment", name));
        self.post(name, &request).await;
    }

    /// Pushes an activity into one of a few threads, half of them with a new state.
    async fn push(&mut self, name: &str) {
        let mut message = self.message("activity", name);
        let thread = format!("t{}", self.random.below(5));
        if self.random.once_in(2) {
            message.thread =
                Some(json!({"title": name, "status": {"value": name, "color": "blue"}}));
        }
        (message.content, message.title) = (Json::Null, Some(text_of(name, "")));
        message.external_thread_id = Some(thread);
        let request = Request::Push(message, self.flow_token.clone());
        self.post(name, &request).await;
    }

    /// Sends a small file; some hold the same bytes.
    async fn send_file(&mut self, name: &str) {
        let bytes = vec![b'x'; usize::try_from(self.random.below(3000)).expect("a small number")];
        let mut message = self.message("file", name);
        message.content = json!({
            "data": BASE64_STANDARD.encode(bytes), "content_type": "text/plain",
            "file_name": text_of(name, "").trim_end(),
        });
        self.post(name, &Request::Chat(message)).await;
    }

    /// Edits a message that it has not edited yet.
    async fn edit(&mut self) {
        let Some((message, name)) = self.known.pop_front() else {
            return;
        };
        let content = Some(edited_text_of(&name));
        let request = Request::Edit(
            message,
            EditMessage {
                content,
                ..EditMessage::default()
            },
        );
        self.deeds.begin_edit(message);
        if self.until_clear(&request).await.is_some() {
            self.deeds.edited(message);
        }
    }

    /// A message, of which half are to be answered in full. Some have no uuid; what comes of these
    /// when there is no clear answer is the server's doing alone, since they are not sent again.
    fn message(&mut self, event: &str, name: &str) -> NewMessage {
        let message = NewMessage::new(event, text_of(name, &self.manner.filler));
        let message = if self.random.once_in(4) {
            message
        } else {
            message.uuid(name)
        };
        if self.random.once_in(2) {
            message.wait()
        } else {
            message
        }
    }

    async fn post(&mut self, name: &str, request: &Request) -> Option<Answer> {
        self.deeds.begin_message(name);
        let posted = self.until_clear(request).await?;
        let answer = posted
            .into_message()
            .map_or(Answer::Accepted, |message| Answer::Numbered(message.id));
        self.deeds.answered(name, answer);
        Some(answer)
    }

    /// Sends it until it is granted. Now and then it leaves it at a failure, as people do.
    async fn until_clear(&mut self, request: &Request) -> Option<Posted> {
        loop {
            let error = match request.send(self.ways.client()).await {
                Ok(posted) => return Some(posted),
                Err(error) => error,
            };
            self.deeds.post_failed(&error);
            self.ways.move_on(Some(&error)).await;
            if !request.can_be_repeated() || self.random.once_in(12) {
                return None;
            }
        }
    }
}

/// What a poster sends, and may have to send again.
enum Request {
    Chat(NewMessage),
    Comment(i64, NewMessage),
    Edit(i64, EditMessage),
    Push(NewMessage, String),
}

impl Request {
    fn can_be_repeated(&self) -> bool {
        match self {
            Self::Chat(message) | Self::Comment(_, message) | Self::Push(message, _) => {
                message.uuid.is_some()
            }
            Self::Edit(..) => true,
        }
    }

    async fn send(&self, client: &Client) -> Result<Posted, Error> {
        let flow = flow(client);
        match self {
            Self::Chat(message) => flow.post(message).await,
            Self::Comment(parent, comment) => flow.comment(*parent, comment).await,
            Self::Push(message, token) => {
                client
                    .with_credentials(Credentials::FlowToken(token.clone()))
                    .post(message)
                    .await
            }
            Self::Edit(message, change) => {
                flow.edit(*message, change).await.map(|()| Posted::Accepted)
            }
        }
    }
}

/// Posts one message until it is answered, and gives its number.
pub(crate) async fn post_surely(mut ways: Ways, deeds: &Deeds, name: &str) -> i64 {
    let message = NewMessage::chat(&text_of(name, "")).uuid(name).wait();
    deeds.begin_message(name);
    loop {
        match flow(ways.client()).post(&message).await {
            Ok(Posted::Message(message)) => {
                deeds.answered(name, Answer::Numbered(message.id));
                return message.id;
            }
            Ok(Posted::Accepted) => {}
            Err(error) => {
                deeds.post_failed(&error);
                ways.move_on(Some(&error)).await;
            }
        }
    }
}

/// Reads lists, and searches, until it is told to stop.
pub(crate) async fn read(mut ways: Ways, deeds: Arc<Deeds>, stop: watch::Receiver<bool>) {
    for number in 0_usize.. {
        if *stop.borrow() {
            return;
        }
        let query = MessageQuery::new();
        let query = if number.is_multiple_of(5) {
            query.search("said")
        } else {
            query
        };
        match flow(ways.client()).messages(&query).await {
            Ok(_) => deeds.read(),
            Err(error) => {
                deeds.read_failed(&error);
                ways.move_on(Some(&error)).await;
            }
        }
        tokio::time::sleep(READERS_REST).await;
    }
}
