//! Pages as responses: their headers are the same everywhere.

use askama::Template;
use axum::body::{Body, Bytes};
use axum::response::Response;
use eddyline_app::Error;
use eddyline_http::{error_page, reserve_response_bytes};
use eddyline_wire::disposition;
use http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue,
    LOCATION, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderMap, StatusCode};

use crate::local_path::is_local;
use crate::texts::Texts;

/// No script, nothing from elsewhere, in nobody's frame.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";
/// What stands in the policy for where forms may lead.
const OWN_FORMS: &str = "form-action 'self'";

/// A page. It counts for its reader until it is sent, and no cache may store it. `t` has what is sent
/// instead where it cannot be written, or the reader has too many bytes under way.
pub(crate) fn page(t: &'static Texts, status: StatusCode, template: &impl Template) -> Response {
    let (status, text) = match template.render() {
        Ok(text) => (status, text),
        Err(error) => {
            tracing::error!(%error, "a page could not be written");
            (
                StatusCode::INTERNAL_SERVER_ERROR,
                t.error.internal.title.clone(),
            )
        }
    };
    match reserve_response_bytes(text.into()) {
        Ok(text) => html(status, text),
        Err(error) => error_page(&error, |status| {
            html(status, t.error.too_many_pages.as_str().into())
        }),
    }
}

/// A page that is the same for every reader and holds nothing of any. Its script runs, and reaches nothing.
pub(crate) fn public_page(text: Bytes) -> Response {
    let mut response = html(StatusCode::OK, text);
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                  form-action 'none'; frame-ancestors 'none'; base-uri 'none'; \
                  require-trusted-types-for 'script'; trusted-types 'none'";
    response
        .headers_mut()
        .insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    response
}

/// A file to be kept by the reader's browser, which shows it on no page. It counts for its reader until
/// it is sent.
///
/// # Errors
///
/// [`Error::too_many_requests`] and [`Error::unavailable`], where there is no room for its bytes.
pub(crate) fn download(
    name: &str,
    content_type: &'static str,
    content: String,
) -> Result<Response, Error> {
    let content = reserve_response_bytes(content.into())?;
    let mut response = Response::new(Body::from(content));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    let disposition = HeaderValue::from_str(&disposition(name, content_type))
        .unwrap_or(HeaderValue::from_static("attachment"));
    headers.insert(CONTENT_DISPOSITION, disposition);
    harden(headers);
    Ok(response)
}

fn html(status: StatusCode, text: Bytes) -> Response {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/html; charset=utf-8"),
    );
    harden(headers);
    response
}

/// Lets the forms of a page lead on to another site as well, by what a policy calls it: browsers
/// hold the policy also against where the answer to a form sends them.
pub(crate) fn let_forms_lead_to(response: &mut Response, source: &str) {
    let policy = POLICY.replace(OWN_FORMS, &format!("{OWN_FORMS} {source}"));
    // Without it the form leads nowhere, which is safe.
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response
            .headers_mut()
            .insert(CONTENT_SECURITY_POLICY, policy);
    }
}

/// Lets the scripts of a page run, which are files of ours, and reach the API and files here. A
/// script makes HTML only by the policies that it names to the browser (Trusted Types): `prose` for
/// what the server made safe, `worker` for the addresses of the workers. `store` is the origin of an
/// object store that hands out files.
pub(crate) fn let_scripts_run(response: &mut Response, base: &str, store: Option<&str>) {
    let store = store.map(|store| format!(" {store}")).unwrap_or_default();
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
         worker-src 'self'; manifest-src 'self'; img-src 'self' {base}/{store}; \
         media-src 'self' {base}/{store}; form-action 'self'; frame-ancestors 'none'; \
         base-uri 'none'; require-trusted-types-for 'script'; trusted-types prose worker"
    );
    // Without it no script runs, which is safe.
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response
            .headers_mut()
            .insert(CONTENT_SECURITY_POLICY, policy);
    }
}

/// Sends the browser on to a path here, to be read with GET.
pub(crate) fn see_other(path: &str) -> Response {
    sent_on(StatusCode::SEE_OTHER, here(path))
}

/// Sends the browser on to a path here, where what it asked for always is.
pub(crate) fn moved(path: &str) -> Response {
    sent_on(StatusCode::PERMANENT_REDIRECT, here(path))
}

/// Sends the browser on to an address that an application has registered, to be read with GET: with
/// 307 it would send the form there (RFC 9700, section 4.12).
pub(crate) fn elsewhere(address: &str) -> Response {
    sent_on(StatusCode::SEE_OTHER, address)
}

fn here(path: &str) -> &str {
    if is_local(path) { path } else { "/" }
}

fn sent_on(status: StatusCode, address: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(
        LOCATION,
        HeaderValue::from_str(address).unwrap_or(HeaderValue::from_static("/")),
    );
    harden(headers);
    response
}

/// What keeps a page to itself. Addresses hold secrets, so that other sites do not learn from where
/// one comes; our own do, since browsers then say that a form is ours.
fn harden(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // For browsers that do not know the policy's word for it.
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
}
