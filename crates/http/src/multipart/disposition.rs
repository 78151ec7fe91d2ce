//! What a part says of itself: `Content-Disposition`, as browsers and old libraries write it.

use percent_encoding::percent_decode;

/// The names of a part and of the file that it is.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Disposition {
    pub(super) name: Option<String>,
    pub(super) file_name: Option<String>,
}

impl Disposition {
    /// Reads a header. A name that is not UTF-8 is none. Of the names that a file has, the one
    /// whose encoding is told counts (RFC 8187); a plain one is UTF-8 or else Latin-1.
    pub(super) fn parse(header: &[u8]) -> Self {
        let (mut read, mut extended) = (Self::default(), None);
        let mut rest = header;
        while let Some((name, value, after)) = parameter(rest) {
            rest = after;
            match name.to_ascii_lowercase().as_slice() {
                b"name" if read.name.is_none() => read.name = String::from_utf8(value).ok(),
                b"filename" if read.file_name.is_none() => read.file_name = Some(text(value)),
                b"filename*" => extended = extended.or_else(|| decode(&value)),
                _ => {}
            }
        }
        read.file_name = extended.or(read.file_name);
        read
    }
}

/// The charset that a content type names.
pub(crate) fn charset(content_type: &[u8]) -> Option<Vec<u8>> {
    let mut rest = content_type;
    while let Some((name, value, after)) = parameter(rest) {
        if name.eq_ignore_ascii_case(b"charset") {
            return Some(value);
        }
        rest = after;
    }
    None
}

/// The first parameter behind a semicolon: its name, its value and what follows it.
fn parameter(header: &[u8]) -> Option<(&[u8], Vec<u8>, &[u8])> {
    let mut rest = header;
    loop {
        let at = rest.iter().position(|byte| *byte == b';')?;
        rest = &rest[at + 1..];
        let end = rest
            .iter()
            .position(|byte| matches!(byte, b'=' | b';'))
            .unwrap_or(rest.len());
        if rest.get(end) != Some(&b'=') {
            continue;
        }
        let (name, value) = (rest[..end].trim_ascii(), rest[end + 1..].trim_ascii_start());
        if let Some(quoted) = value.strip_prefix(b"\"") {
            let (value, after) = unquote(quoted);
            return Some((name, value, after));
        }
        let end = value
            .iter()
            .position(|byte| *byte == b';')
            .unwrap_or(value.len());
        return Some((name, value[..end].trim_ascii().to_vec(), &value[end..]));
    }
}

/// A value up to the quotation mark that ends it, and what follows that. Only a quotation mark is
/// escaped: the other backslashes belong to paths, also the last one of a path that ends in one.
/// Browsers write a quotation mark and the ends of lines as if they were in an address.
fn unquote(quoted: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut value = Vec::new();
    let mut rest = quoted;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after.first()) {
            (b'"', _) => break,
            (b'\\', Some(b'"')) if !ends_parameter(&after[1..]) => {
                value.push(b'"');
                rest = &after[1..];
            }
            (b'%', Some(_)) if escape(after).is_some() => {
                value.extend(escape(after));
                rest = &after[2..];
            }
            _ => value.push(*byte),
        }
    }
    (value, rest)
}

/// Whether what follows a quotation mark is nothing, or another parameter. It looks no further than
/// the name of that, since it is asked for each mark.
fn ends_parameter(after: &[u8]) -> bool {
    let after = after.trim_ascii_start();
    let Some(next) = after.strip_prefix(b";") else {
        return after.is_empty();
    };
    let next = next.trim_ascii_start();
    let token = |byte: &u8| byte.is_ascii_alphanumeric() || b"*-_.".contains(byte);
    let end = next
        .iter()
        .position(|byte| !token(byte))
        .unwrap_or(next.len());
    end > 0 && next[end..].trim_ascii_start().starts_with(b"=")
}

/// What stands behind a `%`, if it is one of the three that browsers write so.
fn escape(after: &[u8]) -> Option<u8> {
    match after.get(..2)?.to_ascii_uppercase().as_slice() {
        b"22" => Some(b'"'),
        b"0D" => Some(b'\r'),
        b"0A" => Some(b'\n'),
        _ => None,
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| latin1(error.as_bytes()))
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// A text that names its encoding (RFC 8187, section 3.2); `None` for an empty one, and one of
/// another encoding than those that are to be read.
fn decode(value: &[u8]) -> Option<String> {
    let mut parts = value.splitn(3, |byte| *byte == b'\'');
    let (encoding, _language, escaped) = (parts.next()?, parts.next()?, parts.next()?);
    let bytes: Vec<u8> = percent_decode(escaped).collect();
    let text = match encoding.to_ascii_lowercase().as_slice() {
        b"utf-8" => String::from_utf8(bytes).ok()?,
        b"iso-8859-1" => latin1(&bytes),
        _ => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file_name(header: &[u8]) -> Option<String> {
        let read = Disposition::parse(&[b"form-data; name=\"content\"; ", header].concat());
        assert_eq!(read.name.as_deref(), Some("content"));
        read.file_name
    }

    #[test]
    fn a_name_is_read_however_it_is_written() {
        for (header, expected) in [
            (&b"filename=\"a b.txt\""[..], "a b.txt"),
            (
                "filename=\"gr\u{fc}\u{df}e.txt\"".as_bytes(),
                "gr\u{fc}\u{df}e.txt",
            ),
            (b"filename=\"gr\xfc\xdfe.txt\"", "gr\u{fc}\u{df}e.txt"),
            (b"FileName = plain.txt ", "plain.txt"),
            (b"filename=\"a;b=\\\"c\\\".txt\"; x=y", "a;b=\"c\".txt"),
            (b"filename=\"C:\\work\\plan.pdf\"", "C:\\work\\plan.pdf"),
            (b"filename=\"C:\\work\\\"", "C:\\work\\"),
            (b"filename=\"C:\\work\\\"; x=y", "C:\\work\\"),
            (
                b"filename=\"say \\\"a; b\\\" twice.txt\"",
                "say \"a; b\" twice.txt",
            ),
            (
                b"filename=\"a %22b%22%0d%0A 100%.txt\"",
                "a \"b\"\r\n 100%.txt",
            ),
            (b"filename=\"\"", ""),
            (
                b"filename*=UTF-8''gr%C3%BC%C3%9Fe.txt",
                "gr\u{fc}\u{df}e.txt",
            ),
            (b"filename*=utf-8'de'a%20b%22.txt", "a b\".txt"),
            (
                b"filename*=ISO-8859-1''gr%FC%DFe.txt",
                "gr\u{fc}\u{df}e.txt",
            ),
            (
                b"filename*=UTF-8''%C3%BC.txt; filename=\"_.txt\"",
                "\u{fc}.txt",
            ),
            (
                b"filename=\"_.txt\"; filename*=UTF-8''%C3%BC.txt",
                "\u{fc}.txt",
            ),
            // What cannot be read leaves the plain name.
            (b"filename*=UTF-8''%FF; filename=\"_.txt\"", "_.txt"),
            (b"filename*=koi8-r''%C3; filename=\"_.txt\"", "_.txt"),
            (b"filename*=nonsense; filename=\"_.txt\"", "_.txt"),
            (b"filename*=UTF-8''; filename=\"_.txt\"", "_.txt"),
        ] {
            let shown = String::from_utf8_lossy(header);
            assert_eq!(file_name(header).as_deref(), Some(expected), "{shown}");
        }
        for none in [
            &b""[..],
            b"filename",
            b"x=\"filename=a\"",
            b"myfilename=a",
            b"filename*=UTF-8",
        ] {
            assert_eq!(file_name(none), None, "{}", String::from_utf8_lossy(none));
        }
    }

    #[test]
    fn a_part_is_called_what_its_header_says_and_not_what_is_within_a_value() {
        let name = |header: &[u8]| Disposition::parse(header).name;
        assert_eq!(
            name(b"form-data; filename=\"my name=b; name=c\"; name=a").as_deref(),
            Some("a")
        );
        assert_eq!(
            name(b"form-data; name=\"a\"; name=\"b\"").as_deref(),
            Some("a")
        );
        assert_eq!(name(b"form-data; name=\"\"").as_deref(), Some(""));
        for none in [
            &b"form-data"[..],
            b"name=a",
            b"form-data; name=\"\xff\"",
            b"",
        ] {
            assert_eq!(name(none), None, "{}", String::from_utf8_lossy(none));
        }
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic(bytes: Vec<u8>, text in "(;|=|\"|\\\\|'|%|\\*| |name|filename|utf-8){0,30}") {
            Disposition::parse(&bytes);
            Disposition::parse(text.as_bytes());
        }

        #[test]
        fn a_quoted_name_is_read_back(name in "[^%\0]{0,30}") {
            let quoted = name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
            prop_assert_eq!(file_name(format!("filename=\"{quoted}\"").as_bytes()), Some(name));
        }
    }
}
