//! Authenticating the caller of a request.

use std::net::IpAddr;
use std::sync::Arc;

use eddyline_app::{Actor, Credentials, Error, ScimProvider, Secret};
use eddyline_wire::params::Params;
use http::header::AUTHORIZATION;
use http::request::Parts;

use crate::Shared;
use crate::error::missing_credentials;
use crate::path_params::PathParams;
use crate::serve::mark_authenticated;

/// The session that a browser shows in its cookie. The pages put it into the extensions of a
/// request that they hand to the API, after they have checked that a page of their own sent it. It
/// is the only credential of such a request.
#[derive(Clone)]
pub struct BrowserSession(pub Arc<Secret>);

/// The first credentials present decide, also when they are bad: a flow token, then the
/// Authorization header, then an access token among the parameters.
pub(crate) async fn authenticate(
    shared: &Shared,
    parts: &Parts,
    params: &Params,
) -> Result<Option<Actor>, Error> {
    let app = &shared.app;
    if let Some(BrowserSession(session)) = parts.extensions.get() {
        return by_session(shared, parts, session).await.map(Some);
    }
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
    mark_authenticated(&parts.extensions, actor.quota_subject());
    Ok(Some(actor))
}

async fn by_session(shared: &Shared, parts: &Parts, session: &Secret) -> Result<Actor, Error> {
    let found = shared.app.accounts().by_session(session).await?;
    let actor = found.ok_or_else(missing_credentials)?;
    if let Some(user) = actor.user_id() {
        shared
            .proxies
            .note_user(client_address(shared, parts), user);
    }
    mark_authenticated(&parts.extensions, actor.quota_subject());
    Ok(actor)
}

/// The identity provider that the path names, if the header has its token.
pub(crate) async fn scim_provider(
    shared: &Shared,
    parts: &Parts,
    segments: &PathParams,
) -> Result<ScimProvider, Error> {
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
    mark_authenticated(&parts.extensions, provider.quota_subject());
    Ok(provider)
}

/// The address of the client, which a trusted proxy may name.
pub(crate) fn client_address(shared: &Shared, parts: &Parts) -> IpAddr {
    shared
        .proxies
        .client(&parts.headers, &parts.extensions)
        .addr
}
