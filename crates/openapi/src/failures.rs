//! What goes wrong in the same way at many operations.

use eddyline_wire::media_types;
use http::Method;
use serde_json::{Map, Value, json};

use crate::access::EndpointAccess;
use crate::body_kind::BodyKind;
use crate::operation::Operation;
use crate::parameters::has_checked_parameter;
use crate::response_headers::AnswerHeader;
use crate::schemas::reference;

/// By the names under which answers refer to it.
const FAILURES: &[(u16, &str, &str)] = &[
    (
        400,
        "BadRequest",
        "The request cannot be read, or parameters are refused, each by name",
    ),
    (
        401,
        "Unauthenticated",
        "Credentials are missing, wrong or expired",
    ),
    (
        403,
        "Denied",
        "The caller may not do this, or the access token lacks the scope",
    ),
    (404, "NotFound", "For this caller there is no such thing"),
    (
        409,
        "Conflict",
        "It contradicts what is there, or a limit on how many there may be is reached",
    ),
    (
        410,
        "Gone",
        "The flow token is of a source that was removed",
    ),
    (413, "TooLarge", "The body, or a file in it, is too large"),
    (
        429,
        "TooManyRequests",
        "The caller asks too often, or has too much under way",
    ),
    (
        503,
        "Unavailable",
        "The server is busy or cannot reach its database; nothing was done",
    ),
    (
        507,
        "Full",
        "There is no room for more data, or a quota on files is used up",
    ),
];

/// Each of them, by name.
pub(crate) fn all() -> Value {
    let each = FAILURES.iter().map(|(status, name, text)| {
        (
            (*name).to_owned(),
            response(
                *status,
                text,
                &json!({media_types::JSON: {"schema": reference("ErrorBody")}}),
            ),
        )
    });
    Value::Object(each.collect())
}

/// Those that an operation may answer with, by status.
pub(crate) fn of(operation: &Operation) -> Map<String, Value> {
    let is_scim = matches!(operation.takes, BodyKind::Resource);
    let possible = FAILURES
        .iter()
        .filter(|(status, ..)| can_fail_with(operation, *status));
    let mut failures: Map<String, Value> = possible
        .map(|(status, name, text)| {
            let failure = match is_scim {
                true => response(*status, text, &scim()),
                false => json!({"$ref": format!("#/components/responses/{name}")}),
            };
            (status.to_string(), failure)
        })
        .collect();
    let content = match is_scim {
        true => scim(),
        false => json!({media_types::JSON: {"schema": reference("ErrorBody")}}),
    };
    failures.insert(
        "default".into(),
        json!({"description": "What is wrong", "content": content}),
    );
    failures
}

/// A failure in the two shapes that identity providers may ask for.
pub(crate) fn scim() -> Value {
    json!({
        media_types::JSON: {"schema": reference("ErrorBody")},
        media_types::SCIM_JSON: {"schema": reference("ScimError")},
    })
}

/// The header that a failure of this status has.
pub(crate) fn header(status: u16) -> Option<AnswerHeader> {
    match status {
        401 => Some((
            "WWW-Authenticate",
            "How to authenticate (RFC 9110, section 11.6.1)",
        )),
        403 => Some((
            "WWW-Authenticate",
            "The scopes of which the access token lacks one (RFC 6750, section 3)",
        )),
        429 | 503 => Some(("Retry-After", "Seconds after which to try again")),
        _ => None,
    }
}

fn response(status: u16, text: &str, content: &Value) -> Value {
    let mut response = json!({"description": text, "content": content});
    if let Some((name, about)) = header(status) {
        response["headers"] = json!({name: {"description": about, "schema": {"type": "string"}}});
    }
    response
}

/// Whether an operation may answer with one of the common failures.
fn can_fail_with(operation: &Operation, status: u16) -> bool {
    let is_health = matches!(operation.path, "/healthz" | "/readyz");
    let has_credentials = matches!(
        operation.access,
        EndpointAccess::Caller | EndpointAccess::Provider
    );
    let takes_flow_tokens = match operation.access {
        EndpointAccess::Caller => operation.callers.flow_tokens(),
        EndpointAccess::TokensInPath => true,
        EndpointAccess::Public | EndpointAccess::Provider => false,
    };
    let has_body = operation.method != Method::GET && operation.method != Method::DELETE;
    match status {
        400 => {
            !operation.parameters.is_empty() || has_body || has_checked_parameter(operation.path)
        }
        401 => has_credentials || operation.access == EndpointAccess::TokensInPath,
        403 => has_credentials,
        404 => operation.path.contains('{') || operation.may_be_not_found,
        409 => operation.may_conflict,
        410 => takes_flow_tokens,
        413 => has_body,
        429 => !is_health,
        503 => operation.path != "/healthz",
        507 => has_body && !is_health,
        _ => false,
    }
}
