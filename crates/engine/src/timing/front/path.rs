//! The path of a request through the drive: through the controller's admission, over the link, into the buffer or the
//! flash, and back.

use super::account::Account;
use super::event_queue::Step;
use super::journal::Journal;
use super::link::{Admitted, Direction};
use super::parts::WritePart;
use super::write_admission::Arrival;
use super::{Front, Sides, Submission, TimedDrive};
use crate::error::ReadOnly;
use crate::request::{Operation, Request};
use crate::timing::breakdown::Part;
use crate::timing::service::Service;

impl Front {
    #[inline(always)]
    pub(super) fn submit_to(&mut self, submission: Submission, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        self.is_cut_short = false;
        let slot = self.slots.take(submission);
        *self.slots.account(slot) = Account::since(submission.issued_ns);
        self.slots.account(slot).spend(Part::Queueing, self.now_ns);
        self.leave_host(slot, sides)
    }

    /// The host prepares the command, if that takes time.
    #[inline(always)]
    fn leave_host(&mut self, slot: u32, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        let host_ns = u64::from(self.slots.submission(slot).host_ns);
        if host_ns == 0 {
            return self.limit_commands(slot, sides);
        }
        self.slots.account(slot).spend(Part::Queueing, self.now_ns + host_ns);
        self.event_queue.step(self.now_ns + host_ns, Step::Issued, slot);
        Ok(())
    }

    /// The drive has the command, and admits it within its limit.
    #[inline(always)]
    pub(super) fn limit_commands(&mut self, slot: u32, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        if self.admission.is_some() || self.power_limit.is_some() {
            let now_ns = self.now_ns;
            let allowed_ns =
                self.power_limit.as_mut().map_or(now_ns, |limit| limit.admit(now_ns, sides.below.ledger()));
            let admitted = match &mut self.admission {
                Some(admission) => admission.admit(allowed_ns, &self.slots.request(slot)),
                None => Admitted { begins_ns: allowed_ns, enters_ns: allowed_ns },
            };
            if admitted.enters_ns > self.now_ns {
                self.slots.account(slot).spend(Part::Queueing, admitted.begins_ns);
                self.slots.account(slot).spend(Part::Controller, admitted.enters_ns);
                self.event_queue.step(admitted.enters_ns, Step::Admitted, slot);
                return Ok(());
            }
        }
        self.enter(slot, sides)
    }

    /// After its admission: enters the sides.below, and takes one of the controller's slots, or waits for it.
    #[inline(always)]
    pub(super) fn enter(&mut self, slot: u32, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        if let Some(turns) = &mut self.flush_turns
            && !turns.enter(slot, self.slots.is_flush(slot))
        {
            return Ok(());
        }
        self.take_command_slot(slot, sides)
    }

    /// A command that waited for a flush, or a flush that waited for others, goes on.
    pub(super) fn leave_turn(&mut self, is_flush: bool, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        if let Some(turns) = &mut self.flush_turns {
            turns.leave(is_flush);
        }
        while let Some(next) = self.flush_turns.as_mut().and_then(|turns| turns.next()) {
            self.slots.account(next).spend(Part::Queueing, self.now_ns);
            self.take_command_slot(next, sides)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn take_command_slot(&mut self, slot: u32, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        if self.slots.has_written(slot) {
            // The flush behind a write keeps its slot.
            return self.bring(slot, 0, sides);
        }
        if let Some(command_slots) = &mut self.command_slots
            && !command_slots.enter(slot, self.slots.submission(slot).tag)
        {
            return Ok(());
        }
        self.admit(slot, sides)
    }

    /// The controller has admitted the command.
    #[inline(always)]
    pub(super) fn admit(&mut self, slot: u32, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        let request = self.slots.request(slot);
        if self.reading.is_some() && self.submit_to_stream(slot, sides)? {
            return Ok(());
        }
        match request.operation {
            Operation::Read => self.execute(slot, sides),
            Operation::Write if self.writes.buffer.exists() => {
                let moment = self.moment();
                match self.writes.arrived(slot, &self.slots, moment) {
                    Arrival::Enters(part) => self.pass(slot, part, sides),
                    Arrival::InParts => self.take_waiting_into_buffer(None, Part::HostOperations, sides),
                    Arrival::Waits => {
                        self.note_waiting();
                        Ok(())
                    }
                }
            }
            Operation::Write => self.bring(slot, request.length_bytes, sides),
            Operation::Trim | Operation::Flush => self.bring(slot, 0, sides),
        }
    }

    /// A part of the first waiting write is admitted.
    pub(super) fn admit_first(
        &mut self,
        slot: u32,
        part: WritePart,
        sides: &mut Sides<'_, Self>,
    ) -> Result<(), ReadOnly> {
        self.writes.admit(&part);
        self.pass(slot, part, sides)
    }

    /// Reserves space in the buffer while the data is in transfer.
    fn pass(&mut self, slot: u32, part: WritePart, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        let Some(link) = &mut self.link else {
            return self.take_into_buffer(slot, part, sides);
        };
        self.writes.sent(&part);
        let at_ns = link.carry_piece(self.now_ns, Direction::In, part.request.length_bytes, part.is_last);
        self.slots.account(slot).spend(Part::Link, at_ns);
        self.event_queue.step(at_ns, Step::Arrived, slot);
        Ok(())
    }

    fn bring(&mut self, slot: u32, bytes: u32, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        let Some(link) = &mut self.link else {
            return self.arrive(slot, sides);
        };
        let at_ns = link.carry(self.now_ns, Direction::In, bytes);
        self.slots.account(slot).spend(Part::Link, at_ns);
        self.event_queue.step(at_ns, Step::Arrived, slot);
        Ok(())
    }

    /// The data of a write has crossed the link, or the command of a trim or a flush.
    pub(super) fn arrive(&mut self, slot: u32, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        let request = self.slots.request(slot);
        if self.slots.is_flush(slot) {
            return self.flush(slot, sides.below);
        }
        match request.operation {
            Operation::Write if self.writes.buffer.exists() => {
                let reserved_units = self.writes.buffer.units();
                let part = self.writes.came(slot, &self.slots);
                self.take_into_buffer(slot, part, sides)?;
                if self.writes.buffer.units() < reserved_units {
                    self.take_waiting_into_buffer(None, Part::HostOperations, sides)?;
                }
                Ok(())
            }
            Operation::Flush => self.flush(slot, sides.below),
            Operation::Write => {
                self.wrote_ns = self.now_ns;
                self.execute(slot, sides)
            }
            Operation::Read | Operation::Trim => self.execute(slot, sides),
        }
    }

    fn take_into_buffer(&mut self, slot: u32, part: WritePart, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        let WritePart { request, is_last, .. } = part;
        let tag = self.slots.submission(slot).tag;
        let is_waited_for = self.writes.buffer.is_volatile() && request.is_through && self.flush_turns.is_none();
        if self.coalesces && !is_waited_for && sides.below.replace(&request, self.flash.in_memory()) {
            sides.above.executed(tag, self.now_ns, sides.below.ledger());
            if is_last {
                self.answer_after_command(slot);
            }
            return Ok(());
        }
        self.writes.entered();
        if self.tells_backlog {
            sides.below.note_backlog(self.flash.has_own_backlog());
        }
        self.decide(tag, &request, sides.below)?;
        sides.above.executed(tag, self.now_ns, sides.below.ledger());
        if is_waited_for {
            return self.write_through(slot, part, sides.below);
        }
        let units = self.carry_out_for(self.writes.buffer.tag());
        self.writes.buffer.take(u64::from(units));
        if is_last {
            self.answer_after_command(slot);
        }
        Ok(())
    }

    /// A write that completes only when it is in flash, although there is a buffer.
    fn write_through(&mut self, slot: u32, part: WritePart, drive: &mut dyn TimedDrive) -> Result<(), ReadOnly> {
        let units = self.carry_out_for(slot);
        self.writes.buffer.take_through(u64::from(units));
        // One more stands for the parts to come.
        self.slots.wait_for(slot, units + u32::from(part.is_first));
        if !part.is_last {
            return Ok(());
        }
        if self.slots.units_arrived(slot, 1) {
            self.answer_after_command(slot);
        }
        let groups = self.flash.groups().waited_for_by(slot);
        self.pad(&groups, drive)
    }

    fn flush(&mut self, slot: u32, drive: &mut dyn TimedDrive) -> Result<(), ReadOnly> {
        if self.writes.buffer.flush(slot) {
            self.write_journal(slot, drive);
            return Ok(());
        }
        let groups = self.flash.groups().waited_for();
        self.pad(&groups, drive)
    }

    /// The data that a flush waited for is in flash. The map's changes follow, if they are in memory that is lost with
    /// the power; then the flush is answered.
    pub(super) fn write_journal(&mut self, slot: u32, drive: &mut dyn TimedDrive) {
        if !self.journal.as_mut().is_some_and(Journal::begin_unit) {
            return self.answer_after_command(slot);
        }
        let units = self.flash.program_journal(self.now_ns, slot);
        drive.note_journal(units);
        // Its contents are in the buffer until then.
        self.writes.buffer.take_through(1);
        self.slots.wait_for(slot, 1);
    }

    /// The unit of the journal that a flush waited for is in flash.
    pub(super) fn journal_came(&mut self, slot: u32, service: Option<&Service>) {
        self.journal.as_mut().expect("it wrote a unit").end_unit();
        if let Some(service) = service {
            self.slots.account(slot).spend_on_flash(service);
        }
        self.answer_after_command(slot);
    }

    #[inline(always)]
    fn execute(&mut self, slot: u32, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        let Submission { request, tag, .. } = self.slots.submission(slot);
        self.decide(tag, &request, sides.below)?;
        sides.above.executed(tag, self.now_ns, sides.below.ledger());
        let units = self.carry_out_for(slot);
        self.wait_for(slot, units);
        Ok(())
    }

    /// Lets the drive decide on a request, with the information it needs.
    #[inline(always)]
    fn decide(&mut self, tag: u32, request: &Request, drive: &mut dyn TimedDrive) -> Result<(), ReadOnly> {
        if self.flash.is_asked_for_load() {
            self.flash.tell_load(self.now_ns, drive.load_by_die());
        }
        if request.operation != Operation::Read
            && let Some(journal) = &mut self.journal
        {
            journal.note_change();
        }
        // The unit is a power of two; a partial write reads first.
        let in_part = (request.offset_bytes | u64::from(request.length_bytes)) & (self.flash.mapping_unit_bytes() - 1);
        let may_read = request.operation == Operation::Read || in_part > 0 || self.reading.is_some();
        if may_read {
            self.with_memory(drive, |drive| drive.decide(tag, request))?;
        } else {
            drive.decide(tag, request)?;
        }
        drive.take_decisions(&mut self.decisions);
        Ok(())
    }

    /// Lends the drive the record of the controller's memory while it decides on reads.
    #[inline]
    pub(super) fn with_memory<T>(
        &mut self,
        drive: &mut dyn TimedDrive,
        decide: impl FnOnce(&mut dyn TimedDrive) -> T,
    ) -> T {
        if self.flash.in_memory().is_empty() {
            return decide(drive);
        }
        drive.exchange_memory(self.flash.in_memory());
        let decided = decide(drive);
        drive.exchange_memory(self.flash.in_memory());
        decided
    }

    /// The slot waits for this many units; for none, only the command's processing time passes.
    #[inline(always)]
    fn wait_for(&mut self, slot: u32, units: u32) {
        self.slots.wait_for(slot, units);
        if units == 0 {
            self.answer_after_command(slot);
        }
    }

    /// The request has been executed; data read is yet to be transferred.
    #[inline(always)]
    pub(super) fn answer(&mut self, slot: u32, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        if let Some(link) = &mut self.link {
            let request = self.slots.request(slot);
            if request.operation == Operation::Read {
                let at_ns = link.carry(self.now_ns, Direction::Out, request.length_bytes);
                self.slots.account(slot).spend(Part::Link, at_ns);
                self.event_queue.step(at_ns, Step::Sent, slot);
                return Ok(());
            }
        }
        if self.flush_turns.is_some() && self.slots.begin_flush(slot) {
            self.leave_turn(false, sides)?;
            // For the submitter both are one write.
            return self.leave_host(slot, sides);
        }
        self.complete(slot, sides)
    }
}
