//! One request and its answer, in the raw.

use bytes::Bytes;
use eddyline_wire::Request as Parameters;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::client::Client;
use crate::credentials::Credentials;
use crate::error::{ApiError, Error};
use crate::oauth::is_expired;

/// A JSON value of no particular shape.
pub type Json = serde_json::Value;

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

/// A request being put together; [`send`](Self::send) sends it.
#[must_use = "nothing is sent before `send`"]
pub struct RequestBuilder {
    client: Client,
    method: Method,
    url: String,
    headers: Vec<(String, Vec<u8>)>,
    body: Result<Bytes, Error>,
    anonymous: bool,
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
            Err(invalid) => Self {
                body: Err(invalid.into()),
                ..self
            },
        }
    }

    /// Sends these parameters as `application/json`. [`send`](Self::send) fails if one breaks a
    /// bound.
    pub fn json_of(self, parameters: &impl Parameters) -> Self {
        match parameters.check() {
            Ok(()) => self.json(&parameters.to_json()),
            Err(invalid) => Self {
                body: Err(invalid.into()),
                ..self
            },
        }
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
            Ok(body) => self.raw("application/json", body),
            Err(error) => Self {
                body: Err(Error::Encode(error)),
                ..self
            },
        }
    }

    /// Sends `fields` as `application/x-www-form-urlencoded`, in their order.
    pub fn form(self, fields: &[(&str, &str)]) -> Self {
        let pairs: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{}={}", encode(name), encode(value)))
            .collect();
        self.raw("application/x-www-form-urlencoded", pairs.join("&"))
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

    /// Sends the request and reads the whole answer, whatever its status.
    ///
    /// # Errors
    /// When the request cannot be built, the server is not reached, or the answer breaks off or
    /// is late. A refusal by the server is not an error here; see [`call`](Self::call).
    pub async fn send(self) -> Result<RawResponse, Error> {
        let limit = self.client.timeout();
        let answer = async {
            let client = self.client.clone();
            let (head, body) = self.dispatch().await?.into_parts();
            let body = body.collect().await.map_err(Error::Body)?.to_bytes();
            client.inspect(&head, &body);
            Ok(RawResponse {
                status: head.status,
                headers: head.headers,
                body,
            })
        };
        timeout(limit, answer)
            .await
            .unwrap_or(Err(Error::Timeout(limit)))
    }

    /// Sends the request and decodes the answer's JSON.
    ///
    /// # Errors
    /// As for [`send`](Self::send), and [`Error::Api`] for a status other than 2xx,
    /// [`Error::Decode`] for another shape.
    pub async fn call<T: DeserializeOwned>(self) -> Result<T, Error> {
        self.send().await?.success()?.decode()
    }

    /// Sends the request and drops the answer's body.
    ///
    /// # Errors
    /// As for [`send`](Self::send), and [`Error::Api`] for a status other than 2xx.
    pub async fn done(self) -> Result<(), Error> {
        self.send().await?.success()?;
        Ok(())
    }

    /// Sends the request and gives the answer as soon as its head is there.
    pub(crate) async fn open(self) -> Result<Response<Incoming>, Error> {
        let limit = self.client.timeout();
        timeout(limit, self.dispatch())
            .await
            .unwrap_or(Err(Error::Timeout(limit)))
    }

    /// Sends the request, and once more with new tokens when the server has refused it for an
    /// expired one.
    async fn dispatch(self) -> Result<Response<Incoming>, Error> {
        let client = self.client.clone();
        let Credentials::OAuth(session) = client.credentials() else {
            return client.send(self.into_request()?).await;
        };
        if self.anonymous {
            return client.send(self.into_request()?).await;
        }
        let expired = session.tokens().access_token;
        let request = self.into_request()?;
        let mut again = request.clone();
        let answer = client.send(request).await?;
        if !is_expired(answer.status(), answer.headers()) {
            return Ok(answer);
        }
        session.renew(&client, &expired).await?;
        again
            .headers_mut()
            .insert(AUTHORIZATION, authorization(client.credentials())?);
        client.send(again).await
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
            .or_insert(HeaderValue::from_static("application/json"));
        Ok(request)
    }
}

/// The header of these credentials, marked so that no log shows it.
fn authorization(credentials: &Credentials) -> Result<HeaderValue, Error> {
    let mut value = header_value(credentials.authorization().unwrap_or_default().as_bytes())?;
    value.set_sensitive(true);
    Ok(value)
}

fn header_value(value: &[u8]) -> Result<HeaderValue, Error> {
    HeaderValue::from_bytes(value).map_err(|e| Error::Request(e.into()))
}

/// An answer, whatever its status.
#[derive(Clone, Debug)]
pub struct RawResponse {
    /// Status.
    pub status: StatusCode,
    /// Headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

impl RawResponse {
    /// The text of a header; `None` when it is absent or not text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body as JSON; `Null` when it is not JSON.
    pub fn json(&self) -> Json {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The body as text; what is not UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The answer itself, when its status is 2xx.
    ///
    /// # Errors
    /// [`Error::Api`] otherwise.
    pub fn success(self) -> Result<Self, Error> {
        if self.status.is_success() {
            return Ok(self);
        }
        Err(Error::Api(ApiError::read(
            self.status,
            &self.headers,
            &self.body,
        )))
    }

    /// The body decoded.
    ///
    /// # Errors
    /// [`Error::Decode`] when it has another shape.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(&self.body).map_err(|source| Error::Decode {
            status: self.status,
            source,
        })
    }
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
}
