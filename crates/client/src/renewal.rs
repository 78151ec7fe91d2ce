//! Renewing the tokens of an [`OAuthSession`] (RFC 6749, section 6).

use std::panic::resume_unwind;

use http::Method;
use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinHandle;

use crate::client::Client;
use crate::error::Error;
use crate::oauth::{OAuthApplication, OAuthSession, OAuthTokens};
use crate::response::RawResponse;

/// Gets the pair of tokens after the one with this access token, unless another request has done
/// so.
pub(crate) async fn renew(
    session: &OAuthSession,
    client: &Client,
    expired: &str,
) -> Result<(), Error> {
    let one_at_a_time = session.lock_renewal().await;
    if session.tokens().access_token != expired {
        return Ok(());
    }
    match spawn_renewal(session, client, one_at_a_time).await {
        Ok(renewed) => renewed,
        Err(error) => match error.try_into_panic() {
            // The application's own `renewed` panicked.
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(Error::RuntimeEnded),
        },
    }
}

/// Renews in a task of its own: when the request that needs the tokens is dropped or late, the pair
/// that the server has made by then is kept all the same. The pair before it is no longer valid.
#[expect(
    clippy::disallowed_methods,
    reason = "the caller waits for the task, which must outlive a dropped caller"
)]
fn spawn_renewal(
    session: &OAuthSession,
    client: &Client,
    one_at_a_time: OwnedMutexGuard<()>,
) -> JoinHandle<Result<(), Error>> {
    let (session, client) = (session.clone(), client.clone());
    tokio::spawn(async move {
        let _one_at_a_time = one_at_a_time;
        let next = next_tokens(&session, &client).await?;
        session.replace_tokens(&next);
        Ok(())
    })
}

async fn next_tokens(session: &OAuthSession, client: &Client) -> Result<OAuthTokens, Error> {
    let tokens = session.tokens();
    let OAuthApplication {
        client_id,
        client_secret,
    } = session.application();
    let form = [
        ("grant_type", "refresh_token"),
        ("refresh_token", tokens.refresh_token.as_str()),
        ("client_id", client_id),
        ("client_secret", client_secret),
    ];
    let request = client
        .request(Method::POST, "/oauth/token")
        .anonymous()
        .form(&form)
        .into_request()?;
    let answer = async { RawResponse::read(client, client.send(request).await?).await };
    client.in_time(answer).await?.success()?.decode()
}
