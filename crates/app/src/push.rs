//! The older push addresses, which thousands of scripts still use (docs/protocol.md, Pushing): chat and
//! mail for one or several flows whose tokens stand in the path.

use std::sync::Arc;

use eddyline_auth::Secret;
use eddyline_model::MessageId;
use eddyline_model::items::{Item, MAX_BODY_BYTES, MAX_TITLE_CHARS};
use eddyline_model::messages::{Event, ThreadPost};
use eddyline_model::policy::FlowDeed;
use eddyline_wire::is_unseen;
use serde_json::json;

use crate::actor::Actor;
use crate::messages::{NewPost, check_tags, check_text};
use crate::rooms::Room;
use crate::{App, Error, FieldErrors, Result};

/// The most tokens of one path.
const MAX_TOKENS: usize = 20;
/// The longest address, name or project of a mail, in characters.
const MAX_SHORT_CHARS: usize = 255;

/// A mail as it is pushed.
#[derive(Clone, Debug, Default)]
pub struct NewMail {
    /// What pushes it; becomes the tag `:source:<name>`.
    pub source: String,
    /// The address it is from.
    pub from_address: String,
    /// The name of whoever it is from.
    pub from_name: Option<String>,
    /// Where an answer would go.
    pub reply_to: Option<String>,
    /// What it is about.
    pub subject: String,
    /// What it says, in HTML.
    pub content: String,
    /// What it belongs to.
    pub project: Option<String>,
    /// Where more is to be read.
    pub link: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
}

/// A flow to push to.
#[derive(Debug)]
pub struct Pushing {
    actor: Actor,
    room: Arc<Room>,
}

impl App {
    /// The flows whose tokens stand in a path, with commas between them. All must be good.
    ///
    /// # Errors
    ///
    /// [`Error::Unauthenticated`], [`Error::Gone`], [`Error::NotFound`] for an archived flow.
    pub async fn pushing(&self, tokens: &str) -> Result<Vec<Pushing>> {
        let mut all = Vec::new();
        let mut distinct: Vec<&str> = tokens.split(',').filter(|token| !token.is_empty()).collect();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() > MAX_TOKENS {
            return Err(Error::field("token", format!("can't be more than {MAX_TOKENS}")));
        }
        for token in distinct {
            let actor = self.by_flow_token(&Secret::presented(token.to_owned())).await?;
            let Actor::FlowToken { room, .. } = &actor else { return Err(Error::Denied) };
            let room = self.admit(&actor, *room, FlowDeed::Post).await?;
            all.push(Pushing { actor, room });
        }
        if all.is_empty() { Err(Error::Unauthenticated("The flow token is not valid")) } else { Ok(all) }
    }

    /// Posts chat into each of the flows, as a comment where `parent` says so.
    ///
    /// # Errors
    ///
    /// As [`App::post`]. What was posted before the failure stays.
    pub async fn push_chat(&self, to: &[Pushing], new: NewPost, parent: Option<MessageId>) -> Result<()> {
        if parent.is_some() && to.len() > 1 {
            return Err(Error::field("message_id", "belongs to one flow; push it there alone"));
        }
        // Before anything is posted anywhere.
        check_text(&new.content)?;
        for Pushing { actor, room } in to {
            check_tags(&new.tags, room.people())?;
            self.count_request(actor)?;
        }
        for Pushing { actor, room } in to {
            let event = if parent.is_some() { Event::Comment } else { Event::Message };
            let new = NewPost { event, parent, ..new.clone() };
            self.post(actor, room.clone(), new).await?;
        }
        Ok(())
    }

    /// Posts a mail into the inbox of each of the flows.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], and as [`App::post`]. What was posted before the failure stays.
    pub async fn push_mail(&self, to: &[Pushing], mail: NewMail) -> Result<()> {
        mail.check()?;
        for Pushing { actor, room } in to {
            check_tags(&mail.tags, room.people())?;
            self.count_request(actor)?;
        }
        for Pushing { actor, room } in to {
            let mut new = NewPost::of(Event::Mail, mail.document());
            new.tags = mail.tags.iter().cloned().chain([format!(":source:{}", mail.source)]).collect();
            new.external_user_name = mail.from_name.clone();
            new.mail = Some(Arc::new(Item {
                title: eddyline_markup::escape(&mail.subject),
                external_url: mail.link.clone(),
                ..Item::default()
            }));
            self.post(actor, room.clone(), new).await?;
        }
        Ok(())
    }
}

impl NewMail {
    fn check(&self) -> Result<()> {
        let mut errors = FieldErrors::new();
        let mut wrong = |name: &str, text: String| errors.entry(name.to_owned()).or_default().push(text);
        let short = [
            ("source", Some(&self.source), 60),
            ("from_address", Some(&self.from_address), MAX_SHORT_CHARS),
            ("from_name", self.from_name.as_ref(), 100),
            ("reply_to", self.reply_to.as_ref(), MAX_SHORT_CHARS),
            ("project", self.project.as_ref(), MAX_SHORT_CHARS),
            ("subject", Some(&self.subject), MAX_TITLE_CHARS),
        ];
        for (name, text, most) in short {
            if text.is_some_and(|text| text.chars().count() > most) {
                wrong(name, format!("is too long (maximum is {most} characters)"));
            }
        }
        let needed = [
            ("source", &self.source),
            ("from_address", &self.from_address),
            ("subject", &self.subject),
            ("content", &self.content),
        ];
        for (name, text) in needed {
            if text.trim().is_empty() {
                wrong(name, "can't be blank".into());
            }
        }
        if !self.source.chars().all(|c| c.is_alphanumeric() || " _-.".contains(c)) {
            wrong("source", "must be of letters, digits, blanks, hyphens, dots and underscores".into());
        }
        for (name, address) in
            [("from_address", Some(&self.from_address)), ("reply_to", self.reply_to.as_ref())]
        {
            let wrong_in = |address: &String| {
                let (name, host) = address.split_once('@').unwrap_or_default();
                let odd = address.chars().any(|c| c.is_whitespace() || is_unseen(c));
                name.is_empty() || host.is_empty() || odd
            };
            if address.is_some_and(|address| !address.trim().is_empty() && wrong_in(address)) {
                wrong(name, "is not an e-mail address".into());
            }
        }
        if self.subject.chars().any(is_unseen) {
            wrong("subject", "can't contain control characters".into());
        }
        if self.content.len() > MAX_BODY_BYTES {
            wrong("content", format!("is too long (maximum is {MAX_BODY_BYTES} bytes)"));
        }
        if let Some(Err(text)) = self.link.as_deref().map(eddyline_wire::check_url) {
            wrong("link", text.to_owned());
        }
        let written = eddyline_markup::body(&self.content, |_| None);
        if written.trim().is_empty() && !errors.contains_key("content") {
            errors.insert("content".to_owned(), vec!["can't be blank".to_owned()]);
        }
        if errors.is_empty() { Ok(()) } else { Err(Error::Invalid(errors)) }
    }

    /// What is kept as the content.
    fn document(&self) -> String {
        let from = json!([{"name": self.from_name, "address": self.from_address}]);
        let reply_to: Vec<_> =
            self.reply_to.iter().map(|address| json!({"name": null, "address": address})).collect();
        json!({
            "subject": self.subject,
            "content": eddyline_markup::body(&self.content, |_| None),
            "contentType": "text/html",
            "from": from,
            "to": [],
            "cc": [],
            "bcc": [],
            "replyTo": reply_to,
            "source": self.source,
            "project": self.project,
            "link": self.link,
        })
        .to_string()
    }
}

/// The thread that begins with a mail.
pub(crate) fn thread_post(item: &Arc<Item>, actor: &Actor) -> Option<ThreadPost> {
    let Actor::FlowToken { keeper, source, .. } = actor else { return None };
    Some(ThreadPost {
        keeper: *keeper,
        source: source.clone(),
        external_id: None,
        begins: true,
        item: Some(item.clone()),
        title: String::new(),
    })
}
