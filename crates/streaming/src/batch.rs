//! What a subscription hands out: whole frames, ready to be written.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::Arc;

use bytes::{Buf, Bytes, BytesMut};
use eddyline_model::Seq;

use crate::entry::{Entry, SubscriptionFilter};
use crate::framing::{Frame, StreamFormat};

/// All frames that were waiting for a listener, up to the size that the hub's configuration sets
/// for one write.
///
/// It is a [`Buf`]: a socket writes it with `write_buf` in as few calls as the kernel allows, and
/// without copying. A body, which needs one piece, takes it with [`Batch::into_bytes`].
#[derive(Debug)]
pub struct Batch {
    format: StreamFormat,
    /// Whether each frame is a chunk of HTTP.
    chunked: bool,
    pieces: VecDeque<OutgoingFrame>,
    /// How much of the first piece is written.
    begun: usize,
}

#[derive(Debug)]
enum OutgoingFrame {
    Entry(Arc<Entry>),
    /// What is said whatever the rights are: a keep-alive, a reset.
    Notice(Frame),
}

impl Batch {
    pub(crate) fn of_entries(format: StreamFormat, entries: Vec<Arc<Entry>>) -> Self {
        let pieces = entries.into_iter().map(OutgoingFrame::Entry).collect();
        Self {
            format,
            chunked: false,
            pieces,
            begun: 0,
        }
    }

    pub(crate) fn keep_alive(format: StreamFormat) -> Self {
        Self::notice(format, format.keep_alive())
    }

    pub(crate) fn notice(format: StreamFormat, frame: Frame) -> Self {
        Self {
            format,
            chunked: false,
            pieces: VecDeque::from([OutgoingFrame::Notice(frame)]),
            begun: 0,
        }
    }

    /// The same frames, each as a chunk of HTTP/1.1 (RFC 9112, section 7.1). Nothing of it is
    /// written yet.
    pub(crate) fn chunked(self, chunked: bool) -> Self {
        Self { chunked, ..self }
    }

    /// The entries that are not wholly written yet, in order. A keep-alive and a reset have none.
    pub fn entries(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.pieces.iter().filter_map(|piece| match piece {
            OutgoingFrame::Entry(entry) => Some(entry),
            OutgoingFrame::Notice(_) => None,
        })
    }

    /// All bytes not yet written, in one piece. A single whole frame is shared, not copied.
    #[must_use]
    pub fn into_bytes(mut self) -> Bytes {
        if let (1, 0, false, Some(OutgoingFrame::Entry(entry))) = (
            self.pieces.len(),
            self.begun,
            self.chunked,
            self.pieces.front(),
        ) {
            return entry.frame(self.format).to_bytes();
        }
        let mut all = BytesMut::with_capacity(self.remaining());
        while self.has_remaining() {
            let written = {
                let chunk = self.chunk();
                all.extend_from_slice(chunk);
                chunk.len()
            };
            self.advance(written);
        }
        all.freeze()
    }

    /// Drops the frames that `filter` does not let through. One that is written in part stays:
    /// half a frame would garble the rest of the stream.
    pub(crate) fn retain_admitted(&mut self, filter: &SubscriptionFilter) {
        let mut begun = self.begun > 0;
        self.pieces.retain(|piece| {
            std::mem::take(&mut begun)
                || match piece {
                    OutgoingFrame::Entry(entry) => filter.admits(entry.audience()),
                    OutgoingFrame::Notice(_) => true,
                }
        });
    }

    /// Drops all frames from the first entry on that no byte was written of, and gives the position
    /// of that entry; `None` when there is none.
    pub(crate) fn give_back(&mut self) -> Option<Seq> {
        let skipped = usize::from(self.begun > 0);
        let is_stored = |piece: &OutgoingFrame| matches!(piece, OutgoingFrame::Entry(entry) if entry.id().is_some());
        let index = skipped + self.pieces.iter().skip(skipped).position(is_stored)?;
        let first = self.pieces.drain(index..).next();
        // What is not stored follows from the entries before it, and may get lost with them.
        first.and_then(|piece| match piece {
            OutgoingFrame::Entry(entry) => Some(entry.seq()),
            OutgoingFrame::Notice(_) => None,
        })
    }

    fn bytes_of<'a>(&self, piece: &'a OutgoingFrame) -> &'a [u8] {
        let frame = match piece {
            OutgoingFrame::Entry(entry) => entry.frame(self.format),
            OutgoingFrame::Notice(frame) => frame,
        };
        if self.chunked {
            frame.chunk()
        } else {
            frame.data()
        }
    }

    /// What is left to write, frame by frame.
    fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        let begun = std::iter::once(self.begun).chain(std::iter::repeat(0));
        self.pieces
            .iter()
            .zip(begun)
            .map(|(piece, begun)| &self.bytes_of(piece)[begun..])
    }
}

impl Buf for Batch {
    fn remaining(&self) -> usize {
        self.chunks().map(<[u8]>::len).sum()
    }

    fn has_remaining(&self) -> bool {
        !self.pieces.is_empty()
    }

    fn chunk(&self) -> &[u8] {
        self.chunks().next().unwrap_or_default()
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let filled = slices
            .iter_mut()
            .zip(self.chunks())
            .map(|(slice, chunk)| *slice = IoSlice::new(chunk));
        filled.count()
    }

    fn advance(&mut self, mut count: usize) {
        while count > 0 {
            let left = self.chunk().len();
            assert!(left > 0, "cannot advance past the end of a batch");
            if count < left {
                self.begun += count;
                return;
            }
            count -= left;
            self.begun = 0;
            self.pieces.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Audience;
    use eddyline_model::{EventId, RoomId, Seq};

    fn entry(seq: i64, room: i64) -> Arc<Entry> {
        let id = EventId {
            seq: Seq(seq),
            check: 0,
        };
        Arc::new(Entry::new(
            id,
            Audience::Room(RoomId(room)),
            format!("{{\"n\":{seq}}}").as_bytes(),
        ))
    }

    #[test]
    fn a_batch_can_be_written_bit_by_bit() {
        let mut batch = Batch::of_entries(StreamFormat::Json, vec![entry(1, 1), entry(2, 1)]);
        let mut written = Vec::new();
        while batch.has_remaining() {
            written.push(batch.chunk()[0]);
            batch.advance(1);
        }
        assert_eq!(written, b"{\"n\":1}\r\n{\"n\":2}\r\n");
    }

    #[test]
    fn a_vectored_write_gets_all_frames_at_once() {
        let mut batch = Batch::of_entries(StreamFormat::Json, vec![entry(1, 1), entry(2, 1)]);
        batch.advance(3);
        let mut slices = [IoSlice::new(b""); 4];
        assert_eq!(batch.chunks_vectored(&mut slices), 2);
        assert_eq!(
            (&slices[0][..], &slices[1][..]),
            (&b"\":1}\r\n"[..], &b"{\"n\":2}\r\n"[..])
        );
    }

    #[test]
    fn each_frame_of_a_chunked_batch_is_a_chunk() {
        let batch =
            Batch::of_entries(StreamFormat::Json, vec![entry(1, 1), entry(2, 1)]).chunked(true);
        assert_eq!(
            &batch.into_bytes()[..],
            b"9\r\n{\"n\":1}\r\n\r\n9\r\n{\"n\":2}\r\n\r\n"
        );
        let single = Batch::keep_alive(StreamFormat::Sse).chunked(true);
        assert_eq!(&single.into_bytes()[..], b"3\r\n:\n\n\r\n");
    }

    #[test]
    fn a_single_frame_is_handed_over_without_a_copy() {
        let entry = entry(1, 1);
        let bytes = Batch::of_entries(StreamFormat::Sse, vec![entry.clone()]).into_bytes();
        assert_eq!(
            bytes.as_ptr(),
            entry.frame(StreamFormat::Sse).data().as_ptr()
        );
        assert_eq!(
            &Batch::keep_alive(StreamFormat::Json).into_bytes()[..],
            b"\n"
        );
    }

    #[test]
    fn a_lost_room_is_cut_out_of_what_is_not_written_yet() {
        let mut batch = Batch::of_entries(
            StreamFormat::Json,
            vec![entry(1, 1), entry(2, 1), entry(3, 2)],
        );
        batch.advance(2);
        batch.retain_admitted(&SubscriptionFilter::new(vec![RoomId(2)], None));
        assert_eq!(
            &batch.into_bytes()[..],
            b"n\":1}\r\n{\"n\":3}\r\n",
            "the begun frame is finished"
        );
    }
}
