//! The clock of a timed drive: it writes down what the translation layer decides, for the flash to carry out in time.

use super::Clock;
use super::in_memory::InMemory;
use crate::ledger::Cause;
use crate::units::{EraseUnit, Lpn, Ppn};

/// One flash operation on a mapping unit, or on an erase unit. A copy is a read followed by its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Read(Ppn, Cause),
    /// A read of what the controller still has in its memory, which takes no flash.
    ReadFromMemory(Ppn, Cause),
    Program(Ppn, Cause),
    Erase(EraseUnit),
    /// What is written to it from now on is in SLC mode, or is not.
    Open(EraseUnit, bool),
}

/// What a drive that reduces data puts where, in places. Its decisions name the mapping units that are full with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packed {
    Written {
        lpn: Lpn,
        slot: Ppn,
        slots: u32,
    },
    Moved {
        lpn: Lpn,
        from: Ppn,
        slot: Ppn,
        slots: u32,
    },
    /// Padding, or what the drive keeps for itself.
    Nothing {
        slot: Ppn,
        slots: u32,
    },
    /// Stored already, for another address.
    Shared {
        lpn: Lpn,
        original: Lpn,
    },
}

#[derive(Clone, Debug, Default)]
pub struct Recorder {
    pub decisions: Vec<Decision>,
    /// What needs no flash to be read; lent to it for a decision.
    pub memory: InMemory,
    /// Each with the number of decisions before it; only for a drive that keeps its contents.
    pub packed: Option<Vec<(u32, Packed)>>,
}

impl Clock for Recorder {
    const PACED: bool = true;

    #[inline]
    fn read(&mut self, ppn: Ppn, cause: Cause) -> bool {
        // What garbage collection moves it reads as usual.
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

    #[inline]
    fn copy(&mut self, from: Ppn, to: Ppn, cause: Cause) {
        self.decisions.extend([Decision::Read(from, cause), Decision::Program(to, cause)]);
    }
}
