//! Flat tables as large as the drive's map: anonymous memory on huge pages, with prefetch.
//!
//! These tables are far larger than any cache and are hit at random, so a step of the simulation costs about one
//! cache miss an access. Huge pages keep the second miss, that of the address translation, away; prefetching overlaps
//! the first. The only `unsafe` code of the engine is in this file.

use memmap2::MmapMut;
use std::marker::PhantomData;

/// Plain integers for which a page of zero bytes is a page of zeroes.
pub trait Word: Copy + PartialEq + sealed::Sealed {}
impl Word for u8 {}
impl Word for u32 {}
impl Word for u64 {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// A fixed number of words, all zero at first. Memory is taken from the system only where it is touched.
pub struct Table<T: Word> {
    memory: MmapMut,
    len: usize,
    word: PhantomData<T>,
}

impl<T: Word> Table<T> {
    /// Errors when the system has not enough address space or memory.
    pub fn zeroed(len: usize) -> std::io::Result<Self> {
        let bytes = (len * size_of::<T>()).max(1);
        let memory = MmapMut::map_anon(bytes)?;
        // Only a hint: without huge pages the table works as well, more slowly.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Ok(Self { memory, len, word: PhantomData })
    }

    pub fn filled(len: usize, value: T) -> std::io::Result<Self> {
        let mut table = Self::zeroed(len)?;
        table.as_mut_slice().fill(value);
        Ok(table)
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline(always)]
    pub fn get(&self, index: usize) -> T {
        debug_assert!(index < self.len);
        // SAFETY: callers hold index < len as the invariant of their own numbers (checked above in debug builds);
        // the mapping is page-aligned, so every word is aligned, and any bit pattern is a valid word.
        unsafe { *self.memory.as_ptr().cast::<T>().add(index) }
    }

    #[inline(always)]
    pub fn set(&mut self, index: usize, value: T) {
        debug_assert!(index < self.len);
        // SAFETY: as in `get`, and `&mut self` makes the access exclusive.
        unsafe { *self.memory.as_mut_ptr().cast::<T>().add(index) = value }
    }

    /// Asks the processor to bring the word near; never faults, so any index is allowed.
    #[inline(always)]
    pub fn prefetch(&self, index: usize) {
        prefetch(self.memory.as_ptr().cast::<T>().wrapping_add(index));
    }

    pub fn as_slice(&self) -> &[T] {
        // SAFETY: the mapping holds `len` initialised, aligned words and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast(), self.len) }
    }

    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as in `as_slice`, and `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), self.len) }
    }

    /// Bytes of address space, all of which may become memory.
    pub fn bytes(&self) -> usize {
        self.memory.len()
    }
}

/// Brings `words[index]` near; any index is allowed.
#[inline(always)]
pub fn prefetch_in<T>(words: &[T], index: usize) {
    prefetch(words.as_ptr().wrapping_add(index));
}

#[inline(always)]
fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint that reads nothing architecturally and never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn words_keep_what_is_set_and_start_at_zero() {
        let mut table = Table::<u32>::zeroed(5000).unwrap();
        assert!(table.as_slice().iter().all(|&word| word == 0));
        for index in 0..table.len() {
            table.set(index, index as u32 ^ 0xdead_beef);
        }
        table.prefetch(usize::MAX);
        assert!((0..table.len()).all(|index| table.get(index) == index as u32 ^ 0xdead_beef));
    }

    #[test]
    fn an_empty_table_is_allowed() {
        assert!(Table::<u64>::zeroed(0).unwrap().as_slice().is_empty());
    }
}
