//! What providers send beside paths.

use eddyline_scim::show::etag;
use eddyline_scim::{Filter, Projection};
use eddyline_wire::forms::Bounds;
use http::header::HeaderName;
use http::{HeaderMap, StatusCode};
use serde_json::{Map, Value};

use super::failed;
use crate::context::RequestContext;
use crate::error::Failure;
use crate::json;
use eddyline_wire::params::Params;

/// The part of a list that is wanted.
pub(super) struct Page {
    pub(super) filter: Option<Filter>,
    /// The first of those that match, from 1.
    pub(super) start: i64,
    /// How many, if the provider says so; not below 0.
    pub(super) count: Option<i64>,
}

impl Page {
    /// Reads it (RFC 7644, section 3.4.2.4): what is below the least counts as the least.
    pub(super) fn read(params: &Params) -> Result<Self, Failure> {
        let mut params = params.reader();
        let start = params.number_in("startIndex", i64::MIN..=i64::MAX, 1).max(1);
        let count = params.opt_number_in("count", i64::MIN..=i64::MAX).map(|count| count.max(0));
        let filter = params.opt_text("filter", 0..=usize::MAX).filter(|text| !text.trim().is_empty());
        params.finish()?;
        let filter = filter.map(|text| text.parse()).transpose().map_err(failed)?;
        Ok(Self { filter, start, count })
    }
}

/// Which attributes are wanted.
pub(super) fn projection(params: &Params) -> Result<Projection, Failure> {
    let mut params = params.reader();
    let wanted = params.opt_text("attributes", 0..=usize::MAX);
    let unwanted = params.opt_text("excludedAttributes", 0..=usize::MAX);
    params.finish()?;
    Projection::parse(wanted.as_deref(), unwanted.as_deref()).map_err(failed)
}

/// The resource that was sent.
pub(super) fn object(ctx: &RequestContext) -> Result<Map<String, Value>, Failure> {
    if ctx.raw.is_empty() {
        return Err(Failure::Request(StatusCode::BAD_REQUEST, "The body must be a JSON object".to_owned()));
    }
    Ok(json::parse_object(&ctx.raw, Bounds::CHANGE)?)
}

/// What a search asks for (RFC 7644, section 3.4.3), as the parameters that a list has for it.
pub(super) fn search(ctx: &RequestContext) -> Result<Params, Failure> {
    let mut asked = object(ctx)?;
    for name in ["attributes", "excludedAttributes"] {
        let Some(Value::Array(paths)) = asked.get(name) else { continue };
        let paths: Vec<&str> = paths.iter().filter_map(Value::as_str).collect();
        let joined = Value::String(paths.join(","));
        asked.insert(name.to_owned(), joined);
    }
    Ok(Params::merge(Map::new(), asked))
}

/// Whether a version is one of those that a header names (RFC 9110, section 13.1). Without the header,
/// every one is.
pub(super) fn matching(
    headers: &HeaderMap,
    name: &HeaderName,
) -> impl Fn(i64) -> bool + Send + 'static + use<> {
    let named: Option<Vec<String>> = headers.contains_key(name).then(|| {
        let texts = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        texts.flat_map(|text| text.split(',')).map(|tag| weak(tag.trim()).to_owned()).collect()
    });
    move |version| {
        let version = etag(version);
        named.as_ref().is_none_or(|tags| tags.iter().any(|tag| tag == "*" || tag == weak(&version)))
    }
}

/// A tag without the mark of weakness: who changes a user knows a version by either.
fn weak(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}
