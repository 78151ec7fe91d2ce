//! Notifications of a browser: what its scripts tell the server, and what browsers load for them.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::body::Body;
use axum::response::Response;
use eddyline_app::NewSubscription;
use eddyline_http::StaticText;
use http::HeaderMap;
use http::StatusCode;
use http::header::{ACCEPT_LANGUAGE, COOKIE, HeaderName, HeaderValue, VARY};

use super::assets::{self, asset};
use super::plain::Plain;
use crate::error::PageError;
use crate::language::Language;
use crate::submission::Submission;
use crate::texts::Texts;
use crate::visit::Visit;

/// Lets a service worker see requests beside and above its own path (Service Workers, section 7).
const SERVICE_WORKER_ALLOWED: HeaderName = HeaderName::from_static("service-worker-allowed");

/// Browsers ask each time whether the file is still the same.
const CHECKED: &str = "no-cache";

/// The service worker of a language, with the files that it keeps and its texts. With another
/// language it is another file, so that browsers take up the new one and its files.
fn worker_in(t: &Texts) -> String {
    let language = t.language;
    let mut files = assets::module_urls(language);
    files.extend(["app.js", "side.js", "worker.js"].map(|name| assets::script_url(name, language)));
    files.extend([assets::STYLE.url(), assets::ICON.url()]);
    let files = serde_json::to_string(&files).unwrap_or_default();
    let text = include_str!("../../assets/app/service-worker.js");
    format!(
        "const ASSETS = {files};\nconst TEXTS = {};\n{text}",
        t.worker()
    )
}

/// How the client is installed as an application (Web Application Manifest). Its addresses are
/// relative, since the pages may be reached under a path.
static MANIFEST: LazyLock<StaticText> = LazyLock::new(|| {
    StaticText::new(
        r##"{"name":"Eddyline","short_name":"Eddyline","id":"../../app","start_url":"../../","scope":"../../","display":"standalone","background_color":"#f4f6f4","theme_color":"#f4f6f4","icons":[{"src":"../../assets/icon.svg","sizes":"any","type":"image/svg+xml"}]}"##,
    )
});

/// The service worker of each language.
static WORKERS: LazyLock<HashMap<Language, StaticText>> =
    LazyLock::new(|| assets::in_each_language(worker_in));

pub(super) async fn service_worker(headers: HeaderMap) -> Result<Response, PageError> {
    let text = WORKERS.get(&Language::of(&headers));
    let text = text.ok_or_else(PageError::not_found)?;
    let mut response = asset(text, &headers, "text/javascript; charset=utf-8", CHECKED);
    let headers = response.headers_mut();
    headers.insert(SERVICE_WORKER_ALLOWED, HeaderValue::from_static("../../"));
    headers.append(VARY, ACCEPT_LANGUAGE.into());
    headers.append(VARY, COOKIE.into());
    Ok(response)
}

pub(super) async fn manifest(headers: HeaderMap) -> Response {
    asset(&MANIFEST, &headers, "application/manifest+json", CHECKED)
}

/// What a browser shows without a network in place of a page that it has not kept.
pub(super) async fn offline(visit: Visit) -> Response {
    let t = &visit.texts().unreachable;
    let page = Plain::new(&visit, &t.title)
        .text(&t.text)
        .link("/app", &t.again);
    visit.page(&page)
}

/// A script has subscribed this browser to push messages, or no longer wants any.
pub(super) async fn change(sent: Submission) -> Result<Response, PageError> {
    let actor = sent.visit.signed_in()?;
    let notifications = sent.visit.app().notifications();
    match sent.get("do") {
        "subscribe" => {
            let new = NewSubscription {
                endpoint: sent.get("endpoint"),
                p256dh: sent.get("p256dh"),
                auth: sent.get("auth"),
            };
            notifications.subscribe(actor, new).await?;
        }
        "unsubscribe" => notifications.unsubscribe(actor).await?,
        _ => return Err(PageError::unreadable()),
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}
