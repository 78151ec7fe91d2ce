//! The OpenAPI 3.1 document, made from the table of endpoints and the shapes of the wire.

mod examples;
mod failures;
mod schemas;

use std::sync::{Arc, LazyLock};

use eddyline_model::scopes::Scope;
use eddyline_wire::request::ParameterSpec;
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};

use crate::access::EndpointAccess;
use crate::body_kind::BodyKind;
use crate::context::RequestContext;
use crate::endpoint::{Endpoint, ResponseSpec, Shape};
use crate::requester::Anybody;
use crate::response::uncounted;
use crate::{Config, Shared, media, operation_tags as tags, routes};

/// Where the document is.
pub(crate) const PATH: &str = "/openapi.json";

/// The endpoint that serves the document. It is not in it.
///
/// The first request builds the document, so a server whose document no client reads starts sooner
/// and keeps less memory.
pub(crate) fn endpoint(shared: &Shared, config: &Config) -> Endpoint {
    let addresses = &shared.app.config().addresses;
    let (base_url, web) = (addresses.base.clone(), addresses.web.clone());
    let stream_prefix = config.stream_prefix.clone();
    let is_classic = shared.profile.classic;
    let text = Arc::new(LazyLock::new(move || {
        let document = document(&base_url, &web, stream_prefix.as_deref(), is_classic);
        bytes::Bytes::from(document.to_string())
    }));
    Endpoint::new(
        Method::GET,
        PATH,
        "getDocument",
        "This document",
        move |_: RequestContext<Anybody>| {
            let text = bytes::Bytes::clone(&text);
            async move { Ok(uncounted(StatusCode::OK, text)) }
        },
    )
}

fn document(base_url: &str, web: &str, stream_prefix: Option<&str>, is_classic: bool) -> Value {
    let mut operations = Operations {
        is_classic,
        paths: Map::new(),
        requests: Map::new(),
    };
    let classic = is_classic.then(routes::classic).unwrap_or_default();
    for endpoint in routes::api().iter().chain(&classic) {
        operations.describe("", endpoint);
    }
    if let Some(prefix) = stream_prefix {
        for endpoint in routes::streams() {
            operations.describe(prefix, &endpoint);
        }
    }
    let Operations {
        paths, requests, ..
    } = operations;
    let mut schemas = schemas::all(is_classic);
    schemas.extend(requests);
    let tags = tags::EACH
        .iter()
        .map(|(name, text)| json!({"name": name, "description": text}));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Eddyline",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": base_url}],
        "tags": tags.collect::<Vec<_>>(),
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": failures::all(),
            "securitySchemes": {
                "basic": {"type": "http", "scheme": "basic", "description": "E-mail and password, or an API token as the user name"},
                "oauth": oauth_scheme(base_url, web),
                "scim": {"type": "http", "scheme": "bearer", "description": "The token of an identity provider"},
                "flow_token": {"type": "apiKey", "in": "query", "name": "flow_token", "description": "A flow's API token"},
            },
        },
    })
}

/// The operations of the document, with the schemas of what they take.
struct Operations {
    is_classic: bool,
    paths: Map<String, Value>,
    requests: Map<String, Value>,
}

impl Operations {
    fn describe(&mut self, prefix: &str, endpoint: &Endpoint) {
        let path = format!("{prefix}{}", endpoint.path);
        let segments = endpoint.path.split('/');
        let named = segments.filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
        let id = endpoint.operation_id;
        let mut parameters: Vec<Value> = named.map(|name| path_parameter(id, name)).collect();
        parameters.extend(
            endpoint
                .headers
                .iter()
                .map(|(name, text)| header_parameter(name, text)),
        );
        let reads = endpoint.method == Method::GET;
        if reads {
            parameters.extend(
                endpoint
                    .parameters
                    .iter()
                    .map(|parameter| query_parameter(id, parameter)),
            );
        }
        let mut described = json!({
            "operationId": id,
            "summary": endpoint.summary,
            "parameters": parameters,
            "responses": responses(endpoint, self.is_classic),
        });
        if let Some((name, _)) = endpoint.tag {
            described["tags"] = json!([name]);
        }
        if !reads && let Some(body) = self.request_body(endpoint) {
            described["requestBody"] = body;
        }
        described["security"] = match endpoint.access {
            EndpointAccess::Caller => security(endpoint),
            EndpointAccess::Provider => json!([{"scim": []}]),
            EndpointAccess::Public | EndpointAccess::TokensInPath => json!([]),
        };
        let item = self.paths.entry(path).or_insert_with(|| json!({}));
        item[endpoint.method.as_str().to_ascii_lowercase()] = described;
    }

    fn request_body(&mut self, endpoint: &Endpoint) -> Option<Value> {
        if let BodyKind::File(file) = endpoint.takes {
            let kinds: Map<String, Value> = file
                .kinds
                .iter()
                .map(|kind| ((*kind).to_owned(), bytes_of_a_file()))
                .collect();
            return Some(json!({"required": true, "content": kinds}));
        }
        if endpoint.parameters.is_empty() {
            return None;
        }
        let id = endpoint.operation_id;
        let mut content = Map::new();
        for (kind, suffix) in bodies(endpoint.takes) {
            let mut schema = body_schema(id, &endpoint.parameters);
            if *kind == media::MULTIPART && endpoint.takes.files(self.is_classic) {
                with_files(&mut schema);
            }
            // By name, so that generated clients have types for them. Clients choose the content
            // type by the type of what they are given, and so each needs one of its own.
            let name = format!("{}{suffix}", capitalized(id));
            let named = reference(&name);
            self.requests
                .insert(name, std::mem::replace(&mut schema, named));
            let example = body_example(id, &endpoint.parameters);
            content.insert(
                (*kind).to_owned(),
                json!({"schema": schema, "example": example}),
            );
        }
        let required = endpoint
            .parameters
            .iter()
            .any(|parameter| parameter.required);
        Some(json!({"required": required, "content": content}))
    }
}

fn capitalized(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    format!("{}{rest}", first.to_ascii_uppercase())
}

/// The content types of parameters in a body, with what the names of their schemas end in.
fn bodies(takes: BodyKind) -> &'static [(&'static str, &'static str)] {
    match takes {
        BodyKind::Resource => &[(media::JSON, "Request"), (media::SCIM_JSON, "Request")],
        _ if takes.forms_with_parts() => &[
            (media::JSON, "Request"),
            (media::FORM, "Form"),
            (media::MULTIPART, "Parts"),
        ],
        _ => &[(media::JSON, "Request"), (media::FORM, "Form")],
    }
}

/// Makes files of the parameters that may be files in a form with parts. A file without a name is a
/// text.
fn with_files(schema: &mut Value) {
    let properties = &mut schema["properties"];
    properties["content"]["format"] = "binary".into();
    if properties["attachments"].is_object() {
        properties["attachments"]["additionalProperties"] =
            json!({"type": "string", "format": "binary"});
    }
}

/// What callers may show: any one of these.
fn security(endpoint: &Endpoint) -> Value {
    let mut ways = Vec::new();
    if endpoint.callers.users_themselves() {
        ways.push(json!({"basic": []}));
    }
    if endpoint.callers.flow_tokens() {
        ways.push(json!({"flow_token": []}));
    }
    if endpoint.callers.applications() {
        match endpoint.scopes {
            [] => ways.push(json!({"oauth": []})),
            // Any one of them will do.
            any => ways.extend(any.iter().map(|scope| json!({"oauth": [scope.as_str()]}))),
        }
    }
    Value::Array(ways)
}

/// Where applications get access tokens, and for what.
fn oauth_scheme(base: &str, web: &str) -> Value {
    let scopes: Map<String, Value> = Scope::EACH
        .iter()
        .map(|scope| (scope.as_str().to_owned(), json!(meaning(*scope))))
        .collect();
    let token = format!("{base}/oauth/token");
    let authorization = format!("{web}/oauth/authorize");
    json!({
        "type": "oauth2",
        "description": "An OAuth 2.0 access token",
        "flows": {
            "authorizationCode": {
                "authorizationUrl": authorization,
                "tokenUrl": token,
                "refreshUrl": token,
                "scopes": scopes,
            },
            "password": {"tokenUrl": token, "refreshUrl": token, "scopes": scopes},
        },
    })
}

fn meaning(scope: Scope) -> &'static str {
    match scope {
        Scope::Flow => "Read and send messages in flows",
        Scope::Private => "Read and send private messages",
        Scope::Manage => "Manage flows, organizations and their users",
        Scope::Profile => "Read and change the user's own profile",
        Scope::OfflineAccess => "Get a refresh token",
        Scope::Integration => "Create and change sources",
    }
}

fn schema_of(operation: &str, parameter: &ParameterSpec) -> Value {
    let mut schema = parameter.schema.clone();
    schema["description"] = parameter.text.as_str().into();
    if let Some(example) = examples::of_parameter(operation, parameter.name, &schema) {
        schema["examples"] = json!([example]);
    }
    schema
}

/// Parameters of the path that are numbers.
const NUMBERS: &[&str] = &[
    "group",
    "invitation",
    "message",
    "position",
    "size",
    "source",
    "user",
];

fn path_parameter(operation: &str, name: &str) -> Value {
    let kind = if NUMBERS.contains(&name) {
        "integer"
    } else {
        "string"
    };
    let schema = json!({"type": kind});
    let example = examples::of_parameter(operation, name, &schema);
    let mut parameter = json!({"name": name, "in": "path", "required": true, "schema": schema});
    if let Some(example) = example {
        parameter["example"] = example;
    }
    parameter
}

fn header_parameter(name: &str, text: &str) -> Value {
    json!({"name": name, "in": "header", "required": false, "description": text, "schema": {"type": "string"}})
}

fn query_parameter(operation: &str, parameter: &ParameterSpec) -> Value {
    let parameter = in_query(parameter);
    json!({
        "name": parameter.name,
        "in": "query",
        "required": parameter.required,
        "description": parameter.text,
        "schema": schema_of(operation, &parameter),
    })
}

/// The parameter as a query has it, where a list is a text: of a name that is repeated, as
/// generated clients write lists, the last one counts.
fn in_query(parameter: &ParameterSpec) -> ParameterSpec {
    let mut parameter = parameter.clone();
    if parameter.schema["type"] == "array" {
        let words = parameter.schema["items"]["enum"]
            .as_array()
            .into_iter()
            .flatten();
        let words: Vec<&str> = words.filter_map(Value::as_str).collect();
        let of = if words.is_empty() {
            String::new()
        } else {
            format!(" of {}", words.join(", "))
        };
        parameter.text = format!("{}; comma-separated{of}", parameter.text);
        parameter.schema = json!({"type": "string"});
    }
    parameter
}

fn body_schema(operation: &str, parameters: &[ParameterSpec]) -> Value {
    let properties: Map<String, Value> = parameters
        .iter()
        .map(|p| (p.name.to_owned(), schema_of(operation, p)))
        .collect();
    let required: Vec<&str> = parameters
        .iter()
        .filter(|p| p.required)
        .map(|p| p.name)
        .collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// What must be sent, or the first parameter where nothing must.
fn body_example(operation: &str, parameters: &[ParameterSpec]) -> Value {
    let also = examples::also_sent(operation);
    let is_sent = |parameter: &&ParameterSpec| parameter.required || also.contains(&parameter.name);
    let mut chosen: Vec<&ParameterSpec> = parameters.iter().filter(is_sent).collect();
    if chosen.is_empty() {
        chosen.extend(parameters.first());
    }
    let members = chosen.into_iter().filter_map(|parameter| {
        Some((
            parameter.name.to_owned(),
            examples::of_parameter(operation, parameter.name, &parameter.schema)?,
        ))
    });
    Value::Object(members.collect())
}

/// What is no JSON.
fn bytes_of_a_file() -> Value {
    json!({"schema": {"type": "string", "format": "binary"}})
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// Describes the answers of an operation, each under its status.
fn responses(endpoint: &Endpoint, is_classic: bool) -> Value {
    let is_scim = matches!(endpoint.takes, BodyKind::Resource);
    let mut responses = failures::of(endpoint);
    for answer in endpoint
        .answers
        .iter()
        .filter(|answer| answer.is_in(is_classic))
    {
        responses.insert(answer.status.to_string(), response(answer, is_scim));
    }
    let shows =
        |answer: &ResponseSpec| matches!(answer.schema, Some(Shape::One(_) | Shape::Many(_)));
    if endpoint.method != Method::GET
        && !endpoint.path.ends_with("/.search")
        && endpoint
            .answers
            .iter()
            .any(|answer| answer.status < 300 && shows(answer))
    {
        let text =
            "It is done; too many answers of the caller are under way for the result to be shown";
        let accepted = ResponseSpec::new(202, text, Some(Shape::Empty));
        responses
            .entry("202")
            .or_insert_with(|| response(&accepted, is_scim));
    }
    Value::Object(responses)
}

fn response(answer: &ResponseSpec, is_scim: bool) -> Value {
    let mut response = json!({"description": answer.text});
    let headers: Map<String, Value> = answer
        .headers
        .iter()
        .copied()
        .chain(failures::header(answer.status))
        .map(|(name, about)| {
            (
                name.to_owned(),
                json!({"description": about, "schema": {"type": "string"}}),
            )
        })
        .collect();
    if !headers.is_empty() {
        response["headers"] = headers.into();
    }
    if let Some(shape) = &answer.schema {
        response["content"] = content(shape, is_scim);
    }
    response
}

/// The content types of an answer's body.
fn content(shape: &Shape, is_scim: bool) -> Value {
    let schema = match shape {
        Shape::One("ErrorBody") if is_scim => return failures::scim(),
        Shape::OneOrForm(name) => {
            let schema = json!({"schema": reference(name)});
            return json!({media::JSON: schema, media::FORM: schema});
        }
        Shape::Stream(name) => return stream_of(name),
        Shape::Media(types) => {
            let each = types
                .iter()
                .map(|kind| ((*kind).to_owned(), bytes_of_a_file()));
            return Value::Object(each.collect());
        }
        Shape::One(name) => reference(name),
        Shape::Many(name) => json!({"type": "array", "items": reference(name)}),
        Shape::Empty => reference("Empty"),
    };
    let mut content = json!({media::JSON: {"schema": schema}});
    if is_scim {
        content[media::SCIM_JSON] = json!({"schema": schema});
    }
    content
}

/// A text that goes on and on, in which objects of this schema stand. OpenAPI 3.1 has no other word
/// for it.
fn stream_of(name: &str) -> Value {
    let text = |about: &str| {
        let schema = json!({
            "type": "string",
            "description": about,
            "contentMediaType": media::JSON,
            "contentSchema": reference(name),
        });
        json!({"schema": schema})
    };
    json!({
        media::JSON: text("Objects, each of which ends with CR LF; a lone LF is a sign of life"),
        media::EVENT_STREAM: text("Server-sent events, with an object as data; a comment is a sign of life"),
    })
}

#[cfg(test)]
mod tests {
    use eddyline_wire::Request;
    use eddyline_wire::params::Params;

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
            let method = endpoint.method.as_str().to_ascii_lowercase();
            document["paths"][format!("{prefix}{}", endpoint.path)][method]["summary"].is_string()
        };
        for endpoint in routes::api() {
            assert!(
                described("", &endpoint),
                "{} {}",
                endpoint.method,
                endpoint.path
            );
            assert!(
                !endpoint.answers.is_empty(),
                "{} {}",
                endpoint.method,
                endpoint.path
            );
        }
        for endpoint in routes::streams() {
            assert!(
                described("/stream", &endpoint),
                "{} {}",
                endpoint.method,
                endpoint.path
            );
        }
    }

    #[test]
    fn an_access_token_is_good_for_nothing_by_oversight() {
        let all = routes::api().into_iter().chain(routes::streams());
        let any_scope: Vec<_> = all
            .filter(|endpoint| {
                endpoint.access == EndpointAccess::Caller && endpoint.callers.applications()
            })
            .filter(|endpoint| endpoint.scopes.is_empty())
            .map(|endpoint| format!("{} {}", endpoint.method, endpoint.path))
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
            let endpoint =
                Endpoint::new(Method::POST, "/notes", "takeNote", "Take a note", handler);
            let mut operations = Operations {
                is_classic: false,
                paths: Map::new(),
                requests: Map::new(),
            };
            operations.describe("", &endpoint);
            operations.requests["TakeNoteRequest"]["properties"]["words"]["maxLength"].clone()
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
            for parameter in &endpoint.parameters {
                let (method, path, name) = (&endpoint.method, endpoint.path, parameter.name);
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
        let listed: Vec<&str> = include_str!("openapi/operations.txt").lines().collect();
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

    #[test]
    fn examples_are_of_the_shapes_that_they_show() {
        fn is<T: serde::de::DeserializeOwned>(name: &str) {
            let example =
                examples::of_schema(name).unwrap_or_else(|| panic!("{name} has an example"));
            serde_json::from_value::<T>(example).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        is::<eddyline_wire::Flow>("Flow");
        is::<eddyline_wire::FlowUser>("FlowUser");
        is::<eddyline_wire::Group>("Group");
        is::<eddyline_wire::ImportedInvitations>("ImportedInvitations");
        is::<eddyline_wire::Message>("Message");
        is::<eddyline_wire::Organization>("Organization");
        is::<eddyline_wire::PrivateConversation>("PrivateConversation");
        is::<eddyline_wire::Source>("Source");
        is::<eddyline_wire::User>("User");
        is::<eddyline_wire::IntegrationError>("IntegrationError");
        is::<eddyline_wire::ErrorBody>("ErrorBody");
    }
}
