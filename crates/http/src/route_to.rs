//! Other paths than the API's on its listener.

use std::convert::Infallible;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::Either;
use http::Request;
use tower::{Service, ServiceExt as _, service_fn};

use crate::ApiService;

impl ApiService {
    /// The API, and beside it `other`, which answers the requests whose path it `owns`. Clones
    /// share both.
    pub fn route_to<S>(
        self,
        owns: fn(&str) -> bool,
        other: S,
    ) -> impl Service<Request<Body>, Response = Response, Error = Infallible, Future: Send + 'static>
    + Clone
    + Send
    + Sync
    + 'static
    where
        S: Service<Request<Body>, Response = Response, Error = Infallible>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send + 'static,
    {
        service_fn(move |request: Request<Body>| {
            if owns(request.uri().path()) {
                Either::Left(other.clone().oneshot(request))
            } else {
                Either::Right(self.clone().call(request))
            }
        })
    }
}
