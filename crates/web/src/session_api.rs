//! The API and the stream for the scripts of pages, by the session of the browser.
//!
//! A browser sends the cookie with every request to this host, also with one that another site has
//! made, or a picture in the text of somebody else. So a request must come from a page of ours, and
//! show the token that only our scripts know. Files are read without it, by pictures and links.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use eddyline_app::{Error, Secret};
use eddyline_http::request_envelope::Answerable as _;
use eddyline_http::{Api, BrowserSession, error_response};
use http::header::{
    AUTHORIZATION, CACHE_CONTROL, COOKIE, HeaderName, HeaderValue, ORIGIN, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{Request, Uri};

use crate::Site;
use crate::cookies::CookieNames;

/// The paths of the API begin with this.
const API: &str = "/app/-/api";
/// The paths of the stream begin with this.
const STREAM: &str = "/app/-/stream";
/// The files of the API.
const FILES: &str = "/app/-/api/files/";
/// The header in which a script shows the token of its page.
const CSRF: HeaderName = HeaderName::from_static("x-csrf-token");

/// Answers as the API does.
pub(crate) async fn api(State(site): State<Site>, request: Request<Body>) -> Response {
    let api = site.api.clone();
    forward(&site, &api, API, request).await
}

/// Answers as the stream does.
pub(crate) async fn stream(State(site): State<Site>, request: Request<Body>) -> Response {
    let stream = site.stream.clone();
    forward(&site, &stream, STREAM, request).await
}

async fn forward(site: &Site, to: &Api, prefix: &str, mut request: Request<Body>) -> Response {
    let client = site.proxies.client(request.headers(), request.extensions());
    let cookies = CookieNames::new(site.secure || client.secure == Some(true));
    if let Err(error) = check_page(site, &cookies, &request) {
        return error_response(&error);
    }
    let session = cookies.session(request.headers()).unwrap_or_default();
    let session = BrowserSession(Arc::new(Secret::presented(session)));
    request.extensions_mut().insert(session);
    let Some(uri) = below(request.uri(), prefix) else {
        return error_response(&Error::not_found());
    };
    *request.uri_mut() = uri;
    // The origin is ours, so nothing has to be allowed to another one.
    for name in [ORIGIN, AUTHORIZATION, COOKIE] {
        request.headers_mut().remove(name);
    }
    let mut response = to.respond(request).await;
    let headers = response.headers_mut();
    // Browsers would ask for a password in a window of their own.
    headers.remove(WWW_AUTHENTICATE);
    // No `Authorization` tells caches that the answer is for one user (RFC 9111, section 3.5).
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    headers
        .entry(X_CONTENT_TYPE_OPTIONS)
        .or_insert(HeaderValue::from_static("nosniff"));
    response
}

/// Checks that a page of ours sent the request.
fn check_page(site: &Site, cookies: &CookieNames, request: &Request<Body>) -> Result<(), Error> {
    let headers = request.headers();
    if site.origin.is_foreign(headers) {
        return Err(Error::denied());
    }
    if request.method().is_safe() && request.uri().path().starts_with(FILES) {
        return Ok(());
    }
    let shown = headers.get(CSRF).map(http::HeaderValue::as_bytes);
    let is_own = cookies.csrf(headers).is_some_and(|token| {
        eddyline_app::constant_time_eq(token.as_bytes(), shown.unwrap_or_default())
    });
    if is_own { Ok(()) } else { Err(Error::denied()) }
}

/// The path and the query behind the prefix.
fn below(uri: &Uri, prefix: &str) -> Option<Uri> {
    let rest = uri.path_and_query()?.as_str().strip_prefix(prefix)?;
    rest.starts_with('/').then(|| rest.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_the_prefix_is_asked_for_with_its_query() {
        let asked = |uri: &str| below(&uri.parse().unwrap(), API).map(|uri| uri.to_string());
        assert_eq!(
            asked("/app/-/api/flows/acme/main%20a?limit=3").as_deref(),
            Some("/flows/acme/main%20a?limit=3")
        );
        for other in ["/app/-/api", "/app/-/apiflows", "/app/acme/main"] {
            assert_eq!(asked(other), None, "{other}");
        }
    }
}
