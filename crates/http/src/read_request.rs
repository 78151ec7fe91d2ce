//! Reading a request: its caller, its body and its parameters.
//!
//! Credentials in the headers and the query are checked before the body is read, so that an
//! anonymous request gets the small body limit. Credentials in the body are checked after it.

use std::sync::Arc;

use axum::body::Body;
use eddyline_app::{Actor, CountedRequest, Error, Limit, Pushing, ScimProvider};
use eddyline_openapi::EndpointAccess;
use eddyline_wire::forms::{self, Bounds};
use eddyline_wire::params::Params;
use http::{Method, Request, request::Parts};
use http_body::Body as _;
use serde_json::Map;

use crate::Shared;
use crate::authenticate::{BrowserSession, authenticate, client_address, scim_provider};
use crate::body::{BodyReader, EAGER_PARAMETERS, Fields};
use crate::context::RequestContext;
use crate::endpoint::Endpoint;
use crate::error::missing_credentials;
use crate::path_params::PathParams;
use crate::receive_body::{ReceivedBody, receive_body};
use crate::requester::ResolvedRequester;
use crate::serve::{BodyError, BodyLimit, mark_authenticated};

/// The most bytes of the body of a request that only reads. It is small because many such requests
/// of one caller may wait at the same time.
const MAX_READ_BODY: usize = 64 * 1024;

/// Reads a request for an endpoint, with its parameters. The sender, once known, is put into
/// `actor`, also when something else is wrong, and so is what it counts for.
pub(crate) async fn read_request(
    shared: &Arc<Shared>,
    endpoint: &Endpoint,
    segments: PathParams,
    request: Request<Body>,
    actor: &mut Option<Actor>,
    counted: &mut Option<CountedRequest>,
) -> Result<(RequestContext<ResolvedRequester>, Params), Error> {
    let (parts, body) = request.into_parts();
    let query = parts.uri.query().unwrap_or_default().as_bytes();
    let public = endpoint.operation.access != EndpointAccess::Caller;
    // A session says nothing to other endpoints, and their paths may hold secrets.
    if public && parts.extensions.get::<BrowserSession>().is_some() {
        return Err(Error::not_found());
    }
    let mut provider = match endpoint.operation.access {
        EndpointAccess::Provider => Some(Box::pin(scim_provider(shared, &parts, &segments)).await?),
        _ => None,
    };
    let mut sender = provider.as_ref().map(ScimProvider::quota_subject);
    if endpoint.operation.access == EndpointAccess::TokensInPath {
        // Bad ones are refused before the body is read.
        let pushing = Box::pin(shared.app.messages().pushing(segments.get("token")));
        sender = pushing.await?.first().map(Pushing::quota_subject);
        if let Some(owner) = sender {
            mark_authenticated(&parts.extensions, owner);
        }
    }
    // Credentials in the headers or the query are checked before the body is waited for.
    // Without them only a little may be sent.
    let first = Params::merge(forms::parse_only(query, &EAGER_PARAMETERS)?, Map::new());
    if !public {
        *actor = authenticate(shared, &parts, &first).await?;
    }
    let sender = sender.or_else(|| actor.as_ref().map(Actor::quota_subject));
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
    let reader = BodyReader {
        shared,
        takes: endpoint.operation.takes,
        scopes: endpoint.operation.scopes,
        parts: &parts,
        segments: &segments,
        query: &first,
        limit,
        sender,
    };
    let ReceivedBody {
        mut fields,
        raw,
        files,
        long,
        permit,
    } = receive_body(reader, body, actor).await?;
    if known {
        fields = Fields::Read(fields.read(bounds(true, &parts.method))?);
    }
    let shown = fields.eager()?;
    let late =
        shown.contains_key("flow_token") || (actor.is_none() && shown.contains_key("access_token"));
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
        // The answer to a credential that has ended names no user in `Service-User`.
        *actor = None;
        *actor = authenticate(shared, &parts, &first).await?;
    }
    if provider.is_some() && !raw.is_empty() {
        provider = Some(Box::pin(scim_provider(shared, &parts, &segments)).await?);
    }
    if let Some(actor) = actor {
        *counted = Some(shared.app.authentication().count_request(actor)?);
        actor.require_any(endpoint.operation.scopes)?;
    } else if !public {
        return Err(missing_credentials());
    }
    let bounds = bounds(known || actor.is_some(), &parts.method);
    let params = Params::merge(forms::parse(query, bounds)?, fields.read(bounds)?);
    let Parts {
        headers,
        extensions,
        ..
    } = parts;
    let sender = ResolvedRequester {
        actor: actor.clone(),
        provider,
    };
    let ctx = RequestContext {
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
