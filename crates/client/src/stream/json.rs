//! The JSON stream: objects ended by a carriage return.

use std::collections::VecDeque;

use super::event::{MAX_EVENT, StreamEvent};
use crate::error::MalformedStream;
use crate::response::Json;

/// Splits at carriage returns. Line feeds are white space, be they inside an object, after its
/// carriage return, or alone to keep the connection alive.
#[derive(Debug, Default)]
pub(super) struct JsonDecoder {
    /// The beginning of an object whose end has not come yet.
    pending: Vec<u8>,
}

impl JsonDecoder {
    pub(super) fn push(
        &mut self,
        mut chunk: &[u8],
        events: &mut VecDeque<StreamEvent>,
    ) -> Result<(), MalformedStream> {
        while let Some(end) = chunk.iter().position(|&byte| byte == b'\r') {
            let (head, rest) = chunk.split_at(end);
            chunk = &rest[1..];
            if self.pending.is_empty() {
                decode(head, events)?;
            } else {
                self.keep(head)?;
                decode(&self.pending, events)?;
                self.pending.clear();
            }
        }
        self.keep(chunk)
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), MalformedStream> {
        // Keep-alives must not pile up in front of an object that is long in coming.
        let bytes = if self.pending.is_empty() {
            bytes.trim_ascii_start()
        } else {
            bytes
        };
        if self.pending.len() + bytes.len() > MAX_EVENT {
            return Err(MalformedStream::TooLong);
        }
        self.pending.extend_from_slice(bytes);
        Ok(())
    }
}

fn decode(object: &[u8], events: &mut VecDeque<StreamEvent>) -> Result<(), MalformedStream> {
    let object = object.trim_ascii();
    if object.is_empty() {
        return Ok(());
    }
    let json: Json = serde_json::from_slice(object).map_err(MalformedStream::NotJson)?;
    let id = json
        .get("event_id")
        .and_then(Json::as_str)
        .map(str::to_owned);
    events.push_back(StreamEvent { id, json });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode_all(text: &str) -> Result<Vec<String>, MalformedStream> {
        let mut events = VecDeque::new();
        JsonDecoder::default().push(text.as_bytes(), &mut events)?;
        Ok(events
            .into_iter()
            .map(|event| event.json.to_string())
            .collect())
    }

    /// Shows: 4.47
    #[test]
    fn keep_alive_line_feeds_are_no_events() {
        assert_eq!(
            decode_all("\n\n{\"a\":1}\r\n\n\n{\"b\":\n2}\r\n\n").unwrap(),
            [r#"{"a":1}"#, r#"{"b":2}"#]
        );
    }

    #[test]
    fn an_object_without_its_end_is_not_handed_out() {
        assert!(decode_all("{\"a\":1}").unwrap().is_empty());
    }

    #[test]
    fn what_is_not_json_is_an_error() {
        assert!(matches!(
            decode_all("<html>\r\n"),
            Err(MalformedStream::NotJson(_))
        ));
    }
}
