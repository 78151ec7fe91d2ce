//! The span of a request in distributed traces, by the names of OpenTelemetry's semantic
//! conventions for HTTP servers.
//!
//! The span has no path, query, address or user: these may hold secrets and show private
//! conversations, and traces leave the server. The request id finds the lines of the log that belong
//! to a trace.

use http::header::HeaderValue;
use http::{HeaderMap, Method, Request, StatusCode};
use tracing::Span;
use tracing::field::Empty;

use crate::TrustedProxies;
use crate::request_id::REQUEST_ID;

/// Functions of the layer that exports spans as traces, for which `tracing` itself has none.
#[derive(Clone, Copy, Debug)]
pub struct TraceHooks {
    /// Makes a span the child of the one that headers name, such as `traceparent` of W3C Trace
    /// Context. Only headers of trusted proxies are given to it: strangers could join traces
    /// otherwise, and have as much recorded as they like.
    pub adopt_parent: fn(&Span, &HeaderMap),
    /// Names a span. The route of a request is known only after the span has begun.
    pub rename: fn(&Span, String),
}

/// The span of a request. The field `otel.kind` tells spans for traces from those of the log.
pub(crate) struct TraceSpan {
    span: Span,
    method: &'static str,
    hooks: Option<TraceHooks>,
}

impl TraceSpan {
    /// No span.
    pub(crate) fn none() -> Self {
        Self {
            span: Span::none(),
            method: "",
            hooks: None,
        }
    }

    pub(crate) fn begin<B>(
        request: &Request<B>,
        id: &HeaderValue,
        proxies: &TrustedProxies,
        hooks: TraceHooks,
    ) -> Self {
        let method = known_method(request.method());
        let span = tracing::info_span!(
            "request",
            otel.kind = "server",
            otel.status_code = Empty,
            http.request.method = method,
            http.route = Empty,
            http.response.status_code = Empty,
            "error.type" = Empty,
            request.id = Empty,
        );
        let is_trusted = proxies.is_trusted_peer(request.extensions());
        // A client could put anything into the id that it gives.
        if is_trusted || !request.headers().contains_key(REQUEST_ID) {
            span.record("request.id", id.to_str().unwrap_or_default());
        }
        if is_trusted {
            (hooks.adopt_parent)(&span, request.headers());
        }
        Self {
            span,
            method,
            hooks: Some(hooks),
        }
    }

    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    /// Records the answer: the path with the names of its parameters, and the status. The body of
    /// the answer is not part of the span, which would last as long as a stream.
    pub(crate) fn end(self, route: &str, status: StatusCode) {
        let Self {
            span,
            method,
            hooks: Some(hooks),
        } = self
        else {
            return;
        };
        if route.is_empty() {
            (hooks.rename)(&span, method.to_owned());
        } else {
            (hooks.rename)(&span, format!("{method} {route}"));
            span.record("http.route", route);
        }
        span.record("http.response.status_code", i64::from(status.as_u16()));
        if status.is_server_error() {
            span.record("otel.status_code", "ERROR");
            span.record("error.type", status.as_str());
        }
    }
}

/// The method, or one name for all that are unknown: clients can make up any number of them.
fn known_method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        Method::CONNECT => "CONNECT",
        Method::TRACE => "TRACE",
        _ => "_OTHER",
    }
}
