//! Receiving the body of a request, as its endpoint takes it.

use axum::body::Body;
use bytes::Bytes;
use eddyline_app::{Actor, Error, Limit, Permit};
use eddyline_openapi::{BodyKind, FileBody};
use http::{HeaderMap, request::Parts};

use crate::body::{BodyReader, Fields, check_coding, check_encoding};
use crate::error::missing_credentials;
use crate::media::{self, BodyType};
use crate::quota;
use crate::serve::{BodyError, BodyLimit, read_body, read_long_body};
use crate::uploads::{self, FormBody, Received};

/// How often a file in JSON is in memory while it is read: as it came, as a text, and decoded.
const JSON_COPIES: u64 = 3;

/// What the body held.
#[derive(Default)]
pub(crate) struct ReceivedBody {
    /// Its parameters.
    pub(crate) fields: Fields,
    /// The body as it came, where it is a file or the handler reads it.
    pub(crate) raw: Bytes,
    /// The files that came as parts of a form.
    pub(crate) files: Vec<Received>,
    /// Whether it is longer than a body may be that holds no file.
    pub(crate) long: bool,
    /// To be held until the request is answered where the body is long or a file in memory.
    pub(crate) permit: Option<Permit>,
}

/// Receives the body. A form with parts may make the sender known.
pub(crate) async fn receive_body(
    reader: BodyReader<'_>,
    body: Body,
    actor: &mut Option<Actor>,
) -> Result<ReceivedBody, Error> {
    let headers = &reader.parts.headers;
    let takes = reader.takes;
    if !has_body(reader.parts) {
        return Ok(ReceivedBody::default());
    }
    match takes {
        BodyKind::Raw => {
            check_encoding(headers)?;
            let (raw, permit) = reader.read_counted(body).await?;
            Ok(ReceivedBody {
                raw,
                permit,
                ..ReceivedBody::default()
            })
        }
        BodyKind::Resource => {
            check_encoding(headers)?;
            match BodyType::of(headers) {
                BodyType::Unnamed | BodyType::Json | BodyType::ScimJson => {}
                other => return Err(unsupported(&other, &[media::SCIM_JSON, media::JSON])),
            }
            let (raw, permit) = reader.read_counted(body).await?;
            Ok(ReceivedBody {
                raw,
                permit,
                ..ReceivedBody::default()
            })
        }
        // Files make large futures, which other requests should not have to move.
        BodyKind::File(wanted) => Box::pin(read_file(reader, wanted, body, actor.as_ref())).await,
        _ if takes.forms_with_parts() && BodyType::of(headers) == BodyType::Multipart => {
            check_encoding(headers)?;
            let FormBody {
                fields,
                files,
                permit,
            } = Box::pin(uploads::read_form(reader, body, actor)).await?;
            Ok(ReceivedBody {
                fields: Fields::Pairs(fields),
                files,
                permit,
                ..ReceivedBody::default()
            })
        }
        _ if takes.files(reader.shared.profile.classic) && uploads::is_json(headers) => {
            Box::pin(read_long_json(reader, body, actor.as_ref())).await
        }
        _ => {
            let (body, permit) = reader.read_counted(body).await?;
            let fields = fields_of(reader.takes, headers, body)?;
            Ok(ReceivedBody {
                fields,
                permit,
                ..ReceivedBody::default()
            })
        }
    }
}

async fn read_file(
    reader: BodyReader<'_>,
    wanted: FileBody,
    body: Body,
    actor: Option<&Actor>,
) -> Result<ReceivedBody, Error> {
    let sender = actor.ok_or_else(missing_credentials)?;
    sender.require_any(reader.scopes)?;
    check_kind(&reader.parts.headers, wanted.kinds)?;
    let bytes = quota::file_body(&reader.parts.headers, wanted.bytes, 1);
    let permit = reader
        .shared
        .file_bodies
        .acquire(sender.quota_keys(), bytes)?;
    let raw = read_body(
        body,
        BodyLimit {
            bytes: wanted.bytes,
            limit: Limit::FixedBody,
            ..reader.limit
        },
    )
    .await?;
    Ok(ReceivedBody {
        raw,
        permit: Some(permit),
        ..ReceivedBody::default()
    })
}

/// JSON in which a file may be, which only a known sender may make long, within a quota.
async fn read_long_json(
    reader: BodyReader<'_>,
    body: Body,
    actor: Option<&Actor>,
) -> Result<ReceivedBody, Error> {
    let BodyReader {
        shared,
        takes,
        scopes,
        limit,
        ..
    } = reader;
    let most = uploads::json_bytes(shared.json_upload, limit.bytes);
    let (mut permit, mut allowed) = (None, reader.limit_before_counting().bytes);
    let longer = || {
        let Some(sender) = actor else {
            return Err(BodyError::TooLarge(limit.limit).into());
        };
        if allowed >= most {
            return Err(BodyError::TooLarge(Limit::JsonUpload).into());
        }
        if allowed < limit.bytes {
            (permit, allowed) = (reader.count_body()?, limit.bytes);
            return Ok::<_, Error>(allowed);
        }
        sender.require_any(scopes)?;
        let bytes = quota::file_body(&reader.parts.headers, most, JSON_COPIES);
        permit = Some(shared.file_bodies.acquire(sender.quota_keys(), bytes)?);
        allowed = most;
        Ok(allowed)
    };
    let body = read_long_body(body, reader.limit_before_counting(), longer).await?;
    let long = body.len() > limit.bytes;
    let fields = fields_of(takes, &reader.parts.headers, body)?;
    Ok(ReceivedBody {
        fields,
        long,
        permit,
        ..ReceivedBody::default()
    })
}

fn has_body(parts: &Parts) -> bool {
    parts.headers.contains_key(http::header::CONTENT_LENGTH)
        || parts.headers.contains_key(http::header::TRANSFER_ENCODING)
}

fn fields_of(takes: BodyKind, headers: &HeaderMap, body: Bytes) -> Result<Fields, Error> {
    if body.is_empty() {
        return Ok(Fields::None);
    }
    check_encoding(headers)?;
    match BodyType::of(headers) {
        BodyType::Form => Ok(Fields::Form(body)),
        // Old scripts send JSON without saying so.
        BodyType::Json | BodyType::TextJson | BodyType::Unnamed => Ok(Fields::Json(body)),
        other if takes.forms_with_parts() => Err(unsupported(
            &other,
            &[media::JSON, media::FORM, media::MULTIPART],
        )),
        other => Err(unsupported(&other, &[media::JSON, media::FORM])),
    }
}

/// Checks that a file may be of a wanted kind. What it is, its content tells.
fn check_kind(headers: &HeaderMap, wanted: &[&str]) -> Result<(), Error> {
    check_coding(headers)?;
    let kind = BodyType::of(headers);
    match kind.name() {
        "" | media::OCTETS => Ok(()),
        name if wanted.contains(&name) => Ok(()),
        name => Err(not_taken(name, &wanted.join(", "))),
    }
}

/// The refusal of a type where these are taken.
fn unsupported(kind: &BodyType<'_>, wanted: &[&str]) -> Error {
    let (last, others) = wanted.split_last().unwrap_or((&"", &[]));
    not_taken(kind.name(), &format!("{} or {last}", others.join(", ")))
}

fn not_taken(kind: &str, wanted: &str) -> Error {
    Error::unsupported_type(format!(
        "Content-Type {kind} is not supported; send {wanted}"
    ))
}
