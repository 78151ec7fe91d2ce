//! Flows: who sees, reads, writes, joins and changes them.

use super::Refusal;
use crate::flows::{AccessMode, Flow};
use crate::organizations::OrganizationRole;
use crate::{RoomId, UserId};

/// What a caller is towards a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowCaller {
    /// A user.
    User {
        /// Who it is.
        user: UserId,
        /// What the user is in the flow's organization; `None` for a stranger.
        role: Option<OrganizationRole>,
        /// What the user is in the flow.
        place: MembershipState,
    },
    /// Somebody who holds a token of this very flow.
    FlowToken {
        /// The flow the token belongs to.
        room: RoomId,
    },
}

/// What a user is in a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MembershipState {
    /// Not in it.
    Outside,
    /// In it.
    Inside,
    /// Shut out until unblocked.
    Blocked,
}

/// What somebody wants to do with a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowAction {
    /// See that it is there, and its people.
    See,
    /// Read its messages, listen to it.
    Read,
    /// Post chat into it.
    Post,
    /// Post the messages of outside services into its inbox.
    PostAsApplication,
    /// Come in by oneself.
    Join,
    /// Change one's own `open`.
    SetOpen,
    /// Change name, access mode or archiving.
    Configure,
    /// Add a member of the organization.
    AddUser,
    /// Invite somebody by e-mail, and see or cancel who was invited.
    Invite,
    /// See, add, change and remove the sources of its inbox.
    ManageSources,
}

/// Whether the caller may do `action` with `flow`.
///
/// # Errors
///
/// The reason of the refusal.
pub fn flow(caller: FlowCaller, flow: &Flow, action: FlowAction) -> Result<(), Refusal> {
    match caller {
        FlowCaller::FlowToken { room } => token_may(room, flow, action),
        FlowCaller::User { user, role, place } => user_may(user, role, place, flow, action),
    }
}

fn token_may(room: RoomId, flow: &Flow, action: FlowAction) -> Result<(), Refusal> {
    if room != flow.room || flow.disabled {
        return Err(Refusal::NotFound);
    }
    match action {
        FlowAction::Post | FlowAction::PostAsApplication => Ok(()),
        _ => Err(Refusal::Denied),
    }
}

fn user_may(
    user: UserId,
    role: Option<OrganizationRole>,
    place: MembershipState,
    flow: &Flow,
    action: FlowAction,
) -> Result<(), Refusal> {
    let Some(role) = role else {
        return Err(Refusal::NotFound);
    };
    let administrator = role == OrganizationRole::Administrator;
    if flow.disabled {
        return match action {
            FlowAction::See | FlowAction::Configure if administrator => Ok(()),
            _ if administrator => Err(Refusal::Denied),
            _ => Err(Refusal::NotFound),
        };
    }
    if place == MembershipState::Blocked {
        return Err(Refusal::Denied);
    }
    let inside = place == MembershipState::Inside;
    let allowed = match action {
        FlowAction::See => inside || administrator || flow.access_mode == AccessMode::Organization,
        FlowAction::Join => inside || flow.access_mode == AccessMode::Organization,
        FlowAction::Read
        | FlowAction::Post
        | FlowAction::AddUser
        | FlowAction::Invite
        | FlowAction::ManageSources
        | FlowAction::SetOpen => inside,
        FlowAction::Configure => administrator || (inside && flow.creator == Some(user)),
        FlowAction::PostAsApplication => false,
    };
    if allowed {
        Ok(())
    } else {
        Err(Refusal::Denied)
    }
}

/// Whether somebody who may see the flow may block or unblock a user of it: administrators of the
/// organization anyone, members of the flow only regular members (specification, section 3).
///
/// # Errors
///
/// [`Refusal::Denied`].
pub fn block(actor: FlowCaller, target: Option<OrganizationRole>) -> Result<(), Refusal> {
    match actor {
        FlowCaller::User {
            role: Some(OrganizationRole::Administrator),
            ..
        } => Ok(()),
        FlowCaller::User {
            role: Some(_),
            place: MembershipState::Inside,
            ..
        } if target != Some(OrganizationRole::Administrator) => Ok(()),
        _ => Err(Refusal::Denied),
    }
}

/// Whether somebody who is at `place` may come into a flow by its join link. Who has no such link
/// does not get to ask.
///
/// # Errors
///
/// [`Refusal::NotFound`] for flows that take nobody by a link and archived ones,
/// [`Refusal::Denied`] for the blocked.
pub fn join_by_link(place: MembershipState, flow: &Flow) -> Result<(), Refusal> {
    if flow.disabled || flow.access_mode == AccessMode::Invitation {
        return Err(Refusal::NotFound);
    }
    if place == MembershipState::Blocked {
        Err(Refusal::Denied)
    } else {
        Ok(())
    }
}

#[cfg(test)]
pub(in crate::policy) mod tests {
    use super::*;
    use crate::{FlowId, OrganizationId, Timestamp};
    use OrganizationRole::{Administrator, Member};

    pub(in crate::policy) fn a_flow(access_mode: AccessMode, disabled: bool) -> Flow {
        Flow {
            room: RoomId(7),
            id: FlowId("f".into()),
            organization: OrganizationId(1),
            name: "Main".into(),
            parameterized_name: "main".into(),
            description: None,
            access_mode,
            disabled,
            creator: Some(UserId(1)),
            join_secret: String::new(),
            created_at: Timestamp(0),
            last_message_id: 0,
            last_message_at: None,
            access_version: 0,
        }
    }

    pub(in crate::policy) fn user(
        id: i64,
        role: Option<OrganizationRole>,
        place: MembershipState,
    ) -> FlowCaller {
        FlowCaller::User {
            user: UserId(id),
            role,
            place,
        }
    }

    /// One row for each kind of caller, one column for each action: `+` yes, `-` denied, `.` not
    /// found.
    /// Shows: 2.12
    #[test]
    fn the_table_of_callers_and_actions_holds() {
        use FlowAction::*;
        let actions = [
            See,
            Read,
            Post,
            PostAsApplication,
            Join,
            SetOpen,
            Configure,
            AddUser,
            Invite,
            ManageSources,
        ];
        let callers = [
            ("stranger", user(9, None, MembershipState::Outside)),
            ("outsider", user(9, Some(Member), MembershipState::Outside)),
            ("blocked", user(9, Some(Member), MembershipState::Blocked)),
            ("member", user(9, Some(Member), MembershipState::Inside)),
            ("creator", user(1, Some(Member), MembershipState::Inside)),
            (
                "administrator outside",
                user(9, Some(Administrator), MembershipState::Outside),
            ),
            (
                "administrator inside",
                user(9, Some(Administrator), MembershipState::Inside),
            ),
            ("token", FlowCaller::FlowToken { room: RoomId(7) }),
            ("other token", FlowCaller::FlowToken { room: RoomId(8) }),
        ];
        let expected = [
            (
                AccessMode::Invitation,
                false,
                [
                    "..........",
                    "----------",
                    "----------",
                    "+++-++-+++",
                    "+++-++++++",
                    "+-----+---",
                    "+++-++++++",
                    "--++------",
                    "..........",
                ],
            ),
            (
                AccessMode::Organization,
                false,
                [
                    "..........",
                    "+---+-----",
                    "----------",
                    "+++-++-+++",
                    "+++-++++++",
                    "+---+-+---",
                    "+++-++++++",
                    "--++------",
                    "..........",
                ],
            ),
            (
                AccessMode::Invitation,
                true,
                [
                    "..........",
                    "..........",
                    "..........",
                    "..........",
                    "..........",
                    "+-----+---",
                    "+-----+---",
                    "..........",
                    "..........",
                ],
            ),
        ];
        for (mode, disabled, rows) in expected {
            for ((name, caller), row) in callers.into_iter().zip(rows) {
                let got: String = actions
                    .iter()
                    .map(
                        |action| match flow(caller, &a_flow(mode, disabled), *action) {
                            Ok(()) => '+',
                            Err(Refusal::Denied) => '-',
                            Err(Refusal::NotFound) => '.',
                        },
                    )
                    .collect();
                assert_eq!(got, row, "{name}, {mode:?}, archived: {disabled}");
            }
        }
    }

    /// Shows: 3.11
    #[test]
    fn members_block_regular_members_and_administrators_block_anyone() {
        let member = user(2, Some(Member), MembershipState::Inside);
        let outsider = user(2, Some(Member), MembershipState::Outside);
        let administrator = user(3, Some(Administrator), MembershipState::Outside);
        assert_eq!(block(member, Some(Member)), Ok(()));
        assert_eq!(block(member, Some(Administrator)), Err(Refusal::Denied));
        assert_eq!(block(outsider, Some(Member)), Err(Refusal::Denied));
        assert_eq!(block(administrator, Some(Administrator)), Ok(()));
        assert_eq!(
            block(FlowCaller::FlowToken { room: RoomId(7) }, Some(Member)),
            Err(Refusal::Denied)
        );
    }

    /// Shows: 2.12
    #[test]
    fn a_link_leads_into_flows_that_take_people_by_it() {
        for (mode, archived, place, expected) in [
            (AccessMode::Link, false, MembershipState::Outside, Ok(())),
            (
                AccessMode::Organization,
                false,
                MembershipState::Outside,
                Ok(()),
            ),
            (AccessMode::Link, false, MembershipState::Inside, Ok(())),
            (
                AccessMode::Link,
                false,
                MembershipState::Blocked,
                Err(Refusal::Denied),
            ),
            (
                AccessMode::Link,
                true,
                MembershipState::Inside,
                Err(Refusal::NotFound),
            ),
            (
                AccessMode::Invitation,
                false,
                MembershipState::Inside,
                Err(Refusal::NotFound),
            ),
        ] {
            assert_eq!(
                join_by_link(place, &a_flow(mode, archived)),
                expected,
                "{mode:?}, {place:?}"
            );
        }
    }
}
