//! The way of a request through the drive: past the controller's limit, over the link, into the buffer or the flash, and
//! back.

use super::agenda::Step;
use super::gate::Gate;
use super::link::Direction;
use super::way::Way;
use super::{Client, Host, Slot, TimedDrive};
use crate::error::ReadOnly;
use crate::request::{Operation, Request};
use crate::timing::breakdown::Part;

impl Host {
    pub(super) fn submit<W: Way>(
        &mut self,
        slot: u32,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        match &mut self.gate {
            _ if W::IS_DIRECT => {}
            Gate::Open => {}
            Gate::Limited(limit) => {
                let at_ns = limit.admit(self.now_ns);
                if at_ns > self.now_ns {
                    self.accounts[slot as usize].spend(Part::Queueing, at_ns);
                    self.agenda.step(at_ns, Step::Admitted, slot);
                    return Ok(());
                }
            }
            Gate::Devices(slots) => {
                slots.push_back(slot);
                return Ok(());
            }
        }
        self.admit::<W>(slot, drive, client)
    }

    /// The controller has taken the command.
    #[inline]
    pub(super) fn admit<W: Way>(
        &mut self,
        slot: u32,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        let request = self.slots[slot as usize].request;
        if !W::IS_DIRECT && self.reading.is_some() && self.submit_to_stream(slot, drive, client)? {
            return Ok(());
        }
        match request.operation {
            Operation::Read => self.execute::<W>(slot, drive, client),
            Operation::Write if !W::IS_DIRECT && self.buffer.exists() => {
                // First come, first served: nobody passes those who wait.
                if self.buffer.waiting.is_empty() && self.buffer.has_room(self.units_of(&request)) {
                    return self.bring_to_buffer::<W>(slot, drive, client);
                }
                self.buffer.waiting.push_back(slot);
                Ok(())
            }
            Operation::Write => self.bring::<W>(slot, request.length_bytes, drive, client),
            Operation::Trim | Operation::Flush => self.bring::<W>(slot, 0, drive, client),
        }
    }

    /// Keeps room in the buffer while the data is on its way to it.
    pub(super) fn bring_to_buffer<W: Way>(
        &mut self,
        slot: u32,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        if self.link.is_none() {
            return self.take_into_buffer::<W>(slot, drive, client);
        }
        let request = self.slots[slot as usize].request;
        self.buffer.reserve(self.units_of(&request));
        self.bring::<W>(slot, request.length_bytes, drive, client)
    }

    fn bring<W: Way>(
        &mut self,
        slot: u32,
        bytes: u32,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        let Some(link) = self.link.as_mut().filter(|_| !W::IS_DIRECT) else {
            return self.arrive::<W>(slot, drive, client);
        };
        let at_ns = link.carry(self.now_ns, Direction::In, bytes);
        self.accounts[slot as usize].spend(Part::Link, at_ns);
        self.agenda.step(at_ns, Step::Arrived, slot);
        Ok(())
    }

    /// What is written has crossed the link, or the command of a trim or a flush.
    pub(super) fn arrive<W: Way>(
        &mut self,
        slot: u32,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        let request = self.slots[slot as usize].request;
        match request.operation {
            Operation::Write if !W::IS_DIRECT && self.buffer.exists() => {
                if self.link.is_some() {
                    self.buffer.give_back(self.units_of(&request));
                }
                self.take_into_buffer::<W>(slot, drive, client)
            }
            Operation::Flush => self.flush(slot, drive),
            Operation::Read | Operation::Write | Operation::Trim => self.execute::<W>(slot, drive, client),
        }
    }

    fn take_into_buffer<W: Way>(
        &mut self,
        slot: u32,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        let Slot { request, job, .. } = self.slots[slot as usize];
        self.tell_load(drive);
        drive.execute_one(&request)?;
        self.take_decisions::<W>(&request, drive);
        client.executed(job, drive.ledger());
        if self.buffer.is_volatile() && self.jobs[job as usize].has_sync_writes {
            return self.write_through(slot, drive);
        }
        let units = self.carry_out(self.buffer.tag());
        self.buffer.take(u64::from(units));
        self.answer_after_command(slot);
        Ok(())
    }

    /// A write that is complete only when it is in flash, though there is a buffer.
    fn write_through(&mut self, slot: u32, drive: &mut dyn TimedDrive) -> Result<(), ReadOnly> {
        let units = self.carry_out(slot);
        self.buffer.take_through(u64::from(units));
        self.note_units(slot, units);
        let groups = self.flash.groups().waited_for_by(slot);
        self.pad(&groups, drive)
    }

    fn flush(&mut self, slot: u32, drive: &mut dyn TimedDrive) -> Result<(), ReadOnly> {
        if self.buffer.flush(slot) {
            self.answer_after_command(slot);
            return Ok(());
        }
        let groups = self.flash.groups().waited_for();
        self.pad(&groups, drive)
    }

    #[inline(always)]
    fn tell_load(&self, drive: &mut dyn TimedDrive) {
        if self.flash.is_asked_for_load() {
            drive.note_load(&self.flash, self.now_ns);
        }
    }

    #[inline]
    fn execute<W: Way>(
        &mut self,
        slot: u32,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        let Slot { request, job, .. } = self.slots[slot as usize];
        if !W::IS_DIRECT {
            self.tell_load(drive);
        }
        drive.execute_one(&request)?;
        self.take_decisions::<W>(&request, drive);
        client.executed(job, drive.ledger());
        let units =
            if W::IS_DIRECT { self.flash.carry_out(self.now_ns, &self.decisions, slot) } else { self.carry_out(slot) };
        self.note_units(slot, units);
        Ok(())
    }

    /// What the drive decided on for a request, without reads of what is still in memory.
    #[inline]
    fn take_decisions<W: Way>(&mut self, request: &Request, drive: &mut dyn TimedDrive) {
        drive.take_decisions(&mut self.decisions);
        // The unit is a power of two; what is written in part is read first.
        let in_part = (request.offset_bytes | u64::from(request.length_bytes)) & (self.flash.mapping_unit_bytes() - 1);
        if request.operation == Operation::Read || in_part > 0 || (!W::IS_DIRECT && self.reading.is_some()) {
            self.strike_reads(drive);
        }
    }

    pub(super) fn strike_reads(&mut self, drive: &mut dyn TimedDrive) {
        if self.flash.has_any_in_memory() {
            drive.strike_reads(&mut self.decisions, &mut self.flash);
        }
    }

    /// So many units will be reported for the slot; where there are none, the command alone takes its time.
    #[inline]
    fn note_units(&mut self, slot: u32, units: u32) {
        self.slots[slot as usize].units_left = units;
        self.units_outstanding += u64::from(units);
        if units == 0 {
            self.answer_after_command(slot);
        }
    }

    /// The request has been carried out; what was read is yet to be sent.
    #[inline]
    pub(super) fn answer<W: Way>(
        &mut self,
        slot: u32,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        if !W::IS_DIRECT
            && let Some(link) = &mut self.link
        {
            let request = self.slots[slot as usize].request;
            if request.operation == Operation::Read {
                let at_ns = link.carry(self.now_ns, Direction::Out, request.length_bytes);
                self.accounts[slot as usize].spend(Part::Link, at_ns);
                self.agenda.step(at_ns, Step::Sent, slot);
                return Ok(());
            }
        }
        self.complete::<W>(slot, drive, client)
    }

    /// An upper bound: a unit that is written in part counts whole.
    pub(super) fn units_of(&self, request: &Request) -> u64 {
        let unit_bytes = self.flash.mapping_unit_bytes();
        (request.offset_bytes + u64::from(request.length_bytes)).div_ceil(unit_bytes)
            - request.offset_bytes / unit_bytes
    }
}
