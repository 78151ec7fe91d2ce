//! The body of a request before it is read: its bounds, and its parameters while they are encoded.

use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use eddyline_app::{Error, Limit, Permit, QuotaSubject};
use eddyline_model::scopes::Scope;
use eddyline_openapi::BodyKind;
use eddyline_wire::forms::{self, Bounds, Form, FormError};
use eddyline_wire::params::Params;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, request::Parts};
use serde_json::{Map, Value};

use crate::Shared;
use crate::json;
use crate::media;
use crate::path_params::PathParams;
use crate::quota;
use crate::serve::{BodyError, BodyLimit, read_long_body};

/// The parameters that are read before the others: they hold the credentials, and say where a file
/// belongs.
pub(crate) const EAGER_PARAMETERS: [&str; 4] = ["flow_token", "access_token", "flow", "event"];

/// Bodies up to this size are not counted.
pub(crate) const UNCOUNTED_BODY: usize = 16 * 1024;

/// A request whose body is to be read.
#[derive(Clone, Copy)]
pub(crate) struct BodyReader<'a> {
    pub(crate) shared: &'a Arc<Shared>,
    pub(crate) takes: BodyKind,
    /// An access token needs one of these.
    pub(crate) scopes: &'static [Scope],
    pub(crate) parts: &'a Parts,
    pub(crate) segments: &'a PathParams,
    /// The [`EAGER_PARAMETERS`] parameters of the address.
    pub(crate) query: &'a Params,
    /// How much it may be where files are not concerned.
    pub(crate) limit: BodyLimit,
    /// Who sends it, where that was shown beside the body.
    pub(crate) sender: Option<QuotaSubject>,
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
    /// The [`EAGER_PARAMETERS`] of them.
    pub(crate) fn eager(&self) -> Result<Map<String, Value>, Error> {
        let named = |(name, value): (&&str, &Value)| (name.to_string(), value.clone());
        Ok(match self {
            Self::None => Map::new(),
            Self::Form(text) => forms::parse_only(text, &EAGER_PARAMETERS)?,
            Self::Json(text) => json::parse_only(text, &EAGER_PARAMETERS)?,
            Self::Pairs(pairs) => eager_of(pairs)?,
            Self::Read(all) => EAGER_PARAMETERS
                .iter()
                .filter_map(|name| Some((name, all.get(*name)?)))
                .map(named)
                .collect(),
        })
    }

    /// All of them, within these bounds.
    pub(crate) fn read(self, bounds: Bounds) -> Result<Map<String, Value>, Error> {
        Ok(match self {
            Self::None => Map::new(),
            Self::Form(text) => forms::parse(&text, bounds)?,
            Self::Json(text) => json::parse_object(&text, bounds)?,
            Self::Pairs(pairs) => form(pairs, bounds)?,
            Self::Read(all) => all,
        })
    }
}

/// The [`EAGER_PARAMETERS`] of the parameters that these texts of a form make.
pub(crate) fn eager_of(pairs: &[(String, String)]) -> Result<Map<String, Value>, FormError> {
    let first = pairs
        .iter()
        .filter(|(name, _)| EAGER_PARAMETERS.contains(&forms::first_part(name)));
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

impl BodyReader<'_> {
    /// Reads a body without files. A long one counts for its sender, where that is known.
    pub(crate) async fn read_counted(self, body: Body) -> Result<(Bytes, Option<Permit>), Error> {
        let mut permit = None;
        let longer = || match permit {
            None if self.sender.is_some() => {
                permit = self.count_body()?;
                Ok::<_, Error>(self.limit.bytes)
            }
            _ => Err(BodyError::TooLarge(self.limit.limit).into()),
        };
        let bytes = read_long_body(body, self.limit_before_counting(), longer).await?;
        Ok((bytes, permit))
    }

    /// How long a body may be before it counts. Those of unknown senders are counted as they come.
    pub(crate) fn limit_before_counting(&self) -> BodyLimit {
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
    pub(crate) fn count_long_body(&self) -> Result<Option<Permit>, Error> {
        let bytes = quota::body(&self.parts.headers, self.limit.bytes);
        if bytes > UNCOUNTED_BODY as u64 {
            self.count_body()
        } else {
            Ok(None)
        }
    }

    /// Counts a long body without files for its sender.
    pub(crate) fn count_body(&self) -> Result<Option<Permit>, Error> {
        let Some(sender) = self.sender else {
            return Ok(None);
        };
        let bytes = quota::body(&self.parts.headers, self.limit.bytes);
        let permit = self.shared.bodies.acquire(sender.quota_keys(), bytes);
        Ok(Some(
            permit.map_err(|exceeded| exceeded.of(Limit::LongBodies))?,
        ))
    }
}

/// Checks that a body of text comes as it is, and in UTF-8.
pub(crate) fn check_encoding(headers: &HeaderMap) -> Result<(), Error> {
    check_coding(headers)?;
    let kind = headers
        .get(CONTENT_TYPE)
        .map(http::HeaderValue::as_bytes)
        .unwrap_or_default();
    check_charset(kind)
}

/// Checks that a content type names no other charset than UTF-8.
pub(crate) fn check_charset(content_type: &[u8]) -> Result<(), Error> {
    if media::is_utf8(content_type) {
        return Ok(());
    }
    let text = "A charset other than UTF-8 is not supported";
    Err(Error::unsupported_type(text))
}

pub(crate) fn check_coding(headers: &HeaderMap) -> Result<(), Error> {
    let plain = |coding: &http::HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"identity");
    if headers.get(CONTENT_ENCODING).is_none_or(plain) {
        return Ok(());
    }
    let text = "Content-Encoding is not supported; send the body as it is";
    Err(Error::unsupported_type(text))
}
