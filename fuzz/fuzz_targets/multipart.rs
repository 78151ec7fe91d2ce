//! However a form with parts is cut on its way, it is read the same, and within its bounds.

#![no_main]

// Read here as it is, since the rest of its crate is a whole server.
#[allow(dead_code, unused_imports, reason = "the fuzz target uses a part of the module")]
#[path = "../../crates/http/src/multipart/mod.rs"]
mod multipart;

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::{FutureExt as _, stream};
use libfuzzer_sys::fuzz_target;

use multipart::{MAX_PARTS, MAX_TEXT_BYTES, Multipart, MultipartError};

const KIND: &str = "multipart/form-data; boundary=e";

type Parts = Vec<(String, Option<String>, Option<String>, Vec<u8>)>;

fuzz_target!(|input: &[u8]| {
    let Some((size, body)) = input.split_first() else {
        return;
    };
    let whole = read(body, body.len().max(1));
    let cut = read(body, usize::from(*size).max(1));
    match (whole, cut) {
        (Ok(whole), Ok(cut)) => assert_eq!(whole, cut),
        (Err(_), Err(_)) => {}
        (whole, cut) => panic!("whole {whole:?}, cut {cut:?}"),
    }
    if let Ok(text) = std::str::from_utf8(body) {
        let nothing = stream::iter(Vec::<Result<Bytes, Infallible>>::new());
        let _ = Multipart::new(nothing, text);
    }
});

fn read(body: &[u8], size: usize) -> Result<Parts, MultipartError> {
    let pieces: Vec<_> = body
        .chunks(size)
        .map(|piece| Ok::<_, Infallible>(Bytes::copy_from_slice(piece)))
        .collect();
    let mut form = Multipart::new(stream::iter(pieces), KIND)?;
    let mut reading = Box::pin(async {
        let (mut parts, mut texts) = (Parts::new(), 0);
        while let Some(mut part) = form.next().await? {
            let (name, file_name) = (part.name.clone(), part.file_name.clone());
            let kind = part.content_type.clone();
            let mut content = Vec::new();
            if file_name.is_none() {
                content = form.text(part).await?.into_bytes();
                texts += content.len();
            } else {
                while let Some(chunk) = part.chunk().await? {
                    content.extend_from_slice(&chunk);
                }
            }
            parts.push((name, file_name, kind, content));
            assert!(parts.len() <= MAX_PARTS && texts <= MAX_TEXT_BYTES);
        }
        Ok(parts)
    });
    // It waits for nobody but itself, so asking again is enough, at most twice for each piece.
    for _ in 0..2 * body.len() + 100 {
        if let Some(outcome) = (&mut reading).now_or_never() {
            return outcome;
        }
    }
    panic!("it does not end");
}
