//! The way from clients to the server: whether it is reached, whether streams arrive as they are
//! sent, and whether the proxy on the way tells whose requests it passes on.

use std::time::{Duration, Instant};

use eddyline_app::Addresses;
use http::StatusCode;
use serde::Deserialize;

use super::finding::Finding;
use super::web::{self, WebFailure};
use crate::config::Settings;

/// The server lets half a second pass between the last two events of a probe. Where they come closer
/// together than this, something held the earlier one back.
const APART: Duration = Duration::from_millis(125);
/// A busy machine may read the first event late. Something that holds events back does it each
/// time.
const TRIES: usize = 3;

const OPTION: &str = "base_url";

pub(super) async fn check(
    settings: &Settings,
    addresses: &Addresses,
    servers: i64,
) -> Vec<Finding> {
    let (ready, probed) = tokio::join!(
        readiness(&addresses.base, servers),
        stream(settings, &addresses.stream)
    );
    let mut findings = vec![ready];
    findings.extend(probed);
    findings
}

/// Whether the server answers. Where none runs, that it does not is no mistake.
async fn readiness(base: &str, servers: i64) -> Finding {
    const CHECK: &str = "server";
    let answer = match web::get(&format!("{base}/readyz")).await {
        Ok(answer) => web::read(answer).await,
        Err(failure) => Err(failure),
    };
    match answer {
        Ok((StatusCode::OK, _)) => Finding::ok(CHECK, base, "it is ready"),
        Ok((StatusCode::SERVICE_UNAVAILABLE, body)) if body.starts_with('{') => Finding::error(
            CHECK,
            base,
            "the server runs, and is not ready (503)",
            "Look into its log: the database does not answer, or its writer has ended.",
        ),
        Ok((status, _)) => Finding::error(
            CHECK,
            base,
            format!("/readyz is answered with {status}, and not by the server"),
            "Have the proxy pass all paths on to the address in listen.",
        ),
        Err(failure @ WebFailure::Connect(_)) if servers == 0 => Finding::warning(
            CHECK,
            base,
            format!("{failure}; the database knows of no server that runs"),
            "Start the server and run this again: the proxy could not be looked at.",
        ),
        Err(failure) => Finding::error(CHECK, base, failure.to_string(), failure.advice(OPTION)),
    }
}

/// What the first event of a probe tells.
#[derive(Deserialize)]
struct ProbeEvent {
    forwarded: ForwardedState,
}

/// What became of the headers in which a proxy tells of its clients.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ForwardedState {
    None,
    Believed,
    Ignored,
}

/// What a probe of the stream showed.
enum StreamProbe {
    Arrived(ForwardedState),
    HeldBack(ForwardedState),
    Unknown(StatusCode),
}

/// Nothing where the server is not reached, which [`readiness`] tells of; but for an address of the
/// stream that is not the server's.
async fn stream(settings: &Settings, stream: &str) -> Vec<Finding> {
    const CHECK: &str = "proxy_buffering";
    match probe_often(stream).await {
        Ok(StreamProbe::Arrived(state)) => vec![
            Finding::ok(CHECK, stream, "events arrive as they are sent"),
            forwarding(settings, state),
        ],
        Ok(StreamProbe::HeldBack(state)) => vec![
            Finding::error(
                CHECK,
                stream,
                "two events that were sent half a second apart arrived together: something holds streams back",
                "Turn the buffering of answers off in the proxy: in nginx by proxy_buffering off and proxy_http_version 1.1, \
                 and without proxy_ignore_headers X-Accel-Buffering.",
            ),
            forwarding(settings, state),
        ],
        Ok(StreamProbe::Unknown(status)) => vec![Finding::error(
            CHECK,
            stream,
            format!("/probe is answered with {status}"),
            "Have the proxy pass the paths of the stream on to the server, make stream_url the address of the \
             stream, and run the doctor of the server's version.",
        )],
        Err(WebFailure::Connect(_)) => Vec::new(),
        Err(failure) => vec![Finding::error(
            CHECK,
            stream,
            failure.to_string(),
            failure.advice("stream_url"),
        )],
    }
}

async fn probe_often(stream: &str) -> Result<StreamProbe, WebFailure> {
    let mut seen = probe(stream).await?;
    for _ in 1..TRIES {
        if !matches!(seen, StreamProbe::HeldBack(_)) {
            break;
        }
        seen = probe(stream).await?;
    }
    Ok(seen)
}

async fn probe(stream: &str) -> Result<StreamProbe, WebFailure> {
    let answer = web::get(&format!("{stream}/probe")).await?;
    let status = answer.status();
    if status != StatusCode::OK {
        return Ok(StreamProbe::Unknown(status));
    }
    let mut body = answer.into_body();
    let (mut text, mut sent) = (String::new(), None);
    while let Some(bytes) = web::next(&mut body).await? {
        text.push_str(&String::from_utf8_lossy(&bytes));
        if sent.is_none() && text.contains("event: sent") {
            sent = Some(Instant::now());
        }
        if text.contains("event: end") {
            break;
        }
    }
    let event = text
        .lines()
        .find_map(|line| line.strip_prefix("data: "))
        .and_then(|data| serde_json::from_str::<ProbeEvent>(data).ok());
    Ok(match (event, sent) {
        (Some(event), Some(sent)) if sent.elapsed() >= APART => {
            StreamProbe::Arrived(event.forwarded)
        }
        (Some(event), Some(_)) => StreamProbe::HeldBack(event.forwarded),
        _ => StreamProbe::Unknown(status),
    })
}

/// Whether the server knows its clients apart.
fn forwarding(settings: &Settings, state: ForwardedState) -> Finding {
    const CHECK: &str = "proxy_headers";
    let subject = "trusted_proxy";
    let is_named = !settings.trusted_proxy.is_empty();
    // Somebody else does the TLS.
    let is_https = |url: &str| url.starts_with("https:");
    let base = settings.base_url.as_ref();
    let is_behind = base.is_some_and(|url| is_https(url.as_str())) && !settings.speaks_tls();
    match state {
        ForwardedState::Believed => Finding::ok(
            CHECK,
            subject,
            "the proxy tells of its clients, and is believed",
        ),
        ForwardedState::Ignored => Finding::warning(
            CHECK,
            subject,
            "requests bear X-Forwarded-For or Forwarded of a proxy that trusted_proxy does not name: the server takes \
             all clients behind it for one, and they share its limits",
            "Set trusted_proxy to the address from which the proxy connects, such as 127.0.0.1/32.",
        ),
        ForwardedState::None if is_named || is_behind => Finding::warning(
            CHECK,
            subject,
            "the proxy does not tell of its clients: the server takes all of them for one, and they share its limits",
            "Have the proxy send X-Forwarded-For and X-Forwarded-Proto, and name it with trusted_proxy.",
        ),
        ForwardedState::None => Finding::ok(CHECK, subject, "no proxy is on the way"),
    }
}
