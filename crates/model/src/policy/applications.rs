//! Applications: who registers them, changes them, and ends what users allowed them.

use super::Refusal;
use crate::UserId;
use crate::applications::Application;
use crate::organizations::OrganizationRole;

/// What somebody wants to do with an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplicationAction {
    /// See it among its organization's.
    See,
    /// Change it, give it another secret, or remove it.
    Change,
}

/// Whether a user with this `role` in the application's organization may do `action` with it. Every
/// member may register some; the user who registered one, and administrators, may change it.
///
/// # Errors
///
/// [`Refusal::NotFound`] for those of other organizations, [`Refusal::Denied`].
pub fn application(
    user: UserId,
    role: Option<OrganizationRole>,
    application: &Application,
    action: ApplicationAction,
) -> Result<(), Refusal> {
    match (role, action) {
        (None, _) => Err(Refusal::NotFound),
        (Some(OrganizationRole::Administrator), _) | (Some(_), ApplicationAction::See) => Ok(()),
        (Some(OrganizationRole::Member), ApplicationAction::Change)
            if application.creator == Some(user) =>
        {
            Ok(())
        }
        (Some(OrganizationRole::Member), ApplicationAction::Change) => Err(Refusal::Denied),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ApplicationId, OrganizationId, Timestamp};

    #[test]
    fn its_creator_and_administrators_change_an_application() {
        use OrganizationRole::{Administrator, Member};
        let [ann, bob] = [UserId(1), UserId(2)];
        let robot = Application {
            id: ApplicationId(1),
            client_id: "abc".into(),
            organization: OrganizationId(1),
            name: "Robot".into(),
            public: false,
            redirect_uris: Vec::new(),
            configuration_uri: None,
            setup_uri: None,
            icon_url: None,
            password_grant: false,
            out_of_band: false,
            creator: Some(ann),
            created_at: Timestamp(0),
        };
        let may = |user, role, action| application(user, role, &robot, action);
        for action in [ApplicationAction::See, ApplicationAction::Change] {
            assert_eq!(may(ann, Some(Member), action), Ok(()));
            assert_eq!(may(bob, Some(Administrator), action), Ok(()));
            // A user who left has no part in what they made.
            assert_eq!(may(ann, None, action), Err(Refusal::NotFound));
        }
        assert_eq!(may(bob, Some(Member), ApplicationAction::See), Ok(()));
        assert_eq!(
            may(bob, Some(Member), ApplicationAction::Change),
            Err(Refusal::Denied)
        );
    }
}
