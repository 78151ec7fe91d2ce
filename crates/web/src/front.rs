//! The outermost part of every page: what the API has there as well, and the path put back under which
//! pages are reached.

use std::borrow::Cow;
use std::net::IpAddr;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use eddyline_http::front::{Answers, Front};
use http::Request;
use tower::ServiceExt as _;

use crate::Site;
use crate::failure::Failure;
use crate::root::Root;

/// The pages, as a service for any server. Clones share them.
pub type Pages = Front<Rooted>;

/// The pages under the path of their address.
#[derive(Clone)]
pub struct Rooted {
    router: Router,
    root: Root,
    site: Site,
}

impl Rooted {
    pub(crate) fn new(site: &Site, router: Router, root: Root) -> Self {
        Self { router, root, site: site.clone() }
    }
}

impl Answers for Rooted {
    async fn answer(&self, request: Request<Body>) -> Response {
        let response = self.router.clone().oneshot(request).await.unwrap_or_else(|never| match never {});
        self.root.put_back(response).await
    }

    async fn broken(&self) -> Response {
        self.root.put_back(Failure::Broken.into_response()).await
    }

    fn client(&self, request: &Request<Body>) -> IpAddr {
        self.site.proxies.client(request.headers(), request.extensions()).addr
    }

    fn shown(path: &str) -> Cow<'_, str> {
        shown(path)
    }
}

/// The path as the log has it: without the secret that a link ends with.
fn shown(path: &str) -> Cow<'_, str> {
    let mut segments = path.splitn(3, '/');
    match (segments.next(), segments.next(), segments.next()) {
        (_, Some(first @ ("password" | "email" | "invitations" | "sign-in")), Some(_)) => {
            format!("/{first}/…").into()
        }
        (_, Some("oauth"), Some(rest)) if rest.starts_with("authorize/") => "/oauth/authorize/…".into(),
        _ => path.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_has_no_secrets() {
        assert_eq!(shown("/password/0123"), "/password/…");
        assert_eq!(shown("/sign-in/0123"), "/sign-in/…");
        assert_eq!(shown("/invitations/0123-main/x"), "/invitations/…");
        assert_eq!(shown("/oauth/authorize/0123"), "/oauth/authorize/…");
        for path in ["/", "/password", "/app/acme/main", "/sign-in", "/oauth/authorize"] {
            assert_eq!(shown(path), path);
        }
    }
}
