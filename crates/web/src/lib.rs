#![doc = include_str!("../README.md")]
//!
//! All pages but that of a flow are plain HTML that needs no script. The page of a flow comes from
//! the server complete; its script follows the stream, and reaches the API by the session of the
//! browser (`session_api`). A request becomes a `Visit`, which knows whose browser it is, or with a
//! form a `Submission`, which was checked against forgery; a page asks the application and shows
//! the answer. Reading never changes anything, since mail programs follow the links in mails before
//! people do.
//!
//! The crate may know the application and how HTTP is read, and no database.

mod action_words;
mod answer;
mod browser;
mod cookies;
mod error;
mod field;
mod form;
mod initial;
mod language;
mod local_path;
mod moment;
mod origin;
mod pages;
mod root;
mod scope_words;
mod segments;
mod service;
mod session_api;
mod submission;
mod texts;
mod theme;
mod upload;
mod visit;
mod zone;

use std::sync::Arc;

use eddyline_app::App;
use eddyline_http::serve::BodyBudget;
use eddyline_http::{Api, ApiDescription, ApiService, Config, FileBodies, TrustedProxies};

use crate::origin::OwnOrigin;
use crate::pages::WrittenReference;
use crate::root::RootPath;
pub use crate::service::{Pages, Rooted};

/// The pages, as a service beside the API. They read requests as the API does: the same proxies are
/// believed, and bodies may take as long. Their scripts reach `api` and `stream` by the session of
/// the browser, under `/app/-/api` and `/app/-/stream`.
#[must_use]
pub fn service(app: App, config: &Config, api: &ApiService, stream: &ApiService) -> Pages {
    let web = app.config().addresses.web.clone();
    let site = Site {
        inner: Arc::new(Inner {
            secure: web.starts_with("https://"),
            origin: OwnOrigin::of(&web),
            proxies: TrustedProxies::new(config.trusted_proxies.clone()),
            body_time: config.body.time,
            unknown_bodies: config.unknown_bodies.clone(),
            file_bodies: config.file_bodies.clone(),
            api: api.behind().clone(),
            stream: stream.behind().clone(),
            description: ApiDescription::of(&app, config),
            reference: WrittenReference::default(),
            app,
        }),
    };
    let router = pages::router(site.clone(), config.is_observed());
    let pages = Rooted::new(&site, router, RootPath::of(&web));
    Pages::new(pages, config)
}

/// What every page needs. Clones share it.
#[derive(Clone)]
pub(crate) struct Site {
    inner: Arc<Inner>,
}

struct Inner {
    app: App,
    api: Api,
    stream: Api,
    description: ApiDescription,
    /// The reference of the API, once it was read.
    reference: WrittenReference,
    /// Whether the pages are known to be reached by https.
    secure: bool,
    origin: OwnOrigin,
    proxies: TrustedProxies,
    body_time: std::time::Duration,
    unknown_bodies: BodyBudget,
    /// Bytes of files that are being received into memory.
    file_bodies: FileBodies,
}

impl std::ops::Deref for Site {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.inner
    }
}
