//! The outermost part of every page: what the API has there as well, and the path put back under
//! which pages are reached.

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use eddyline_http::TrustedProxies;
use eddyline_http::request_envelope::{Answerable, RequestEnvelope};
use http::Request;
use tower::ServiceExt as _;

use crate::Site;
use crate::error::{in_language, panicked};
use crate::root::RootPath;
use crate::texts::Texts;

/// The pages, as a service for any server. Clones share them.
pub type Pages = RequestEnvelope<Rooted>;

/// The pages under the path of their address.
#[derive(Clone)]
pub struct Rooted {
    router: Router,
    root: RootPath,
    site: Site,
}

impl Rooted {
    pub(crate) fn new(site: &Site, router: Router, root: RootPath) -> Self {
        Self {
            router,
            root,
            site: site.clone(),
        }
    }
}

impl Answerable for Rooted {
    const COUNTED_AS: &'static str = "page";

    async fn respond(&self, request: Request<Body>) -> Response {
        let t = Texts::of(request.headers());
        let uri = request.uri().clone();
        let response = self
            .router
            .clone()
            .oneshot(request)
            .await
            .unwrap_or_else(|never| match never {});
        self.root
            .put_back(in_language(response, t, uri.path()))
            .await
    }

    async fn internal_error(&self) -> Response {
        self.root.put_back(panicked()).await
    }

    fn proxies(&self) -> &TrustedProxies {
        &self.site.proxies
    }
}
