//! What providers send beside paths.

use std::str::FromStr;

use eddyline_app::Error;
use eddyline_scim::show::etag;
use eddyline_scim::{Projection, ScimError, schema};
use eddyline_wire::forms::Bounds;
use eddyline_wire::params::Params;
use eddyline_wire::request;
use eddyline_wire::request::{text, whole};
use http::HeaderMap;
use http::header::HeaderName;
use serde_json::{Map, Value};

use super::ProviderContext;
use crate::json;

/// The resources of a page unless the provider says how many it takes.
const PAGE: i64 = 100;

request! {
    /// Which resources are wanted (RFC 7644, section 3.4.2). What is below the least counts as the
    /// least.
    pub(super) struct Search {
        /// Attributes eq "value", joined by and: userName, emails and externalId of users, id,
        /// displayName, externalId and members of groups.
        filter: Option<String> = text(0..=usize::MAX).filled(),
        /// The first to be listed, from 1.
        start as "startIndex": i64 = whole(i64::MIN..=i64::MAX).or(1),
        /// How many at most, up to 1000.
        count: Option<i64> = whole(i64::MIN..=i64::MAX),
    }
}

impl Search {
    /// The place of the first resource, from 1.
    pub(super) fn start(&self) -> i64 {
        self.start.max(1)
    }

    /// How many resources a page has at most.
    pub(super) fn limit(&self) -> i64 {
        self.count.unwrap_or(PAGE).clamp(0, schema::MAX_RESULTS)
    }

    /// The condition, if there is one.
    pub(super) fn filter<F: FromStr<Err = ScimError>>(&self) -> Result<Option<F>, Error> {
        Ok(self.filter.as_deref().map(str::parse).transpose()?)
    }
}

request! {
    /// Which attributes of a resource are wanted.
    pub(super) struct Attributes {
        /// Only these attributes, comma-separated.
        wanted as "attributes": Option<String> = text(0..=usize::MAX),
        /// All but these attributes, comma-separated.
        unwanted as "excludedAttributes": Option<String> = text(0..=usize::MAX),
    }
}

impl Attributes {
    pub(super) fn projection(&self) -> Result<Projection, Error> {
        let (wanted, unwanted) = (self.wanted.as_deref(), self.unwanted.as_deref());
        Ok(Projection::parse(wanted, unwanted)?)
    }
}

/// The resource that was sent.
pub(super) fn object(ctx: &ProviderContext) -> Result<Map<String, Value>, Error> {
    if ctx.raw.is_empty() {
        return Err(Error::malformed("The body must be a JSON object"));
    }
    Ok(json::parse_object(&ctx.raw, Bounds::CHANGE)?)
}

/// What a search asks for (RFC 7644, section 3.4.3), as the parameters that a list has for it.
pub(super) fn search(ctx: &ProviderContext) -> Result<Params, Error> {
    let mut asked = object(ctx)?;
    for name in ["attributes", "excludedAttributes"] {
        let Some(Value::Array(paths)) = asked.get(name) else {
            continue;
        };
        let paths: Vec<&str> = paths.iter().filter_map(Value::as_str).collect();
        let joined = Value::String(paths.join(","));
        asked.insert(name.to_owned(), joined);
    }
    Ok(Params::merge(Map::new(), asked))
}

/// Whether a version is one of those that a header names (RFC 9110, section 13.1). Without the
/// header, every one is.
pub(super) fn matching(
    headers: &HeaderMap,
    name: &HeaderName,
) -> impl Fn(i64) -> bool + Send + 'static + use<> {
    let named: Option<Vec<String>> = headers.contains_key(name).then(|| {
        let texts = headers
            .get_all(name)
            .iter()
            .filter_map(|value| value.to_str().ok());
        texts
            .flat_map(|text| text.split(','))
            .map(|tag| weak(tag.trim()).to_owned())
            .collect()
    });
    move |version| {
        let version = etag(version);
        named
            .as_ref()
            .is_none_or(|tags| tags.iter().any(|tag| tag == "*" || tag == weak(&version)))
    }
}

/// A tag without the mark of weakness: who changes a resource knows a version by either.
fn weak(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}
