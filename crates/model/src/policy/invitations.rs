//! Invitations: who sends, sees, accepts and ends them.

use super::{FlowAction, FlowCaller, MembershipState, Refusal, flow};
use crate::flows::Flow;

/// What a user is to an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invited {
    /// A member of the flow it leads to.
    Host,
    /// The one it was sent to, by the address of their account.
    Guest,
}

/// What somebody is to an invitation into a flow; `own_address` says whether it was sent to the
/// address of their account. Guests need not belong to the organization.
///
/// # Errors
///
/// As for [`FlowAction::Invite`], for a caller who is neither guest nor host, and for guests who
/// are blocked or whose flow is archived.
pub fn invited(caller: FlowCaller, into: &Flow, own_address: bool) -> Result<Invited, Refusal> {
    let blocked = matches!(
        caller,
        FlowCaller::User {
            place: MembershipState::Blocked,
            ..
        }
    );
    if own_address && !blocked && !into.disabled {
        return Ok(Invited::Guest);
    }
    flow(caller, into, FlowAction::Invite).map(|()| Invited::Host)
}

/// Whether somebody may accept an invitation through the API: only the one it was sent to.
///
/// # Errors
///
/// [`Refusal::Denied`] for members of the flow.
pub fn accept_invitation(who: Invited) -> Result<(), Refusal> {
    match who {
        Invited::Guest => Ok(()),
        Invited::Host => Err(Refusal::Denied),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RoomId;
    use crate::flows::AccessMode;
    use crate::organizations::OrganizationRole::Member;
    use crate::policy::flows::tests::{a_flow, user};

    #[test]
    fn guests_see_their_invitation_from_anywhere_and_only_they_accept_it() {
        let (open, archived) = (
            a_flow(AccessMode::Invitation, false),
            a_flow(AccessMode::Invitation, true),
        );
        let stranger = user(9, None, MembershipState::Outside);
        let outsider = user(9, Some(Member), MembershipState::Outside);
        let blocked = user(9, Some(Member), MembershipState::Blocked);
        let member = user(9, Some(Member), MembershipState::Inside);
        for (caller, own_address, expected) in [
            (stranger, true, Ok(Invited::Guest)),
            (stranger, false, Err(Refusal::NotFound)),
            (outsider, true, Ok(Invited::Guest)),
            (outsider, false, Err(Refusal::Denied)),
            (blocked, true, Err(Refusal::Denied)),
            (member, true, Ok(Invited::Guest)),
            (member, false, Ok(Invited::Host)),
            (
                FlowCaller::FlowToken { room: RoomId(7) },
                false,
                Err(Refusal::Denied),
            ),
        ] {
            assert_eq!(
                invited(caller, &open, own_address),
                expected,
                "{caller:?}, {own_address}"
            );
        }
        assert_eq!(invited(stranger, &archived, true), Err(Refusal::NotFound));
        assert_eq!(accept_invitation(Invited::Guest), Ok(()));
        assert_eq!(accept_invitation(Invited::Host), Err(Refusal::Denied));
    }
}
