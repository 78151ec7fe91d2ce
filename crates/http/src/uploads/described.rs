//! A file in JSON, and what the parameters say of one.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use eddyline_app::{Error, Limit};
use eddyline_wire::params::Params;

use crate::serve::BodyError;

/// What the parameters say of the file that a message is.
#[derive(Debug, Default)]
pub(crate) struct FileParameters {
    pub(super) file_name: Option<String>,
    pub(super) content_type: Option<String>,
    pub(super) data: Option<Bytes>,
}

impl FileParameters {
    /// Reads `content` with `data`, `content_type` and `file_name`, and the latter two beside it,
    /// as forms have them.
    pub(crate) async fn read(
        params: &Params,
        is_received: bool,
        most: usize,
    ) -> Result<Self, Error> {
        let mut reader = params.reader();
        let mut described = Self {
            file_name: reader.opt_text("file_name", 0..=1000),
            content_type: reader.opt_text("content_type", 0..=1000),
            data: None,
        };
        if is_received {
            reader.finish()?;
            return Ok(described);
        }
        reader.require("content");
        let wanted = "must be an object with data, content_type and file_name, or a file";
        let mut data = None;
        if let Some(object) = reader.object("content", wanted) {
            let mut text = |name: &str| reader.opt_text_in(object, "content", name);
            described.file_name = text("file_name").or(described.file_name);
            described.content_type = text("content_type").or(described.content_type);
            data = text("data");
            if data.is_none() && !reader.is_wrong("content[data]") {
                reader.error("content[data]", "is required");
            }
        }
        reader.finish()?;
        if let Some(data) = data {
            described.data = Some(decode(data, most).await?);
        }
        Ok(described)
    }
}

/// Base64 of either alphabet, with or without padding, in lines, or as a `data:` address.
async fn decode(text: String, most: usize) -> Result<Bytes, Error> {
    if text.len() / 4 * 3 > most + most / 16 + 1024 {
        return Err(BodyError::TooLarge(Limit::JsonUpload).into());
    }
    let decoded = tokio::task::spawn_blocking(move || decode_now(&text)).await;
    let decoded = decoded.map_err(|error| Error::internal(error.to_string()))?;
    let bytes = decoded.ok_or_else(|| Error::invalid("content[data]", "is not valid Base64"))?;
    if bytes.len() > most {
        return Err(BodyError::TooLarge(Limit::JsonUpload).into());
    }
    Ok(bytes.into())
}

fn decode_now(text: &str) -> Option<Vec<u8>> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let text = match text.get(..5) {
        Some(scheme) if scheme.eq_ignore_ascii_case("data:") => {
            let (kind, data) = text[5..].split_once(',')?;
            let coding = kind.get(kind.len().checked_sub(7)?..)?;
            coding.eq_ignore_ascii_case(";base64").then_some(data)?
        }
        _ => text,
    };
    let letters = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            byte => byte,
        });
    LENIENT.decode(letters.collect::<Vec<u8>>()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_as_clients_write_it() {
        for text in [
            "+/+/aGk=",
            "-_-_aGk=",
            "-_-_aGk",
            "+/+/\r\naGk=\r\n",
            "data:text/plain;base64,+/+/aGk=",
            "DATA:;Base64,+/+/aGk=",
        ] {
            assert_eq!(
                decode_now(text).as_deref(),
                Some(&b"\xfb\xff\xbfhi"[..]),
                "{text}"
            );
        }
        assert_eq!(decode_now("").as_deref(), Some(&b""[..]));
        for bad in [
            "a",
            "a*bc",
            "data:text/plain,hi",
            "data:base64,hi",
            "data:hi",
            "=",
            "grüße",
        ] {
            assert_eq!(decode_now(bad), None, "{bad}");
        }
    }
}
