//! Times, addresses, and the objects that integrations send.

use std::convert::Infallible;

use eddyline_model::Timestamp;
use eddyline_model::applications::{MAX_REDIRECT_URIS, RedirectUri};
use eddyline_model::items::Item;
use eddyline_model::names::display_name;
use serde::Serialize;
use serde_json::{Value, json};

use super::Kind;
use crate::author::Author;
use crate::items::{read_author, read_item};
use crate::params::ParamReader;
use crate::reading::{FieldErrors, MAX_URL, check_url};

fn noted<T>(
    reader: &mut ParamReader<'_>,
    name: &str,
    read: impl FnOnce(&Value, &mut FieldErrors) -> Option<T>,
) -> Option<T> {
    let mut errors = FieldErrors::new();
    let found = reader
        .value(name)
        .and_then(|value| read(value, &mut errors));
    for (name, texts) in errors {
        texts.into_iter().for_each(|text| reader.error(&name, text));
    }
    found
}

fn as_json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// A time of ISO 8601. An empty text is none.
#[must_use]
pub fn time() -> Time {
    Time
}

/// See [`time`].
#[derive(Clone, Debug)]
pub struct Time;

impl Kind for Time {
    type Value = Timestamp;

    fn read(&self, reader: &mut ParamReader<'_>, name: &str) -> Option<Timestamp> {
        let text = reader
            .opt_text(name, 0..=100)
            .filter(|text| !text.is_empty())?;
        let time = Timestamp::parse_iso8601(&text);
        if time.is_none() {
            reader.error(name, "must be a time such as 2026-01-31T12:00:00.000Z");
        }
        time
    }

    fn write(&self, value: &Timestamp) -> Value {
        value.to_string().into()
    }

    fn schema(&self) -> Value {
        json!({"type": "string", "format": "date-time"})
    }
}

/// An address on the web, or an empty text.
#[must_use]
pub fn address() -> Address {
    Address
}

/// See [`address`].
#[derive(Clone, Debug)]
pub struct Address;

impl Kind for Address {
    type Value = String;

    fn read(&self, reader: &mut ParamReader<'_>, name: &str) -> Option<String> {
        // How long it may be is a part of the check.
        let text = reader.opt_text(name, 0..=usize::MAX)?;
        match check_url(&text) {
            Err(wrong) if !text.is_empty() => {
                reader.error(name, wrong);
                None
            }
            _ => Some(text),
        }
    }

    fn write(&self, value: &String) -> Value {
        value.as_str().into()
    }

    fn schema(&self) -> Value {
        json!({"type": "string", "maxLength": MAX_URL})
    }
}

/// The author of an activity or a discussion.
#[must_use]
pub fn author_object() -> AuthorObject {
    AuthorObject
}

/// See [`author_object`].
#[derive(Clone, Debug)]
pub struct AuthorObject;

impl Kind for AuthorObject {
    type Value = Author;

    fn read(&self, reader: &mut ParamReader<'_>, name: &str) -> Option<Author> {
        noted(reader, name, read_author)
    }

    fn write(&self, value: &Author) -> Value {
        as_json(value)
    }

    fn schema(&self) -> Value {
        json!({"type": "object", "additionalProperties": true})
    }
}

/// The state of an outside item.
#[must_use]
pub fn item_object() -> ItemObject {
    ItemObject
}

/// See [`item_object`].
#[derive(Clone, Debug)]
pub struct ItemObject;

impl Kind for ItemObject {
    type Value = Item;

    fn read(&self, reader: &mut ParamReader<'_>, name: &str) -> Option<Item> {
        noted(reader, name, read_item)
    }

    fn write(&self, value: &Item) -> Value {
        as_json(value)
    }

    fn schema(&self) -> Value {
        json!({"type": "object", "additionalProperties": true})
    }
}

/// Files, which come as parts of a form and never among the parameters.
#[must_use]
pub fn files() -> Files {
    Files
}

/// See [`files`].
#[derive(Clone, Debug)]
pub struct Files;

impl Kind for Files {
    type Value = Infallible;

    fn read(&self, reader: &mut ParamReader<'_>, name: &str) -> Option<Infallible> {
        if reader.has(name) {
            reader.error(name, "are files: send them as parts of multipart/form-data");
        }
        None
    }

    fn write(&self, value: &Infallible) -> Value {
        match *value {}
    }

    fn schema(&self) -> Value {
        json!({"type": "object", "additionalProperties": true})
    }
}

/// What an application is that registers itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Registration {
    /// Its name.
    pub name: String,
    /// Where it wants users to be sent back to.
    pub redirect_uris: Vec<RedirectUri>,
}

/// The object that registers an application.
#[must_use]
pub fn registration() -> RegistrationObject {
    RegistrationObject
}

/// See [`registration`].
#[derive(Clone, Debug)]
pub struct RegistrationObject;

impl Kind for RegistrationObject {
    type Value = Registration;

    fn read(&self, reader: &mut ParamReader<'_>, name: &str) -> Option<Registration> {
        let object = reader.object(name, "must be an object with name and redirect_uri")?;
        let within = |within: &str| format!("{name}[{within}]");
        let mut text = |wanted: &str| {
            let text = reader.opt_text_in(object, name, wanted);
            if text.is_none() && !reader.is_wrong(&within(wanted)) {
                reader.error(&within(wanted), "is required");
            }
            text
        };
        let (told, uris) = (text("name"), text("redirect_uri"));
        if let Some(Err(wrong)) = told.as_deref().map(display_name) {
            reader.error(&within("name"), wrong.to_string());
        }
        let redirect_uris = read_uris(&uris?, reader, &within("redirect_uri"));
        Some(Registration {
            name: told?,
            redirect_uris,
        })
    }

    fn write(&self, value: &Registration) -> Value {
        let uris: Vec<&str> = value
            .redirect_uris
            .iter()
            .map(RedirectUri::as_str)
            .collect();
        json!({"name": value.name, "redirect_uri": uris.join("\n")})
    }

    fn schema(&self) -> Value {
        json!({"type": "object", "additionalProperties": true})
    }
}

/// Addresses on lines of their own, or between spaces.
fn read_uris(text: &str, reader: &mut ParamReader<'_>, field: &str) -> Vec<RedirectUri> {
    let mut uris = Vec::new();
    for part in text.split_whitespace() {
        match part.parse::<RedirectUri>() {
            Ok(uri) => uris.push(uri),
            Err(wrong) => reader.error(field, wrong.to_string()),
        }
    }
    if uris.len() > MAX_REDIRECT_URIS {
        reader.error(
            field,
            format!("can't be more than {MAX_REDIRECT_URIS} addresses"),
        );
    } else if uris.is_empty() && !reader.is_wrong(field) {
        reader.error(field, "can't be blank");
    }
    uris
}
