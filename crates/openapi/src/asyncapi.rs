//! The AsyncAPI 3.0 document of the streams, made of the same descriptions and shapes as the OpenAPI
//! document.

use eddyline_wire::media_types;
use serde_json::{Map, Value, json};

use crate::operation::Operation;
use crate::parameters::{path_parameter, query_parameter};
use crate::response::Shape;
use crate::schemas;
use crate::stream_events::{self, StreamEventSpec};

/// The AsyncAPI document of a server whose streams are under `stream_url`, with these operations. Those
/// that do not answer with a stream of events are left out.
#[must_use]
pub fn asyncapi_document<'a>(
    stream_url: &str,
    is_classic: bool,
    operations: impl IntoIterator<Item = &'a Operation>,
) -> Value {
    let events = stream_events::all(is_classic);
    let operations: Vec<&Operation> = operations
        .into_iter()
        .filter(|one| is_stream(one))
        .collect();
    let channels = operations
        .iter()
        .map(|one| (one.id.to_owned(), channel(one, &events)));
    let messages = events
        .iter()
        .map(|event| (event.name.to_owned(), message(event)));
    let messages: Map<String, Value> = messages.collect();
    json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "Eddyline streams",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": {"name": "MIT OR Apache-2.0"},
        },
        "defaultContentType": media_types::JSON,
        "servers": {"stream": server(stream_url)},
        "channels": channels.collect::<Map<_, _>>(),
        "operations": operations.iter().flat_map(|one| operations_of(one)).collect::<Map<_, _>>(),
        "components": {
            "schemas": schemas_of(&messages, is_classic),
            "messages": messages,
            "securitySchemes": {
                "basic": {"type": "http", "scheme": "basic", "description": "E-mail and password, or an API token as the user name"},
                "oauth": {"type": "http", "scheme": "bearer", "description": "An OAuth 2.0 access token"},
            },
        },
    })
}

const ABOUT: &str = "A stream is the answer to a GET request and has no end. As text/event-stream, each event is one \
    line `data:` with an object, after a line `id:` for events that are kept; a comment is a sign of life. As \
    application/json, each object ends with CR LF, and a lone LF is a sign of life. The server gives a sign of life to a \
    stream that was quiet for 20 seconds. Events come once and in order. A client that was away names the last event as \
    Last-Event-ID, and gets what it missed, or the event reset.";

/// The two forms of a stream, with what names of operations end in.
const FORMS: [(&str, &str); 2] = [
    (media_types::EVENT_STREAM, "Events"),
    (media_types::JSON, "Objects"),
];

fn is_stream(operation: &Operation) -> bool {
    let is_of_events = |shape: &Shape| matches!(shape, Shape::Stream(_));
    let mut shapes = operation
        .answers
        .iter()
        .filter_map(|answer| answer.schema.as_ref());
    shapes.any(is_of_events)
}

/// The server as the document names it: protocol, host and path apart.
fn server(url: &str) -> Value {
    let (protocol, rest) = url.split_once("://").unwrap_or(("http", url));
    let (host, path) = rest
        .split_once('/')
        .map_or((rest, String::new()), |(host, path)| {
            (host, format!("/{}", path.trim_end_matches('/')))
        });
    let security =
        ["basic", "oauth"].map(|name| refer(&format!("#/components/securitySchemes/{name}")));
    let mut server = json!({"host": host, "protocol": protocol, "security": security});
    if path.len() > 1 {
        server["pathname"] = path.into();
    }
    server
}

fn refer(place: &str) -> Value {
    json!({"$ref": place})
}

/// Dots stand in names of events, and slashes nowhere, so a name is its own JSON pointer.
fn channel(operation: &Operation, events: &[StreamEventSpec]) -> Value {
    let messages = events.iter().map(|event| {
        let place = format!("#/components/messages/{}", event.name);
        (event.name.to_owned(), refer(&place))
    });
    let mut channel = json!({
        "address": operation.path,
        "title": operation.summary,
        "messages": messages.collect::<Map<_, _>>(),
    });
    let segments = operation.path.split('/');
    let named = segments.filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    let parameters: Map<String, Value> = named
        .map(|name| {
            let described = path_parameter(operation.id, name);
            let example = described["example"].as_str().unwrap_or_default().to_owned();
            let about = format!("The name of the {name} in URLs");
            (
                name.to_owned(),
                json!({"description": about, "examples": [example]}),
            )
        })
        .collect();
    if !parameters.is_empty() {
        channel["parameters"] = parameters.into();
    }
    channel
}

/// One operation for each form of the stream.
fn operations_of(operation: &Operation) -> impl Iterator<Item = (String, Value)> {
    FORMS
        .map(|(kind, suffix)| {
            let query = operation.parameters.iter().map(|parameter| {
                let mut schema = query_parameter(operation.id, parameter)["schema"].take();
                if parameter.name == "accept" {
                    schema["const"] = kind.into();
                }
                (parameter.name.to_owned(), schema)
            });
            let query: Map<String, Value> = query.collect();
            let scopes: Vec<&str> = operation
                .scopes
                .iter()
                .map(|scope| scope.as_str())
                .collect();
            let described = json!({
                "action": "send",
                "channel": refer(&format!("#/channels/{}", operation.id)),
                "title": format!("{} ({kind})", operation.summary),
                "description": format!(
                    "Ask for it with `Accept: {kind}`. An access token needs one of the scopes {}.",
                    scopes.join(", ")
                ),
                "bindings": {"http": {
                    "method": operation.method.as_str(),
                    "query": {"type": "object", "properties": query},
                    "bindingVersion": "0.3.0",
                }},
            });
            (format!("{}{suffix}", operation.id), described)
        })
        .into_iter()
}

fn message(event: &StreamEventSpec) -> Value {
    json!({
        "name": event.name,
        "title": event.name,
        "summary": event.summary,
        "contentType": media_types::JSON,
        "payload": event.schema,
        "examples": [{"name": event.name, "payload": event.example}],
    })
}

/// The schemas that the messages name, and those that these name.
fn schemas_of(messages: &Map<String, Value>, is_classic: bool) -> Map<String, Value> {
    let all = schemas::all(is_classic);
    let mut needed = Map::new();
    let mut waiting = vec![Value::Object(messages.clone()).to_string()];
    while let Some(text) = waiting.pop() {
        for (name, schema) in &all {
            let is_named = text.contains(&format!("\"#/components/schemas/{name}\""));
            if is_named && !needed.contains_key(name) {
                waiting.push(schema.to_string());
                needed.insert(name.clone(), schema.clone());
            }
        }
    }
    needed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_host_and_path_apart() {
        let named = server("https://chat.example.org/stream");
        assert_eq!(
            (&named["host"], &named["pathname"]),
            (&json!("chat.example.org"), &json!("/stream"))
        );
        assert_eq!(named["protocol"], "https");
        let bare = server("http://127.0.0.1:8081");
        assert_eq!(
            (&bare["host"], &bare["pathname"]),
            (&json!("127.0.0.1:8081"), &Value::Null)
        );
    }

    #[test]
    fn a_schema_that_is_named_brings_those_that_it_names() {
        let event = stream_events::all(false).swap_remove(0);
        let messages = Map::from_iter([("message".to_owned(), message(&event))]);
        let schemas = schemas_of(&messages, false);
        assert!(schemas.contains_key("Message") && schemas.contains_key("Thread"));
        assert!(!schemas.contains_key("Organization"));
    }
}
