//! How an integration is asked to do something, and what its answer means (specification, sections
//! 5 and 6).

use std::sync::Arc;

use eddyline_model::ApplicationId;
use eddyline_model::items::ActionMethod;
use eddyline_outbound::{Config, Error as OutboundError, Outbound, OutboundRequest, Response};
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use tracing::Instrument as _;
use url::Url;

use crate::config::Profile;
use crate::error::IntegrationFailed;
use crate::jobs::Jobs;
use crate::quota::{KeyedSemaphore, Quota, QuotaKey, QuotaSubject};
use crate::{Error, Limit, Result};

/// How many integrations are asked at the same time. Each may take as long as the timeout allows.
/// The actions of one application have a share, so that a slow one leaves the others alone, and
/// that of one user is less than a whole application's.
const ACTIONS: Quota = Quota {
    application: 8,
    ..Quota::new(64, 32, 4)
};
/// The longest address at which users may be told to sign in, in bytes.
const MAX_AUTHENTICATION_URL: usize = 4096;
/// What the challenge of an integration is called, here and in the original service.
const SCHEMES: [&str; 2] = ["Service-Token", "Flowdock-Token"];

/// What asks integrations.
#[derive(Clone)]
pub(crate) struct Integrations {
    outbound: Outbound,
    actions: KeyedSemaphore,
    /// The header with the signed token.
    token: HeaderName,
    jobs: Jobs,
}

/// What an integration is asked.
pub(crate) struct ActionCall {
    pub(crate) application: ApplicationId,
    /// Who triggered it.
    pub(crate) owner: QuotaSubject,
    /// The thread, for the log.
    pub(crate) thread: String,
    pub(crate) url: String,
    pub(crate) method: ActionMethod,
    pub(crate) token: String,
    pub(crate) body: Vec<u8>,
}

impl Integrations {
    pub(crate) fn new(bounds: Config, profile: Profile, jobs: Jobs) -> Self {
        let token = match profile {
            Profile::Spec => "service-token",
            Profile::Classic => "flowdock-token",
        };
        Self {
            outbound: Outbound::new(bounds),
            actions: KeyedSemaphore::new(ACTIONS),
            token: HeaderName::from_static(token),
            jobs,
        }
    }

    /// Asks, once, and judges the answer. A caller who stops waiting ends nothing: what was begun
    /// is brought to its end, and its permit with it.
    pub(crate) async fn ask(&self, asked: ActionCall) -> Result<()> {
        let ActionCall {
            application,
            owner,
            thread,
            url,
            method,
            token,
            body,
        } = asked;
        let keys = owner.quota_keys().and(QuotaKey::Application(application));
        let permit = self
            .actions
            .acquire(keys, 1)
            .map_err(|exceeded| exceeded.of(Limit::Actions))?;
        let mut token = HeaderValue::try_from(token)
            .map_err(|_| Error::internal("a signed token does not fit a header"))?;
        token.set_sensitive(true);
        let headers = HeaderMap::from_iter([
            (self.token.clone(), token),
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (ACCEPT, HeaderValue::from_static("application/json")),
            (
                USER_AGENT,
                HeaderValue::from_static(concat!("Eddyline/", env!("CARGO_PKG_VERSION"))),
            ),
        ]);
        // The token covers the body, so every method has one.
        let (method, body, held) = (as_sent(method), body.into(), Arc::new(permit));
        let request = OutboundRequest {
            method,
            url,
            headers,
            body,
            held: Some(held),
        };
        let outbound = self.outbound.clone();
        // Made outside the task, so that the span of the request is its parent.
        let span = tracing::info_span!("integration.action", otel.kind = "client");
        let asking = async move {
            // What else the answer says is nobody's concern, and may be long or slow.
            let outcome = match outbound.send_for_head(request).instrument(span).await {
                Ok(answer) => judge(&answer),
                Err(failure) => Err(IntegrationFailed::unasked(&sentence(&failure))),
            };
            if let Err(failed) = &outcome {
                tracing::info!(thread, status = failed.status, "an action was not done");
            }
            Ok(outcome?)
        };
        self.jobs.finish("action of an integration", asking).await
    }
}

fn as_sent(method: ActionMethod) -> Method {
    match method {
        ActionMethod::Get => Method::GET,
        ActionMethod::Post => Method::POST,
        ActionMethod::Put => Method::PUT,
        ActionMethod::Patch => Method::PATCH,
        ActionMethod::Delete => Method::DELETE,
    }
}

fn judge(answer: &Response) -> std::result::Result<(), IntegrationFailed> {
    let status = answer.status;
    let authentication_url = match status {
        StatusCode::OK => return Ok(()),
        StatusCode::UNAUTHORIZED => authentication_url(&answer.headers),
        _ => None,
    };
    let message = match status {
        _ if authentication_url.is_some() => {
            "The integration wants you to sign in there first".to_owned()
        }
        _ if status.is_redirection() => "The integration answered with a redirect".to_owned(),
        _ => format!("The integration answered with status {}", status.as_u16()),
    };
    Err(IntegrationFailed {
        message,
        status: Some(status.as_u16()),
        authentication_url,
    })
}

/// What a user is told of a request without an answer: not what the system said about it, which may
/// name hosts.
fn sentence(failure: &OutboundError) -> String {
    match failure {
        OutboundError::BadUrl(why) => format!("The address of the action {why}"),
        OutboundError::ForbiddenAddress => {
            "The address of the action must not be asked from here".to_owned()
        }
        OutboundError::Timeout => "The integration did not answer in time".to_owned(),
        OutboundError::Connect(_) => "The integration could not be reached".to_owned(),
        OutboundError::TooLarge => "The integration's answer is too large".to_owned(),
        OutboundError::Broken(_) => "The integration's answer cannot be read".to_owned(),
    }
}

/// Where a challenge sends users to sign in.
fn authentication_url(headers: &HeaderMap) -> Option<String> {
    let challenges = headers.get_all(WWW_AUTHENTICATE).into_iter();
    challenges
        .filter_map(|value| value.to_str().ok())
        .find_map(url_of_challenge)
}

/// The URL that one header names, which may hold other challenges and other parameters. It stands
/// in quotation marks or not, and is where browsers may be sent.
fn url_of_challenge(header: &str) -> Option<String> {
    let mut rest = header.trim_start();
    let mut ours = false;
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| c == '=' || c == ',' || c.is_whitespace())
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if let Some(value) = after.strip_prefix('=') {
            let (value, after) = parameter(value)?;
            if ours && word.eq_ignore_ascii_case("url") {
                return where_browsers_may_go(&value);
            }
            rest = after;
        } else {
            if !word.is_empty() {
                ours = SCHEMES
                    .iter()
                    .any(|scheme| scheme.eq_ignore_ascii_case(word));
            }
            rest = after;
        }
        rest = rest.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
    }
    None
}

/// A parameter's value, and what follows. Without quotation marks it ends at a space, or at a comma
/// before one, since addresses have commas in them.
fn parameter(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        return Some((text[..end].trim_end_matches(',').to_owned(), &text[end..]));
    };
    let (mut value, mut chars) = (String::new(), quoted.char_indices());
    while let Some((at, next)) = chars.next() {
        match next {
            '"' => return Some((value, &quoted[at + 1..])),
            '\\' => value.push(chars.next()?.1),
            other => value.push(other),
        }
    }
    None
}

fn where_browsers_may_go(text: &str) -> Option<String> {
    let url = Url::parse(text)
        .ok()
        .filter(|_| text.len() <= MAX_AUTHENTICATION_URL)?;
    let plain = url.username().is_empty() && url.password().is_none();
    (matches!(url.scheme(), "http" | "https") && plain).then(|| url.into())
}

#[cfg(test)]
mod tests {
    use eddyline_model::{OrganizationId, UserId};

    use super::*;
    use crate::ErrorKind;
    use crate::quota::Permit;

    #[test]
    fn a_challenge_names_where_to_sign_in() {
        let there = Some("https://tracker.example/in?a=b,c&claim=x.y".to_owned());
        for header in [
            "Service-Token url=https://tracker.example/in?a=b,c&claim=x.y",
            "service-token   url=\"https://tracker.example/in?a=b,c&claim=x.y\"",
            "Flowdock-Token url=https://tracker.example/in?a=b,c&claim=x.y",
            "Service-Token realm=\"a, url=http://no.example\", URL=https://tracker.example/in?a=b,c&claim=x.y",
            "Service-Token url=https://tracker.example/in?a=b,c&claim=x.y, error=\"no\"",
            "Basic realm=x, Service-Token url=\"https://tracker.example/in?a=b,c&claim=x.y\", Digest a=b",
        ] {
            assert_eq!(url_of_challenge(header), there, "{header}");
        }
    }

    #[test]
    fn a_challenge_sends_nobody_elsewhere() {
        for header in [
            "",
            "Service-Token",
            "Service-Token url=",
            "Service-Token url=/in",
            "Service-Token url=javascript:alert(1)",
            "Service-Token url=data:text/html,x",
            "Service-Token url=\"https://tracker.example",
            "Service-Token url=https://tracker@evil.example/",
            "Basic url=https://tracker.example/",
            "Service-Token, Basic url=https://tracker.example/",
            "Basic realm=\"Service-Token url=https://tracker.example/\"",
        ] {
            assert_eq!(url_of_challenge(header), None, "{header}");
        }
        let long = format!(
            "Service-Token url=https://tracker.example/{}",
            "x".repeat(5000)
        );
        assert_eq!(url_of_challenge(&long), None);
    }

    fn owner(user: i64, organization: i64) -> QuotaSubject {
        QuotaSubject {
            user: Some(UserId(user)),
            organization: Some(OrganizationId(organization)),
        }
    }

    /// Permits for so many actions of an organization.
    fn acquire(integrations: &Integrations, organization: i64, count: i64) -> Vec<Permit> {
        let permit = |number: i64| {
            let user = owner(100 * organization + number / 4, organization);
            let application = QuotaKey::Application(ApplicationId(100 * organization + number / 8));
            integrations
                .actions
                .acquire(user.quota_keys().and(application), 1)
                .unwrap()
        };
        (0..count).map(permit).collect()
    }

    async fn ask(integrations: &Integrations, owner: QuotaSubject) -> Option<Error> {
        let asked = ActionCall {
            application: ApplicationId(1),
            owner,
            thread: "t".into(),
            url: "https://192.0.2.1/".into(),
            method: ActionMethod::Post,
            token: "x".into(),
            body: Vec::new(),
        };
        integrations.ask(asked).await.err()
    }

    #[tokio::test]
    async fn actions_under_way_are_bounded_for_an_organization_and_for_all() {
        let integrations = Integrations::new(Config::default(), Profile::Spec, Jobs::default());
        let first = acquire(&integrations, 1, 56);
        assert_eq!(
            ask(&integrations, owner(1, 1))
                .await
                .as_ref()
                .map(Error::kind),
            Some(ErrorKind::TooManyRequests)
        );
        let second = acquire(&integrations, 2, 8);
        assert_eq!(
            ask(&integrations, owner(3, 3))
                .await
                .as_ref()
                .map(Error::kind),
            Some(ErrorKind::Unavailable)
        );
        drop(first);
        assert!(
            integrations
                .actions
                .acquire(owner(3, 3).quota_keys(), 1)
                .is_ok()
        );
        drop(second);
    }

    #[test]
    fn only_200_is_agreement() {
        let answer = |status| Response {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::new(),
            body: bytes::Bytes::default(),
        };
        assert_eq!(judge(&answer(200)), Ok(()));
        for status in [201, 204, 302, 401, 404, 500] {
            let failed = judge(&answer(status)).unwrap_err();
            assert_eq!(
                (failed.status, failed.authentication_url),
                (Some(status), None)
            );
        }
    }
}
