//! The path of a request through the drive: through the controller's admission, over the link, into the buffer or the
//! flash, and back; and that of a read that waits for map pages or for read-ahead (`reading`).

use super::account::Account;
use super::buffer::BUFFERED_FIRST;
use super::event_queue::Step;
use super::link::Direction;
use super::map_waits::ChainId;
use super::parts::WritePart;
use super::read_streams::{ReadStreams, SegmentId};
use super::reading::{OWN, SEGMENT};
use super::write_admission::Arrival;
use super::{Front, Sides, Submission, TimedDrive};
use crate::error::ReadOnly;
use crate::request::Operation;
use crate::timing::breakdown::Part;
use crate::timing::flash::Finished;
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
        let (request, below) = (self.slots.request(slot), &*sides.below);
        let Some(admitted) = self.commands.limit(self.now_ns, &request, || below.ledger()) else {
            return self.enter(slot, sides);
        };
        self.slots.account(slot).spend(Part::Queueing, admitted.begins_ns);
        self.slots.account(slot).spend(Part::Controller, admitted.enters_ns);
        self.event_queue.step(admitted.enters_ns, Step::Admitted, slot);
        Ok(())
    }

    /// After its admission: takes one of the controller's slots, or waits for it. The flush behind a write has that of the
    /// write.
    #[inline(always)]
    pub(super) fn enter(&mut self, slot: u32, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        if !self.slots.has_written(slot) && !self.commands.takes_slot(slot, self.slots.submission(slot).tag) {
            return Ok(());
        }
        self.take_turn(slot, sides)
    }

    /// With its slot: begins, or waits for a flush before it, or a flush for all before it. No command that waits for a
    /// slot is waited for here: the slots may be those of writes whose flushes wait.
    #[inline(always)]
    pub(super) fn take_turn(&mut self, slot: u32, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        if !self.commands.takes_turn(slot, self.slots.is_flush(slot)) {
            return Ok(());
        }
        self.begin(slot, sides)
    }

    /// A command that waited for a flush, or a flush that waited for others, goes on.
    pub(super) fn leave_turn(&mut self, is_flush: bool, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        self.commands.leave_turn(is_flush);
        while let Some(next) = self.commands.next_turn() {
            self.slots.account(next).spend(Part::Queueing, self.now_ns);
            self.begin(next, sides)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn begin(&mut self, slot: u32, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        if self.slots.has_written(slot) { self.bring(slot, 0, sides) } else { self.admit(slot, sides) }
    }

    /// The controller has admitted the command.
    #[inline(always)]
    pub(super) fn admit(&mut self, slot: u32, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        let request = self.slots.request(slot);
        if self.back_end.reading.is_some() && self.submit_to_stream(slot, sides)? {
            return Ok(());
        }
        match request.operation {
            Operation::Read => self.execute(slot, sides),
            Operation::Write if self.writes.buffer.exists() => {
                let moment = self.back_end.moment(self.now_ns);
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
        let is_waited_for = self.writes.buffer.is_volatile() && request.is_through && !self.commands.has_flush_turns();
        if self.coalesces && !is_waited_for && sides.below.replace(&request, self.back_end.flash.in_memory()) {
            sides.above.executed(tag, self.now_ns, sides.below.ledger());
            if is_last {
                self.answer_after_command(slot);
            }
            return Ok(());
        }
        self.writes.entered();
        self.back_end.tell_backlog(sides.below);
        self.back_end.decide(self.now_ns, tag, &request, sides.below)?;
        sides.above.executed(tag, self.now_ns, sides.below.ledger());
        if is_waited_for {
            return self.write_through(slot, part, sides.below);
        }
        let units = self.back_end.carry_out_for(self.now_ns, self.writes.buffer.tag());
        self.writes.buffer.take(u64::from(units));
        if is_last {
            self.answer_after_command(slot);
        }
        Ok(())
    }

    /// A write that completes only when it is in flash, although there is a buffer.
    fn write_through(&mut self, slot: u32, part: WritePart, drive: &mut dyn TimedDrive) -> Result<(), ReadOnly> {
        let units = self.back_end.carry_out_for(self.now_ns, slot);
        self.writes.buffer.take_through(u64::from(units));
        // One more stands for the parts to come.
        self.slots.wait_for(slot, units + u32::from(part.is_first));
        if !part.is_last {
            return Ok(());
        }
        if self.slots.units_arrived(slot, 1) {
            self.answer_after_command(slot);
        }
        let groups = self.back_end.flash.groups().waited_for_by(slot);
        self.back_end.pad(self.now_ns, &groups, drive)
    }

    fn flush(&mut self, slot: u32, drive: &mut dyn TimedDrive) -> Result<(), ReadOnly> {
        if self.writes.buffer.flush(slot) {
            self.write_journal(slot, drive);
            return Ok(());
        }
        let groups = self.back_end.flash.groups().waited_for();
        self.back_end.pad(self.now_ns, &groups, drive)
    }

    /// The data that a flush waited for is in flash. The map's changes follow, if they are in memory that is lost with
    /// the power; then the flush is answered.
    pub(super) fn write_journal(&mut self, slot: u32, drive: &mut dyn TimedDrive) {
        if !self.back_end.write_journal(self.now_ns, slot, drive) {
            return self.answer_after_command(slot);
        }
        // Its contents are in the buffer until then.
        self.writes.buffer.take_through(1);
        self.slots.wait_for(slot, 1);
    }

    /// The unit of the journal that a flush waited for is in flash.
    pub(super) fn journal_came(&mut self, slot: u32, service: Option<&Service>) {
        self.back_end.journal_came();
        if let Some(service) = service {
            self.slots.account(slot).spend_on_flash(service);
        }
        self.answer_after_command(slot);
    }

    #[inline(always)]
    fn execute(&mut self, slot: u32, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        let Submission { request, tag, .. } = self.slots.submission(slot);
        self.back_end.decide(self.now_ns, tag, &request, sides.below)?;
        sides.above.executed(tag, self.now_ns, sides.below.ledger());
        let units = self.back_end.carry_out_for(self.now_ns, slot);
        self.slots.wait_for(slot, units);
        // For no unit only the command's processing time passes.
        if units == 0 {
            self.answer_after_command(slot);
        }
        Ok(())
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
        if self.commands.has_flush_turns() && self.slots.begin_flush(slot) {
            self.leave_turn(false, sides)?;
            // For the submitter both are one write.
            return self.leave_host(slot, sides);
        }
        self.complete(slot, sides)
    }

    /// Units of the controller's own read have arrived.
    pub(super) fn own_read_ended(
        &mut self,
        slot: u32,
        units: u32,
        sides: &mut Sides<'_, Self>,
    ) -> Result<(), ReadOnly> {
        if slot >= SEGMENT {
            return self.segment_arrived(slot & !SEGMENT, units, Part::HostOperations, sides);
        }
        let chain = slot & !OWN;
        match self.back_end.reading().miss_ns() {
            0 => self.map_page_arrived(chain, sides),
            miss_ns => {
                self.event_queue.step(self.now_ns + miss_ns, Step::MapPage, chain);
                Ok(())
            }
        }
    }

    /// The firmware has a map page: reads what waited for it, up to the next map page.
    pub(super) fn map_page_arrived(&mut self, chain: ChainId, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        let (slot, is_last) = self.back_end.map_page_arrived(self.now_ns, chain);
        if is_last
            && slot >= SEGMENT
            && let Some(stream) = self.streams().translated(slot & !SEGMENT)
        {
            self.serve(stream, Part::Map, sides)?;
        }
        match slot {
            SEGMENT.. => self.segment_arrived(slot & !SEGMENT, 1, Part::Map, sides),
            BUFFERED_FIRST.. => {
                self.writes.buffer.finish(slot);
                self.take_waiting_into_buffer(None, Part::Map, sides)
            }
            _ => {
                if self.slots.request(slot).operation == Operation::Write && self.writes.buffer.exists() {
                    self.writes.buffer.finish_through();
                }
                self.slots.account(slot).spend(Part::Map, self.now_ns);
                if self.slots.units_arrived(slot, 1) { self.answer(slot, sides) } else { Ok(()) }
            }
        }
    }

    fn segment_arrived(
        &mut self,
        segment: SegmentId,
        units: u32,
        waited_for: Part,
        sides: &mut Sides<'_, Self>,
    ) -> Result<(), ReadOnly> {
        match self.streams().arrived(segment, units) {
            Some(stream) => self.serve(stream, waited_for, sides),
            None => Ok(()),
        }
    }

    /// Whether the request belongs to a stream, which then serves it. Others take the usual path.
    pub(super) fn submit_to_stream(&mut self, slot: u32, sides: &mut Sides<'_, Self>) -> Result<bool, ReadOnly> {
        let Submission { request, tag, .. } = self.slots.submission(slot);
        let Some(stream) = self.back_end.reading().stream_of(&request) else { return Ok(false) };
        self.streams().wait(stream, slot, request.offset_bytes + u64::from(request.length_bytes));
        // Stands for all of its units, so that it does not count as waiting for further writes.
        self.slots.wait_for(slot, 1);
        sides.below.count_read(&request);
        sides.above.executed(tag, self.now_ns, sides.below.ledger());
        let at_ns = self.process(slot);
        if at_ns > self.now_ns || self.link.is_none() {
            self.event_queue.step(at_ns, Step::Processed, stream as u32);
        } else {
            self.streams().processed(stream);
        }
        self.serve(stream, Part::HostOperations, sides)?;
        Ok(true)
    }

    /// The controller has processed a read of the stream: its data may already be here.
    pub(super) fn stream_read_processed(&mut self, stream: usize, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        self.streams().processed(stream);
        self.serve(stream, Part::HostOperations, sides)
    }

    /// Fetches while the window has space, and transfers what has arrived. `waited_for` is what the requests waited for,
    /// if not the flash operation that has just ended.
    fn serve(&mut self, stream: usize, waited_for: Part, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        loop {
            self.back_end.read_ahead(self.now_ns, stream, sides.below);
            let Some(piece) = self.streams().next_piece(stream) else { return Ok(()) };
            // Of a read that has just ended: the flash knows nothing of those before, nor of a program once others follow.
            let has_read = matches!(self.back_end.flash.finished().first(), Some(Finished::Read { .. }));
            let service = (has_read && waited_for != Part::Map).then(|| self.back_end.flash.service());
            let account = self.slots.account(piece.slot);
            if let Some(service) = service.filter(|service| service.ended_ns == self.now_ns) {
                account.spend_on_flash(&service);
            }
            account.spend(waited_for, self.now_ns);
            if let Some(link) = &mut self.link {
                let at_ns = link.carry_piece(self.now_ns, Direction::Out, piece.bytes, piece.ends_request);
                account.spend(Part::Link, at_ns);
                self.event_queue.step(at_ns, Step::Delivered, stream as u32);
                continue;
            }
            if let Some(slot) = self.streams().delivered(stream)
                && self.slots.units_arrived(slot, 1)
            {
                // As an event: the next request must not be served within this one, and so on.
                self.event_queue.step(self.now_ns, Step::Sent, slot);
            }
        }
    }

    /// A piece has crossed the link: it frees space in the window, and may complete its request.
    pub(super) fn piece_delivered(&mut self, stream: usize, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        if let Some(slot) = self.streams().delivered(stream) {
            self.slots.units_arrived(slot, 1);
            self.complete(slot, sides)?;
        }
        self.serve(stream, Part::HostOperations, sides)
    }

    fn streams(&mut self) -> &mut ReadStreams {
        self.back_end.reading().streams()
    }
}
