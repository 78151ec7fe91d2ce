//! What the pages of the web client show around their rooms, read in one go.

use std::collections::BTreeMap;
use std::sync::Arc;

use eddyline_auth::TokenHash;
use eddyline_model::{RoomId, UserId};
use eddyline_storage::{Conversation, Reader, Result as StoreResult};
use eddyline_wire::{Flow, PrivateConversation, UserPresence};

use crate::actor::{Actor, Caller};
use crate::addresses::Addresses;
use crate::flow_view::CredentialScopes;
use crate::flows::list_joined;
use crate::notifications::{PageNotifications, session};
use crate::{App, Result};

/// What a page of the web client shows around its room.
#[derive(Clone, Debug)]
pub struct PageFrame {
    /// The flows that the user is in, without their people.
    pub flows: Vec<Flow>,
    /// The user's private conversations, as [`crate::Messages::conversations`] gives them.
    pub conversations: Vec<PrivateConversation>,
    /// The presence of the other users of the open conversations in the flows that the user is in,
    /// by their ids.
    pub presence: BTreeMap<i64, UserPresence>,
    /// What the user is notified of.
    pub notifications: PageNotifications,
}

/// The caller of a page, with what the queries for it need.
pub(crate) struct PageReader {
    session: TokenHash,
    pub(crate) user: UserId,
    caller: Arc<Caller>,
    pub(crate) scopes: CredentialScopes,
    pub(crate) addresses: Addresses,
}

/// A frame as it is read.
pub(crate) struct FrameRows {
    pub(crate) flows: Vec<(RoomId, Flow)>,
    conversations: Vec<Conversation>,
    notifications: PageNotifications,
}

impl PageReader {
    pub(crate) fn read_frame(&self, reader: &mut Reader<'_>) -> StoreResult<FrameRows> {
        Ok(FrameRows {
            flows: list_joined(reader, &self.addresses, &self.caller, self.scopes)?,
            conversations: reader.rooms().list_conversations(self.user, None)?,
            notifications: PageNotifications::read(reader, &self.session, self.user)?,
        })
    }
}

impl App {
    /// What a page of the web client shows around its room; `with` is the other user of the
    /// conversation that the page shows, which may not exist yet.
    ///
    /// # Errors
    ///
    /// [`Error::denied`](crate::Error::denied) for callers without a session,
    /// [`Error::unavailable`](crate::Error::unavailable).
    pub async fn page_frame(&self, actor: &Actor, with: Option<UserId>) -> Result<PageFrame> {
        let page = self.page_reader(actor)?;
        let read = self
            .core()
            .store()
            .read(move |reader| page.read_frame(reader));
        self.frame_of(actor, read.await?, with)
    }

    pub(crate) fn page_reader(&self, actor: &Actor) -> Result<PageReader> {
        let (session, user) = session(actor)?;
        Ok(PageReader {
            session,
            user,
            caller: actor.user()?.clone(),
            scopes: CredentialScopes::by(actor),
            addresses: self.core().config().addresses.clone(),
        })
    }

    pub(crate) fn frame_of(
        &self,
        actor: &Actor,
        rows: FrameRows,
        with: Option<UserId>,
    ) -> Result<PageFrame> {
        let own = &actor.user()?.user;
        let shown_to_user = rows
            .conversations
            .iter()
            .map(|conversation| self.messages().show_conversation(own, conversation));
        let conversations: Vec<PrivateConversation> = shown_to_user.collect();
        let rooms: Vec<RoomId> = rows.flows.iter().map(|(room, _)| *room).collect();
        let open = conversations
            .iter()
            .filter(|each| each.open || each.activity.mentions > 0);
        let others: Vec<UserId> = open.map(|each| UserId(each.id)).chain(with).collect();
        Ok(PageFrame {
            presence: self.presence().presence_over(&rooms, &others),
            flows: rows.flows.into_iter().map(|(_, flow)| flow).collect(),
            conversations,
            notifications: rows.notifications,
        })
    }
}
