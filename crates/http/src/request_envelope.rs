//! The outermost part of whatever answers requests, the API or pages beside it: a service for any
//! server; an id for each request, with its span and its line in the log; and panics caught.

use std::convert::Infallible;
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

use crate::metrics::RequestMetrics;
use crate::request_id::{self, REQUEST_ID};
use crate::response_budget::answering;
use crate::trace_span::{TraceHooks, TraceSpan};
use crate::{Config, TrustedProxies};

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

    /// The proxies whose forwarding headers are believed. Until the caller is known, the reads of a
    /// request count for the client address that these headers name.
    fn proxies(&self) -> &TrustedProxies;
}

/// What answered a request; an extension of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnsweredBy {
    /// The `endpoint` of the metrics: an operation by its `operationId` in `/openapi.json`, or
    /// [`Answerable::COUNTED_AS`].
    pub endpoint: &'static str,
    /// The path with the names of its parameters, such as `/flows/{organization}/{flow}`; empty
    /// where nothing is.
    pub route: &'static str,
}

/// A [`Answerable`] as a [`Service`] for any server of ours or another's. Each request has
/// an id, which its answer and its lines in the log bear. Clones share what is behind.
#[derive(Clone, Debug)]
pub struct RequestEnvelope<A> {
    behind: A,
    metrics: Option<RequestMetrics>,
    traces: Option<TraceHooks>,
}

impl<A: Answerable> RequestEnvelope<A> {
    /// Wraps `behind`, whose requests are counted and traced as the configuration says.
    pub fn new(behind: A, config: &Config) -> Self {
        Self {
            behind,
            metrics: config.metrics.clone(),
            traces: config.traces,
        }
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
        let proxies = self.behind.proxies();
        let client = proxies.client(request.headers(), request.extensions()).addr;
        let traced = match self.traces {
            Some(hooks) => TraceSpan::begin(&request, &id, proxies, hooks),
            None => TraceSpan::none(),
        };
        let traced_within = traced.span().clone();
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
                    response.extensions_mut().insert(AnsweredBy {
                        endpoint: PANIC,
                        route: "",
                    });
                    response
                }
            };
            let by = response.extensions().get().copied().unwrap_or(AnsweredBy {
                endpoint: A::COUNTED_AS,
                route: "",
            });
            traced.end(by.route, response.status());
            self.note(by, &response, started.elapsed(), line);
            response.headers_mut().insert(REQUEST_ID, id);
            response
        }
        .instrument(span)
        .instrument(traced_within)
        .await
    }

    /// Counts an answer, and logs it where its method and path are given.
    fn note(
        &self,
        by: AnsweredBy,
        response: &Response,
        took: Duration,
        line: Option<(Method, String)>,
    ) {
        let status = response.status();
        if let Some(metrics) = &self.metrics {
            metrics.note(by.endpoint, status, took);
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

    #[derive(Clone, Default)]
    struct Moody {
        proxies: TrustedProxies,
    }

    impl Answerable for Moody {
        const COUNTED_AS: &'static str = "mood";

        async fn respond(&self, request: Request<Body>) -> Response {
            assert_eq!(request.uri().path(), "/fine", "it answers nothing else");
            "fine".into_response()
        }

        fn proxies(&self) -> &TrustedProxies {
            &self.proxies
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
        RequestEnvelope::new(Moody::default(), &Config::default())
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
