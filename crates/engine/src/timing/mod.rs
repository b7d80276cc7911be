//! What an operation costs in simulated time. The translation layer tells a clock what the flash does; which clock is
//! chosen when the code is compiled, so that a run without one pays nothing for it.

use crate::ftl::numbers::{EraseUnit, Ppn};
use crate::ledger::Cause;

/// Told of every flash operation, in the order in which the translation layer decides on it.
pub trait Clock {
    fn read(&mut self, ppn: Ppn, cause: Cause);
    fn program(&mut self, ppn: Ppn, cause: Cause);
    fn erase(&mut self, erase_unit: EraseUnit);
}

/// No time at all: write amplification only.
#[derive(Clone, Copy, Debug, Default)]
pub struct Untimed;

impl Clock for Untimed {
    #[inline(always)]
    fn read(&mut self, _ppn: Ppn, _cause: Cause) {}

    #[inline(always)]
    fn program(&mut self, _ppn: Ppn, _cause: Cause) {}

    #[inline(always)]
    fn erase(&mut self, _erase_unit: EraseUnit) {}
}
