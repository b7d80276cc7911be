//! Which cached map page goes when room is needed: the least recently used one, or the clock's approximation of it
//! (Corbato 1968). Both take constant time: a list through the places, or a hand that goes round them.

use crate::specification::drive::Eviction;
use serde::{Deserialize, Serialize};

const NONE: u32 = u32::MAX;

/// Order over the places of the cache. A place is inserted once before it is used or removed.
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
    pub fn new(eviction: Eviction, places: u32) -> Self {
        let places = places as usize;
        match eviction {
            Eviction::Lru => {
                Self::Lru(List { newer: vec![NONE; places], older: vec![NONE; places], newest: NONE, oldest: NONE })
            }
            Eviction::Clock => {
                Self::Clock(Hand { is_filled: vec![false; places], was_used: vec![false; places], at: 0 })
            }
        }
    }

    /// Whether it is one of the same cache: as many places, by the same rule, and no other place is named.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Lru(list), Self::Lru(other)) => {
                let places = list.newer.len();
                let is_known = |&place: &u32| place == NONE || (place as usize) < places;
                places == other.newer.len()
                    && places == list.older.len()
                    && list.newer.iter().chain(&list.older).chain([&list.newest, &list.oldest]).all(is_known)
            }
            (Self::Clock(hand), Self::Clock(other)) => {
                let places = hand.is_filled.len();
                places == other.is_filled.len() && places == hand.was_used.len() && hand.at < places
            }
            _ => false,
        }
    }

    pub fn inserted(&mut self, place: u32) {
        match self {
            Self::Lru(list) => list.put_first(place),
            Self::Clock(hand) => {
                hand.is_filled[place as usize] = true;
                hand.was_used[place as usize] = true;
            }
        }
    }

    pub fn used(&mut self, place: u32) {
        match self {
            Self::Lru(list) => {
                if list.newest != place {
                    list.take_out(place);
                    list.put_first(place);
                }
            }
            Self::Clock(hand) => hand.was_used[place as usize] = true,
        }
    }

    pub fn removed(&mut self, place: u32) {
        match self {
            Self::Lru(list) => list.take_out(place),
            Self::Clock(hand) => hand.is_filled[place as usize] = false,
        }
    }

    /// Takes the place that goes out of the order. There must be one.
    pub fn evict(&mut self) -> u32 {
        match self {
            Self::Lru(list) => {
                let place = list.oldest;
                list.take_out(place);
                place
            }
            Self::Clock(hand) => hand.evict(),
        }
    }
}

impl List {
    fn put_first(&mut self, place: u32) {
        self.newer[place as usize] = NONE;
        self.older[place as usize] = self.newest;
        match self.newest {
            NONE => self.oldest = place,
            before => self.newer[before as usize] = place,
        }
        self.newest = place;
    }

    fn take_out(&mut self, place: u32) {
        let (newer, older) = (self.newer[place as usize], self.older[place as usize]);
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
            let place = self.at;
            self.at = (self.at + 1) % self.is_filled.len();
            if self.is_filled[place] && !std::mem::take(&mut self.was_used[place]) {
                self.is_filled[place] = false;
                return place as u32;
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
            for (place, action) in steps {
                let is_there = obvious.contains(&place);
                if action == 0 && !obvious.is_empty() {
                    prop_assert_eq!(lru.evict(), obvious.remove(0));
                } else if action == 1 && is_there {
                    lru.removed(place);
                    obvious.retain(|&other| other != place);
                } else if is_there {
                    lru.used(place);
                    obvious.retain(|&other| other != place);
                    obvious.push(place);
                } else {
                    lru.inserted(place);
                    obvious.push(place);
                }
            }
        }
    }

    #[test]
    fn the_clock_spares_what_was_used_since_its_hand_passed() {
        let mut clock = Recency::new(Eviction::Clock, 3);
        (0..3).for_each(|place| clock.inserted(place));
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
