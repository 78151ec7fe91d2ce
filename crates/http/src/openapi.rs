//! The endpoint of the OpenAPI document.

use std::sync::Arc;

use eddyline_app::Error;
use eddyline_openapi::DocumentBuilder;
use http::{Method, StatusCode};
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::requester::Anybody;
use crate::response::uncounted;
use crate::{Config, Shared, routes};

/// Where the document is.
pub(crate) const PATH: &str = "/openapi.json";

/// The endpoint that serves the document. It is not in it.
///
/// The first request builds the document, so a server whose document no client reads starts sooner
/// and keeps less memory. A blocking thread does it, since it takes milliseconds.
pub(crate) fn endpoint(shared: &Shared, config: &Config) -> Endpoint {
    let addresses = &shared.app.config().addresses;
    let (base_url, web) = (addresses.base.clone(), addresses.web.clone());
    let stream_prefix = config.stream_prefix.clone();
    let is_classic = shared.profile.classic;
    let build = Arc::new(move || {
        let document = document(&base_url, &web, stream_prefix.as_deref(), is_classic);
        bytes::Bytes::from(document.to_string())
    });
    let built: Arc<OnceCell<bytes::Bytes>> = Arc::default();
    Endpoint::new(
        Method::GET,
        PATH,
        "getDocument",
        "This document",
        move |_: RequestContext<Anybody>| {
            let (build, built) = (build.clone(), built.clone());
            async move {
                let text = built
                    .get_or_try_init(|| spawn_blocking(move || build()))
                    .await
                    .map_err(|error| Error::internal(error.to_string()))?;
                Ok(uncounted(StatusCode::OK, text.clone()))
            }
        },
    )
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
