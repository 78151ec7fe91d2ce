//! The body of a request, read as its endpoint takes it.

use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use eddyline_app::{Actor, Limit, Owner, Permit};
use eddyline_wire::forms::{self, Bounds, Form, FormError};
use eddyline_wire::params::Params;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, StatusCode, request::Parts};
use serde_json::{Map, Value};

use crate::Shared;
use crate::context::PathParams;
use crate::endpoint::{BodyKind, Endpoint, File};
use crate::error::Failure;
use crate::json;
use crate::media::{self, BodyType};
use crate::quota;
use crate::serve::{BodyError, BodyLimit, read_body, read_long_body};
use crate::uploads::{self, FormBody, Received};

/// The parameters that are read before the others: they hold the credentials, and say where a file
/// belongs.
pub(crate) const FIRST: [&str; 4] = ["flow_token", "access_token", "flow", "event"];

/// Bodies up to this size are not counted.
pub(crate) const UNCOUNTED_BODY: usize = 16 * 1024;

/// How often a file in JSON is in memory while it is read: as it came, as a text, and decoded.
const JSON_COPIES: u64 = 3;

/// A request whose body is to be read.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) shared: &'a Arc<Shared>,
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) parts: &'a Parts,
    pub(crate) segments: &'a PathParams,
    /// The [`FIRST`] parameters of the address.
    pub(crate) query: &'a Params,
    /// How much it may be where files are not concerned.
    pub(crate) limit: BodyLimit,
    /// Who sends it, where that was shown beside the body.
    pub(crate) sender: Option<Owner>,
}

/// What the body held.
#[derive(Default)]
pub(crate) struct ReadBody {
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

/// The parameters of a body. They stay encoded until the sender is known, because decoded they can
/// take many times the memory.
#[derive(Default)]
pub(crate) enum Fields {
    /// There are none.
    #[default]
    None,
    /// A form as a text.
    Form(Bytes),
    /// A JSON object.
    Json(Bytes),
    /// The names and values of a form with parts.
    Pairs(Vec<(String, String)>),
    /// They have been decoded.
    Read(Map<String, Value>),
}

impl Fields {
    /// The [`FIRST`] of them.
    pub(crate) fn first(&self) -> Result<Map<String, Value>, Failure> {
        let named = |(name, value): (&&str, &Value)| (name.to_string(), value.clone());
        Ok(match self {
            Self::None => Map::new(),
            Self::Form(text) => forms::parse_only(text, &FIRST)?,
            Self::Json(text) => json::parse_only(text, &FIRST)?,
            Self::Pairs(pairs) => first_of(pairs)?,
            Self::Read(all) => FIRST
                .iter()
                .filter_map(|name| Some((name, all.get(*name)?)))
                .map(named)
                .collect(),
        })
    }

    /// All of them, within these bounds.
    pub(crate) fn read(self, bounds: Bounds) -> Result<Map<String, Value>, Failure> {
        Ok(match self {
            Self::None => Map::new(),
            Self::Form(text) => forms::parse(&text, bounds)?,
            Self::Json(text) => json::parse_object(&text, bounds)?,
            Self::Pairs(pairs) => form(pairs, bounds)?,
            Self::Read(all) => all,
        })
    }
}

/// The [`FIRST`] of the parameters that these texts of a form make.
pub(crate) fn first_of(pairs: &[(String, String)]) -> Result<Map<String, Value>, FormError> {
    let first = pairs
        .iter()
        .filter(|(name, _)| FIRST.contains(&forms::first_part(name)));
    form(first.cloned(), Bounds::STRANGER)
}

/// The parameters that these texts of a form make.
pub(crate) fn form(
    pairs: impl IntoIterator<Item = (String, String)>,
    bounds: Bounds,
) -> Result<Map<String, Value>, FormError> {
    let mut form = Form::new(bounds);
    for (name, value) in pairs {
        form.add(&name, value)?;
    }
    Ok(form.finish())
}

impl Reading<'_> {
    /// Reads it. A form with parts may make the sender known.
    pub(crate) async fn read(
        self,
        body: Body,
        actor: &mut Option<Actor>,
    ) -> Result<ReadBody, Failure> {
        let headers = &self.parts.headers;
        let takes = self.endpoint.takes;
        if !has_body(self.parts) {
            return Ok(ReadBody::default());
        }
        match takes {
            BodyKind::Raw => {
                check_encoding(headers)?;
                let (raw, permit) = self.read_counted(body).await?;
                Ok(ReadBody {
                    raw,
                    permit,
                    ..ReadBody::default()
                })
            }
            BodyKind::Resource => {
                check_encoding(headers)?;
                match BodyType::of(headers) {
                    BodyType::Unnamed | BodyType::Json | BodyType::ScimJson => {}
                    other => return Err(unsupported(&other, &[media::SCIM_JSON, media::JSON])),
                }
                let (raw, permit) = self.read_counted(body).await?;
                Ok(ReadBody {
                    raw,
                    permit,
                    ..ReadBody::default()
                })
            }
            // Files make large futures, which other requests should not have to move.
            BodyKind::File(wanted) => Box::pin(self.read_file(wanted, body, actor.as_ref())).await,
            _ if takes.forms_with_parts() && BodyType::of(headers) == BodyType::Multipart => {
                check_encoding(headers)?;
                let FormBody {
                    fields,
                    files,
                    permit,
                } = Box::pin(uploads::read_form(self, body, actor)).await?;
                Ok(ReadBody {
                    fields: Fields::Pairs(fields),
                    files,
                    permit,
                    ..ReadBody::default()
                })
            }
            _ if takes.files(self.shared.profile.classic) && uploads::is_json(headers) => {
                Box::pin(self.read_long_json(body, actor.as_ref())).await
            }
            _ => {
                let (body, permit) = self.read_counted(body).await?;
                let fields = fields_of(self.endpoint, headers, body)?;
                Ok(ReadBody {
                    fields,
                    permit,
                    ..ReadBody::default()
                })
            }
        }
    }

    /// Reads a body without files. A long one counts for its sender, where that is known.
    async fn read_counted(self, body: Body) -> Result<(Bytes, Option<Permit>), Failure> {
        let mut permit = None;
        let longer = || match permit {
            None if self.sender.is_some() => {
                permit = self.count_body()?;
                Ok::<_, Failure>(self.limit.bytes)
            }
            _ => Err(BodyError::TooLarge(self.limit.limit).into()),
        };
        let bytes = read_long_body(body, self.first_limit(), longer).await?;
        Ok((bytes, permit))
    }

    /// How long a body may be before it counts. Those of unknown senders are counted as they come.
    fn first_limit(&self) -> BodyLimit {
        let bytes = self.limit.bytes;
        BodyLimit {
            bytes: if self.sender.is_some() {
                bytes.min(UNCOUNTED_BODY)
            } else {
                bytes
            },
            ..self.limit
        }
    }

    /// Counts a body for its sender before it has come, unless it was announced to be short.
    pub(crate) fn count_long_body(&self) -> Result<Option<Permit>, Failure> {
        let bytes = quota::body(&self.parts.headers, self.limit.bytes);
        if bytes > UNCOUNTED_BODY as u64 {
            self.count_body()
        } else {
            Ok(None)
        }
    }

    /// Counts a long body without files for its sender.
    pub(crate) fn count_body(&self) -> Result<Option<Permit>, Failure> {
        let Some(sender) = self.sender else {
            return Ok(None);
        };
        let bytes = quota::body(&self.parts.headers, self.limit.bytes);
        let permit = self.shared.bodies.acquire(sender.quota_keys(), bytes);
        Ok(Some(
            permit.map_err(|exceeded| exceeded.of(Limit::LongBodies))?,
        ))
    }

    async fn read_file(
        self,
        wanted: File,
        body: Body,
        actor: Option<&Actor>,
    ) -> Result<ReadBody, Failure> {
        let sender = actor.ok_or(Failure::Anonymous)?;
        sender.require_any(self.endpoint.scopes)?;
        check_kind(&self.parts.headers, wanted.kinds)?;
        let bytes = quota::file_body(&self.parts.headers, wanted.bytes, 1);
        let permit = self
            .shared
            .file_bodies
            .acquire(sender.quota_keys(), bytes)?;
        let raw = read_body(
            body,
            BodyLimit {
                bytes: wanted.bytes,
                limit: Limit::FixedBody,
                ..self.limit
            },
        )
        .await?;
        Ok(ReadBody {
            raw,
            permit: Some(permit),
            ..ReadBody::default()
        })
    }

    /// JSON in which a file may be, which only a known sender may make long, within a quota.
    async fn read_long_json(self, body: Body, actor: Option<&Actor>) -> Result<ReadBody, Failure> {
        let Self {
            shared,
            endpoint,
            limit,
            ..
        } = self;
        let most = uploads::json_bytes(shared.json_upload, limit.bytes);
        let (mut permit, mut allowed) = (None, self.first_limit().bytes);
        let longer = || {
            let Some(sender) = actor else {
                return Err(BodyError::TooLarge(limit.limit).into());
            };
            if allowed >= most {
                return Err(BodyError::TooLarge(Limit::JsonUpload).into());
            }
            if allowed < limit.bytes {
                (permit, allowed) = (self.count_body()?, limit.bytes);
                return Ok::<_, Failure>(allowed);
            }
            sender.require_any(endpoint.scopes)?;
            let bytes = quota::file_body(&self.parts.headers, most, JSON_COPIES);
            permit = Some(shared.file_bodies.acquire(sender.quota_keys(), bytes)?);
            allowed = most;
            Ok(allowed)
        };
        let body = read_long_body(body, self.first_limit(), longer).await?;
        let long = body.len() > limit.bytes;
        let fields = fields_of(endpoint, &self.parts.headers, body)?;
        Ok(ReadBody {
            fields,
            long,
            permit,
            ..ReadBody::default()
        })
    }
}

fn has_body(parts: &Parts) -> bool {
    parts.headers.contains_key(http::header::CONTENT_LENGTH)
        || parts.headers.contains_key(http::header::TRANSFER_ENCODING)
}

fn fields_of(endpoint: &Endpoint, headers: &HeaderMap, body: Bytes) -> Result<Fields, Failure> {
    if body.is_empty() {
        return Ok(Fields::None);
    }
    check_encoding(headers)?;
    match BodyType::of(headers) {
        BodyType::Form => Ok(Fields::Form(body)),
        // Old scripts send JSON without saying so.
        BodyType::Json | BodyType::TextJson | BodyType::Unnamed => Ok(Fields::Json(body)),
        other if endpoint.takes.forms_with_parts() => Err(unsupported(
            &other,
            &[media::JSON, media::FORM, media::MULTIPART],
        )),
        other => Err(unsupported(&other, &[media::JSON, media::FORM])),
    }
}

/// Checks that a file may be of a wanted kind. What it is, its content tells.
fn check_kind(headers: &HeaderMap, wanted: &[&str]) -> Result<(), Failure> {
    check_coding(headers)?;
    let kind = BodyType::of(headers);
    match kind.name() {
        "" | media::OCTETS => Ok(()),
        name if wanted.contains(&name) => Ok(()),
        name => Err(not_taken(name, &wanted.join(", "))),
    }
}

/// Checks that a body of text comes as it is, and in UTF-8.
fn check_encoding(headers: &HeaderMap) -> Result<(), Failure> {
    check_coding(headers)?;
    let kind = headers
        .get(CONTENT_TYPE)
        .map(http::HeaderValue::as_bytes)
        .unwrap_or_default();
    check_charset(kind)
}

/// Checks that a content type names no other charset than UTF-8.
pub(crate) fn check_charset(content_type: &[u8]) -> Result<(), Failure> {
    if media::is_utf8(content_type) {
        return Ok(());
    }
    let text = "A charset other than UTF-8 is not supported".to_owned();
    Err(Failure::Request(StatusCode::UNSUPPORTED_MEDIA_TYPE, text))
}

fn check_coding(headers: &HeaderMap) -> Result<(), Failure> {
    let plain = |coding: &http::HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"identity");
    if headers.get(CONTENT_ENCODING).is_none_or(plain) {
        return Ok(());
    }
    let text = "Content-Encoding is not supported; send the body as it is";
    Err(Failure::Request(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        text.to_owned(),
    ))
}

/// The refusal of a type where these are taken.
fn unsupported(kind: &BodyType<'_>, wanted: &[&str]) -> Failure {
    let (last, others) = wanted.split_last().unwrap_or((&"", &[]));
    not_taken(kind.name(), &format!("{} or {last}", others.join(", ")))
}

fn not_taken(kind: &str, wanted: &str) -> Failure {
    let text = format!("Content-Type {kind} is not supported; send {wanted}");
    Failure::Request(StatusCode::UNSUPPORTED_MEDIA_TYPE, text)
}
