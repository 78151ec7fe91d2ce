//! Finds the end of an HTTP/1.1 response in whatever pieces it arrives. It reads no more of it than
//! that takes.

/// A response that cannot be understood, and why.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("unexpected response: {0}")]
pub(crate) struct Malformed(&'static str);

/// The longest head, in bytes.
const MAX_HEAD: usize = 32 * 1024;

/// Reads responses, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Scanner {
    state: State,
    /// A line, or the head, of which the end has not come yet.
    begun: Vec<u8>,
    status: u16,
    closes: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Head,
    /// So many bytes are left of the body.
    Body(usize),
    ChunkSize,
    /// So many bytes are left of the chunk and the end of its line.
    Chunk(usize),
    Trailer,
}

/// A response that has come whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    /// Its status.
    pub(crate) status: u16,
    /// Whether the connection ends with it.
    pub(crate) closes: bool,
}

impl Scanner {
    /// Takes the next bytes. Gives the response when they end it; it is an error when they go on
    /// after it, since nobody asked for more.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) -> Result<Option<Response>, Malformed> {
        loop {
            let (used, done) = self.step(bytes)?;
            bytes = &bytes[used..];
            if done {
                if !bytes.is_empty() {
                    return Err(Malformed("more than was asked for"));
                }
                let response = Response {
                    status: self.status,
                    closes: self.closes,
                };
                *self = Self {
                    begun: std::mem::take(&mut self.begun),
                    ..Self::default()
                };
                self.begun.clear();
                return Ok(Some(response));
            }
            if bytes.is_empty() {
                return Ok(None);
            }
        }
    }

    /// Uses up some of the bytes; says how many, and whether the response is at its end.
    fn step(&mut self, bytes: &[u8]) -> Result<(usize, bool), Malformed> {
        match self.state {
            State::Head => {
                let Some(used) = self.collect(bytes, b"\r\n\r\n")? else {
                    return Ok((bytes.len(), false));
                };
                let head = Head::read(&self.begun)?;
                self.begun.clear();
                (self.status, self.closes) = (head.status, head.closes);
                self.state = head.body()?;
                Ok((used, self.state == State::Body(0)))
            }
            State::Body(left) => {
                let used = left.min(bytes.len());
                self.state = State::Body(left - used);
                Ok((used, used == left))
            }
            State::ChunkSize => {
                let Some(used) = self.collect(bytes, b"\r\n")? else {
                    return Ok((bytes.len(), false));
                };
                let size = chunk_size(&self.begun)?;
                self.begun.clear();
                self.state = if size == 0 {
                    State::Trailer
                } else {
                    State::Chunk(size + 2)
                };
                Ok((used, false))
            }
            State::Chunk(left) => {
                let used = left.min(bytes.len());
                self.state = if used == left {
                    State::ChunkSize
                } else {
                    State::Chunk(left - used)
                };
                Ok((used, false))
            }
            State::Trailer => {
                let Some(used) = self.collect(bytes, b"\r\n")? else {
                    return Ok((bytes.len(), false));
                };
                let last = self.begun == b"\r\n";
                self.begun.clear();
                Ok((used, last))
            }
        }
    }

    /// Adds to what was begun, up to and with `end`. Gives how many bytes that took, or nothing
    /// when it has not come and all were taken.
    fn collect(&mut self, bytes: &[u8], end: &[u8]) -> Result<Option<usize>, Malformed> {
        let before = self.begun.len();
        // The end itself may come in pieces.
        let from = before.saturating_sub(end.len() - 1);
        self.begun.extend_from_slice(bytes);
        if let Some(at) = memchr::memmem::find(&self.begun[from..], end) {
            let whole = from + at + end.len();
            self.begun.truncate(whole);
            return Ok(Some(whole - before));
        }
        if self.begun.len() > MAX_HEAD {
            Err(Malformed("a head without end"))
        } else {
            Ok(None)
        }
    }
}

/// What a head says about the body.
struct Head {
    status: u16,
    closes: bool,
    chunked: bool,
    length: Option<usize>,
}

impl Head {
    fn read(text: &[u8]) -> Result<Self, Malformed> {
        let status = text
            .strip_prefix(b"HTTP/1.")
            .and_then(|rest| rest.get(2..5))
            .and_then(number);
        let status = status.ok_or(Malformed("no status"))? as u16;
        let mut head = Self {
            status,
            closes: false,
            chunked: false,
            length: None,
        };
        for line in text.split(|&byte| byte == b'\n').skip(1) {
            let Some(colon) = memchr::memchr(b':', line) else {
                continue;
            };
            let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
            if name.eq_ignore_ascii_case(b"content-length") {
                head.length = Some(number(value).ok_or(Malformed("no length"))?);
            } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
                head.chunked = value.eq_ignore_ascii_case(b"chunked");
            } else if name.eq_ignore_ascii_case(b"connection") {
                head.closes = value.eq_ignore_ascii_case(b"close");
            }
        }
        Ok(head)
    }

    fn body(&self) -> Result<State, Malformed> {
        match (self.status, self.chunked, self.length) {
            (204 | 304, ..) => Ok(State::Body(0)),
            (_, true, _) => Ok(State::ChunkSize),
            (_, false, Some(length)) => Ok(State::Body(length)),
            (_, false, None) => Err(Malformed("a body without end")),
        }
    }
}

/// A decimal number, and nothing else.
fn number(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn chunk_size(line: &[u8]) -> Result<usize, Malformed> {
    let digits = line
        .split(|byte| b";\r".contains(byte))
        .next()
        .unwrap_or_default();
    let digits = std::str::from_utf8(digits).map_err(|_| Malformed("no chunk size"))?;
    usize::from_str_radix(digits.trim(), 16).map_err(|_| Malformed("no chunk size"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds a response in pieces of this size, and gives what came of the last.
    fn feed(text: &str, piece: usize) -> Result<Option<Response>, Malformed> {
        let mut scanner = Scanner::default();
        let mut last = Ok(None);
        for bytes in text.as_bytes().chunks(piece) {
            assert_eq!(last, Ok(None), "ended early in pieces of {piece}");
            last = scanner.feed(bytes);
        }
        last
    }

    const WITH_LENGTH: &str = "HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\nDate: now\r\n\r\n{}";
    const IN_CHUNKS: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\
        4\r\nab\r\n\r\nA;x=y\r\n0123456789\r\n0\r\nChecksum: 1\r\n\r\n";
    const EMPTY: &str = "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";

    #[test]
    fn a_response_ends_where_it_should_however_it_is_split() {
        for (text, status, closes) in [
            (WITH_LENGTH, 202, false),
            (IN_CHUNKS, 200, false),
            (EMPTY, 204, true),
        ] {
            for piece in 1..=text.len() {
                assert_eq!(
                    feed(text, piece),
                    Ok(Some(Response { status, closes })),
                    "{piece}"
                );
            }
        }
    }

    #[test]
    fn one_scanner_reads_one_response_after_the_other() {
        let mut scanner = Scanner::default();
        for text in [WITH_LENGTH, IN_CHUNKS, EMPTY, IN_CHUNKS, WITH_LENGTH] {
            assert!(scanner.feed(text.as_bytes()).unwrap().is_some());
        }
    }

    #[test]
    fn what_is_no_response_is_refused() {
        for text in [
            "SSH-2.0\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        ] {
            assert!(feed(text, text.len()).is_err(), "{text}");
        }
    }
}
