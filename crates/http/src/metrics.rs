//! The metrics of requests, and the endpoint from which Prometheus reads all metrics.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::response::IntoResponse as _;
use axum::routing::get;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, VARY};
use http::{HeaderMap, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::{prometheus_text, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

/// The path that Prometheus reads by default.
const PATH: &str = "/metrics";
/// The media type without its parameters, as readers name it in `Accept`.
const OPENMETRICS: &str = "application/openmetrics-text";
const OPENMETRICS_1: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Requests that were answered. Clones count together.
#[derive(Clone, Debug)]
pub struct RequestMetrics {
    requests: Family<Answered, Counter>,
    duration: Family<Timed, Histogram, fn() -> Histogram>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Timed {
    endpoint: &'static str,
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

    pub(crate) fn note(&self, endpoint: &'static str, status: StatusCode, took: Duration) {
        let status = status.as_u16();
        let answered = Answered { endpoint, status };
        self.requests.get_or_create(&answered).inc();
        let timed = self.duration.get_or_create(&Timed { endpoint });
        timed.observe(took.as_secs_f64());
    }
}

/// Answers `GET /metrics` with what a registry counts, in the text format of Prometheus, or in that
/// of OpenMetrics for those who accept it. It asks for no credentials: serve it on an address that
/// only the monitoring reaches.
pub fn metrics_service(registry: Registry) -> Router {
    let registry = Arc::new(registry);
    let scrape = async move |headers: HeaderMap| {
        let mut accepted = headers.get_all(ACCEPT).iter();
        let is_open = accepted.any(|kinds| {
            kinds
                .to_str()
                .is_ok_and(|kinds| kinds.contains(OPENMETRICS))
        });
        let mut body = String::new();
        let (encoded, kind) = match is_open {
            true => (text::encode(&mut body, &registry), OPENMETRICS_1),
            false => (
                prometheus_text::encode(&mut body, &registry),
                prometheus_text::CONTENT_TYPE,
            ),
        };
        let headers = [
            (CONTENT_TYPE, kind),
            (CACHE_CONTROL, "no-store"),
            (VARY, "accept"),
        ];
        match encoded {
            Ok(()) => (headers, body).into_response(),
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    };
    Router::new().route(PATH, get(scrape))
}
