//! Stored data by its hash, for finding duplicates.
//!
//! A hash only says where to look; the bytes are compared before they count as equal. So a collision of hashes costs a
//! deduplication and never more.

use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

pub struct Known {
    /// The slot of the data when it was last recorded; it may hold something else now.
    slots: HashMap<u64, u32>,
    slots_max: usize,
}

impl Known {
    /// For a drive with this many units, the most that can be stored at a time.
    pub fn new(logical_units: u32) -> Self {
        Self { slots: HashMap::new(), slots_max: 2 * logical_units as usize + 64 }
    }

    pub fn find(&self, stored: &[u8]) -> Option<u32> {
        self.slots.get(&xxh3_64(stored)).copied()
    }

    /// Outdated entries are removed when there are too many.
    pub fn note(&mut self, stored: &[u8], slot: u32, still_holds: impl Fn(u32) -> bool) {
        if self.slots.len() >= self.slots_max {
            self.slots.retain(|_, &mut slot| still_holds(slot));
        }
        self.slots.insert(xxh3_64(stored), slot);
    }

    pub fn moved(&mut self, stored: &[u8], from: u32, to: u32) {
        if let Some(slot) = self.slots.get_mut(&xxh3_64(stored)).filter(|slot| **slot == from) {
            *slot = to;
        }
    }

    pub fn clear(&mut self) {
        self.slots.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_found_where_it_went_and_memory_stays_bounded() {
        let mut known = Known::new(0);
        known.note(b"one", 1, |_| true);
        known.moved(b"one", 1, 5);
        known.moved(b"one", 1, 9);
        assert_eq!((known.find(b"one"), known.find(b"two")), (Some(5), None));
        for slot in 0..10_000u32 {
            known.note(&slot.to_le_bytes(), slot, |slot| slot % 1000 == 0);
        }
        assert!(known.slots.len() <= 64);
        assert_eq!(known.find(&9999u32.to_le_bytes()), Some(9999));
    }
}
