//! What is told, to whom, and who wants to hear it.

use std::fmt;
use std::slice;
use std::sync::{Arc, LazyLock, OnceLock};

use eddyline_model::{EventId, RoomId, Seq, UserId};

use crate::framing::{self, Frame, StreamFormat};

type Encode = Box<dyn FnOnce() -> Frame + Send>;

/// Makes the object with the HTML of its text from the object without.
pub type AddHtml = fn(&[u8]) -> Vec<u8>;

/// One thing to tell: an encoded JSON object, its audience, and its place in the log.
///
/// It is encoded once and shared by all listeners: the object, if not before, and the frame of each
/// [`StreamFormat`] when the first listener needs them.
pub struct Entry {
    id: Option<EventId>,
    audience: Audience,
    /// What listeners without full detail get in its place.
    restricted: Option<Arc<Entry>>,
    size: usize,
    /// The object and CR LF, which is the whole frame of the plain JSON stream.
    line: LazyLock<Frame, Encode>,
    with_id: OnceLock<Frame>,
    sse: OnceLock<Frame>,
    /// `None` for an object that has no text.
    add_html: Option<AddHtml>,
    sse_with_html: OnceLock<Frame>,
}

impl Entry {
    /// An entry of the log. `object` is one JSON object in compact form, from `{` to `}`, without
    /// CR and LF.
    #[must_use]
    pub fn new(id: EventId, audience: Audience, object: &[u8]) -> Self {
        Self::make(Some(id), audience, object)
    }

    /// An object that has no place in the log.
    pub(crate) fn without_id(audience: Audience, object: &[u8]) -> Self {
        Self::make(None, audience, object)
    }

    /// An entry of the log whose object, of about `size` bytes, is made when somebody hears it:
    /// most of what is told in a quiet room is heard by nobody. `encode` gives what [`Entry::new`]
    /// takes.
    #[must_use]
    pub fn later(
        id: EventId,
        audience: Audience,
        size: usize,
        encode: impl FnOnce() -> Vec<u8> + Send + 'static,
    ) -> Self {
        Self {
            id: Some(id),
            audience: audience.normalized(),
            restricted: None,
            size,
            line: LazyLock::new(Box::new(move || line(&encode()))),
            with_id: OnceLock::new(),
            sse: OnceLock::new(),
            add_html: None,
            sse_with_html: OnceLock::new(),
        }
    }

    /// The same entry, whose object `add_html` can extend for listeners that want HTML.
    #[must_use]
    pub fn with_html(mut self, add_html: AddHtml) -> Self {
        self.add_html = Some(add_html);
        self
    }

    /// The same entry, of which listeners without full detail get `object` in its place.
    #[must_use]
    pub fn with_restricted(mut self, object: &[u8]) -> Self {
        let restricted = Self::make(self.id, self.audience.clone(), object);
        self.restricted = Some(Arc::new(restricted));
        self
    }

    /// The entry as a listener without full detail gets it, where it differs.
    pub(crate) fn restricted(&self) -> Option<&Arc<Self>> {
        self.restricted.as_ref()
    }

    fn make(id: Option<EventId>, audience: Audience, object: &[u8]) -> Self {
        let line = line(object);
        Self {
            id,
            audience: audience.normalized(),
            restricted: None,
            size: object.len(),
            line: LazyLock::new(Box::new(move || line)),
            with_id: OnceLock::new(),
            sse: OnceLock::new(),
            add_html: None,
            sse_with_html: OnceLock::new(),
        }
    }

    /// The id that the entry bears on the stream. `None` for what is not stored.
    #[must_use]
    pub fn id(&self) -> Option<EventId> {
        self.id
    }

    /// The position in the log; 0 for what is not stored.
    pub(crate) fn seq(&self) -> Seq {
        self.id.unwrap_or_default().seq
    }

    /// Whom it is for.
    #[must_use]
    pub fn audience(&self) -> &Audience {
        &self.audience
    }

    /// The encoded object alone.
    #[must_use]
    pub fn object(&self) -> &[u8] {
        let line = self.line.data();
        &line[..line.len() - framing::LINE_END.len()]
    }

    /// The bytes that go to a listener of `format`, end of frame included.
    #[must_use]
    pub fn frame(&self, format: StreamFormat) -> &Frame {
        match (format, self.id) {
            (StreamFormat::Json, _) | (StreamFormat::JsonWithIds, None) => &self.line,
            (StreamFormat::JsonWithIds, Some(id)) => self
                .with_id
                .get_or_init(|| framing::json_with_id(self.object(), id)),
            (StreamFormat::Sse, id) => self.sse.get_or_init(|| framing::sse(self.object(), id)),
            (StreamFormat::SseWithHtml, id) => match self.add_html {
                Some(add_html) => self
                    .sse_with_html
                    .get_or_init(|| framing::sse(&add_html(self.object()), id)),
                None => self.frame(StreamFormat::Sse),
            },
        }
    }

    /// About how many bytes its frame has, without HTML. It is the same for all formats, so that
    /// nothing is encoded just to be counted.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size + framing::LINE_END.len() + framing::SSE_OVERHEAD
    }
}

fn line(object: &[u8]) -> Frame {
    debug_assert!(
        object.starts_with(b"{") && object.ends_with(b"}"),
        "an entry is an object"
    );
    debug_assert!(
        !object.iter().any(|b| matches!(b, b'\r' | b'\n')),
        "an entry is one line"
    );
    Frame::of(&[object, framing::LINE_END])
}

/// Shows where the entry stands and whom it is for, not what it says.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("id", &self.id.map(|id| id.to_string()))
            .field("audience", &self.audience)
            .finish_non_exhaustive()
    }
}

/// Whom an entry is for. A listener that it concerns in several ways gets it once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Everyone who listens to the room.
    Room(RoomId),
    /// The own streams of one user (`user=1`).
    User(UserId),
    /// Everyone who listens to one of the rooms, and the own streams of the users.
    Many {
        /// The rooms.
        rooms: Box<[RoomId]>,
        /// The users.
        users: Box<[UserId]>,
    },
}

impl Audience {
    fn parts(&self) -> (&[RoomId], &[UserId]) {
        match self {
            Self::Room(room) => (slice::from_ref(room), &[]),
            Self::User(user) => (&[], slice::from_ref(user)),
            Self::Many { rooms, users } => (rooms, users),
        }
    }

    pub(crate) fn topics(&self) -> impl Iterator<Item = Topic> {
        let (rooms, users) = self.parts();
        let rooms = rooms.iter().copied().map(Topic::Room);
        rooms.chain(users.iter().copied().map(Topic::User))
    }

    /// Each room and user once, so that the ring files an entry once under each topic.
    fn normalized(self) -> Self {
        match self {
            Self::Many { rooms, users } => Self::Many {
                rooms: sorted(rooms.into_vec()).into(),
                users: sorted(users.into_vec()).into(),
            },
            one => one,
        }
    }
}

/// What a listener wants to hear, and may: rooms, and with `user=1` what is sent to the user
/// (specification, section 4, "Streaming").
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SubscriptionFilter {
    rooms: Box<[RoomId]>,
    user: Option<UserId>,
    /// After which entry each room is listened to that was added later.
    since: Box<[(RoomId, Seq)]>,
}

impl SubscriptionFilter {
    /// A filter that lets through what is for one of `rooms` or for `user`.
    #[must_use]
    pub fn new(rooms: Vec<RoomId>, user: Option<UserId>) -> Self {
        Self {
            rooms: sorted(rooms).into(),
            user,
            since: Box::default(),
        }
    }

    /// The rooms, in ascending order, each once.
    #[must_use]
    pub fn rooms(&self) -> &[RoomId] {
        &self.rooms
    }

    /// The user whose own stream it is.
    #[must_use]
    pub fn user(&self) -> Option<UserId> {
        self.user
    }

    /// Whether it lets nothing through.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rooms.is_empty() && self.user.is_none()
    }

    /// Whether an entry for `audience` passes.
    #[must_use]
    pub fn admits(&self, audience: &Audience) -> bool {
        let (rooms, users) = audience.parts();
        rooms.iter().any(|room| self.has_room(*room))
            || users.iter().any(|user| Some(*user) == self.user)
    }

    /// Whether an entry passes: it is for the filter, and not from before its room was added.
    pub(crate) fn admits_entry(&self, entry: &Entry) -> bool {
        if self.since.is_empty() {
            return self.admits(entry.audience());
        }
        let (rooms, users) = entry.audience().parts();
        let passes = |topic| entry.seq() > self.since(topic);
        rooms
            .iter()
            .any(|room| self.has_room(*room) && passes(Topic::Room(*room)))
            || users.iter().any(|user| Some(*user) == self.user)
    }

    /// After which entry a topic is listened to; 0 for one that was listened to from the beginning.
    pub(crate) fn since(&self, topic: Topic) -> Seq {
        let of_room = |room| self.since.iter().find(|(added, _)| *added == room);
        let found = match topic {
            Topic::Room(room) => of_room(room),
            Topic::User(_) => None,
        };
        found.map_or(Seq(0), |(_, since)| *since)
    }

    pub(crate) fn has_room(&self, room: RoomId) -> bool {
        self.rooms.binary_search(&room).is_ok()
    }

    pub(crate) fn without_room(&self, room: RoomId) -> Self {
        Self {
            rooms: self.rooms.iter().copied().filter(|r| *r != room).collect(),
            user: self.user,
            since: self.since_without(room).collect(),
        }
    }

    /// The filter with a room of which only entries after `since` pass.
    pub(crate) fn with_room(&self, room: RoomId, since: Seq) -> Self {
        let rooms = self.rooms.iter().copied().chain([room]);
        Self {
            since: self.since_without(room).chain([(room, since)]).collect(),
            ..Self::new(rooms.collect(), self.user)
        }
    }

    fn since_without(&self, room: RoomId) -> impl Iterator<Item = (RoomId, Seq)> {
        let since = self.since.iter().copied();
        since.filter(move |(added, _)| *added != room)
    }

    pub(crate) fn topics(&self) -> impl Iterator<Item = Topic> {
        let rooms = self.rooms.iter().copied().map(Topic::Room);
        rooms.chain(self.user.map(Topic::User))
    }
}

/// Something one can listen to. Entries are filed by it and listeners are found by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Topic {
    Room(RoomId),
    User(UserId),
}

fn sorted<T: Ord>(mut ids: Vec<T>) -> Vec<T> {
    ids.sort_unstable();
    ids.dedup();
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_admits_what_is_for_one_of_its_rooms_or_for_its_user() {
        let filter =
            SubscriptionFilter::new(vec![RoomId(5), RoomId(2), RoomId(5)], Some(UserId(2)));
        assert_eq!(filter.rooms(), [RoomId(2), RoomId(5)]);
        assert!(filter.admits(&Audience::Room(RoomId(5))));
        assert!(!filter.admits(&Audience::Room(RoomId(3))));
        assert!(filter.admits(&Audience::User(UserId(2))));
        assert!(
            !filter.admits(&Audience::User(UserId(5))),
            "a user's number is not a room's"
        );
        let many = |room, user| Audience::Many {
            rooms: [RoomId(room)].into(),
            users: [UserId(user)].into(),
        };
        assert!(
            filter.admits(&many(2, 9)) && filter.admits(&many(9, 2)) && !filter.admits(&many(9, 9))
        );
    }

    #[test]
    fn what_nobody_hears_is_not_encoded_and_the_rest_is_so_once() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let (id, count) = (
            EventId {
                seq: Seq(1),
                check: 2,
            },
            Arc::new(AtomicUsize::new(0)),
        );
        let entry = || {
            let count = Arc::clone(&count);
            Entry::later(id, Audience::Room(RoomId(1)), 7, move || {
                count.fetch_add(1, Ordering::Relaxed);
                b"{\"n\":1}".to_vec()
            })
        };
        let (unheard, heard) = (entry(), entry());
        assert_eq!(unheard.size(), heard.size());
        drop(unheard);
        for format in [
            StreamFormat::Json,
            StreamFormat::JsonWithIds,
            StreamFormat::Sse,
            StreamFormat::Sse,
        ] {
            let told = Entry::new(id, Audience::Room(RoomId(1)), b"{\"n\":1}");
            assert_eq!(heard.frame(format), told.frame(format));
        }
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }
}
