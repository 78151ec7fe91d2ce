//! What operators do from the command line: making organizations, users, flows and tokens, and
//! changing organizations. They post no action message and send no mail.

mod flows;
mod organizations;
mod users;

use eddyline_model::names::FlowName;
use eddyline_storage::Error as StoreError;

use crate::{Error, Result};

pub use flows::NewFlow;
pub use organizations::{NewOrganization, OrganizationChanges};
pub use users::NewPerson;

/// Says what it is that exists already.
fn taken(error: StoreError, what: &str) -> Error {
    match error {
        StoreError::Exists(_) => Error::Conflict(what.to_owned()),
        other => other.into(),
    }
}

/// A name for people to read, under the rules of a flow's.
pub(crate) fn display_name(text: &str) -> Result<String> {
    match text.parse::<FlowName>() {
        Ok(name) => Ok(name.into_string()),
        Err(error) => Err(Error::field("name", error.to_string())),
    }
}
