//! The contents of a drive's system blocks, from which it recovers: a checkpoint of the map, in two alternating slots,
//! and the trims since; with data reduction also the write that each address has its data from, and the duplicates
//! since, which program nothing.
//!
//! The spare bytes of the units programmed after the checkpoint contain the rest. The system blocks are not part of T,
//! and their writes are not part of the write amplification.

use super::medium::{Medium, Shape, u32_at, u64_at};
use std::sync::atomic::{Ordering, compiler_fence};

/// A trim, or nothing at all: these addresses have no data except what was written after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trim {
    /// The first trimmed unit.
    pub first: u32,
    /// The number of trimmed units.
    pub units: u32,
    /// The number of the trim among writes and trims.
    pub version: u64,
}

/// An address whose data is stored for another, with the number of the write that stored it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    pub lpn: u32,
    pub version: u64,
    pub contents: u64,
}

/// How far an erase unit had been written at the checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub epoch: u32,
    pub slots: u32,
}

// Offsets in bytes from the start of the system blocks.
const ACTIVE: usize = 0;
const TRIMS: usize = 8;
/// Which of the two texts is valid, in the bits above its length: one word, so that it changes atomically.
const SAVED_WHICH: usize = 16;
const SHARES: usize = 24;
const SAVED: usize = 64;
/// Space for the drive's saved counters, twice.
const SAVED_MAX: usize = 1 << 15;
const SLOTS: usize = SAVED + 2 * SAVED_MAX;
const TRIM_BYTES: usize = 16;
const SHARE_BYTES: usize = 24;
/// Duplicates are far more frequent than trims.
const SHARES_PER_TRIM: usize = 8;

/// The capacity for trims, and for duplicates, in addition to a checkpoint.
#[derive(Clone, Copy, Debug)]
pub struct Journal {
    trims_max: usize,
    logical_units: usize,
    erase_units: usize,
    is_packed: bool,
}

impl Journal {
    /// A journal with space for `trims_max` trims.
    pub fn new(shape: &Shape, trims_max: usize) -> Self {
        Self {
            trims_max,
            logical_units: shape.logical_units as usize,
            erase_units: shape.erase_units as usize,
            is_packed: shape.slots_per_unit > 0,
        }
    }

    /// The size of the system blocks.
    pub fn system_bytes(&self) -> usize {
        self.shares_at() + self.shares_max() * SHARE_BYTES
    }

    /// Version, map, marks, and for packed data its writes.
    fn slot_bytes(&self) -> usize {
        self.contents_in_slot() + if self.is_packed { 8 * self.logical_units } else { 0 }
    }

    fn contents_in_slot(&self) -> usize {
        8 + 4 * self.logical_units + 8 * self.erase_units
    }

    fn shares_at(&self) -> usize {
        self.trims_at() + self.trims_max * TRIM_BYTES
    }

    /// The capacity for duplicates.
    pub fn shares_max(&self) -> usize {
        if self.is_packed { SHARES_PER_TRIM * self.trims_max } else { 0 }
    }

    fn slot(&self, active: u32) -> usize {
        SLOTS + active as usize * self.slot_bytes()
    }

    fn trims_at(&self) -> usize {
        SLOTS + 2 * self.slot_bytes()
    }

    /// Whether there is no space for another trim.
    pub fn is_full(&self, medium: &Medium) -> bool {
        u64_at(medium.system(), TRIMS) as usize == self.trims_max
    }

    /// The caller makes a checkpoint when the journal is full.
    pub fn note_trim(&self, medium: &mut Medium, trim: Trim) {
        let count = u64_at(medium.system(), TRIMS) as usize;
        assert!(count < self.trims_max, "a full journal is emptied by a checkpoint");
        let at = self.trims_at() + count * TRIM_BYTES;
        let bytes = &mut medium.system_mut()[at..at + TRIM_BYTES];
        bytes[..4].copy_from_slice(&trim.first.to_le_bytes());
        bytes[4..8].copy_from_slice(&trim.units.to_le_bytes());
        bytes[8..].copy_from_slice(&trim.version.to_le_bytes());
        medium.system_mut()[TRIMS..TRIMS + 8].copy_from_slice(&(count as u64 + 1).to_le_bytes());
    }

    /// The trims since the checkpoint, oldest first.
    pub fn trims(&self, medium: &Medium) -> Vec<Trim> {
        let system = medium.system();
        let count = (u64_at(system, TRIMS) as usize).min(self.trims_max);
        let read = |index: usize| {
            let at = self.trims_at() + index * TRIM_BYTES;
            Trim { first: u32_at(system, at), units: u32_at(system, at + 4), version: u64_at(system, at + 8) }
        };
        (0..count).map(read).collect()
    }

    /// How many duplicates can still be recorded.
    pub fn shares_left(&self, medium: &Medium) -> usize {
        self.shares_max() - u64_at(medium.system(), SHARES) as usize
    }

    /// There must be space for it.
    pub fn note_share(&self, medium: &mut Medium, share: Share) {
        assert!(self.shares_left(medium) > 0, "a full journal is emptied by a checkpoint");
        let count = u64_at(medium.system(), SHARES);
        let at = self.shares_at() + count as usize * SHARE_BYTES;
        let system = medium.system_mut();
        let bytes = &mut system[at..at + SHARE_BYTES];
        bytes[..8].copy_from_slice(&u64::from(share.lpn).to_le_bytes());
        bytes[8..16].copy_from_slice(&share.version.to_le_bytes());
        bytes[16..].copy_from_slice(&share.contents.to_le_bytes());
        compiler_fence(Ordering::Release);
        system[SHARES..SHARES + 8].copy_from_slice(&(count + 1).to_le_bytes());
    }

    /// The duplicates since the checkpoint, oldest first.
    pub fn shares(&self, medium: &Medium) -> Vec<Share> {
        let bytes = &medium.system()[self.shares_at()..];
        let count = (u64_at(medium.system(), SHARES) as usize).min(self.shares_max());
        let read =
            |bytes: &[u8]| Share { lpn: u32_at(bytes, 0), version: u64_at(bytes, 8), contents: u64_at(bytes, 16) };
        bytes.chunks_exact(SHARE_BYTES).take(count).map(read).collect()
    }

    /// Writes a checkpoint to the invalid slot, and then makes it valid. `map` has the physical numbers in the order of
    /// the addresses, `u32::MAX` for unmapped ones; `contents` the writes of packed data.
    pub fn write_checkpoint(
        &self,
        medium: &mut Medium,
        version: u64,
        map: impl Iterator<Item = u32>,
        marks: &[Mark],
        contents: &[u64],
    ) {
        let next = (u32_at(medium.system(), ACTIVE) + 1) % 2;
        let at = self.slot(next);
        let bytes = &mut medium.system_mut()[at..at + self.slot_bytes()];
        bytes[..8].copy_from_slice(&version.to_le_bytes());
        for (entry, ppn) in bytes[8..8 + 4 * self.logical_units].chunks_exact_mut(4).zip(map) {
            // Plus one, so that blocks never written contain an empty map.
            entry.copy_from_slice(&ppn.wrapping_add(1).to_le_bytes());
        }
        let (mark_bytes, contents_bytes) = bytes[8 + 4 * self.logical_units..].split_at_mut(8 * self.erase_units);
        for (entry, mark) in mark_bytes.chunks_exact_mut(8).zip(marks) {
            entry[..4].copy_from_slice(&mark.epoch.to_le_bytes());
            entry[4..].copy_from_slice(&mark.slots.to_le_bytes());
        }
        for (entry, contents) in contents_bytes.chunks_exact_mut(8).zip(contents) {
            entry.copy_from_slice(&contents.to_le_bytes());
        }
        let system = medium.system_mut();
        system[ACTIVE..ACTIVE + 4].copy_from_slice(&next.to_le_bytes());
        system[TRIMS..TRIMS + 8].fill(0);
        system[SHARES..SHARES + 8].fill(0);
    }

    /// The number of the last write or trim before the checkpoint.
    pub fn checkpoint_version(&self, medium: &Medium) -> u64 {
        u64_at(medium.system(), self.active(medium))
    }

    /// The physical numbers in the order of the addresses, `u32::MAX` for unmapped ones.
    pub fn checkpoint_map<'a>(&self, medium: &'a Medium) -> impl Iterator<Item = u32> + use<'a> {
        let at = self.active(medium) + 8;
        let entries = medium.system()[at..at + 4 * self.logical_units].chunks_exact(4);
        entries.map(|entry| u32_at(entry, 0).wrapping_sub(1))
    }

    /// By address, for packed data: the write that stored it; meaningless for unmapped ones.
    pub fn checkpoint_contents<'a>(&self, medium: &'a Medium) -> impl Iterator<Item = u64> + use<'a> {
        let at = self.active(medium) + self.contents_in_slot();
        medium.system()[at..at + 8 * self.logical_units].chunks_exact(8).map(|entry| u64_at(entry, 0))
    }

    /// How far the erase unit had been written at the checkpoint.
    pub fn checkpoint_mark(&self, medium: &Medium, erase_unit: u32) -> Mark {
        let at = self.active(medium) + 8 + 4 * self.logical_units + 8 * erase_unit as usize;
        Mark { epoch: u32_at(medium.system(), at), slots: u32_at(medium.system(), at + 4) }
    }

    fn active(&self, medium: &Medium) -> usize {
        self.slot(u32_at(medium.system(), ACTIVE))
    }

    /// Saves a text, such as counters, for the next process. It goes to the slot not used last, since a process killed
    /// in between would leave a mixture of both, which cannot be recognised.
    pub fn save(&self, medium: &mut Medium, text: &[u8]) {
        assert!(text.len() <= SAVED_MAX, "counters fit into their room");
        let system = medium.system_mut();
        let which = 1 - (u64_at(system, SAVED_WHICH) >> 32) % 2;
        let at = SAVED + which as usize * SAVED_MAX;
        system[at..at + text.len()].copy_from_slice(text);
        compiler_fence(Ordering::Release);
        system[SAVED_WHICH..SAVED_WHICH + 8].copy_from_slice(&(which << 32 | text.len() as u64).to_le_bytes());
    }

    /// The text saved last; empty if there is none.
    pub fn saved<'a>(&self, medium: &'a Medium) -> &'a [u8] {
        let word = u64_at(medium.system(), SAVED_WHICH);
        let at = SAVED + (word >> 32) as usize % 2 * SAVED_MAX;
        let length = (word as u32 as usize).min(SAVED_MAX);
        &medium.system()[at..at + length]
    }
}
