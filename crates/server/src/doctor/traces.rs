//! The collector of traces: reached, and nothing sent.

use super::finding::Finding;
use crate::config::Settings;
use crate::output::Causes;
use crate::traces;

const CHECK: &str = "traces";

pub(super) async fn check(settings: &Settings) -> Vec<Finding> {
    let Some(endpoint) = &settings.otlp_endpoint else {
        return Vec::new();
    };
    let url = endpoint.as_str();
    let outbound = match traces::outbound(settings) {
        Ok(outbound) => outbound,
        Err(error) => {
            let advice = "Correct otlp_ca: a PEM file with certificates of authorities.";
            return vec![Finding::error(CHECK, url, error.to_string(), advice)];
        }
    };
    vec![match outbound.connect(url).await {
        Ok(()) => Finding::ok(CHECK, url, "it is reached"),
        Err(error) => Finding::error(
            CHECK,
            url,
            Causes(&error).to_string(),
            "Check otlp_endpoint, and whether a firewall lets the connection out. The certificate of the collector must \
             be for this host, and of an authority of the system or in otlp_ca.",
        ),
    }]
}
