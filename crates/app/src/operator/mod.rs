//! What operators do from the command line: making organizations, users, flows and tokens, and
//! changing organizations. They post no action message and send no mail.

mod flows;
mod organizations;
mod users;

use eddyline_storage::Error as StoreError;

use crate::Error;

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
