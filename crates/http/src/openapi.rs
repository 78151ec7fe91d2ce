//! The OpenAPI 3.1 document, made from the table of endpoints and the shapes of the wire.

use eddyline_model::scopes::Scope;
use eddyline_wire::{
    Attachment, Author, ErrorBody, Flow, FlowUser, Group, ImportedInvitations, IntegrationError, Invitation,
    Link, Message, Organization, OrganizationSummary, OrganizationUser, Participant, Picture,
    PrivateActivity, PrivateConversation, Source, SourceApplication, Subscription, Thread, Thumbnail, User,
};
use http::{Method, StatusCode};
use serde_json::{Map, Value, json};
use utoipa::PartialSchema;

use crate::answer::uncounted;
use crate::endpoint::{Access, BodyKind, Described, Endpoint, Parameter, Shape};
use crate::oauth::wire::{ClientErrorAnswer, IntrospectionAnswer, RegisteredApplication, TokenAnswer};
use crate::{Config, Shared, media, routes};

/// Where the document is.
pub(crate) const PATH: &str = "/openapi.json";

/// The endpoint that serves the document. It is not in it.
pub(crate) fn endpoint(shared: &Shared, config: &Config) -> Endpoint {
    let addresses = &shared.app.config().addresses;
    let mut document = document(&addresses.base, &addresses.web, config.stream_prefix.as_deref());
    if shared.profile.classic {
        add_classic(&mut document);
    }
    let text = bytes::Bytes::from(document.to_string());
    Endpoint::new(Method::GET, PATH, "This document", move |_ctx| {
        let text = text.clone();
        async move { Ok(uncounted(StatusCode::OK, text)) }
    })
    .public()
}

fn document(base_url: &str, web: &str, stream_prefix: Option<&str>) -> Value {
    let mut paths = Map::new();
    for endpoint in routes::api() {
        describe(&mut paths, "", &endpoint);
    }
    if let Some(prefix) = stream_prefix {
        for endpoint in routes::streams() {
            describe(&mut paths, prefix, &endpoint);
        }
    }
    let schemas = json!({
        "Attachment": Attachment::schema(),
        "ClientErrorAnswer": ClientErrorAnswer::schema(),
        "ErrorBody": ErrorBody::schema(),
        "Flow": Flow::schema(),
        "FlowUser": FlowUser::schema(),
        "Group": Group::schema(),
        "ImportedInvitations": ImportedInvitations::schema(),
        "IntegrationError": IntegrationError::schema(),
        "IntrospectionAnswer": IntrospectionAnswer::schema(),
        "Invitation": Invitation::schema(),
        "Link": Link::schema(),
        "Message": Message::schema(),
        "Author": Author::schema(),
        "Picture": Picture::schema(),
        "Thumbnail": Thumbnail::schema(),
        "Source": Source::schema(),
        "SourceApplication": SourceApplication::schema(),
        "Organization": Organization::schema(),
        "OrganizationSummary": OrganizationSummary::schema(),
        "OrganizationUser": OrganizationUser::schema(),
        "Participant": Participant::schema(),
        "PrivateActivity": PrivateActivity::schema(),
        "PrivateConversation": PrivateConversation::schema(),
        "Subscription": Subscription::schema(),
        "Thread": Thread::schema(),
        "TokenAnswer": TokenAnswer::schema(),
        "User": User::schema(),
    });
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Eddyline", "version": env!("CARGO_PKG_VERSION")},
        "servers": [{"url": base_url}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "basic": {"type": "http", "scheme": "basic", "description": "E-mail and password, or an API token as the user name"},
                "oauth": oauth_scheme(base_url, web),
                "scim": {"type": "http", "scheme": "bearer", "description": "The token of an identity provider"},
                "flow_token": {"type": "apiKey", "in": "query", "name": "flow_token", "description": "A flow's API token"},
            },
        },
    })
}

/// Adds what only the classic profile has.
fn add_classic(document: &mut Value) {
    if let Some(paths) = document["paths"].as_object_mut() {
        for endpoint in routes::classic() {
            describe(paths, "", &endpoint);
        }
    }
    document["components"]["schemas"]["RegisteredApplication"] = json!(RegisteredApplication::schema());
}

fn describe(paths: &mut Map<String, Value>, prefix: &str, endpoint: &Endpoint) {
    let path = format!("{prefix}{}", endpoint.path);
    let mut parameters: Vec<Value> = endpoint
        .path
        .split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}))
        .collect();
    let reads = endpoint.method == Method::GET;
    if reads {
        parameters.extend(endpoint.parameters.iter().map(query_parameter));
    }
    let mut operation =
        json!({"summary": endpoint.summary, "parameters": parameters, "responses": responses(endpoint)});
    if !reads && !endpoint.parameters.is_empty() {
        operation["requestBody"] = body(&endpoint.parameters);
    }
    if matches!(endpoint.takes, BodyKind::Resource) && operation["requestBody"].is_object() {
        let schema = operation["requestBody"]["content"][media::JSON].clone();
        operation["requestBody"]["content"] = json!({media::JSON: schema, media::SCIM_JSON: schema});
    }
    if endpoint.takes.forms_with_parts() {
        let schema = operation["requestBody"]["content"][media::JSON]["schema"].clone();
        operation["requestBody"]["content"][media::MULTIPART] = json!({"schema": schema});
    }
    if let BodyKind::File(file) = endpoint.takes {
        let kinds: Map<String, Value> =
            file.kinds.iter().map(|kind| ((*kind).to_owned(), json!({}))).collect();
        operation["requestBody"] = json!({"required": true, "content": kinds});
    }
    match endpoint.access {
        Access::Caller => operation["security"] = security(endpoint.scopes),
        Access::Provider => operation["security"] = json!([{"scim": []}]),
        Access::Public | Access::TokensInPath => {}
    }
    let item = paths.entry(path).or_insert_with(|| json!({}));
    item[endpoint.method.as_str().to_ascii_lowercase()] = operation;
}

/// What may be shown: an access token with any of the scopes, or something that needs none.
fn security(scopes: &[Scope]) -> Value {
    let mut ways = vec![json!({"basic": []}), json!({"flow_token": []})];
    match scopes {
        [] => ways.push(json!({"oauth": []})),
        any => ways.extend(any.iter().map(|scope| json!({"oauth": [scope.as_str()]}))),
    }
    Value::Array(ways)
}

/// Where applications get access tokens, and for what.
fn oauth_scheme(base: &str, web: &str) -> Value {
    let scopes: Map<String, Value> =
        Scope::EACH.iter().map(|scope| (scope.as_str().to_owned(), json!(meaning(*scope)))).collect();
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

fn schema_of(parameter: &Parameter) -> Value {
    match parameter.kind {
        "array" => json!({"type": "array", "items": {"type": "string"}, "description": parameter.text}),
        "integers" => json!({"type": "array", "items": {"type": "integer"}, "description": parameter.text}),
        "objects" => json!({"type": "array", "items": {"type": "object"}, "description": parameter.text}),
        kind => json!({"type": kind, "description": parameter.text}),
    }
}

fn query_parameter(parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name,
        "in": "query",
        "required": parameter.required,
        "description": parameter.text,
        "schema": schema_of(parameter),
    })
}

fn body(parameters: &[Parameter]) -> Value {
    let properties: Map<String, Value> =
        parameters.iter().map(|p| (p.name.to_owned(), schema_of(p))).collect();
    let required: Vec<&str> = parameters.iter().filter(|p| p.required).map(|p| p.name).collect();
    let schema = json!({"type": "object", "properties": properties, "required": required});
    json!({"content": {
        media::JSON: {"schema": schema},
        media::FORM: {"schema": schema},
    }})
}

fn responses(endpoint: &Endpoint) -> Value {
    let mut responses = Map::new();
    for answer in &endpoint.answers {
        responses.insert(answer.status.to_string(), response(answer));
    }
    let error = json!({"$ref": "#/components/schemas/ErrorBody"});
    let content = json!({media::JSON: {"schema": error}});
    responses.insert("default".into(), json!({"description": "What is wrong", "content": content}));
    Value::Object(responses)
}

fn response(answer: &Described) -> Value {
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let schema = match &answer.schema {
        None => return json!({"description": answer.text}),
        Some(Shape::One(name)) => reference(name),
        Some(Shape::Many(name)) => json!({"type": "array", "items": reference(name)}),
        Some(Shape::Empty) => json!({"type": "object"}),
        Some(Shape::Media(types)) => {
            let content: Map<String, Value> =
                types.iter().map(|kind| ((*kind).to_owned(), json!({}))).collect();
            return json!({"description": answer.text, "content": content});
        }
    };
    json!({"description": answer.text, "content": {media::JSON: {"schema": schema}}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_endpoint_stands_in_the_document_with_an_answer() {
        let document = document("http://example.org", "http://example.org", Some("/stream"));
        let described = |prefix: &str, endpoint: &Endpoint| {
            let method = endpoint.method.as_str().to_ascii_lowercase();
            document["paths"][format!("{prefix}{}", endpoint.path)][method]["summary"].is_string()
        };
        for endpoint in routes::api() {
            assert!(described("", &endpoint), "{} {}", endpoint.method, endpoint.path);
            assert!(!endpoint.answers.is_empty(), "{} {}", endpoint.method, endpoint.path);
        }
        for endpoint in routes::streams() {
            assert!(described("/stream", &endpoint), "{} {}", endpoint.method, endpoint.path);
        }
    }

    #[test]
    fn an_access_token_is_good_for_nothing_by_oversight() {
        let all = routes::api().into_iter().chain(routes::streams());
        let any_scope: Vec<_> = all
            .filter(|endpoint| endpoint.access == Access::Caller && endpoint.scopes.is_empty())
            .map(|endpoint| format!("{} {}", endpoint.method, endpoint.path))
            .collect();
        assert_eq!(any_scope, ["GET /user"]);
    }

    #[test]
    fn streams_and_files_have_their_own_content_types() {
        let document = document("http://example.org", "http://example.org", Some("/stream"));
        let types = |path: &str| -> Vec<String> {
            let content = &document["paths"][path]["get"]["responses"]["200"]["content"];
            content.as_object().unwrap().keys().cloned().collect()
        };
        assert_eq!(types("/stream/flows"), ["application/json", "text/event-stream"]);
        assert_eq!(types("/avatars/{avatar}"), ["image/jpeg", "image/png", "image/svg+xml"]);
    }

    #[test]
    fn operations_and_addresses_of_scim_are_objects() {
        let document = document("http://example.org", "http://example.org", None);
        let items = |method: &str, field: &str| {
            let content = &document["paths"]["/scim/{uid}/Users/{user}"][method]["requestBody"]["content"];
            content["application/scim+json"]["schema"]["properties"][field]["items"]["type"].clone()
        };
        assert_eq!(
            (items("patch", "Operations"), items("put", "emails")),
            (json!("object"), json!("object"))
        );
    }

    #[test]
    fn every_reference_in_the_document_leads_somewhere() {
        let mut document = document("http://example.org", "http://example.org", None);
        add_classic(&mut document);
        let text = document.to_string();
        let names = text.split("\"#/components/schemas/").skip(1).filter_map(|rest| rest.split('"').next());
        for name in names {
            assert!(document["components"]["schemas"][name].is_object(), "{name}");
        }
    }
}
