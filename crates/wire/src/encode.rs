//! The one encoder of a message: from what the store holds to what goes over the wire.

use std::collections::{BTreeMap, BTreeSet};

use eddyline_model::messages::{LastMessage, Message, MessageKind, MessageView, ThreadState};
use eddyline_model::pictures::PicturePaths;
use eddyline_model::reactions::{Reaction, Reactions};
use eddyline_model::sources::ThreadSource;
use eddyline_model::tags::Tags;
use eddyline_model::threads::{ThreadIds, ThreadMark, title_of};
use eddyline_model::{FlowId, MessageId, RoomId};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::author::Author;
use crate::messages::ThreadLastMessage;

/// Where a message is shown.
#[derive(Clone, Copy, Debug)]
pub enum RoomRef<'a> {
    /// In a flow.
    Flow(&'a FlowId),
    /// In a private conversation.
    Private,
}

/// Encodes messages. It holds what is the same for all of a server.
#[derive(Clone, Debug)]
pub struct Encoder {
    thread_ids: ThreadIds,
    pictures: PicturePaths,
    classic: bool,
}

impl Encoder {
    /// An encoder that makes thread ids with `thread_ids` and paths of pictures with `pictures`;
    /// `classic` writes the comment tag as old clients expect it, without its leading colon.
    #[must_use]
    pub fn new(thread_ids: ThreadIds, pictures: PicturePaths, classic: bool) -> Self {
        Self {
            thread_ids,
            pictures,
            classic,
        }
    }

    /// The JSON object of a message, compact, without line breaks.
    #[must_use]
    pub fn message(&self, view: &MessageView, place: RoomRef<'_>) -> Vec<u8> {
        let mut json =
            Vec::with_capacity(768 + view.message.content.len() + view.message.tags.shown_len());
        self.write_message(&mut json, view, place);
        json
    }

    /// The id of the thread that a message of a room began.
    #[must_use]
    pub fn thread_id(&self, room: RoomId, root: MessageId) -> String {
        self.thread_ids.encode(room, root)
    }

    /// The paths of pictures.
    #[must_use]
    pub fn pictures(&self) -> &PicturePaths {
        &self.pictures
    }

    /// The JSON object of a thread of a room.
    #[must_use]
    pub fn thread(&self, room: RoomId, state: &ThreadState) -> Vec<u8> {
        let mut json = Vec::with_capacity(1024);
        self.write_thread(&mut json, room, state, None);
        json
    }

    /// A JSON array of threads of a room; with what is new in them where that is given.
    #[must_use]
    pub fn threads(
        &self,
        room: RoomId,
        states: &[ThreadState],
        news: Option<ThreadNews<'_>>,
    ) -> Vec<u8> {
        let mut json = Vec::with_capacity(2 + states.len() * 1024);
        json.push(b'[');
        for (i, state) in states.iter().enumerate() {
            if i > 0 {
                json.push(b',');
            }
            let news = news.map(|news| ShownNews {
                last: news.last.get(&state.root),
                unread: news.unread.map(|unread| unread.contains(&state.root)),
            });
            self.write_thread(&mut json, room, state, news);
        }
        json.push(b']');
        json
    }

    fn write_thread(
        &self,
        json: &mut Vec<u8>,
        room: RoomId,
        state: &ThreadState,
        news: Option<ShownNews<'_>>,
    ) {
        let shown = ShownThread {
            id: self.thread_ids.encode(room, state.root),
            pictures: &self.pictures,
            state,
            news,
        };
        serde_json::to_writer(json, &shown)
            .expect("writing to memory does not fail, and no map has other keys than text");
    }

    /// A JSON array of as many of these messages as fit into so many bytes, counted from their end,
    /// or from their beginning where the `oldest` come first, and how many those are. One is there
    /// in any case.
    #[must_use]
    pub fn messages_within(
        &self,
        views: &[MessageView],
        place: RoomRef<'_>,
        bytes: usize,
        oldest: bool,
    ) -> (Vec<u8>, usize) {
        let mut json = Vec::with_capacity(2 + views.len() * 1024);
        // Where each begins, after its bracket or comma.
        let mut starts = Vec::with_capacity(views.len());
        for view in views {
            json.push(if starts.is_empty() { b'[' } else { b',' });
            starts.push(json.len());
            self.write_message(&mut json, view, place);
            if oldest && json.len() >= bytes && starts.len() > 1 {
                json.truncate(starts.pop().unwrap_or(1) - 1);
                json.push(b']');
                return (json, starts.len());
            }
        }
        if starts.is_empty() {
            return (b"[]".to_vec(), 0);
        }
        json.push(b']');
        let surplus = json.len().saturating_sub(bytes);
        let first = starts
            .iter()
            .position(|start| *start > surplus)
            .unwrap_or(starts.len() - 1);
        if !oldest && first > 0 {
            json.drain(1..starts[first]);
        }
        let left_out = if oldest { 0 } else { first };
        (json, views.len() - left_out)
    }

    /// A JSON array of messages.
    #[must_use]
    pub fn messages(&self, views: &[MessageView], place: RoomRef<'_>) -> Vec<u8> {
        let mut json = Vec::with_capacity(2 + views.len() * 1024);
        json.push(b'[');
        for (i, view) in views.iter().enumerate() {
            if i > 0 {
                json.push(b',');
            }
            self.write_message(&mut json, view, place);
        }
        json.push(b']');
        json
    }

    fn write_message(&self, json: &mut Vec<u8>, view: &MessageView, place: RoomRef<'_>) {
        let shown = MessageJson {
            view,
            place,
            encoder: self,
        };
        serde_json::to_writer(json, &shown)
            .expect("writing to memory does not fail, and no map has other keys than text");
    }
}

struct MessageJson<'a> {
    view: &'a MessageView,
    place: RoomRef<'a>,
    encoder: &'a Encoder,
}

impl MessageJson<'_> {
    /// Private messages bear tags in the classic profile only (specification, section 2).
    fn tags(&self) -> Option<&Tags> {
        match self.place {
            RoomRef::Private if !self.encoder.classic => None,
            _ => Some(&self.view.message.tags),
        }
    }
}

impl Serialize for MessageJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let message = &self.view.message;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &message.id.0)?;
        map.serialize_entry("event", message.event.as_str())?;
        map.serialize_entry("content", &Content(self.view))?;
        let mut inbox = inbox(message);
        if let Some(inbox) = &mut inbox {
            if let Some(author) = &mut inbox.author {
                author.find_path(&self.encoder.pictures);
            }
            map.serialize_entry("author", &inbox.author)?;
            map.serialize_entry("title", inbox.title)?;
            map.serialize_entry("body", inbox.body)?;
        }
        map.serialize_entry(
            "tags",
            &ShownTags {
                tags: self.tags(),
                classic: self.encoder.classic,
            },
        )?;
        map.serialize_entry("app", &message.event.app())?;
        map.serialize_entry("emojiReactions", &ShownReactions(&self.view.reactions))?;
        map.serialize_entry("uuid", &message.uuid)?;
        map.serialize_entry("user", &Text(message.author.user.map_or(0, |user| user.0)))?;
        map.serialize_entry("sent", &message.sent.0)?;
        match self.place {
            RoomRef::Flow(id) => map.serialize_entry("flow", &id.0)?,
            RoomRef::Private => {
                map.serialize_entry("to", &Text(message.to.map_or(0, |user| user.0)))?;
            }
        }
        match (&inbox, message.event) {
            (Some(inbox), _) => map.serialize_entry("attachments", inbox.attachments)?,
            (None, MessageKind::File) => {
                map.serialize_entry("attachments", &[Content(self.view)])?;
            }
            (None, _) => map.serialize_entry("attachments", &[(); 0])?,
        }
        map.serialize_entry("created_at", &Text(message.sent))?;
        map.serialize_entry("edited", &message.edited.map(|at| at.0))?;
        map.serialize_entry("edited_at", &message.edited.map(Text))?;
        if message.author.user.is_none() {
            map.serialize_entry("external_user_name", &message.author.external_name)?;
        }
        let thread = self.view.thread.as_ref().map(|state| ShownThread {
            id: self.encoder.thread_ids.encode(message.room, state.root),
            pictures: &self.encoder.pictures,
            state,
            news: None,
        });
        map.serialize_entry("thread_id", &thread.as_ref().map(|thread| &thread.id))?;
        map.serialize_entry("thread", &thread)?;
        map.end()
    }
}

/// Anything as a JSON text, without a detour over a `String`.
struct Text<T>(T);

impl<T: std::fmt::Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// What an activity or a discussion holds, each part but the author as it was kept.
#[derive(serde::Deserialize)]
struct Inbox<'a> {
    author: Option<Author>,
    #[serde(borrow)]
    title: &'a RawValue,
    #[serde(borrow)]
    body: &'a RawValue,
    #[serde(borrow)]
    attachments: &'a RawValue,
}

fn inbox(message: &Message) -> Option<Inbox<'_>> {
    let has_parts = matches!(
        message.event,
        MessageKind::Activity | MessageKind::Discussion
    );
    has_parts
        .then(|| serde_json::from_str(&message.content).ok())
        .flatten()
}

struct Content<'a>(&'a MessageView);

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let message = &self.0.message;
        match message.event {
            MessageKind::Message | MessageKind::Status => {
                serializer.serialize_str(&message.content)
            }
            MessageKind::Comment => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("title", self.0.parent_text.as_deref().unwrap_or_default())?;
                map.serialize_entry("text", &message.content)?;
                map.end()
            }
            MessageKind::Activity | MessageKind::Discussion => serializer.serialize_none(),
            _ => match serde_json::from_str::<&RawValue>(&message.content) {
                Ok(document) => document.serialize(serializer),
                Err(_) => serializer.serialize_none(),
            },
        }
    }
}

struct ShownTags<'a> {
    tags: Option<&'a Tags>,
    classic: bool,
}

impl Serialize for ShownTags<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(None)?;
        for tag in self.tags.into_iter().flat_map(Tags::iter) {
            match tag.strip_prefix(':') {
                Some(rest) if self.classic && rest.starts_with("influx:") => {
                    seq.serialize_element(rest)?;
                }
                _ => seq.serialize_element(&tag)?,
            }
        }
        seq.end()
    }
}

/// Emoji, and who reacted with each.
struct ShownReactions<'a>(&'a Reactions);

impl Serialize for ShownReactions<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for Reaction { emoji, users } in self.0.iter() {
            map.serialize_key(emoji)?;
            map.serialize_value(&users.iter().map(|user| user.0).collect::<Vec<_>>())?;
        }
        map.end()
    }
}

/// What is new in the threads of a list, each thread under what began it.
#[derive(Clone, Copy, Debug)]
pub struct ThreadNews<'a> {
    /// The last message of each.
    pub last: &'a BTreeMap<MessageId, LastMessage>,
    /// Those that the reader of the list has not read; `None` for a reader who is no user.
    pub unread: Option<&'a BTreeSet<MessageId>>,
}

/// What is new in one thread.
struct ShownNews<'a> {
    last: Option<&'a LastMessage>,
    unread: Option<bool>,
}

struct ShownThread<'a> {
    id: String,
    pictures: &'a PicturePaths,
    state: &'a ThreadState,
    /// Where it is shown.
    news: Option<ShownNews<'a>>,
}

impl Serialize for ShownThread<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let counts = &self.state.counts;
        let mut map = serializer.serialize_map(Some(15))?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("mark", &ThreadMark::of(&self.id).number())?;
        if let Some(item) = &self.state.item {
            map.serialize_entry("title", &item.title)?;
            map.serialize_entry("body", &item.body)?;
            map.serialize_entry("external_url", &item.external_url)?;
            map.serialize_entry("status", &item.status)?;
            map.serialize_entry("actions", &item.actions)?;
            map.serialize_entry("fields", &item.fields)?;
        } else {
            let none: Option<()> = None;
            map.serialize_entry("title", &title_of(&self.state.root_text))?;
            map.serialize_entry("body", "")?;
            map.serialize_entry("external_url", &none)?;
            map.serialize_entry("status", &none)?;
            map.serialize_entry("actions", &[(); 0])?;
            map.serialize_entry("fields", &[(); 0])?;
        }
        let source = self.state.source.as_deref();
        map.serialize_entry(
            "source",
            &source.map(|source| ThreadSourceJson(source, self.pictures)),
        )?;
        map.serialize_entry("activities", &counts.activities)?;
        map.serialize_entry("internal_comments", &counts.internal_comments)?;
        map.serialize_entry("external_comments", &counts.external_comments)?;
        map.serialize_entry("initial_message", &self.state.root.0)?;
        map.serialize_entry("updated_at", &Text(counts.updated_at))?;
        map.serialize_entry("created_at", &Text(counts.created_at))?;
        if let Some(news) = &self.news {
            map.serialize_entry("last_message", &news.last.map(last_message))?;
            if let Some(unread) = news.unread {
                map.serialize_entry("unread", &unread)?;
            }
        }
        map.end()
    }
}

fn last_message(last: &LastMessage) -> ThreadLastMessage {
    ThreadLastMessage {
        id: last.id.0,
        event: last.event.as_str().to_owned(),
        user: last.user.map_or(0, |user| user.0).to_string(),
        author_name: last.author_name.clone(),
        text: last.text.clone(),
        sent: last.sent.0,
    }
}

/// What a thread shows of the source that keeps it.
struct ThreadSourceJson<'a>(&'a ThreadSource, &'a PicturePaths);

impl Serialize for ThreadSourceJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.0.id.0)?;
        let icon = &self.0.icon;
        map.serialize_entry("icon", icon)?;
        if let Some(path) = icon.as_ref().and_then(|icon| self.1.path(icon)) {
            map.serialize_entry("icon_path", &path)?;
        }
        map.serialize_entry("application", &self.0.application)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eddyline_model::messages::{Author, Message as Stored, ThreadCounts};
    use eddyline_model::{Timestamp, UserId};

    fn view(event: MessageKind, content: &str, parent_text: Option<&str>) -> MessageView {
        let sent = Timestamp(1_700_000_000_007);
        MessageView {
            message: Stored {
                room: RoomId(3),
                id: MessageId(9),
                event,
                author: Author::user(UserId(4)),
                content: content.into(),
                tags: vec![":influx:2".to_owned(), "todo".to_owned()].into(),
                explicit_tags: vec![],
                uuid: Some("u".into()),
                sent,
                edited: None,
                thread_root: Some(MessageId(2)),
                parent: parent_text.map(|_| MessageId(2)),
                to: Some(UserId(5)),
            },
            parent_text: parent_text.map(str::to_owned),
            thread: Some(ThreadState {
                root: MessageId(2),
                root_text: "a < b".into(),
                counts: ThreadCounts::begun_by(MessageKind::Message, sent),
                item: None,
                source: None,
            }),
            reactions: Reactions::default(),
            subject: None,
        }
    }

    fn encoder(classic: bool) -> Encoder {
        let pictures = PicturePaths::new(b"key", "https://chat.example", true);
        Encoder::new(ThreadIds::new(b"key"), pictures, classic)
    }

    #[test]
    fn an_encoded_message_is_read_back_by_the_shape_of_clients() {
        let flow = FlowId("f-1".into());
        let json = encoder(false).message(
            &view(MessageKind::Comment, "yes\r\n", Some("why?")),
            RoomRef::Flow(&flow),
        );
        assert!(!json.contains(&b'\r') && !json.contains(&b'\n'));
        let message: crate::Message = serde_json::from_slice(&json).unwrap();
        assert_eq!(
            (message.id, message.event.as_str(), message.user.as_str()),
            (9, "comment", "4")
        );
        assert_eq!(
            message.content,
            serde_json::json!({"title": "why?", "text": "yes\r\n"})
        );
        assert_eq!(message.flow.as_deref(), Some("f-1"));
        assert_eq!(message.created_at, "2023-11-14T22:13:20.007Z");
        assert_eq!(message.tags, [":influx:2", "todo"]);
        let thread = message.thread.unwrap();
        assert_eq!(
            (thread.title.as_str(), thread.internal_comments),
            ("a &lt; b", 1)
        );
        assert_eq!(thread.mark, ThreadMark::of(&thread.id).number());
        assert_eq!(Some(thread.id), message.thread_id);
    }

    #[test]
    fn a_message_shows_who_reacted_in_the_order_in_which_they_did() {
        let reactions = |view: &MessageView| {
            let json = encoder(false).message(view, RoomRef::Private);
            let message: crate::Message = serde_json::from_slice(&json).unwrap();
            (String::from_utf8(json).unwrap(), message.emoji_reactions)
        };
        let mut view = view(MessageKind::Message, "tea?", None);
        let (json, read) = reactions(&view);
        assert!(json.contains(r#""emojiReactions":{}"#), "{json}");
        assert!(read.is_empty());
        for (emoji, user) in [("👍", 7), ("🎉", 4), ("👍", 4)] {
            view.reactions.push(emoji, UserId(user));
        }
        let (json, read) = reactions(&view);
        assert!(
            json.contains(r#""emojiReactions":{"👍":[7,4],"🎉":[4]}"#),
            "{json}"
        );
        assert_eq!(read["👍"], [7, 4]);
    }

    #[test]
    fn a_list_that_is_too_long_keeps_the_end_that_counts() {
        let (encoder, view) = (encoder(false), view(MessageKind::Message, "x", None));
        let views = vec![view; 3];
        let all = encoder.messages(&views, RoomRef::Private);
        let two = encoder.messages(&views[1..], RoomRef::Private);
        for oldest in [true, false] {
            let within = |bytes| encoder.messages_within(&views, RoomRef::Private, bytes, oldest);
            assert_eq!(within(all.len()), (all.clone(), 3));
            assert_eq!(within(all.len() - 1), (two.clone(), 2), "oldest: {oldest}");
            assert_eq!(within(two.len()), (two.clone(), 2));
            assert_eq!(within(two.len() - 1).1, 1);
            assert_eq!(within(0).1, 1);
            assert_eq!(
                encoder.messages_within(&[], RoomRef::Private, 0, oldest),
                (b"[]".to_vec(), 0)
            );
        }
    }

    #[test]
    fn the_classic_profile_writes_the_comment_tag_without_its_colon() {
        let json = encoder(true).message(&view(MessageKind::Message, "x", None), RoomRef::Private);
        let message: crate::Message = serde_json::from_slice(&json).unwrap();
        assert_eq!(message.tags, ["influx:2", "todo"]);
        assert_eq!((message.to.as_deref(), message.flow), (Some("5"), None));
    }

    #[test]
    fn private_messages_bear_tags_in_the_classic_profile_only() {
        let view = view(MessageKind::Message, "x", None);
        let tags = |classic| {
            let json = encoder(classic).message(&view, RoomRef::Private);
            serde_json::from_slice::<crate::Message>(&json)
                .unwrap()
                .tags
        };
        assert_eq!(tags(true), ["influx:2", "todo"]);
        assert!(tags(false).is_empty());
    }

    #[test]
    fn pictures_of_integrations_have_paths_of_the_pages() {
        let avatar = "https://tracker.example/zoe.png";
        // A path that was kept counts for nothing.
        let kept = serde_json::json!({
            "author": {"name": "Zoë", "avatar": avatar, "avatar_path": "/kept"},
            "title": "x", "body": "", "attachments": [],
        });
        let mut view = view(MessageKind::Activity, &kept.to_string(), None);
        let icon = "https://tracker.example/icon.png";
        view.thread.as_mut().unwrap().source = Some(std::sync::Arc::new(ThreadSource {
            id: eddyline_model::SourceId(4),
            icon: Some(icon.into()),
            application: "Tracker".into(),
        }));
        let encoder = encoder(false);
        let json = encoder.message(&view, RoomRef::Private);
        let message: crate::Message = serde_json::from_slice(&json).unwrap();
        let author = message.author.unwrap();
        assert_eq!(author.avatar.as_deref(), Some(avatar));
        assert_eq!(author.avatar_path, encoder.pictures().path(avatar));
        let source = message.thread.unwrap().source.unwrap();
        assert_eq!(source["icon"], icon);
        assert_eq!(
            source["icon_path"].as_str(),
            encoder.pictures().path(icon).as_deref()
        );
    }

    #[test]
    fn documents_go_out_as_they_are() {
        let json = encoder(false).message(
            &view(
                MessageKind::Action,
                r#"{"type":"join","description":"x"}"#,
                None,
            ),
            RoomRef::Private,
        );
        let message: crate::Message = serde_json::from_slice(&json).unwrap();
        assert_eq!(message.content["type"], "join");
    }
}
