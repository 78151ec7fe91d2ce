//! Which spans are recorded.

use opentelemetry::trace::{Link, SpanKind, TraceId, TraceState};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{Sampler, SamplingDecision, SamplingResult, ShouldSample};

/// Records this share of the requests. A request whose trace began elsewhere is recorded if that
/// trace is, and what belongs to a request as the request is.
pub(super) fn sampler(ratio: f64) -> Sampler {
    let requests = RequestSampler(Sampler::TraceIdRatioBased(ratio));
    Sampler::ParentBased(Box::new(requests))
}

/// A trace begins with a request: what the server reads and writes by itself, once a second and
/// more often, would hide the requests.
#[derive(Clone, Debug)]
struct RequestSampler(Sampler);

impl ShouldSample for RequestSampler {
    fn should_sample(
        &self,
        parent: Option<&Context>,
        trace: TraceId,
        name: &str,
        kind: &SpanKind,
        attributes: &[KeyValue],
        links: &[Link],
    ) -> SamplingResult {
        if *kind == SpanKind::Server {
            let ratio = &self.0;
            return ratio.should_sample(parent, trace, name, kind, attributes, links);
        }
        SamplingResult {
            decision: SamplingDecision::Drop,
            attributes: Vec::new(),
            trace_state: TraceState::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share_of(ratio: f64, kind: &SpanKind) -> usize {
        let sampler = sampler(ratio);
        let recorded = |n: u64| {
            // The lower half of a trace id decides, and is spread evenly.
            let trace = u128::from(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let empty = Context::new();
            let result = sampler.should_sample(
                Some(&empty),
                TraceId::from(trace),
                "request",
                kind,
                &[],
                &[],
            );
            result.decision == SamplingDecision::RecordAndSample
        };
        (0..1000).filter(|n| recorded(*n)).count()
    }

    #[test]
    fn a_share_of_the_requests_begins_traces_and_nothing_else_does() {
        assert_eq!(share_of(1.0, &SpanKind::Server), 1000);
        assert_eq!(share_of(0.0, &SpanKind::Server), 0);
        let fourth = share_of(0.25, &SpanKind::Server);
        assert!((200..300).contains(&fourth), "{fourth}");
        assert_eq!(share_of(1.0, &SpanKind::Internal), 0);
    }
}
