//! The one place that decides who may do what.
//!
//! Callers come with what they are ([`Standing`]) towards a flow and its organization; the answer
//! is a plain yes or the reason for the refusal. Nothing here looks anything up.

use crate::flows::{AccessMode, Flow};
use crate::messages::{Event, Message};
use crate::organizations::{Organization, OrganizationRole};
use crate::{RoomId, UserId};

/// Why something is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// For this caller the thing does not exist, so that ids cannot be probed.
    NotFound,
    /// The caller knows that it exists, but may not.
    Denied,
}

/// What a caller is towards a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A user.
    User {
        /// Who it is.
        user: UserId,
        /// What the user is in the flow's organization; `None` for a stranger.
        role: Option<OrganizationRole>,
        /// What the user is in the flow.
        place: Place,
    },
    /// Somebody who holds a token of this very flow.
    FlowToken {
        /// The flow the token belongs to.
        room: RoomId,
    },
}

/// What a user is in a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Not in it.
    Outside,
    /// In it.
    Inside,
    /// Shut out until unblocked.
    Blocked,
}

/// What somebody wants to do with a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowDeed {
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
}

/// Whether the caller may do `deed` with `flow`.
///
/// # Errors
///
/// The reason of the refusal.
pub fn flow(standing: Standing, flow: &Flow, deed: FlowDeed) -> Result<(), Refusal> {
    match standing {
        Standing::FlowToken { room } => token_deed(room, flow, deed),
        Standing::User { user, role, place } => user_deed(user, role, place, flow, deed),
    }
}

fn token_deed(room: RoomId, flow: &Flow, deed: FlowDeed) -> Result<(), Refusal> {
    if room != flow.room || flow.disabled {
        return Err(Refusal::NotFound);
    }
    match deed {
        FlowDeed::Post | FlowDeed::PostAsApplication => Ok(()),
        _ => Err(Refusal::Denied),
    }
}

fn user_deed(
    user: UserId,
    role: Option<OrganizationRole>,
    place: Place,
    flow: &Flow,
    deed: FlowDeed,
) -> Result<(), Refusal> {
    let Some(role) = role else { return Err(Refusal::NotFound) };
    let administrator = role == OrganizationRole::Administrator;
    if flow.disabled {
        return match deed {
            FlowDeed::See | FlowDeed::Configure if administrator => Ok(()),
            _ if administrator => Err(Refusal::Denied),
            _ => Err(Refusal::NotFound),
        };
    }
    if place == Place::Blocked {
        return Err(Refusal::Denied);
    }
    let inside = place == Place::Inside;
    let allowed = match deed {
        FlowDeed::See => inside || administrator || flow.access_mode == AccessMode::Organization,
        FlowDeed::Join => inside || flow.access_mode == AccessMode::Organization,
        FlowDeed::Read | FlowDeed::Post | FlowDeed::AddUser | FlowDeed::Invite | FlowDeed::SetOpen => inside,
        FlowDeed::Configure => administrator || (inside && flow.creator == Some(user)),
        FlowDeed::PostAsApplication => false,
    };
    if allowed { Ok(()) } else { Err(Refusal::Denied) }
}

/// Whether somebody who may see the flow may block or unblock a user of it: administrators of the
/// organization anyone, members of the flow only regular members (specification, section 3).
///
/// # Errors
///
/// [`Refusal::Denied`].
pub fn block(actor: Standing, target: Option<OrganizationRole>) -> Result<(), Refusal> {
    match actor {
        Standing::User { role: Some(OrganizationRole::Administrator), .. } => Ok(()),
        Standing::User { role: Some(_), place: Place::Inside, .. }
            if target != Some(OrganizationRole::Administrator) =>
        {
            Ok(())
        }
        _ => Err(Refusal::Denied),
    }
}

/// What somebody wants to do with an organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrganizationDeed {
    /// See it and its people.
    See,
    /// Change it, or remove somebody from it.
    Administer,
}

/// Whether somebody who is `role` in an organization may do `deed` with it.
///
/// # Errors
///
/// [`Refusal::NotFound`] for strangers, [`Refusal::Denied`].
pub fn organization(role: Option<OrganizationRole>, deed: OrganizationDeed) -> Result<(), Refusal> {
    match (role, deed) {
        (None, _) => Err(Refusal::NotFound),
        (Some(OrganizationRole::Administrator), _) | (Some(_), OrganizationDeed::See) => Ok(()),
        (Some(OrganizationRole::Member), OrganizationDeed::Administer) => Err(Refusal::Denied),
    }
}

/// Whether anything may be written in an organization by those who may otherwise. An inactive one is
/// read-only: people keep their own marks, and may only become fewer.
///
/// # Errors
///
/// [`Refusal::Denied`].
pub fn write(organization: &Organization) -> Result<(), Refusal> {
    if organization.active { Ok(()) } else { Err(Refusal::Denied) }
}

/// Whether somebody can be taken out of an organization: each keeps an administrator.
///
/// `administrators` are those it has now.
#[must_use]
pub fn may_do_without(administrators: &[UserId], user: UserId) -> bool {
    administrators != [user]
}

/// What two users are to each other, for a private conversation between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acquaintance {
    /// Whether they are one and the same user.
    pub same: bool,
    /// Whether they belong to a common organization.
    pub share_organization: bool,
    /// Whether one of their common organizations is active.
    pub share_active: bool,
    /// Whether they have a conversation already.
    pub conversation: bool,
}

/// What somebody wants to do with a private conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrivateDeed {
    /// Open it, read it, or mark it read.
    Read,
    /// Write into it, or change what was written.
    Write,
}

/// Whether a user may do `deed` in the private conversation with another.
///
/// # Errors
///
/// [`Refusal::NotFound`] for strangers, [`Refusal::Denied`] for those with whom there is a
/// conversation but no common organization any more, and for writing when all common organizations
/// are inactive.
pub fn private(to: Acquaintance, deed: PrivateDeed) -> Result<(), Refusal> {
    match (to.same || to.share_organization, deed) {
        (true, PrivateDeed::Read) => Ok(()),
        (true, PrivateDeed::Write) if to.same || to.share_active => Ok(()),
        (false, _) if !to.conversation => Err(Refusal::NotFound),
        _ => Err(Refusal::Denied),
    }
}

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
/// As for [`FlowDeed::Invite`], for whoever is neither guest nor host, and for guests who are blocked
/// or whose flow is archived.
pub fn invited(standing: Standing, into: &Flow, own_address: bool) -> Result<Invited, Refusal> {
    let blocked = matches!(standing, Standing::User { place: Place::Blocked, .. });
    if own_address && !blocked && !into.disabled {
        return Ok(Invited::Guest);
    }
    flow(standing, into, FlowDeed::Invite).map(|()| Invited::Host)
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

/// Whether somebody who is at `place` may come into a flow by its join link. Who has no such link
/// does not get to ask.
///
/// # Errors
///
/// [`Refusal::NotFound`] for flows that take nobody by a link and archived ones, [`Refusal::Denied`]
/// for the blocked.
pub fn join_by_link(place: Place, flow: &Flow) -> Result<(), Refusal> {
    if flow.disabled || flow.access_mode == AccessMode::Invitation {
        return Err(Refusal::NotFound);
    }
    if place == Place::Blocked { Err(Refusal::Denied) } else { Ok(()) }
}

/// What deleting a message does (specification, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// The message goes.
    Remove,
    /// The message stays, empty.
    Truncate,
}

/// Whether, and how, a reader of the room may delete a message.
///
/// # Errors
///
/// [`Refusal::Denied`] for every other message.
pub fn delete(user: UserId, message: &Message) -> Result<Deletion, Refusal> {
    let own = message.author.user == Some(user);
    match message.event {
        Event::Activity | Event::Discussion | Event::Mail => Ok(Deletion::Remove),
        Event::File if own => Ok(Deletion::Remove),
        Event::Message | Event::Comment if own => Ok(Deletion::Truncate),
        _ => Err(Refusal::Denied),
    }
}

/// Whether a reader of the room may change a message's content: only their own chat messages and
/// comments (specification, section 4).
///
/// # Errors
///
/// [`Refusal::Denied`].
pub fn edit_content(user: UserId, message: &Message) -> Result<(), Refusal> {
    match message.event {
        // An empty one was deleted, and stays so.
        Event::Message | Event::Comment
            if message.author.user == Some(user) && !message.content.is_empty() =>
        {
            Ok(())
        }
        _ => Err(Refusal::Denied),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Author;
    use crate::organizations::Subscription;
    use crate::{FlowId, MessageId, OrganizationId, Timestamp};
    use OrganizationRole::{Administrator, Member};

    fn a_flow(access_mode: AccessMode, disabled: bool) -> Flow {
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

    fn user(id: i64, role: Option<OrganizationRole>, place: Place) -> Standing {
        Standing::User { user: UserId(id), role, place }
    }

    /// One row for each kind of caller, one column for each deed: `+` yes, `-` denied, `.` not found.
    #[test]
    fn the_table_of_callers_and_deeds_holds() {
        use FlowDeed::*;
        let deeds = [See, Read, Post, PostAsApplication, Join, SetOpen, Configure, AddUser, Invite];
        let callers = [
            ("stranger", user(9, None, Place::Outside)),
            ("outsider", user(9, Some(Member), Place::Outside)),
            ("blocked", user(9, Some(Member), Place::Blocked)),
            ("member", user(9, Some(Member), Place::Inside)),
            ("creator", user(1, Some(Member), Place::Inside)),
            ("administrator outside", user(9, Some(Administrator), Place::Outside)),
            ("administrator inside", user(9, Some(Administrator), Place::Inside)),
            ("token", Standing::FlowToken { room: RoomId(7) }),
            ("other token", Standing::FlowToken { room: RoomId(8) }),
        ];
        let expected = [
            (
                AccessMode::Invitation,
                false,
                [
                    ".........",
                    "---------",
                    "---------",
                    "+++-++-++",
                    "+++-+++++",
                    "+-----+--",
                    "+++-+++++",
                    "--++-----",
                    ".........",
                ],
            ),
            (
                AccessMode::Organization,
                false,
                [
                    ".........",
                    "+---+----",
                    "---------",
                    "+++-++-++",
                    "+++-+++++",
                    "+---+-+--",
                    "+++-+++++",
                    "--++-----",
                    ".........",
                ],
            ),
            (
                AccessMode::Invitation,
                true,
                [
                    ".........",
                    ".........",
                    ".........",
                    ".........",
                    ".........",
                    "+-----+--",
                    "+-----+--",
                    ".........",
                    ".........",
                ],
            ),
        ];
        for (mode, disabled, rows) in expected {
            for ((name, caller), row) in callers.into_iter().zip(rows) {
                let got: String = deeds
                    .iter()
                    .map(|deed| match flow(caller, &a_flow(mode, disabled), *deed) {
                        Ok(()) => '+',
                        Err(Refusal::Denied) => '-',
                        Err(Refusal::NotFound) => '.',
                    })
                    .collect();
                assert_eq!(got, row, "{name}, {mode:?}, archived: {disabled}");
            }
        }
    }

    #[test]
    fn guests_see_their_invitation_from_anywhere_and_only_they_accept_it() {
        let (open, archived) = (a_flow(AccessMode::Invitation, false), a_flow(AccessMode::Invitation, true));
        let stranger = user(9, None, Place::Outside);
        let outsider = user(9, Some(Member), Place::Outside);
        let blocked = user(9, Some(Member), Place::Blocked);
        let member = user(9, Some(Member), Place::Inside);
        for (caller, own_address, expected) in [
            (stranger, true, Ok(Invited::Guest)),
            (stranger, false, Err(Refusal::NotFound)),
            (outsider, true, Ok(Invited::Guest)),
            (outsider, false, Err(Refusal::Denied)),
            (blocked, true, Err(Refusal::Denied)),
            (member, true, Ok(Invited::Guest)),
            (member, false, Ok(Invited::Host)),
            (Standing::FlowToken { room: RoomId(7) }, false, Err(Refusal::Denied)),
        ] {
            assert_eq!(invited(caller, &open, own_address), expected, "{caller:?}, {own_address}");
        }
        assert_eq!(invited(stranger, &archived, true), Err(Refusal::NotFound));
        assert_eq!(accept_invitation(Invited::Guest), Ok(()));
        assert_eq!(accept_invitation(Invited::Host), Err(Refusal::Denied));
    }

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
            subscription: Subscription::Paid { next_bill: None },
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

    #[test]
    fn members_block_regular_members_and_administrators_block_anyone() {
        let member = user(2, Some(Member), Place::Inside);
        let outsider = user(2, Some(Member), Place::Outside);
        let administrator = user(3, Some(Administrator), Place::Outside);
        assert_eq!(block(member, Some(Member)), Ok(()));
        assert_eq!(block(member, Some(Administrator)), Err(Refusal::Denied));
        assert_eq!(block(outsider, Some(Member)), Err(Refusal::Denied));
        assert_eq!(block(administrator, Some(Administrator)), Ok(()));
        assert_eq!(block(Standing::FlowToken { room: RoomId(7) }, Some(Member)), Err(Refusal::Denied));
    }

    #[test]
    fn a_link_leads_into_flows_that_take_people_by_it() {
        for (mode, archived, place, expected) in [
            (AccessMode::Link, false, Place::Outside, Ok(())),
            (AccessMode::Organization, false, Place::Outside, Ok(())),
            (AccessMode::Link, false, Place::Inside, Ok(())),
            (AccessMode::Link, false, Place::Blocked, Err(Refusal::Denied)),
            (AccessMode::Link, true, Place::Inside, Err(Refusal::NotFound)),
            (AccessMode::Invitation, false, Place::Inside, Err(Refusal::NotFound)),
        ] {
            assert_eq!(join_by_link(place, &a_flow(mode, archived)), expected, "{mode:?}, {place:?}");
        }
    }

    /// `+` yes, `-` denied, `.` not found; reading first, writing second.
    #[test]
    fn private_conversations_are_for_those_who_share_an_organization() {
        let who = |same, share_organization, share_active, conversation| Acquaintance {
            same,
            share_organization,
            share_active,
            conversation,
        };
        for (name, to, expected) in [
            ("oneself", who(true, true, true, false), "++"),
            ("oneself, in no organization", who(true, false, false, true), "++"),
            ("a colleague", who(false, true, true, false), "++"),
            ("a colleague in an inactive organization", who(false, true, false, true), "+-"),
            ("a stranger", who(false, false, false, false), ".."),
            ("one who has left", who(false, false, false, true), "--"),
        ] {
            let got: String = [PrivateDeed::Read, PrivateDeed::Write]
                .map(|deed| match private(to, deed) {
                    Ok(()) => '+',
                    Err(Refusal::Denied) => '-',
                    Err(Refusal::NotFound) => '.',
                })
                .iter()
                .collect();
            assert_eq!(got, expected, "{name}");
        }
    }

    #[test]
    fn deletion_removes_inbox_messages_and_own_files_and_truncates_own_chat() {
        let message = |event, user| Message {
            room: RoomId(1),
            id: MessageId(1),
            event,
            author: Author { user, external_name: None },
            content: String::new(),
            tags: vec![],
            explicit_tags: vec![],
            uuid: None,
            sent: Timestamp(0),
            edited: None,
            thread_root: None,
            parent: None,
            to: None,
        };
        let (own, other) = (Some(UserId(1)), Some(UserId(2)));
        for (event, author, expected) in [
            (Event::Message, own, Ok(Deletion::Truncate)),
            (Event::Comment, own, Ok(Deletion::Truncate)),
            (Event::Message, other, Err(Refusal::Denied)),
            (Event::Message, None, Err(Refusal::Denied)),
            (Event::File, own, Ok(Deletion::Remove)),
            (Event::File, other, Err(Refusal::Denied)),
            (Event::Activity, None, Ok(Deletion::Remove)),
            (Event::Mail, None, Ok(Deletion::Remove)),
            (Event::Action, own, Err(Refusal::Denied)),
            (Event::Status, own, Err(Refusal::Denied)),
        ] {
            assert_eq!(delete(UserId(1), &message(event, author)), expected, "{event:?}");
        }
    }
}
