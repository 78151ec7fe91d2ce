//! The bytes of requests, made before they are needed.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// A request in the making.
pub(crate) struct Request<'a> {
    /// `GET` or `POST`.
    pub(crate) method: &'static str,
    /// Path and query.
    pub(crate) path: &'a str,
    /// What is shown, if anything.
    pub(crate) token: Option<Credential<'a>>,
    /// Which kind of answer is wanted.
    pub(crate) accept: &'static str,
    /// What is sent, with its kind.
    pub(crate) body: Option<(&'static str, &'a str)>,
}

/// What tells whose request it is.
#[derive(Clone, Copy)]
pub(crate) enum Credential<'a> {
    /// An API token of a user.
    ApiToken(&'a str),
    /// An access token of an application, or the token of an identity provider.
    AccessToken(&'a str),
    /// An e-mail address and a password.
    Password(&'a str, &'a str),
}

impl Credential<'_> {
    fn header(self) -> String {
        let basic = |user: &str, password: &str| {
            let credentials = BASE64_STANDARD.encode(format!("{user}:{password}"));
            format!("Authorization: Basic {credentials}\r\n")
        };
        match self {
            Self::ApiToken(token) => basic(token, ""),
            Self::Password(email, password) => basic(email, password),
            Self::AccessToken(token) => format!("Authorization: Bearer {token}\r\n"),
        }
    }
}

/// Plain JSON in and out.
pub(crate) const JSON: &str = "application/json";
/// Server-sent events.
pub(crate) const EVENTS: &str = "text/event-stream";

impl Request<'_> {
    /// The request as it is sent.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let Self {
            method,
            path,
            accept,
            ..
        } = self;
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: bench\r\nAccept: {accept}\r\n");
        if let Some(token) = self.token {
            text.push_str(&token.header());
        }
        let (kind, body) = self.body.unwrap_or_default();
        if !kind.is_empty() {
            text.push_str(&format!(
                "Content-Type: {kind}\r\nContent-Length: {}\r\n",
                body.len()
            ));
        }
        text.push_str("\r\n");
        text.push_str(body);
        text.into_bytes()
    }
}

/// The body of a chat message. The text needs no escapes.
pub(crate) fn chat(text: &str) -> String {
    format!(r#"{{"event":"message","content":"{text}"}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_post_has_a_body_with_its_length() {
        let body = chat("hello");
        let token = Some(Credential::ApiToken("t"));
        let request = Request {
            method: "POST",
            path: "/m",
            token,
            accept: JSON,
            body: Some((JSON, &body)),
        };
        let text = String::from_utf8(request.bytes()).unwrap();
        assert!(text.contains("Authorization: Basic dDo=\r\n"));
        assert!(text.contains("Content-Length: 37\r\n"));
        assert!(text.ends_with("\r\n\r\n{\"event\":\"message\",\"content\":\"hello\"}"));
    }

    #[test]
    fn a_get_ends_with_its_head() {
        let request = Request {
            method: "GET",
            path: "/m",
            token: None,
            accept: EVENTS,
            body: None,
        };
        assert!(
            request
                .bytes()
                .ends_with(b"Accept: text/event-stream\r\n\r\n")
        );
    }
}
