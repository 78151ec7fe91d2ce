//! The outermost part of whatever answers requests, the API or pages beside it: a service for any
//! server; an id for each request, with its span and its line in the log; and panics caught.

use std::convert::Infallible;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use eddyline_app::as_client;
use eddyline_model::paths::redacted;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::{Method, Request};
use tower::Service;
use tracing::Instrument as _;

use crate::metrics::{AnsweredBy, RequestMetrics};
use crate::request_id::{self, REQUEST_ID};
use crate::response_budget::answering;

/// The `endpoint` of the metrics for requests that panicked.
const PANIC: &str = "panic";

/// What stands behind an [`RequestEnvelope`]. Clones are cheap and answer alike.
pub trait Answerable: Clone + Send + Sync + 'static {
    /// The `endpoint` of the metrics for answers that no endpoint of the API gave.
    const COUNTED_AS: &'static str;

    /// The answer to a request.
    fn respond(&self, request: Request<Body>) -> impl Future<Output = Response> + Send;

    /// The answer in place of one that panicked, which is in the log already.
    fn internal_error(&self) -> impl Future<Output = Response> + Send;

    /// Where a request comes from, for whom its reads count until it is known who asks.
    fn client_address(&self, request: &Request<Body>) -> IpAddr;
}

/// A [`Answerable`] as a [`Service`] for any server of ours or another's. Each request has
/// an id, which its answer and its lines in the log bear. Clones share what is behind.
#[derive(Clone, Debug)]
pub struct RequestEnvelope<A> {
    behind: A,
    metrics: Option<RequestMetrics>,
}

impl<A: Answerable> RequestEnvelope<A> {
    /// Wraps `behind`. `metrics` counts its answers; `None` counts nothing.
    pub fn new(behind: A, metrics: Option<RequestMetrics>) -> Self {
        Self { behind, metrics }
    }

    /// What answers in it, for an envelope around it and something else.
    pub fn behind(&self) -> &A {
        &self.behind
    }
}

impl<A: Answerable> Service<Request<Body>> for RequestEnvelope<A> {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let envelope = self.clone();
        Box::pin(async move { Ok(envelope.identified(request).await) })
    }
}

impl<A: Answerable> RequestEnvelope<A> {
    async fn identified(&self, request: Request<Body>) -> Response {
        let started = Instant::now();
        let id = request_id::of(&request);
        let span = tracing::info_span!("request", id = id.to_str().unwrap_or_default());
        // Only with debug logging, and without the query, which may hold credentials.
        let line = tracing::enabled!(tracing::Level::DEBUG)
            .then(|| (request.method().clone(), redacted(request.uri().path())));
        let client = self.behind.client_address(&request);
        let method = request.method().clone();
        // On the heap, since it is large and each layer around it would move all of it.
        let counted = answering(client, &method, Box::pin(self.behind.respond(request)));
        let answering = AssertUnwindSafe(as_client(client, counted)).catch_unwind();
        async move {
            let mut response = match answering.await {
                Ok(response) => response,
                Err(_) => {
                    tracing::error!("a request panicked");
                    let mut response = self.behind.internal_error().await;
                    response
                        .extensions_mut()
                        .insert(AnsweredBy { endpoint: PANIC });
                    response
                }
            };
            self.note(&response, started.elapsed(), line);
            response.headers_mut().insert(REQUEST_ID, id);
            response
        }
        .instrument(span)
        .await
    }

    /// Counts an answer, and logs it where its method and path are given.
    fn note(&self, response: &Response, took: Duration, line: Option<(Method, String)>) {
        let status = response.status();
        let by = response.extensions().get().copied();
        let other = AnsweredBy {
            endpoint: A::COUNTED_AS,
        };
        if let Some(metrics) = &self.metrics {
            metrics.note(by.unwrap_or(other), status, took);
        }
        if let Some((method, path)) = line {
            // A number of 128 bits would be a text in a log of JSON.
            let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
            let status = status.as_u16();
            tracing::debug!(%method, path, status, micros, "answered");
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse as _;
    use http::StatusCode;

    use super::*;

    #[derive(Clone)]
    struct Moody;

    impl Answerable for Moody {
        const COUNTED_AS: &'static str = "mood";

        async fn respond(&self, request: Request<Body>) -> Response {
            assert_eq!(request.uri().path(), "/fine", "it answers nothing else");
            "fine".into_response()
        }

        fn client_address(&self, _: &Request<Body>) -> IpAddr {
            std::net::Ipv4Addr::LOCALHOST.into()
        }

        async fn internal_error(&self) -> Response {
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }

    async fn ask(path: &str) -> Response {
        let request = Request::builder()
            .uri(path)
            .header(REQUEST_ID, "7")
            .body(Body::empty())
            .unwrap();
        RequestEnvelope::new(Moody, None)
            .call(request)
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn an_answer_bears_the_id_of_its_request_also_when_something_panicked() {
        for (path, status) in [
            ("/fine", StatusCode::OK),
            ("/else", StatusCode::INTERNAL_SERVER_ERROR),
        ] {
            let response = ask(path).await;
            assert_eq!(response.status(), status, "{path}");
            assert_eq!(response.headers()[REQUEST_ID], "7", "{path}");
        }
    }
}
