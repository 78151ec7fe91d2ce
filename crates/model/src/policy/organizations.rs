//! Organizations: who sees and administers them, and whether anything may be written there.

use super::Refusal;
use crate::UserId;
use crate::deletion::PendingDeletion;
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

/// Whether a user with this `role` in an organization may make another member what `wanted` says.
/// In an inactive organization rights are only taken back.
///
/// # Errors
///
/// As [`organization`], and [`Refusal::Denied`] for a right that is given in an inactive one.
pub fn appoint(
    role: Option<OrganizationRole>,
    of: &Organization,
    wanted: OrganizationRole,
) -> Result<(), Refusal> {
    organization(role, OrganizationAction::Administer)?;
    match wanted {
        OrganizationRole::Administrator => write(of),
        OrganizationRole::Member => Ok(()),
    }
}

/// What can be done with the identity provider of an organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderChange {
    /// Giving it a token, also in place of another.
    Connect,
    /// Taking its token away.
    Disconnect,
}

/// Whether a user with this `role` in an organization may connect its identity provider, or
/// disconnect it. An inactive organization connects none.
///
/// # Errors
///
/// As [`organization`], and [`Refusal::Denied`] for a token in an inactive one.
pub fn change_provider(
    role: Option<OrganizationRole>,
    of: &Organization,
    change: ProviderChange,
) -> Result<(), Refusal> {
    organization(role, OrganizationAction::Administer)?;
    match change {
        ProviderChange::Connect => write(of),
        ProviderChange::Disconnect => Ok(()),
    }
}

/// What can be done with the pending deletion of an organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletionAction {
    /// See who requested it, and when it is due.
    See,
    /// Cancel it, so that the organization is open again.
    Cancel,
}

/// Whether a user who has, or had until it was closed, this `role` in an organization may do `action`
/// with its deletion. What an operator requested, only an operator cancels.
///
/// # Errors
///
/// As [`organization`] for [`OrganizationAction::Administer`], and [`Refusal::Denied`] for the
/// cancellation of what an operator requested.
pub fn deletion(
    role: Option<OrganizationRole>,
    pending: &PendingDeletion,
    action: DeletionAction,
) -> Result<(), Refusal> {
    organization(role, OrganizationAction::Administer)?;
    match action {
        DeletionAction::Cancel if pending.requester().is_none() => Err(Refusal::Denied),
        DeletionAction::See | DeletionAction::Cancel => Ok(()),
    }
}

/// Whether a user can be removed from an organization, or made an ordinary member of it: each
/// organization keeps an administrator.
///
/// `administrators` are those it has now.
#[must_use]
pub fn may_do_without(administrators: &[UserId], user: UserId) -> bool {
    administrators != [user]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::actor;
    use crate::deletion::DeletionTarget;
    use crate::organizations::OrganizationSubscription;
    use crate::{OrganizationId, Timestamp};

    fn acme(active: bool) -> Organization {
        Organization {
            id: OrganizationId(1),
            name: "Acme".into(),
            parameterized_name: "acme".into(),
            user_limit: 1,
            user_count: 1,
            active,
            parent: None,
            created_at: Timestamp(0),
            subscription: OrganizationSubscription::Paid { next_bill: None },
        }
    }

    #[test]
    fn an_inactive_organization_takes_no_writing() {
        assert_eq!(write(&acme(true)), Ok(()));
        assert_eq!(write(&acme(false)), Err(Refusal::Denied));
    }

    #[test]
    fn administrators_give_rights_and_tokens_and_take_them_back() {
        use OrganizationRole::{Administrator, Member};
        let (yes, denied) = (Ok(()), Err(Refusal::Denied));
        for (role, active, gives, takes) in [
            (Some(Administrator), true, yes, yes),
            (Some(Administrator), false, denied, yes),
            (Some(Member), true, denied, denied),
            (Some(Member), false, denied, denied),
            (None, true, Err(Refusal::NotFound), Err(Refusal::NotFound)),
            (None, false, Err(Refusal::NotFound), Err(Refusal::NotFound)),
        ] {
            let of = acme(active);
            assert_eq!(
                appoint(role, &of, Administrator),
                gives,
                "{role:?} {active}"
            );
            assert_eq!(appoint(role, &of, Member), takes, "{role:?} {active}");
            assert_eq!(
                change_provider(role, &of, ProviderChange::Connect),
                gives,
                "{role:?} {active}"
            );
            assert_eq!(
                change_provider(role, &of, ProviderChange::Disconnect),
                takes,
                "{role:?} {active}"
            );
        }
    }

    #[test]
    fn administrators_see_and_cancel_what_an_administrator_requested() {
        use OrganizationRole::{Administrator, Member};
        let by = |requested_by: &str| PendingDeletion {
            target: DeletionTarget::Organization(OrganizationId(1)),
            requested_by: requested_by.to_owned(),
            requested_at: Timestamp(0),
            due_at: Timestamp(1),
            begun_at: None,
            was_active: true,
        };
        let (yes, denied, unknown) = (Ok(()), Err(Refusal::Denied), Err(Refusal::NotFound));
        for (role, requested_by, sees, cancels) in [
            (Some(Administrator), "user:7", yes, yes),
            (Some(Administrator), actor::OPERATOR, yes, denied),
            (Some(Member), "user:7", denied, denied),
            (Some(Member), actor::OPERATOR, denied, denied),
            (None, "user:7", unknown, unknown),
            (None, actor::OPERATOR, unknown, unknown),
        ] {
            let pending = by(requested_by);
            assert_eq!(
                (
                    deletion(role, &pending, DeletionAction::See),
                    deletion(role, &pending, DeletionAction::Cancel)
                ),
                (sees, cancels),
                "{role:?} {requested_by}"
            );
        }
    }

    #[test]
    fn an_organization_keeps_an_administrator() {
        let [ann, bob] = [UserId(1), UserId(2)];
        assert!(!may_do_without(&[ann], ann));
        assert!(may_do_without(&[ann], bob));
        assert!(may_do_without(&[ann, bob], ann));
    }
}
