//! Which of many blocks have been visited: a bit for each, and above it a bit for each word that is full, and so on, so
//! that the next unvisited block is found in a few steps.

#[derive(Clone, Debug)]
pub struct Visits {
    count: u64,
    left: u64,
    /// The lowest level has a bit for each block; a bit of a higher level says that a word of the level below is full.
    levels: Vec<Box<[u64]>>,
}

impl Visits {
    /// Panics if `count` is 0.
    pub fn new(count: u64) -> Visits {
        assert!(count > 0, "a map without a block");
        let mut visits = Visits { count, left: count, levels: Vec::new() };
        let mut bits = count;
        while bits > 1 || visits.levels.is_empty() {
            let words = bits.div_ceil(64);
            visits.levels.push(vec![0; words as usize].into_boxed_slice());
            bits = words;
        }
        visits.clear();
        visits
    }

    pub fn left(&self) -> u64 {
        self.left
    }

    pub fn contains(&self, block: u64) -> bool {
        self.levels[0][(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    pub fn clear(&mut self) {
        self.left = self.count;
        let mut bits = self.count;
        for level in &mut self.levels {
            level.fill(0);
            // Bits after the end count as visited, so that the last word can be full.
            if !bits.is_multiple_of(64) {
                level[(bits / 64) as usize] = u64::MAX << (bits % 64);
            }
            bits = bits.div_ceil(64);
        }
    }

    /// Adds a block that is not visited yet.
    pub fn insert(&mut self, block: u64) {
        debug_assert!(!self.contains(block));
        self.left -= 1;
        let mut bit = block;
        for level in &mut self.levels {
            let word = &mut level[(bit / 64) as usize];
            *word |= 1 << (bit % 64);
            if *word != u64::MAX {
                break;
            }
            bit /= 64;
        }
    }

    /// The first unvisited block from `block` on, or the first of all if there is none after it. Panics if all are
    /// visited.
    pub fn next_left(&self, block: u64) -> u64 {
        assert!(self.left > 0, "every block has been visited");
        self.left_from(block).or_else(|| self.left_from(0)).expect("one is left")
    }

    fn left_from(&self, block: u64) -> Option<u64> {
        let (mut level, mut bit) = (0, block);
        // Up until a word has a free bit from the position on, then down to its first free bit.
        loop {
            let words = self.levels.get(level)?;
            let index = (bit / 64) as usize;
            let free = words.get(index).map_or(0, |word| !word & (u64::MAX << (bit % 64)));
            if free == 0 {
                bit = bit / 64 + 1;
                level += 1;
                continue;
            }
            bit = index as u64 * 64 + u64::from(free.trailing_zeros());
            if level == 0 {
                return Some(bit);
            }
            level -= 1;
            bit *= 64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn a_set_of_what_is_left_agrees(count in 1u64..10_000, blocks in prop::collection::vec(any::<u64>(), 0..3000)) {
            let mut visits = Visits::new(count);
            let mut left: BTreeSet<u64> = (0..count).collect();
            for block in blocks {
                let Some(&first) = left.first() else { break };
                let wanted = left.range(block % count..).next().copied().unwrap_or(first);
                prop_assert_eq!(visits.next_left(block % count), wanted);
                prop_assert!(!visits.contains(wanted));
                visits.insert(wanted);
                left.remove(&wanted);
                prop_assert!(visits.contains(wanted));
                prop_assert_eq!(visits.left(), left.len() as u64);
            }
            visits.clear();
            prop_assert_eq!(visits.left(), count);
            prop_assert_eq!(visits.next_left(count - 1), count - 1);
        }
    }

    #[test]
    fn every_block_is_found_to_the_last() {
        for count in [1, 63, 64, 65, 4096, 4097, 70_000] {
            let mut visits = Visits::new(count);
            (0..count).for_each(|block| {
                assert_eq!(visits.next_left(0), block);
                visits.insert(block);
            });
            assert_eq!(visits.left(), 0);
        }
    }
}
