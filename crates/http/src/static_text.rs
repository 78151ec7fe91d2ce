//! Texts that are the same for every caller: compressed once, not for each request.

use std::io::{self, Write as _};
use std::sync::OnceLock;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::HeaderMap;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, VARY};

/// A text that is sent as it is, or compressed to clients that take gzip.
#[derive(Debug)]
pub struct StaticText {
    plain: Bytes,
    /// Made for the first request that takes it.
    gzip: OnceLock<Option<Bytes>>,
}

impl StaticText {
    /// A text.
    #[must_use]
    pub fn new(text: impl Into<Bytes>) -> Self {
        Self {
            plain: text.into(),
            gzip: OnceLock::new(),
        }
    }

    /// The answer to a request with these headers; `kind` is the media type.
    #[must_use]
    pub fn answer(&self, headers: &HeaderMap, kind: HeaderValue) -> Response {
        let gzip = match takes_gzip(headers) {
            true => self
                .gzip
                .get_or_init(|| compress(&self.plain).ok())
                .as_ref(),
            false => None,
        };
        let mut response = Response::new(Body::from(gzip.unwrap_or(&self.plain).clone()));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, kind);
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        if gzip.is_some() {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

fn compress(text: &[u8]) -> io::Result<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text)?;
    Ok(encoder.finish()?.into())
}

/// Returns `true` if a client takes gzip: it names it, or any encoding, with a weight that is not
/// zero (RFC 9110, section 12.5.3).
fn takes_gzip(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(ACCEPT_ENCODING).iter();
    let lines = lines.filter_map(|line| line.to_str().ok());
    let (mut named, mut any) = (None, false);
    for encoding in lines.flat_map(|line| line.split(',')) {
        let (name, weight) = encoding.split_once(';').unwrap_or((encoding, ""));
        let weight = weight.trim().strip_prefix("q=").unwrap_or("1");
        let is_taken = weight
            .trim()
            .parse::<f32>()
            .is_ok_and(|weight| weight > 0.0);
        match name.trim().to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => named = Some(is_taken),
            "*" => any = is_taken,
            _ => {}
        }
    }
    named.unwrap_or(any)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn accepting(encodings: &[&'static str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for encoding in encodings {
            headers.append(ACCEPT_ENCODING, HeaderValue::from_static(encoding));
        }
        headers
    }

    #[test]
    fn a_client_takes_gzip_or_not() {
        for (encodings, takes) in [
            (&[][..], false),
            (&[""], false),
            (&["br"], false),
            (&["gzip"], true),
            (&["deflate, GZIP;q=0.5"], true),
            (&["br", "x-gzip"], true),
            (&["gzip;q=0"], false),
            (&["gzip; q=0.000, *"], false),
            (&["*"], true),
            (&["*;q=0"], false),
            (&["gzip;q=high"], false),
            (&["identity"], false),
        ] {
            assert_eq!(takes_gzip(&accepting(encodings)), takes, "{encodings:?}");
        }
    }

    #[test]
    fn a_compressed_answer_is_the_same_text_and_made_once() {
        let text = "a text ".repeat(100);
        let file = StaticText::new(text.clone());
        let kind = || HeaderValue::from_static("text/plain");
        let plain = file.answer(&HeaderMap::new(), kind());
        assert!(file.gzip.get().is_none());
        let compressed = file.answer(&accepting(&["gzip"]), kind());
        assert_eq!(compressed.headers()[CONTENT_ENCODING], "gzip");
        for response in [&plain, &compressed] {
            assert_eq!(response.headers()[VARY], "accept-encoding");
            assert_eq!(response.headers()[CONTENT_TYPE], "text/plain");
        }
        let kept = file.gzip.get().cloned().flatten().unwrap();
        let mut unpacked = String::new();
        flate2::read::GzDecoder::new(&kept[..])
            .read_to_string(&mut unpacked)
            .unwrap();
        assert_eq!(unpacked, text);
        assert!(kept.len() < 60, "{}", kept.len());
        let _ = file.answer(&accepting(&["gzip"]), kind());
        assert_eq!(
            file.gzip.get().cloned().flatten().unwrap().as_ptr(),
            kept.as_ptr()
        );
    }
}
