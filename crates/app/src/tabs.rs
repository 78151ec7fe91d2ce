//! The order of the tabs that a user's clients show.

use std::collections::BTreeSet;

use eddyline_model::policy::{FlowAction, MessageAction};
use eddyline_model::scopes::Scope;
use eddyline_model::{RoomId, UserId};
use eddyline_storage::TabKind;

use crate::actor::Actor;
use crate::streams::with_flow_name;
use crate::{App, Error, Result};

/// An order of tabs. What is not named stands behind what is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TabOrder {
    /// Flows, by id, `organization/flow` or `organization:flow`; `None` leaves their order.
    pub flows: Option<Vec<String>>,
    /// The other users of private conversations; `None` leaves their order.
    pub conversations: Option<Vec<UserId>>,
}

impl App {
    /// Sets the order of the caller's tabs.
    ///
    /// # Errors
    ///
    /// [`Error::not_found`] or [`Error::denied`] for a flow that the caller is not in and for a
    /// user with whom the caller has no conversation; [`Error::invalid`] for an order with neither list;
    /// [`Error::unavailable`].
    pub async fn order_tabs(&self, actor: &Actor, order: &TabOrder) -> Result<()> {
        let user = actor.user()?.user.id;
        let mut changes = Vec::new();
        if let Some(flows) = &order.flows {
            actor.require_any(&[Scope::Flow])?;
            changes.push((TabKind::Flows, self.flow_rooms(actor, flows).await?));
        }
        if let Some(others) = &order.conversations {
            actor.require_any(&[Scope::Private])?;
            let rooms = self.conversation_rooms(actor, others).await?;
            changes.push((TabKind::Conversations, rooms));
        }
        if changes.is_empty() {
            let text = "is required unless conversations is given";
            return Err(Error::invalid("flows", text));
        }
        let write = self.core().transaction_as(actor, move |tx, _| {
            for (kind, order) in &changes {
                tx.members().set_tab_order(user, *kind, order)?;
            }
            Ok(())
        });
        write.await?;
        Ok(())
    }

    async fn flow_rooms(&self, actor: &Actor, names: &[String]) -> Result<Vec<RoomId>> {
        let mut rooms = Vec::with_capacity(names.len());
        for name in names {
            let found = self.rooms().find_named(actor, name, FlowAction::Read).await;
            rooms.push(found.map_err(|error| with_flow_name(error, name))?.id());
        }
        Ok(each_once(&rooms))
    }

    async fn conversation_rooms(&self, actor: &Actor, others: &[UserId]) -> Result<Vec<RoomId>> {
        let mut rooms = Vec::with_capacity(others.len());
        for with in others {
            let room = self.rooms().private(actor, *with, MessageAction::Read);
            let id = room.await?.id().ok_or_else(Error::not_found);
            rooms.push(id.map_err(|error| error.with_message(format!("not found: {with}")))?);
        }
        Ok(each_once(&rooms))
    }
}

/// Each room where it is named first.
fn each_once(rooms: &[RoomId]) -> Vec<RoomId> {
    let mut seen = BTreeSet::new();
    let rooms = rooms.iter().copied();
    rooms.filter(|room| seen.insert(*room)).collect()
}
