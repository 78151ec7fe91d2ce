//! Secrets that tests come by: none may stand in a server's log.
//!
//! Whatever makes or receives one here notes it. Each log is searched for all of them when its
//! server ends, and that of a shared server after each test, so that a leak fails the test that was
//! on.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use eddyline_client::Json;

/// What is shorter is no secret, or may stand in a log by chance.
const SHORTEST: usize = 20;
/// The names of secrets in answers.
const NAMES: [&str; 8] = [
    "access_token",
    "api_token",
    "client_secret",
    "code",
    "flow_token",
    "password",
    "refresh_token",
    "token",
];

static KNOWN: Mutex<Option<HashSet<String>>> = Mutex::new(None);

fn known() -> MutexGuard<'static, Option<HashSet<String>>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes a secret.
pub fn note_secret(secret: &str) {
    if secret.len() >= SHORTEST {
        let mut known = known();
        let all = known.get_or_insert_default();
        all.insert(secret.to_owned());
        // As HTTP Basic shows a token.
        all.insert(
            STANDARD
                .encode(format!("{secret}:"))
                .trim_end_matches('=')
                .to_owned(),
        );
    }
}

/// Notes the secrets that an answer tells, by their names.
pub(crate) fn note_secrets_of(answer: &Json) {
    for name in NAMES {
        if let Some(secret) = answer[name].as_str() {
            note_secret(secret);
        }
    }
}

/// The lines of a log that tell a secret which was noted.
pub(crate) fn leaks(log: &str) -> Vec<String> {
    let known = known();
    let Some(known) = known.as_ref() else {
        return Vec::new();
    };
    let in_a_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let (words, phrases): (Vec<&String>, Vec<&String>) = known
        .iter()
        .partition(|secret| secret.chars().all(in_a_word));
    let words: HashSet<&str> = words.into_iter().map(String::as_str).collect();
    let tells = |line: &str| {
        line.split(|c| !in_a_word(c))
            .any(|word| words.contains(word))
            || phrases.iter().any(|phrase| line.contains(phrase.as_str()))
    };
    log.lines()
        .filter(|line| tells(line))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_in_a_log_is_found_in_any_form() {
        let token = "0123456789abcdef_0123-456789abcdef";
        note_secret(token);
        note_secret("a phrase of several words");
        note_secrets_of(
            &serde_json::json!({"api_token": "fedcba9876543210fedcba9876543210", "id": 1}),
        );
        let basic = STANDARD.encode(format!("{token}:"));
        let leaking = [
            format!("GET /?access_token={token}&x=1"),
            format!("Authorization: Basic {basic}"),
            "password: a phrase of several words!".to_owned(),
            "{\"t\":\"fedcba9876543210fedcba9876543210\"}".to_owned(),
        ];
        let log = format!("fine\n{}\n{}x\nfine", leaking.join("\n"), token);
        assert_eq!(leaks(&log), leaking);
    }
}
