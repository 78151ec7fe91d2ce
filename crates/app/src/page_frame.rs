//! What the pages of the web client show around their rooms, read in one go.

use std::collections::BTreeMap;

use eddyline_model::{RoomId, UserId};
use eddyline_wire::{Flow, FormerUser, PrivateConversation, UserPresence};

use crate::actor::Actor;
use crate::flow_view::{CredentialScopes, add_users};
use crate::flows::list_joined;
use crate::notifications::{PageNotifications, session};
use crate::rooms::FlowRoom;
use crate::{App, Result};

/// What a page of the web client shows around its room.
#[derive(Clone, Debug)]
pub struct PageFrame {
    /// The flows that the user is in, without their people.
    pub flows: Vec<Flow>,
    /// The flow of the page with its people, if it is among [`PageFrame::flows`].
    pub shown: Option<Flow>,
    /// Those who have left the flow of the page.
    pub former: Vec<FormerUser>,
    /// The user's private conversations, as [`crate::Messages::conversations`] gives them.
    pub conversations: Vec<PrivateConversation>,
    /// The presence of the other users of the open conversations in the flows that the user is in,
    /// by their ids.
    pub presence: BTreeMap<i64, UserPresence>,
    /// What the user is notified of.
    pub notifications: PageNotifications,
}

impl App {
    /// What a page of the web client shows around its room; `shown` is the flow of the page.
    ///
    /// # Errors
    ///
    /// [`Error::denied`](crate::Error::denied) for callers without a session,
    /// [`Error::unavailable`](crate::Error::unavailable).
    pub async fn page_frame(&self, actor: &Actor, shown: Option<&FlowRoom>) -> Result<PageFrame> {
        let (session, user) = session(actor)?;
        let (caller, scopes) = (actor.user()?.clone(), CredentialScopes::by(actor));
        let addresses = self.core().config().addresses.clone();
        let room = shown.map(FlowRoom::id);
        let read = self.core().store().read(move |reader| {
            let flows = list_joined(reader, &addresses, &caller, scopes)?;
            let is_shown = |(id, _): &&(RoomId, Flow)| Some(*id) == room;
            let mut shown = flows.iter().find(is_shown).cloned();
            if let Some((room, flow)) = &mut shown {
                add_users(reader, &addresses, *room, flow)?;
            }
            let former = match room {
                Some(room) => reader.members().list_former(room)?,
                None => Vec::new(),
            };
            Ok((
                flows,
                (shown, former),
                reader.rooms().list_conversations(user, None)?,
                PageNotifications::read(reader, &session, user)?,
            ))
        });
        let (flows, (shown, former), conversations, notifications) = read.await?;
        let own = &actor.user()?.user;
        let shown_to_user = conversations
            .iter()
            .map(|conversation| self.messages().show_conversation(own, conversation));
        let conversations: Vec<PrivateConversation> = shown_to_user.collect();
        let rooms: Vec<RoomId> = flows.iter().map(|(room, _)| *room).collect();
        let open = conversations
            .iter()
            .filter(|each| each.open || each.activity.mentions > 0);
        let others: Vec<UserId> = open.map(|each| UserId(each.id)).collect();
        Ok(PageFrame {
            presence: self.presence().presence_over(&rooms, &others),
            flows: flows.into_iter().map(|(_, flow)| flow).collect(),
            shown: shown.map(|(room, flow)| self.flows().with_present_people(room, flow)),
            former: former
                .iter()
                .map(|user| FormerUser::of(user, &self.core().config().addresses.base))
                .collect(),
            conversations,
            notifications,
        })
    }
}
