//! The one place that decides who may do what.
//!
//! Callers come with what they are ([`FlowCaller`] towards a flow, a role in an organization, an
//! [`Acquaintance`] with another user); the answer is a plain yes or the reason for the refusal.
//! Each module decides about one kind of thing, and nothing here looks anything up.

mod applications;
mod flows;
mod imports;
mod invitations;
mod messages;
mod organizations;
mod private;
mod sources;

pub use applications::{ApplicationAction, application};
pub use flows::{FlowAction, FlowCaller, MembershipState, block, flow, join_by_link};
pub use imports::{
    AddressAccount, AddressDomain, PersonRelation, may_import_conversation, person_relation,
    proves_address,
};
pub use invitations::{Invited, accept_invitation, invited};
pub use messages::{Deletion, MessageAction, delete, edit_content, react};
pub use organizations::{
    DeletionAction, OrganizationAction, ProviderChange, appoint, change_provider, deletion,
    may_do_without, organization, write,
};
pub use private::{Acquaintance, PrivateAction, private};
pub use sources::source;

/// Why something is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// For this caller the thing does not exist, so that ids cannot be probed.
    NotFound,
    /// The caller knows that it exists, but may not.
    Denied,
}
