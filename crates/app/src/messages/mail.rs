//! Mails, as old scripts push them (docs/protocol.md, Pushing).

use std::sync::Arc;

use eddyline_model::items::{Item, MAX_BODY_BYTES, MAX_TITLE_CHARS};
use eddyline_model::names::check_external_name;
use eddyline_wire::is_unseen;
use serde_json::{Value, json};

use super::prepared::Prepared;
use crate::{Error, FieldErrors, Result};

/// The longest address, or project, of a mail, in characters.
const MAX_SHORT_CHARS: usize = 255;

/// A mail as it is pushed.
#[derive(Clone, Debug, Default)]
pub struct PushedMail {
    /// What pushes it; becomes the tag `:source:<name>`.
    pub source: String,
    /// The address it is from.
    pub from_address: String,
    /// The name of its sender.
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
}

impl PushedMail {
    /// The mail as it is kept, with its HTML made harmless.
    ///
    /// # Errors
    ///
    /// [`Error::invalid`].
    pub(super) fn prepare(&self) -> Result<Prepared> {
        let written = eddyline_markup::body(&self.content, |_| None);
        let errors = self.mistakes(&written);
        if !errors.is_empty() {
            return Err(Error::invalid_fields(errors));
        }
        let title = eddyline_markup::escape(&self.subject);
        let item = Item {
            title: title.clone(),
            external_url: self.link.clone(),
            ..Item::default()
        };
        Ok(Prepared {
            content: self.document(&written).to_string(),
            title,
            item: Some(Arc::new(item)),
            tag: Some(format!(":source:{}", self.source)),
        })
    }

    fn mistakes(&self, written: &str) -> FieldErrors {
        let mut errors = FieldErrors::new();
        let mut wrong =
            |name: &str, text: String| errors.entry(name.to_owned()).or_default().push(text);
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
        if !self
            .source
            .chars()
            .all(|c| c.is_alphanumeric() || " _-.".contains(c))
        {
            wrong(
                "source",
                "must be of letters, digits, blanks, hyphens, dots and underscores".into(),
            );
        }
        for (name, address) in [
            ("from_address", Some(&self.from_address)),
            ("reply_to", self.reply_to.as_ref()),
        ] {
            let wrong_in = |address: &String| {
                let (name, host) = address.split_once('@').unwrap_or_default();
                let odd = address.chars().any(|c| c.is_whitespace() || is_unseen(c));
                name.is_empty() || host.is_empty() || odd
            };
            if address.is_some_and(|address| !address.trim().is_empty() && wrong_in(address)) {
                wrong(name, "is not an e-mail address".into());
            }
        }
        if let Some(Err(text)) = self.from_name.as_deref().map(check_external_name) {
            wrong("from_name", text.to_string());
        }
        if self.subject.chars().any(is_unseen) {
            wrong("subject", "can't contain control characters".into());
        }
        if self.content.len() > MAX_BODY_BYTES {
            wrong(
                "content",
                format!("is too long (maximum is {MAX_BODY_BYTES} bytes)"),
            );
        }
        if let Some(Err(text)) = self.link.as_deref().map(eddyline_wire::check_url) {
            wrong("link", text.to_owned());
        }
        if written.trim().is_empty() && !errors.contains_key("content") {
            errors.insert("content".to_owned(), vec!["can't be blank".to_owned()]);
        }
        errors
    }

    fn document(&self, written: &str) -> Value {
        let reply_to: Vec<Value> = self
            .reply_to
            .iter()
            .map(|address| json!({"name": null, "address": address}))
            .collect();
        json!({
            "subject": self.subject,
            "content": written,
            "contentType": "text/html",
            "from": [{"name": self.from_name, "address": self.from_address}],
            "to": [],
            "cc": [],
            "bcc": [],
            "replyTo": reply_to,
            "source": self.source,
            "project": self.project,
            "link": self.link,
        })
    }
}
