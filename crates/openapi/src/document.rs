//! The OpenAPI 3.1 document, made of descriptions of operations and the shapes of the wire.

use eddyline_model::scopes::Scope;
use eddyline_wire::media_types;
use http::Method;
use serde_json::{Map, Value, json};

use crate::access::EndpointAccess;
use crate::body_kind::BodyKind;
use crate::operation::Operation;
use crate::parameters::{
    body_example, body_schema, header_parameter, path_parameter, query_parameter,
};
use crate::response::{ResponseSpec, Shape};
use crate::schemas::{self, reference};
use crate::{failures, tags};

/// Makes an OpenAPI 3.1 document of operations.
#[derive(Debug)]
pub struct DocumentBuilder {
    is_classic: bool,
    paths: Map<String, Value>,
    /// The schemas of what the operations take.
    requests: Map<String, Value>,
}

impl DocumentBuilder {
    /// A document without operations, of the classic profile or of the others.
    #[must_use]
    pub fn new(is_classic: bool) -> Self {
        Self {
            is_classic,
            paths: Map::new(),
            requests: Map::new(),
        }
    }

    /// The document of a server whose API is under `base_url`, and its pages under `web_url`.
    #[must_use]
    pub fn finish(self, base_url: &str, web_url: &str) -> Value {
        let mut schemas = schemas::all(self.is_classic);
        schemas.extend(self.requests);
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
            "paths": self.paths,
            "components": {
                "schemas": schemas,
                "responses": failures::all(),
                "securitySchemes": {
                    "basic": {"type": "http", "scheme": "basic", "description": "E-mail and password, or an API token as the user name"},
                    "oauth": oauth_scheme(base_url, web_url),
                    "scim": {"type": "http", "scheme": "bearer", "description": "The token of an identity provider"},
                    "flow_token": {"type": "apiKey", "in": "query", "name": "flow_token", "description": "A flow's API token"},
                },
            },
        })
    }

    /// Adds an operation, whose path stands below `prefix`.
    pub fn add(&mut self, prefix: &str, operation: &Operation) {
        let path = format!("{prefix}{}", operation.path);
        let segments = operation.path.split('/');
        let named = segments.filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
        let id = operation.id;
        let mut parameters: Vec<Value> = named.map(|name| path_parameter(id, name)).collect();
        parameters.extend(
            operation
                .headers
                .iter()
                .map(|(name, text)| header_parameter(name, text)),
        );
        // The body of a DELETE has no meaning of its own (RFC 9110, section 9.3.5), and many clients
        // send none.
        let has_no_body = matches!(operation.method, Method::GET | Method::DELETE);
        if has_no_body {
            parameters.extend(
                operation
                    .parameters
                    .iter()
                    .map(|parameter| query_parameter(id, parameter)),
            );
        }
        let mut described = json!({
            "operationId": id,
            "summary": operation.summary,
            "parameters": parameters,
            "responses": responses(operation, self.is_classic),
        });
        if let Some((name, _)) = operation.tag {
            described["tags"] = json!([name]);
        }
        if !has_no_body && let Some(body) = self.request_body(operation) {
            described["requestBody"] = body;
        }
        described["security"] = match operation.access {
            EndpointAccess::Caller => security(operation),
            EndpointAccess::Provider => json!([{"scim": []}]),
            EndpointAccess::Public | EndpointAccess::TokensInPath => json!([]),
        };
        let item = self.paths.entry(path).or_insert_with(|| json!({}));
        item[operation.method.as_str().to_ascii_lowercase()] = described;
    }

    fn request_body(&mut self, operation: &Operation) -> Option<Value> {
        if let BodyKind::File(file) = operation.takes {
            let kinds: Map<String, Value> = file
                .kinds
                .iter()
                .map(|kind| ((*kind).to_owned(), bytes_of_a_file()))
                .collect();
            return Some(json!({"required": true, "content": kinds}));
        }
        if operation.parameters.is_empty() {
            return None;
        }
        let id = operation.id;
        let mut content = Map::new();
        for (kind, suffix) in bodies(operation.takes) {
            let mut schema = body_schema(id, &operation.parameters);
            if *kind == media_types::MULTIPART && operation.takes.files(self.is_classic) {
                with_files(&mut schema);
            }
            // By name, so that generated clients have types for them. Clients choose the content
            // type by the type of what they are given, and so each needs one of its own.
            let name = format!("{}{suffix}", capitalized(id));
            let named = reference(&name);
            self.requests
                .insert(name, std::mem::replace(&mut schema, named));
            let example = body_example(id, &operation.parameters);
            content.insert(
                (*kind).to_owned(),
                json!({"schema": schema, "example": example}),
            );
        }
        let required = operation
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
        BodyKind::Resource => &[
            (media_types::JSON, "Request"),
            (media_types::SCIM_JSON, "Request"),
        ],
        _ if takes.forms_with_parts() => &[
            (media_types::JSON, "Request"),
            (media_types::FORM, "Form"),
            (media_types::MULTIPART, "Parts"),
        ],
        _ => &[(media_types::JSON, "Request"), (media_types::FORM, "Form")],
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
fn security(operation: &Operation) -> Value {
    let mut ways = Vec::new();
    if operation.callers.users_themselves() {
        ways.push(json!({"basic": []}));
    }
    if operation.callers.flow_tokens() {
        ways.push(json!({"flow_token": []}));
    }
    if operation.callers.applications() {
        match operation.scopes {
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

/// What is no JSON.
fn bytes_of_a_file() -> Value {
    json!({"schema": {"type": "string", "format": "binary"}})
}

/// Describes the answers of an operation, each under its status.
fn responses(operation: &Operation, is_classic: bool) -> Value {
    let is_scim = matches!(operation.takes, BodyKind::Resource);
    let mut responses = failures::of(operation);
    for answer in operation
        .answers
        .iter()
        .filter(|answer| answer.is_in(is_classic))
    {
        responses.insert(answer.status.to_string(), response(answer, is_scim));
    }
    let shows =
        |answer: &ResponseSpec| matches!(answer.schema, Some(Shape::One(_) | Shape::Many(_)));
    if operation.method != Method::GET
        && !operation.path.ends_with("/.search")
        && operation
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
            return json!({media_types::JSON: schema, media_types::FORM: schema});
        }
        Shape::Stream(name) => return stream_of(name),
        Shape::Media(types) => {
            let each = types.iter().map(|&kind| {
                let schema = match kind {
                    media_types::EVENT_STREAM => json!({"schema": {"type": "string"}}),
                    _ => bytes_of_a_file(),
                };
                (kind.to_owned(), schema)
            });
            return Value::Object(each.collect());
        }
        Shape::One(name) => reference(name),
        Shape::Many(name) => json!({"type": "array", "items": reference(name)}),
        Shape::Empty => reference("Empty"),
    };
    let mut content = json!({media_types::JSON: {"schema": schema}});
    if is_scim {
        content[media_types::SCIM_JSON] = json!({"schema": schema});
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
            "contentMediaType": media_types::JSON,
            "contentSchema": reference(name),
        });
        json!({"schema": schema})
    };
    json!({
        media_types::JSON: text("Objects, each of which ends with CR LF; a lone LF is a sign of life"),
        media_types::EVENT_STREAM: text("Server-sent events, with an object as data; a comment is a sign of life"),
    })
}
