//! The text of a message (RFC 5424, section 6), and its frame (RFC 6587, section 3.4.1).

use std::fmt::Write as _;

/// Facility 13, "log audit", with severity 6, "informational".
const PRIORITY: u8 = 13 * 8 + 6;
/// What stands for a field without a value.
const NIL: &str = "-";

/// A message about one action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyslogMessage<'a> {
    /// When it was done, as RFC 3339 writes it, with six digits of a second at most.
    pub at: &'a str,
    /// The name or the address of the server, 255 characters at most.
    pub host: &'a str,
    /// The name of the program, 48 characters at most.
    pub application: &'a str,
    /// The version of the program.
    pub version: &'a str,
    /// What was done, 32 characters at most.
    pub kind: &'a str,
    /// A value in JSON, on one line.
    pub json: &'a str,
}

impl SyslogMessage<'_> {
    /// The message with its length before it, as it is sent.
    ///
    /// What is too long for a field of the header is cut there, and characters that the header must
    /// not have are left out. The JSON is written with escapes in place of characters outside ASCII,
    /// so that it begins with no byte order mark, which a message in UTF-8 would need (section 6.4)
    /// and readers of JSON do not take.
    #[must_use]
    pub fn frame(&self) -> Vec<u8> {
        let message = format!(
            "<{PRIORITY}>1 {at} {host} {application} {process} {kind} [origin software=\"{software}\" swVersion=\"{version}\"] {json}",
            at = field(self.at, 32),
            host = field(self.host, 255),
            application = field(self.application, 48),
            process = std::process::id(),
            kind = field(self.kind, 32),
            software = value(self.application, 48),
            version = value(self.version, 32),
            json = ascii(self.json),
        );
        format!("{} {message}", message.len()).into_bytes()
    }
}

/// A field of the header.
fn field(text: &str, most: usize) -> String {
    let kept: String = text
        .chars()
        .filter(char::is_ascii_graphic)
        .take(most)
        .collect();
    match kept.is_empty() {
        true => NIL.to_owned(),
        false => kept,
    }
}

/// A value of structured data, without the characters that it would have to escape.
fn value(text: &str, most: usize) -> String {
    let plain = |c: &char| c.is_ascii_graphic() && !matches!(c, '"' | '\\' | ']');
    text.chars().filter(plain).take(most).collect()
}

/// JSON in ASCII, on one line.
fn ascii(json: &str) -> String {
    let mut written = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            // Only between values: within texts they are escaped already.
            '\n' | '\r' => written.push(' '),
            c if c.is_ascii() => written.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a String cannot fail.
                    let _ = write!(written, "\\u{unit:04x}");
                }
            }
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: SyslogMessage<'_> = SyslogMessage {
        at: "2026-11-29T10:00:00.000Z",
        host: "chat.example.org",
        application: "eddyline",
        version: "0.1.0",
        kind: "token.create",
        json: r#"{"id":7}"#,
    };

    fn framed(message: SyslogMessage<'_>) -> String {
        let frame = String::from_utf8(message.frame()).unwrap();
        let (length, text) = frame.split_once(' ').unwrap();
        assert_eq!(length.parse(), Ok(text.len()));
        text.to_owned()
    }

    #[test]
    fn a_message_has_the_fields_of_the_format() {
        let process = std::process::id();
        assert_eq!(
            framed(MESSAGE),
            format!(
                "<110>1 2026-11-29T10:00:00.000Z chat.example.org eddyline {process} token.create \
                 [origin software=\"eddyline\" swVersion=\"0.1.0\"] {{\"id\":7}}"
            )
        );
    }

    #[test]
    fn json_is_written_in_ascii_and_means_the_same() {
        let json = "{\"name\":\"Zoë 🦀\",\n\"quote\":\"\\\"\\n\"}";
        let text = framed(SyslogMessage { json, ..MESSAGE });
        assert!(text.is_ascii() && !text.contains('\n'), "{text}");
        let written = &text[text.find('{').unwrap()..];
        assert_eq!(
            written,
            r#"{"name":"Zo\u00eb \ud83e\udd80", "quote":"\"\n"}"#
        );
    }

    #[test]
    fn a_header_takes_neither_spaces_nor_too_much() {
        let long = "x".repeat(33);
        let text = framed(SyslogMessage {
            host: "",
            kind: &long,
            version: "1\"]\\ 2",
            ..MESSAGE
        });
        assert!(text.contains("Z - eddyline "), "{text}");
        assert!(text.contains(&format!(" {} [", &long[..32])), "{text}");
        assert!(text.contains("swVersion=\"12\"] {"), "{text}");
    }
}
