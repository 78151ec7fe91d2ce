//! The document is whole: each endpoint, parameter, answer and example.

use eddyline_openapi::{EndpointAccess, tags};
use eddyline_wire::Request;
use eddyline_wire::params::Params;

use serde_json::json;

use super::*;

#[test]
fn every_endpoint_stands_in_the_document_with_an_answer() {
    let document = document(
        "http://example.org",
        "http://example.org",
        Some("/stream"),
        false,
    );
    let described = |prefix: &str, endpoint: &Endpoint| {
        let method = endpoint.operation.method.as_str().to_ascii_lowercase();
        document["paths"][format!("{prefix}{}", endpoint.operation.path)][method]["summary"]
            .is_string()
    };
    for endpoint in routes::api() {
        assert!(
            described("", &endpoint),
            "{} {}",
            endpoint.operation.method,
            endpoint.operation.path
        );
        assert!(
            !endpoint.operation.answers.is_empty(),
            "{} {}",
            endpoint.operation.method,
            endpoint.operation.path
        );
    }
    for endpoint in routes::streams() {
        assert!(
            described("/stream", &endpoint),
            "{} {}",
            endpoint.operation.method,
            endpoint.operation.path
        );
    }
}

#[test]
fn an_access_token_is_good_for_nothing_by_oversight() {
    let all = routes::api().into_iter().chain(routes::streams());
    let any_scope: Vec<_> = all
        .filter(|endpoint| {
            endpoint.operation.access == EndpointAccess::Caller
                && endpoint.operation.callers.applications()
        })
        .filter(|endpoint| endpoint.operation.scopes.is_empty())
        .map(|endpoint| format!("{} {}", endpoint.operation.method, endpoint.operation.path))
        .collect();
    assert_eq!(any_scope, ["GET /user"]);
}

#[test]
fn streams_and_files_have_their_own_content_types() {
    let document = document(
        "http://example.org",
        "http://example.org",
        Some("/stream"),
        false,
    );
    let types = |path: &str| -> Vec<String> {
        let content = &document["paths"][path]["get"]["responses"]["200"]["content"];
        content.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(
        types("/stream/flows"),
        ["application/json", "text/event-stream"]
    );
    assert_eq!(
        types("/avatars/{avatar}"),
        ["image/jpeg", "image/png", "image/svg+xml"]
    );
}

/// Two requests that differ in nothing but a bound, and an endpoint that takes each.
macro_rules! notes {
    ($($module:ident: $most:literal,)+) => {
        $(mod $module {
            eddyline_wire::request! {
                /// A note.
                pub(super) struct Note {
                    /// What it says.
                    words: String = eddyline_wire::request::text(1..=$most),
                }
            }

            pub(super) async fn take(
                _ctx: crate::context::RequestContext,
                request: crate::handler::UnparsedParams<Note>,
            ) -> crate::answer::Answer {
                request.read().map(|_| crate::answer::done())
            }
        })+
    };
}

notes! {
    short: 5,
    long: 9,
}

#[test]
fn a_bound_is_declared_once_for_the_reader_the_document_and_the_client() {
    fn bound<M>(handler: impl crate::handler::Handler<M>) -> Value {
        let endpoint = Endpoint::new(Method::POST, "/notes", "takeNote", "Take a note", handler);
        let mut document = DocumentBuilder::new(false);
        document.add("", &endpoint.operation);
        let document = document.finish("http://example.org", "http://example.org");
        document["components"]["schemas"]["TakeNoteRequest"]["properties"]["words"]["maxLength"]
            .clone()
    }
    fn refusal<R: Request>(characters: usize) -> Option<String> {
        let params: Params = [("words".to_owned(), "a".repeat(characters).into())]
            .into_iter()
            .collect();
        let mut reader = params.reader();
        R::read(&mut reader);
        reader.finish().err().map(|mut invalid| {
            invalid
                .errors
                .remove("words")
                .unwrap_or_default()
                .join("; ")
        })
    }
    assert_eq!(
        (bound(short::take), bound(long::take)),
        (json!(5), json!(9))
    );
    let too_long = |most: usize| Some(format!("is too long (maximum is {most} characters)"));
    assert_eq!(
        (refusal::<short::Note>(6), refusal::<short::Note>(5)),
        (too_long(5), None)
    );
    assert_eq!(
        (refusal::<long::Note>(10), refusal::<long::Note>(6)),
        (too_long(9), None)
    );
    // The client asks this before it sends anything.
    assert!(
        short::Note {
            words: "a".repeat(6)
        }
        .check()
        .is_err()
    );
    assert_eq!(
        long::Note {
            words: "a".repeat(6)
        }
        .check(),
        Ok(())
    );
}

#[test]
fn no_endpoint_declares_a_parameter_twice() {
    for endpoint in routes::api()
        .into_iter()
        .chain(routes::classic())
        .chain(routes::streams())
    {
        let mut seen = std::collections::BTreeSet::new();
        for parameter in &endpoint.operation.parameters {
            let (method, path, name) = (
                &endpoint.operation.method,
                endpoint.operation.path,
                parameter.name,
            );
            assert!(seen.insert(name), "{method} {path} declares {name} twice");
        }
    }
}

#[test]
fn operations_and_addresses_of_scim_are_objects() {
    let document = document("http://example.org", "http://example.org", None, false);
    let items = |method: &str, field: &str| {
        let content =
            &document["paths"]["/scim/{uid}/Users/{user}"][method]["requestBody"]["content"];
        let schema = content["application/scim+json"]["schema"]["$ref"]
            .as_str()
            .unwrap();
        let schema = document.pointer(schema.trim_start_matches('#')).unwrap();
        schema["properties"][field]["items"]["type"].clone()
    };
    assert_eq!(
        (items("patch", "Operations"), items("put", "emails")),
        (json!("object"), json!("object"))
    );
}

#[test]
fn every_reference_in_the_document_leads_somewhere() {
    let document = document("http://example.org", "http://example.org", None, true);
    let text = document.to_string();
    let places = text
        .split("\"#/components/")
        .skip(1)
        .filter_map(|rest| rest.split('"').next());
    for place in places {
        assert!(
            document
                .pointer(&format!("/components/{place}"))
                .is_some_and(Value::is_object),
            "{place}"
        );
    }
}

/// The operations of the whole document.
fn operations_of(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    let each = paths.iter().flat_map(|(path, item)| {
        item.as_object()
            .unwrap()
            .iter()
            .map(move |(method, operation)| (format!("{method} {path}"), operation))
    });
    each.collect()
}

/// Generated clients name their functions by these ids, so a change of this list breaks them.
#[test]
fn operations_keep_their_ids() {
    let document = document(
        "http://example.org",
        "http://example.org",
        Some("/stream"),
        true,
    );
    let mut found: Vec<String> = operations_of(&document)
        .into_iter()
        .map(|(place, operation)| {
            let id = operation["operationId"].as_str().unwrap_or_default();
            format!("{id} {place}")
        })
        .collect();
    found.sort();
    let listed: Vec<&str> = include_str!("operations.txt").lines().collect();
    assert_eq!(found, listed);
}

#[test]
fn every_operation_has_an_id_of_its_own_a_tag_and_an_example() {
    let document = document(
        "http://example.org",
        "http://example.org",
        Some("/stream"),
        true,
    );
    let mut ids = std::collections::BTreeSet::new();
    for (place, operation) in operations_of(&document) {
        let id = operation["operationId"]
            .as_str()
            .unwrap_or_else(|| panic!("{place} has no id"));
        assert!(ids.insert(id), "{id} is the id of two");
        let tag = operation["tags"][0]
            .as_str()
            .unwrap_or_else(|| panic!("{place} has no tag"));
        assert!(tags::EACH.iter().any(|(name, _)| *name == tag), "{tag}");
        for parameter in operation["parameters"].as_array().unwrap() {
            let is_header = parameter["in"] == "header";
            let has_example = is_header
                || parameter["example"] != Value::Null
                || parameter["schema"]["examples"].is_array();
            assert!(has_example, "{place}: {}", parameter["name"]);
        }
        for (kind, content) in operation["requestBody"]["content"]
            .as_object()
            .into_iter()
            .flatten()
        {
            let is_file = content["schema"]["format"] == "binary";
            let has_example = content["example"]
                .as_object()
                .is_some_and(|members| !members.is_empty());
            assert!(is_file || has_example, "{place}: {kind}");
        }
    }
}

#[test]
fn every_answer_has_a_schema_and_every_schema_an_example() {
    let document = document(
        "http://example.org",
        "http://example.org",
        Some("/stream"),
        true,
    );
    for (place, operation) in operations_of(&document) {
        for (status, response) in operation["responses"].as_object().unwrap() {
            for (kind, content) in response["content"].as_object().into_iter().flatten() {
                let is_json = kind.ends_with("json");
                let is_described = ["$ref", "items", "contentSchema"]
                    .iter()
                    .any(|key| !content["schema"][*key].is_null());
                assert!(!is_json || is_described, "{place}: {status}");
            }
        }
    }
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        if ["Request", "Form", "Parts"]
            .iter()
            .any(|suffix| name.ends_with(suffix))
        {
            for (parameter, schema) in schema["properties"].as_object().unwrap() {
                assert!(schema["examples"].is_array(), "{name}: {parameter}");
            }
            continue;
        }
        let example = schema["examples"][0]
            .as_object()
            .unwrap_or_else(|| panic!("{name} has no example"));
        let has = |key: &Value| example.contains_key(key.as_str().unwrap());
        assert!(
            schema["required"].as_array().into_iter().flatten().all(has),
            "{name}: {schema}"
        );
        let is_choice = schema["oneOf"].is_array();
        for key in example.keys().filter(|_| !is_choice) {
            assert!(schema["properties"][key].is_object(), "{name}: {key}");
        }
    }
}

/// Each operation that may change something stands in `audited.txt` with the actions that it writes
/// to the audit log, or with `-`: it changes nothing that is administered.
#[test]
fn every_operation_says_what_it_records() {
    use eddyline_model::audit::AuditAction;
    use std::collections::BTreeSet;
    let mut said = BTreeSet::new();
    for line in include_str!("audited.txt").lines() {
        let (operation, actions) = line.split_once(' ').expect("an operation and its actions");
        for action in actions.split(' ').filter(|action| *action != "-") {
            assert!(
                AuditAction::named(action).is_some(),
                "{operation}: {action}"
            );
        }
        said.insert(operation);
    }
    let listed = include_str!("operations.txt").lines();
    let changing: BTreeSet<&str> = listed
        .filter(|line| !line.contains(" get /"))
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(said, changing);
}

#[test]
fn every_event_of_the_stream_has_an_example_and_each_stream_has_every_event() {
    for is_classic in [false, true] {
        let document = stream_document("https://chat.example/stream", is_classic);
        let messages = document["components"]["messages"].as_object().unwrap();
        assert_eq!(messages.len(), 22);
        for (name, message) in messages {
            assert_eq!(message["examples"][0]["payload"]["event"], json!(name));
        }
        for channel in ["streamFlows", "streamFlow"] {
            let told = document["channels"][channel]["messages"]
                .as_object()
                .unwrap();
            assert!(told.keys().eq(messages.keys()), "{channel}");
        }
        let operations = document["operations"].as_object().unwrap();
        assert_eq!(operations.len(), 4, "two streams, each in two forms");
        // Every reference leads somewhere.
        let text = document.to_string();
        for place in text.split("{\"$ref\":\"#").skip(1) {
            let place = place.split('"').next().unwrap();
            assert!(document.pointer(place).is_some(), "{place}");
        }
    }
}
