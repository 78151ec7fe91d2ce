//! Reading `multipart/form-data` (RFC 7578) as it comes, within bounds: no more is held of it than
//! a part's head or a small piece of its content.

mod disposition;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use http::header::CONTENT_DISPOSITION;

pub(crate) use self::disposition::charset;

use self::disposition::Disposition;

/// The most parts.
pub(crate) const MAX_PARTS: usize = 1000;
/// The most bytes of all texts together.
pub(crate) const MAX_TEXT_BYTES: usize = 1024 * 1024;
/// About the most bytes of a part's head, and of what comes before the first part.
pub(crate) const MAX_HEAD_BYTES: usize = 16 * 1024;
/// How much is looked at at once.
const PIECE: usize = 64 * 1024;
const MAX_BOUNDARY_BYTES: usize = 200;
/// The most characters of a name that an error shows.
const MAX_SHOWN: usize = 100;

/// Why a form cannot be read on. The text is for the client.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MultipartError {
    /// The header does not say what is between the parts.
    #[error("the Content-Type of a multipart/form-data body must have a boundary")]
    Boundary,
    /// It is cut off, or no such form.
    #[error("the multipart/form-data body is broken")]
    Broken,
    /// There are more than [`MAX_PARTS`].
    #[error("the form has more than {MAX_PARTS} parts")]
    TooManyParts,
    /// A part's head is longer than [`MAX_HEAD_BYTES`].
    #[error("the head of a part is too long")]
    LongHead,
    /// A part does not say what it is called.
    #[error("a part of the form has no name")]
    Nameless,
    /// A text is not UTF-8; its name is given.
    #[error("is not valid UTF-8")]
    Utf8(String),
    /// The texts and their names, up to the one named, have more than [`MAX_TEXT_BYTES`].
    #[error("is too long")]
    LongText(String),
    /// The body could not be read on.
    #[error("the body cannot be read: {0}")]
    Body(Box<dyn std::error::Error + Send + Sync>),
}

impl MultipartError {
    fn of(error: multer::Error) -> Self {
        match error {
            multer::Error::StreamReadFailed(why) => match why.downcast::<Self>() {
                Ok(own) => *own,
                Err(other) => Self::Body(other),
            },
            multer::Error::ReadHeaderFailed(httparse) if httparse.to_string().contains("many") => {
                Self::LongHead
            }
            _ => Self::Broken,
        }
    }
}

/// A form that is being read.
#[derive(Debug)]
pub(crate) struct Multipart {
    inner: multer::Multipart<'static>,
    waiting: Arc<AtomicUsize>,
    parts: usize,
    text_bytes: usize,
}

/// A part of a form. It must be gone before the next one is asked for; what was not read of it is
/// passed over.
#[derive(Debug)]
pub(crate) struct Part {
    /// What it is called.
    pub(crate) name: String,
    /// The name of the file that it is, as the sender gives it.
    pub(crate) file_name: Option<String>,
    /// Its media type, as the sender gives it.
    pub(crate) content_type: Option<String>,
    field: multer::Field<'static>,
    waiting: Arc<AtomicUsize>,
}

impl Multipart {
    /// Begins to read a body with this `Content-Type`.
    ///
    /// # Errors
    ///
    /// [`MultipartError::Boundary`].
    pub(crate) fn new<S, E>(body: S, content_type: &str) -> Result<Self, MultipartError>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + Unpin + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>> + 'static,
    {
        let boundary =
            multer::parse_boundary(content_type).map_err(|_| MultipartError::Boundary)?;
        if boundary.is_empty() || boundary.len() > MAX_BOUNDARY_BYTES {
            return Err(MultipartError::Boundary);
        }
        let waiting = Arc::new(AtomicUsize::new(0));
        let pieces = Pieces {
            body,
            left: Bytes::new(),
            waiting: waiting.clone(),
            pauses: false,
        };
        Ok(Self {
            inner: multer::Multipart::new(pieces, boundary),
            waiting,
            parts: 0,
            text_bytes: 0,
        })
    }

    /// The next part; `None` after the last.
    ///
    /// # Errors
    ///
    /// Any [`MultipartError`].
    pub(crate) async fn next(&mut self) -> Result<Option<Part>, MultipartError> {
        self.waiting.store(0, Ordering::Relaxed);
        let Some(field) = self.inner.next_field().await.map_err(MultipartError::of)? else {
            return Ok(None);
        };
        self.waiting.store(0, Ordering::Relaxed);
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return Err(MultipartError::TooManyParts);
        }
        let header = field.headers().get(CONTENT_DISPOSITION);
        let Disposition { name, file_name } = header
            .map(|value| Disposition::parse(value.as_bytes()))
            .unwrap_or_default();
        Ok(Some(Part {
            name: name.ok_or(MultipartError::Nameless)?,
            file_name,
            content_type: field.content_type().map(ToString::to_string),
            field,
            waiting: self.waiting.clone(),
        }))
    }

    /// The text that a part is.
    ///
    /// # Errors
    ///
    /// Any [`MultipartError`].
    pub(crate) async fn text(&mut self, mut part: Part) -> Result<String, MultipartError> {
        let shown = |name: &str| name.chars().take(MAX_SHOWN).collect();
        let mut text = Vec::new();
        self.text_bytes += part.name.len();
        while self.text_bytes <= MAX_TEXT_BYTES {
            let Some(chunk) = part.chunk().await? else {
                break;
            };
            self.text_bytes += chunk.len();
            text.extend_from_slice(&chunk);
        }
        if self.text_bytes > MAX_TEXT_BYTES {
            return Err(MultipartError::LongText(shown(&part.name)));
        }
        String::from_utf8(text).map_err(|_| MultipartError::Utf8(shown(&part.name)))
    }
}

impl Part {
    /// More of the content; `None` after its end.
    ///
    /// # Errors
    ///
    /// [`MultipartError::Broken`] and [`MultipartError::Body`].
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, MultipartError> {
        self.waiting.store(0, Ordering::Relaxed);
        self.field.chunk().await.map_err(MultipartError::of)
    }
}

/// Hands a body on in small pieces, one at a time, since the search for boundaries takes all there
/// is; and not for ever while nothing comes of it.
struct Pieces<S> {
    body: S,
    left: Bytes,
    /// Bytes handed on since something came of them.
    waiting: Arc<AtomicUsize>,
    pauses: bool,
}

impl<S, E> Stream for Pieces<S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Item = Result<Bytes, Box<dyn std::error::Error + Send + Sync>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if std::mem::take(&mut self.pauses) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        while self.left.is_empty() {
            match Pin::new(&mut self.body).poll_next(cx) {
                Poll::Ready(Some(Ok(bytes))) => self.left = bytes,
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error.into()))),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
        let length = self.left.len().min(PIECE);
        let piece = self.left.split_to(length);
        if self.waiting.fetch_add(length, Ordering::Relaxed) > MAX_HEAD_BYTES + PIECE {
            return Poll::Ready(Some(Err(Box::new(MultipartError::LongHead))));
        }
        self.pauses = true;
        Poll::Ready(Some(Ok(piece)))
    }
}

#[cfg(test)]
mod tests;
