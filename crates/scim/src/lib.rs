#![doc = include_str!("../README.md")]
//!
//! A [`Filter`] is read from a query, a [`RequestedUser`] from the body of a POST or PUT, a
//! [`Patch`] from that of a PATCH; both bodies turn one [`State`] into another. [`show`] writes
//! users in the two shapes that exist: the plain one of Flowdock's API, and the one of RFC 7643.
//! [`groups`] has the same for groups, which have the second shape alone. What cannot be read or
//! applied is a [`ScimError`].
//!
//! Nothing here stores, answers requests or knows the time. Texts are handed on as they were sent;
//! whether one is an e-mail address, or free, is for the caller to judge.

pub mod error;
pub mod filter;
pub mod groups;
pub mod names;
mod operations;
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
pub use groups::filter::{GroupFilter, GroupTerm};
pub use groups::patch::GroupPatch;
pub use groups::show::GroupResource;
pub use groups::{GROUP_SCHEMA, GroupState, RequestedGroup};
pub use patch::Patch;
pub use path::Path;
pub use project::Projection;
pub use resource::RequestedUser;
pub use show::{GroupOfUser, UserResource};
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

/// What is left of an attribute's name without the prefix of this schema, in any case.
fn without_schema<'a>(schema: &str, name: &'a str) -> &'a str {
    match name.split_at_checked(schema.len()) {
        Some((prefix, rest)) if prefix.eq_ignore_ascii_case(schema) => {
            rest.strip_prefix(':').unwrap_or(name)
        }
        _ => name,
    }
}
