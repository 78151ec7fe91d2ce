//! A form with a picture, as a page sends it. It is in memory as a whole, within the bounds that
//! the API has for pictures.

use axum::body::Body;
use bytes::Bytes;
use eddyline_app::{Actor, Error, KeyedSemaphore, Limit, Permit, QuotaKeys};
use futures_util::stream;
use http::HeaderMap;
use http::header::CONTENT_TYPE;

use crate::avatars::MAX_BYTES;
use crate::media::BodyType;
use crate::multipart::{Multipart, MultipartError};
use crate::quota;
use crate::serve::{BodyError, BodyLimit, read_body};

/// The part that is the picture.
const PICTURE: &str = "avatar";
/// How much of the body may be other than the picture.
const REST_BYTES: usize = 64 * 1024;
/// How often the picture is in memory while the form is read: in the body, and by itself.
const COPIES: u64 = 2;

/// The bytes of files that are received into memory, with the share of each caller and
/// organization. Clones share them.
#[derive(Clone, Debug)]
pub struct FileBodies(KeyedSemaphore);

impl Default for FileBodies {
    fn default() -> Self {
        Self(KeyedSemaphore::new(quota::FILE_BODIES))
    }
}

impl FileBodies {
    /// Counts `bytes` for `sender` until the permit is dropped.
    pub(crate) fn acquire(&self, sender: QuotaKeys, bytes: u64) -> Result<Permit, Error> {
        self.0
            .acquire(sender, bytes)
            .map_err(|exceeded| exceeded.of(Limit::FileBodies))
    }
}

/// A form that was read.
#[derive(Debug)]
pub struct PictureForm {
    texts: Vec<(String, String)>,
    picture: Bytes,
    _permit: Permit,
}

impl PictureForm {
    /// A text of the form; empty when there is none of this name.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.texts
            .iter()
            .find(|(key, _)| key == name)
            .map_or("", |(_, value)| value)
    }

    /// The picture, as it came; empty when none was chosen.
    #[must_use]
    pub fn picture(&self) -> Bytes {
        self.picture.clone()
    }
}

/// Reads a form with parts, of which the one called `avatar` is a file of at most 5 MiB. It counts
/// for its sender among `bodies` until it is dropped.
///
/// # Errors
///
/// [`Error::unsupported_type`] for another form; [`Error::malformed`], [`Error::invalid`] and
/// [`Error::timed_out`] for one that cannot be read; [`Error::too_large`];
/// [`Error::too_many_requests`] and [`Error::unavailable`] when too much is under way.
pub async fn read_picture_form(
    headers: &HeaderMap,
    body: Body,
    sender: &Actor,
    limit: BodyLimit,
    bodies: &FileBodies,
) -> Result<PictureForm, Error> {
    if BodyType::of(headers) != BodyType::Multipart {
        return Err(Error::unsupported_type(
            "The form must be sent as multipart/form-data",
        ));
    }
    let most = MAX_BYTES + REST_BYTES;
    let bytes = quota::file_body(headers, most, COPIES);
    let permit = bodies.acquire(sender.quota_keys(), bytes)?;
    let body = read_body(
        body,
        BodyLimit {
            bytes: most,
            limit: Limit::FixedBody,
            ..limit
        },
    )
    .await?;
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let (texts, picture) = parse(body, content_type).await?;
    if picture.len() > MAX_BYTES {
        return Err(BodyError::TooLarge(Limit::FixedBody).into());
    }
    Ok(PictureForm {
        texts,
        picture: picture.into(),
        _permit: permit,
    })
}

/// The texts of a form, and its first part called `avatar`.
async fn parse(
    body: Bytes,
    content_type: &str,
) -> Result<(Vec<(String, String)>, Vec<u8>), MultipartError> {
    let length = body.len();
    let mut form = Multipart::new(stream::iter([Ok::<_, BodyError>(body)]), content_type)?;
    let (mut texts, mut picture) = (Vec::new(), None);
    while let Some(mut part) = form.next().await? {
        if part.name != PICTURE {
            texts.push((part.name.clone(), form.text(part).await?));
        } else if picture.is_none() {
            let mut bytes = Vec::with_capacity(length);
            while let Some(piece) = part.chunk().await? {
                bytes.extend_from_slice(&piece);
            }
            picture = Some(bytes);
        }
    }
    Ok((texts, picture.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: &str = "multipart/form-data; boundary=x";

    async fn parsed(body: &'static str) -> Option<(Vec<(String, String)>, Vec<u8>)> {
        parse(Bytes::from_static(body.as_bytes()), TYPE).await.ok()
    }

    #[tokio::test]
    async fn a_form_has_texts_and_one_picture() {
        let body = "--x\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\nabc\r\n\
            --x\r\nContent-Disposition: form-data; name=\"avatar\"; filename=\"a.png\"\r\n\r\n\u{89}PNG\r\n\
            --x\r\nContent-Disposition: form-data; name=\"avatar\"; filename=\"b.png\"\r\n\r\nother\r\n--x--\r\n";
        let texts = vec![("csrf".to_owned(), "abc".to_owned())];
        assert_eq!(parsed(body).await, Some((texts, "\u{89}PNG".into())));
        assert_eq!(parsed("--x--\r\n").await, Some((vec![], vec![])));
        assert_eq!(parsed("nothing of the kind").await, None);
    }
}
