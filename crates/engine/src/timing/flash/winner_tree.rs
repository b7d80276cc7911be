//! The earliest of a fixed number of pending events, one a die: a tournament tree, whose root is the minimum.

/// Times in nanoseconds, 2^48 of which are three days, packed above the number of the die, so that a comparison of
/// keys is one of times with ties going to the lower number.
const INDEX_BITS: u32 = 16;
const NEVER: u64 = 0;
/// Of a tree with as many leaves as keys can name.
const NODES_MAX: usize = 2 << INDEX_BITS;
/// The largest number of a die in a key.
const DIES_MAX: usize = (1 << INDEX_BITS) - 1;
const TIME_MAX_NS: u64 = (1 << (64 - INDEX_BITS)) - 1;

#[inline(always)]
pub fn key(time_ns: u64, index: usize) -> u64 {
    debug_assert!(time_ns <= TIME_MAX_NS);
    time_ns << INDEX_BITS | index as u64
}

/// The time in a key.
#[inline(always)]
pub fn time_of(key: u64) -> u64 {
    key >> INDEX_BITS
}

/// The number of the die in a key.
#[inline(always)]
pub fn index_of(key: u64) -> usize {
    key as usize & DIES_MAX
}

pub struct WinnerTree {
    /// Leaves from index `leaves` on, the root at 1. The bits of each key are inverted, so that a leaf without an event
    /// is 0, and the largest wins. Always of the largest size, so that indices need no bounds check; the system
    /// provides memory only for what is used.
    keys: Box<[u64; NODES_MAX]>,
    leaves: usize,
}

impl WinnerTree {
    pub fn new(count: usize) -> Self {
        assert!(count <= DIES_MAX, "{count} dies are more than a key can name");
        let keys = vec![NEVER; NODES_MAX].into_boxed_slice().try_into().expect("a box of this size");
        Self { keys, leaves: count.next_power_of_two() }
    }

    #[inline(always)]
    pub fn set(&mut self, index: usize, time_ns: u64) {
        self.replace(index, !key(time_ns, index));
    }

    #[inline(always)]
    pub fn clear(&mut self, index: usize) {
        self.replace(index, NEVER);
    }

    /// Sets or clears the event of a leaf.
    #[inline(always)]
    pub fn put(&mut self, index: usize, time_ns: Option<u64>) {
        self.replace(index, time_ns.map_or(NEVER, |time_ns| !key(time_ns, index)));
    }

    /// Time and index of the earliest event.
    #[inline(always)]
    pub fn earliest(&self) -> Option<(u64, usize)> {
        let inverted = self.keys[1];
        let key = !inverted;
        (inverted != NEVER).then_some((time_of(key), index_of(key)))
    }

    /// Always up to the root: stopping early would be a branch that the processor cannot predict.
    #[inline(always)]
    fn replace(&mut self, index: usize, inverted: u64) {
        let mut node = (self.leaves + index) % NODES_MAX;
        let mut winner = inverted;
        self.keys[node] = winner;
        while node > 1 {
            winner = winner.max(self.keys[node ^ 1]);
            node /= 2;
            self.keys[node] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_winner_is_the_earliest(count in 1usize..40, steps in proptest::collection::vec((0usize..40, 0u64..50), 1..200)) {
            let mut tree = WinnerTree::new(count);
            let mut obvious = vec![None; count];
            for (index, time) in steps {
                let index = index % count;
                if time == 0 {
                    tree.clear(index);
                    obvious[index] = None;
                } else {
                    tree.set(index, time);
                    obvious[index] = Some(time);
                }
                let earliest = (0..count).filter_map(|index| obvious[index].map(|time| (time, index))).min();
                prop_assert_eq!(tree.earliest(), earliest);
            }
        }
    }
}
