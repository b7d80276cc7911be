//! Flat tables as large as the drive's map: anonymous memory on huge pages, with prefetch.
//!
//! These tables are far larger than any processor cache and are accessed at random, so that a step of the simulation
//! costs about one cache miss an access. Huge pages avoid a second miss in the translation of addresses; prefetching
//! overlaps the first. WebAssembly has no memory mapping; there a table is a vector. This file holds the only `unsafe`
//! code of the engine.

#![allow(unsafe_code)]

use memory::Memory;
use std::io::{self, Read, Write};
use std::marker::PhantomData;

/// Unsigned integers; all-zero bytes are the value 0.
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

/// Words of a table that are written or read in one step.
const AT_ONCE: usize = 1 << 14;

/// A table of any word type, as little-endian bytes.
pub trait TableBytes {
    /// Writes all words.
    fn write(&self, out: &mut dyn Write) -> io::Result<()>;
    /// Reads the words of a table of the same length. False if a word is above `most` and is not `except`.
    fn read(&mut self, input: &mut dyn Read, most: u64, except: Option<u64>) -> io::Result<bool>;
}

/// A fixed number of words, all zero at first. The system provides memory only for pages that are accessed.
pub struct Table<T: Word> {
    memory: Memory,
    len: usize,
    word: PhantomData<T>,
}

impl<T: Word> Table<T> {
    /// Fails if the system lacks address space or memory.
    pub fn zeroed(len: usize) -> io::Result<Self> {
        let bytes = (len * size_of::<T>()).max(1);
        Ok(Self { memory: memory::zeroed(bytes)?, len, word: PhantomData })
    }

    /// A table with the same value in every word.
    pub fn filled(len: usize, value: T) -> io::Result<Self> {
        let mut table = Self::zeroed(len)?;
        table.as_mut_slice().fill(value);
        Ok(table)
    }

    /// The number of words.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no words.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Panics if `index` is out of range.
    #[inline(always)]
    pub fn get(&self, index: usize) -> T {
        match self.as_slice().get(index) {
            Some(&word) => word,
            None => no_such_word(),
        }
    }

    /// Panics if `index` is out of range.
    #[inline(always)]
    pub fn set(&mut self, index: usize, value: T) {
        *self.word(index) = value;
    }

    /// Panics if `index` is out of range.
    #[inline(always)]
    pub fn word(&mut self, index: usize) -> &mut T {
        match self.as_mut_slice().get_mut(index) {
            Some(word) => word,
            None => no_such_word(),
        }
    }

    /// Prefetches a word into the processor's cache; any index is allowed.
    #[inline(always)]
    pub fn prefetch(&self, index: usize) {
        prefetch(self.memory.as_ptr().cast::<T>().wrapping_add(index));
    }

    /// All words.
    #[inline(always)]
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: the memory holds `len` words and lives as long as `self`. It is aligned to at least 8 bytes, so every
        // word is aligned; it is initialised with zeroes, and any bit pattern is a valid word.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast(), self.len) }
    }

    /// All words, to be changed.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as in `as_slice`, and `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), self.len) }
    }

    /// The size of the table in bytes of address space.
    pub fn bytes(&self) -> usize {
        self.memory.len()
    }
}

/// Reports neither index nor length, so that the bounds check before each access compares with memory and occupies no
/// register.
#[cold]
#[inline(never)]
fn no_such_word() -> ! {
    panic!("a table has no such word");
}

macro_rules! table_bytes {
    ($($word:ty),*) => {
        $(impl TableBytes for Table<$word> {
            fn write(&self, out: &mut dyn Write) -> io::Result<()> {
                let mut bytes = Vec::with_capacity(AT_ONCE * size_of::<$word>());
                for words in self.as_slice().chunks(AT_ONCE) {
                    bytes.clear();
                    words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
                    out.write_all(&bytes)?;
                }
                Ok(())
            }

            fn read(&mut self, input: &mut dyn Read, most: u64, except: Option<u64>) -> io::Result<bool> {
                let mut bytes = vec![0; AT_ONCE * size_of::<$word>()];
                let mut is_possible = true;
                for words in self.as_mut_slice().chunks_mut(AT_ONCE) {
                    let part = &mut bytes[..size_of_val(words)];
                    input.read_exact(part)?;
                    for (word, its_bytes) in words.iter_mut().zip(part.chunks_exact(size_of::<$word>())) {
                        *word = <$word>::from_le_bytes(its_bytes.try_into().expect("as many bytes as the word has"));
                        is_possible &= u64::from(*word) <= most || Some(u64::from(*word)) == except;
                    }
                }
                Ok(is_possible)
            }
        })*
    };
}

table_bytes!(u8, u32, u64);

/// Prefetches `words[index]` into the processor's cache; any index is allowed.
#[inline(always)]
pub fn prefetch_in<T>(words: &[T], index: usize) {
    prefetch(words.as_ptr().wrapping_add(index));
}

#[inline(always)]
fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint without architectural effects and never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Zeroed bytes, aligned for any word.
#[cfg(not(target_family = "wasm"))]
mod memory {
    use std::io;

    pub type Memory = memmap2::MmapMut;

    pub fn zeroed(bytes: usize) -> io::Result<Memory> {
        let memory = Memory::map_anon(bytes)?;
        // Only a hint: without huge pages the table works, more slowly.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Ok(memory)
    }
}

/// The same as a vector.
#[cfg(target_family = "wasm")]
mod memory {
    use std::io;

    pub struct Memory(Vec<u64>);

    pub fn zeroed(bytes: usize) -> io::Result<Memory> {
        let words = bytes.div_ceil(size_of::<u64>());
        let mut memory = Vec::new();
        memory.try_reserve_exact(words).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        memory.resize(words, 0);
        Ok(Memory(memory))
    }

    impl Memory {
        pub fn as_ptr(&self) -> *const u8 {
            self.0.as_ptr().cast()
        }

        pub fn as_mut_ptr(&mut self) -> *mut u8 {
            self.0.as_mut_ptr().cast()
        }

        pub fn len(&self) -> usize {
            size_of_val(self.0.as_slice())
        }
    }
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
