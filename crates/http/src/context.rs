//! Reading a request: its parameters from query and body, and who sends it.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use eddyline_app::{
    Actor, App, Credentials, Error, Limit, Owner, Permit, Pushing, Room, ScimProvider, Secret,
};
use eddyline_model::policy::FlowAction;
use eddyline_wire::forms::{self, Bounds};
use eddyline_wire::params::{Invalid, Params};
use http::header::AUTHORIZATION;
use http::{Extensions, HeaderMap, Method, Request, request::Parts};
use http_body::Body as _;
use percent_encoding::percent_decode_str;
use serde_json::Map;

use crate::Shared;
use crate::body::{FIRST, Fields, ReadBody, Reading};
use crate::endpoint::{Access, Endpoint};
use crate::error::Failure;
use crate::serve::{BodyError, BodyLimit, BodyReservation, mark_authenticated};
use crate::uploads::Received;

/// The most bytes of the body of a request that only reads. It is small because many such requests
/// of one caller may wait at the same time.
const MAX_READ_BODY: usize = 64 * 1024;

/// A request that has been read, and who sent it.
pub(crate) struct RequestContext<S = Actor> {
    pub(crate) shared: Arc<Shared>,
    sender: S,
    pub(crate) headers: HeaderMap,
    /// The body as it came, where it is a file or the endpoint reads it itself.
    pub(crate) raw: Bytes,
    /// The files that came as parts of a form.
    pub(crate) files: Vec<Received>,
    extensions: Extensions,
    segments: PathParams,
    /// Held while a file is in memory.
    _permit: Option<Permit>,
    /// Held while the body of a caller without credentials is in memory.
    _reservation: Option<BodyReservation>,
}

/// Who sends the requests that a handler takes.
pub(crate) trait Sender: Send + Sized + 'static {
    /// Who may call its endpoint.
    const ACCESS: Access;

    /// The sender of a request to such an endpoint.
    fn of(known: KnownSender) -> Result<Self, Failure>;
}

/// What is known of the sender of a request.
pub(crate) struct KnownSender {
    actor: Option<Actor>,
    provider: Option<ScimProvider>,
}

impl Sender for Actor {
    const ACCESS: Access = Access::Caller;

    fn of(known: KnownSender) -> Result<Self, Failure> {
        known.actor.ok_or(Failure::Anonymous)
    }
}

impl Sender for ScimProvider {
    const ACCESS: Access = Access::Provider;

    fn of(known: KnownSender) -> Result<Self, Failure> {
        known.provider.ok_or(Failure::Anonymous)
    }
}

/// Anybody, with credentials or without, which are not looked at.
pub(crate) struct Anybody;

impl Sender for Anybody {
    const ACCESS: Access = Access::Public;

    fn of(_: KnownSender) -> Result<Self, Failure> {
        Ok(Self)
    }
}

/// Those who show flow tokens in the path, which the handler looks at.
pub(crate) struct TokensInPath;

impl Sender for TokensInPath {
    const ACCESS: Access = Access::TokensInPath;

    fn of(_: KnownSender) -> Result<Self, Failure> {
        Ok(Self)
    }
}

/// The segments of a path that an endpoint names.
pub(crate) struct PathParams(Vec<(String, String)>);

impl PathParams {
    /// Takes the escapes out. `None` for what is not UTF-8 then, and for a NUL: no name has one,
    /// and PostgreSQL takes no text with one.
    pub(crate) fn decode(params: &matchit::Params<'_, '_>) -> Option<Self> {
        let decode = |(name, value): (&str, &str)| {
            let value = percent_decode_str(value).decode_utf8().ok()?;
            (!value.contains('\0')).then(|| (name.to_owned(), value.into_owned()))
        };
        params.iter().map(decode).collect::<Option<_>>().map(Self)
    }

    pub(crate) fn get(&self, name: &str) -> &str {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map_or("", |(_, value)| value)
    }
}

impl RequestContext<KnownSender> {
    /// Reads a request for an endpoint, with its parameters. The sender, once known, is put into
    /// `actor`, also when something else is wrong.
    pub(crate) async fn read(
        shared: &Arc<Shared>,
        endpoint: &Endpoint,
        segments: PathParams,
        request: Request<Body>,
        actor: &mut Option<Actor>,
    ) -> Result<(Self, Params), Failure> {
        let (parts, body) = request.into_parts();
        let query = parts.uri.query().unwrap_or_default().as_bytes();
        let public = endpoint.access != Access::Caller;
        let mut provider = match endpoint.access {
            Access::Provider => Some(Box::pin(scim_provider(shared, &parts, &segments)).await?),
            _ => None,
        };
        let mut sender = provider.as_ref().map(ScimProvider::owner);
        if endpoint.access == Access::TokensInPath {
            // Bad ones are refused before the body is read.
            let pushing = Box::pin(shared.app.messages().pushing(segments.get("token")));
            sender = pushing.await?.first().map(Pushing::owner);
            if let Some(owner) = sender {
                mark_authenticated(&parts.extensions, owner);
            }
        }
        // Credentials in the headers or the query are checked before the body is waited for.
        // Without them only a little may be sent.
        let first = Params::merge(forms::parse_only(query, &FIRST)?, Map::new());
        if !public {
            *actor = authenticate(shared, &parts, &first).await?;
        }
        let sender = sender.or_else(|| actor.as_ref().map(Actor::owner));
        let known = sender.is_some();
        let limit = body_limit(shared, known, &parts.method);
        let (body, reservation) = match known || body.is_end_stream() {
            true => (body, None),
            false => {
                let address = client_address(shared, &parts);
                let (body, reservation) = shared.unknown_bodies.count(body, address, limit.bytes);
                (body, Some(reservation))
            }
        };
        let reading = Reading {
            shared,
            endpoint,
            parts: &parts,
            segments: &segments,
            query: &first,
            limit,
            sender,
        };
        let ReadBody {
            mut fields,
            raw,
            files,
            long,
            permit,
        } = reading.read(body, actor).await?;
        if known {
            fields = Fields::Read(fields.read(bounds(true, &parts.method))?);
        }
        let shown = fields.first()?;
        let late = shown.contains_key("flow_token")
            || (actor.is_none() && shown.contains_key("access_token"));
        let first = first.with_body(shown);
        // Only a file may be so long.
        if long && !first.is_file() {
            return Err(BodyError::TooLarge(Limit::Body).into());
        }
        // What was shown may have ended while the body came.
        let doubtful = actor
            .as_ref()
            .is_some_and(|actor| !shared.app.authentication().is_current(actor));
        if !public && (late || doubtful) {
            *actor = authenticate(shared, &parts, &first).await?;
        }
        if provider.is_some() && !raw.is_empty() {
            provider = Some(Box::pin(scim_provider(shared, &parts, &segments)).await?);
        }
        if let Some(actor) = actor {
            shared.app.authentication().count_request(actor)?;
            actor.require_any(endpoint.scopes)?;
        } else if !public {
            return Err(Failure::Anonymous);
        }
        let bounds = bounds(known || actor.is_some(), &parts.method);
        let params = Params::merge(forms::parse(query, bounds)?, fields.read(bounds)?);
        let Parts {
            headers,
            extensions,
            ..
        } = parts;
        let sender = KnownSender {
            actor: actor.clone(),
            provider,
        };
        let ctx = Self {
            shared: shared.clone(),
            sender,
            headers,
            raw,
            files,
            extensions,
            segments,
            _permit: permit,
            _reservation: reservation,
        };
        Ok((ctx, params))
    }

    /// The same with the sender that its handler takes.
    pub(crate) fn sent_by<S: Sender>(self) -> Result<RequestContext<S>, Failure> {
        let Self {
            shared,
            sender,
            headers,
            raw,
            files,
            extensions,
            segments,
            _permit,
            _reservation,
        } = self;
        let sender = S::of(sender)?;
        Ok(RequestContext {
            shared,
            sender,
            headers,
            raw,
            files,
            extensions,
            segments,
            _permit,
            _reservation,
        })
    }
}

impl RequestContext {
    /// Who asks.
    pub(crate) fn actor(&self) -> &Actor {
        &self.sender
    }

    /// The flow that the path names, if the caller may do `action` there.
    pub(crate) async fn room(&self, action: FlowAction) -> Result<Arc<Room>, Failure> {
        let (organization, flow) = (self.segment("organization"), self.segment("flow"));
        Ok(self
            .app()
            .rooms()
            .find(self.actor(), organization, flow, action)
            .await?)
    }
}

impl RequestContext<ScimProvider> {
    /// The identity provider who asks.
    pub(crate) fn provider(&self) -> &ScimProvider {
        &self.sender
    }
}

impl<S> RequestContext<S> {
    /// The application.
    pub(crate) fn app(&self) -> &App {
        &self.shared.app
    }

    /// Notes that the request has shown valid credentials of a kind that only its endpoint knows.
    pub(crate) fn mark_authenticated(&self, owner: Owner) {
        mark_authenticated(&self.extensions, owner);
    }

    /// Where the request comes from.
    pub(crate) fn client_address(&self) -> IpAddr {
        self.shared
            .proxies
            .client(&self.headers, &self.extensions)
            .addr
    }

    /// A segment of the path.
    pub(crate) fn segment(&self, name: &str) -> &str {
        self.segments.get(name)
    }

    /// A number in the path. Anything else is the number of nothing.
    pub(crate) fn id<T: std::str::FromStr>(&self, name: &str) -> Result<T, Failure> {
        self.segment(name)
            .parse()
            .map_err(|_| Error::NotFound.into())
    }
}

/// How much the parameters of a request may hold.
fn bounds(known: bool, method: &Method) -> Bounds {
    match (known, method.is_safe()) {
        (false, _) => Bounds::STRANGER,
        (true, true) => Bounds::READ,
        (true, false) => Bounds::CHANGE,
    }
}

/// How large a body without files may be.
fn body_limit(shared: &Shared, known: bool, method: &Method) -> BodyLimit {
    let limit = if known {
        shared.body
    } else {
        shared.unknown_body()
    };
    match method.is_safe() {
        true if limit.bytes > MAX_READ_BODY => BodyLimit {
            bytes: MAX_READ_BODY,
            limit: Limit::FixedBody,
            ..limit
        },
        _ => limit,
    }
}

/// The first credentials present decide, also when they are bad: a flow token, then the
/// Authorization header, then an access token among the parameters.
pub(crate) async fn authenticate(
    shared: &Shared,
    parts: &Parts,
    params: &Params,
) -> Result<Option<Actor>, Failure> {
    let app = &shared.app;
    let mut reader = params.reader();
    let flow_token = reader.opt_text("flow_token", 0..=1000);
    let access_token = reader.opt_text("access_token", 0..=1000);
    reader.finish()?;
    let actor = if let Some(token) = flow_token {
        app.authentication()
            .by_flow_token(&Secret::presented(token))
            .await?
    } else if let Some(header) = parts.headers.get(AUTHORIZATION) {
        let credentials = Credentials::parse(header.as_bytes())?;
        let client = client_address(shared, parts);
        let actor = app
            .authentication()
            .authenticate(credentials, client)
            .await?;
        if let Actor::User { caller, .. } = &actor {
            shared.proxies.note_user(client, caller.user.id);
        }
        actor
    } else if let Some(token) = access_token.filter(|_| shared.query_tokens) {
        app.authentication()
            .by_parameter_token(&Secret::presented(token))
            .await?
    } else {
        return Ok(None);
    };
    mark_authenticated(&parts.extensions, actor.owner());
    Ok(Some(actor))
}

/// The identity provider that the path names, if the header has its token.
async fn scim_provider(
    shared: &Shared,
    parts: &Parts,
    segments: &PathParams,
) -> Result<ScimProvider, Failure> {
    let header = parts
        .headers
        .get(AUTHORIZATION)
        .map(http::HeaderValue::as_bytes);
    let address = client_address(shared, parts);
    let provider = shared
        .app
        .scim()
        .provider(segments.get("uid"), header, address)
        .await?;
    mark_authenticated(&parts.extensions, provider.owner());
    Ok(provider)
}

fn client_address(shared: &Shared, parts: &Parts) -> IpAddr {
    shared
        .proxies
        .client(&parts.headers, &parts.extensions)
        .addr
}

/// One mistake of one parameter.
pub(crate) fn invalid(name: &str, text: &str) -> Failure {
    Failure::Invalid(Invalid::one(name, text))
}
