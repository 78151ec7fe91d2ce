//! What operators do from the command line: making organizations, users, flows and tokens, changing
//! organizations, giving them domains, letting identity providers in, and looking at what there is.
//! They post no action message and send no mail.

mod domains;
pub(crate) mod erasure;
mod flows;
mod groups;
mod lists;
mod members;
mod organizations;
mod provisioning;
pub(crate) mod retention;
mod secrets;
mod tokens;
mod users;

use crate::Error;
use crate::accounts::Accounts;
use crate::authenticate::Authentication;
use crate::core::Core;
use crate::core::transaction::TxResult;
use crate::oauth::OAuth;
use crate::sources::Sources;
use eddyline_model::OrganizationId;
use eddyline_storage::{Abort, Error as StoreError, Reader};

pub use erasure::ErasedUser;
pub use flows::NewFlow;
pub use lists::{OrganizationDetails, UserDetails};
pub use organizations::{NewOrganization, OrganizationChanges};
pub use provisioning::Provisioning;
pub use retention::{HeldItem, HoldName, RetentionName};
pub use tokens::FlowToken;

/// What operators do from the command line. See [`crate::App::operator`].
#[derive(Clone)]
pub struct Operator {
    core: Core,
    authentication: Authentication,
    accounts: Accounts,
    oauth: OAuth,
    sources: Sources,
}

crate::core::opaque_debug!(Operator);

impl Operator {
    pub(crate) fn new(
        core: Core,
        authentication: Authentication,
        accounts: Accounts,
        oauth: OAuth,
        sources: Sources,
    ) -> Self {
        Self {
            core,
            authentication,
            accounts,
            oauth,
            sources,
        }
    }
}

pub use users::NewPerson;
pub(crate) use users::set_active;

/// The organization with this name, as in URLs.
fn find_organization(reader: &mut Reader<'_>, name: &str) -> TxResult<OrganizationId> {
    Ok(reader
        .organizations()
        .find_id_by_name(name)?
        .ok_or_else(Error::not_found)?)
}

/// Who it is in records of what was done.
const OPERATOR: &str = "operator";

/// Says what it is that exists already.
fn taken(abort: Abort<Error>, what: &str) -> Error {
    match abort {
        Abort::Store(StoreError::Exists(_)) => Error::conflict(what.to_owned()),
        other => other.into(),
    }
}
