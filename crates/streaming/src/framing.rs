//! The bytes of an entry on the stream (specification, section 4, "Streaming").
//!
//! On the JSON stream an object ends with CR LF: clients in the wild split on the one or on the
//! other. A keep-alive there is a lone LF, which the former skip as white space and the latter as
//! an empty line. The event stream has `id` and `data` lines only, and a comment as keep-alive.

use bytes::{BufMut, Bytes, BytesMut};
use eddyline_model::EventId;

/// The bytes of one entry for a stream, already inside the chunk that carries them over HTTP/1.1
/// (RFC 9112, section 7.1): all streams share them, with chunks or without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The length in hexadecimal digits, CR LF, the data, CR LF.
    chunk: Bytes,
    /// Where the data begins.
    start: u8,
}

impl Frame {
    /// A chunk of one byte, a line feed.
    const LINE_FEED: Self = Self {
        chunk: Bytes::from_static(b"1\r\n\n\r\n"),
        start: 3,
    };
    /// A chunk of an empty comment.
    const COMMENT: Self = Self {
        chunk: Bytes::from_static(b"3\r\n:\n\n\r\n"),
        start: 3,
    };

    /// The frame of some parts, which are not all empty: an empty chunk would end the response.
    pub(crate) fn of(parts: &[&[u8]]) -> Self {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        debug_assert!(length > 0, "an empty chunk is the last one");
        let head = format!("{length:x}\r\n");
        let mut chunk = BytesMut::with_capacity(head.len() + length + LINE_END.len());
        chunk.put_slice(head.as_bytes());
        for part in parts {
            chunk.put_slice(part);
        }
        chunk.put_slice(LINE_END);
        // A length has at most 16 digits.
        Self {
            chunk: chunk.freeze(),
            start: u8::try_from(head.len()).unwrap_or_default(),
        }
    }

    /// The frame by itself.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.chunk[self.start.into()..self.chunk.len() - LINE_END.len()]
    }

    /// The same as [`Frame::data`], shared.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        self.chunk
            .slice(usize::from(self.start)..self.chunk.len() - LINE_END.len())
    }

    /// The chunk that holds the frame.
    #[must_use]
    pub fn chunk(&self) -> &[u8] {
        &self.chunk
    }
}

/// How a listener wants its entries framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StreamFormat {
    /// `application/json`: one object after the other, each ended by CR LF.
    Json,
    /// The JSON stream, each object with its event id as last member, `event_id`.
    JsonWithIds,
    /// `text/event-stream`: server-sent events.
    Sse,
    /// The same, with the HTML of texts.
    SseWithHtml,
}

impl StreamFormat {
    /// What a stream says when it has nothing to say.
    #[must_use]
    pub fn keep_alive(self) -> Frame {
        match self {
            Self::Json | Self::JsonWithIds => Frame::LINE_FEED,
            Self::Sse | Self::SseWithHtml => Frame::COMMENT,
        }
    }
}

pub(crate) const LINE_END: &[u8] = b"\r\n";

/// What the frame of an event stream has more than its object, about.
pub(crate) const SSE_OVERHEAD: usize = 40;

/// Tells a listener that what it missed cannot be told.
pub(crate) const RESET: &[u8] = br#"{"event":"reset"}"#;

pub(crate) fn json_with_id(object: &[u8], id: EventId) -> Frame {
    let members = object.strip_suffix(b"}").unwrap_or(object);
    let separator: &[u8] = if members == b"{" { b"" } else { b"," };
    let id = id.to_string();
    Frame::of(&[
        members,
        separator,
        br#""event_id":""#,
        id.as_bytes(),
        br#""}"#,
        LINE_END,
    ])
}

pub(crate) fn sse(object: &[u8], id: Option<EventId>) -> Frame {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    Frame::of(&[id.as_bytes(), b"data: ", object, b"\n\n"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{Audience, Entry};
    use eddyline_model::{RoomId, Seq};

    const ID: EventId = EventId {
        seq: Seq(0x2a),
        check: 0xbeef,
    };
    const ROOM: Audience = Audience::Room(RoomId(1));

    #[test]
    fn an_entry_is_framed_for_each_kind_of_stream() {
        let entry = Entry::new(ID, ROOM, br#"{"event":"message"}"#);
        assert_eq!(entry.object(), br#"{"event":"message"}"#);
        assert_eq!(
            entry.frame(StreamFormat::Json).data(),
            b"{\"event\":\"message\"}\r\n"
        );
        assert_eq!(
            entry.frame(StreamFormat::JsonWithIds).data(),
            b"{\"event\":\"message\",\"event_id\":\"2a-0000beef\"}\r\n"
        );
        assert_eq!(
            entry.frame(StreamFormat::Sse).data(),
            b"id: 2a-0000beef\ndata: {\"event\":\"message\"}\n\n"
        );
    }

    #[test]
    fn html_is_added_once_and_only_for_those_who_want_it() {
        let entry = Entry::new(ID, ROOM, b"{}").with_html(|_| b"{\"html\":\"\"}".to_vec());
        assert_eq!(
            entry.frame(StreamFormat::SseWithHtml).data(),
            b"id: 2a-0000beef\ndata: {\"html\":\"\"}\n\n"
        );
        assert_eq!(
            entry.frame(StreamFormat::SseWithHtml).data().as_ptr(),
            entry.frame(StreamFormat::SseWithHtml).data().as_ptr()
        );
        assert_eq!(
            entry.frame(StreamFormat::Sse).data(),
            b"id: 2a-0000beef\ndata: {}\n\n"
        );
        let textless = Entry::new(ID, ROOM, b"{}");
        assert_eq!(
            textless.frame(StreamFormat::SseWithHtml),
            textless.frame(StreamFormat::Sse)
        );
    }

    #[test]
    fn an_object_without_members_takes_an_event_id_too() {
        let entry = Entry::new(ID, ROOM, b"{}");
        assert_eq!(
            entry.frame(StreamFormat::JsonWithIds).data(),
            b"{\"event_id\":\"2a-0000beef\"}\r\n"
        );
    }

    #[test]
    fn what_is_not_stored_bears_no_id_so_that_a_client_keeps_the_last_one() {
        let entry = Entry::without_id(ROOM, b"{}");
        assert_eq!(entry.frame(StreamFormat::JsonWithIds).data(), b"{}\r\n");
        assert_eq!(entry.frame(StreamFormat::Sse).data(), b"data: {}\n\n");
    }

    #[test]
    fn a_frame_is_a_chunk_of_http() {
        let entry = Entry::new(ID, ROOM, br#"{"event":"message"}"#);
        assert_eq!(
            entry.frame(StreamFormat::Json).chunk(),
            b"15\r\n{\"event\":\"message\"}\r\n\r\n"
        );
        assert_eq!(StreamFormat::Json.keep_alive(), Frame::of(&[b"\n"]));
        assert_eq!(StreamFormat::Sse.keep_alive(), Frame::of(&[b":\n\n"]));
        let long = Frame::of(&[&[b'x'; 100_000]]);
        assert!(long.chunk().starts_with(b"186a0\r\nx") && long.data().len() == 100_000);
    }

    #[test]
    fn the_frame_of_a_format_is_made_once() {
        let entry = Entry::new(ID, ROOM, b"{}");
        assert_eq!(
            entry.frame(StreamFormat::Sse).data().as_ptr(),
            entry.frame(StreamFormat::Sse).data().as_ptr()
        );
    }
}
