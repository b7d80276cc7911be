//! What an operation costs in simulated time. The translation layer reports to a clock what the flash does; which clock
//! is chosen when the code is compiled, so that a run without one pays nothing for it.

use crate::ledger::Cause;
use crate::units::{EraseUnit, Ppn};
use recorder::Packed;

pub mod breakdown;
pub mod drive;
pub mod flash;
pub mod front;
pub mod histogram;
pub mod host;
pub mod recorder;

pub use flash::{in_memory, service};

/// Receives every flash operation, in the order in which the translation layer decides on it.
pub trait Clock {
    /// Whether time passes: then a victim is emptied in steps while the host goes on writing. Without time a victim is
    /// emptied at once, which makes no difference.
    const PACED: bool;

    /// Whether the read takes the flash at all: what the controller still has in its memory does not, and is not
    /// counted.
    fn read(&mut self, ppn: Ppn, cause: Cause) -> bool;
    fn program(&mut self, ppn: Ppn, cause: Cause);
    fn erase(&mut self, erase_unit: EraseUnit);
    /// An erase unit is opened, in SLC mode or not; called only by drives with an SLC cache.
    fn open(&mut self, _erase_unit: EraseUnit, _is_slc: bool) {}
    /// Reduced data goes to its places; called before the programs of the mapping units that it fills.
    #[inline(always)]
    fn pack(&mut self, _packed: Packed) {}

    /// A unit is read and programmed at another place.
    #[inline(always)]
    fn copy(&mut self, from: Ppn, to: Ppn, cause: Cause) {
        self.read(from, cause);
        self.program(to, cause);
    }
}

/// No time at all: write amplification only.
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
