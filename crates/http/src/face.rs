//! The way of every request, from the outside in: an id for it, with its span and its line in the
//! log; panics caught; cross-origin requests answered; the path made regular; the endpoint found;
//! and its answer compressed for those who ask for it.
//!
//! It is one future with as little around it as can be, since every request pays for it. What only
//! browsers need, and what only compressed answers need, is left aside by the others.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use eddyline_app::Actor;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::header::{
    ACCEPT_ENCODING, ALLOW, CONTENT_LENGTH, HeaderValue, LINK, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::{Method, Request, StatusCode};
use http_body::Body as _;
use tower::{Service, ServiceExt as _, service_fn};
use tower_http::compression::Compression;
use tower_http::cors::{AllowHeaders, AllowOrigin, Cors, CorsLayer};
use tracing::Instrument as _;

use crate::call::{Call, Segments};
use crate::endpoint::Endpoint;
use crate::request_id::{self, REQUEST_ID};
use crate::routes::{Found, Routes};
use crate::{Shared, error, path};

const CORS_AGE: Duration = Duration::from_secs(24 * 3600);

/// What answers requests: a [`Service`] for any server of ours or another's. Clones share it.
#[derive(Clone)]
pub struct Face {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    routes: Routes,
    cors: CorsLayer,
}

impl Face {
    /// A face with these endpoints.
    pub(crate) fn new(shared: Arc<Shared>, routes: Routes) -> Self {
        let cors = cors(&shared);
        Self { inner: Arc::new(Inner { shared, routes, cors }) }
    }
}

impl Service<Request<Body>> for Face {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let inner = self.inner.clone();
        Box::pin(async move { Ok(inner.identified(request).await) })
    }
}

fn cors(shared: &Shared) -> CorsLayer {
    CorsLayer::new()
        .allow_origin(AllowOrigin::any())
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers([shared.names.user.clone(), REQUEST_ID, LINK, RETRY_AFTER, WWW_AUTHENTICATE])
        .max_age(CORS_AGE)
}

impl Inner {
    /// Gives the request an id, which its log lines and its answer bear, and writes one line about
    /// it. The query is left out of the log, since credentials may stand there.
    async fn identified(self: Arc<Self>, request: Request<Body>) -> Response {
        let id = request_id::of(&request);
        let span = tracing::info_span!("request", id = id.to_str().unwrap_or_default());
        // Only when somebody looks at it.
        let line = tracing::enabled!(tracing::Level::DEBUG)
            .then(|| (Instant::now(), request.method().clone(), request.uri().path().to_owned()));
        let answering = AssertUnwindSafe(self.shared_across_origins(request)).catch_unwind();
        async move {
            let mut response = answering.await.unwrap_or_else(|_| panicked());
            if let Some((started, method, path)) = line {
                let (status, micros) = (response.status().as_u16(), started.elapsed().as_micros());
                tracing::debug!(%method, path, status, micros, "answered");
            }
            response.headers_mut().insert(REQUEST_ID, id);
            response
        }
        .instrument(span)
        .await
    }

    /// Lets pages of any origin ask. Only browsers say where a page is from.
    async fn shared_across_origins(self: Arc<Self>, request: Request<Body>) -> Response {
        if request.headers().contains_key(ORIGIN) || request.method() == Method::OPTIONS {
            let layer = self.cors.clone();
            let routed = service_fn(move |request| {
                let inner = self.clone();
                async move { Ok::<_, Infallible>(inner.routed(request).await) }
            });
            let cors: Cors<_> = tower::Layer::layer(&layer, routed);
            return cors.oneshot(request).await.unwrap_or_else(|never| match never {});
        }
        self.routed(request).await
    }

    async fn routed(self: Arc<Self>, request: Request<Body>) -> Response {
        let path = path::normalize(request.uri().path());
        let (endpoint, segments) = match self.routes.find(request.method(), &path) {
            Found::Endpoint(endpoint, segments) => (endpoint, segments),
            Found::OtherMethods(allowed) => return wrong_method(&allowed),
            Found::Nothing => return error::plain(StatusCode::NOT_FOUND, "not found"),
        };
        let head = request.method() == Method::HEAD;
        let compress = endpoint.compress && request.headers().contains_key(ACCEPT_ENCODING);
        let response = if compress {
            self.compressed(endpoint, segments, request).await
        } else {
            self.answer(&endpoint, segments, request).await
        };
        if head { without_body(response) } else { response }
    }

    async fn compressed(
        self: Arc<Self>,
        endpoint: Arc<Endpoint>,
        segments: Segments,
        request: Request<Body>,
    ) -> Response {
        let mut once = Some((self, endpoint, segments));
        let answering = service_fn(move |request| {
            let once = once.take();
            async move {
                Ok::<_, Infallible>(match once {
                    Some((inner, endpoint, segments)) => inner.answer(&endpoint, segments, request).await,
                    None => panicked(),
                })
            }
        });
        let response = Compression::new(answering).oneshot(request).await;
        response.unwrap_or_else(|never| match never {}).map(Body::new)
    }

    async fn answer(&self, endpoint: &Endpoint, segments: Segments, request: Request<Body>) -> Response {
        let mut seen = None;
        let outcome = match Call::read(&self.shared, endpoint, segments, request, &mut seen).await {
            Ok(call) => (endpoint.handler)(call).await,
            Err(failure) => Err(failure),
        };
        let mut response = outcome.unwrap_or_else(error::response);
        if let Some(user) = seen.as_ref().and_then(Actor::user_id) {
            response.headers_mut().insert(self.shared.names.user.clone(), HeaderValue::from(user.0));
        }
        response
    }
}

fn panicked() -> Response {
    tracing::error!("a request panicked");
    error::plain(StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong on our side")
}

/// Something is there, but not for that method (RFC 9110, section 15.5.6).
fn wrong_method(allowed: &str) -> Response {
    let mut response = error::plain(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed");
    if let Ok(allowed) = HeaderValue::from_str(allowed) {
        response.headers_mut().insert(ALLOW, allowed);
    }
    response
}

/// The answer to HEAD (RFC 9110, section 9.3.2).
fn without_body(response: Response) -> Response {
    let length = response.body().size_hint().exact();
    let mut response = response.map(|_| Body::empty());
    if let Some(length) = length {
        let headers: &mut http::HeaderMap = response.headers_mut();
        headers.entry(CONTENT_LENGTH).or_insert_with(|| HeaderValue::from(length));
    }
    response
}
