//! Who is in a flow: listing, adding, blocking, leaving.

use eddyline_model::audit::AuditAction;
use eddyline_model::log::Control;
use eddyline_model::organizations::OrganizationRole;
use eddyline_model::policy::{self, FlowAction};
use eddyline_model::users::User as ModelUser;
use eddyline_model::{RoomId, UserId};
use eddyline_storage::{Result as StoreResult, Tx};
use eddyline_wire::{FormerUser, User};
use serde_json::json;

use crate::action_message::action;
use crate::actor::Actor;
use crate::audit::note_flow_member;
use crate::pending_invitations::mark_accepted;
use crate::rooms::FlowRoom;
use crate::{Error, Flows, Result};

impl Flows {
    /// The people of a flow.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`].
    pub async fn users(&self, room: &FlowRoom) -> Result<Vec<User>> {
        let id = room.id();
        let people = self
            .core
            .store()
            .read(move |reader| reader.members().list_of_room(id))
            .await?;
        let base = &self.core.config().addresses.base;
        Ok(people
            .iter()
            .map(|(_, user)| User::of(user, base))
            .collect())
    }

    /// Those who have left a flow, or were removed from it. What they wrote is still there.
    ///
    /// # Errors
    ///
    /// [`Error::unavailable`].
    pub async fn former_users(&self, room: &FlowRoom) -> Result<Vec<FormerUser>> {
        let id = room.id();
        let people = self
            .core
            .store()
            .read(move |reader| reader.members().list_former(id))
            .await?;
        let base = &self.core.config().addresses.base;
        Ok(people
            .iter()
            .map(|user| FormerUser::of(user, base))
            .collect())
    }

    /// Adds a member of the organization to a flow. Adding somebody twice does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] when the caller is not in the flow, or the user is blocked from it;
    /// [`Error::invalid`] when there is no such user in the organization.
    pub async fn add_user(&self, actor: &Actor, room: &FlowRoom, user: UserId) -> Result<()> {
        let (done, event) = self
            .rooms
            .change_flow(
                actor,
                room.id(),
                FlowAction::AddUser,
                move |tx, actor, room| {
                    match room.member(user) {
                        Some(member) if member.blocked => return Err(Error::denied().into()),
                        Some(_) => return Ok(()),
                        None => {}
                    }
                    let belongs = tx
                        .organization_members()
                        .list_of_user(user)?
                        .iter()
                        .any(|m| m.organization == room.organization.id);
                    let (true, Some(person)) = (belongs, tx.users().find(user)?) else {
                        return Err(
                            Error::invalid("id", "is not a user of the organization").into()
                        );
                    };
                    admit_member(tx, room.id(), &person)?;
                    let draft = action(
                        tx,
                        room.id(),
                        actor.user_id(),
                        "add_people",
                        &json!(person.nick),
                    );
                    tx.messages().append(&[draft])?;
                    Ok(())
                },
            )
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(done)
    }

    /// Blocks somebody from a flow, or lets them back in. Repeating it does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] when the caller may not (specification, section 3), [`Error::not_found`]
    /// when the user is not in the flow.
    pub async fn set_user_blocked(
        &self,
        actor: &Actor,
        room: &FlowRoom,
        user: UserId,
        blocked: bool,
    ) -> Result<()> {
        let (done, event) = self
            .rooms
            .change_flow(actor, room.id(), FlowAction::See, move |tx, actor, room| {
                let id = room.id();
                let member = room.member(user).ok_or_else(Error::not_found)?;
                policy::block(actor.flow_caller(room), role_of(tx, room, user)?)
                    .map_err(Error::from)?;
                if member.blocked == blocked {
                    return Ok(());
                }
                tx.members().set_blocked(id, user, blocked)?;
                tx.rooms().advance_access(id)?;
                if blocked {
                    tx.record_event(Control::FlowRemove { room: id, user });
                    tx.record_event(Control::UserBlock { room: id, user });
                } else {
                    tx.record_event(Control::FlowAdd { room: id, user });
                    tx.record_event(Control::UserJoin { room: id, user });
                }
                let (kind, done) = if blocked {
                    ("block", AuditAction::FlowMemberBlock)
                } else {
                    ("unblock", AuditAction::FlowMemberUnblock)
                };
                note_flow_member(tx, id, done, user)?;
                let draft = action(tx, id, actor.user_id(), kind, &json!({"user": user.0}));
                tx.messages().append(&[draft])?;
                Ok(())
            })
            .await?;
        match event {
            // Another request may have blocked the user a moment ago, and still waits for other processes.
            None if blocked => self.core.wait_until_all_applied().await?,
            event => self.core.wait_until_applied(event).await,
        }
        Ok(done)
    }

    /// Lets the caller leave a flow.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for anybody but oneself, and while blocked: a block outlasts leaving.
    pub async fn leave(&self, actor: &Actor, room: &FlowRoom, user: UserId) -> Result<()> {
        let caller = actor.user()?.clone();
        if caller.user.id != user {
            return Err(Error::denied());
        }
        let id = room.id();
        let ((), event) = self
            .core
            .locked_transaction_as(
                actor,
                move |tx| tx.rooms().lock(id),
                move |tx, _| {
                    match tx.members().find(id, user)? {
                        None => return Err(Error::not_found().into()),
                        Some(membership) if membership.blocked => {
                            return Err(Error::denied().into());
                        }
                        Some(_) => {}
                    }
                    note_flow_member(tx, id, AuditAction::FlowMemberRemove, user)?;
                    Ok(take_out(tx, id, user, Some(&caller.user.nick))?)
                },
            )
            .await?;
        self.core.wait_until_applied(event).await;
        Ok(())
    }
}

fn role_of(
    tx: &mut Tx<'_>,
    room: &FlowRoom,
    user: UserId,
) -> StoreResult<Option<OrganizationRole>> {
    let memberships = tx.organization_members().list_of_user(user)?;
    Ok(memberships
        .into_iter()
        .find(|m| m.organization == room.organization.id)
        .map(|m| m.role))
}

/// Brings in somebody who comes by their own doing, and lets the flow know.
pub(crate) fn add_joining_member(
    tx: &mut Tx<'_>,
    room: RoomId,
    user: &ModelUser,
) -> StoreResult<()> {
    admit_member(tx, room, user)?;
    let draft = action(tx, room, Some(user.id), "join", &json!(user.nick));
    tx.messages().append(&[draft])?;
    Ok(())
}

/// Makes somebody a member of a flow and lets every process and stream know.
pub(crate) fn admit_member(tx: &mut Tx<'_>, room: RoomId, user: &ModelUser) -> StoreResult<()> {
    let now = tx.now();
    tx.members().insert(room, user.id, now)?;
    mark_accepted(tx, room, std::slice::from_ref(user))?;
    note_flow_member(tx, room, AuditAction::FlowMemberAdd, user.id)?;
    tx.rooms().advance_access(room)?;
    tx.record_event(Control::FlowAdd {
        room,
        user: user.id,
    });
    tx.record_event(Control::UserJoin {
        room,
        user: user.id,
    });
    Ok(())
}

/// Takes a member, who is not blocked, out of a flow, which is held, and lets every process and
/// stream know. With the member's nick, a message in the flow says so, unless the flow is archived.
pub(crate) fn take_out(
    tx: &mut Tx<'_>,
    room: RoomId,
    user: UserId,
    nick: Option<&str>,
) -> StoreResult<()> {
    tx.members().delete(room, user)?;
    tx.rooms().advance_access(room)?;
    if let Some(nick) = nick
        && tx.flows().find(room)?.is_some_and(|flow| !flow.disabled)
    {
        let draft = action(tx, room, Some(user), "leave", &json!(nick));
        tx.messages().append(&[draft])?;
    }
    tx.record_event(Control::FlowRemove { room, user });
    Ok(())
}
