//! Placeholder.

pub(crate) mod forwarded;
pub(crate) mod json;
pub(crate) mod params;
pub(crate) mod path;
pub(crate) mod rack;
