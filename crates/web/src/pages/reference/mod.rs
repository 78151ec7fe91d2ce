//! The reference of the API for people, made of the documents that the server gives to programs.
//!
//! It is the same for every reader, in English as the documents are, and needs no script: one is there
//! for the filter.

mod curl;
mod operation;

use std::sync::OnceLock;

use askama::Template;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use eddyline_http::ApiDescription;
use http::HeaderMap;
use serde_json::Value;

use self::operation::{OperationView, pretty};
use crate::Site;
use crate::answer::public_page;
use crate::error::PageError;
use crate::pages::assets;
use crate::theme::Theme;

/// The page as it was written for each choice of colours. It takes milliseconds to write, so each is
/// written once.
#[derive(Default)]
pub(crate) struct WrittenReference([OnceLock<Bytes>; 3]);

/// A group of operations.
struct GroupView {
    name: String,
    /// By which links name it.
    anchor: String,
    text: String,
    operations: Vec<OperationView>,
}

/// An event of the stream.
struct EventView {
    name: String,
    summary: String,
    example: String,
}

#[derive(Template)]
#[template(path = "reference.html")]
struct Reference {
    theme: Option<Theme>,
    script: String,
    /// Where the documents are.
    base: String,
    version: String,
    groups: Vec<GroupView>,
    events: Vec<EventView>,
}

pub(super) async fn show(
    State(site): State<Site>,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let theme = Theme::of(&headers);
    let place = match theme {
        None => 0,
        Some(Theme::Light) => 1,
        Some(Theme::Dark) => 2,
    };
    let text = site.reference.0[place].get_or_init(|| write(&site.description, theme));
    Ok(public_page(text.clone()))
}

fn write(description: &ApiDescription, theme: Option<Theme>) -> Bytes {
    let reference = Reference::of(description, theme);
    reference.render().unwrap_or_default().into()
}

impl Reference {
    fn of(description: &ApiDescription, theme: Option<Theme>) -> Self {
        let api = description.api();
        let base = text(&api["servers"][0]["url"]);
        let operations = operation::all(&api, &base);
        let groups = array(&api["tags"]).iter().map(|tag| {
            let name = text(&tag["name"]);
            let own = operations.iter().filter(|one| one.group == name);
            GroupView {
                anchor: name.to_lowercase().replace(' ', "-"),
                text: text(&tag["description"]),
                operations: own.cloned().collect(),
                name,
            }
        });
        Self {
            theme,
            script: assets::REFERENCE_SCRIPT.url(),
            version: text(&api["info"]["version"]),
            groups: groups
                .filter(|group| !group.operations.is_empty())
                .collect(),
            events: events(&description.streams()),
            base,
        }
    }
}

fn events(document: &Value) -> Vec<EventView> {
    let messages = document["components"]["messages"].as_object();
    let each = messages
        .into_iter()
        .flatten()
        .map(|(name, message)| EventView {
            name: name.clone(),
            summary: text(&message["summary"]),
            example: pretty(&message["examples"][0]["payload"]),
        });
    each.collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
