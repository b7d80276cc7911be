//! A queue of words in one allocation that grows and never shrinks, so that a run soon allocates no more.

#[derive(Clone, Debug)]
pub struct Ring {
    /// Their number is a power of two.
    words: Box<[u64]>,
    head: u32,
    len: u32,
}

impl Default for Ring {
    fn default() -> Self {
        Self { words: vec![0; 8].into_boxed_slice(), head: 0, len: 0 }
    }
}

impl Ring {
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
    pub fn get(&self, slot: u32) -> u64 {
        debug_assert!(slot < self.len);
        self.words[self.head.wrapping_add(slot) as usize & (self.words.len() - 1)]
    }

    #[inline(always)]
    pub fn first(&self) -> Option<u64> {
        (self.len > 0).then(|| self.get(0))
    }

    /// Replaces the word `slot` positions after the first.
    #[inline(always)]
    pub fn set(&mut self, slot: u32, word: u64) {
        debug_assert!(slot < self.len);
        let mask = self.words.len() - 1;
        self.words[self.head.wrapping_add(slot) as usize & mask] = word;
    }

    #[inline(always)]
    pub fn push(&mut self, word: u64) {
        if self.is_full() {
            self.grow();
        }
        let mask = self.words.len() - 1;
        self.words[self.head.wrapping_add(self.len) as usize & mask] = word;
        self.len += 1;
    }

    /// Appends several words.
    #[inline(always)]
    pub fn extend(&mut self, words: impl ExactSizeIterator<Item = u64>) {
        let count = words.len();
        while self.words.len() - (self.len as usize) < count {
            self.grow();
        }
        let mask = self.words.len() - 1;
        let first = self.head.wrapping_add(self.len) as usize;
        for (slot, word) in (first..).zip(words) {
            self.words[slot & mask] = word;
        }
        self.len += count as u32;
    }

    #[inline(always)]
    pub fn pop(&mut self) -> Option<u64> {
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
        let mut words: Vec<u64> = (0..self.len).map(|slot| self.get(slot)).collect();
        words.resize(2 * self.words.len(), 0);
        self.words = words.into_boxed_slice();
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn it_is_first_in_first_out(steps in proptest::collection::vec((0u32..6, any::<u64>()), 1..400)) {
            let mut ring = Ring::default();
            let mut obvious = VecDeque::new();
            for (kind, word) in steps {
                match kind {
                    0 => prop_assert_eq!(ring.pop(), obvious.pop_front()),
                    1 => {
                        let count = (word % 3).min(obvious.len() as u64);
                        ring.forget(count as u32);
                        obvious.drain(..count as usize);
                    }
                    3 => {
                        let words = (0..word % 20).map(|slot| word ^ slot);
                        ring.extend(words.clone().collect::<Vec<_>>().into_iter());
                        obvious.extend(words);
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
