//! A request being put together.

use bytes::Bytes;
use eddyline_wire::{Request as Parameters, media_types};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, Request};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use crate::client::Client;
use crate::credentials::Credentials;
use crate::error::Error;

/// What stands unencoded in a path segment or a query value.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// `text` as one segment of a path or one value of a query.
pub(crate) fn encode(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

impl Client {
    /// Starts a request to `path` under the REST address, with this client's credentials. The
    /// path is sent as it is given: percent-encode what needs it.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        // Anything else would change the host, to which the credentials go.
        let slash = if path.is_empty() || path.starts_with(['/', '?']) {
            ""
        } else {
            "/"
        };
        self.request_to(method, self.base_url(), &format!("{slash}{path}"))
    }

    pub(crate) fn request_to(&self, method: Method, base: &str, path: &str) -> RequestBuilder {
        RequestBuilder::new(self.clone(), method, format!("{base}{path}"))
    }
}

/// A request being put together; [`send`](Self::send) sends it.
#[must_use = "nothing is sent before `send`"]
pub struct RequestBuilder {
    pub(crate) client: Client,
    method: Method,
    url: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Result<Bytes, Error>,
    pub(crate) anonymous: bool,
}

impl RequestBuilder {
    pub(crate) fn new(client: Client, method: Method, url: String) -> Self {
        Self {
            client,
            method,
            url,
            headers: Vec::new(),
            body: Ok(Bytes::new()),
            anonymous: false,
        }
    }

    /// Adds a query parameter. A name may be repeated.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "numbers read better without a reference"
    )]
    pub fn query(mut self, name: &str, value: impl ToString) -> Self {
        self.url
            .push(if self.url.contains('?') { '&' } else { '?' });
        self.url.push_str(&encode(name));
        self.url.push('=');
        self.url.push_str(&encode(&value.to_string()));
        self
    }

    /// Sends these parameters in the query. [`send`](Self::send) fails if one breaks a bound.
    pub fn query_of(self, parameters: &impl Parameters) -> Self {
        match parameters.check() {
            Ok(()) => parameters
                .to_query()
                .into_iter()
                .fold(self, |request, (name, value)| request.query(&name, value)),
            Err(invalid) => self.fails_with(invalid.into()),
        }
    }

    /// Sends these parameters as `application/json`. [`send`](Self::send) fails if one breaks a
    /// bound.
    pub fn json_of(self, parameters: &impl Parameters) -> Self {
        match parameters.check() {
            Ok(()) => self.json(&parameters.to_json()),
            Err(invalid) => self.fails_with(invalid.into()),
        }
    }

    /// Makes [`send`](Self::send) fail.
    fn fails_with(self, error: Error) -> Self {
        let body = Err(error);
        Self { body, ..self }
    }

    /// Adds a header. A value that HTTP forbids makes [`send`](Self::send) fail.
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers
            .push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// Sends `value` as `application/json`.
    pub fn json(self, value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(body) => self.raw(media_types::JSON, body),
            Err(error) => self.fails_with(Error::Encode(error)),
        }
    }

    /// Sends `fields` as `application/x-www-form-urlencoded`, in their order.
    pub fn form(self, fields: &[(&str, &str)]) -> Self {
        let pairs: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{}={}", encode(name), encode(value)))
            .collect();
        self.raw(media_types::FORM, pairs.join("&"))
    }

    /// Sends these bytes under this content type; an empty one sends no such header.
    pub fn raw(mut self, content_type: &str, body: impl Into<Bytes>) -> Self {
        if !content_type.is_empty() {
            self = self.header(CONTENT_TYPE.as_str(), content_type);
        }
        self.body = Ok(body.into());
        self
    }

    /// Sends none of the client's credentials with this request.
    pub fn anonymous(mut self) -> Self {
        self.anonymous = true;
        self
    }

    pub(crate) fn into_request(mut self) -> Result<Request<Bytes>, Error> {
        let credentials = if self.anonymous {
            Credentials::None
        } else {
            self.client.credentials().clone()
        };
        if let Some((name, value)) = credentials.query() {
            self = self.query(name, value);
        }
        let mut request = Request::builder()
            .method(self.method)
            .uri(self.url)
            .body(self.body?)
            .map_err(Error::Request)?;
        let headers = request.headers_mut();
        if credentials.authorization().is_some() {
            headers.insert(AUTHORIZATION, authorization(&credentials)?);
        }
        for (name, value) in self.headers {
            let name = HeaderName::try_from(name).map_err(|e| Error::Request(e.into()))?;
            headers.append(name, header_value(&value)?);
        }
        headers
            .entry(ACCEPT)
            .or_insert(HeaderValue::from_static(media_types::JSON));
        Ok(request)
    }
}

/// The header of these credentials, marked so that no log shows it.
pub(crate) fn authorization(credentials: &Credentials) -> Result<HeaderValue, Error> {
    let mut value = header_value(credentials.authorization().unwrap_or_default().as_bytes())?;
    value.set_sensitive(true);
    Ok(value)
}

fn header_value(value: &[u8]) -> Result<HeaderValue, Error> {
    HeaderValue::from_bytes(value).map_err(|e| Error::Request(e.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client() -> Client {
        Client::builder("http://localhost")
            .flow_token("s/1")
            .build()
            .unwrap()
    }

    #[test]
    fn names_and_values_of_a_query_are_encoded() {
        let request = client()
            .request(Method::GET, "/flows/acme/main/messages")
            .query("search", "a&b c")
            .query("limit", 3)
            .into_request()
            .unwrap();
        assert_eq!(
            request.uri(),
            "http://localhost/flows/acme/main/messages?search=a%26b%20c&limit=3&flow_token=s%2F1"
        );
    }

    #[test]
    fn an_anonymous_request_carries_no_credentials() {
        let request = client()
            .request(Method::GET, "/flows")
            .anonymous()
            .into_request()
            .unwrap();
        assert_eq!(request.uri(), "http://localhost/flows");
    }

    #[test]
    fn a_header_that_http_forbids_is_an_error_and_not_a_panic() {
        let bad = client()
            .request(Method::GET, "/")
            .header("a", "b\r\nc: d")
            .into_request();
        assert!(matches!(bad, Err(Error::Request(_))));
    }

    #[test]
    fn a_path_does_not_change_the_host() {
        let client = Client::builder("https://api.example").build().unwrap();
        for path in [
            "@evil.example/x",
            ".evil.example/x",
            ":1/x",
            "//evil.example/x",
            "?x",
            "",
        ] {
            let request = client.request(Method::GET, path).into_request().unwrap();
            assert_eq!(request.uri().host(), Some("api.example"), "{path}");
        }
    }
}
