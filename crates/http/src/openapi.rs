//! The endpoints of the documents that describe the API: OpenAPI, and AsyncAPI for the streams.

use std::sync::Arc;

use eddyline_app::{App, Error};
use eddyline_openapi::{DocumentBuilder, asyncapi_document};
use http::Method;
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::requester::Anybody;
use crate::response::JSON;
use crate::static_text::StaticText;
use crate::wire_profile::WireProfile;
use crate::{Config, Shared, routes};

/// Where the OpenAPI document is.
pub(crate) const PATH: &str = "/openapi.json";
/// Where the AsyncAPI document is.
pub(crate) const ASYNC_PATH: &str = "/asyncapi.json";

/// What describes the API of a server to programs. Clones are cheap.
#[derive(Clone, Debug)]
pub struct ApiDescription {
    base_url: String,
    web_url: String,
    stream_url: String,
    stream_prefix: Option<String>,
    is_classic: bool,
}

impl ApiDescription {
    /// That of the API of an application, served with this configuration.
    #[must_use]
    pub fn of(app: &App, config: &Config) -> Self {
        let addresses = &app.config().addresses;
        Self {
            base_url: addresses.base.clone(),
            web_url: addresses.web.clone(),
            stream_url: addresses.stream.clone(),
            stream_prefix: config.stream_prefix.clone(),
            is_classic: WireProfile::of(app.config().profile).classic,
        }
    }

    /// The OpenAPI document. To make it takes milliseconds.
    #[must_use]
    pub fn api(&self) -> Value {
        let prefix = self.stream_prefix.as_deref();
        document(&self.base_url, &self.web_url, prefix, self.is_classic)
    }

    /// The AsyncAPI document of the streams. To make it takes milliseconds.
    #[must_use]
    pub fn streams(&self) -> Value {
        stream_document(&self.stream_url, self.is_classic)
    }
}

/// The endpoints that serve the documents. They are not in them.
pub(crate) fn endpoints(shared: &Shared, config: &Config) -> Vec<Endpoint> {
    let api = ApiDescription::of(&shared.app, config);
    let streams = api.clone();
    vec![
        built_once(PATH, "getDocument", "The OpenAPI document", move || {
            api.api()
        }),
        built_once(
            ASYNC_PATH,
            "getStreamDocument",
            "The AsyncAPI document",
            move || streams.streams(),
        ),
    ]
}

/// An endpoint that serves a document.
///
/// The first request builds the document, so a server whose document no client reads starts sooner
/// and keeps less memory. A blocking thread does it, since it takes milliseconds.
fn built_once(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    build: impl Fn() -> Value + Send + Sync + 'static,
) -> Endpoint {
    let build = Arc::new(build);
    let built: Arc<OnceCell<StaticText>> = Arc::default();
    Endpoint::new(
        Method::GET,
        path,
        id,
        summary,
        move |request: RequestContext<Anybody>| {
            let (build, built) = (build.clone(), built.clone());
            async move {
                let make = || spawn_blocking(move || StaticText::new(build().to_string()));
                let text = built
                    .get_or_try_init(make)
                    .await
                    .map_err(|error| Error::internal(error.to_string()))?;
                Ok(text.answer(&request.headers, JSON))
            }
        },
    )
    .uncompressed()
}

/// The document of the streams, which are at `stream_url`.
fn stream_document(stream_url: &str, is_classic: bool) -> Value {
    let streams = routes::streams();
    let operations = streams.iter().map(|endpoint| &endpoint.operation);
    asyncapi_document(stream_url, is_classic, operations)
}

fn document(base_url: &str, web: &str, stream_prefix: Option<&str>, is_classic: bool) -> Value {
    let mut document = DocumentBuilder::new(is_classic);
    let classic = is_classic.then(routes::classic).unwrap_or_default();
    for endpoint in routes::api().iter().chain(&classic) {
        document.add("", &endpoint.operation);
    }
    if let Some(prefix) = stream_prefix {
        for endpoint in routes::streams() {
            document.add(prefix, &endpoint.operation);
        }
    }
    document.finish(base_url, web)
}

#[cfg(test)]
mod tests;
