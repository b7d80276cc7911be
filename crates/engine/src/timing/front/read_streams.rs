//! Sequential reads, and read-ahead.
//!
//! A read that begins at the end of an earlier one forms a stream. The controller serves a stream segment by segment,
//! in order, with at most a window of it in flight or in its read buffer; data transferred to the host frees the window
//! for what follows, requested or not. So a long read is not spread over all dies at once, and the next one finds its
//! beginning in the buffer. This file records which bytes are where; the front performs the operations (`reading`).

use crate::specification::drive::ReadAhead;
use std::collections::VecDeque;

/// Streams tracked at a time.
const STREAMS: usize = 8;

pub type SegmentId = u32;

#[derive(Clone, Copy, Debug)]
struct Segment {
    /// None if its data is no longer needed.
    stream: Option<usize>,
    end: u64,
    /// Units still to arrive from flash, and whether more may be added.
    units_left: u32,
    is_translating: bool,
}

impl Segment {
    fn is_here(&self) -> bool {
        self.units_left == 0 && !self.is_translating
    }
}

/// Data of a request transferred to the host together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub slot: u32,
    pub bytes: u32,
    pub ends_request: bool,
}

#[derive(Clone, Debug, Default)]
struct Stream {
    /// The start of the stream's next request.
    next_offset: u64,
    /// False for the first request, which does not form a stream.
    is_sequential: bool,
    issued_to: u64,
    /// The end of the data transferred to the host, or in transfer.
    sent_to: u64,
    delivered_to: u64,
    segments: VecDeque<SegmentId>,
    /// Bytes of the pieces in transfer to the host.
    pieces: VecDeque<u32>,
    /// Slots and ends of waiting requests, in order.
    waiting: VecDeque<(u32, u64)>,
    /// How many of these, the last ones, the controller has yet to process.
    unprocessed: usize,
    used_at: u64,
}

#[derive(Clone, Debug)]
pub struct ReadStreams {
    window_bytes: u64,
    segment_bytes: u64,
    user_bytes: u64,
    streams: Vec<Stream>,
    segments: Vec<Segment>,
    spare_segments: Vec<SegmentId>,
    uses: u64,
}

impl ReadStreams {
    /// None for a drive without read-ahead.
    pub fn new(keys: &ReadAhead, user_bytes: u64) -> Option<Self> {
        (keys.window_bytes > 0).then(|| Self {
            window_bytes: keys.window_bytes,
            segment_bytes: keys.segment_bytes,
            user_bytes,
            streams: vec![Stream::default(); STREAMS],
            segments: Vec::new(),
            spare_segments: Vec::new(),
            uses: 0,
        })
    }

    /// The stream of a read. A read that continues no other is recorded as a possible beginning, and has no stream.
    pub fn stream_of(&mut self, offset: u64, length: u32) -> Option<usize> {
        self.uses += 1;
        let found = self.streams.iter().position(|stream| stream.used_at > 0 && stream.next_offset == offset);
        if let Some(index) = found {
            let stream = &mut self.streams[index];
            if !stream.is_sequential {
                stream.is_sequential = true;
                (stream.issued_to, stream.sent_to, stream.delivered_to) = (offset, offset, offset);
            }
            stream.next_offset = offset + u64::from(length);
            stream.used_at = self.uses;
            return found;
        }
        let idle = (0..STREAMS).filter(|&index| self.streams[index].waiting.is_empty());
        if let Some(index) = idle.min_by_key(|&index| self.streams[index].used_at) {
            self.forget(index);
            let next_offset = offset + u64::from(length);
            self.streams[index] = Stream { next_offset, used_at: self.uses, ..Stream::default() };
        }
        None
    }

    /// A request of the stream waits for its data, which it gets once the controller has processed it.
    pub fn wait(&mut self, stream: usize, slot: u32, end: u64) {
        self.streams[stream].waiting.push_back((slot, end));
        self.streams[stream].unprocessed += 1;
    }

    /// The controller has processed the next request of the stream.
    pub fn processed(&mut self, stream: usize) {
        self.streams[stream].unprocessed -= 1;
    }

    /// The next segment to fetch, as its number, offset and length, if the window has space and the previous one is
    /// translated. The caller reports its units with `fetches`.
    pub fn next_segment(&mut self, index: usize) -> Option<(SegmentId, u64, u32)> {
        let stream = &mut self.streams[index];
        let is_translating = stream.segments.back().is_some_and(|&last| self.segments[last as usize].is_translating);
        let offset = stream.issued_to;
        if !stream.is_sequential
            || is_translating
            || offset >= self.user_bytes
            || offset - stream.delivered_to + self.segment_bytes > self.window_bytes
        {
            return None;
        }
        let end = self.user_bytes.min(offset + self.segment_bytes);
        let segment = Segment { stream: Some(index), end, units_left: 0, is_translating: true };
        let id = match self.spare_segments.pop() {
            Some(id) => {
                self.segments[id as usize] = segment;
                id
            }
            None => {
                self.segments.push(segment);
                self.segments.len() as SegmentId - 1
            }
        };
        stream.issued_to = end;
        stream.segments.push_back(id);
        Some((id, offset, (end - offset) as u32))
    }

    /// The segment waits for this many more units from flash.
    pub fn fetches(&mut self, segment: SegmentId, units: u32) {
        self.segments[segment as usize].units_left += units;
    }

    /// All map pages of the segment have arrived. Returns its stream, which can continue with the next one.
    pub fn translated(&mut self, id: SegmentId) -> Option<usize> {
        self.segments[id as usize].is_translating = false;
        self.stream_or_spare(id)
    }

    /// Units of the segment have arrived. Returns its stream when all have.
    pub fn arrived(&mut self, id: SegmentId, units: u32) -> Option<usize> {
        self.segments[id as usize].units_left -= units;
        self.stream_or_spare(id).filter(|_| self.segments[id as usize].is_here())
    }

    fn stream_or_spare(&mut self, id: SegmentId) -> Option<usize> {
        let segment = self.segments[id as usize];
        if segment.stream.is_none() && segment.is_here() {
            self.spare_segments.push(id);
        }
        segment.stream
    }

    /// The next piece to transfer: what has arrived of the first waiting request, if that was processed.
    pub fn next_piece(&mut self, index: usize) -> Option<Piece> {
        let stream = &mut self.streams[index];
        let sent_to = stream.sent_to;
        let segment =
            stream.segments.iter().map(|&id| self.segments[id as usize]).find(|segment| segment.end > sent_to)?;
        let processed = stream.waiting.iter().take(stream.waiting.len() - stream.unprocessed);
        let &(slot, request_end) = { processed }.find(|&&(_, end)| end > sent_to)?;
        if !segment.is_here() {
            return None;
        }
        stream.sent_to = segment.end.min(request_end);
        let bytes = (stream.sent_to - sent_to) as u32;
        stream.pieces.push_back(bytes);
        Some(Piece { slot, bytes, ends_request: stream.sent_to == request_end })
    }

    /// The first piece in transfer has arrived at the host. Returns the slot of the request that it completes.
    pub fn delivered(&mut self, index: usize) -> Option<u32> {
        let stream = &mut self.streams[index];
        stream.delivered_to += u64::from(stream.pieces.pop_front().expect("a piece is on its way"));
        while let Some(&first) = stream.segments.front()
            && self.segments[first as usize].end <= stream.delivered_to
        {
            stream.segments.pop_front();
            self.spare_segments.push(first);
        }
        let &(slot, end) = stream.waiting.front().expect("data go to a request that waits");
        if end > stream.delivered_to {
            return None;
        }
        stream.waiting.pop_front();
        Some(slot)
    }

    /// Data in this range changes: data read ahead from it is outdated.
    pub fn changed(&mut self, offset: u64, length: u32) {
        let end = offset + u64::from(length);
        for index in 0..STREAMS {
            let stream = &self.streams[index];
            if stream.waiting.is_empty() && stream.delivered_to < end && offset < stream.issued_to {
                self.forget(index);
                self.streams[index] = Stream::default();
            }
        }
    }

    fn forget(&mut self, index: usize) {
        for id in std::mem::take(&mut self.streams[index].segments) {
            self.segments[id as usize].stream = None;
            if self.segments[id as usize].is_here() {
                self.spare_segments.push(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams() -> ReadStreams {
        ReadStreams::new(&ReadAhead { window_bytes: 30, segment_bytes: 10 }, 95).unwrap()
    }

    #[test]
    fn the_second_read_in_a_row_makes_a_stream_that_keeps_its_window() {
        let mut streams = streams();
        assert_eq!(streams.stream_of(0, 20), None);
        assert_eq!(streams.stream_of(50, 20), None);
        let stream = streams.stream_of(20, 20).unwrap();
        streams.wait(stream, 3, 40);
        let (first, offset, length) = streams.next_segment(stream).unwrap();
        assert_eq!((offset, length), (20, 10));
        // One after another: the next is not translated before this one.
        streams.fetches(first, 2);
        assert_eq!(streams.next_segment(stream), None);
        assert_eq!(streams.translated(first), Some(stream));
        let ids: Vec<SegmentId> = (0..2)
            .map(|_| {
                let (id, _, _) = streams.next_segment(stream).unwrap();
                streams.fetches(id, 1);
                streams.translated(id);
                id
            })
            .collect();
        // The window is 20 to 50.
        assert_eq!(streams.next_segment(stream), None);
        // In order: the second segment waits for the first.
        assert_eq!(streams.arrived(ids[0], 1), Some(stream));
        assert_eq!(streams.next_piece(stream), None);
        assert_eq!(streams.arrived(first, 1), None);
        assert_eq!(streams.arrived(first, 1), Some(stream));
        // Its data is here, and the controller has not processed the read.
        assert_eq!(streams.next_piece(stream), None);
        streams.processed(stream);
        assert_eq!(streams.next_piece(stream), Some(Piece { slot: 3, bytes: 10, ends_request: false }));
        assert_eq!(streams.next_piece(stream), Some(Piece { slot: 3, bytes: 10, ends_request: true }));
        assert_eq!(streams.next_piece(stream), None);
        assert_eq!(streams.delivered(stream), None);
        assert_eq!(streams.next_segment(stream).map(|(_, offset, _)| offset), Some(50));
        assert_eq!(streams.delivered(stream), Some(3));
    }

    #[test]
    fn a_write_into_what_was_read_ahead_ends_the_stream() {
        let mut streams = streams();
        streams.stream_of(0, 10);
        let stream = streams.stream_of(10, 10).unwrap();
        let (id, _, _) = streams.next_segment(stream).unwrap();
        streams.fetches(id, 1);
        streams.translated(id);
        streams.changed(40, 10);
        assert_eq!(streams.stream_of(20, 10), Some(stream));
        streams.changed(15, 1);
        assert_eq!(streams.arrived(id, 1), None);
        assert_eq!(streams.stream_of(30, 10), None);
    }

    #[test]
    fn nothing_is_read_behind_the_end_of_the_drive() {
        let mut streams = streams();
        streams.stream_of(70, 10);
        let stream = streams.stream_of(80, 10).unwrap();
        let lengths: Vec<u32> = std::iter::from_fn(|| {
            let (id, _, length) = streams.next_segment(stream)?;
            streams.translated(id);
            Some(length)
        })
        .collect();
        assert_eq!(lengths, [10, 5]);
    }
}
