//! Other paths than the API's on its listener.

use std::convert::Infallible;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use http::Request;
use tower::{Service, ServiceExt as _};

use crate::Face;

/// The API, and beside it another service for the paths that it owns. Clones share both.
#[derive(Clone)]
pub struct Beside<S> {
    face: Face,
    owns: fn(&str) -> bool,
    other: S,
}

impl Face {
    /// Has `other` answer the requests whose path it `owns`; the rest stays the API's.
    pub fn beside<S>(self, owns: fn(&str) -> bool, other: S) -> Beside<S> {
        Beside { face: self, owns, other }
    }
}

impl<S> Service<Request<Body>> for Beside<S>
where
    S: Service<Request<Body>, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        if (self.owns)(request.uri().path()) {
            Box::pin(self.other.clone().oneshot(request))
        } else {
            self.face.call(request)
        }
    }
}
