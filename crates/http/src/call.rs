//! Reading a request: its parameters from query and body, and who sends it.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use eddyline_app::{Actor, App, Credentials, Error, Room, Secret, Turn};
use eddyline_model::policy::FlowDeed;
use eddyline_wire::forms;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE};
use http::{Extensions, HeaderMap, Request, StatusCode, request::Parts};
use percent_encoding::percent_decode_str;
use serde_json::Map;

use crate::Shared;
use crate::endpoint::{Access, Endpoint, Uploads};
use crate::error::Failure;
use crate::json;
use crate::params::{Invalid, Params};
use crate::serve::{BodyError, BodyLimit, read_body, read_long_body};
use crate::turns::Sender;
use crate::uploads::{self, FormBody, Received};

/// The most values of a long body.
const MAX_VALUES: usize = 10_000;

/// A request that has been read and whose sender is known.
pub(crate) struct Call {
    pub(crate) shared: Arc<Shared>,
    pub(crate) actor: Option<Actor>,
    pub(crate) params: Params,
    pub(crate) headers: HeaderMap,
    /// The body as it came, where it is a file or the endpoint reads it itself.
    pub(crate) raw: Bytes,
    /// The files that came as parts of a form.
    pub(crate) files: Vec<Received>,
    extensions: Extensions,
    segments: Segments,
    /// Held while a long body is in memory.
    _turn: Option<Turn<Sender>>,
}

/// The segments of a path that an endpoint names.
pub(crate) struct Segments(Vec<(String, String)>);

impl Segments {
    /// Takes the escapes out. `None` for what is not UTF-8 then, and for a NUL: no name has one, and
    /// PostgreSQL takes no text with one.
    pub(crate) fn decode(params: &matchit::Params<'_, '_>) -> Option<Self> {
        let decode = |(name, value): (&str, &str)| {
            let value = percent_decode_str(value).decode_utf8().ok()?;
            (!value.contains('\0')).then(|| (name.to_owned(), value.into_owned()))
        };
        params.iter().map(decode).collect::<Option<_>>().map(Self)
    }

    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

impl Call {
    /// Reads a request for an endpoint. The sender, once known, is put into `seen`, also when
    /// something else is wrong.
    pub(crate) async fn read(
        shared: &Arc<Shared>,
        endpoint: &Endpoint,
        segments: Segments,
        request: Request<Body>,
        seen: &mut Option<Actor>,
    ) -> Result<Self, Failure> {
        let (parts, body) = request.into_parts();
        let query = forms::parse(parts.uri.query().unwrap_or_default().as_bytes())?;
        let public = endpoint.access != Access::Caller;
        if endpoint.access == Access::TokensInPath {
            // Bad ones are refused before the body is read.
            shared.app.pushing(segments.get("token")).await?;
        }
        // Whoever shows something beside the body is known before the body is waited for; whoever
        // does not can make the server hold only little.
        let params = Params::merge(query, Map::new());
        let changes = shared.app.credential_changes();
        let mut actor = match public {
            true => None,
            false => authenticate(shared, &parts, &params).await?,
        };
        seen.clone_from(&actor);
        let known = actor.is_some() || endpoint.access == Access::TokensInPath;
        let limit = if known { shared.body } else { shared.unknown_body() };
        let (mut raw, mut files, mut long, mut turn) = (Bytes::new(), Vec::new(), false, None);
        let body = match (endpoint.file, has_body(&parts)) {
            (_, false) => Map::new(),
            (None, true) if endpoint.unread => {
                check_coding(&parts.headers)?;
                raw = read_body(body, limit).await?;
                Map::new()
            }
            (None, true) if endpoint.uploads != Uploads::None && uploads::is_form(&parts.headers) => {
                check_coding(&parts.headers)?;
                let read =
                    uploads::read_form(shared, endpoint, &parts, body, &segments, &params, &mut actor).await;
                seen.clone_from(&actor);
                let form: FormBody = read?;
                files = form.files;
                form.fields
            }
            (None, true) if endpoint.takes_files(&shared.names) && uploads::is_json(&parts.headers) => {
                let longer = || {
                    let Some(sender) = &actor else { return Err(BodyError::TooLarge.into()) };
                    sender.require_any(endpoint.scopes)?;
                    turn = Some(shared.files.take(sender.into())?);
                    Ok::<_, Failure>(uploads::json_bytes(shared.json_upload, limit.bytes))
                };
                let body = read_long_body(body, limit, longer).await?;
                long = body.len() > limit.bytes;
                // A file is one text; whatever is made of many values is none.
                if long && body.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count() > MAX_VALUES
                {
                    return Err(BodyError::TooLarge.into());
                }
                parse_body(endpoint, &parts.headers, &body)?
            }
            (None, true) => parse_body(endpoint, &parts.headers, &read_body(body, limit).await?)?,
            (Some(wanted), true) => {
                let sender = actor.as_ref().ok_or(Failure::Anonymous)?;
                sender.require_any(endpoint.scopes)?;
                check_kind(&parts.headers, wanted.kinds)?;
                let _turn = shared.files.take(sender.into())?;
                raw = read_body(body, BodyLimit { bytes: wanted.bytes, ..limit }).await?;
                Map::new()
            }
        };
        let late = body.contains_key("flow_token") || (actor.is_none() && body.contains_key("access_token"));
        let params = params.with_body(body);
        // Only a file may be so long.
        if long && !params.is_file() {
            return Err(BodyError::TooLarge.into());
        }
        // What was shown may have ended while the body came.
        let changed = changes.is_none() || changes != shared.app.credential_changes();
        if !public && (late || (changed && actor.is_some())) {
            actor = authenticate(shared, &parts, &params).await?;
            seen.clone_from(&actor);
        }
        if let Some(actor) = &actor {
            shared.app.count_request(actor)?;
            actor.require_any(endpoint.scopes)?;
        } else if !public {
            return Err(Failure::Anonymous);
        }
        let Parts { headers, extensions, .. } = parts;
        let shared = shared.clone();
        Ok(Self { shared, actor, params, headers, raw, files, extensions, segments, _turn: turn })
    }

    /// The application.
    pub(crate) fn app(&self) -> &App {
        &self.shared.app
    }

    /// Who asks.
    pub(crate) fn actor(&self) -> Result<&Actor, Failure> {
        self.actor.as_ref().ok_or(Failure::Anonymous)
    }

    /// Where the request comes from.
    pub(crate) fn client_address(&self) -> IpAddr {
        self.shared.proxies.client(&self.headers, &self.extensions).addr
    }

    /// A segment of the path.
    pub(crate) fn segment(&self, name: &str) -> &str {
        self.segments.get(name)
    }

    /// A number in the path. Anything else is the number of nothing.
    pub(crate) fn id<T: std::str::FromStr>(&self, name: &str) -> Result<T, Failure> {
        self.segment(name).parse().map_err(|_| Error::NotFound.into())
    }

    /// The flow that the path names, if the caller may do `deed` there.
    pub(crate) async fn room(&self, deed: FlowDeed) -> Result<Arc<Room>, Failure> {
        let (organization, flow) = (self.segment("organization"), self.segment("flow"));
        Ok(self.app().room(self.actor()?, organization, flow, deed).await?)
    }
}

fn has_body(parts: &Parts) -> bool {
    parts.headers.contains_key(http::header::CONTENT_LENGTH)
        || parts.headers.contains_key(http::header::TRANSFER_ENCODING)
}

fn parse_body(
    endpoint: &Endpoint,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Map<String, serde_json::Value>, Failure> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    check_coding(headers)?;
    match kind_of(headers).as_str() {
        "application/json" => Ok(json::parse_object(body)?),
        "application/x-www-form-urlencoded" => Ok(forms::parse(body)?),
        // Old scripts send JSON without saying so.
        "" | "text/json" => Ok(json::parse_object(body)?),
        other if endpoint.uploads != Uploads::None => Err(unsupported(
            other,
            "application/json, application/x-www-form-urlencoded or multipart/form-data",
        )),
        other => Err(unsupported(other, "application/json or application/x-www-form-urlencoded")),
    }
}

/// Checks that a file may be of a wanted kind. What it is, its content tells.
fn check_kind(headers: &HeaderMap, wanted: &[&str]) -> Result<(), Failure> {
    check_coding(headers)?;
    match kind_of(headers).as_str() {
        "" | "application/octet-stream" => Ok(()),
        kind if wanted.contains(&kind) => Ok(()),
        other => Err(unsupported(other, &wanted.join(", "))),
    }
}

fn check_coding(headers: &HeaderMap) -> Result<(), Failure> {
    let plain = |coding: &http::HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"identity");
    if headers.get(CONTENT_ENCODING).is_none_or(plain) {
        return Ok(());
    }
    let text = "Content-Encoding is not supported; send the body as it is";
    Err(Failure::Request(StatusCode::UNSUPPORTED_MEDIA_TYPE, text.to_owned()))
}

/// The kind of the body, without its parameters and in lower case; empty when it is not told.
pub(crate) fn kind_of(headers: &HeaderMap) -> String {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn unsupported(kind: &str, wanted: &str) -> Failure {
    let text = format!("Content-Type {kind} is not supported; send {wanted}");
    Failure::Request(StatusCode::UNSUPPORTED_MEDIA_TYPE, text)
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
    if let Some(token) = flow_token {
        return Ok(Some(app.by_flow_token(&Secret::presented(token)).await?));
    }
    if let Some(header) = parts.headers.get(AUTHORIZATION) {
        let credentials = Credentials::parse(header.as_bytes())?;
        return Ok(Some(app.authenticate(credentials, client_address(shared, parts)).await?));
    }
    match access_token.filter(|_| shared.query_tokens) {
        Some(token) => Ok(Some(app.by_access_token(&Secret::presented(token)).await?)),
        None => Ok(None),
    }
}

fn client_address(shared: &Shared, parts: &Parts) -> IpAddr {
    shared.proxies.client(&parts.headers, &parts.extensions).addr
}

/// One mistake of one parameter.
pub(crate) fn invalid(name: &str, text: &str) -> Failure {
    Failure::Invalid(Invalid::one(name, text))
}
