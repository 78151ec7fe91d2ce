//! What a request takes: segments of the path, headers, the query and the body.

use eddyline_wire::request::ParameterSpec;
use serde_json::{Map, Value, json};

use crate::examples;

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

/// Parameters of the path that are refused as those of a query are, each by name.
const CHECKED: &[&str] = &["emoji"];

/// Whether a path has parameters that can be refused.
pub(crate) fn has_checked_parameter(path: &str) -> bool {
    CHECKED
        .iter()
        .any(|name| path.contains(&format!("{{{name}}}")))
}

pub(crate) fn path_parameter(operation: &str, name: &str) -> Value {
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

pub(crate) fn header_parameter(name: &str, text: &str) -> Value {
    json!({"name": name, "in": "header", "required": false, "description": text, "schema": {"type": "string"}})
}

pub(crate) fn query_parameter(operation: &str, parameter: &ParameterSpec) -> Value {
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

pub(crate) fn body_schema(operation: &str, parameters: &[ParameterSpec]) -> Value {
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
pub(crate) fn body_example(operation: &str, parameters: &[ParameterSpec]) -> Value {
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
