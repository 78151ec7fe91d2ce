//! Messages that wait in a file to be sorted.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fs::File;
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};

use super::ForeignMessage;
use crate::{Error, Result};

/// The most messages of an archive.
const MAX_MESSAGES: usize = 20_000_000;
/// The most messages of a room: what they are called is in memory while they are written.
const MAX_OF_ROOM: u32 = 1_000_000;
/// The number of places of messages that wait in memory. More are sorted and put into a file.
const RUN: usize = 1_000_000;
/// The number of places of a sorted run that are read at once.
const PART: usize = 1024;

/// Where a message waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    room: u32,
    sent: i64,
    offset: u64,
    size: u32,
}

/// The bytes of a place in a file.
const PLACE: usize = 24;

impl Waiting {
    fn to_bytes(self) -> [u8; PLACE] {
        let mut bytes = [0; PLACE];
        bytes[..4].copy_from_slice(&self.room.to_le_bytes());
        bytes[4..12].copy_from_slice(&self.sent.to_le_bytes());
        bytes[12..20].copy_from_slice(&self.offset.to_le_bytes());
        bytes[20..].copy_from_slice(&self.size.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; PLACE]) -> Self {
        let (room, rest) = split(bytes);
        let (sent, rest) = split(rest);
        let (offset, rest) = split(rest);
        let (size, _) = split(rest);
        Self {
            room: u32::from_le_bytes(room),
            sent: i64::from_le_bytes(sent),
            offset: u64::from_le_bytes(offset),
            size: u32::from_le_bytes(size),
        }
    }
}

/// The first bytes and the rest; zeros where there are too few.
fn split<const N: usize>(bytes: &[u8]) -> ([u8; N], &[u8]) {
    match bytes.split_first_chunk() {
        Some((first, rest)) => (*first, rest),
        None => ([0; N], &[]),
    }
}

/// Messages in a temporary file without a name.
pub(crate) struct Spool {
    file: BufWriter<File>,
    offset: u64,
    /// Places that are not sorted yet.
    waiting: Vec<Waiting>,
    /// The most places that wait in memory.
    run: usize,
    runs: Runs,
    /// The number of messages of each room.
    of_rooms: HashMap<u32, u32>,
}

impl Spool {
    pub(crate) fn new() -> Result<Self> {
        Self::with_run(RUN)
    }

    fn with_run(run: usize) -> Result<Self> {
        Ok(Self {
            file: BufWriter::with_capacity(256 * 1024, tempfile::tempfile()?),
            offset: 0,
            waiting: Vec::new(),
            run,
            runs: Runs::new()?,
            of_rooms: HashMap::new(),
        })
    }

    /// Takes a message of the room at this place of the list of rooms.
    ///
    /// # Errors
    ///
    /// [`Error::Unfit`] for too many messages.
    pub(crate) fn push(&mut self, room: usize, message: &ForeignMessage) -> Result<()> {
        let bytes = serde_json::to_vec(message).map_err(std::io::Error::other)?;
        let too_many = |what: &str| Error::Unfit(format!("{what} has too many messages"));
        let room = u32::try_from(room).map_err(|_| too_many("the archive"))?;
        let of_room = self.of_rooms.entry(room).or_default();
        *of_room += 1;
        if *of_room > MAX_OF_ROOM {
            return Err(too_many("a flow or a conversation of the archive"));
        }
        if self.runs.len() + self.waiting.len() >= MAX_MESSAGES {
            return Err(too_many("the archive"));
        }
        self.file.write_all(&bytes)?;
        self.waiting.push(Waiting {
            room,
            sent: crate::texts::time(message.sent).0,
            offset: self.offset,
            size: u32::try_from(bytes.len()).map_err(|_| too_many("the archive"))?,
        });
        self.offset += bytes.len() as u64;
        if self.waiting.len() >= self.run {
            self.runs.add(&mut self.waiting)?;
        }
        Ok(())
    }

    /// Gives the messages by room and, within a room, by the time at which they were sent.
    pub(crate) fn each(
        mut self,
        mut each: impl FnMut(usize, ForeignMessage) -> Result<()>,
    ) -> Result<()> {
        self.runs.add(&mut self.waiting)?;
        let mut file = self
            .file
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)?;
        let mut bytes = Vec::new();
        self.runs.each(&mut |place| {
            bytes.resize(place.size as usize, 0);
            file.seek(SeekFrom::Start(place.offset))?;
            file.read_exact(&mut bytes)?;
            let message = serde_json::from_slice(&bytes).map_err(std::io::Error::other)?;
            each(place.room as usize, message)
        })
    }
}

/// Sorted runs of places, one behind the other in a temporary file.
struct Runs {
    file: File,
    /// The number of places of each run.
    lengths: Vec<usize>,
}

impl Runs {
    fn new() -> Result<Self> {
        Ok(Self {
            file: tempfile::tempfile()?,
            lengths: Vec::new(),
        })
    }

    /// Returns the number of places in all runs.
    fn len(&self) -> usize {
        self.lengths.iter().sum()
    }

    /// Sorts places and moves them into a run, which empties the list.
    fn add(&mut self, places: &mut Vec<Waiting>) -> Result<()> {
        places.sort_unstable();
        let mut file = BufWriter::with_capacity(256 * 1024, &self.file);
        for place in places.iter() {
            file.write_all(&place.to_bytes())?;
        }
        file.flush()?;
        self.lengths.push(places.len());
        places.clear();
        Ok(())
    }

    /// Gives the places of all runs in their order.
    fn each(mut self, each: &mut dyn FnMut(Waiting) -> Result<()>) -> Result<()> {
        let mut start = 0;
        let mut runs = Vec::new();
        for length in &self.lengths {
            let end = start + length;
            runs.push(Run {
                left: start..end,
                places: Vec::new(),
            });
            start = end;
        }
        let mut next = BinaryHeap::new();
        for (number, run) in runs.iter_mut().enumerate() {
            if let Some(place) = run.next(&mut self.file)? {
                next.push(Reverse((place, number)));
            }
        }
        while let Some(Reverse((place, number))) = next.pop() {
            each(place)?;
            if let Some(place) = runs[number].next(&mut self.file)? {
                next.push(Reverse((place, number)));
            }
        }
        Ok(())
    }
}

/// A sorted run that is being read.
struct Run {
    /// The places in the file that are not read yet.
    left: std::ops::Range<usize>,
    /// The places that are read, the next one last.
    places: Vec<Waiting>,
}

impl Run {
    fn next(&mut self, file: &mut File) -> Result<Option<Waiting>> {
        if self.places.is_empty() && !self.left.is_empty() {
            let count = self.left.len().min(PART);
            let mut bytes = vec![0; count * PLACE];
            file.seek(SeekFrom::Start((self.left.start * PLACE) as u64))?;
            file.read_exact(&mut bytes)?;
            let (places, _) = bytes.as_chunks();
            self.places = places.iter().rev().map(Waiting::from_bytes).collect();
            self.left.start += count;
        }
        Ok(self.places.pop())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: String, sent: i64) -> ForeignMessage {
        ForeignMessage {
            id,
            sent,
            ..ForeignMessage::default()
        }
    }

    fn ids(spool: Spool) -> Vec<String> {
        let mut ids = Vec::new();
        spool
            .each(|_, message| {
                ids.push(message.id);
                Ok(())
            })
            .unwrap();
        ids
    }

    #[test]
    fn messages_come_back_by_room_and_time() {
        // In one run, and in runs that are merged.
        for run in [100, 2, 1] {
            let mut spool = Spool::with_run(run).unwrap();
            for (place, (room, sent)) in [(1, 30), (0, 20), (1, 10), (0, 20), (0, 5)]
                .into_iter()
                .enumerate()
            {
                let message = message(format!("{room}-{sent}-{place}"), sent);
                spool.push(room, &message).unwrap();
            }
            let expected = ["0-5-4", "0-20-1", "0-20-3", "1-10-2", "1-30-0"];
            assert_eq!(ids(spool), expected, "{run}");
        }
    }

    #[test]
    fn runs_longer_than_a_part_are_merged() {
        let mut spool = Spool::with_run(3 * PART).unwrap();
        let count = 10 * PART;
        for number in 0..count {
            // Each number once, in no order.
            let sent = (number * 7919 % count) as i64;
            spool.push(0, &message(sent.to_string(), sent)).unwrap();
        }
        let expected: Vec<String> = (0..count).map(|sent| sent.to_string()).collect();
        assert_eq!(ids(spool), expected);
    }

    #[test]
    fn a_room_has_a_bounded_number_of_messages() {
        let mut spool = Spool::new().unwrap();
        spool.of_rooms.insert(1, MAX_OF_ROOM - 1);
        let message = message("last".to_owned(), 1);
        spool.push(1, &message).unwrap();
        let error = spool.push(1, &message).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a flow or a conversation of the archive has too many messages"
        );
        spool.push(2, &message).unwrap();
    }

    #[test]
    fn an_archive_has_a_bounded_number_of_messages() {
        let mut spool = Spool::new().unwrap();
        spool.runs.lengths.push(MAX_MESSAGES - 1);
        let message = message("last".to_owned(), 1);
        spool.push(1, &message).unwrap();
        let error = spool.push(2, &message).unwrap_err();
        assert_eq!(error.to_string(), "the archive has too many messages");
    }
}
