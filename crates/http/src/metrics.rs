//! What is answered, counted, and the address under which Prometheus reads counts.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::response::IntoResponse as _;
use axum::routing::get;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

/// Where Prometheus reads, by default too.
const PATH: &str = "/metrics";
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Requests that were answered. Clones count together.
#[derive(Clone, Debug)]
pub struct RequestMetrics {
    requests: Family<Answered, Counter>,
    duration: Family<AnsweredBy, Histogram, fn() -> Histogram>,
}

/// Which endpoint answered (`operationId` in `/openapi.json`), or what else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct AnsweredBy {
    pub(crate) endpoint: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    endpoint: &'static str,
    status: u16,
}

impl Default for RequestMetrics {
    fn default() -> Self {
        let durations = || Histogram::new(exponential_buckets(0.000_5, 2.0, 15));
        Self {
            requests: Family::default(),
            duration: Family::new_with_constructor(durations),
        }
    }
}

impl RequestMetrics {
    /// Adds them to a registry, whose prefix their names get: `http_requests_total` and
    /// `http_request_duration_seconds`.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "http_requests",
            "Requests that were answered",
            self.requests.clone(),
        );
        registry.register_with_unit(
            "http_request_duration",
            "How long it took until an answer began",
            Unit::Seconds,
            self.duration.clone(),
        );
    }

    pub(crate) fn note(&self, by: AnsweredBy, status: StatusCode, took: Duration) {
        let answered = Answered {
            endpoint: by.endpoint,
            status: status.as_u16(),
        };
        self.requests.get_or_create(&answered).inc();
        self.duration.get_or_create(&by).observe(took.as_secs_f64());
    }
}

/// Answers `GET /metrics` with what a registry counts, in the text format of OpenMetrics 1.0. It
/// asks for no credentials: serve it on an address that only the monitoring reaches.
pub fn metrics_service(registry: Registry) -> Router {
    let registry = Arc::new(registry);
    let scrape = async move || {
        let mut text = String::new();
        match encode(&mut text, &registry) {
            Ok(()) => {
                let headers = [(CONTENT_TYPE, OPENMETRICS), (CACHE_CONTROL, "no-store")];
                (headers, text).into_response()
            }
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    };
    Router::new().route(PATH, get(scrape))
}
