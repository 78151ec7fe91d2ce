//! A message as a page shows it.

use std::collections::HashMap;

use serde::Deserialize;
use time::OffsetDateTime;
use time::macros::format_description;

use crate::paths;
use crate::records::{AttachedFile, MessageRecord, PersonNumber};

/// The media types that browsers show as pictures, and that hold no scripts.
const PICTURES: [&str; 4] = ["image/gif", "image/jpeg", "image/png", "image/webp"];

#[derive(Debug)]
pub(super) struct PageRow {
    pub(super) id: i64,
    pub(super) date: String,
    pub(super) time: String,
    pub(super) moment: String,
    pub(super) author: String,
    /// The message that it answers, and whether that is on the same page.
    pub(super) answers: Option<(i64, bool)>,
    pub(super) heading: Option<String>,
    pub(super) html: String,
    pub(super) is_deleted: bool,
    pub(super) is_edited: bool,
    /// Whether a tool or the server says it.
    pub(super) is_aside: bool,
    pub(super) tags: Vec<String>,
    pub(super) files: Vec<ShownFile>,
    pub(super) reactions: Vec<(String, String)>,
}

#[derive(Debug)]
pub(super) struct ShownFile {
    pub(super) name: String,
    pub(super) address: String,
    pub(super) size: u64,
    pub(super) is_picture: bool,
    pub(super) width: Option<i64>,
    pub(super) height: Option<i64>,
}

/// What a page reads in the document of a message.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    author: Option<DocumentAuthor>,
    title: String,
    subject: String,
    body: String,
    content: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    description: serde_json::Value,
}

#[derive(Deserialize)]
struct DocumentAuthor {
    #[serde(default)]
    name: String,
}

impl PageRow {
    /// `None` for a notice, which lists do not show.
    pub(super) fn new(
        message: &MessageRecord,
        heading: Option<&str>,
        names: &HashMap<PersonNumber, String>,
    ) -> Option<Self> {
        let event = message.event.as_str();
        let name = |number: PersonNumber| names.get(&number).map_or("somebody", String::as_str);
        let mut named = message.external_name.clone();
        let html = match event {
            "message" | "comment" => eddyline_markup::chat(&text(message)),
            "status" => format!("<i>is:</i> {}", eddyline_markup::chat(&text(message))),
            "file" => String::new(),
            "activity" | "discussion" | "mail" | "action" => {
                let document: Document =
                    serde_json::from_str(message.content.get()).unwrap_or_default();
                named = named.or(document.author.as_ref().map(|author| author.name.clone()));
                document.html()
            }
            _ => return None,
        };
        let author = match message.author {
            Some(number) => name(number).to_owned(),
            None => named
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| "Anonymous".to_owned()),
        };
        let sent = moment(message.sent);
        let who = |people: &[PersonNumber]| {
            let names: Vec<&str> = people.iter().map(|number| name(*number)).collect();
            names.join(", ")
        };
        Some(Self {
            id: message.id,
            date: sent
                .format(format_description!("[year]-[month]-[day]"))
                .unwrap_or_default(),
            time: sent
                .format(format_description!("[hour]:[minute]"))
                .unwrap_or_default(),
            moment: sent
                .format(format_description!(
                    "[year]-[month]-[day]T[hour]:[minute]:[second]Z"
                ))
                .unwrap_or_default(),
            author,
            answers: message.parent.map(|id| (id, false)),
            heading: heading.map(eddyline_markup::text),
            html,
            is_deleted: message.deleted,
            is_edited: message.edited.is_some() && !message.deleted,
            is_aside: !matches!(event, "message" | "comment" | "status" | "file"),
            // Texts show their own.
            tags: message
                .explicit_tags
                .iter()
                .filter(|tag| !tag.starts_with(':'))
                .cloned()
                .collect(),
            files: message.files.iter().map(ShownFile::new).collect(),
            reactions: message
                .reactions
                .iter()
                .map(|reaction| (reaction.emoji.clone(), who(&reaction.people)))
                .collect(),
        })
    }

    /// The same on a page that begins with another row.
    pub(super) fn on_page_from(mut self, first: Option<&Self>) -> Self {
        if let (Some((id, is_here)), Some(first)) = (&mut self.answers, first) {
            *is_here = *id >= first.id;
        }
        self
    }
}

impl Document {
    fn html(&self) -> String {
        if let Some(kind) = &self.kind {
            let description = match &self.description {
                serde_json::Value::String(text) => text.clone(),
                serde_json::Value::Null => String::new(),
                other => other.to_string(),
            };
            let words = format!("{} {description}", kind.replace('_', " "));
            return eddyline_markup::escape(words.trim());
        }
        let heading = match self.title.is_empty() {
            true => eddyline_markup::escape(&self.subject),
            false => eddyline_markup::title(&self.title),
        };
        let body = match self.body.is_empty() {
            true => &self.content,
            false => &self.body,
        };
        let body = eddyline_markup::body(body, |_| None);
        match (heading.is_empty(), body.is_empty()) {
            (_, true) => heading,
            (true, false) => body,
            (false, false) => format!("{heading}\n{body}"),
        }
    }
}

impl ShownFile {
    fn new(file: &AttachedFile) -> Self {
        Self {
            name: file.name.clone(),
            address: format!("../../{}", paths::file(&file.sha256.0)),
            size: file.size,
            is_picture: PICTURES.contains(&file.content_type.as_str()),
            width: file.width,
            height: file.height,
        }
    }
}

fn text(message: &MessageRecord) -> String {
    serde_json::from_str(message.content.get()).unwrap_or_default()
}

fn moment(milliseconds: i64) -> OffsetDateTime {
    let seconds = milliseconds.div_euclid(1000);
    OffsetDateTime::from_unix_timestamp(seconds).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}
