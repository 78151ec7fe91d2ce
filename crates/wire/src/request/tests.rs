use eddyline_model::messages::{MessageKind, Sort};
use eddyline_model::{GroupId, UserId};

use super::*;
use crate::params::{Invalid, Params};
use crate::requests::*;
use serde_json::json;

request! {
    /// One parameter of each kind.
    #[derive(Clone, Debug, PartialEq)]
    struct Everything {
        /// A text.
        words: String = text(2..=5),
        /// A number, of
        /// two lines.
        count as "howMany": i64 = whole(1..=9).or(3),
        /// An identifier.
        group: Option<GroupId> = id::<GroupId>(),
        /// Words of a set.
        kinds: Option<Vec<MessageKind>> = words(&[("message", MessageKind::Message), ("file", MessageKind::File)], "is no kind"),
        /// A word.
        sort: Option<Sort> = choice(&[("asc", Sort::Ascending), ("desc", Sort::Descending)]),
        /// Identifiers.
        users: Option<Vec<UserId>> = ids(7, "must be ids"),
        /// Read into an option.
        must: Option<String> = text(0..=5).required(),
    }
}

fn read<R: Request>(json: &Value) -> Result<R, Invalid> {
    let params: Params = json
        .as_object()
        .cloned()
        .unwrap_or_default()
        .into_iter()
        .collect();
    let mut reader = params.reader();
    let read = R::read(&mut reader);
    reader.finish().map(|()| read.expect("nothing is missing"))
}

fn everything() -> Everything {
    Everything {
        words: "abc".to_owned(),
        count: 4,
        group: Some(GroupId(17)),
        kinds: Some(vec![MessageKind::File]),
        sort: Some(Sort::Ascending),
        users: Some(vec![UserId(1), UserId(2)]),
        must: Some("x".to_owned()),
    }
}

#[test]
fn what_is_written_is_read_again() {
    let json = json!({
        "words": "abc", "howMany": 4, "group": 17, "kinds": ["file"], "sort": "asc", "users": [1, 2], "must": "x",
    });
    assert_eq!(Value::Object(everything().to_json()), json);
    assert_eq!(read(&json), Ok(everything()));
    assert_eq!(everything().check(), Ok(()));
    let query: Map<String, Value> = everything()
        .to_query()
        .into_iter()
        .map(|(name, value)| (name, value.into()))
        .collect();
    assert_eq!(query["users"], "1,2");
    assert_eq!(read(&Value::Object(query)), Ok(everything()));
}

#[test]
fn every_mistake_is_told_by_its_name() {
    let wrong =
        json!({"howMany": 10, "group": "x", "kinds": "file,a,b,a", "sort": "up", "users": ["u"]});
    let told = read::<Everything>(&wrong).expect_err("mistakes");
    assert_eq!(
        serde_json::to_value(told).expect("JSON")["errors"],
        json!({
            "words": ["is required"],
            "howMany": ["must be a whole number from 1 to 9"],
            "group": ["is not a valid id"],
            "kinds": ["a is no kind", "b is no kind"],
            "sort": ["must be one of: asc, desc"],
            "users": ["must be ids"],
            "must": ["is required"],
        })
    );
}

#[test]
fn what_may_be_left_out_has_its_default() {
    let least: Everything = read(&json!({"words": "ab", "must": ""})).expect("no mistake");
    assert_eq!((least.count, least.group, least.kinds), (3, None, None));
}

#[test]
fn a_document_has_the_bounds() {
    let fields = Everything::fields();
    let schemas: Vec<Value> = fields.iter().map(|field| field.schema.clone()).collect();
    assert_eq!(
        schemas,
        [
            json!({"type": "string", "minLength": 2, "maxLength": 5}),
            json!({"type": "integer", "minimum": 1, "maximum": 9, "default": 3}),
            json!({"type": "integer", "minimum": 1}),
            json!({"type": "array", "items": {"type": "string", "enum": ["message", "file"]}}),
            json!({"type": "string", "enum": ["asc", "desc"]}),
            json!({"type": "array", "items": {"type": "integer", "minimum": 1}, "maxItems": 7}),
            json!({"type": "string", "maxLength": 5}),
        ]
    );
    let required: Vec<&str> = fields
        .iter()
        .filter(|field| field.required)
        .map(|field| field.name)
        .collect();
    assert_eq!(required, ["words", "must"]);
    assert_eq!(fields[1].text, "A number, of two lines");
}

#[test]
fn alternatives_require_nothing() {
    type Post = (PostEvent, OneOf<ChatContent, InboxEntry>);
    let fields = Post::fields();
    let required: Vec<&str> = fields
        .iter()
        .filter(|field| field.required)
        .map(|field| field.name)
        .collect();
    assert_eq!(required, ["event"]);
    assert!(fields.iter().any(|field| field.name == "content"));
}

#[test]
fn lists_know_every_kind_that_is_listed() {
    let listed: Vec<&str> = MessageKind::ALL
        .iter()
        .filter(|event| event.is_listed())
        .map(|event| event.as_str())
        .collect();
    let event = ListMessages::fields().swap_remove(0);
    let mut known: Vec<&str> = event.schema["items"]["enum"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    known.sort_by_key(|word| listed.iter().position(|listed| listed == word));
    assert_eq!(known, listed);
}

#[test]
fn a_secret_is_not_shown() {
    let secret = Some(SecretText("hunter2".to_owned()));
    let change = UpdateUser {
        password: secret,
        ..UpdateUser::default()
    };
    assert!(!format!("{change:?}").contains("hunter2"));
}
