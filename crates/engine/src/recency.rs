//! The slot of a cache to evict: the least recently used one, or the clock algorithm's approximation of it (Corbato
//! 1968). Both take constant time: a linked list of slots, or a hand that moves around them.

use crate::specification::drive::Eviction;
use serde::{Deserialize, Serialize};

const NONE: u32 = u32::MAX;

/// The order of the slots of the cache. A slot is inserted once before it is used or removed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Recency {
    Lru(List),
    Clock(Hand),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct List {
    newer: Vec<u32>,
    older: Vec<u32>,
    newest: u32,
    oldest: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hand {
    is_filled: Vec<bool>,
    was_used: Vec<bool>,
    at: usize,
}

impl Recency {
    pub fn new(eviction: Eviction, slots: u32) -> Self {
        let slots = slots as usize;
        match eviction {
            Eviction::Lru => {
                Self::Lru(List { newer: vec![NONE; slots], older: vec![NONE; slots], newest: NONE, oldest: NONE })
            }
            Eviction::Clock => Self::Clock(Hand { is_filled: vec![false; slots], was_used: vec![false; slots], at: 0 }),
        }
    }

    /// Whether it is one of the same cache: as many places, by the same rule, and no other place is named.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Lru(list), Self::Lru(other)) => {
                let slots = list.newer.len();
                let is_known = |&slot: &u32| slot == NONE || (slot as usize) < slots;
                slots == other.newer.len()
                    && slots == list.older.len()
                    && list.newer.iter().chain(&list.older).chain([&list.newest, &list.oldest]).all(is_known)
            }
            (Self::Clock(hand), Self::Clock(other)) => {
                let slots = hand.is_filled.len();
                slots == other.is_filled.len() && slots == hand.was_used.len() && hand.at < slots
            }
            _ => false,
        }
    }

    pub fn inserted(&mut self, slot: u32) {
        match self {
            Self::Lru(list) => list.put_first(slot),
            Self::Clock(hand) => {
                hand.is_filled[slot as usize] = true;
                hand.was_used[slot as usize] = true;
            }
        }
    }

    pub fn used(&mut self, slot: u32) {
        match self {
            Self::Lru(list) => {
                if list.newest != slot {
                    list.take_out(slot);
                    list.put_first(slot);
                }
            }
            Self::Clock(hand) => hand.was_used[slot as usize] = true,
        }
    }

    pub fn removed(&mut self, slot: u32) {
        match self {
            Self::Lru(list) => list.take_out(slot),
            Self::Clock(hand) => hand.is_filled[slot as usize] = false,
        }
    }

    /// Takes the place that goes out of the order. There must be one.
    pub fn evict(&mut self) -> u32 {
        match self {
            Self::Lru(list) => {
                let slot = list.oldest;
                list.take_out(slot);
                slot
            }
            Self::Clock(hand) => hand.evict(),
        }
    }
}

impl List {
    fn put_first(&mut self, slot: u32) {
        self.newer[slot as usize] = NONE;
        self.older[slot as usize] = self.newest;
        match self.newest {
            NONE => self.oldest = slot,
            before => self.newer[before as usize] = slot,
        }
        self.newest = slot;
    }

    fn take_out(&mut self, slot: u32) {
        let (newer, older) = (self.newer[slot as usize], self.older[slot as usize]);
        match newer {
            NONE => self.newest = older,
            newer => self.older[newer as usize] = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.newer[older as usize] = newer,
        }
    }
}

impl Hand {
    fn evict(&mut self) -> u32 {
        loop {
            let slot = self.at;
            self.at = (self.at + 1) % self.is_filled.len();
            if self.is_filled[slot] && !std::mem::take(&mut self.was_used[slot]) {
                self.is_filled[slot] = false;
                return slot as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The obvious twin: a list of places with the newest last.
        #[test]
        fn lru_evicts_what_was_not_used_longest(steps in proptest::collection::vec((0u32..6, 0u8..8), 1..300)) {
            let mut lru = Recency::new(Eviction::Lru, 6);
            let mut obvious: Vec<u32> = Vec::new();
            for (slot, action) in steps {
                let is_there = obvious.contains(&slot);
                if action == 0 && !obvious.is_empty() {
                    prop_assert_eq!(lru.evict(), obvious.remove(0));
                } else if action == 1 && is_there {
                    lru.removed(slot);
                    obvious.retain(|&other| other != slot);
                } else if is_there {
                    lru.used(slot);
                    obvious.retain(|&other| other != slot);
                    obvious.push(slot);
                } else {
                    lru.inserted(slot);
                    obvious.push(slot);
                }
            }
        }
    }

    #[test]
    fn the_clock_spares_what_was_used_since_its_hand_passed() {
        let mut clock = Recency::new(Eviction::Clock, 3);
        (0..3).for_each(|slot| clock.inserted(slot));
        // All were used: the hand clears them and comes back to the first.
        assert_eq!(clock.evict(), 0);
        clock.inserted(0);
        clock.used(1);
        assert_eq!(clock.evict(), 2);
        clock.inserted(2);
        clock.removed(0);
        assert_eq!(clock.evict(), 1);
    }
}
