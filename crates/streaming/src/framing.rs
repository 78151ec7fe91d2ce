//! The bytes of an entry on the stream (specification, section 4, "Streaming").
//!
//! On the JSON stream an object ends with CR LF: clients in the wild split on the one or on the
//! other. A keep-alive there is a lone LF, which the former skip as white space and the latter as
//! an empty line. The event stream has `id` and `data` lines only, and a comment as keep-alive.

use bytes::{BufMut, Bytes, BytesMut};
use eddyline_model::EventId;

/// How a listener wants its entries framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// `application/json`: one object after the other, each ended by CR LF.
    Json,
    /// The JSON stream, each object with its event id as last member, `event_id`.
    JsonWithIds,
    /// `text/event-stream`: server-sent events.
    Sse,
}

impl Format {
    /// What a stream says when it has nothing to say.
    #[must_use]
    pub fn keep_alive(self) -> &'static [u8] {
        match self {
            Self::Json | Self::JsonWithIds => b"\n",
            Self::Sse => b":\n\n",
        }
    }
}

pub(crate) const LINE_END: &[u8] = b"\r\n";

/// What the frame of an event stream has more than its object, about.
pub(crate) const SSE_OVERHEAD: usize = 40;

/// Tells a listener that what it missed cannot be told.
pub(crate) const RESET: &[u8] = br#"{"event":"reset"}"#;

pub(crate) fn json_with_id(object: &[u8], id: EventId) -> Bytes {
    let members = object.strip_suffix(b"}").unwrap_or(object);
    let separator: &[u8] = if members == b"{" { b"" } else { b"," };
    let id = id.to_string();
    let mut frame = BytesMut::with_capacity(object.len() + id.len() + 18);
    for part in [members, separator, br#""event_id":""#, id.as_bytes(), br#""}"#, LINE_END] {
        frame.put_slice(part);
    }
    frame.freeze()
}

pub(crate) fn sse(object: &[u8], id: Option<EventId>) -> Bytes {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    let mut frame = BytesMut::with_capacity(object.len() + id.len() + 8);
    for part in [id.as_bytes(), b"data: ", object, b"\n\n"] {
        frame.put_slice(part);
    }
    frame.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{Audience, Entry};
    use eddyline_model::{RoomId, Seq};

    const ID: EventId = EventId { seq: Seq(0x2a), check: 0xbeef };
    const ROOM: Audience = Audience::Room(RoomId(1));

    #[test]
    fn an_entry_is_framed_for_each_kind_of_stream() {
        let entry = Entry::new(ID, ROOM, br#"{"event":"message"}"#);
        assert_eq!(entry.object(), br#"{"event":"message"}"#);
        assert_eq!(&entry.frame(Format::Json)[..], b"{\"event\":\"message\"}\r\n");
        assert_eq!(
            &entry.frame(Format::JsonWithIds)[..],
            b"{\"event\":\"message\",\"event_id\":\"2a-0000beef\"}\r\n"
        );
        assert_eq!(&entry.frame(Format::Sse)[..], b"id: 2a-0000beef\ndata: {\"event\":\"message\"}\n\n");
    }

    #[test]
    fn an_object_without_members_takes_an_event_id_too() {
        let entry = Entry::new(ID, ROOM, b"{}");
        assert_eq!(&entry.frame(Format::JsonWithIds)[..], b"{\"event_id\":\"2a-0000beef\"}\r\n");
    }

    #[test]
    fn what_is_not_stored_bears_no_id_so_that_a_client_keeps_the_last_one() {
        let entry = Entry::without_id(ROOM, b"{}");
        assert_eq!(&entry.frame(Format::JsonWithIds)[..], b"{}\r\n");
        assert_eq!(&entry.frame(Format::Sse)[..], b"data: {}\n\n");
    }

    #[test]
    fn the_frame_of_a_format_is_made_once() {
        let entry = Entry::new(ID, ROOM, b"{}");
        assert_eq!(entry.frame(Format::Sse).as_ptr(), entry.frame(Format::Sse).as_ptr());
    }
}
