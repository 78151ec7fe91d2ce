//! Sending a request, with the renewal of expired tokens.

use http::Response;
use http::header::AUTHORIZATION;
use hyper::body::Incoming;
use serde::de::DeserializeOwned;

use crate::credentials::Credentials;
use crate::error::Error;
use crate::oauth::is_expired;
use crate::renewal::renew;
use crate::request::{RequestBuilder, authorization};
use crate::response::RawResponse;

impl RequestBuilder {
    /// Sends the request and reads the whole answer, whatever its status.
    ///
    /// # Errors
    /// When the request cannot be built, the server is not reached, or the answer breaks off or
    /// is late. A refusal by the server is not an error here; see [`call`](Self::call).
    pub async fn send(self) -> Result<RawResponse, Error> {
        let client = self.client.clone();
        let answer = async { RawResponse::read(&client, self.dispatch().await?).await };
        client.in_time(answer).await
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
        self.client.clone().in_time(self.dispatch()).await
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
        renew(session, &client, &expired).await?;
        again
            .headers_mut()
            .insert(AUTHORIZATION, authorization(client.credentials())?);
        client.send(again).await
    }
}
