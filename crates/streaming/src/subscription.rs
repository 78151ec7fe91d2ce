//! One listener: where it stands, and what it is handed next.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use eddyline_model::{EventId, Seq};
use futures_util::FutureExt;

use crate::batch::Batch;
use crate::catchup::{LogUnavailable, Page, Step};
use crate::entry::{Audience, Entry};
use crate::framing::{self, StreamFormat};
use crate::listeners::{Call, ListenerId, Signal};
use crate::shared::{Look, Position, Shared};

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// How often in a row a page is read again because entries were amended meanwhile. More would let
/// constant edits keep a listener from getting on.
const MOST_REREADS: u8 = 3;

/// An open stream.
///
/// It holds no entries, only its position: entries stay in the ring or in the log until the
/// stream is ready to write them. Dropping it closes the stream.
///
/// ```no_run
/// # use bytes::Buf;
/// # use eddyline_streaming::Subscription;
/// # async fn write(_: &mut impl Buf) {}
/// # async fn example(mut stream: Subscription) {
/// while let Some(mut batch) = stream.next().await {
///     while batch.has_remaining() {
///         tokio::select! {
///             biased;
///             () = stream.rights_lost() => {
///                 if !stream.retain_allowed(&mut batch) {
///                     return;
///                 }
///             }
///             () = write(&mut batch) => {}
///         }
///     }
/// }
/// # }
/// ```
pub struct Subscription {
    shared: Arc<Shared>,
    /// `None` for a stream that listens to nothing.
    id: Option<ListenerId>,
    signal: Arc<Signal>,
    format: StreamFormat,
    chunked: bool,
    full_detail: bool,
    position: Position,
    opening: Option<Opening>,
    began_after: Option<EventId>,
    /// What a stream below the ring waits for.
    step: Option<Step>,
    /// How often in a row the log was away.
    failures: u32,
    /// How often in a row a page was read again.
    rereads: u8,
}

/// What a stream says first. Something is said at once, so that the client and all between know
/// that it is open.
pub(crate) enum Opening {
    KeepAlive,
    Reset(EventId),
}

impl Subscription {
    pub(crate) fn new(
        shared: Arc<Shared>,
        id: Option<ListenerId>,
        signal: Arc<Signal>,
        (format, full_detail): (StreamFormat, bool),
        position: Position,
        opening: Opening,
        began_after: Option<EventId>,
    ) -> Self {
        Self {
            shared,
            id,
            signal,
            format,
            chunked: false,
            full_detail,
            position,
            opening: Some(opening),
            began_after,
            step: None,
            failures: 0,
            rereads: 0,
        }
    }

    /// Has each frame of the following batches written as a chunk of HTTP/1.1 (RFC 9112, section
    /// 7.1). The end of the response, an empty chunk, is the caller's to write.
    pub fn use_chunks(&mut self) {
        self.chunked = true;
    }

    /// Waits for something to write; `None` when the stream was ended. The first batch comes at
    /// once. May be dropped while it waits, and called again.
    pub async fn next(&mut self) -> Option<Batch> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// As [`Subscription::next`], for those who are polled themselves. It leaves the waker of the
    /// latest of its calls and of [`Subscription::poll_rights_lost`] behind, which must be of one
    /// task.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Batch>> {
        self.signal.register(cx.waker());
        if let Some(opening) = self.opening.take() {
            return self.hand_out(self.opening_batch(&opening));
        }
        let Some(id) = self.id else {
            return Poll::Ready(None);
        };
        if self.signal.answer(Call::Rights) && self.shared.filter_of(id).is_none() {
            return Poll::Ready(None);
        }
        loop {
            match self.poll_step(cx) {
                Poll::Pending => return self.poll_keep_alive(),
                Poll::Ready(None) => {}
                Poll::Ready(Some(Err(LogUnavailable))) => {
                    self.step = Some(self.pause());
                    continue;
                }
                Poll::Ready(Some(Ok(page))) => {
                    self.failures = 0;
                    if self.is_outdated() {
                        continue;
                    }
                    let Some(entries) = self.take_from(&page, id) else {
                        return Poll::Ready(None);
                    };
                    if !entries.is_empty() {
                        return self.hand_out(self.batch(entries));
                    }
                }
            }
            // Answered before looking: what comes after the look calls again.
            self.signal.answer(Call::News);
            self.signal.answer(Call::Amended);
            match self.shared.look(id, self.position) {
                Look::Ended => return Poll::Ready(None),
                Look::Below {
                    through,
                    filter,
                    caller,
                } => {
                    let pages = self.shared.pages();
                    self.step = Some(pages.look_up(self.position.cursor, through, &filter, caller));
                }
                Look::Ring { entries, position } => {
                    self.position = position;
                    if entries.is_empty() {
                        return self.poll_keep_alive();
                    }
                    return self.hand_out(self.batch(entries));
                }
            }
        }
    }

    /// Waits until the stream loses rights, which is at once when it lost some since the last batch
    /// was handed out. It is also ready when entries were amended that the batch may hold. To be
    /// awaited beside a write, which may take long; see [`Subscription::retain_allowed`].
    pub async fn rights_lost(&self) {
        poll_fn(|cx| self.poll_rights_lost(cx)).await;
    }

    /// As [`Subscription::rights_lost`], for those who are polled themselves.
    pub fn poll_rights_lost(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.signal.register(cx.waker());
        let called = self.signal.is_called(Call::Rights) || self.signal.is_called(Call::Amended);
        if called {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }

    /// Cuts out of a batch what may not be heard any more, except for a frame that is written in
    /// part. When entries were amended, it takes back all that is not written, and hands it out
    /// again as it is now. `false` when the stream was ended: then nothing more of it is to be
    /// written.
    #[must_use]
    pub fn retain_allowed(&mut self, batch: &mut Batch) -> bool {
        if self.signal.answer(Call::Amended)
            && let Some(first) = batch.give_back()
        {
            self.position.cursor = Seq(first.0 - 1);
        }
        self.signal.answer(Call::Rights);
        let Some(filter) = self.id.and_then(|id| self.shared.filter_of(id)) else {
            return self.id.is_none();
        };
        batch.retain_admitted(&filter);
        true
    }

    /// The event after which the stream began. A stream that resumes after it delivers all that this
    /// one delivers, and perhaps events from just before this one was opened. `None` when the first
    /// frame is a reset.
    #[must_use]
    pub fn began_after(&self) -> Option<EventId> {
        self.began_after
    }

    /// Everything up to this position has been handed out, or was not for this stream.
    #[must_use]
    pub fn position(&self) -> Seq {
        self.position.cursor
    }

    fn poll_step(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Arc<Page>, LogUnavailable>>> {
        let outcome = match &mut self.step {
            None => None,
            Some(Step::Found(page)) => Some(Ok(Arc::clone(page))),
            Some(Step::Read(reading)) => Some(ready!(reading.poll_unpin(cx))),
            Some(Step::Retry(pause)) => {
                ready!(pause.poll_unpin(cx));
                None
            }
        };
        self.step = None;
        Poll::Ready(outcome)
    }

    /// Takes what the listener may hear of a page by the rights of now, up to the size of one
    /// write. The rest is looked up again, mostly in the same page. `None` when it was ended.
    fn take_from(&mut self, page: &Page, id: ListenerId) -> Option<Vec<Arc<Entry>>> {
        let filter = self.shared.filter_of(id)?;
        let mut entries: Vec<Arc<Entry>> = Vec::new();
        let mut bytes = 0;
        let start = page
            .entries
            .partition_point(|entry| entry.seq() <= self.position.cursor);
        for entry in page.entries[start..]
            .iter()
            .filter(|entry| filter.admits_entry(entry))
        {
            if bytes >= self.shared.write_bytes()
                && let Some(last) = entries.last()
            {
                self.position.cursor = last.seq();
                return Some(entries);
            }
            bytes += entry.size();
            entries.push(Arc::clone(entry));
        }
        self.position.cursor = self.position.cursor.max(page.through);
        Some(entries)
    }

    /// Whether entries were amended while the page that has just come was read. It may hold what is
    /// gone.
    fn is_outdated(&mut self) -> bool {
        if self.signal.is_called(Call::Amended) && self.rereads < MOST_REREADS {
            self.rereads += 1;
            // Answered before the page is looked for again.
            self.signal.answer(Call::Amended);
            return true;
        }
        self.rereads = 0;
        false
    }

    fn pause(&mut self) -> Step {
        let pause = FIRST_PAUSE
            .saturating_mul(1 << self.failures.min(8))
            .min(LONGEST_PAUSE);
        self.failures += 1;
        #[expect(
            clippy::disallowed_methods,
            reason = "a pause before the database is tried again"
        )]
        Step::Retry(Box::pin(tokio::time::sleep(pause)))
    }

    fn poll_keep_alive(&mut self) -> Poll<Option<Batch>> {
        if self.signal.is_called(Call::KeepAlive) {
            return self.hand_out(Batch::keep_alive(self.format));
        }
        Poll::Pending
    }

    fn hand_out(&self, batch: Batch) -> Poll<Option<Batch>> {
        self.signal.wrote(self.shared.now());
        Poll::Ready(Some(batch.chunked(self.chunked)))
    }

    fn batch(&self, mut entries: Vec<Arc<Entry>>) -> Batch {
        if !self.full_detail {
            for entry in &mut entries {
                if let Some(restricted) = entry.restricted().map(Arc::clone) {
                    *entry = restricted;
                }
            }
        }
        Batch::of_entries(self.format, entries)
    }

    fn opening_batch(&self, opening: &Opening) -> Batch {
        match opening {
            Opening::KeepAlive => Batch::keep_alive(self.format),
            Opening::Reset(head) => {
                let nobody = Audience::Many {
                    rooms: [].into(),
                    users: [].into(),
                };
                let reset = Entry::new(*head, nobody, framing::RESET);
                Batch::notice(self.format, reset.frame(self.format).clone())
            }
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.shared.unsubscribe(id);
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("id", &self.id)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}
