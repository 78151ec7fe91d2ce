//! Posts marked messages, one after the other.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::gathering::Gathering;
use super::mark::Mark;
use crate::Result;
use crate::connection::Connection;

/// When the next message is due.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pace {
    /// As soon as fewer than so many are under way.
    Window(usize),
    /// This long after the one before was due.
    Every(Duration),
}

/// One who publishes.
pub(super) struct Publisher {
    connection: Connection,
    number: usize,
    request: Vec<u8>,
    /// Where the mark stands in the request.
    place: usize,
    gathering: Rc<Gathering>,
}

impl Publisher {
    pub(super) async fn open(
        address: SocketAddr,
        number: usize,
        request: Vec<u8>,
        gathering: Rc<Gathering>,
    ) -> Result<Self> {
        let place = memchr::memmem::find(&request, Mark::PLACE.as_bytes());
        let place = place.ok_or("the message has no place for a mark")?;
        Ok(Self {
            connection: Connection::open(address).await?,
            number,
            request,
            place,
            gathering,
        })
    }

    /// Publishes at this pace until all is to end.
    pub(super) async fn run(mut self, pace: Pace) {
        let mut due = self.gathering.now();
        loop {
            let at = self.moment(pace, &mut due).await;
            if self.gathering.is_stopped() {
                return;
            }
            let mark = Mark {
                publisher: self.number,
                sequence: self.gathering.send(self.number),
                at,
            };
            mark.write(&mut self.request[self.place..]);
            match self.connection.exchange(&self.request).await {
                Ok(response) if response.status / 100 == 2 => {}
                Ok(_) => self.gathering.note_refused(),
                Err(_) => return self.gathering.note_error(),
            }
        }
    }

    /// Waits for the next message's moment, and gives the time from which it counts.
    async fn moment(&self, pace: Pace, due: &mut Duration) -> Duration {
        match pace {
            Pace::Window(window) => {
                self.gathering.room_for_one_of(window).await;
                self.gathering.now()
            }
            Pace::Every(gap) => {
                *due += gap;
                let now = self.gathering.now();
                if now >= *due {
                    // The last answer came too late. The publisher has waited since then.
                    return *due;
                }
                tokio::time::sleep_until((Instant::now() + (*due - now)).into()).await;
                self.gathering.now()
            }
        }
    }
}
