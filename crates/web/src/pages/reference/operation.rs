//! An operation as the reference shows it.

use serde_json::{Map, Value};

use super::{array, curl, text};

/// An operation.
#[derive(Clone)]
pub(super) struct OperationView {
    /// Its id in the document, by which links name it.
    pub(super) id: String,
    /// The name of its group.
    pub(super) group: String,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) summary: String,
    /// What a caller can show, any one of these.
    pub(super) access: Vec<String>,
    pub(super) inputs: Vec<InputView>,
    /// Content types of the body.
    pub(super) body_types: String,
    pub(super) answers: Vec<ResponseView>,
    /// An example of what it answers when all goes well.
    pub(super) answer_example: Option<String>,
    /// A command that calls it.
    pub(super) curl: String,
}

/// Something that a request has.
#[derive(Clone)]
pub(super) struct InputView {
    pub(super) name: String,
    /// `path`, `query`, `header` or `body`.
    pub(super) place: String,
    pub(super) is_required: bool,
    pub(super) kind: String,
    /// What it means.
    pub(super) text: String,
    /// What a value must be like.
    pub(super) bounds: String,
}

/// An answer.
#[derive(Clone)]
pub(super) struct ResponseView {
    pub(super) status: String,
    pub(super) text: String,
}

/// All operations of a document, in its order.
pub(super) fn all(document: &Value, base: &str) -> Vec<OperationView> {
    let paths = document["paths"].as_object();
    let each = paths.into_iter().flatten().flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flatten();
        methods.map(move |(method, operation)| of(document, base, (method, path), operation))
    });
    each.collect()
}

fn of(
    document: &Value,
    base: &str,
    (method, path): (&str, &str),
    operation: &Value,
) -> OperationView {
    let content = operation["requestBody"]["content"].as_object();
    let types: Vec<&str> = content
        .into_iter()
        .flatten()
        .map(|(kind, _)| kind.as_str())
        .collect();
    let mut inputs: Vec<InputView> = array(&operation["parameters"])
        .iter()
        .map(parameter)
        .collect();
    inputs.extend(members(document, content));
    let method = method.to_ascii_uppercase();
    OperationView {
        id: text(&operation["operationId"]),
        group: text(&operation["tags"][0]),
        summary: text(&operation["summary"]),
        access: access_of(operation),
        inputs,
        body_types: types.join(", "),
        answers: responses(document, operation),
        answer_example: answer_example(document, operation),
        curl: curl::command(base, (&method, path), operation),
        method,
        path: path.to_owned(),
    }
}

/// What a caller can show, in words.
fn access_of(operation: &Value) -> Vec<String> {
    let ways = array(&operation["security"]);
    let schemes = ["basic", "flow_token", "scim", "oauth"];
    let taken = schemes.into_iter().filter_map(|scheme| {
        let mut of = ways
            .iter()
            .map(|way| &way[scheme])
            .filter(|scopes| scopes.is_array())
            .peekable();
        of.peek()?;
        let scopes: Vec<&str> = of.filter_map(|scopes| scopes[0].as_str()).collect();
        Some(match (scheme, scopes.is_empty()) {
            ("basic", _) => "an API token, or e-mail and password".to_owned(),
            ("flow_token", _) => "a flow token".to_owned(),
            ("scim", _) => "the token of an identity provider".to_owned(),
            (_, true) => "an access token of any scope".to_owned(),
            (_, false) => format!("an access token with the scope {}", scopes.join(" or ")),
        })
    });
    taken.collect()
}

fn parameter(parameter: &Value) -> InputView {
    let schema = &parameter["schema"];
    InputView {
        name: text(&parameter["name"]),
        place: text(&parameter["in"]),
        is_required: parameter["required"] == true,
        kind: kind_of(schema),
        text: text(&parameter["description"]),
        bounds: bounds_of(schema),
    }
}

/// The members of the body, as its first content type has them.
fn members(document: &Value, content: Option<&Map<String, Value>>) -> Vec<InputView> {
    let first = content.into_iter().flatten().next();
    let Some(schema) = first.map(|(_, first)| resolved(document, &first["schema"])) else {
        return Vec::new();
    };
    let required = array(&schema["required"]);
    let properties = schema["properties"].as_object().into_iter().flatten();
    let each = properties.map(|(name, schema)| InputView {
        name: name.clone(),
        place: "body".to_owned(),
        is_required: required.iter().any(|one| one == name.as_str()),
        kind: kind_of(schema),
        text: text(&schema["description"]),
        bounds: bounds_of(schema),
    });
    each.collect()
}

fn responses(document: &Value, operation: &Value) -> Vec<ResponseView> {
    let responses = operation["responses"].as_object().into_iter().flatten();
    let each = responses
        .filter(|(status, _)| *status != "default")
        .map(|(status, response)| ResponseView {
            status: status.clone(),
            text: text(&resolved(document, response)["description"]),
        });
    each.collect()
}

fn answer_example(document: &Value, operation: &Value) -> Option<String> {
    let responses = operation["responses"].as_object()?;
    let (_, response) = responses
        .iter()
        .find(|(status, _)| status.starts_with('2'))?;
    let schema = &response["content"]["application/json"]["schema"];
    let one = |schema: &Value| Some(resolved(document, schema)["examples"].get(0)?.clone());
    let example = match schema["items"].is_null() {
        true => one(schema)?,
        false => Value::Array(vec![one(&schema["items"])?]),
    };
    Some(pretty(&example))
}

/// What a reference leads to, or the value itself.
fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let place = value["$ref"]
        .as_str()
        .map(|place| place.trim_start_matches('#'));
    place
        .and_then(|place| document.pointer(place))
        .unwrap_or(value)
}

/// The types of a schema, in words.
fn kind_of(schema: &Value) -> String {
    let kinds = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().map(text).collect::<Vec<_>>().join(" or "),
        kind => text(kind),
    };
    match kind_of_items(schema) {
        Some(of) => format!("{kinds} of {of}"),
        None => kinds,
    }
}

fn kind_of_items(schema: &Value) -> Option<&str> {
    schema["items"]["type"].as_str()
}

/// The bounds of a schema, in words.
fn bounds_of(schema: &Value) -> String {
    let mut bounds = Vec::new();
    let range = |least: &str, most: &str, unit: &str| {
        let (least, most) = (&schema[least], &schema[most]);
        match (least.is_null(), most.is_null()) {
            (true, true) => None,
            (false, true) => Some(format!("at least {least}{unit}")),
            (true, false) => Some(format!("at most {most}{unit}")),
            (false, false) => Some(format!("{least} to {most}{unit}")),
        }
    };
    bounds.extend(range("minimum", "maximum", ""));
    bounds.extend(range("minLength", "maxLength", " characters"));
    bounds.extend(range("minItems", "maxItems", " entries"));
    let choices = array(&schema["enum"])
        .iter()
        .map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned));
    let choices: Vec<String> = choices.collect();
    if !choices.is_empty() {
        bounds.push(format!("one of {}", choices.join(", ")));
    }
    if !schema["default"].is_null() {
        bounds.push(format!("default {}", schema["default"]));
    }
    bounds.join("; ")
}

/// JSON for people.
pub(super) fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bounds_are_in_words() {
        let limit = json!({"type": "integer", "minimum": 1, "maximum": 100, "default": 30});
        assert_eq!(bounds_of(&limit), "1 to 100; default 30");
        let name = json!({"type": "string", "maxLength": 50});
        assert_eq!(bounds_of(&name), "at most 50 characters");
        let sort = json!({"type": "string", "enum": ["asc", "desc"]});
        assert_eq!(bounds_of(&sort), "one of asc, desc");
        assert_eq!(bounds_of(&json!({"type": "string"})), "");
    }

    #[test]
    fn kinds_are_in_words() {
        assert_eq!(
            kind_of(&json!({"type": ["string", "null"]})),
            "string or null"
        );
        let tags = json!({"type": "array", "items": {"type": "string"}});
        assert_eq!(kind_of(&tags), "array of string");
    }
}
