//! What a die is told to do, in one word, and what it costs in time.

/// What the end of an operation means; the number beside it is the operation's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Work {
    /// Nobody waits for it.
    Quiet,
    /// Brings units to a slot of the host.
    HostRead,
    /// Brings units to a program group.
    CopyRead,
    /// Puts a program group into flash that somebody waits for.
    Program,
    /// All that was queued before it is done.
    Marker,
}

/// What the array does, and so what it costs beside the transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Array {
    /// The page is still in the register.
    Nothing,
    Read,
    Program,
    Erase,
}

/// From the lowest bit: 2 bits what the array does, 1 bit SLC mode, 1 bit of nothing, 4 bits the work, 16 bits units that cross the channel, 8 bits of
/// nothing, 32 bits target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operation(u64);

impl Operation {
    pub const UNITS_MAX: u32 = u16::MAX as u32;

    #[inline(always)]
    pub fn new(array: Array, work: Work, units: u32, target: u32) -> Self {
        debug_assert!(units <= Self::UNITS_MAX);
        Self(array as u64 | (work as u64) << 4 | u64::from(units) << 8 | u64::from(target) << 32)
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

    #[inline(always)]
    pub fn work(self) -> Work {
        match self.0 >> 4 & 7 {
            0 => Work::Quiet,
            1 => Work::HostRead,
            2 => Work::CopyRead,
            3 => Work::Program,
            _ => Work::Marker,
        }
    }

    #[inline(always)]
    pub fn is_quiet(self) -> bool {
        self.0 & 0xf0 == 0
    }

    /// Whether somebody else waits for it than the drive's own work.
    #[inline(always)]
    pub fn is_of_host(self) -> bool {
        matches!(self.work(), Work::HostRead | Work::Program)
    }

    #[inline(always)]
    pub fn units(self) -> u32 {
        (self.0 >> 8) as u32 & Self::UNITS_MAX
    }

    #[inline(always)]
    pub fn target(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// By what the array does, and the same in SLC mode.
    pub array_ns: [u64; 8],
    pub transfer_ns_per_unit: u64,
}

impl Costs {
    #[inline(always)]
    pub fn array_ns(&self, operation: Operation) -> u64 {
        self.array_ns[operation.0 as usize & 7]
    }

    #[inline(always)]
    pub fn transfer_ns(&self, operation: Operation) -> u64 {
        u64::from(operation.units()) * self.transfer_ns_per_unit
    }

    /// From start to end where nobody can come between.
    #[inline(always)]
    pub fn duration_ns(&self, operation: Operation) -> u64 {
        self.array_ns(operation) + self.transfer_ns(operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_gives_back_what_was_put_into_it() {
        for array in [Array::Nothing, Array::Read, Array::Program, Array::Erase] {
            for work in [Work::Quiet, Work::HostRead, Work::CopyRead, Work::Program, Work::Marker] {
                for (units, target) in [(0, 0), (1, 7), (Operation::UNITS_MAX, u32::MAX)] {
                    let operation = Operation::from_word(Operation::new(array, work, units, target).word());
                    let parts = (operation.array(), operation.work(), operation.units(), operation.target());
                    assert_eq!(parts, (array, work, units, target));
                    assert_eq!(operation.is_quiet(), work == Work::Quiet);
                    assert_eq!(operation.is_of_host(), work == Work::HostRead || work == Work::Program);
                }
            }
        }
    }
}
