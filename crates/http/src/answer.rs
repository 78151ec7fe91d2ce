//! Shaping answers.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use eddyline_app::Error;
use http::StatusCode;
use serde::Serialize;

use crate::error;
use crate::response::uncounted;
use crate::response_budget;

/// What an endpoint answers.
pub(crate) type Answer = Result<Response, Error>;

/// A JSON answer of something.
pub(crate) fn json<T: Serialize>(status: StatusCode, value: &T) -> Answer {
    let bytes = serde_json::to_vec(value).map_err(|error| Error::internal(error.to_string()))?;
    Ok(encoded(status, bytes))
}

/// A JSON answer that is encoded already. It counts for the caller until it is sent. When the
/// caller has no room left, a read is refused; a change has been made already and is answered
/// without its result.
pub(crate) fn encoded(status: StatusCode, bytes: impl Into<Bytes>) -> Response {
    match response_budget::reserve_response_bytes(bytes.into()) {
        Ok(bytes) => uncounted(status, bytes),
        Err(_) if response_budget::changes() => {
            uncounted(StatusCode::ACCEPTED, Bytes::from_static(b"{}"))
        }
        Err(exceeded) => error::response(&exceeded),
    }
}

/// The empty object with which many operations answer.
pub(crate) fn done() -> Response {
    encoded(StatusCode::OK, "{}")
}

/// An answer without a body.
pub(crate) fn nothing() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use eddyline_app::QuotaSubject;
    use eddyline_model::UserId;
    use http::Method;
    use http_body_util::BodyExt as _;

    use super::*;
    use crate::response_budget::{USED_UP, answering, charge_to};

    #[tokio::test]
    async fn a_change_without_room_is_answered_in_short() {
        let _alone = USED_UP.lock().await;
        let answer = |method: Method| {
            // Of 128 MiB, all but the reserve.
            let bytes = vec![b' '; 96 * 1024 * 1024];
            let caller = QuotaSubject {
                user: Some(UserId(7)),
                organization: None,
            };
            answering(IpAddr::from([192, 0, 2, 7]), &method, async move {
                charge_to(caller);
                encoded(StatusCode::CREATED, bytes)
            })
        };
        let first = answer(Method::POST).await;
        assert_eq!(first.status(), StatusCode::CREATED);
        let refused = answer(Method::GET).await;
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        let done = answer(Method::POST).await;
        assert_eq!(done.status(), StatusCode::ACCEPTED);
        assert_eq!(done.into_body().collect().await.unwrap().to_bytes(), "{}");
        drop(first);
        assert_eq!(answer(Method::GET).await.status(), StatusCode::CREATED);
    }
}
