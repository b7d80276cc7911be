//! Large writes pass the buffer in parts: a drive takes data over the link while it programs what came before. A write
//! that has to wait until there is space for all of it keeps the link idle, and so the flash afterwards; so one passes in
//! parts of which the buffer does not hold two.
//!
//! The first of the waiting writes is the only one of which a part may have been admitted. Parts cross the link in order.

use crate::request::Request;
use std::collections::VecDeque;

/// The share of the buffer that a part fills. With smaller parts more of the buffer is at work, and more events happen.
const PARTS_IN_BUFFER: u64 = 8;

/// A write, or a part of it that is admitted to the buffer by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WritePart {
    pub request: Request,
    pub is_first: bool,
    pub is_last: bool,
}

impl WritePart {
    pub fn whole(request: Request) -> Self {
        Self { request, is_first: true, is_last: true }
    }

    pub fn is_whole(&self) -> bool {
        self.is_first && self.is_last
    }
}

#[derive(Clone, Debug)]
pub(super) struct PartedWrites {
    /// Of the mapping unit, whose size is a power of two: a division for each look at a request takes as long as the rest.
    unit_shift: u32,
    whole_units_max: u64,
    part_units: u64,
    /// Of the first waiting write: what has been admitted.
    admitted_bytes: u32,
    /// Of all writes, for comparisons.
    pub admitted_units: u64,
    /// On the link.
    in_transfer: VecDeque<WritePart>,
}

impl PartedWrites {
    /// For a buffer that holds this many units until it closes.
    pub fn new(unit_bytes: u64, buffer_units: u64) -> Self {
        assert!(unit_bytes.is_power_of_two(), "a mapping unit of {unit_bytes} bytes");
        Self {
            unit_shift: unit_bytes.trailing_zeros(),
            whole_units_max: (buffer_units / 2).max(1),
            part_units: (buffer_units / PARTS_IN_BUFFER).max(1),
            admitted_bytes: 0,
            admitted_units: 0,
            in_transfer: VecDeque::new(),
        }
    }

    /// An upper bound: a partly written unit counts as a whole.
    #[inline]
    pub fn units_of(&self, request: &Request) -> u64 {
        let end_bytes = request.offset_bytes + u64::from(request.length_bytes);
        let up_bytes = (1 << self.unit_shift) - 1;
        ((end_bytes + up_bytes) >> self.unit_shift) - (request.offset_bytes >> self.unit_shift)
    }

    #[inline]
    pub fn passes_whole(&self, units: u64) -> bool {
        units <= self.whole_units_max
    }

    /// What is to be admitted next of the first waiting write.
    #[inline]
    pub fn next(&self, write: &Request) -> WritePart {
        if self.passes_whole(self.units_of(write)) {
            return WritePart::whole(*write);
        }
        let offset_bytes = write.offset_bytes + u64::from(self.admitted_bytes);
        let left_bytes = write.length_bytes - self.admitted_bytes;
        let end_bytes = ((offset_bytes >> self.unit_shift) + self.part_units) << self.unit_shift;
        let length_bytes = u64::from(left_bytes).min(end_bytes - offset_bytes) as u32;
        WritePart {
            request: Request { offset_bytes, length_bytes, ..*write },
            is_first: self.admitted_bytes == 0,
            is_last: length_bytes == left_bytes,
        }
    }

    /// The part has been admitted.
    #[inline]
    pub fn admitted(&mut self, part: &WritePart) {
        self.admitted_units += self.units_of(&part.request);
        self.admitted_bytes = if part.is_last { 0 } else { self.admitted_bytes + part.request.length_bytes };
    }

    /// The part crosses the link.
    #[inline]
    pub fn sent(&mut self, part: &WritePart) {
        if !part.is_whole() {
            self.in_transfer.push_back(*part);
        }
    }

    /// What has crossed the link of this write.
    #[inline]
    pub fn arrived(&mut self, write: &Request) -> WritePart {
        if self.passes_whole(self.units_of(write)) {
            return WritePart::whole(*write);
        }
        self.in_transfer.pop_front().expect("a part of the write is on the link")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Operation;

    #[test]
    fn the_parts_of_a_large_write_end_at_units_and_make_it_up() {
        // Parts of two units of 4096 bytes.
        let mut writes = PartedWrites::new(4096, 16);
        let write = |offset_bytes, length_bytes| Request::new(Operation::Write, offset_bytes, length_bytes);
        let whole = write(100, 8 * 4096 - 100);
        assert_eq!(writes.next(&whole), WritePart::whole(whole));
        let large = write(100, 8 * 4096);
        let mut parts = Vec::new();
        while parts.last().is_none_or(|part: &WritePart| !part.is_last) {
            let part = writes.next(&large);
            writes.admitted(&part);
            writes.sent(&part);
            parts.push(part);
        }
        let lengths: Vec<u32> = parts.iter().map(|part| part.request.length_bytes).collect();
        assert_eq!(lengths, [8092, 8192, 8192, 8192, 100]);
        assert!(parts[0].is_first && parts[1..].iter().all(|part| !part.is_first));
        assert_eq!(parts[1].request.offset_bytes, 8192);
        assert!(parts.iter().all(|part| writes.arrived(&large) == *part));
        assert_eq!(writes.next(&large), parts[0], "the next write begins anew");
    }
}
