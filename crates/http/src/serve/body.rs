//! The body of a request, within bounds.

use std::error::Error;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use eddyline_app::Limit;
use http_body::Body;
use http_body_util::BodyExt;
use tokio::time::timeout;

use super::body_budget;
use super::{MinimumRate, RateMeter};

/// How large a body may be, and how long it may take to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyLimit {
    /// Bytes. 1 MiB unless said otherwise.
    pub bytes: usize,
    /// From the call of [`read_body`] to the last byte. 60 seconds unless said otherwise.
    pub time: Duration,
    /// How slowly it may come.
    pub rate: MinimumRate,
    /// What the log says that a longer one was refused for.
    pub limit: Limit,
}

impl Default for BodyLimit {
    fn default() -> Self {
        let (time, rate) = (Duration::from_secs(60), MinimumRate::default());
        Self {
            bytes: 1024 * 1024,
            time,
            rate,
            limit: Limit::Body,
        }
    }
}

/// Why there is no body. Its text is meant for the client. A connection on which part of a body is
/// unread is closed after the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// There are more bytes than allowed.
    #[error("the request body is too large")]
    TooLarge(Limit),
    /// It did not arrive in time, or came too slowly.
    #[error("the request body took too long to arrive")]
    Timeout,
    /// The connection broke, or what came is not a body.
    #[error("the request body could not be read")]
    Aborted,
    /// Bodies of unknown callers take all the memory that they may.
    #[error("too many request bodies are on their way; try again in a moment")]
    Overloaded,
}

impl BodyError {
    /// Why a frame of a body could not be read.
    pub fn of_frame(error: &(dyn Error + 'static)) -> Self {
        if body_budget::is_exceeded(error) {
            Self::Overloaded
        } else {
            Self::Aborted
        }
    }
}

/// Reads a whole body. One that says beforehand that it is too large is refused unread, so that a
/// client which waits for the word to go on (RFC 9110, section 10.1.1) does not send it at all.
///
/// # Errors
///
/// [`BodyError`] for what exceeds `limit`, and for what cannot be read.
pub async fn read_body<B>(body: B, limit: BodyLimit) -> Result<Bytes, BodyError>
where
    B: Body<Data = Bytes, Error: Error + 'static>,
{
    read_long_body(body, limit, || Err(BodyError::TooLarge(limit.limit))).await
}

/// The same for a body that may be longer than `limit`: each time it turns out to be longer than it
/// may be, `longer` is asked how long it may be then.
///
/// # Errors
///
/// [`BodyError`], and what `longer` says.
pub async fn read_long_body<B, E, F>(body: B, limit: BodyLimit, longer: F) -> Result<Bytes, E>
where
    B: Body<Data = Bytes, Error: Error + 'static>,
    E: From<BodyError>,
    F: FnMut() -> Result<usize, E>,
{
    let (mut most, mut longer) = (limit.bytes, longer);
    while body.size_hint().lower() > most as u64 {
        most = longer()?;
    }
    let all = collect(body, RateMeter::new(limit.rate), most, longer);
    timeout(limit.time, all)
        .await
        .unwrap_or_else(|_| Err(BodyError::Timeout.into()))
}

/// A body that comes in one piece, as most do, is not copied. One that announced its length has a
/// buffer of exactly that length, another one has a buffer that grows to `most` at most.
async fn collect<B, E, F>(
    body: B,
    mut meter: RateMeter,
    mut most: usize,
    mut longer: F,
) -> Result<Bytes, E>
where
    B: Body<Data = Bytes, Error: Error + 'static>,
    E: From<BodyError>,
    F: FnMut() -> Result<usize, E>,
{
    let mut body = pin!(body);
    let announced = body
        .size_hint()
        .exact()
        .and_then(|length| usize::try_from(length).ok());
    let mut first = Bytes::new();
    let mut all = Vec::new();
    while let Some(frame) = meter
        .wait(body.frame())
        .await
        .map_err(|_| BodyError::Timeout)?
    {
        let frame = frame.map_err(|error| BodyError::of_frame(&error))?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        meter.passed(data.len() as u64);
        let length = first.len() + all.len() + data.len();
        while length > most {
            most = longer()?;
        }
        if first.is_empty() && all.is_empty() {
            first = data;
            continue;
        }
        if length > all.capacity() {
            let capacity = announced
                .unwrap_or_else(|| (2 * length).min(most))
                .max(length);
            all.reserve_exact(capacity - all.len());
        }
        all.extend_from_slice(&std::mem::take(&mut first));
        all.extend_from_slice(&data);
    }
    Ok(if all.is_empty() { first } else { all.into() })
}
