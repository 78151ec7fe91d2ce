//! Reading what a client sends: a form or JSON, and who it is. Only the body counts: addresses end
//! up in logs, and secrets must not (RFC 6749, section 2.3.1).

use std::fmt;

use eddyline_app::{AuthenticatedClient, ClientCredentials, Error, OAuthError, OAuthParameters};
use eddyline_wire::forms::{self, Bounds, MAX_PAIRS};
use eddyline_wire::text_of_number;
use http::header::AUTHORIZATION;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::context::RequestContext;
use crate::json;
use crate::media::BodyType;
use crate::requester::Anybody;

/// The parameters that any of the endpoints reads.
const KNOWN: [&str; 12] = [
    "client_id",
    "client_secret",
    "code",
    "code_verifier",
    "grant_type",
    "password",
    "redirect_uri",
    "refresh_token",
    "scope",
    "token",
    "token_type_hint",
    "username",
];

/// A request of a client.
pub(super) struct ClientRequest {
    /// Who it says it is.
    credentials: ClientCredentials,
    /// All that it sent.
    pub(super) body: OAuthParameters,
}

impl ClientRequest {
    pub(super) fn read(ctx: &RequestContext<Anybody>) -> Result<Self, OAuthError> {
        let body = match BodyType::of(&ctx.headers) {
            BodyType::Json | BodyType::TextJson => from_json(&ctx.raw)?,
            BodyType::Unnamed | BodyType::Form => from_form(&ctx.raw)?,
            _ => {
                return Err(unreadable(
                    "Content-Type must be that of a form, or application/json",
                ));
            }
        };
        let mut headers = ctx.headers.get_all(AUTHORIZATION).iter();
        let header = headers.next().map(http::HeaderValue::as_bytes);
        if headers.next().is_some() {
            return Err(unreadable("Authorization is given more than once"));
        }
        Ok(Self {
            credentials: ClientCredentials::read(header, &body)?,
            body,
        })
    }

    /// Who it is. This comes before anything else it sent is judged.
    pub(super) async fn client(
        &self,
        ctx: &RequestContext<Anybody>,
    ) -> Result<AuthenticatedClient, Error> {
        ctx.app()
            .oauth()
            .authenticate_client(&self.credentials, ctx.client_address())
            .await
    }

    pub(super) fn needed(&self, name: &str) -> Result<&str, OAuthError> {
        self.body
            .get(name)?
            .ok_or_else(|| OAuthError::missing(name))
    }
}

fn from_form(bytes: &[u8]) -> Result<OAuthParameters, OAuthError> {
    let pairs = forms::pairs(bytes);
    Ok(OAuthParameters::new(pairs.ok_or_else(|| {
        unreadable(&format!(
            "The body is no form of UTF-8 with at most {MAX_PAIRS} pairs"
        ))
    })?))
}

fn from_json(bytes: &[u8]) -> Result<OAuthParameters, OAuthError> {
    // This one knows how deep an object may be; but of a repeated name it keeps one value only.
    json::parse_object(bytes, Bounds::STRANGER).map_err(|error| unreadable(&error.to_string()))?;
    let text = std::str::from_utf8(bytes)
        .unwrap_or_default()
        .trim_start_matches('\u{feff}');
    let object = match text.trim_ascii() {
        "" => Vec::new(),
        text => {
            serde_json::from_str::<Pairs>(text)
                .map_err(|_| unreadable("The body is no object"))?
                .0
        }
    };
    // What nobody reads may be of any kind.
    let read = object
        .into_iter()
        .filter(|(name, _)| KNOWN.contains(&name.as_str()));
    let pairs = read.filter_map(|(name, value)| match value {
        Value::Null => None,
        Value::String(text) if !text.contains('\0') => Some(Ok((name, text))),
        Value::Number(number) => Some(match text_of_number(&number) {
            Ok(text) => Ok((name, text)),
            Err(wrong) => Err(OAuthError::InvalidRequest(format!("{name} {wrong}"))),
        }),
        _ => Some(Err(OAuthError::InvalidRequest(format!(
            "{name} must be a text"
        )))),
    });
    Ok(OAuthParameters::new(pairs.collect::<Result<Vec<_>, _>>()?))
}

/// An object with all that stands in it, in its order.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collector;
        impl<'de> Visitor<'de> for Collector {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Collector)
    }
}

fn unreadable(text: &str) -> OAuthError {
    OAuthError::InvalidRequest(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_and_an_object_say_the_same() {
        let form =
            from_form(b"grant_type=password&username=ann%40x.example&scope=flow+private&empty=")
                .unwrap();
        let object = br#"{"grant_type": "password", "username": "ann@x.example", "scope": "flow private", "empty": null}"#;
        let object = from_json(object).unwrap();
        for body in [form, object] {
            assert_eq!(body.get("username"), Ok(Some("ann@x.example")));
            assert_eq!(body.get("scope"), Ok(Some("flow private")));
            assert_eq!(body.get("empty"), Ok(None));
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for bad in [&b"a=%ff"[..], b"a=%00", b"\xff"] {
            assert!(
                matches!(from_form(bad), Err(OAuthError::InvalidRequest(_))),
                "{bad:?}"
            );
        }
        for bad in [
            &b"["[..],
            b"[]",
            br#"{"code": {}}"#,
            br#"{"code": ["b"]}"#,
            br#"{"code": "\u0000"}"#,
        ] {
            assert!(
                matches!(from_json(bad), Err(OAuthError::InvalidRequest(_))),
                "{bad:?}"
            );
        }
    }

    #[test]
    fn what_nobody_reads_may_be_anything() {
        let object = from_json(br#"{"code": "c", "remember": true, "more": {"a": []}}"#).unwrap();
        assert_eq!(object.get("code"), Ok(Some("c")));
    }

    #[test]
    fn a_parameter_that_comes_twice_is_noticed() {
        for body in [
            from_form(b"code=a&code=b").unwrap(),
            from_json(br#"{"code": "a", "code": "b"}"#).unwrap(),
        ] {
            assert!(body.get("code").is_err());
        }
    }
}
