//! Requests to the collector, by the client that the server has for all others.

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};

use eddyline_outbound::{Outbound, OutboundRequest};
use http::{Request, Response};
use opentelemetry_http::{Bytes, HttpClient, HttpError};
use tokio::runtime::{Builder, Runtime};

use crate::CommandError;
use crate::output::Causes;

/// Sends to a collector. What fails is logged once until it works again: spans come every few
/// seconds.
pub(super) struct Collector {
    outbound: Outbound,
    /// Of its own, since the thread that exports belongs to no runtime, and the last spans are
    /// exported when that of the server has ended.
    runtime: Runtime,
    is_failing: AtomicBool,
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector").finish_non_exhaustive()
    }
}

impl Collector {
    /// # Errors
    ///
    /// When the system gives no runtime.
    pub(super) fn new(outbound: Outbound) -> Result<Self, CommandError> {
        Ok(Self {
            outbound,
            runtime: Builder::new_current_thread().enable_all().build()?,
            is_failing: AtomicBool::new(false),
        })
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let request = OutboundRequest {
            headers: head.headers,
            ..OutboundRequest::post(head.uri.to_string(), body)
        };
        let answer = self.runtime.block_on(self.outbound.send(request));
        self.note(match &answer {
            Ok(answer) if answer.status.is_success() => None,
            Ok(answer) => Some(format!("it answers {}", answer.status)),
            Err(error) => Some(Causes(error).to_string()),
        });
        let answer = answer?;
        let mut response = Response::new(answer.body);
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        Ok(response)
    }

    fn note(&self, failure: Option<String>) {
        let was_failing = self.is_failing.swap(failure.is_some(), Ordering::Relaxed);
        match failure {
            Some(error) if !was_failing => {
                tracing::warn!(
                    error,
                    "the collector takes no traces; they are lost until it does"
                );
            }
            None if was_failing => tracing::info!("the collector takes traces again"),
            Some(_) | None => {}
        }
    }
}

impl HttpClient for Collector {
    /// Blocks: it is called by the thread that exports, which does nothing else.
    fn send_bytes<'client, 'answer>(
        &'client self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'answer>>
    where
        'client: 'answer,
        Self: 'answer,
    {
        Box::pin(std::future::ready(self.send(request)))
    }
}
