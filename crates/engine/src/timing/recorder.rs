//! The clock of a timed drive: it records the decisions of the translation layer, which the flash then performs.

use super::Clock;
use super::decision::{Decision, Packed};
use super::in_memory::InMemory;
use crate::ledger::Cause;
use crate::units::{EraseUnit, Ppn};

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
