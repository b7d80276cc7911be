//! What an operation costs in simulated time. The translation layer tells a clock what the flash does; which clock is
//! chosen when the code is compiled, so that a run without one pays nothing for it.

use crate::ftl::numbers::{EraseUnit, Ppn};
use crate::ledger::Cause;
use recorder::Packed;

pub mod breakdown;
mod carrying_out;
mod die_layout;
mod dies;
pub mod flash;
pub mod groups;
pub mod histogram;
pub mod host;
mod in_flight;
mod kind;
mod load;
mod map_waits;
mod operation;
mod pipeline;
pub mod read_counts;
mod read_streams;
pub mod recorder;
mod ring;
pub mod service;
mod suspension;
mod waiting_erases;
mod winner_tree;

/// Told of every flash operation, in the order in which the translation layer decides on it.
pub trait Clock {
    /// Whether time passes: then a victim is emptied bit by bit while the host goes on writing. Without time nobody could
    /// tell, and a victim is emptied at once.
    const PACED: bool;

    fn read(&mut self, ppn: Ppn, cause: Cause);
    fn program(&mut self, ppn: Ppn, cause: Cause);
    fn erase(&mut self, erase_unit: EraseUnit);
    /// An erase unit is opened, in SLC mode or not; told only by drives with an SLC cache.
    fn open(&mut self, _erase_unit: EraseUnit, _is_slc: bool) {}
    /// Reduced data goes to its places; told before the programs of the mapping units that it fills.
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
    fn read(&mut self, _ppn: Ppn, _cause: Cause) {}

    #[inline(always)]
    fn program(&mut self, _ppn: Ppn, _cause: Cause) {}

    #[inline(always)]
    fn erase(&mut self, _erase_unit: EraseUnit) {}
}
