//! Threads: their public ids, their titles, and questions for them.
//!
//! A thread costs no row until somebody answers: its id is made from the room and the message that
//! began it, with a few bytes of a keyed hash so that ids cannot be made up.

use std::borrow::Cow;

use ring::hmac;

use crate::mac::is_same_mac;
use crate::messages::ThreadState;
use crate::search::{QueryWord, SearchQuery};
use crate::{ApplicationId, MessageId, RoomId, Timestamp, UserId, search};

const VERSION: u8 = 1;
const MAC_BYTES: usize = 11;
const ID_BYTES: usize = 9 + MAC_BYTES;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const MAX_TITLE_CHARS: usize = 200;

/// Makes and reads thread ids. All nodes of a server share one key.
#[derive(Clone)]
pub struct ThreadIds {
    key: hmac::Key,
}

impl std::fmt::Debug for ThreadIds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ThreadIds")
    }
}

impl ThreadIds {
    /// Ids under this key, which should be 32 random bytes.
    #[must_use]
    pub fn new(key: &[u8]) -> Self {
        Self {
            key: hmac::Key::new(hmac::HMAC_SHA256, key),
        }
    }

    /// The id of the thread that `root` began in `room`: 27 URL-safe characters for 20 bytes.
    ///
    /// Rooms and messages are numbered within 32 bits.
    #[must_use]
    pub fn encode(&self, room: RoomId, root: MessageId) -> String {
        let bytes = self.bytes(room, root);
        let mut text = String::with_capacity(27);
        for chunk in bytes.chunks(3) {
            let word = chunk.iter().enumerate().fold(0u32, |word, (i, byte)| {
                word | u32::from(*byte) << (16 - 8 * i)
            });
            for i in 0..=chunk.len() {
                text.push(char::from(ALPHABET[(word >> (18 - 6 * i) & 63) as usize]));
            }
        }
        text
    }

    /// The room and first message an id names; `None` when this server never gave it out.
    #[must_use]
    pub fn decode(&self, id: &str) -> Option<(RoomId, MessageId)> {
        if id.len() != 27 {
            return None;
        }
        let mut head = [0u8; 9];
        for (chunk, text) in head.chunks_mut(3).zip(id.as_bytes().chunks(4)) {
            let mut word = 0u32;
            for byte in text {
                word = word << 6 | u32::from(sextet(*byte)?);
            }
            chunk.copy_from_slice(&word.to_be_bytes()[1..]);
        }
        let [version, r0, r1, r2, r3, m0, m1, m2, m3] = head;
        let room = RoomId(i64::from(u32::from_be_bytes([r0, r1, r2, r3])));
        let root = MessageId(i64::from(u32::from_be_bytes([m0, m1, m2, m3])));
        let genuine =
            version == VERSION && is_same_mac(self.encode(room, root).as_bytes(), id.as_bytes());
        genuine.then_some((room, root))
    }

    fn bytes(&self, room: RoomId, root: MessageId) -> [u8; ID_BYTES] {
        let mut bytes = [0; ID_BYTES];
        bytes[0] = VERSION;
        bytes[1..5].copy_from_slice(&(room.0 as u32).to_be_bytes());
        bytes[5..9].copy_from_slice(&(root.0 as u32).to_be_bytes());
        let mac = hmac::sign(&self.key, &bytes[..9]);
        bytes[9..].copy_from_slice(&mac.as_ref()[..MAC_BYTES]);
        bytes
    }
}

/// The colour and the shape by which clients tell the threads of a flow apart: one of eight colours
/// and one of four shapes. It is computed from the thread's id, so all clients show the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadMark(u8);

impl ThreadMark {
    /// How many marks there are.
    pub const COUNT: u8 = 32;

    /// The mark of the thread with this id. Text that is no id has one, too.
    #[must_use]
    pub fn of(id: &str) -> Self {
        // The last character holds six bits, of which the lowest two are padding. The mark is made
        // of the other four and the lowest bit of the character before.
        let mut from_end = id.bytes().rev().map(|byte| sextet(byte).unwrap_or(0));
        let (last, before) = (from_end.next(), from_end.next());
        Self(last.unwrap_or(0) >> 2 | (before.unwrap_or(0) & 1) << 4)
    }

    /// The number: 0 to 31.
    #[must_use]
    pub fn number(self) -> u8 {
        self.0
    }

    /// The colour: 0 to 7.
    #[must_use]
    pub fn hue(self) -> u8 {
        self.0 & 7
    }

    /// The shape: 0 to 3.
    #[must_use]
    pub fn shape(self) -> u8 {
        self.0 >> 3
    }
}

/// The six bits that a character of the URL-safe Base64 alphabet stands for.
fn sextet(character: u8) -> Option<u8> {
    match character {
        b'A'..=b'Z' => Some(character - b'A'),
        b'a'..=b'z' => Some(character - b'a' + 26),
        b'0'..=b'9' => Some(character - b'0' + 52),
        b'-' => Some(62),
        b'_' => Some(63),
        _ => None,
    }
}

/// The title of a chat thread: the first line of the message that began it, at most 200
/// characters, with HTML's special characters escaped, because titles are HTML (specification,
/// section 2, Thread).
#[must_use]
pub fn title_of(text: &str) -> String {
    let mut title = String::new();
    for c in plain_title_of(text).chars() {
        match c {
            '&' => title.push_str("&amp;"),
            '<' => title.push_str("&lt;"),
            '>' => title.push_str("&gt;"),
            '"' => title.push_str("&quot;"),
            '\'' => title.push_str("&#39;"),
            c => title.push(c),
        }
    }
    title
}

/// The title of a chat thread as [`title_of`] makes it, but as plain text.
#[must_use]
pub fn plain_title_of(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    title_start(line)
}

/// Which threads a list shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadSelection {
    /// All.
    All,
    /// Those that people began.
    Chat,
    /// Those that applications began.
    Inbox,
    /// Those of one application.
    Of(ApplicationId),
}

/// A question for threads of one flow, those that changed last first (specification, section 4,
/// Threads).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadQuery {
    /// Which.
    pub threads: ThreadSelection,
    /// Only those that changed after this time.
    pub since: Option<Timestamp>,
    /// Only those that changed before this time.
    pub until: Option<Timestamp>,
    /// Of those that changed at the very time of `until`, the ones with a smaller number than this.
    pub before: Option<MessageId>,
    /// Whether threads without an answer, or without messages, are shown.
    pub empty: bool,
    /// Only those whose title, within its first 200 characters, has for each word of this search one
    /// that begins with it. An empty search finds nothing.
    pub search: Option<SearchQuery>,
    /// Only those whose outside item has this status, in any case.
    pub status: Option<String>,
    /// How many at most.
    pub limit: i64,
    /// Whether the last message of each is shown.
    pub last_message: bool,
    /// The user whose unread threads the answer names. It needs the last messages.
    pub reader: Option<UserId>,
}

impl ThreadQuery {
    /// Whether the query asks for more than a database can tell without reading the threads.
    #[must_use]
    pub fn is_filtered(&self) -> bool {
        self.search.is_some() || self.status.is_some()
    }

    /// Whether a thread has the wanted words in its title, and the wanted status.
    #[must_use]
    pub fn accepts(&self, thread: &ThreadState) -> bool {
        let has_status = |wanted: &String| {
            let item = thread.item.as_ref();
            let status = item.and_then(|item| item.status.as_ref());
            status.is_some_and(|status| {
                let (value, wanted) = (status.value.chars(), wanted.chars());
                let lower = char::to_lowercase;
                value.flat_map(lower).eq(wanted.flat_map(lower))
            })
        };
        let has_words = |wanted: &SearchQuery| {
            let title = search::tokens(title_start(&plain_title(thread)));
            let is_there =
                |word: &QueryWord| title.iter().any(|token| token.starts_with(&word.token));
            !wanted.is_empty() && wanted.words().iter().all(is_there)
        };
        self.status.as_ref().is_none_or(has_status) && self.search.as_ref().is_none_or(has_words)
    }
}

/// What a search looks at of a title. Those of outside items may be longer, and thousands are read.
fn title_start(title: &str) -> &str {
    let end = title.char_indices().nth(MAX_TITLE_CHARS);
    end.map_or(title, |(end, _)| &title[..end])
}

/// The title of a thread as plain text: what can be read in that of the outside item, or the first
/// line of the message that began the thread.
fn plain_title(thread: &ThreadState) -> Cow<'_, str> {
    match &thread.item {
        Some(item) => search::text_of_html(&item.title).into(),
        None => plain_title_of(&thread.root_text).into(),
    }
}

/// A place in a list of threads: behind the thread that these two name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadPlace {
    /// When the thread changed last.
    pub updated_at: Timestamp,
    /// The message that began it.
    pub root: MessageId,
}

impl ThreadPlace {
    /// The place behind this thread.
    #[must_use]
    pub fn of(thread: &ThreadState) -> Self {
        Self {
            updated_at: thread.counts.updated_at,
            root: thread.root,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Shows: 2.28
        #[test]
        fn a_thread_id_names_its_room_and_first_message(room in 1..=i64::from(u32::MAX), root in 1..=i64::from(u32::MAX)) {
            let ids = ThreadIds::new(b"key");
            let id = ids.encode(RoomId(room), MessageId(root));
            prop_assert_eq!(id.len(), 27);
            prop_assert_eq!(ids.decode(&id), Some((RoomId(room), MessageId(root))));
            prop_assert_eq!(ThreadIds::new(b"another").decode(&id), None);
        }

        #[test]
        fn no_text_makes_the_parser_panic(text: String) {
            prop_assert_eq!(ThreadIds::new(b"key").decode(&text), None);
            prop_assert!(ThreadMark::of(&text).number() < ThreadMark::COUNT);
        }

        #[test]
        fn a_mark_is_the_end_of_the_mac(room in 1..=i64::from(u32::MAX), root in 1..=i64::from(u32::MAX)) {
            let ids = ThreadIds::new(b"key");
            let (room, root) = (RoomId(room), MessageId(root));
            let mark = ThreadMark::of(&ids.encode(room, root));
            prop_assert_eq!(mark.number(), ids.bytes(room, root)[ID_BYTES - 1] & 31);
            prop_assert_eq!(mark.number(), mark.shape() << 3 | mark.hue());
        }
    }

    #[test]
    fn all_marks_are_about_equally_frequent() {
        let ids = ThreadIds::new(b"key");
        let mut counts = [0; ThreadMark::COUNT as usize];
        for root in 1..=3200 {
            let mark = ThreadMark::of(&ids.encode(RoomId(1), MessageId(root)));
            counts[usize::from(mark.number())] += 1;
        }
        assert!(
            counts.iter().all(|count| (50..=150).contains(count)),
            "{counts:?}"
        );
    }

    /// Shows: 2.29
    #[test]
    fn a_title_is_the_first_line_with_html_escaped() {
        assert_eq!(
            title_of("\n  a < b & \"c\"\nsecond"),
            "a &lt; b &amp; &quot;c&quot;"
        );
        assert_eq!(title_of(""), "");
        assert_eq!(title_of(&"x".repeat(300)).len(), 200);
    }
}
