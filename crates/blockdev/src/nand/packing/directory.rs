//! The stored units that begin in a mapping unit: a part of its spare bytes, with an entry for each slot.
//!
//! An entry is valid while its mapping unit is; the first slot written in one clears them all.

use crate::nand::medium::{Medium, NO_LPN, u32_at, u64_at};
use std::sync::atomic::{Ordering, compiler_fence};

pub(in crate::nand) const ENTRY_BYTES: usize = 16;
/// A flag above the length, for contents that could not be read when they were stored or moved.
const LOST: u32 = 1 << 31;

/// A unit stored from a slot on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The address that wrote it.
    pub lpn: u32,
    pub length_bytes: u32,
    /// Its contents are lost and must not be returned.
    pub is_lost: bool,
    /// The number of the write, which identifies the contents: a move does not change it.
    pub version: u64,
}

impl Medium {
    /// The entry that begins at a slot of a mapping unit in use.
    #[inline]
    pub fn entry(&self, slot: u32) -> Option<Entry> {
        let at = self.directory_at + slot as usize * ENTRY_BYTES;
        let bytes = &self.memory[at..at + ENTRY_BYTES];
        let (lpn, length) = (u32_at(bytes, 0), u32_at(bytes, 4));
        (lpn != NO_LPN).then(|| Entry {
            lpn,
            length_bytes: length & !LOST,
            is_lost: length & LOST != 0,
            version: u64_at(bytes, 8),
        })
    }

    /// Writes the entry that begins at a slot.
    pub fn set_entry(&mut self, slot: u32, entry: Entry) {
        let at = self.directory_at + slot as usize * ENTRY_BYTES;
        let bytes = &mut self.memory[at..at + ENTRY_BYTES];
        let length = entry.length_bytes | if entry.is_lost { LOST } else { 0 };
        bytes[4..8].copy_from_slice(&length.to_le_bytes());
        bytes[8..].copy_from_slice(&entry.version.to_le_bytes());
        // The address last: a process killed in between leaves no entry.
        compiler_fence(Ordering::SeqCst);
        bytes[..4].copy_from_slice(&entry.lpn.to_le_bytes());
    }

    /// Removes the entries that begin at these slots.
    pub fn clear_entries(&mut self, slots: std::ops::Range<u32>) {
        let at = |slot: u32| self.directory_at + slot as usize * ENTRY_BYTES;
        let bytes = at(slots.start)..at(slots.end);
        self.memory[bytes].fill(0xff);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nand::medium::Shape;
    use crate::nand::medium::tests::SHAPE as PLAIN;

    const SHAPE: Shape = Shape { slots_per_unit: 8, ..PLAIN };

    #[test]
    fn an_entry_is_read_as_it_was_written_until_it_is_cleared() {
        let mut medium = Medium::in_memory(SHAPE, 100).unwrap();
        medium.clear_entries(0..SHAPE.physical_units() * 8);
        let entry = Entry { lpn: 7, length_bytes: 512, is_lost: false, version: 3 };
        medium.set_entry(17, entry);
        medium.set_entry(511, Entry { is_lost: true, ..entry });
        medium.system_mut().fill(1);
        assert_eq!((medium.entry(16), medium.entry(17)), (None, Some(entry)));
        assert_eq!(medium.entry(511), Some(Entry { is_lost: true, ..entry }));
        medium.clear_entries(16..24);
        assert_eq!(medium.entry(17), None);
    }
}
