#![doc = include_str!("../README.md")]
//!
//! A request is given an id ([`request_envelope`]), its path is made regular and found in the table
//! of endpoints (`api`, `path`, `routes`); it is read into a `RequestContext` (`context`: body,
//! parameters, caller, scope) for the endpoint's handler, whose type says who may call it and what
//! it takes (`handler`), and which asks the application and shapes the answer. The table also makes
//! the OpenAPI document, so that neither can know an endpoint that the other does not.

mod answer;
mod api;
mod audit;
mod authenticate;
mod avatars;
mod body;
mod context;
mod endpoint;
mod error;
mod files;
mod flow_users;
mod flows;
mod forwarded;
mod groups;
mod handler;
mod health;
mod invitations;
mod json;
pub mod media;
mod messages;
mod metrics;
mod multipart;
mod notifications;
mod oauth;
mod openapi;
mod organizations;
mod path;
mod path_params;
mod path_room;
mod peer;
mod picture_form;
mod private;
mod push;
mod quota;
mod reactions;
mod read_marks;
mod read_request;
mod receive_body;
pub mod request_envelope;
pub mod request_id;
mod requester;
mod response;
mod response_budget;
mod route_to;
mod routes;
mod scim;
pub mod serve;
mod shared_addresses;
mod sources;
mod static_text;
mod stream;
mod stream_probe;
mod tabs;
mod threads;
mod trace_span;
mod uploads;
mod users;
mod wire_profile;

use std::sync::Arc;

use axum::Router;
use eddyline_app::{App, KeyedSemaphore, Limit};
use ipnet::IpNet;

pub use crate::api::{Api, ApiService};
pub use crate::authenticate::BrowserSession;
pub use crate::error::{error_page, response as error_response};
pub use crate::forwarded::{ClientInfo, TrustedProxies};
pub use crate::metrics::{RequestMetrics, metrics_service};
pub use crate::openapi::ApiDescription;
pub use crate::picture_form::{FileBodies, PictureForm, read_picture_form};
pub use crate::response_budget::{
    check_response_budget, expect_response_bytes, reserve_response_bytes,
};
use crate::routes::Routes;
use crate::serve::{BodyBudget, BodyLimit};
pub use crate::static_text::StaticText;
pub use crate::trace_span::TraceHooks;
use crate::wire_profile::WireProfile;

/// How requests are read.
#[derive(Clone, Debug)]
pub struct Config {
    /// Proxies whose word about the client's address is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// How large a body may be and how long it may take.
    pub body: BodyLimit,
    /// What the bodies of callers without credentials may take together, 32 MiB by default. Clones
    /// of the configuration share it.
    pub unknown_bodies: BodyBudget,
    /// What files that are received into memory may take together: pictures of users, and files in
    /// JSON. Clones of the configuration share it.
    pub file_bodies: FileBodies,
    /// The most bytes of a file that comes as Base64 in JSON, which is in memory as a whole.
    pub json_upload_bytes: usize,
    /// How many files are handed out at once. A fourth of them may be for one organization, a
    /// sixteenth for one caller, and half for one address.
    pub downloads: usize,
    /// Where the stream is served beside the API, for deployments with one port; `None` for
    /// nowhere.
    pub stream_prefix: Option<String>,
    /// Whether an access token may stand among the parameters, as `access_token`. Addresses end up
    /// in logs and histories, so that servers whose clients do not need it are better without (RFC
    /// 6750, section 5.3).
    pub query_tokens: bool,
    /// Counts the requests; `None` counts nothing. Clones of the configuration share it.
    pub metrics: Option<RequestMetrics>,
    /// Has each request traced, as a span with the field `otel.kind` for a layer such as that of
    /// `tracing-opentelemetry`; `None` makes no spans for traces.
    pub traces: Option<TraceHooks>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            trusted_proxies: Vec::new(),
            body: BodyLimit::default(),
            unknown_bodies: BodyBudget::new(UNKNOWN_BODIES_BYTES),
            file_bodies: FileBodies::default(),
            json_upload_bytes: 16 * 1024 * 1024,
            downloads: 512,
            stream_prefix: Some("/stream".to_owned()),
            query_tokens: true,
            metrics: None,
            traces: None,
        }
    }
}

impl Config {
    /// Whether metrics or traces need to know what answers a request.
    #[must_use]
    pub fn is_observed(&self) -> bool {
        self.metrics.is_some() || self.traces.is_some()
    }
}

/// Enough for any chat message with its flow token.
const UNKNOWN_BODY_BYTES: usize = 128 * 1024;
/// What all such bodies may take together.
const UNKNOWN_BODIES_BYTES: usize = 32 * 1024 * 1024;

/// What every endpoint needs.
pub(crate) struct Shared {
    pub(crate) app: App,
    pub(crate) profile: WireProfile,
    pub(crate) proxies: TrustedProxies,
    pub(crate) body: BodyLimit,
    pub(crate) unknown_bodies: BodyBudget,
    /// Whether an access token may stand among the parameters.
    pub(crate) query_tokens: bool,
    /// Bytes of files that are being received into memory.
    pub(crate) file_bodies: FileBodies,
    /// Bytes of longer bodies without files.
    pub(crate) bodies: KeyedSemaphore,
    /// Forms with parts that are being received.
    pub(crate) forms: KeyedSemaphore,
    /// Files that are being handed out.
    pub(crate) downloads: KeyedSemaphore,
    /// The most bytes of a file in JSON.
    pub(crate) json_upload: usize,
    /// Whether answers bear the name of their endpoint, for metrics and traces.
    pub(crate) is_observed: bool,
}

impl Shared {
    fn new(app: App, config: &Config) -> Arc<Self> {
        let profile = WireProfile::of(app.config().profile);
        let proxies = TrustedProxies::new(config.trusted_proxies.clone());
        let (body, query_tokens, json_upload) =
            (config.body, config.query_tokens, config.json_upload_bytes);
        let unknown_bodies = config.unknown_bodies.clone();
        Arc::new(Self {
            app,
            profile,
            proxies,
            body,
            unknown_bodies,
            query_tokens,
            file_bodies: config.file_bodies.clone(),
            bodies: KeyedSemaphore::new(quota::BODIES),
            forms: KeyedSemaphore::new(quota::FORMS),
            downloads: KeyedSemaphore::new(quota::downloads(config.downloads)),
            json_upload,
            is_observed: config.is_observed(),
        })
    }

    /// How large a body may be whose sender has shown nothing yet but may do so in the body.
    pub(crate) fn unknown_body(&self) -> BodyLimit {
        match self.body.bytes > UNKNOWN_BODY_BYTES {
            true => BodyLimit {
                bytes: UNKNOWN_BODY_BYTES,
                limit: Limit::FixedBody,
                ..self.body
            },
            false => self.body,
        }
    }
}

/// The API, and the stream under its prefix, as a router that nests in another.
pub fn router(app: App, config: &Config) -> Router {
    Router::new().fallback_service(service(app, config))
}

/// What [`router`] serves, as a plain service.
pub fn service(app: App, config: &Config) -> ApiService {
    let shared = Shared::new(app, config);
    let mut parts = vec![
        (String::new(), routes::api()),
        (String::new(), openapi::endpoints(&shared, config)),
    ];
    if shared.profile.classic {
        parts.push((String::new(), routes::classic()));
    }
    if let Some(prefix) = &config.stream_prefix {
        parts.push((prefix.clone(), routes::streams()));
    }
    ApiService::new(Api::new(shared, Routes::new(parts)), config)
}

/// The stream alone, as it is served on an address of its own.
pub fn stream_service(app: App, config: &Config) -> ApiService {
    let parts = [
        (String::new(), routes::streams()),
        (String::new(), routes::health()),
    ];
    let api = Api::new(Shared::new(app, config), Routes::new(parts));
    ApiService::new(api, config)
}

#[cfg(test)]
mod tests {
    use eddyline_model::paths::{RESERVED_NAMES, is_page, is_reserved};

    use super::*;

    #[test]
    fn every_endpoint_begins_with_a_reserved_segment_and_none_is_a_page() {
        let endpoints = [routes::api(), routes::classic(), routes::health()]
            .into_iter()
            .flatten();
        for path in endpoints
            .map(|endpoint| endpoint.operation.path)
            .chain([openapi::PATH, openapi::ASYNC_PATH])
        {
            let first = path.split('/').nth(1).unwrap_or_default();
            assert!(is_reserved(first) && !is_page(path), "{path}");
        }
    }

    #[test]
    fn a_literal_segment_beside_the_name_of_a_flow_or_an_organization_is_reserved() {
        let endpoints = [routes::api(), routes::classic()].into_iter().flatten();
        let paths: Vec<Vec<&str>> = endpoints
            .map(|endpoint| endpoint.operation.path.split('/').skip(1).collect())
            .collect();
        let mut checked = 0;
        for path in &paths {
            let is_name = |segment: &&str| ["{organization}", "{flow}"].contains(segment);
            for position in (0..path.len()).filter(|position| is_name(&path[*position])) {
                let beside = paths
                    .iter()
                    .filter(|other| other.get(..position) == path.get(..position))
                    .filter_map(|other| other.get(position))
                    .filter(|segment| !segment.starts_with('{'));
                for segment in beside {
                    assert!(RESERVED_NAMES.contains(segment), "{segment} in {path:?}");
                    checked += 1;
                }
            }
        }
        assert!(checked > 0);
    }
}
