//! What each entry of the log looks like on the stream, and whom it is for.

use std::sync::Arc;

use eddyline_model::log::{Control, LogBody, LogItem};
use eddyline_model::messages::MessageView;
use eddyline_model::reading::ReadMarker;
use eddyline_model::{EventId, FlowId, MessageId, RoomId, UserId};
use eddyline_storage::{Reader, Result as StoreResult};
use eddyline_streaming::{Amendment, Audience, Entry};
use eddyline_wire::{Encoder, Flow, RoomRef};
use quick_cache::sync::Cache;
use serde_json::{Value, json};

use crate::addresses::Addresses;
use crate::flow_view;
use crate::flow_view::CredentialScopes;
use crate::html::add_html;
use crate::ring_index::AmendedEntries;

/// About how many bytes a short message takes on the stream.
const ENVELOPE: usize = 600;

/// Writes the entries of the stream.
#[derive(Clone)]
pub(crate) struct EntryEncoder {
    encoder: Arc<Encoder>,
    addresses: Addresses,
    /// A flow's id never changes.
    flow_ids: Arc<Cache<RoomId, Arc<FlowId>>>,
}

impl EntryEncoder {
    pub(crate) fn new(encoder: Encoder, addresses: Addresses) -> Self {
        Self {
            encoder: Arc::new(encoder),
            addresses,
            flow_ids: Arc::new(Cache::new(100_000)),
        }
    }

    /// The entry of an item for which nothing needs to be looked up; `None` when something does.
    pub(crate) fn encode_known(&self, item: &LogItem) -> Option<Option<Entry>> {
        match &item.body {
            LogBody::Message(None) => Some(None),
            LogBody::Message(Some(view)) if !view.is_deliverable() => Some(None),
            LogBody::Message(Some(view)) => {
                if view.message.to.is_some() {
                    return Some(Some(self.private_message(item.id, view)));
                }
                let flow = self.flow_ids.get(&view.message.room)?;
                Some(Some(self.message(item.id, view, &flow)))
            }
            LogBody::Control(
                Control::Revoked { .. }
                | Control::CredentialEnd { .. }
                | Control::GrantEnd { .. }
                | Control::OrganizationRemove { .. }
                | Control::OrganizationChange
                | Control::GroupChange { .. }
                | Control::FlowTokens { .. }
                | Control::FlowArchive { .. },
            ) => Some(None),
            LogBody::Control(_) => None,
        }
    }

    /// Whether something needs to be looked up for the entry of an item.
    pub(crate) fn needs_look_up(&self, item: &LogItem) -> bool {
        match &item.body {
            LogBody::Message(Some(view)) if view.is_deliverable() && view.message.to.is_none() => {
                self.flow_ids.get(&view.message.room).is_none()
            }
            LogBody::Message(_) => false,
            LogBody::Control(_) => self.encode_known(item).is_none(),
        }
    }

    /// What streams have to amend of entries that they were told.
    pub(crate) fn amendment(&self, amended: &AmendedEntries) -> Option<Amendment> {
        let LogBody::Message(Some(cause)) = &amended.cause.body else {
            return None;
        };
        let mut log_through = amended.log_through;
        let entries = amended.items.iter().map(|item| {
            let entry = self.encode_known(item).unwrap_or_else(|| {
                // Its flow is not known any more. The log knows it.
                log_through = log_through.max(item.id.seq);
                None
            });
            (item.id.seq, entry.map(Arc::new))
        });
        let entries = entries.collect();
        Some(Amendment {
            audience: audience_of(cause),
            entries,
            log_through,
        })
    }

    /// The amendment for the streams of a user who has left a flow: it takes back the `flow-add`
    /// that described the flow to the user, so that a replay does not show the flow any more.
    pub(crate) fn flow_removed(item: &LogItem) -> Option<Amendment> {
        let LogBody::Control(Control::FlowRemove { user, .. }) = item.body else {
            return None;
        };
        Some(Amendment {
            audience: Audience::User(user),
            entries: Vec::new(),
            log_through: item.id.seq,
        })
    }

    /// The entry of an item; `None` when it is not for the stream, or is of something gone.
    pub(crate) fn encode(
        &self,
        reader: &mut Reader<'_>,
        item: &LogItem,
    ) -> StoreResult<Option<Entry>> {
        if let Some(known) = self.encode_known(item) {
            return Ok(known);
        }
        match &item.body {
            LogBody::Message(None) => Ok(None),
            LogBody::Message(Some(view)) => {
                let flow = self.flow_id(reader, view.message.room)?;
                Ok(flow.map(|flow| self.message(item.id, view, &flow)))
            }
            LogBody::Control(control) => self.control(reader, item.id, control),
        }
    }

    /// Takes note of a flow's id, which spares looking it up.
    pub(crate) fn learn_flow_id(&self, room: RoomId, flow: &FlowId) {
        if self.flow_ids.get(&room).is_none() {
            self.flow_ids.insert(room, Arc::new(flow.clone()));
        }
    }

    /// The id of a flow that was on the stream before, or is listened to.
    pub(crate) fn known_flow_id(&self, room: RoomId) -> Option<Arc<FlowId>> {
        self.flow_ids.get(&room)
    }

    fn flow_id(&self, reader: &mut Reader<'_>, room: RoomId) -> StoreResult<Option<Arc<FlowId>>> {
        if let Some(id) = self.flow_ids.get(&room) {
            return Ok(Some(id));
        }
        let Some(flow) = reader.flows().find(room)? else {
            return Ok(None);
        };
        let id = Arc::new(flow.id);
        self.flow_ids.insert(room, id.clone());
        Ok(Some(id))
    }

    fn message(&self, id: EventId, view: &Arc<MessageView>, flow: &Arc<FlowId>) -> Entry {
        let (encoder, view, flow) = (
            Arc::clone(&self.encoder),
            Arc::clone(view),
            Arc::clone(flow),
        );
        let room = audience_of(&view);
        Entry::later(id, room, ENVELOPE + view.weight(), move || {
            encoder.message(&view, RoomRef::Flow(&flow))
        })
        .with_html(add_html)
    }

    fn private_message(&self, id: EventId, view: &Arc<MessageView>) -> Entry {
        let (encoder, view) = (Arc::clone(&self.encoder), Arc::clone(view));
        let audience = audience_of(&view);
        Entry::later(id, audience, ENVELOPE + view.weight(), move || {
            encoder.message(&view, RoomRef::Private)
        })
        .with_html(add_html)
    }

    fn control(
        &self,
        reader: &mut Reader<'_>,
        id: EventId,
        control: &Control,
    ) -> StoreResult<Option<Entry>> {
        let told = match *control {
            Control::FlowAdd { room, user } => {
                // The encoder learns the flow's id here, so that presence events name the flow.
                self.flow_id(reader, room)?;
                // The flow is described as it is now, which is for those who are still in it.
                let flow = flow_view::describe_at(
                    reader,
                    &self.addresses,
                    (room, user),
                    CredentialScopes::ALL,
                )?;
                return Ok(flow
                    .filter(|flow| flow.joined)
                    .map(|flow| flow_add(id, user, flow)));
            }
            Control::FlowRemove { room, user } => {
                let flow = self.flow_id(reader, room)?;
                flow.map(|flow| {
                    let content = json!({"id": flow.0});
                    (
                        Audience::User(user),
                        json!({"event": "flow-remove", "user": "0", "content": content}),
                    )
                })
            }
            Control::UserJoin { room, user } => {
                let flow = self.flow_id(reader, room)?;
                let person = short(reader, user)?;
                flow.zip(person).map(|(flow, person)| {
                    to_flow(room, &flow, "backend.user.join", &json!({"user": person}))
                })
            }
            Control::UserBlock { room, user } => {
                let flow = self.flow_id(reader, room)?;
                flow.map(|flow| {
                    to_flow(room, &flow, "backend.user.block", &json!(user.to_string()))
                })
            }
            Control::FlowChange { room } => {
                // The encoder learns the flow's id here, so that presence events name the flow.
                self.flow_id(reader, room)?;
                let flow = reader.flows().find(room)?;
                flow.map(|flow| {
                    let content = json!({
                        "id": flow.id.0,
                        "name": flow.name,
                        "parameterized_name": flow.parameterized_name,
                        "description": flow.description,
                        "access_mode": flow.access_mode.as_str(),
                        "disabled": flow.disabled,
                    });
                    to_flow(room, &flow.id, "flow-change", &content)
                })
            }
            Control::UserEdit { user } => {
                let rooms = reader
                    .members()
                    .list_rooms_of_user(user)?
                    .into_boxed_slice();
                let content = short(reader, user)?.map(|person| json!({"user": person}));
                content.map(|content| {
                    let audience = Audience::Many {
                        rooms,
                        users: Box::new([user]),
                    };
                    (
                        audience,
                        json!({"event": "user-edit", "user": user.to_string(), "content": content}),
                    )
                })
            }
            Control::Read {
                room,
                user,
                marker,
                message,
            } => self
                .read_content(reader, (room, user), marker, message)?
                .map(|content| (Audience::User(user), read_event(user, &content))),
            Control::ThreadRead { room, user, root } => self
                .thread_read_content(reader, (room, user), root)?
                .map(|content| (Audience::User(user), read_event(user, &content))),
            Control::Revoked { .. }
            | Control::CredentialEnd { .. }
            | Control::GrantEnd { .. }
            | Control::OrganizationRemove { .. }
            | Control::OrganizationChange
            | Control::GroupChange { .. }
            | Control::FlowTokens { .. }
            | Control::FlowArchive { .. } => None,
        };
        Ok(told.map(|(audience, object)| Entry::new(id, audience, object.to_string().as_bytes())))
    }

    /// Up to where somebody has read, and in which flow, or with whom.
    fn read_content(
        &self,
        reader: &mut Reader<'_>,
        (room, user): (RoomId, UserId),
        marker: Option<ReadMarker>,
        message: MessageId,
    ) -> StoreResult<Option<Value>> {
        if let Some(flow) = self.flow_id(reader, room)? {
            let mut content = json!({"flow": flow.0, "message": message.0});
            if let Some(marker) = marker {
                content["marker"] = marker.as_str().into();
            }
            return Ok(Some(content));
        }
        let users = reader.rooms().find_private_users(room)?;
        Ok(users.map(|(one, other)| {
            let to = if one == user { other } else { one };
            json!({"to": to.to_string(), "message": message.0})
        }))
    }

    /// The message up to which the user has read a thread by now.
    fn thread_read_content(
        &self,
        reader: &mut Reader<'_>,
        (room, user): (RoomId, UserId),
        root: MessageId,
    ) -> StoreResult<Option<Value>> {
        let (Some(flow), Some(membership)) = (
            self.flow_id(reader, room)?,
            reader.members().find(room, user)?,
        ) else {
            return Ok(None);
        };
        let markers = reader.members().list_thread_markers(room, user, &[root])?;
        let read = markers.get(&root).copied();
        // What stands before both markers is not remembered for each thread.
        let both = membership.read_up_to.min(membership.inbox_read_up_to);
        let message = read.unwrap_or(both);
        let thread = self.encoder.thread_id(room, root);
        Ok(Some(
            json!({"flow": flow.0, "thread_id": thread, "message": message.0}),
        ))
    }
}

fn read_event(user: UserId, content: &Value) -> Value {
    json!({"event": "read", "user": user.to_string(), "content": content})
}

/// Tells a user of a flow they are in now. Only streams of credentials that may manage members get
/// its join link.
fn flow_add(id: EventId, user: UserId, mut flow: Flow) -> Entry {
    let object =
        |flow: &Flow| json!({"event": "flow-add", "user": "0", "content": flow}).to_string();
    let entry = Entry::new(id, Audience::User(user), object(&flow).as_bytes());
    match flow.join_url.take() {
        Some(_) => entry.with_restricted(object(&flow).as_bytes()),
        None => entry,
    }
}

/// Who hears a message: those in its flow, or both who are in a private conversation.
fn audience_of(view: &MessageView) -> Audience {
    let message = &view.message;
    let Some(to) = message.to else {
        return Audience::Room(message.room);
    };
    let users = message
        .author
        .user
        .into_iter()
        .filter(|from| *from != to)
        .chain([to])
        .collect();
    Audience::Many {
        rooms: Box::default(),
        users,
    }
}

fn to_flow(room: RoomId, flow: &FlowId, event: &str, content: &Value) -> (Audience, Value) {
    let object = json!({"event": event, "flow": flow.0, "user": "0", "content": content});
    (Audience::Room(room), object)
}

fn short(reader: &mut Reader<'_>, user: UserId) -> StoreResult<Option<Value>> {
    Ok(reader
        .users()
        .find(user)?
        .map(|user| json!({"id": user.id.0, "nick": user.nick})))
}
