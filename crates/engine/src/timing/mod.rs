//! The simulated time of operations. The translation layer reports its operations to a clock, which is chosen at
//! compile time, so that a run without one costs nothing.

use crate::ledger::Cause;
use crate::units::{EraseUnit, Ppn};
use decision::Packed;

pub mod breakdown;
pub mod decision;
pub mod drive;
pub mod flash;
pub mod front;
pub mod histogram;
pub mod host;
pub mod plain;
pub mod recorder;

pub use flash::{in_memory, service};

/// Receives every flash operation, in the order of the translation layer's decisions.
pub trait Clock {
    /// Whether time passes: then a victim is collected in steps while the host continues writing. Without time a victim
    /// is collected at once, with the same result.
    const PACED: bool;

    /// Whether the read needs the flash: a read of data that the controller still holds does not, and is not counted.
    fn read(&mut self, ppn: Ppn, cause: Cause) -> bool;
    /// A mapping unit is programmed.
    fn program(&mut self, ppn: Ppn, cause: Cause);
    /// An erase unit is erased.
    fn erase(&mut self, erase_unit: EraseUnit);
    /// An erase unit is opened, in SLC mode or not; called only by drives with an SLC cache.
    fn open(&mut self, _erase_unit: EraseUnit, _is_slc: bool) {}
    /// Reduced data is assigned to slots; called before the programs of the mapping units that it fills.
    #[inline(always)]
    fn pack(&mut self, _packed: Packed) {}

    /// Units are read and programmed into other slots, one after another, each from the first to the second.
    #[inline(always)]
    fn copy(&mut self, slots: impl Iterator<Item = (Ppn, Ppn)>, cause: Cause) {
        for (from, to) in slots {
            self.read(from, cause);
            self.program(to, cause);
        }
    }
}

/// No time: write amplification only.
#[derive(Clone, Copy, Debug, Default)]
pub struct Untimed;

impl Clock for Untimed {
    const PACED: bool = false;

    #[inline(always)]
    fn read(&mut self, _ppn: Ppn, _cause: Cause) -> bool {
        true
    }

    #[inline(always)]
    fn program(&mut self, _ppn: Ppn, _cause: Cause) {}

    #[inline(always)]
    fn erase(&mut self, _erase_unit: EraseUnit) {}
}
