//! An operation of a die, packed into one word, and its duration.

use crate::specification::drive::{Nand, PageTimes, ReadRetries, SlcCache};

/// The meaning of an operation's end; the operation's target is stored with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Work {
    /// Nobody waits for it.
    Quiet,
    /// Transfers units for a slot of the host.
    HostRead,
    /// Transfers units for a program group.
    CopyRead,
    /// Programs a group that somebody waits for.
    Program,
    /// Everything queued before it is done.
    Marker,
}

/// The array operation, which determines the time; the transfer is separate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Array {
    /// The page is still in the register.
    Nothing,
    Read,
    Program,
    Erase,
}

/// From the lowest bit: 2 bits array operation, 1 bit SLC mode, 4 bits page of the word line, 1 bit copy, 2 bits retries,
/// 3 bits work, 3 bits unused, 16 bits transferred units, 32 bits target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operation(u64);

impl Operation {
    pub const UNITS_MAX: u32 = u16::MAX as u32;

    #[inline(always)]
    pub fn new(array: Array, work: Work, units: u32, target: u32) -> Self {
        debug_assert!(units <= Self::UNITS_MAX);
        Self(array as u64 | (work as u64) << WORK_BIT | u64::from(units) << 16 | u64::from(target) << 32)
    }

    #[inline(always)]
    pub fn from_word(word: u64) -> Self {
        Self(word)
    }

    #[inline(always)]
    pub fn word(self) -> u64 {
        self.0
    }

    #[inline(always)]
    pub fn array(self) -> Array {
        match self.0 & 3 {
            0 => Array::Nothing,
            1 => Array::Read,
            2 => Array::Program,
            _ => Array::Erase,
        }
    }

    /// The same in a block in SLC mode.
    #[inline(always)]
    pub fn in_mode(self, is_slc: bool) -> Self {
        Self(self.0 | u64::from(is_slc) << 2)
    }

    /// The same on a page of a word line with different times.
    #[inline(always)]
    pub fn on_page(self, page: u32) -> Self {
        debug_assert!((page as usize) < PageTimes::PAGES_MAX);
        Self(self.0 | u64::from(page) << 3)
    }

    /// The same for a copy, whose reads may have a different time.
    #[inline(always)]
    pub fn for_copy(self) -> Self {
        Self(self.0 | FOR_COPY as u64)
    }

    /// The same for a read that is repeated so often.
    #[inline(always)]
    pub fn with_retries(self, retries: u32) -> Self {
        debug_assert!(retries as usize <= ReadRetries::RETRIES_MAX);
        Self(self.0 | (u64::from(retries) * RETRY as u64))
    }

    #[inline(always)]
    pub fn is_for_copy(self) -> bool {
        self.0 & FOR_COPY as u64 != 0
    }

    #[inline(always)]
    pub fn work(self) -> Work {
        match self.0 >> WORK_BIT & 7 {
            0 => Work::Quiet,
            1 => Work::HostRead,
            2 => Work::CopyRead,
            3 => Work::Program,
            _ => Work::Marker,
        }
    }

    #[inline(always)]
    pub fn is_quiet(self) -> bool {
        self.0 & (7 << WORK_BIT) == 0
    }

    /// Whether it is performed for the host rather than for the drive itself.
    #[inline(always)]
    pub fn is_of_host(self) -> bool {
        matches!(self.work(), Work::HostRead | Work::Program)
    }

    /// Whether it copies, programs or erases for the drive itself. A marker does not, nor does a die's internal
    /// operation.
    #[inline(always)]
    pub fn is_own(self) -> bool {
        let does_nothing = self.array() == Array::Nothing && self.units() == 0;
        !self.is_of_host() && self.work() != Work::Marker && !does_nothing
    }

    #[inline(always)]
    pub fn units(self) -> u32 {
        (self.0 >> 16) as u32 & Self::UNITS_MAX
    }

    #[inline(always)]
    pub fn target(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// Above the array operation, the mode and the page of a word line.
const FOR_COPY: usize = 8 * PageTimes::PAGES_MAX;
const RETRY: usize = 2 * FOR_COPY;
/// The number of combinations: the lowest bits of an operation.
const KINDS: usize = (ReadRetries::RETRIES_MAX + 1) * RETRY;
/// The bits of the work are above them.
const WORK_BIT: u32 = KINDS.trailing_zeros();

#[derive(Clone, Debug)]
pub struct Costs {
    array_ns: [u64; KINDS],
    transfer_ns_per_unit: u64,
}

fn nanoseconds(microseconds: f64) -> u64 {
    (microseconds * 1000.0).round() as u64
}

impl Costs {
    pub fn new(nand: &Nand, mapping_unit_bytes: u32) -> Self {
        let transfer_ns_per_unit = (f64::from(mapping_unit_bytes) * 1000.0 / nand.channel_mb_s).round() as u64;
        let mut costs = Self { array_ns: [0; KINDS], transfer_ns_per_unit };
        for page in 0..nand.pages_per_word_line() as usize {
            let of_page = |times: &PageTimes| times.each()[page % times.each().len()];
            let [read, program] = [of_page(&nand.read_us), of_page(&nand.program_us)];
            costs.set(8 * page, [read, program, nand.erase_us]);
            let copy_read = if nand.copy_read_us > 0.0 { nand.copy_read_us } else { read };
            costs.set(FOR_COPY + 8 * page, [copy_read, program, nand.erase_us]);
        }
        costs
    }

    /// In SLC mode a word line has one page.
    pub fn set_slc_mode(&mut self, cache: &SlcCache) {
        for page in 0..PageTimes::PAGES_MAX {
            for first in [0, FOR_COPY] {
                self.set(first + 8 * page + 4, [cache.read_us, cache.program_us, cache.erase_us]);
            }
        }
    }

    /// Adds the times of retries to reads; after all times are set.
    pub fn set_retries(&mut self, said: &ReadRetries) {
        let mut added_ns = 0;
        for (index, &microseconds) in said.retry_us.iter().enumerate() {
            added_ns += nanoseconds(microseconds);
            for read in (Array::Read as usize..RETRY).step_by(4) {
                self.array_ns[(index + 1) * RETRY + read] = self.array_ns[read] + added_ns;
            }
        }
    }

    /// A read, a program and an erase, in microseconds.
    fn set(&mut self, first: usize, times: [f64; 3]) {
        self.array_ns[first + 1..first + 4].copy_from_slice(&times.map(nanoseconds));
    }

    #[inline(always)]
    pub fn array_ns(&self, operation: Operation) -> u64 {
        self.array_ns[operation.0 as usize & (KINDS - 1)]
    }

    #[inline(always)]
    pub fn transfer_ns(&self, operation: Operation) -> u64 {
        u64::from(operation.units()) * self.transfer_ns_per_unit
    }

    /// From start to end, if nothing can intervene.
    #[inline(always)]
    pub fn duration_ns(&self, operation: Operation) -> u64 {
        self.array_ns(operation) + self.transfer_ns(operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_may_read_faster_than_the_host_and_programs_and_erases_like_it() {
        let mut nand = crate::specification::Drive::textbook().nand;
        let array_ns = |nand: &Nand, array, is_for_copy| {
            let operation = Operation::new(array, Work::CopyRead, 1, 0).on_page(0);
            Costs::new(nand, 4096).array_ns(if is_for_copy { operation.for_copy() } else { operation })
        };
        assert_eq!(array_ns(&nand, Array::Read, true), 60_000);
        nand.copy_read_us = 25.0;
        assert_eq!([false, true].map(|is| array_ns(&nand, Array::Read, is)), [60_000, 25_000]);
        assert_eq!([false, true].map(|is| array_ns(&nand, Array::Program, is)), [700_000; 2]);
        assert_eq!([false, true].map(|is| array_ns(&nand, Array::Erase, is)), [5_000_000; 2]);
    }

    #[test]
    fn a_word_gives_back_what_was_put_into_it() {
        for array in [Array::Nothing, Array::Read, Array::Program, Array::Erase] {
            for work in [Work::Quiet, Work::HostRead, Work::CopyRead, Work::Program, Work::Marker] {
                for (units, target) in [(0, 0), (1, 7), (Operation::UNITS_MAX, u32::MAX)] {
                    let page = target % PageTimes::PAGES_MAX as u32;
                    let operation = Operation::new(array, work, units, target).on_page(page).in_mode(page % 2 == 1);
                    let operation = Operation::from_word(operation.word());
                    let parts = (operation.array(), operation.work(), operation.units(), operation.target());
                    assert_eq!(parts, (array, work, units, target));
                    assert_eq!(operation.is_quiet(), work == Work::Quiet);
                    assert_eq!(operation.is_of_host(), work == Work::HostRead || work == Work::Program);
                }
            }
        }
    }
}
