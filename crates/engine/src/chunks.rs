//! The layout of a drive striped over several devices (RAID-0): its bytes are divided into chunks, which are assigned
//! to the devices in turn, starting with the first.
//!
//! The part of a request on one device is a single contiguous range there, whatever the number of its chunks.

use crate::request::{Operation, Request};
use std::ops::Range;

/// The part of a range of the drive that lies within one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The device of the chunk.
    pub device: usize,
    /// Offset on the device.
    pub offset_bytes: u64,
    /// Offset within the range.
    pub at_bytes: u64,
    /// Length of the piece.
    pub length_bytes: u64,
}

/// The layout of a striped drive.
#[derive(Clone, Copy, Debug)]
pub struct Chunks {
    chunk_bytes: u64,
    row_bytes: u64,
}

impl Chunks {
    /// The layout over so many devices; a drive with one device has a single chunk.
    pub fn new(devices: u32, chunk_bytes: u64) -> Self {
        let chunk_bytes = if devices > 1 { chunk_bytes } else { u64::MAX };
        Self { chunk_bytes, row_bytes: chunk_bytes.saturating_mul(u64::from(devices)) }
    }

    /// The number of the drive's first `first_bytes` bytes that lie on `device`.
    #[inline]
    pub fn bytes_on(&self, device: usize, first_bytes: u64) -> u64 {
        let in_last_row = (first_bytes % self.row_bytes).saturating_sub(device as u64 * self.chunk_bytes);
        first_bytes / self.row_bytes * self.chunk_bytes + in_last_row.min(self.chunk_bytes)
    }

    /// The part of a range of the drive on one device, in that device's addresses; empty if none of it lies there.
    #[inline]
    pub fn range_on(&self, device: usize, range: &Range<u64>) -> Range<u64> {
        self.bytes_on(device, range.start)..self.bytes_on(device, range.end)
    }

    /// The pieces of a range, in address order.
    pub fn pieces(self, range: Range<u64>) -> impl Iterator<Item = Piece> {
        let mut from = range.start;
        std::iter::from_fn(move || {
            if from >= range.end {
                return None;
            }
            let in_row = from % self.row_bytes;
            let (device, in_chunk) = (in_row / self.chunk_bytes, in_row % self.chunk_bytes);
            let piece = Piece {
                device: device as usize,
                offset_bytes: from / self.row_bytes * self.chunk_bytes + in_chunk,
                at_bytes: from - range.start,
                length_bytes: (self.chunk_bytes - in_chunk).min(range.end - from),
            };
            from += piece.length_bytes;
            Some(piece)
        })
    }

    /// The drive's address of a byte at `offset_bytes` of a device.
    pub fn address_of(&self, device: usize, offset_bytes: u64) -> u64 {
        let (row, in_chunk) = (offset_bytes / self.chunk_bytes, offset_bytes % self.chunk_bytes);
        row * self.row_bytes + device as u64 * self.chunk_bytes + in_chunk
    }

    /// The part of a request that a device performs; None if none of its bytes lie there. Every device performs a
    /// flush.
    #[inline]
    pub fn part(&self, request: &Request, device: usize) -> Option<Request> {
        if request.operation == Operation::Flush {
            return Some(*request);
        }
        let end_bytes = request.offset_bytes + u64::from(request.length_bytes);
        let Range { start: offset_bytes, end } = self.range_on(device, &(request.offset_bytes..end_bytes));
        let length_bytes = (end - offset_bytes) as u32;
        (length_bytes > 0).then_some(Request { offset_bytes, length_bytes, ..*request })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compared with a layout that places each byte separately.
        #[test]
        fn every_byte_goes_to_its_slot(devices in 1u32..5, chunk in 1u64..5, offset in 0u64..50, length in 1u32..40) {
            let chunks = Chunks::new(devices, chunk);
            let place = |byte: u64| {
                let number = byte / chunk;
                let (device, row) = (number % u64::from(devices), number / u64::from(devices));
                (device as usize, row * chunk + byte % chunk)
            };
            let request = Request::new(Operation::Write, offset, length);
            for device in 0..devices as usize {
                let bytes = (offset..offset + u64::from(length)).map(place);
                let own: Vec<u64> = bytes.filter(|&(on, _)| on == device).map(|(_, byte)| byte).collect();
                let part = chunks.part(&request, device);
                let range = part.map_or(0..0, |part| part.offset_bytes..part.offset_bytes + u64::from(part.length_bytes));
                prop_assert_eq!(own, range.collect::<Vec<_>>());
                let first = (0..offset).map(place).filter(|&(on, _)| on == device).count() as u64;
                prop_assert_eq!(chunks.bytes_on(device, offset), first);
            }
            let mut bytes = offset..offset + u64::from(length);
            for piece in chunks.pieces(bytes.clone()) {
                prop_assert_eq!(piece.at_bytes, bytes.start - offset);
                for own in piece.offset_bytes..piece.offset_bytes + piece.length_bytes {
                    let byte = bytes.next();
                    prop_assert_eq!(byte.map(place), Some((piece.device, own)));
                    prop_assert_eq!(Some(chunks.address_of(piece.device, own)), byte);
                }
            }
            prop_assert!(bytes.is_empty());
        }
    }

    #[test]
    fn a_flush_is_for_all() {
        let chunks = Chunks::new(3, 4096);
        let flush = Request::new(Operation::Flush, 0, 0);
        assert!((0..3).all(|device| chunks.part(&flush, device) == Some(flush)));
    }
}
