//! Server-sent events, by the HTML standard's section 9.2.

use std::collections::VecDeque;

use super::event::{MAX_EVENT, StreamEvent};
use crate::error::MalformedStream;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

#[derive(Debug, Default)]
pub(super) struct SseDecoder {
    /// The beginning of a line whose end has not come yet.
    line: Vec<u8>,
    /// The last byte was a carriage return: a line feed now belongs to it.
    after_return: bool,
    /// The first line, which may begin with a byte order mark, is over.
    started: bool,
    /// The id field of the event in the making.
    id: Option<String>,
    /// Its data lines, each followed by a line feed.
    data: Vec<u8>,
}

impl SseDecoder {
    pub(super) fn push(
        &mut self,
        mut chunk: &[u8],
        events: &mut VecDeque<StreamEvent>,
    ) -> Result<(), MalformedStream> {
        while let Some(&first) = chunk.first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                chunk = &chunk[1..];
                continue;
            }
            let Some(end) = chunk
                .iter()
                .position(|&byte| byte == b'\n' || byte == b'\r')
            else {
                return self.keep(chunk);
            };
            self.keep(&chunk[..end])?;
            self.after_return = chunk[end] == b'\r';
            chunk = &chunk[end + 1..];
            let line = std::mem::take(&mut self.line);
            self.end_line(&line, events)?;
            // Its memory serves the next line.
            self.line = line;
            self.line.clear();
        }
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), MalformedStream> {
        if self.line.len() + self.data.len() + bytes.len() > MAX_EVENT {
            return Err(MalformedStream::TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(
        &mut self,
        mut line: &[u8],
        events: &mut VecDeque<StreamEvent>,
    ) -> Result<(), MalformedStream> {
        if !std::mem::replace(&mut self.started, true) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event(events);
        }
        let (field, value) = match line.iter().position(|&byte| byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            b"id" if !value.contains(&0) => {
                self.id = Some(String::from_utf8_lossy(value).into_owned());
            }
            // Comments, and fields that say nothing here.
            _ => {}
        }
        Ok(())
    }

    fn end_event(&mut self, events: &mut VecDeque<StreamEvent>) -> Result<(), MalformedStream> {
        let id = self.id.take();
        let data = std::mem::take(&mut self.data);
        if data.is_empty() {
            return Ok(());
        }
        let json = serde_json::from_slice(&data).map_err(MalformedStream::NotJson)?;
        events.push_back(StreamEvent { id, json });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(text: &str) -> Vec<(Option<String>, String)> {
        let mut events = VecDeque::new();
        SseDecoder::default()
            .push(text.as_bytes(), &mut events)
            .unwrap();
        events
            .into_iter()
            .map(|event| (event.id, event.json.to_string()))
            .collect()
    }

    fn event(id: &str, json: &str) -> (Option<String>, String) {
        (Some(id.to_owned()), json.to_owned())
    }

    #[test]
    fn an_event_has_an_id_and_data() {
        assert_eq!(
            decode("id: 7\ndata: {\"a\":1}\n\n"),
            [event("7", r#"{"a":1}"#)]
        );
        assert_eq!(decode("id:7\r\ndata:1\r\n\r\n"), [event("7", "1")]);
    }

    #[test]
    fn an_event_without_an_id_does_not_inherit_one() {
        let events = decode("id: 7\ndata: 1\n\ndata: 2\n\n");
        assert_eq!(events, [event("7", "1"), (None, "2".to_owned())]);
    }

    #[test]
    fn comments_and_unknown_fields_are_passed_over() {
        assert_eq!(
            decode(":\n\n: still here\nevent: x\nid: 7\ndata: 1\nretry: 9\n\n"),
            [event("7", "1")]
        );
    }

    #[test]
    fn a_byte_order_mark_at_the_start_is_dropped() {
        assert_eq!(decode("\u{feff}id: 7\ndata: 1\n\n"), [event("7", "1")]);
    }

    #[test]
    fn an_event_without_its_blank_line_is_not_handed_out() {
        assert!(decode("id: 7\ndata: 1\n").is_empty());
    }
}
