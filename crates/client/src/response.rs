//! An answer, read as a whole.

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::error::{ApiError, Error};

/// A JSON value of no particular shape.
pub type Json = serde_json::Value;

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
    /// Reads an answer to its end, and shows it to the client's inspector.
    pub(crate) async fn read(client: &Client, answer: Response<Incoming>) -> Result<Self, Error> {
        let (head, body) = answer.into_parts();
        let body = body.collect().await.map_err(Error::Body)?.to_bytes();
        client.inspect(&head, &body);
        Ok(Self {
            status: head.status,
            headers: head.headers,
            body,
        })
    }

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
