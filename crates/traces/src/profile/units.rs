//! Which units a volume's requests have touched: exact bitmaps in a sparse table of chunks.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::UnitTotals;
use crate::record::Operation;

/// Units from `first` to `last`, both included.
#[derive(Clone, Copy)]
pub(super) struct UnitRange {
    pub first: u64,
    pub last: u64,
}

const UNITS_PER_CHUNK: u64 = u64::BITS as u64;

/// A table from chunk numbers. They are no secret and no attacker's choice, so a multiplication hashes them.
pub(super) type ChunkTable<T> = HashMap<u64, T, BuildHasherDefault<ChunkHasher>>;

#[derive(Default)]
pub(super) struct ChunkHasher(u64);

impl Hasher for ChunkHasher {
    #[inline]
    fn write_u64(&mut self, chunk: u64) {
        // The golden ratio spreads neighbours; the fold brings the well-mixed upper half to the bits that choose a
        // slot.
        let mixed = (chunk ^ (chunk >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(self.0 ^ u64::from(byte));
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[derive(Default)]
pub(super) struct TouchedUnits {
    chunks: ChunkTable<ChunkBits>,
}

/// One bit a unit for each question.
#[derive(Clone, Copy, Default)]
struct ChunkBits {
    read: u64,
    written: u64,
    trimmed: u64,
    /// Written and not trimmed since.
    live: u64,
}

impl TouchedUnits {
    pub fn touch(&mut self, operation: Operation, range: UnitRange, totals: &mut UnitTotals) {
        for chunk in range.first / UNITS_PER_CHUNK..=range.last / UNITS_PER_CHUNK {
            let first_bit = range.first.saturating_sub(chunk * UNITS_PER_CHUNK);
            let last_bit = (range.last - chunk * UNITS_PER_CHUNK).min(UNITS_PER_CHUNK - 1);
            let mask = (u64::MAX >> (UNITS_PER_CHUNK - 1 - last_bit)) & (u64::MAX << first_bit);
            self.chunks.entry(chunk).or_default().touch(operation, mask, totals);
        }
    }
}

impl ChunkBits {
    #[inline]
    fn touch(&mut self, operation: Operation, mask: u64, totals: &mut UnitTotals) {
        let count = |bits: u64| u64::from(bits.count_ones());
        totals.unique += count(mask & !(self.read | self.written | self.trimmed));
        match operation {
            Operation::Read => {
                totals.unique_read += count(mask & !self.read);
                totals.read += count(mask);
                totals.read_of_written += count(mask & self.live);
                self.read |= mask;
            }
            Operation::Write => {
                totals.unique_written += count(mask & !self.written);
                totals.written += count(mask);
                totals.overwritten += count(mask & self.live);
                self.written |= mask;
                self.live |= mask;
            }
            Operation::Trim => {
                totals.unique_trimmed += count(mask & !self.trimmed);
                totals.trimmed_of_written += count(mask & self.live);
                self.trimmed |= mask;
                self.live &= !mask;
            }
            Operation::Flush => {}
        }
    }
}
