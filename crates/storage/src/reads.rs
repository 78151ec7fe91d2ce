//! Reading, on a blocking thread and until a deadline.

mod shared;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use eddyline_model::RoomId;
use eddyline_model::messages::MessageQuery;
use tracing::Instrument as _;

use crate::budget::TaskBudget;
use crate::connect::Connections;
#[cfg(feature = "postgres")]
use crate::connect::cancel::Backend;
use crate::connect::deadline::Deadline;
use crate::lists::MessagePage;
use crate::reader::Reader;
use crate::rooms_list::{RoomQuery, RoomsPage, RoomsPart};
use crate::store::Store;
use crate::{Error, Result};

impl Store {
    /// Reads. The closure runs where it may block, and should ask all it needs.
    ///
    /// The read counts for the budget of the task ([`TaskBudget::current`]) and waits for a permit
    /// of it. A statement that is under way when the deadline passes, or when this future is
    /// dropped, is interrupted. A future that is dropped while it waits for a permit leaves the
    /// line.
    ///
    /// # Errors
    ///
    /// What the closure answers, [`Error::TooManyReads`], [`Error::Deadline`] and
    /// [`Error::Unavailable`].
    pub async fn read<R, F>(&self, work: F) -> Result<R>
    where
        R: Send + 'static,
        F: FnOnce(&mut Reader<'_>) -> Result<R> + Send + 'static,
    {
        let span = tracing::info_span!("store.read", otel.kind = "internal");
        self.read_in_turn(work).instrument(span).await
    }

    async fn read_in_turn<R, F>(&self, work: F) -> Result<R>
    where
        R: Send + 'static,
        F: FnOnce(&mut Reader<'_>) -> Result<R> + Send + 'static,
    {
        let budget = TaskBudget::current();
        let permit = self.readers().acquire(budget).await?;
        let read = self.begin_read(self.readers().time(budget));
        let _abandoned = read.deadline.abandon_on_drop(
            #[cfg(feature = "postgres")]
            read.backend.clone(),
        );
        let reading = self.read_threads().run(move || {
            // Given back when the work has ended, which is not before the future has been dropped.
            let _permit = permit;
            read.run(work)
        });
        reading.await?
    }

    /// A read whose time begins now.
    fn begin_read(&self, time: Duration) -> Read {
        let pool = self.connections().clone();
        Read {
            deadline: Deadline::after(time),
            #[cfg(feature = "postgres")]
            backend: pool.backend(),
            pool,
            time,
        }
    }

    /// What `show` makes of the matches of a query in a room, of about so many bytes at most. They
    /// hold everything that was posted before. It works on a blocking thread: the matches may be
    /// long.
    ///
    /// # Errors
    ///
    /// As [`Store::read`].
    pub async fn list<R, F>(
        &self,
        room: RoomId,
        query: MessageQuery,
        bytes: usize,
        show: F,
    ) -> Result<R>
    where
        R: Send + 'static,
        F: FnOnce(MessagePage) -> R + Send + 'static,
    {
        if query.search.is_some() {
            self.update_search_of(vec![room]).await?;
        }
        self.read(move |reader| Ok(show(reader.messages().list(room, &query, bytes)?)))
            .await
    }

    /// The same for a list over several rooms, as
    /// [`Messages::list_of_rooms`](crate::areas::Messages::list_of_rooms) takes them. All of it is
    /// one read, with one deadline.
    ///
    /// # Errors
    ///
    /// As [`Store::read`].
    pub async fn list_of_rooms<R, F>(
        &self,
        asked: Vec<RoomQuery>,
        part: RoomsPart,
        show: F,
    ) -> Result<R>
    where
        R: Send + 'static,
        F: FnOnce(RoomsPage) -> R + Send + 'static,
    {
        let searched = asked.iter().filter(|asked| asked.query.search.is_some());
        let searched: Vec<RoomId> = searched.map(|asked| asked.room).collect();
        if !searched.is_empty() {
            self.update_search_of(searched).await?;
        }
        self.read(move |reader| Ok(show(reader.messages().list_of_rooms(&asked, part)?)))
            .await
    }

    /// Lets messages of these rooms that were posted just now be found by their words.
    async fn update_search_of(&self, rooms: Vec<RoomId>) -> Result<()> {
        let behind = self.read(move |reader| {
            let mut behind = Vec::new();
            for room in rooms {
                if reader.messages().is_search_behind(room)? {
                    behind.push(room);
                }
            }
            Ok(behind)
        });
        for room in behind.await? {
            if let Err(error) = self.index_words(room).await {
                // A search still works on a full disk; it misses only what is not indexed yet.
                tracing::warn!(%error, "a search does without the latest messages");
                break;
            }
        }
        Ok(())
    }
}

/// A read that has a permit.
struct Read {
    pool: Connections,
    time: Duration,
    deadline: Deadline,
    #[cfg(feature = "postgres")]
    backend: Option<Backend>,
}

impl Read {
    /// Does it on this thread, which may block.
    fn run<R>(self, work: impl FnOnce(&mut Reader<'_>) -> Result<R>) -> Result<R> {
        let Self {
            pool,
            time,
            deadline,
            ..
        } = &self;
        if deadline.has_passed() {
            return Err(Error::Deadline);
        }
        let mut connection = pool.get_to_read(*time)?;
        #[cfg(feature = "postgres")]
        let _executing = match (&self.backend, connection.process()?) {
            (Some(backend), Some(process)) => Some(backend.executes(process)),
            _ => None,
        };
        // A connection dropped while a panic unwinds is closed, and with it a database in memory
        // would end.
        deadline
            .clone()
            .run(|| catch_unwind(AssertUnwindSafe(|| work(&mut connection.reader()))))
            .unwrap_or(Err(Error::Panicked("a read")))
            .map_err(|error| error.of_read(deadline.has_passed()))
    }
}

#[cfg(test)]
mod tests;
