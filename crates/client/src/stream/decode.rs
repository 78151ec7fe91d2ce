//! From the bytes of a stream to its events, however the bytes were cut.

use std::collections::VecDeque;

use super::StreamFormat;
use super::event::StreamEvent;
use super::json::JsonDecoder;
use super::sse::SseDecoder;
use crate::error::MalformedStream;

/// Takes a stream apart. [`Client::stream`](crate::Client::stream) does this for you; the decoder
/// stands alone for those who bring their own connection.
#[derive(Debug)]
pub struct StreamDecoder(DecoderKind);

#[derive(Debug)]
enum DecoderKind {
    Json(JsonDecoder),
    EventStream(SseDecoder),
}

impl StreamDecoder {
    /// A decoder at the start of a stream.
    pub fn new(format: StreamFormat) -> Self {
        Self(match format {
            StreamFormat::Json => DecoderKind::Json(JsonDecoder::default()),
            StreamFormat::EventStream => DecoderKind::EventStream(SseDecoder::default()),
        })
    }

    /// Takes the next bytes and appends the events that they complete.
    ///
    /// # Errors
    /// When an event is not readable. Those before it are appended; the decoder must not be used
    /// any more.
    pub fn push(
        &mut self,
        chunk: &[u8],
        events: &mut VecDeque<StreamEvent>,
    ) -> Result<(), MalformedStream> {
        match &mut self.0 {
            DecoderKind::Json(decoder) => decoder.push(chunk, events),
            DecoderKind::EventStream(decoder) => decoder.push(chunk, events),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::event::MAX_EVENT;
    use super::*;

    fn decode(format: StreamFormat, chunks: &[&[u8]]) -> Vec<StreamEvent> {
        let mut decoder = StreamDecoder::new(format);
        let mut events = VecDeque::new();
        for chunk in chunks {
            decoder.push(chunk, &mut events).unwrap();
        }
        events.into()
    }

    /// Cuts `bytes` at the given places, which may repeat and need no order.
    fn cut<'a>(bytes: &'a [u8], places: &[prop::sample::Index]) -> Vec<&'a [u8]> {
        let mut places: Vec<usize> = places.iter().map(|p| p.index(bytes.len() + 1)).collect();
        places.sort_unstable();
        let mut chunks = Vec::new();
        let mut start = 0;
        for place in places {
            chunks.push(&bytes[start..place]);
            start = place;
        }
        chunks.push(&bytes[start..]);
        chunks
    }

    prop_compose! {
        fn event()(id in prop::option::of("[a-z0-9.:]{1,12}"), text in ".{0,40}") -> StreamEvent {
            StreamEvent { id, json: json!({ "event": "message", "content": text }) }
        }
    }

    fn sse_text(events: &[StreamEvent], line_end: &str, pretty: bool) -> String {
        let mut text = String::new();
        for event in events {
            if let Some(id) = &event.id {
                text += &format!("id: {id}{line_end}");
            }
            let json = if pretty {
                serde_json::to_string_pretty(&event.json).unwrap()
            } else {
                event.json.to_string()
            };
            for line in json.lines() {
                text += &format!("data: {line}{line_end}");
            }
            text += &format!("{line_end}:{line_end}");
        }
        text
    }

    fn json_text(events: &[StreamEvent], separator: &str, pretty: bool) -> String {
        let mut text = String::new();
        for event in events {
            let mut object = event.json.clone();
            if let Some(id) = &event.id {
                object["event_id"] = json!(id);
            }
            if pretty {
                text += &serde_json::to_string_pretty(&object).unwrap();
            } else {
                text += &object.to_string();
            }
            text += separator;
        }
        text
    }

    fn without_event_id(mut events: Vec<StreamEvent>) -> Vec<StreamEvent> {
        for event in &mut events {
            event.json.as_object_mut().unwrap().remove("event_id");
        }
        events
    }

    proptest! {
        #[test]
        fn an_event_stream_gives_the_same_events_however_it_is_cut(
            events in prop::collection::vec(event(), 0..6),
            line_end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
            pretty: bool,
            places: Vec<prop::sample::Index>,
        ) {
            let text = sse_text(&events, line_end, pretty);
            let decoded = decode(StreamFormat::EventStream, &cut(text.as_bytes(), &places));
            prop_assert_eq!(decoded, events);
        }

        #[test]
        fn a_json_stream_gives_the_same_events_however_it_is_cut(
            events in prop::collection::vec(event(), 0..6),
            separator in prop::sample::select(vec!["\r\n", "\r", "\r\n\n\n", "\r\n \n"]),
            pretty: bool,
            places: Vec<prop::sample::Index>,
        ) {
            let text = json_text(&events, separator, pretty);
            let decoded = decode(StreamFormat::Json, &cut(text.as_bytes(), &places));
            prop_assert_eq!(without_event_id(decoded), events);
        }

        #[test]
        fn no_bytes_make_the_decoder_panic(
            format in prop::sample::select(vec![StreamFormat::Json, StreamFormat::EventStream]),
            chunks: Vec<Vec<u8>>,
        ) {
            let mut decoder = StreamDecoder::new(format);
            let mut events = VecDeque::new();
            for chunk in chunks {
                if decoder.push(&chunk, &mut events).is_err() {
                    break;
                }
            }
        }
    }

    #[test]
    fn an_event_that_never_ends_is_refused() {
        let endless = vec![b'x'; MAX_EVENT + 1];
        for format in [StreamFormat::Json, StreamFormat::EventStream] {
            let refused = StreamDecoder::new(format).push(&endless, &mut VecDeque::new());
            assert!(
                matches!(refused, Err(MalformedStream::TooLong)),
                "{format:?}"
            );
        }
    }
}
