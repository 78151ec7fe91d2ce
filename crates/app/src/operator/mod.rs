//! What operators do from the command line: making organizations, users, flows and tokens,
//! changing organizations, giving them domains, and letting identity providers in. They post no action message and send no mail.

mod domains;
mod flows;
mod groups;
mod organizations;
mod scim;
mod users;

use eddyline_storage::{Error as StoreError, Undone};

use crate::Error;

pub use flows::NewFlow;
pub use organizations::{NewOrganization, OrganizationChanges};
pub use users::NewPerson;

/// Says what it is that exists already.
fn taken(undone: Undone<Error>, what: &str) -> Error {
    match undone {
        Undone::Store(StoreError::Exists(_)) => Error::Conflict(what.to_owned()),
        other => other.into(),
    }
}
