//! A queue of words in one allocation that grows and never shrinks, so that a run soon allocates no more.

#[derive(Clone, Debug)]
pub struct Ring<W = u64> {
    /// Their number is a power of two.
    words: Box<[W]>,
    head: u32,
    len: u32,
}

impl<W: Copy + Default> Default for Ring<W> {
    fn default() -> Self {
        Self { words: vec![W::default(); 8].into_boxed_slice(), head: 0, len: 0 }
    }
}

impl<W: Copy + Default> Ring<W> {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether the next word needs more memory.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.len as usize == self.words.len()
    }

    /// The word `slot` positions after the first.
    #[inline(always)]
    pub fn get(&self, slot: u32) -> W {
        debug_assert!(slot < self.len);
        self.words[self.head.wrapping_add(slot) as usize & (self.words.len() - 1)]
    }

    #[inline(always)]
    pub fn first(&self) -> Option<W> {
        (self.len > 0).then(|| self.get(0))
    }

    /// How many of the first words meet a condition that no later one meets.
    pub fn partition_point(&self, mut meets: impl FnMut(W) -> bool) -> u32 {
        let (mut met, mut end) = (0, self.len);
        while met < end {
            let middle = met + (end - met) / 2;
            if meets(self.get(middle)) {
                met = middle + 1;
            } else {
                end = middle;
            }
        }
        met
    }

    /// Replaces the word `slot` positions after the first.
    #[inline(always)]
    pub fn set(&mut self, slot: u32, word: W) {
        debug_assert!(slot < self.len);
        let mask = self.words.len() - 1;
        self.words[self.head.wrapping_add(slot) as usize & mask] = word;
    }

    #[inline(always)]
    pub fn push(&mut self, word: W) {
        if self.is_full() {
            self.grow();
        }
        let mask = self.words.len() - 1;
        self.words[self.head.wrapping_add(self.len) as usize & mask] = word;
        self.len += 1;
    }

    #[inline(always)]
    pub fn pop(&mut self) -> Option<W> {
        let word = self.first()?;
        self.forget(1);
        Some(word)
    }

    /// Removes the first `count` words.
    #[inline(always)]
    pub fn forget(&mut self, count: u32) {
        debug_assert!(count <= self.len);
        self.head = self.head.wrapping_add(count);
        self.len -= count;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut words: Vec<W> = (0..self.len).map(|slot| self.get(slot)).collect();
        words.resize(2 * self.words.len(), W::default());
        self.words = words.into_boxed_slice();
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn the_first_words_that_meet_a_condition_are_counted() {
        for count in 0..20 {
            let mut ring = Ring::default();
            (0..5u64).for_each(|word| ring.push(word));
            ring.forget(5);
            (0..count).for_each(|word| ring.push(word));
            assert!((0..=count).all(|met| ring.partition_point(|word| word < met) == met as u32));
        }
    }

    proptest! {
        #[test]
        fn it_is_first_in_first_out(steps in proptest::collection::vec((0u32..6, any::<u64>()), 1..400)) {
            let mut ring = Ring::<u64>::default();
            let mut obvious = VecDeque::new();
            for (kind, word) in steps {
                match kind {
                    0 => prop_assert_eq!(ring.pop(), obvious.pop_front()),
                    1 => {
                        let count = (word % 3).min(obvious.len() as u64);
                        ring.forget(count as u32);
                        obvious.drain(..count as usize);
                    }
                    2 if !obvious.is_empty() => {
                        let slot = word as usize % obvious.len();
                        ring.set(slot as u32, word);
                        obvious[slot] = word;
                    }
                    _ => {
                        ring.push(word);
                        obvious.push_back(word);
                    }
                }
                prop_assert_eq!(ring.len() as usize, obvious.len());
                prop_assert_eq!(ring.is_empty(), obvious.is_empty());
                for (slot, &word) in obvious.iter().enumerate() {
                    prop_assert_eq!(ring.get(slot as u32), word);
                }
            }
        }
    }
}
