//! Accounts as their owners use them on the pages: signing in and out, signing up, getting back in
//! without the password, coming into a flow by a link, and seeing and ending what opens the
//! account.
//!
//! Every secret here (of a session, of a mailed link) is found by its digest, and stands nowhere
//! else. Who is not known gets the answers that somebody known gets, after about the same work.

mod access;
mod api_tokens;
mod confirmation;
mod join;
pub(crate) mod password;
mod reset;
mod sessions;
mod sign_in_link;
mod sign_up;
#[cfg(test)]
pub(crate) mod tests;
mod undo;

use crate::authenticate::Authentication;
use crate::core::Core;
use crate::mailer::Mail;
use crate::quota::KeyedSemaphore;

use eddyline_model::flows::Flow;
use eddyline_model::organizations::Organization;

pub(crate) use access::end_access;
pub use api_tokens::{ApiToken, MAX_API_TOKENS};
pub(crate) use api_tokens::{end_token, insert_token, tokens_of};
pub use confirmation::Confirmation;
pub use join::JoinLink;
pub use reset::ResetLink;
pub use sessions::{MAX_SESSIONS, OneSession, SESSION_DAYS};
pub use sign_up::{InvitationDetails, NewAccount};
pub use undo::UndoLink;

/// Where a flow is, by the names in URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowPath {
    /// The organization's name in URLs.
    pub organization: String,
    /// The flow's name in URLs.
    pub flow: String,
}

impl FlowPath {
    fn of(organization: &Organization, flow: &Flow) -> Self {
        Self {
            organization: organization.parameterized_name.clone(),
            flow: flow.parameterized_name.clone(),
        }
    }
}

/// Accounts as their owners use them on the pages. See [`crate::App::accounts`].
#[derive(Clone)]
pub struct Accounts {
    core: Core,
    authentication: Authentication,
    mail: Mail,
    /// Bounds the new passwords that are checked and hashed at the same time.
    new_passwords: KeyedSemaphore,
}

crate::core::opaque_debug!(Accounts);

impl Accounts {
    pub(crate) fn new(core: Core, authentication: Authentication, mail: Mail) -> Self {
        Self {
            core,
            authentication,
            mail,
            new_passwords: KeyedSemaphore::new(password::NEW_PASSWORDS),
        }
    }
}
