//! A translation layer over flash that stores data: each decision is applied to the contents at once.
//!
//! To the front it is a timed drive like any other. Errors do not stop time: they are recorded for the request.

use super::arriving::Arriving;
use crate::device::DeviceError;
use crate::nand::{Nand, Transfer};
use ssdlab_engine::error::ReadOnly;
use ssdlab_engine::ftl::Capacity;
use ssdlab_engine::ledger::{Cause, Ledger};
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::simulation::{SimulatedDrive, StripeDevice, TimedSimulatedDrive, TimedStripeDevice};
use ssdlab_engine::specification::Drive;
use ssdlab_engine::timing::decision::{Decision, Packed};
use ssdlab_engine::timing::drive::{Idle, TimedDrive};
use ssdlab_engine::timing::in_memory::InMemory;
use ssdlab_engine::units::{EraseUnit, Lpn};
use std::ops::Range;

pub struct Stored {
    pub(super) drive: Drive,
    pub(super) ftl: Box<dyn TimedSimulatedDrive>,
    pub(super) nand: Nand,
    pub(super) capacity: Capacity,
    pub(super) arriving: Arriving,
    pub(super) read_only_reason: Option<String>,
    /// Why data could not be moved off a failed block: there was no space. It is in the drive's memory only.
    pub(super) stranded: Option<ReadOnly>,
    /// The last decisions, and all since the front took them.
    pub(super) decisions: Vec<Decision>,
    pub(super) decided: Vec<Decision>,
    /// Where data is packed, on a drive with data reduction.
    pub(super) packed: Vec<(u32, Packed)>,
    /// For tests: the move after which one is not recorded in the map.
    pub(super) forgets_after: Option<u64>,
    /// Counters stored with a checkpoint.
    pub(super) counters: Counters,
}

/// Counters that the translation layer does not have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    pub simulated_ns: u64,
    /// The number of times that power returned.
    pub power_cycles: u64,
    /// A random number by which hosts know the drive; zeroes until it is asked for.
    pub unique: [u8; 16],
}

impl TimedDrive for Stored {
    fn prefetch(&self, request: &Request) {
        self.ftl.prefetch(request);
    }

    fn prefetch_old(&self, request: &Request) {
        self.ftl.prefetch_old(request);
    }

    fn decide(&mut self, tag: u32, request: &Request) -> Result<(), ReadOnly> {
        let arrival = self.arriving.take(tag, request.offset_bytes + u64::from(request.length_bytes));
        let transfer = arrival.as_ref().map_or(Transfer::Nothing, |arrival| arrival.transfer());
        let outcome = self.carry_out_request(request, &transfer);
        let attended = self.attend_to_flash();
        if let Some(arrival) = arrival {
            self.arriving.note_outcome(arrival, outcome.and(attended));
        }
        Ok(())
    }

    fn pad(&mut self, groups: &[Range<u32>]) -> Result<(), ReadOnly> {
        // Errors are reported when the data is read, or at a flush.
        let _ = self.fill_up(groups).and_then(|()| self.attend_to_flash());
        Ok(())
    }

    fn run_background(&mut self, now_ns: u64, idle_since_ns: u64) -> Result<Idle, ReadOnly> {
        let done = self.ftl.run_background(now_ns, idle_since_ns);
        if let Ok(Idle::NothingBefore(then_ns)) = done {
            return Ok(Idle::NothingBefore(then_ns));
        }
        // No request waits for this; an error is met again when the data is read.
        let is_refused = done.is_err();
        let _ = self.carry_out_decided(done.map(|_| ())).and_then(|()| self.attend_to_flash());
        Ok(if is_refused { Idle::NothingBefore(u64::MAX) } else { Idle::Decided })
    }

    fn read_ahead(&mut self, offset_bytes: u64, length_bytes: u32) {
        self.ftl.read_ahead(offset_bytes, length_bytes);
        let _ = self.carry_out_decided(Ok(())).and_then(|()| self.attend_to_flash());
    }

    fn count_read(&mut self, request: &Request) {
        self.ftl.count_read(request);
    }

    fn dies_of_erase_units(&self) -> Vec<u16> {
        self.ftl.dies_of_erase_units()
    }

    fn depends_on_load(&self) -> bool {
        self.ftl.depends_on_load()
    }

    fn note_backlog(&mut self, has_backlog: bool) {
        self.ftl.note_backlog(has_backlog);
    }

    fn load_by_die(&mut self) -> &mut [u64] {
        self.ftl.load_by_die()
    }

    fn exchange_memory(&mut self, memory: &mut InMemory) {
        self.ftl.exchange_memory(memory);
    }

    fn note_journal(&mut self, units: u32) {
        self.ftl.note_journal(units);
    }

    fn ledger(&self) -> &Ledger {
        TimedDrive::ledger(&*self.ftl)
    }

    fn take_decisions(&mut self, into: &mut Vec<Decision>) {
        into.clear();
        std::mem::swap(into, &mut self.decided);
    }
}

impl StripeDevice for Stored {
    fn layer(&self) -> &dyn SimulatedDrive {
        &*self.ftl
    }

    fn layer_mut(&mut self) -> &mut dyn SimulatedDrive {
        &mut *self.ftl
    }
}

impl TimedStripeDevice for Stored {
    fn timed(&self) -> &dyn TimedDrive {
        self
    }

    fn timed_mut(&mut self) -> &mut dyn TimedDrive {
        self
    }
}

impl Stored {
    /// Applies a request of the host to the data. The error is the first that the host must be informed of.
    fn carry_out_request(&mut self, request: &Request, transfer: &Transfer<'_>) -> Result<(), DeviceError> {
        if request.operation == Operation::Trim {
            self.note_trim(request)?;
        }
        if self.nand.is_packed() && request.operation == Operation::Write {
            return self.write_packed(request, transfer);
        }
        let executed = self.ftl.decide(0, request);
        let answer = self.carry_out_decisions(transfer);
        if request.operation == Operation::Trim {
            self.note_zones();
        }
        executed.map_err(|reason| self.refuse(reason)).and(answer)
    }

    /// Applies what the translation layer has decided by itself.
    pub(super) fn carry_out_decided(&mut self, decided: Result<(), ReadOnly>) -> Result<(), DeviceError> {
        let answer = self.carry_out_decisions(&Transfer::Nothing);
        if let Err(reason) = decided {
            // Decisions are not undone; the next write reports the error.
            self.refuse(reason);
        }
        answer
    }

    /// Applies the decisions of the translation layer since the last call.
    pub(super) fn carry_out_decisions(&mut self, transfer: &Transfer<'_>) -> Result<(), DeviceError> {
        self.ftl.take_decisions(&mut self.decisions);
        let answer = if self.nand.is_packed() {
            self.carry_out_packed()
        } else {
            let answer = self.nand.carry_out(&self.decisions, self.ftl.map_pages_written_back(), transfer);
            self.spoil_map();
            answer
        };
        self.decided.append(&mut self.decisions);
        answer
    }

    /// Reads the current contents of a range.
    pub(super) fn read(&mut self, offset_bytes: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        into.fill(0);
        let units = self.units_of(offset_bytes, into.len() as u64);
        let mut transfer = Transfer::Read { offset_bytes, into };
        let mut answer = Ok(());
        for unit in units {
            let Some(slot) = self.ftl.slot_of(Lpn(unit)) else { continue };
            let done = if self.nand.is_packed() {
                self.nand.read_packed(unit, slot.0, &mut transfer)
            } else {
                self.nand.read_for_host(slot.0, &mut transfer)
            };
            answer = answer.and(done);
        }
        if let Transfer::Read { into, .. } = transfer {
            self.arriving.lay_over(offset_bytes, into);
        }
        answer
    }

    pub(super) fn units_of(&self, offset_bytes: u64, length_bytes: u64) -> Range<u32> {
        let unit_bytes = u64::from(self.capacity.mapping_unit_bytes);
        (offset_bytes / unit_bytes) as u32..(offset_bytes + length_bytes).div_ceil(unit_bytes) as u32
    }

    /// Fills groups with padding, so that they can be programmed.
    fn fill_up(&mut self, groups: &[Range<u32>]) -> Result<(), DeviceError> {
        if groups.is_empty() {
            return Ok(());
        }
        let padded = self.ftl.pad(groups);
        self.carry_out_decided(padded)
    }

    /// Whether nothing is stored for a range, which is within a mapping unit.
    pub(super) fn is_hole(&self, range: &Range<u64>) -> bool {
        let mut units = self.units_of(range.start, range.end - range.start);
        units.all(|unit| self.ftl.slot_of(Lpn(unit)).is_none()) && !self.arriving.holds(range)
    }

    /// Why the drive refuses writes, if it does.
    pub(super) fn refusal(&mut self) -> Option<DeviceError> {
        self.ftl.read_only().map(|reason| self.refuse(reason))
    }

    pub(super) fn refuse(&mut self, reason: ReadOnly) -> DeviceError {
        if let ReadOnly::ZoneCommandRefused { status, .. } = reason {
            return DeviceError::Zone(status);
        }
        self.read_only_reason = Some(reason.to_string());
        DeviceError::ReadOnly(reason.to_string())
    }

    #[inline]
    fn note_streams(&mut self) {
        if !self.nand.has_opened() {
            return;
        }
        let ftl = &self.ftl;
        self.nand.note_streams(ftl.host_units(), |erase_unit| ftl.stream_of(EraseUnit(erase_unit)).0);
    }

    /// Follow-up work of the flash after a request: failed blocks are retired, and the waiting erases are performed, so
    /// that the translation layer may open any erase unit that it considers erased.
    pub(super) fn attend_to_flash(&mut self) -> Result<(), DeviceError> {
        self.note_streams();
        if self.nand.has_failures() {
            self.give_up_failed()?;
        }
        let is_scarce = self.nand.waiting_erases() > 0 && self.nand.waiting_erases() + 1 >= self.ftl.free_erase_units();
        // The SLC cache's permanent erase units, after the others, are few, and reused at once.
        if is_scarce || self.nand.waits_to_erase_from(self.capacity.erase_units) {
            self.program_all()?;
        }
        Ok(())
    }

    /// Marks as safe in the flash array what is in flash according to the clock, at its time.
    pub(super) fn note_what_is_safe(&mut self, now_ns: u64) -> Result<(), DeviceError> {
        if !self.nand.has_power_loss_protection() {
            if self.nand.is_packed() {
                self.program_all()?;
            }
            self.nand.finish_programs();
            self.attend_to_flash()?;
            if let Some(reason) = self.stranded {
                return Err(DeviceError::ReadOnly(reason.to_string()));
            }
        }
        if self.nand.medium().outlives_the_process() {
            self.counters.simulated_ns = now_ns;
            self.save_counters();
        }
        Ok(())
    }

    /// Programs everything in memory.
    fn program_all(&mut self) -> Result<(), DeviceError> {
        loop {
            self.fill_up(&self.nand.open_groups())?;
            self.note_streams();
            self.nand.finish_programs();
            if !self.nand.has_failures() {
                return Ok(());
            }
            self.give_up_failed()?;
        }
    }

    /// Moves the live data out of failed erase units. The copies are programmed before anything else: until then only
    /// the drive's memory has the data.
    fn give_up_failed(&mut self) -> Result<(), DeviceError> {
        let mut answer = Ok(());
        while let Some(erase_unit) = self.nand.take_failed() {
            let given_up = self.ftl.give_up(EraseUnit(erase_unit));
            let done = self.carry_out_decided(given_up);
            self.note_streams();
            match given_up {
                Ok(()) => self.nand.retire(erase_unit),
                Err(reason) => self.stranded = Some(reason),
            }
            answer = answer.and(done);
        }
        if !self.nand.has_power_loss_protection() {
            self.fill_up(&self.nand.open_groups())?;
            self.note_streams();
            self.nand.finish_programs();
        }
        answer
    }

    fn note_trim(&mut self, request: &Request) -> Result<(), DeviceError> {
        let unit_bytes = u64::from(self.capacity.mapping_unit_bytes);
        let first = request.offset_bytes.div_ceil(unit_bytes);
        let end = (request.offset_bytes + u64::from(request.length_bytes)) / unit_bytes;
        if self.ftl.read_only().is_some() || end <= first {
            return Ok(());
        }
        if self.nand.wants_checkpoint() {
            self.checkpoint()?;
        }
        self.nand.note_trim(first as u32, (end - first) as u32);
        Ok(())
    }

    /// Writes a checkpoint of the map and the counters to the system blocks.
    pub(super) fn checkpoint(&mut self) -> Result<(), DeviceError> {
        if !self.nand.has_power_loss_protection() {
            self.program_all()?;
        }
        let ftl = &self.ftl;
        self.nand.checkpoint((0..ftl.logical_units()).map(|lpn| ftl.slot_of(Lpn(lpn)).map_or(u32::MAX, |ppn| ppn.0)));
        self.save_counters();
        Ok(())
    }

    /// After a finish or a reset: which zones are finished is not known from the flash.
    pub(super) fn note_zones(&mut self) {
        if self.drive.zones.is_on() && self.nand.medium().outlives_the_process() {
            self.save_counters();
        }
    }

    fn spoil_map(&mut self) {
        let Some(mut left) = self.forgets_after.take() else { return };
        for decision in &self.decisions {
            let Decision::Copy(from, to, Cause::Gc) = *decision else { continue };
            left -= 1;
            if left == 0 {
                let lpn = Lpn(self.nand.medium().spare(to.0).lpn);
                if self.ftl.slot_of(lpn) == Some(to) {
                    self.ftl.misplace(lpn, from);
                    return;
                }
                left = 1;
            }
        }
        self.forgets_after = Some(left);
    }
}
