//! The outermost part of every page: an id for the request, its line in the log, and panics caught.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use eddyline_http::request_id::{self, REQUEST_ID};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::Request;
use tower::{Service, ServiceExt as _};
use tracing::Instrument as _;

use crate::failure::Failure;
use crate::root::Root;

/// The pages, as a [`Service`] for any server. Clones share them.
#[derive(Clone, Debug)]
pub struct Pages {
    router: Router,
    root: Root,
}

impl Pages {
    pub(crate) fn new(router: Router, root: Root) -> Self {
        Self { router, root }
    }
}

impl Service<Request<Body>> for Pages {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let id = request_id::of(&request);
        let span = tracing::info_span!("request", id = id.to_str().unwrap_or_default());
        let line = tracing::enabled!(tracing::Level::DEBUG)
            .then(|| (Instant::now(), request.method().clone(), shown(request.uri().path())));
        let answering = AssertUnwindSafe(self.router.clone().oneshot(request)).catch_unwind();
        let root = self.root.clone();
        let answered = async move {
            let response = match answering.await {
                Ok(answer) => answer.unwrap_or_else(|never| match never {}),
                Err(_) => {
                    tracing::error!("a request panicked");
                    Failure::Broken.into_response()
                }
            };
            if let Some((started, method, path)) = line {
                let (status, micros) = (response.status().as_u16(), started.elapsed().as_micros());
                tracing::debug!(%method, path, status, micros, "answered");
            }
            let mut response = root.put_back(response).await;
            response.headers_mut().insert(REQUEST_ID, id);
            Ok(response)
        };
        Box::pin(answered.instrument(span))
    }
}

/// The path as the log has it: without the secret that a link ends with.
fn shown(path: &str) -> String {
    let mut segments = path.splitn(3, '/');
    match (segments.next(), segments.next(), segments.next()) {
        (_, Some(first @ ("password" | "email" | "invitations")), Some(_)) => format!("/{first}/…"),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_has_no_secrets() {
        assert_eq!(shown("/password/0123"), "/password/…");
        assert_eq!(shown("/invitations/0123-main/x"), "/invitations/…");
        for path in ["/", "/password", "/app/acme/main", "/sign-in"] {
            assert_eq!(shown(path), path);
        }
    }
}
