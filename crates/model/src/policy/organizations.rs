//! Organizations: who sees and administers them, and whether anything may be written there.

use super::Refusal;
use crate::UserId;
use crate::organizations::{Organization, OrganizationRole};

/// What somebody wants to do with an organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrganizationAction {
    /// See it and its people.
    See,
    /// Change it, or remove somebody from it.
    Administer,
}

/// Whether a user with this `role` in an organization may do `action` with it.
///
/// # Errors
///
/// [`Refusal::NotFound`] for strangers, [`Refusal::Denied`].
pub fn organization(
    role: Option<OrganizationRole>,
    action: OrganizationAction,
) -> Result<(), Refusal> {
    match (role, action) {
        (None, _) => Err(Refusal::NotFound),
        (Some(OrganizationRole::Administrator), _) | (Some(_), OrganizationAction::See) => Ok(()),
        (Some(OrganizationRole::Member), OrganizationAction::Administer) => Err(Refusal::Denied),
    }
}

/// Whether anything may be written in an organization by those who may otherwise. An inactive one
/// is read-only: people keep their own marks, and may only become fewer.
///
/// # Errors
///
/// [`Refusal::Denied`].
pub fn write(organization: &Organization) -> Result<(), Refusal> {
    if organization.active {
        Ok(())
    } else {
        Err(Refusal::Denied)
    }
}

/// Whether somebody can be taken out of an organization: each keeps an administrator.
///
/// `administrators` are those it has now.
#[must_use]
pub fn may_do_without(administrators: &[UserId], user: UserId) -> bool {
    administrators != [user]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::organizations::OrganizationSubscription;
    use crate::{OrganizationId, Timestamp};

    #[test]
    fn an_inactive_organization_takes_no_writing() {
        let organization = |active| Organization {
            id: OrganizationId(1),
            name: "Acme".into(),
            parameterized_name: "acme".into(),
            user_limit: 1,
            user_count: 1,
            active,
            parent: None,
            created_at: Timestamp(0),
            subscription: OrganizationSubscription::Paid { next_bill: None },
        };
        assert_eq!(write(&organization(true)), Ok(()));
        assert_eq!(write(&organization(false)), Err(Refusal::Denied));
    }

    #[test]
    fn an_organization_keeps_an_administrator() {
        let [ann, bob] = [UserId(1), UserId(2)];
        assert!(!may_do_without(&[ann], ann));
        assert!(may_do_without(&[ann], bob));
        assert!(may_do_without(&[ann, bob], ann));
    }
}
