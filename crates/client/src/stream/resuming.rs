//! A stream that goes on where it broke off.

use std::time::Duration;

use http::StatusCode;
use tokio::time::{Instant, sleep_until};

use super::{EventStream, StreamEvent, StreamFormat, StreamRequest};
use crate::client::Client;
use crate::error::Error;

/// How long to wait after the first failure. The time doubles with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest time to wait between two attempts, unless the server asks for more, up to an hour.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The longest time to wait that a server may ask for.
const LONGEST_ASKED: Duration = Duration::from_secs(3600);

impl Client {
    /// Listens for as long as the caller may, and connects again when the connection ends.
    pub fn follow(&self, request: &StreamRequest) -> ResumingStream {
        ResumingStream {
            client: self.clone(),
            request: StreamRequest {
                format: StreamFormat::EventStream,
                ..request.clone()
            },
            open: None,
            failures: 0,
            next_attempt: None,
            failure: None,
        }
    }
}

/// A stream that connects again when its connection ends, and misses and repeats nothing; made by
/// [`Client::follow`].
///
/// It waits from half a second up to 30 seconds before it tries again, or up to a quarter longer
/// than the server asks. When the server no longer knows the place to continue from, it says so by
/// an [`Event::Reset`](super::Event::Reset).
#[derive(Debug)]
pub struct ResumingStream {
    client: Client,
    request: StreamRequest,
    open: Option<EventStream>,
    failures: u32,
    next_attempt: Option<Instant>,
    failure: Option<Error>,
}

impl ResumingStream {
    /// The next event. Dropping the future loses nothing.
    ///
    /// # Errors
    /// What another attempt would not mend: [`Error::Api`] with a status below 500 other than 408
    /// and 429, [`Error::NoStream`], [`Error::Stream`], [`Error::Request`].
    pub async fn next(&mut self) -> Result<StreamEvent, Error> {
        loop {
            if let Some(at) = self.next_attempt {
                sleep_until(at).await;
                self.next_attempt = None;
            }
            let stream = match &mut self.open {
                Some(stream) => stream,
                None => match self.client.stream(&self.request).await {
                    Ok(stream) => {
                        let began_after = stream.last_event_id().map(str::to_owned);
                        self.request.last_event_id = began_after;
                        self.open.insert(stream)
                    }
                    Err(error) => {
                        self.failed(error)?;
                        continue;
                    }
                },
            };
            match stream.next().await {
                Some(Ok(event)) => {
                    (self.failures, self.failure) = (0, None);
                    if event.id.is_some() {
                        self.request.last_event_id.clone_from(&event.id);
                    }
                    return Ok(event);
                }
                Some(Err(error)) => self.failed(error)?,
                None => self.wait(None),
            }
        }
    }

    /// Why it is not connected at present, if an attempt has failed.
    pub fn failure(&self) -> Option<&Error> {
        self.failure.as_ref()
    }

    /// The id of the last event, or the one after which the stream began; `None` until it is open.
    pub fn last_event_id(&self) -> Option<&str> {
        self.request.last_event_id.as_deref()
    }

    fn failed(&mut self, error: Error) -> Result<(), Error> {
        let refusal = error
            .api()
            .map(|refusal| (refusal.status, refusal.retry_after));
        let again = match (&error, refusal) {
            (_, Some((status, _))) => {
                status.is_server_error()
                    || matches!(
                        status,
                        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS
                    )
            }
            (Error::Transport(_) | Error::Body(_) | Error::Timeout(_), None) => true,
            _ => false,
        };
        if !again {
            self.open = None;
            return Err(error);
        }
        self.wait(refusal.and_then(|(_, after)| after));
        self.failure = Some(error);
        Ok(())
    }

    /// Sets the time of the next attempt.
    fn wait(&mut self, asked: Option<Duration>) {
        self.open = None;
        let chance = (eddyline_random::number() % 1000) as f64 / 1000.0;
        self.next_attempt = Some(Instant::now() + pause(self.failures, asked, chance));
        self.failures = self.failures.saturating_add(1);
    }
}

/// How long to wait after `failures` failed attempts in a row, at least as long as the server asked.
/// `chance`, from 0 to 1, adds jitter, also to what the server asked: it sends all clients the same
/// `Retry-After`, and they would all return at once.
fn pause(failures: u32, asked: Option<Duration>, chance: f64) -> Duration {
    let own = FIRST_PAUSE
        .saturating_mul(1 << failures.min(10))
        .min(LONGEST_PAUSE);
    let own = own.mul_f64(0.5 + chance / 2.0);
    let asked = asked.unwrap_or_default().min(LONGEST_ASKED);
    own.max(asked.mul_f64(1.0 + chance / 4.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_doubles_up_to_half_a_minute_and_varies_by_half() {
        let seconds = |failures, chance| pause(failures, None, chance).as_secs_f64();
        assert_eq!([seconds(0, 0.0), seconds(0, 1.0)], [0.5, 1.0]);
        assert_eq!([seconds(3, 0.0), seconds(3, 1.0)], [4.0, 8.0]);
        assert_eq!([seconds(99, 0.0), seconds(99, 1.0)], [15.0, 30.0]);
    }

    #[test]
    fn a_pause_that_the_server_asks_for_is_kept_and_up_to_a_quarter_longer() {
        let seconds = |asked, chance| {
            let asked = Some(Duration::from_secs(asked));
            pause(0, asked, chance).as_secs_f64()
        };
        assert_eq!([seconds(20, 0.0), seconds(20, 1.0)], [20.0, 25.0]);
        assert_eq!(seconds(1_000_000, 0.0), 3600.0, "at most an hour");
        assert_eq!(seconds(0, 1.0), 1.0, "the own pause is longer");
    }
}
