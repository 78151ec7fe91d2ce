#![doc = include_str!("../README.md")]
//!
//! A [`Filter`] is read from a query, a [`RequestedUser`] from the body of a POST or PUT, a
//! [`Patch`] from that of a PATCH; both bodies turn one [`State`] into another. [`show`] writes
//! users in the two shapes that exist: the plain one of Flowdock's API, and the one of RFC 7643.
//! What cannot be read or applied is a [`ScimError`].
//!
//! Nothing here stores, answers requests or knows the time. Texts are handed on as they were sent;
//! whether one is an e-mail address, or free, is for the caller to judge.

pub mod error;
pub mod filter;
pub mod names;
pub mod patch;
pub mod path;
pub mod project;
pub mod resource;
mod scan;
pub mod schema;
pub mod show;
pub mod state;
mod values;

pub use error::{ScimError, ScimType};
pub use filter::{Filter, FilterAttribute, Term};
pub use patch::Patch;
pub use path::Path;
pub use project::Projection;
pub use resource::RequestedUser;
pub use show::UserResource;
pub use state::State;

/// The schema of users (RFC 7643, section 4.1).
pub const USER_SCHEMA: &str = "urn:ietf:params:scim:schemas:core:2.0:User";

/// The longest text of somebody else that an error repeats, in characters.
const MAX_SHOWN: usize = 100;

/// The beginning of a text that came from outside, for an error.
fn shown(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// What is left of an attribute's name without the prefix of the schema of users, in any case.
fn without_user_schema(name: &str) -> &str {
    match name.split_at_checked(USER_SCHEMA.len()) {
        Some((schema, rest)) if schema.eq_ignore_ascii_case(USER_SCHEMA) => {
            rest.strip_prefix(':').unwrap_or(name)
        }
        _ => name,
    }
}
