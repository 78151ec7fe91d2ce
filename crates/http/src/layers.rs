//! What lies around every route, from the outside in: a request id with its span and the line in
//! the log, panics caught, cross-origin requests answered, the path made regular. Order is
//! behaviour: the id is outermost, so that every answer has one; the path comes last, since a
//! layer on a router would run when the route is chosen already.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use http::header::{HeaderName, HeaderValue, LINK, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Method, Request, StatusCode, Uri};
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};
use tracing::Instrument as _;

use crate::{Shared, error, path, routes};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const MAX_REQUEST_ID: usize = 64;
const CORS_AGE: Duration = Duration::from_secs(24 * 3600);

/// Compresses answers for those who ask for it. Never put around streams, which it would delay.
pub(crate) fn compressed(router: Router) -> Router {
    router.layer(CompressionLayer::new())
}

/// Puts everything else around a finished router.
pub(crate) fn around(router: Router, shared: &Arc<Shared>) -> Router {
    let router = router.fallback(routes::not_found).method_not_allowed_fallback(routes::wrong_method);
    let layers = ServiceBuilder::new()
        .layer(from_fn(identified))
        .layer(CatchPanicLayer::custom(|_| panicked()))
        .layer(cors(shared))
        .layer(from_fn(regular));
    // The routes are the fallback of a router without any, so that the layers run before a route
    // is chosen.
    Router::new().fallback_service(router).layer(layers)
}

fn cors(shared: &Shared) -> CorsLayer {
    CorsLayer::new()
        .allow_origin(AllowOrigin::any())
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers([shared.names.user.clone(), REQUEST_ID, LINK, RETRY_AFTER, WWW_AUTHENTICATE])
        .max_age(CORS_AGE)
}

fn panicked() -> Response {
    tracing::error!("a request panicked");
    error::plain(StatusCode::INTERNAL_SERVER_ERROR, "Something went wrong on our side")
}

/// Gives the request an id, which its log lines and its answer bear, and writes one line about it.
/// The query is left out of the log, since credentials may stand there.
async fn identified(request: Request<Body>, next: Next) -> Response {
    let id = request.headers().get(REQUEST_ID).filter(|id| is_decent_id(id)).cloned().unwrap_or_else(new_id);
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let span = tracing::info_span!("request", id = id.to_str().unwrap_or_default());
    async move {
        let started = Instant::now();
        let mut response = next.run(request).await;
        let (status, micros) = (response.status().as_u16(), started.elapsed().as_micros());
        tracing::debug!(%method, path, status, micros, "answered");
        response.headers_mut().insert(REQUEST_ID, id);
        response
    }
    .instrument(span)
    .await
}

fn is_decent_id(id: &HeaderValue) -> bool {
    let bytes = id.as_bytes();
    (1..=MAX_REQUEST_ID).contains(&bytes.len())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

fn new_id() -> HeaderValue {
    let id = uuid::Uuid::new_v4().simple().to_string();
    HeaderValue::from_str(&id).unwrap_or_else(|_| HeaderValue::from_static("none"))
}

/// Makes the tolerated forms of a path the one that routes know.
async fn regular(mut request: Request<Body>, next: Next) -> Response {
    let uri = request.uri();
    let regular = path::normalize(uri.path());
    if regular != uri.path() {
        let target = match uri.query() {
            Some(query) => format!("{regular}?{query}"),
            None => regular.into_owned(),
        };
        match Uri::try_from(target) {
            Ok(uri) => *request.uri_mut() = uri,
            Err(_) => return error::plain(StatusCode::BAD_REQUEST, "The path cannot be read"),
        }
    }
    next.run(request).await
}
