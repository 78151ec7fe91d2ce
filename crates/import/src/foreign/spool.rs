//! Messages that wait in a file to be sorted.

use std::fs::File;
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};

use super::ForeignMessage;
use crate::{Error, Result};

/// The most messages: their places take 32 bytes of memory each.
const MAX_MESSAGES: usize = 20_000_000;

/// Where a message waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    room: u32,
    sent: i64,
    offset: u64,
    size: u32,
}

/// Messages in a temporary file without a name.
pub(crate) struct Spool {
    file: BufWriter<File>,
    offset: u64,
    waiting: Vec<Waiting>,
}

impl Spool {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self {
            file: BufWriter::with_capacity(256 * 1024, tempfile::tempfile()?),
            offset: 0,
            waiting: Vec::new(),
        })
    }

    /// Takes a message of the room at this place of the list of rooms.
    pub(crate) fn push(&mut self, room: usize, message: &ForeignMessage) -> Result<()> {
        let bytes = serde_json::to_vec(message).map_err(std::io::Error::other)?;
        let too_many = || Error::Unfit("the archive has too many messages".to_owned());
        if self.waiting.len() >= MAX_MESSAGES {
            return Err(too_many());
        }
        self.file.write_all(&bytes)?;
        self.waiting.push(Waiting {
            room: u32::try_from(room).map_err(|_| too_many())?,
            sent: crate::texts::time(message.sent).0,
            offset: self.offset,
            size: u32::try_from(bytes.len()).map_err(|_| too_many())?,
        });
        self.offset += bytes.len() as u64;
        Ok(())
    }

    /// Gives the messages by room and, within a room, by the time at which they were sent.
    pub(crate) fn each(
        self,
        mut each: impl FnMut(usize, ForeignMessage) -> Result<()>,
    ) -> Result<()> {
        let mut file = self
            .file
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)?;
        let mut waiting = self.waiting;
        waiting.sort_unstable();
        let mut bytes = Vec::new();
        for place in waiting {
            bytes.resize(place.size as usize, 0);
            file.seek(SeekFrom::Start(place.offset))?;
            file.read_exact(&mut bytes)?;
            let message = serde_json::from_slice(&bytes).map_err(std::io::Error::other)?;
            each(place.room as usize, message)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_by_room_and_time() {
        let mut spool = Spool::new().unwrap();
        for (room, sent) in [(1, 30), (0, 20), (1, 10), (0, 20), (0, 5)] {
            let id = format!("{room}-{sent}-{}", spool.waiting.len());
            spool
                .push(
                    room,
                    &ForeignMessage {
                        id,
                        sent,
                        ..ForeignMessage::default()
                    },
                )
                .unwrap();
        }
        let mut found = Vec::new();
        spool
            .each(|_, message| {
                found.push(message.id);
                Ok(())
            })
            .unwrap();
        assert_eq!(found, ["0-5-4", "0-20-1", "0-20-3", "1-10-2", "1-30-0"]);
    }
}
