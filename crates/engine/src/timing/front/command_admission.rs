//! The way of a command into the drive: its rate and power are limited, it takes one of the controller's slots, and on
//! SATA it waits for a flush before it. Most drives have only some of these stages, and many have none.

use super::command_slots::CommandSlots;
use super::flush_turns::FlushTurns;
use super::front_end::FrontEnd;
use super::link::{Admission, Admitted};
use super::power_limit::PowerLimit;
use crate::ledger::Ledger;
use crate::request::Request;

#[derive(Default)]
pub(super) struct CommandAdmission {
    /// None: commands enter at once.
    rate: Option<Admission>,
    /// Only for a drive with a limit.
    pub power_limit: Option<Box<PowerLimit>>,
    /// Only on SATA.
    flush_turns: Option<Box<FlushTurns>>,
    slots: Option<CommandSlots>,
}

impl CommandAdmission {
    pub fn new(front_end: &FrontEnd) -> Self {
        Self {
            rate: Admission::new(&front_end.controller),
            power_limit: None,
            flush_turns: front_end.is_sata.then(Box::default),
            slots: CommandSlots::new(front_end.controller.command_slots, front_end.controller.slots_in_turn),
        }
    }

    /// Whether every command enters at once; a flush may still be alone in the drive.
    pub fn is_unlimited(&self) -> bool {
        self.rate.is_none() && self.slots.is_none() && self.power_limit.is_none()
    }

    /// When a command that comes now is admitted, if that is later.
    #[inline(always)]
    pub fn limit<'l>(
        &mut self,
        now_ns: u64,
        request: &Request,
        ledger: impl FnOnce() -> &'l Ledger,
    ) -> Option<Admitted> {
        if self.rate.is_none() && self.power_limit.is_none() {
            return None;
        }
        let allowed_ns = self.power_limit.as_mut().map_or(now_ns, |limit| limit.admit(now_ns, ledger()));
        let at_once = Admitted { begins_ns: allowed_ns, enters_ns: allowed_ns };
        let admitted = self.rate.as_mut().map_or(at_once, |rate| rate.admit(allowed_ns, request));
        Some(admitted).filter(|admitted| admitted.enters_ns > now_ns)
    }

    /// Whether a write that must survive a loss of power is followed by a flush.
    #[inline]
    pub fn has_flush_turns(&self) -> bool {
        self.flush_turns.is_some()
    }

    /// Whether a command enters now; otherwise `next_turn` returns it when it may.
    #[inline(always)]
    pub fn takes_turn(&mut self, slot: u32, is_flush: bool) -> bool {
        self.flush_turns.as_mut().is_none_or(|turns| turns.enter(slot, is_flush))
    }

    /// A command is done, for which others may have waited.
    #[inline]
    pub fn leave_turn(&mut self, is_flush: bool) {
        if let Some(turns) = &mut self.flush_turns {
            turns.leave(is_flush);
        }
    }

    /// The next command that waited for a flush, or flush that waited for others, if it enters now.
    #[inline]
    pub fn next_turn(&mut self) -> Option<u32> {
        self.flush_turns.as_mut()?.next()
    }

    /// Whether a command of this queue finds one of the controller's slots; otherwise `leave_slot` returns it when it
    /// does.
    #[inline(always)]
    pub fn takes_slot(&mut self, slot: u32, queue: u32) -> bool {
        self.slots.as_mut().is_none_or(|slots| slots.enter(slot, queue))
    }

    /// A command is done. Returns the one that takes its slot.
    #[inline]
    pub fn leave_slot(&mut self) -> Option<u32> {
        self.slots.as_mut()?.leave()
    }
}
