//! Messages that wait in a file to be sorted.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fs::File;
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use super::ForeignMessage;
use crate::{Error, ImportReport, LeftOutKind, Result};

/// The most messages of an archive.
const MAX_MESSAGES: usize = 20_000_000;
/// The most messages of a room: what they are called is in memory while they are written.
const MAX_OF_ROOM: u32 = 1_000_000;
/// The most bytes of what the messages of a room, and those that they answer, are called together:
/// what a million of them take whose ids are digests.
const MAX_IDS_OF_ROOM: usize = 64 << 20;
/// The bytes of messages that may wait for each byte of the archive.
const BYTES_FOR_ONE: u64 = 64;
/// The bytes of messages that may wait of any archive: what machines say again and again packs well.
const BYTES_OF_ANY: u64 = 1 << 30;
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

/// Counts of the messages of a room.
#[derive(Default)]
struct OfRoom {
    messages: u32,
    /// The bytes of what they, and those that they answer, are called.
    ids: usize,
}

/// Messages in a temporary file without a name.
pub(crate) struct Spool {
    file: BufWriter<File>,
    offset: u64,
    /// The most bytes of messages.
    limit: u64,
    /// Places that are not sorted yet.
    waiting: Vec<Waiting>,
    /// The most places that wait in memory.
    run: usize,
    runs: Runs,
    of_rooms: HashMap<u32, OfRoom>,
}

impl Spool {
    /// A spool for the messages of an archive of so many bytes.
    pub(crate) fn new(archive: u64) -> Result<Self> {
        Self::with_run(RUN, archive)
    }

    /// A spool for the messages of an archive in a file.
    pub(crate) fn of(archive: &Path) -> Result<Self> {
        Self::new(std::fs::metadata(archive)?.len())
    }

    fn with_run(run: usize, archive: u64) -> Result<Self> {
        Ok(Self {
            limit: archive
                .saturating_mul(BYTES_FOR_ONE)
                .saturating_add(BYTES_OF_ANY),
            file: BufWriter::with_capacity(256 * 1024, tempfile::tempfile()?),
            offset: 0,
            waiting: Vec::new(),
            run,
            runs: Runs::new()?,
            of_rooms: HashMap::new(),
        })
    }

    /// Takes a message of the room at this place of the list of rooms. One that names itself or
    /// others by what is no id is left out.
    ///
    /// # Errors
    ///
    /// [`Error::Unfit`] for too many messages, or too many bytes of them.
    pub(crate) fn push(
        &mut self,
        report: &mut ImportReport,
        room: usize,
        message: &ForeignMessage,
    ) -> Result<()> {
        if !message.has_ids() {
            let which = format!("a message at {}", message.sent);
            report.leave_out(LeftOutKind::UnreadableRecord, which);
            return Ok(());
        }
        let too_many = |what: &str| Error::Unfit(format!("{what} has too many messages"));
        let room = u32::try_from(room).map_err(|_| too_many("the archive"))?;
        let of_room = self.of_rooms.entry(room).or_default();
        of_room.messages += 1;
        of_room.ids += message.id.len() + message.answers.as_ref().map_or(0, String::len);
        if of_room.messages > MAX_OF_ROOM || of_room.ids > MAX_IDS_OF_ROOM {
            return Err(too_many("a flow or a conversation of the archive"));
        }
        if self.runs.len() + self.waiting.len() >= MAX_MESSAGES {
            return Err(too_many("the archive"));
        }
        let bytes = serde_json::to_vec(message).map_err(std::io::Error::other)?;
        if self.offset + bytes.len() as u64 > self.limit {
            return Err(Error::Unfit(format!(
                "the messages of the archive are too long for its size: more than {} MiB",
                self.limit >> 20
            )));
        }
        self.file.write_all(&bytes)?;
        self.waiting.push(Waiting {
            room,
            sent: message.sent.max(0),
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

    fn push(spool: &mut Spool, room: usize, message: &ForeignMessage) -> Result<()> {
        spool.push(&mut ImportReport::default(), room, message)
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
            let mut spool = Spool::with_run(run, 0).unwrap();
            for (place, (room, sent)) in [(1, 30), (0, 20), (1, 10), (0, 20), (0, 5)]
                .into_iter()
                .enumerate()
            {
                let message = message(format!("{room}-{sent}-{place}"), sent);
                push(&mut spool, room, &message).unwrap();
            }
            let expected = ["0-5-4", "0-20-1", "0-20-3", "1-10-2", "1-30-0"];
            assert_eq!(ids(spool), expected, "{run}");
        }
    }

    #[test]
    fn runs_longer_than_a_part_are_merged() {
        let mut spool = Spool::with_run(3 * PART, 0).unwrap();
        let count = 10 * PART;
        for number in 0..count {
            // Each number once, in no order.
            let sent = (number * 7919 % count) as i64;
            push(&mut spool, 0, &message(sent.to_string(), sent)).unwrap();
        }
        let expected: Vec<String> = (0..count).map(|sent| sent.to_string()).collect();
        assert_eq!(ids(spool), expected);
    }

    #[test]
    fn a_room_has_a_bounded_number_of_messages() {
        let mut spool = Spool::new(0).unwrap();
        spool.of_rooms.entry(1).or_default().messages = MAX_OF_ROOM - 1;
        let message = message("last".to_owned(), 1);
        push(&mut spool, 1, &message).unwrap();
        let error = push(&mut spool, 1, &message).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a flow or a conversation of the archive has too many messages"
        );
        push(&mut spool, 2, &message).unwrap();
    }

    #[test]
    fn an_archive_has_a_bounded_number_of_messages() {
        let mut spool = Spool::new(0).unwrap();
        spool.runs.lengths.push(MAX_MESSAGES - 1);
        let message = message("last".to_owned(), 1);
        push(&mut spool, 1, &message).unwrap();
        let error = push(&mut spool, 2, &message).unwrap_err();
        assert_eq!(error.to_string(), "the archive has too many messages");
    }

    #[test]
    fn the_ids_of_a_room_have_a_bound_together() {
        let mut spool = Spool::new(0).unwrap();
        let message = ForeignMessage {
            answers: Some("b".repeat(10)),
            ..message("a".repeat(10), 1)
        };
        push(&mut spool, 1, &message).unwrap();
        spool.of_rooms.entry(1).or_default().ids = MAX_IDS_OF_ROOM - 19;
        push(&mut spool, 1, &message).unwrap_err();
        push(&mut spool, 2, &message).unwrap();
    }

    #[test]
    fn the_bytes_that_wait_have_a_bound_that_grows_with_the_archive() {
        for (archive, mebibytes) in [(0, 1024), (1 << 20, 1088), (100 << 20, 7424)] {
            let mut spool = Spool::new(archive).unwrap();
            spool.offset = (mebibytes << 20) - 1000;
            let message = message("a".repeat(200), 1);
            push(&mut spool, 1, &message).unwrap();
            let error = (0..3).find_map(|_| push(&mut spool, 1, &message).err());
            let expected = format!(
                "the messages of the archive are too long for its size: more than {mebibytes} MiB"
            );
            assert_eq!(error.unwrap().to_string(), expected);
        }
    }

    #[test]
    fn a_message_without_an_id_is_left_out_and_counted() {
        let (mut spool, mut report) = (Spool::new(0).unwrap(), ImportReport::default());
        let long = "1".repeat(300);
        let answer = ForeignMessage {
            answers: Some(long.clone()),
            ..message("1.1".to_owned(), 1)
        };
        let of_nobody = ForeignMessage {
            author: Some("a\0".to_owned()),
            ..message("1.2".to_owned(), 1)
        };
        for message in [message(long, 1), answer, of_nobody] {
            spool.push(&mut report, 0, &message).unwrap();
        }
        assert_eq!(report.left_out[0].kind, LeftOutKind::UnreadableRecord);
        assert_eq!(report.left_out[0].count, 3);
        assert!(ids(spool).is_empty());
    }
}
