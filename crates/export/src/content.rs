//! Contents and tags as an archive has them: where the server names a user by number, the archive
//! has the number of the person.

use eddyline_model::UserId;
use eddyline_model::messages::{Message, MessageKind};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::people::People;
use crate::{Error, Result};

/// The beginnings of tags behind which a user stands.
const TAGS_OF_USERS: [&str; 3] = [":user:", ":unread:", ":highlight:"];

/// A tag with the number of a person in place of that of a user. Names stay.
pub(crate) fn tag(people: &People, tag: &str) -> String {
    for prefix in TAGS_OF_USERS {
        let user = tag.strip_prefix(prefix).and_then(|user| user.parse().ok());
        if let Some(user) = user {
            return format!("{prefix}{}", people.number(UserId(user)));
        }
    }
    tag.to_owned()
}

pub(crate) fn tags<T: AsRef<str>>(
    people: &People,
    tags: impl IntoIterator<Item = T>,
) -> Vec<String> {
    let tags = tags.into_iter();
    tags.map(|text| tag(people, text.as_ref())).collect()
}

/// The content of a message: a text, or a document.
pub(crate) fn content(people: &People, message: &Message) -> Result<Box<RawValue>> {
    match message.event {
        event if event.has_text() => json(&message.content),
        MessageKind::TagChange => tag_change(people, &message.content),
        MessageKind::Action => action(people, &message.content),
        _ => document(&message.content),
    }
}

/// A document as it is kept, on one line.
pub(crate) fn document(text: &str) -> Result<Box<RawValue>> {
    let read = serde_json::from_str::<&RawValue>(text).map_err(|_| Error::Corrupt("document"))?;
    if !text.contains(['\n', '\r']) {
        return Ok(read.to_owned());
    }
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|_| Error::Corrupt("document"))?;
    json(&value)
}

fn json(value: &(impl Serialize + ?Sized)) -> Result<Box<RawValue>> {
    to_raw_value(value).map_err(|error| eddyline_archive::Error::from(error).into())
}

#[derive(Serialize, Deserialize)]
struct TagChange {
    message: i64,
    #[serde(default)]
    add: Vec<String>,
    #[serde(default)]
    remove: Vec<String>,
}

fn tag_change(people: &People, text: &str) -> Result<Box<RawValue>> {
    let kept: TagChange = serde_json::from_str(text).map_err(|_| Error::Corrupt("tag change"))?;
    json(&TagChange {
        message: kept.message,
        add: tags(people, &kept.add),
        remove: tags(people, &kept.remove),
    })
}

#[derive(Serialize, Deserialize)]
struct Happened {
    #[serde(rename = "type")]
    kind: String,
    description: Box<RawValue>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfUser {
    user: i64,
}

fn action(people: &People, text: &str) -> Result<Box<RawValue>> {
    let mut kept: Happened = serde_json::from_str(text).map_err(|_| Error::Corrupt("action"))?;
    if let Ok(OfUser { user }) = serde_json::from_str(kept.description.get()) {
        let user = people.number(UserId(user)).into();
        kept.description = json(&OfUser { user })?;
    }
    json(&kept)
}
