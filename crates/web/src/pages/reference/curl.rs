//! The command by which a reader calls an operation from a terminal.

use serde_json::Value;

use super::{array, text};

/// A `curl` command for an operation, with its example values. `TOKEN` stands for the credentials.
pub(super) fn command(base: &str, (method, path): (&str, &str), operation: &Value) -> String {
    let mut parts = vec!["curl".to_owned()];
    let content = operation["requestBody"]["content"].as_object();
    let body = content.into_iter().flatten().next();
    let usual = if body.is_some() { "POST" } else { "GET" };
    if method != usual {
        parts.push(format!("-X {method}"));
    }
    if streams(operation) {
        parts.push("-N".to_owned());
    }
    let mut query = query_of(operation);
    match credentials(operation) {
        Credential::None => {}
        Credential::Basic => parts.push("-u TOKEN:".to_owned()),
        Credential::Bearer => parts.push("-H 'Authorization: Bearer TOKEN'".to_owned()),
        Credential::FlowToken => query.push("flow_token=TOKEN".to_owned()),
    }
    if let Some((kind, content)) = body {
        parts.push(format!("-H 'Content-Type: {kind}'"));
        parts.push(match content["example"].is_null() {
            true => "--data-binary @FILE".to_owned(),
            false => format!("-d {}", quoted(&content["example"].to_string())),
        });
    }
    let query = if query.is_empty() {
        String::new()
    } else {
        format!("?{}", query.join("&"))
    };
    parts.push(quoted(&format!("{base}{}{query}", filled(path, operation))));
    parts.join(" ")
}

enum Credential {
    None,
    Basic,
    Bearer,
    FlowToken,
}

/// The first that the operation takes: a user's own, else a flow token, else an access token.
fn credentials(operation: &Value) -> Credential {
    let ways = array(&operation["security"]);
    let takes = |scheme: &str| ways.iter().any(|way| way[scheme].is_array());
    if takes("basic") {
        Credential::Basic
    } else if takes("flow_token") {
        Credential::FlowToken
    } else if takes("oauth") || takes("scim") {
        Credential::Bearer
    } else {
        Credential::None
    }
}

fn streams(operation: &Value) -> bool {
    operation["responses"]["200"]["content"]["text/event-stream"].is_object()
}

/// The parameters that the query must have, and one of those of which it must have any.
fn query_of(operation: &Value) -> Vec<String> {
    let parameters = array(&operation["parameters"])
        .iter()
        .filter(|one| one["in"] == "query");
    let also = match operation["operationId"].as_str() {
        Some("streamFlows") => "flows",
        Some("searchMessages") => "search",
        _ => "",
    };
    let is_sent = |one: &&Value| one["required"] == true || one["name"] == also;
    let sent = parameters.filter(is_sent).map(|one| {
        let example = example_of(one);
        format!("{}={}", text(&one["name"]), escaped(&example))
    });
    sent.collect()
}

/// The path with an example in the place of each parameter.
fn filled(path: &str, operation: &Value) -> String {
    let parameters = array(&operation["parameters"])
        .iter()
        .filter(|one| one["in"] == "path");
    parameters.fold(path.to_owned(), |path, one| {
        let place = format!("{{{}}}", text(&one["name"]));
        path.replace(&place, &escaped(&example_of(one)))
    })
}

fn example_of(parameter: &Value) -> String {
    let example = match parameter["example"].is_null() {
        true => &parameter["schema"]["examples"][0],
        false => &parameter["example"],
    };
    example
        .as_str()
        .map_or_else(|| example.to_string(), str::to_owned)
}

fn escaped(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC)
        .to_string()
        .replace("%2D", "-")
        .replace("%2E", ".")
        .replace("%5F", "_")
}

/// A word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_has_the_examples_of_its_operation() {
        let operation = json!({
            "security": [{"basic": []}, {"oauth": ["flow"]}],
            "parameters": [
                {"name": "flow", "in": "path", "example": "main"},
                {"name": "emoji", "in": "path", "example": "👍"},
                {"name": "limit", "in": "query", "required": false, "schema": {"examples": [30]}},
                {"name": "search", "in": "query", "required": true, "schema": {"examples": ["it's"]}},
            ],
            "requestBody": {"content": {"application/json": {"example": {"content": "it's"}}}},
        });
        let command = command(
            "https://chat.example",
            ("PUT", "/flows/{flow}/{emoji}"),
            &operation,
        );
        assert_eq!(
            command,
            "curl -X PUT -u TOKEN: -H 'Content-Type: application/json' -d '{\"content\":\"it'\\''s\"}' \
             'https://chat.example/flows/main/%F0%9F%91%8D?search=it%27s'"
        );
    }

    #[test]
    fn a_command_shows_the_credentials_that_its_operation_takes() {
        let with = |security: Value| command("", ("GET", "/"), &json!({"security": security}));
        assert_eq!(with(json!([])), "curl '/'");
        assert_eq!(
            with(json!([{"flow_token": []}])),
            "curl '/?flow_token=TOKEN'"
        );
        assert_eq!(
            with(json!([{"scim": []}])),
            "curl -H 'Authorization: Bearer TOKEN' '/'"
        );
    }
}
