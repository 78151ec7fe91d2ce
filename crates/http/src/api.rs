//! The way of every request to the API behind its [`RequestEnvelope`]: cross-origin requests
//! answered; the path made regular; the endpoint found; and its answer compressed for those who ask
//! for it.
//!
//! It is one future with as little around it as can be, since every request pays for it. What only
//! browsers need, and what only compressed answers need, is left aside by the others.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use eddyline_app::{Actor, Error};
use eddyline_openapi::EndpointAccess;
use http::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, ALLOW, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE,
    ETAG, HeaderValue, LINK, LOCATION, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::{Method, Request, StatusCode};
use http_body::Body as _;
use tower::{ServiceExt as _, service_fn};
use tower_http::compression::Compression;
use tower_http::cors::{AllowHeaders, AllowOrigin, Cors, CorsLayer};

use crate::endpoint::Endpoint;
use crate::path_params::PathParams;
use crate::read_request::read_request;
use crate::request_envelope::{Answerable, AnsweredBy, RequestEnvelope};
use crate::request_id::REQUEST_ID;
use crate::routes::{RouteMatch, Routes};
use crate::stream::{EVENT_ID, STREAM_ID};
use crate::{Shared, TrustedProxies, error, path, scim};

const CORS_AGE: Duration = Duration::from_secs(24 * 3600);

/// The API, as a service for any server of ours or another's. Clones share it.
pub type ApiService = RequestEnvelope<Api>;

/// The endpoints behind an [`ApiService`].
#[derive(Clone)]
pub struct Api {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    routes: Routes,
    cors: CorsLayer,
}

impl Api {
    pub(crate) fn new(shared: Arc<Shared>, routes: Routes) -> Self {
        let cors = cors(&shared);
        Self {
            inner: Arc::new(Inner {
                shared,
                routes,
                cors,
            }),
        }
    }
}

impl Answerable for Api {
    const COUNTED_AS: &'static str = "none";

    async fn respond(&self, request: Request<Body>) -> Response {
        self.inner.shared_across_origins(request).await
    }

    fn proxies(&self) -> &TrustedProxies {
        &self.inner.shared.proxies
    }

    async fn internal_error(&self) -> Response {
        error::panicked()
    }
}

fn cors(shared: &Shared) -> CorsLayer {
    CorsLayer::new()
        .allow_origin(AllowOrigin::any())
        .allow_methods([
            Method::GET,
            Method::POST,
            Method::PUT,
            Method::PATCH,
            Method::DELETE,
        ])
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers([
            shared.profile.user.clone(),
            REQUEST_ID,
            EVENT_ID,
            STREAM_ID,
            ACCEPT_RANGES,
            ALLOW,
            CONTENT_DISPOSITION,
            CONTENT_RANGE,
            ETAG,
            LINK,
            LOCATION,
            RETRY_AFTER,
            WWW_AUTHENTICATE,
        ])
        .max_age(CORS_AGE)
}

impl Inner {
    /// Lets pages of any origin ask. Only browsers say where a page is from.
    async fn shared_across_origins(&self, request: Request<Body>) -> Response {
        if request.headers().contains_key(ORIGIN) || request.method() == Method::OPTIONS {
            let routed =
                service_fn(async |request| Ok::<_, Infallible>(self.routed(request).await));
            let cors: Cors<_> = tower::Layer::layer(&self.cors, routed);
            return Box::pin(cors.oneshot(request))
                .await
                .unwrap_or_else(|never| match never {});
        }
        self.routed(request).await
    }

    async fn routed(&self, request: Request<Body>) -> Response {
        let path = path::normalize(request.uri().path());
        let (endpoint, segments) = match self.routes.find(request.method(), &path) {
            RouteMatch::Endpoint(endpoint, segments) => (endpoint, segments),
            RouteMatch::OtherMethods(allowed) => {
                return wrong_method(response_format_at(&path, &request), &allowed);
            }
            RouteMatch::Nothing => {
                return response_format_at(&path, &request).failed(&Error::not_found());
            }
        };
        let head = request.method() == Method::HEAD;
        let compress = endpoint.compress && request.headers().contains_key(ACCEPT_ENCODING);
        let response = if compress {
            Box::pin(self.compressed(endpoint, segments, request)).await
        } else {
            self.answer(&endpoint, segments, request).await
        };
        if head {
            without_body(response)
        } else {
            response
        }
    }

    async fn compressed(
        &self,
        endpoint: Arc<Endpoint>,
        segments: PathParams,
        request: Request<Body>,
    ) -> Response {
        let mut once = Some((endpoint, segments));
        let answering = service_fn(move |request| {
            let once = once.take();
            async move {
                Ok::<_, Infallible>(match once {
                    Some((endpoint, segments)) => self.answer(&endpoint, segments, request).await,
                    None => {
                        let why = "an answer to be compressed was asked for twice";
                        error::response(&Error::internal(why))
                    }
                })
            }
        });
        let response = Compression::new(answering).oneshot(request).await;
        response
            .unwrap_or_else(|never| match never {})
            .map(Body::new)
    }

    async fn answer(
        &self,
        endpoint: &Endpoint,
        segments: PathParams,
        request: Request<Body>,
    ) -> Response {
        let (mut seen, mut counted) = (None, None);
        let format = match endpoint.operation.access {
            EndpointAccess::Provider => scim::ResponseFormat::of(request.headers()),
            _ => scim::ResponseFormat::Plain,
        };
        let shared = &self.shared;
        let read = read_request(shared, endpoint, segments, request, &mut seen, &mut counted);
        let outcome = match read.await {
            Ok((ctx, params)) => (endpoint.handler)(ctx, params).await,
            Err(error) => Err(error),
        };
        let mut response = outcome.unwrap_or_else(|error| format.failed(&error));
        if let Some(request) = counted.filter(|_| response.status() == StatusCode::FORBIDDEN) {
            shared.app.authentication().note_refused(request);
        }
        if self.shared.is_observed {
            response.extensions_mut().insert(AnsweredBy {
                endpoint: endpoint.operation.id,
                route: endpoint.operation.path,
            });
        }
        if let Some(user) = seen.as_ref().and_then(Actor::user_id) {
            response
                .headers_mut()
                .insert(self.shared.profile.user.clone(), HeaderValue::from(user.0));
        }
        response
    }
}

/// In which shape a refusal is told where no endpoint says so.
fn response_format_at(path: &str, request: &Request<Body>) -> scim::ResponseFormat {
    match path.starts_with("/scim/") {
        true => scim::ResponseFormat::of(request.headers()),
        false => scim::ResponseFormat::Plain,
    }
}

/// Something is there, but not for that method (RFC 9110, section 15.5.6).
fn wrong_method(format: scim::ResponseFormat, allowed: &str) -> Response {
    let mut response = format.refuse(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed");
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
        headers
            .entry(CONTENT_LENGTH)
            .or_insert_with(|| HeaderValue::from(length));
    }
    response
}
