//! Distributed traces of requests, exported to a collector of OpenTelemetry.

mod collector;
mod sampling;

use std::time::Duration;

use eddyline_http::TraceHooks;
use eddyline_outbound::{Config, Outbound};
use http::HeaderMap;
use opentelemetry::KeyValue;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{TraceContextExt as _, TracerProvider as _};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::resource::{EnvResourceDetector, ResourceDetector as _};
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::{Metadata, Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::LookupSpan;

use self::collector::Collector;
use self::sampling::sampler;
use crate::CommandError;
use crate::authorities::client_config;
use crate::config::Settings;

/// The name of the service, and of the library that makes the spans.
const SERVICE: &str = "eddyline";
/// For how long an export that failed is repeated.
const EXPORT_TIME: Duration = Duration::from_secs(10);
/// How long the end of the process waits for the last spans to be exported.
const FINISH_TIME: Duration = Duration::from_secs(3);

/// The traces of this process. Spans wait in a bounded queue for a thread that exports them; those
/// that find it full are dropped.
pub(crate) struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Those that the settings ask for.
    ///
    /// # Errors
    ///
    /// When `otlp_ca` cannot be used, or the system gives no thread.
    pub(crate) fn open(settings: &Settings) -> Result<Option<Self>, CommandError> {
        let Some(endpoint) = &settings.otlp_endpoint else {
            return Ok(None);
        };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Collector::new(outbound(settings)?)?)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", endpoint.as_str()))
            .with_timeout(EXPORT_TIME)
            .build()?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_sampler(sampler(settings.trace_percent.share()))
            .with_resource(resource())
            .build();
        Ok(Some(Self { provider }))
    }

    /// What makes spans of OpenTelemetry of those that are for traces.
    pub(crate) fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer(SERVICE))
            .with_location(false)
            .with_threads(false)
            .with_level(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_context_activation(false)
            .with_filter(filter_fn(is_for_traces).with_max_level_hint(LevelFilter::INFO))
    }

    /// Exports the spans that wait, for as long as the process may take to end.
    pub(crate) fn finish(self) {
        if let Err(error) = self.provider.shutdown_with_timeout(FINISH_TIME) {
            tracing::warn!(%error, "the last traces were not exported");
        }
    }
}

/// What sends to the collector, by the options about it.
///
/// # Errors
///
/// When `otlp_ca` cannot be used.
pub(crate) fn outbound(settings: &Settings) -> Result<Outbound, CommandError> {
    let tls = client_config(settings.otlp_ca.as_deref());
    let tls = tls.map_err(|error| format!("otlp_ca: {error}"))?;
    // The operator names the address, and can reach everything in this network anyway.
    let bounds = Config {
        allow_private: true,
        ..Config::default()
    };
    Ok(Outbound::with_tls(bounds, tls))
}

/// Whether a span is for traces, and not for the log.
pub(crate) fn is_for_traces(metadata: &Metadata<'_>) -> bool {
    metadata.is_span() && metadata.fields().field("otel.kind").is_some()
}

/// What requests need of the layer.
pub(crate) const HOOKS: TraceHooks = TraceHooks {
    adopt_parent,
    rename: |span, name| span.context().span().update_name(name),
};

/// Makes a span the child of the one that the header `traceparent` names (W3C Trace Context).
fn adopt_parent(span: &Span, headers: &HeaderMap) {
    let parent = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
    // It fails for a span that is not traced, or has begun.
    let _ = span.set_parent(parent);
}

/// What the spans say of this server; `OTEL_RESOURCE_ATTRIBUTES` adds to it, and goes before it.
fn resource() -> Resource {
    let own = Resource::builder_empty().with_attributes([
        KeyValue::new("service.name", SERVICE),
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
    ]);
    let named = EnvResourceDetector::new().detect();
    let named = named
        .iter()
        .map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
    own.with_attributes(named.collect::<Vec<_>>()).build()
}
