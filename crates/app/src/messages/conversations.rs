//! The conversations of the caller: listing, showing, opening and closing them.

use eddyline_model::UserId;
use eddyline_model::policy::{MessageAction, PrivateAction};
use eddyline_model::users::User;
use eddyline_storage::{Conversation, Tx};
use eddyline_wire::{Participant, PrivateActivity, PrivateConversation};

use crate::actor::Actor;
use crate::rooms::PrivateRoom;
use crate::{Error, Messages, Profile, Result};

impl Messages {
    /// The caller's conversations, but for those with people who share no organization with the
    /// caller any more.
    ///
    /// # Errors
    ///
    /// [`Error::denied`] for flow tokens.
    pub async fn conversations(&self, actor: &Actor) -> Result<Vec<PrivateConversation>> {
        let own = actor.user()?.user.clone();
        let user = own.id;
        let found = self
            .core
            .store()
            .read(move |reader| reader.rooms().list_conversations(user, None))
            .await?;
        Ok(found
            .iter()
            .map(|conversation| self.show_conversation(&own, conversation))
            .collect())
    }

    /// The caller's conversation with a user. It is made, but not opened, if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] for strangers, [`Error::denied`] for those who have left.
    pub async fn conversation(&self, actor: &Actor, with: UserId) -> Result<PrivateConversation> {
        self.find_or_create(actor, with).await?;
        let own = &actor.user()?.user;
        let user = own.id;
        let found = self
            .core
            .store()
            .read(move |reader| reader.rooms().list_conversations(user, Some(with)))
            .await?;
        let conversation = found.first().ok_or_else(Error::denied)?;
        Ok(self.show_conversation(own, conversation))
    }

    /// Sets whether the caller's clients show a tab for a conversation, which is made if there is
    /// none.
    ///
    /// # Errors
    ///
    /// As [`Messages::conversation`].
    pub async fn set_conversation_open(
        &self,
        actor: &Actor,
        with: UserId,
        open: bool,
    ) -> Result<PrivateConversation> {
        let room = self.find_or_create(actor, with).await?;
        let set = move |tx: &mut Tx<'_>, actor: &Actor, room: &PrivateRoom| {
            let user = actor.user_id().ok_or_else(Error::denied)?;
            let room = room.id().ok_or_else(Error::not_found)?;
            Ok(tx.members().set_open(room, user, open)?)
        };
        self.rooms
            .change_private(actor, &room, PrivateAction::Read, set)
            .await?;
        self.conversation(actor, with).await
    }

    /// The caller's conversation with a user. Creates it if it does not exist yet.
    async fn find_or_create(&self, actor: &Actor, with: UserId) -> Result<PrivateRoom> {
        let room = self.rooms.private(actor, with, MessageAction::Read).await?;
        self.rooms
            .create_private(actor, room, MessageAction::Read)
            .await
    }

    pub(crate) fn show_conversation(
        &self,
        own: &User,
        conversation: &Conversation,
    ) -> PrivateConversation {
        let addresses = &self.core.config().addresses;
        let Conversation {
            other,
            open,
            unread,
            read_up_to,
            last_message_id,
            tab_position,
        } = conversation;
        let mut people = vec![own, other];
        people.sort_by_key(|user| user.id);
        people.dedup_by_key(|user| user.id);
        PrivateConversation {
            id: other.id.0,
            url: addresses.private(other.id),
            name: match self.core.config().profile {
                Profile::Classic if other.id != own.id => format!("@{}", other.nick),
                Profile::Classic | Profile::Spec => other.name.clone(),
            },
            open: *open,
            tab_position: *tab_position,
            read: read_up_to.0,
            last_message_id: Some(last_message_id.0).filter(|id| *id > 0),
            activity: PrivateActivity::of(*unread),
            users: people
                .into_iter()
                .map(|user| Participant::of(user, &addresses.base))
                .collect(),
        }
    }
}
