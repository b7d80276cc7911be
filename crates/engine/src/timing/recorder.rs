//! The clock of a timed drive: it records the decisions of the translation layer, which the flash then performs.

use super::Clock;
use super::in_memory::InMemory;
use crate::ledger::Cause;
use crate::units::{EraseUnit, Lpn, Ppn};

/// One flash operation on a mapping unit, or on an erase unit; or a copy, which is two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// A read from flash.
    Read(Ppn, Cause),
    /// A read of data that the controller still holds in its memory, without a flash operation.
    ReadFromMemory(Ppn, Cause),
    /// A program.
    Program(Ppn, Cause),
    /// A read of the first slot from flash, and then a program of its data into the second.
    Copy(Ppn, Ppn, Cause),
    /// An erase.
    Erase(EraseUnit),
    /// From now on the erase unit is written in SLC mode, or not.
    Open(EraseUnit, bool),
}

/// Where a drive with data reduction stores what, in slots. Its decisions contain the mapping units that are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packed {
    /// A unit written by the host.
    Written {
        /// Its address.
        lpn: Lpn,
        /// Its first slot.
        slot: Ppn,
        /// Its slots.
        slots: u32,
    },
    /// A moved unit.
    Moved {
        /// Its address.
        lpn: Lpn,
        /// Its old slot.
        from: Ppn,
        /// Its first new slot.
        slot: Ppn,
        /// Its slots.
        slots: u32,
    },
    /// Padding, or data of the drive itself.
    Nothing {
        /// The first slot.
        slot: Ppn,
        /// The number of slots.
        slots: u32,
    },
    /// Already stored, for another address.
    Shared {
        /// The address.
        lpn: Lpn,
        /// The address that stored the data.
        original: Lpn,
    },
}

/// The clock of a timed drive.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    /// Decisions since the last exchange, in order.
    pub decisions: Vec<Decision>,
    /// Units that can be read without flash; lent for a decision.
    pub memory: InMemory,
    /// Each with the number of decisions before it; only for a drive that stores contents.
    pub packed: Option<Vec<(u32, Packed)>>,
}

impl Clock for Recorder {
    const PACED: bool = true;

    #[inline]
    fn read(&mut self, ppn: Ppn, cause: Cause) -> bool {
        // Garbage collection always reads from flash.
        let may_be_in_memory = matches!(cause, Cause::Host | Cause::ReadModifyWrite | Cause::Metadata);
        let is_in_memory = may_be_in_memory && self.memory.holds(ppn);
        self.decisions.push(if is_in_memory {
            Decision::ReadFromMemory(ppn, cause)
        } else {
            Decision::Read(ppn, cause)
        });
        !is_in_memory
    }

    #[inline]
    fn program(&mut self, ppn: Ppn, cause: Cause) {
        self.decisions.push(Decision::Program(ppn, cause));
    }

    #[inline]
    fn erase(&mut self, erase_unit: EraseUnit) {
        self.decisions.push(Decision::Erase(erase_unit));
    }

    #[inline]
    fn open(&mut self, erase_unit: EraseUnit, is_slc: bool) {
        self.decisions.push(Decision::Open(erase_unit, is_slc));
    }

    #[inline]
    fn pack(&mut self, packed: Packed) {
        if let Some(list) = &mut self.packed {
            list.push((self.decisions.len() as u32, packed));
        }
    }

    #[inline(always)]
    fn copy(&mut self, slots: impl Iterator<Item = (Ppn, Ppn)>, cause: Cause) {
        self.decisions.extend(slots.map(|(from, to)| Decision::Copy(from, to, cause)));
    }
}
