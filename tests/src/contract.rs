//! Every answer that a client of the tests gets is held against the OpenAPI document: its status
//! must be described, as must the headers that clients go by, and the content type and the body
//! must be as described. Otherwise the test fails.
//!
//! Every event that a [`Listener`](crate::Listener) hears is held against the AsyncAPI document in the same way: there
//! must be a message of its name, and its object must be of that message's schema.
//!
//! The document is that of the first server of the same profile. Streams and servers with TLS are
//! left out, and so is what is at no path of the document. With
//! `EDDYLINE_TEST_CONTRACT_REPORT=FILE`, tests go on, and the file lists what is not as described.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use eddyline_client::Exchange;
use eddyline_model::paths::{OLD_PREFIX, keeps_suffix};
use flate2::read::GzDecoder;
use jsonschema::Validator;
use serde_json::{Map, Value, json};

/// Headers of answers that clients go by.
const HEADERS: [&str; 6] = [
    "content-range",
    "etag",
    "link",
    "location",
    "retry-after",
    "www-authenticate",
];

/// What is answered, whatever is asked for, to requests that cannot be read, to those with a flow
/// token that has ended, and when the server is broken. Operations need not name it.
const ANYWHERE: [u16; 5] = [400, 410, 413, 415, 500];

/// A path of the document with an operation.
struct Operation {
    method: String,
    segments: Vec<String>,
    responses: Value,
}

/// The document, ready to judge.
struct Contract {
    operations: Vec<Operation>,
    document: Value,
    /// The AsyncAPI document.
    streams: Value,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

/// The documents of the two profiles.
static SPEC: OnceLock<Contract> = OnceLock::new();
static CLASSIC: OnceLock<Contract> = OnceLock::new();

/// Holds an answer of a server in the classic profile, or not, against the document.
///
/// # Panics
///
/// When the document does not describe it.
pub(crate) fn check(exchange: &Exchange<'_>, is_classic: bool) {
    let uri = exchange.request.uri();
    let Some(authority) = uri.authority().filter(|_| uri.scheme_str() == Some("http")) else {
        return;
    };
    let known = if is_classic { &CLASSIC } else { &SPEC };
    if known.get().is_none()
        && let Some(contract) = Contract::of(authority.as_str())
    {
        // Another thread may have been first.
        let _ = known.set(contract);
    }
    let Some(contract) = known.get() else { return };
    if let Err(violation) = contract.judge(exchange) {
        let (method, status) = (exchange.request.method(), exchange.status);
        let body = String::from_utf8_lossy(exchange.body);
        let text = format!(
            "{method} {uri} answered {status}, which is not as described: {violation}\n{body}"
        );
        match std::env::var_os("EDDYLINE_TEST_CONTRACT_REPORT") {
            None => panic!("{text}"),
            Some(file) => {
                let mut file = std::fs::OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(file)
                    .unwrap();
                file.write_all(format!("{text}\n\n").as_bytes()).unwrap();
            }
        }
    }
}

/// Holds an event of a stream against the AsyncAPI document. Which profile the server has is not known
/// here, so an event may be as either of the known documents says.
///
/// # Panics
///
/// When none describes it.
pub(crate) fn check_event(event: &Value) {
    let known = [SPEC.get(), CLASSIC.get()].into_iter().flatten();
    let verdicts: Vec<_> = known.map(|contract| contract.judge_event(event)).collect();
    let violations: Vec<String> = verdicts
        .iter()
        .filter_map(|verdict| verdict.clone().err())
        .collect();
    assert!(
        violations.len() < verdicts.len() || verdicts.is_empty(),
        "the stream told what is not as described: {}\n{event}",
        violations.join("\n")
    );
}

impl Contract {
    /// That of a server; `None` where there is none, as on the address of the stream.
    ///
    /// # Panics
    ///
    /// When the document cannot be read: nothing would be checked from then on.
    fn of(authority: &str) -> Option<Self> {
        let document: Value =
            serde_json::from_slice(&fetch(authority, "/openapi.json")?).expect("it is JSON");
        let streams = serde_json::from_slice(&fetch(authority, "/asyncapi.json")?);
        let operations = document["paths"]
            .as_object()
            .expect("it has paths")
            .iter()
            .flat_map(|(path, item)| {
                item.as_object()
                    .into_iter()
                    .flatten()
                    .map(|(method, operation)| Operation {
                        method: method.to_ascii_uppercase(),
                        segments: segments(path).into_iter().map(str::to_owned).collect(),
                        responses: operation["responses"].clone(),
                    })
            });
        Some(Self {
            operations: operations.collect(),
            document,
            streams: streams.expect("the AsyncAPI document is JSON"),
            validators: Mutex::default(),
        })
    }

    fn judge(&self, exchange: &Exchange<'_>) -> Result<(), String> {
        let method = exchange.request.method().as_str();
        let Some(operation) = self.operation(method, exchange.request.uri().path()) else {
            return Ok(());
        };
        let response = self
            .response(operation, exchange.status.as_u16())
            .ok_or("the status is not described")?;
        let described = |name: &str| {
            response["headers"]
                .as_object()
                .into_iter()
                .flatten()
                .any(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        if let Some(name) = HEADERS
            .iter()
            .find(|name| exchange.headers.contains_key(**name) && !described(name))
        {
            return Err(format!("the header {name} is not described"));
        }
        let Some(content) = response["content"].as_object() else {
            return if exchange.body.is_empty() {
                Ok(())
            } else {
                Err("it has a body".to_owned())
            };
        };
        self.judge_body(exchange, content)
    }

    /// What is described for a status.
    fn response<'a>(&'a self, operation: &'a Operation, status: u16) -> Option<&'a Value> {
        let named = operation.responses.get(status.to_string());
        let response = named.or_else(|| {
            // All others are named.
            operation
                .responses
                .get("default")
                .filter(|_| ANYWHERE.contains(&status))
        })?;
        match response["$ref"].as_str() {
            Some(reference) => self.document.pointer(reference.trim_start_matches('#')),
            None => Some(response),
        }
    }

    fn judge_body(
        &self,
        exchange: &Exchange<'_>,
        content: &Map<String, Value>,
    ) -> Result<(), String> {
        if exchange.body.is_empty() {
            return Ok(());
        }
        let kind = exchange
            .headers
            .get("content-type")
            .and_then(|kind| kind.to_str().ok());
        let kind = kind
            .and_then(|kind| kind.split(';').next())
            .unwrap_or_default();
        let described = content.get(kind).or_else(|| content.get("*/*"));
        let schema = &described
            .ok_or_else(|| format!("the content type {kind} is not described"))?["schema"];
        if !kind.ends_with("json") {
            return Ok(());
        }
        let body: Value =
            serde_json::from_slice(&plain(exchange)?).map_err(|error| error.to_string())?;
        let errors: Vec<String> = self
            .validator(schema, &self.document)
            .iter_errors(&body)
            .map(|error| format!("{error} at {}", error.instance_path()))
            .collect();
        if errors.is_empty() {
            Ok(())
        } else {
            Err(errors.join("; "))
        }
    }

    /// The operation at a path: that with the most segments by name.
    fn operation(&self, method: &str, path: &str) -> Option<&Operation> {
        let asked = segments(path);
        let fits = |operation: &&Operation| {
            operation.segments.len() == asked.len()
                && operation
                    .segments
                    .iter()
                    .zip(&asked)
                    .all(|(segment, asked)| segment.starts_with('{') || segment == asked)
        };
        let named = |operation: &&Operation| {
            operation
                .segments
                .iter()
                .filter(|s| !s.starts_with('{'))
                .count()
        };
        let of = |method: &str| {
            let all = self
                .operations
                .iter()
                .filter(|operation| operation.method == method);
            all.filter(fits).max_by_key(named)
        };
        of(method).or_else(|| match method {
            "HEAD" => of("GET"),
            // Endpoints that do not tell them apart serve both alike.
            "PATCH" => of("PUT"),
            _ => None,
        })
    }

    /// What is wrong with an event of a stream.
    fn judge_event(&self, event: &Value) -> Result<(), String> {
        let name = event["event"].as_str().unwrap_or_default();
        let message = self.streams["components"]["messages"].get(name);
        let schema = &message.ok_or("no event of this name is described")?["payload"];
        let validator = self.validator(schema, &self.streams);
        let errors = validator.iter_errors(event);
        let errors: Vec<String> = errors
            .map(|error| format!("{error} at {}", error.instance_path()))
            .collect();
        if errors.is_empty() {
            Ok(())
        } else {
            Err(errors.join("; "))
        }
    }

    /// That of a schema of one of the documents.
    fn validator(&self, schema: &Value, document: &Value) -> Arc<Validator> {
        let mut validators = self.validators.lock().unwrap();
        let validator = validators.entry(schema.to_string()).or_insert_with(|| {
            let whole = json!({"allOf": [schema], "components": document["components"]});
            Arc::new(jsonschema::validator_for(&whole).unwrap())
        });
        validator.clone()
    }
}

/// The segments of a path, without what the forms of old clients add to it.
fn segments(path: &str) -> Vec<&str> {
    let mut segments: Vec<&str> = path
        .split('/')
        .filter(|segment| !segment.is_empty())
        .collect();
    if segments.first() == Some(&OLD_PREFIX) {
        segments.remove(0);
    }
    if !keeps_suffix(&segments)
        && let Some(last) = segments.last_mut()
    {
        *last = last
            .strip_suffix(".json")
            .filter(|stem| !stem.is_empty())
            .unwrap_or(last);
    }
    segments
}

/// The body as it was before it was compressed.
fn plain<'a>(exchange: &Exchange<'a>) -> Result<Cow<'a, [u8]>, String> {
    match exchange
        .headers
        .get("content-encoding")
        .map(AsRef::<[u8]>::as_ref)
    {
        None => Ok(Cow::Borrowed(exchange.body)),
        Some(b"gzip") => {
            let mut plain = Vec::new();
            GzDecoder::new(&exchange.body[..])
                .read_to_end(&mut plain)
                .map_err(|error| error.to_string())?;
            Ok(Cow::Owned(plain))
        }
        Some(_) => Err("it is compressed in an unknown way".to_owned()),
    }
}

fn fetch(authority: &str, path: &str) -> Option<Vec<u8>> {
    let mut socket = TcpStream::connect(authority).ok()?;
    socket
        .set_read_timeout(Some(Duration::from_secs(60)))
        .ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).ok()?;
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    answer
        .starts_with(b"HTTP/1.1 200")
        .then(|| answer[end + 4..].to_vec())
}
