//! The wire on record: with `EDDYLINE_TEST_RECORD=FOLDER`, every request of a test and its whole
//! answer go to a file that is named after the test. `diff -r` of two such folders shows what a
//! change of the server means to its clients.
//!
//! Whatever differs from run to run is masked: times, ids, secrets, addresses. Streams are left
//! out.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::LazyLock;

use eddyline_client::Exchange;
use regex::{Captures, Regex};

static FOLDER: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let folder = PathBuf::from(std::env::var_os("EDDYLINE_TEST_RECORD")?);
    std::fs::create_dir_all(&folder).unwrap();
    Some(folder)
});

/// What is masked, in this order, and what stands in its place.
static MASKS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let masks = [
        (r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "TIME"),
        (
            r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} 20[0-9]{2} [0-9:]{8} GMT",
            "TIME",
        ),
        (r"\b(127\.0\.0\.1|localhost)(:|%3A)[0-9]+", "HOST"),
        (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UUID"),
        (r"\b[0-9a-f]+-[0-9a-f]{8}\b", "EVENT"),
        (r"\b1[0-9]{9}([0-9]{3})?\b", "TIME"),
        (r"\borg[0-9]+\b", "ORG"),
        (r"\b[0-9a-f]{16,}\b", "HEX"),
        (
            r#"("[a-z_]*(?:id|ids|user|to|parent|source|thread|message)":\s*"?)[0-9]+\b"#,
            "${1}ID",
        ),
        (
            r"((?:retry-after|ratelimit[a-z-]*|content-length|etag): ).*",
            "${1}VARIES",
        ),
        (
            r#"(micros|expires_in|last_activity|sent|created_at|updated_at)("?[:=]"?)[0-9]+"#,
            "${1}${2}TIME",
        ),
        (r"(user:|unread:|/)[0-9]+\b", "${1}ID"),
    ];
    masks
        .map(|(pattern, mask)| (Regex::new(pattern).unwrap(), mask))
        .into()
});

/// What may be a secret: long, with letters and digits.
static LONG: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[A-Za-z0-9_+=-]{20,}").unwrap());

/// Whether the wire goes on record.
pub(crate) fn is_on() -> bool {
    FOLDER.is_some()
}

/// Records what a client sent, and what it was answered.
pub(crate) fn exchange(exchange: &Exchange<'_>) {
    let request = exchange.request;
    let mut sent = format!("{} {}\n", request.method(), request.uri());
    headers(&mut sent, request.headers());
    sent += &String::from_utf8_lossy(request.body());
    let mut answer = format!("{}\n", exchange.status.as_u16());
    headers(&mut answer, exchange.headers);
    answer += &String::from_utf8_lossy(exchange.body);
    note(&sent, &answer);
}

fn headers(out: &mut String, headers: &eddyline_client::HeaderMap) {
    for (name, value) in headers {
        let _ = writeln!(out, "{name}: {}", String::from_utf8_lossy(value.as_bytes()));
    }
    out.push('\n');
}

/// Records the text of a request and of its answer.
pub(crate) fn note(request: &str, answer: &str) {
    let Some(folder) = &*FOLDER else { return };
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("unnamed").replace("::", ".");
    let text = format!("> {}\n< {}\n\n", mask(request), mask(answer)).replace("\r\n", "\n");
    // One write, since several threads of a test may record.
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(folder.join(name))
        .unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn mask(text: &str) -> String {
    let masked = MASKS.iter().fold(text.to_owned(), |text, (what, mask)| {
        what.replace_all(&text, *mask).into_owned()
    });
    let secret = |found: &Captures<'_>| {
        let is_mixed = found[0].bytes().any(|byte| byte.is_ascii_digit())
            && found[0].bytes().any(|byte| byte.is_ascii_alphabetic());
        if is_mixed {
            "SECRET".to_owned()
        } else {
            found[0].to_owned()
        }
    };
    LONG.replace_all(&masked, secret).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_masked() {
        let body = r#"{"id":17,"user":"4","sent":1763913600123,"uuid":"79c12703-2ca5-407b-ae94-482984985d9f"}"#;
        assert_eq!(
            mask(body),
            r#"{"id":ID,"user":"ID","sent":TIME,"uuid":"UUID"}"#
        );
        let request = "GET http://127.0.0.1:41234/flows/org17/main/messages/5?since_id=9&limit=30";
        assert_eq!(
            mask(request),
            "GET http://HOST/flows/ORG/main/messages/ID?since_id=9&limit=30"
        );
        assert_eq!(mask("Basic N2M5MWZmMmZmZDM3ZWRiNTcz:"), "Basic SECRET:");
        assert_eq!(mask("date: Mon, 23 Nov 2026 16:30:00 GMT"), "date: TIME");
    }

    #[test]
    fn what_a_server_says_stays() {
        let text = r#"{"message":"Validation failed","errors":{"content":["can't be blank"]},"limit":100}"#;
        assert_eq!(mask(text), text);
    }
}
