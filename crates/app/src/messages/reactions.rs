//! Reacting to a message with an emoji, and taking that back. Who may post may react.

use eddyline_model::messages::{Message, Notice};
use eddyline_model::policy::{self, MessageAction};
use eddyline_model::reactions::Emoji;
use eddyline_model::{MessageId, UserId};
use eddyline_storage::{Result as StoreResult, Tx};

use super::notice;
use crate::actor::Actor;
use crate::core::transaction::TxResult;
use crate::rooms::Room;
use crate::{Error, Messages, Result};

/// What a user does to their reaction to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReactionChange {
    /// Reacts.
    Add,
    /// Takes the reaction back.
    Remove,
}

impl Messages {
    /// Reacts to a message for the caller, or takes that back, and tells the streams. Doing it
    /// twice does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::denied`], [`Error::not_found`], [`Error::conflict`] when the message has as many
    /// reactions as it can.
    pub async fn react(
        &self,
        actor: &Actor,
        room: &Room,
        id: MessageId,
        emoji: Emoji,
        change: ReactionChange,
    ) -> Result<()> {
        let work = move |tx: &mut Tx<'_>, actor: &Actor, _: &Room, message: Message| {
            let user = actor.user_id().ok_or_else(Error::denied)?;
            match change {
                ReactionChange::Add => add(tx, actor, &message, emoji, user),
                ReactionChange::Remove => Ok(remove(tx, actor, &message, emoji, user)?),
            }
        };
        self.change_message(actor, room, id, MessageAction::React, work)
            .await
    }
}

fn add(
    tx: &mut Tx<'_>,
    actor: &Actor,
    message: &Message,
    emoji: Emoji,
    user: UserId,
) -> TxResult<()> {
    policy::react(message).map_err(Error::from)?;
    let reactions = tx.reactions().list(message.room, &[message.id.0])?;
    let reactions = reactions.get(&message.id).cloned().unwrap_or_default();
    if reactions.contains(emoji, user) {
        return Ok(());
    }
    reactions
        .check_room_for(emoji)
        .map_err(|full| Error::conflict(full.to_string()))?;
    tx.reactions()
        .insert(message.room, message.id, emoji, user)?;
    Ok(tell(
        tx,
        actor,
        message,
        Notice::reaction(message, emoji, true),
    )?)
}

fn remove(
    tx: &mut Tx<'_>,
    actor: &Actor,
    message: &Message,
    emoji: Emoji,
    user: UserId,
) -> StoreResult<()> {
    let was_there = tx
        .reactions()
        .delete(message.room, message.id, emoji, user)?;
    if !was_there {
        return Ok(());
    }
    tell(tx, actor, message, Notice::reaction(message, emoji, false))
}

fn tell(tx: &mut Tx<'_>, actor: &Actor, message: &Message, told: Notice) -> StoreResult<()> {
    let draft = notice(message, actor.user_id(), told, tx.now());
    tx.messages().append(&[draft])?;
    Ok(())
}
