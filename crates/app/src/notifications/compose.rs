//! What a push message says, and whether it is still to be sent.

use eddyline_model::flows::FlowMembership;
use eddyline_model::messages::{Message, reference};
use eddyline_model::notifications::is_notified_of;
use eddyline_model::{RoomId, UserId};
use eddyline_storage::{QueuedPush, Reader, Result as StoreResult};
use eddyline_webpush::BrowserKeys;
use serde::Serialize;

/// The most characters of a message that a notification shows.
const MAX_TEXT: usize = 240;

/// A push message, ready to be encrypted and sent.
pub(super) struct PushMessage {
    /// Where it goes.
    pub(super) endpoint: String,
    /// What it is encrypted with.
    pub(super) keys: BrowserKeys,
    /// What it says, in JSON.
    pub(super) content: Vec<u8>,
    /// Of several that wait at the push service with the same one, the last stays.
    pub(super) topic: String,
}

/// What the browser reads. It puts the sentence together, in its language.
#[derive(Serialize)]
struct Content<'a> {
    /// Who wrote.
    from: &'a str,
    /// The flow; nothing for a private message.
    flow: Option<&'a str>,
    /// The kind of the message.
    event: &'static str,
    /// What was written, where the user wants to see it.
    text: Option<String>,
    /// The page that shows it, below the root of the pages.
    path: String,
    /// Of several notifications with the same one, the last is shown.
    tag: &'a str,
}

/// `None` when it is not to be sent any more: the message is gone or read, or the user may not read
/// it any more.
pub(super) fn message(
    reader: &mut Reader<'_>,
    queued: &QueuedPush,
) -> StoreResult<Option<PushMessage>> {
    let push = &queued.push;
    let Some(subscription) = reader.notifications().find_subscription(&push.session)? else {
        return Ok(None);
    };
    let Some(message) = reader.messages().find(push.room, push.message)? else {
        return Ok(None);
    };
    let user = subscription.user;
    let is_active = reader.users().find(user)?.is_some_and(|user| user.active);
    if !is_active || !is_notified_of(&message) {
        return Ok(None);
    }
    let Some(target) = target(reader, &message, user)? else {
        return Ok(None);
    };
    let settings = reader.notifications().find_settings(user)?;
    let shows_text = settings.unwrap_or_default().shows_text;
    let from = author(reader, &message)?;
    let topic = format!("room-{}", push.room);
    let content = Content {
        from: &from,
        flow: target.flow.as_deref(),
        event: message.event.as_str(),
        text: shows_text.then(|| excerpt(&message)),
        path: target.path,
        tag: &topic,
    };
    let content = serde_json::to_vec(&content).unwrap_or_default();
    let keys = BrowserKeys::from_bytes(&subscription.p256dh, &subscription.auth).ok();
    Ok(keys.map(|keys| PushMessage {
        endpoint: subscription.endpoint,
        keys,
        content,
        topic,
    }))
}

/// Where a message is read.
struct PushTarget {
    flow: Option<String>,
    path: String,
}

/// Where a user reads a message; `None` when the user may not, or has done so.
fn target(
    reader: &mut Reader<'_>,
    message: &Message,
    user: UserId,
) -> StoreResult<Option<PushTarget>> {
    let membership = reader.members().find(message.room, user)?;
    let is_unread =
        |known: &FlowMembership| !known.blocked && known.has_unread(message.event, message.id);
    if message.to.is_some() {
        let is_read = membership.is_some_and(|known| !is_unread(&known));
        return match is_read {
            true => Ok(None),
            false => private_target(reader, message, user),
        };
    }
    if membership.filter(is_unread).is_none() || was_read_with_thread(reader, message, user)? {
        return Ok(None);
    }
    flow_target(reader, message.room, message)
}

/// Whether a user has read the thread of a message up to it.
fn was_read_with_thread(
    reader: &mut Reader<'_>,
    message: &Message,
    user: UserId,
) -> StoreResult<bool> {
    let root = message.thread_root.unwrap_or(message.id);
    let markers = reader
        .members()
        .list_thread_markers(message.room, user, &[root])?;
    Ok(markers.get(&root).is_some_and(|read| *read >= message.id))
}

fn private_target(
    reader: &mut Reader<'_>,
    message: &Message,
    user: UserId,
) -> StoreResult<Option<PushTarget>> {
    let Some(other) = message.author.user else {
        return Ok(None);
    };
    // Those who share no organization any more have no conversation.
    let conversations = reader.rooms().list_conversations(user, Some(other))?;
    Ok((!conversations.is_empty()).then(|| PushTarget {
        flow: None,
        path: format!("/app/-/private/{other}/messages/{}", message.id),
    }))
}

fn flow_target(
    reader: &mut Reader<'_>,
    room: RoomId,
    message: &Message,
) -> StoreResult<Option<PushTarget>> {
    let Some(flow) = reader.flows().find(room)?.filter(|flow| !flow.disabled) else {
        return Ok(None);
    };
    let Some(organization) = reader.organizations().find(flow.organization)? else {
        return Ok(None);
    };
    Ok(organization.active.then(|| PushTarget {
        path: format!(
            "/app/{}/{}/messages/{}",
            organization.parameterized_name, flow.parameterized_name, message.id
        ),
        flow: Some(flow.name),
    }))
}

fn author(reader: &mut Reader<'_>, message: &Message) -> StoreResult<String> {
    let known = match message.author.user {
        Some(user) => reader.users().find(user)?.map(|user| user.name),
        None => message.author.external_name.clone(),
    };
    Ok(known.unwrap_or_default())
}

fn excerpt(message: &Message) -> String {
    let text = reference(message.event, &message.content);
    let text = match message.event.has_text() {
        true => eddyline_markup::chat_text(&text),
        false => text.into_owned(),
    };
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
