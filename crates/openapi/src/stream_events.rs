//! What a stream tells: the schema of each event, with an example.

use eddyline_model::messages::MessageKind;
use serde_json::{Map, Value, json};

use crate::examples;
use crate::schemas::reference;

/// An event of the stream, as the document describes it.
pub(crate) struct StreamEventSpec {
    /// The value of the member `event`.
    pub(crate) name: &'static str,
    /// When the server sends it.
    pub(crate) summary: &'static str,
    /// The schema of the object.
    pub(crate) schema: Value,
    /// An object of this schema.
    pub(crate) example: Value,
}

/// Every event that a stream of flows can tell.
pub(crate) fn all(is_classic: bool) -> Vec<StreamEventSpec> {
    let mut events: Vec<_> = MessageKind::ALL.into_iter().map(of_message).collect();
    events.extend(of_flows());
    events.extend(of_people(is_classic));
    events.push(reset());
    events
}

/// A message, or a notice about one: both have a place among the messages of the flow.
fn of_message(kind: MessageKind) -> StreamEventSpec {
    let (summary, schema, content) = content_of(kind);
    let mut example = examples::of_schema("Message").unwrap_or_default();
    example["event"] = kind.as_str().into();
    example["content"] = content;
    if matches!(kind, MessageKind::Activity | MessageKind::Discussion) {
        example["author"] = examples::of_schema("Author").unwrap_or_default();
        example["title"] = "closed the ticket".into();
        example["body"] = "<p>It works on Sundays now.</p>".into();
    }
    let own = json!({
        "type": "object",
        "properties": {"event": {"const": kind.as_str()}, "content": schema},
    });
    StreamEventSpec {
        name: kind.as_str(),
        summary,
        schema: json!({"allOf": [reference("Message"), own]}),
        example,
    }
}

/// When the server sends a kind of message, the schema of its content, and an example of that.
fn content_of(kind: MessageKind) -> (&'static str, Value, Value) {
    match kind {
        MessageKind::Message => {
            let text = "A message was posted to the chat, or to a private conversation";
            (
                text,
                json!({"type": "string"}),
                json!("Good morning #coffee"),
            )
        }
        MessageKind::Status => {
            let text = "A user set a status";
            (text, json!({"type": "string"}), json!("in the workshop"))
        }
        MessageKind::Comment => {
            let members = json!({"title": text(), "text": text()});
            let example = json!({"title": "Good morning #coffee", "text": "With milk, please"});
            (
                "A message was answered; title is the text that it answers",
                object(&members),
                example,
            )
        }
        MessageKind::File => {
            let example = examples::of_schema("Attachment").unwrap_or_default();
            ("A file was uploaded", reference("Attachment"), example)
        }
        MessageKind::Activity => {
            let about = "An item of an outside service changed; thread has its new state";
            (about, json!({"type": "null"}), Value::Null)
        }
        MessageKind::Discussion => {
            let about = "An item of an outside service was commented on there";
            (about, json!({"type": "null"}), Value::Null)
        }
        MessageKind::Mail => {
            let addresses =
                json!({"type": "array", "items": {"type": "object", "additionalProperties": true}});
            let members = json!({"subject": text(), "content": text(), "from": addresses});
            let example = json!({
                "subject": "Where is my order?",
                "content": "<p>It was due on Monday.</p>",
                "contentType": "text/html",
                "from": [{"name": "Grace", "address": "grace@example.org"}],
                "to": [], "cc": [], "bcc": [], "replyTo": [],
            });
            ("A mail was posted to the inbox", object(&members), example)
        }
        MessageKind::Action => {
            let members = json!({"type": text(), "description": {}});
            let example = json!({"type": "join", "description": "Ada"});
            (
                "The server tells of the flow itself: joins, invitations, sources",
                object(&members),
                example,
            )
        }
        kind => notice_of(kind),
    }
}

/// The same for notices about a message that is there.
fn notice_of(kind: MessageKind) -> (&'static str, Value, Value) {
    let message = json!({"type": "integer", "format": "int64"});
    let texts = json!({"type": "array", "items": text()});
    match kind {
        MessageKind::MessageEdit => {
            let members = json!({"message": message, "updated_content": text()});
            let example = json!({"message": 4709, "updated_content": "Good morning"});
            (
                "A message has another text, which is empty when it was deleted",
                object(&members),
                example,
            )
        }
        MessageKind::TagChange => {
            let mut schema = object(&json!({"message": message, "add": texts, "remove": texts}));
            schema["properties"]["tags"] = texts;
            let example = json!({"message": 4709, "add": ["tea"], "remove": ["coffee"]});
            let about = "A message has other tags; tags, all of them, is there when the event is told later";
            (about, schema, example)
        }
        MessageKind::EmojiReaction => {
            let change = json!({"enum": ["add", "remove"]});
            let members = json!({"message": message, "emoji": text(), "type": change});
            let example = json!({"message": 4709, "emoji": "👍", "type": "add"});
            (
                "A user reacted to a message, or took the reaction back",
                object(&members),
                example,
            )
        }
        _ => {
            let example = json!({"message": 4709});
            (
                "A message was removed",
                object(&json!({"message": message})),
                example,
            )
        }
    }
}

fn text() -> Value {
    json!({"type": "string"})
}

/// An object that has all these members, and maybe others.
fn object(members: &Value) -> Value {
    let names = members.as_object().into_iter().flat_map(Map::keys);
    json!({"type": "object", "required": names.collect::<Vec<_>>(), "properties": members})
}

/// An event that is no message, with this content. That of a flow names the flow.
fn plain(
    name: &'static str,
    summary: &'static str,
    (user, flow): (Option<&str>, bool),
    schema: &Value,
    content: &Value,
) -> StreamEventSpec {
    let mut members = json!({"event": {"const": name}, "content": schema});
    let mut example = json!({"event": name, "content": content});
    if let Some(user) = user {
        members["user"] = text();
        example["user"] = user.into();
    }
    let mut schema = object(&members);
    if flow {
        schema["properties"]["flow"] = text();
        example["flow"] = examples::FLOW_ID.into();
    }
    StreamEventSpec {
        name,
        summary,
        schema,
        example,
    }
}

fn of_flows() -> [StreamEventSpec; 5] {
    let person = object(&json!({"id": {"type": "integer"}, "nick": text()}));
    let changed = json!({
        "id": text(),
        "name": text(),
        "parameterized_name": text(),
        "description": {"type": ["string", "null"]},
        "access_mode": text(),
        "disabled": {"type": "boolean"},
    });
    let flow = examples::of_schema("Flow").unwrap_or_default();
    let is_changed = |name: &&String| changed.get(name.as_str()).is_some();
    let members = flow
        .as_object()
        .into_iter()
        .flat_map(Map::keys)
        .filter(is_changed);
    let shown: Map<String, Value> = members
        .map(|name| (name.clone(), flow[name].clone()))
        .collect();
    [
        plain(
            "flow-add",
            "With user=1: you came into a flow",
            (Some("0"), false),
            &reference("Flow"),
            &flow,
        ),
        plain(
            "flow-remove",
            "With user=1: you left a flow",
            (Some("0"), false),
            &object(&json!({"id": text()})),
            &json!({"id": examples::FLOW_ID}),
        ),
        plain(
            "flow-change",
            "The flow has another name, description or access",
            (None, true),
            &object(&changed),
            &shown.into(),
        ),
        plain(
            "backend.user.join",
            "A user came into the flow",
            (None, true),
            &object(&json!({"user": person})),
            &json!({"user": {"id": 17, "nick": "Ada"}}),
        ),
        plain(
            "backend.user.block",
            "A user was blocked from the flow; content is the number of the user",
            (None, true),
            &text(),
            &json!("17"),
        ),
    ]
}

fn of_people(is_classic: bool) -> [StreamEventSpec; 4] {
    let person = object(&json!({"id": {"type": "integer"}, "nick": text()}));
    let number = json!({"type": "integer", "format": "int64"});
    let (state, shown) = match is_classic {
        false => (
            json!({"enum": ["active", "idle", "offline"]}),
            json!("active"),
        ),
        true => (json!({"type": "integer"}), json!(1)),
    };
    let mut read = object(&json!({"message": number}));
    for name in ["flow", "marker", "thread_id", "to"] {
        read["properties"][name] = text();
    }
    [
        plain(
            "user-edit",
            "A user has another nick",
            (Some("17"), false),
            &object(&json!({"user": person})),
            &json!({"user": {"id": 17, "nick": "Ada"}}),
        ),
        plain(
            "read",
            "With user=1: you read up to a message, in a flow, of one kind (marker), in a thread, or with a user (to)",
            (Some("17"), false),
            &read,
            &json!({"flow": examples::FLOW_ID, "message": 4711}),
        ),
        plain(
            "presence",
            "With presence=1, and not kept: a user is active, idle or offline from now on",
            (Some("17"), true),
            &object(&json!({"user_id": number, "state": state})),
            &json!({"user_id": 17, "state": shown}),
        ),
        plain(
            "activity.user",
            "Not kept, once a minute for each user at most: a user did something",
            (Some("17"), true),
            &object(&json!({"last_activity": number})),
            &json!({"last_activity": 1_769_846_400_000_i64}),
        ),
    ]
}

/// The event that replaces those that the server has no longer.
fn reset() -> StreamEventSpec {
    StreamEventSpec {
        name: "reset",
        summary: "The event to go on after is not known any more: list what you need, and go on after the id of this one",
        schema: object(&json!({"event": {"const": "reset"}})),
        example: json!({"event": "reset"}),
    }
}
