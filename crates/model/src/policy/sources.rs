//! Sources: who changes and removes which.

use super::{FlowAction, FlowCaller, Refusal, flow as flow_policy};
use crate::ApplicationId;
use crate::flows::Flow;
use crate::sources::{Source, ThreadOwner};

/// Whether somebody may change or remove a source: the holder of its token, and users who may
/// manage the flow's sources; `acting` is the application through which a user asks, and that
/// manages its own only.
///
/// # Errors
///
/// [`Refusal::NotFound`] for sources of other flows and those that were removed,
/// [`Refusal::Denied`].
pub fn source(
    caller: FlowCaller,
    thread_owner: Option<ThreadOwner>,
    acting: Option<ApplicationId>,
    flow: &Flow,
    source: &Source,
) -> Result<(), Refusal> {
    match (caller, thread_owner) {
        (FlowCaller::FlowToken { room }, _) if room != flow.room || flow.disabled => {
            return Err(Refusal::NotFound);
        }
        (FlowCaller::FlowToken { .. }, Some(thread_owner))
            if thread_owner.source == Some(source.id) => {}
        (FlowCaller::FlowToken { .. }, _) => return Err(Refusal::Denied),
        (FlowCaller::User { .. }, _) => flow_policy(caller, flow, FlowAction::ManageSources)?,
    }
    if source.room != flow.room || source.removed_at.is_some() {
        return Err(Refusal::NotFound);
    }
    match acting {
        Some(_) if source.application != acting => Err(Refusal::Denied),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::flows::tests::{a_flow, user};
    use super::*;
    use crate::flows::AccessMode;
    use crate::organizations::OrganizationRole::Member;
    use crate::policy::MembershipState;
    use crate::{RoomId, SourceId, Timestamp};

    fn a_source(room: i64, removed: bool) -> Source {
        Source {
            id: SourceId(3),
            room: RoomId(room),
            application: Some(ApplicationId(5)),
            name: "Tickets".into(),
            external_url: None,
            configuration_url: None,
            error_message: None,
            creator: None,
            created_at: Timestamp(0),
            updated_at: Timestamp(0),
            removed_at: removed.then_some(Timestamp(1)),
        }
    }

    #[test]
    fn a_source_is_managed_by_members_its_application_and_its_own_token() {
        let flow = a_flow(AccessMode::Invitation, false);
        let inside = user(9, Some(Member), MembershipState::Inside);
        let token = FlowCaller::FlowToken { room: RoomId(7) };
        let thread_owner = |id| {
            Some(ThreadOwner {
                source: Some(SourceId(id)),
                application: Some(ApplicationId(5)),
            })
        };
        let app = |id| Some(ApplicationId(id));
        let (denied, unknown) = (Err(Refusal::Denied), Err(Refusal::NotFound));
        for (caller, thread_owner, acting, expected) in [
            (inside, None, None, Ok(())),
            (inside, None, app(5), Ok(())),
            (inside, None, app(6), denied),
            (
                user(9, Some(Member), MembershipState::Outside),
                None,
                None,
                denied,
            ),
            (user(9, None, MembershipState::Outside), None, None, unknown),
            (token, thread_owner(3), None, Ok(())),
            (token, thread_owner(4), None, denied),
            (token, Some(ThreadOwner::FLOW), None, denied),
            (
                FlowCaller::FlowToken { room: RoomId(8) },
                thread_owner(3),
                None,
                unknown,
            ),
        ] {
            assert_eq!(
                source(caller, thread_owner, acting, &flow, &a_source(7, false)),
                expected,
                "{caller:?}"
            );
        }
        assert_eq!(
            source(inside, None, None, &flow, &a_source(7, true)),
            unknown
        );
        assert_eq!(
            source(inside, None, None, &flow, &a_source(8, false)),
            unknown
        );
        let archived = a_flow(AccessMode::Invitation, true);
        assert_eq!(
            source(token, thread_owner(3), None, &archived, &a_source(7, false)),
            unknown
        );
    }
}
