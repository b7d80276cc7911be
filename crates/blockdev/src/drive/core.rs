//! The drive itself, one request at a time: the translation layer decides, the flash array carries it out on data, the
//! clock says how long it took. How it begins, and what a loss of power does to it, is in `opening`.

use super::clock::{DriveClock, Kind};
use super::phases::Phases;
use crate::device::{Capabilities, DeviceError};
use crate::nand::{Nand, Recovery, Transfer};
use ssdlab_engine::error::ReadOnly;
use ssdlab_engine::ftl::Capacity;
use ssdlab_engine::ftl::numbers::{EraseUnit, Lpn};
use ssdlab_engine::ledger::{Cause, Ledger};
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::simulation::live::figures::Seen;
use ssdlab_engine::simulation::{Outcome, SimulatedDrive, TimedSimulatedDrive};
use ssdlab_engine::specification::Drive;
use ssdlab_engine::timing::host::Idle;
use ssdlab_engine::timing::recorder::{Decision, Packed};
use std::ops::Range;

/// The phase that no one has marked.
pub(super) const FIRST_PHASE: &str = "mounted";

pub struct Core {
    pub(super) drive: Drive,
    pub(super) seed: u64,
    pub(super) ftl: Box<dyn TimedSimulatedDrive>,
    pub(super) nand: Nand,
    pub(super) clock: DriveClock,
    pub(super) capacity: Capacity,
    pub(super) phases: Phases,
    pub(super) read_only_reason: Option<String>,
    /// Why data could not be moved off a failed block: there was no room. It is in the drive's memory only.
    pub(super) stranded: Option<ReadOnly>,
    pub(super) decisions: Vec<Decision>,
    /// What goes where with them, of a drive that reduces data.
    pub(super) packed: Vec<(u32, Packed)>,
    /// Whether callers wait for their requests in simulated time, and the slot of the request made last.
    pub(super) is_real_pace: bool,
    pub(super) submitted: Option<u32>,
    /// After so many moves one is not noted in the map: the canary of the tests.
    pub(super) forgets_after: Option<u64>,
    /// Times that the power came back, and what the last recovery was like.
    pub(super) power_cycles: u64,
    pub(super) recovery: Option<Recovery>,
    /// What whoever watches has seen last; nothing while nobody does.
    pub(super) seen: Option<Box<Seen>>,
}

impl Core {
    pub fn capabilities(&self) -> Capabilities {
        let unit_bytes = self.capacity.mapping_unit_bytes;
        Capabilities {
            size_bytes: self.capacity.user_units * u64::from(unit_bytes),
            unit_bytes,
            trims: true,
            has_volatile_cache: !self.nand.has_power_loss_protection(),
        }
    }

    pub fn ftl(&self) -> &dyn SimulatedDrive {
        &*self.ftl
    }

    pub fn nand(&self) -> &Nand {
        &self.nand
    }

    pub fn clock(&self) -> &DriveClock {
        &self.clock
    }

    pub fn power_cycles(&self) -> u64 {
        self.power_cycles
    }

    /// What came of the last recovery, if there was one.
    pub fn recovery(&self) -> Option<Recovery> {
        self.recovery
    }

    /// Erase units beyond which none may be lost.
    pub fn erase_units_needed(&self) -> u32 {
        self.ftl.erase_units_needed()
    }

    /// Why the drive takes no more writes, if it does not.
    pub fn read_only_reason(&self) -> Option<String> {
        self.read_only_reason.clone()
    }

    /// What a run would give that ended now: phases are its jobs.
    pub fn outcome(&self) -> Outcome {
        self.phases.outcome(self)
    }

    pub(super) fn ledger(&self) -> &Ledger {
        SimulatedDrive::ledger(&*self.ftl)
    }

    /// One request of at most a gibibyte, within the drive. In simulated time it comes when fewer than `depth` are
    /// outstanding.
    pub fn execute(
        &mut self,
        operation: Operation,
        mut transfer: Transfer<'_>,
        length_bytes: u32,
        depth: u32,
    ) -> Result<(), DeviceError> {
        if !self.is_real_pace {
            self.wait_until_fewer_than(depth)?;
        }
        let request = Request::new(operation, transfer.offset_bytes(), length_bytes);
        if operation == Operation::Trim {
            self.note_trim(&request)?;
        }
        self.clock.tell_load(&mut *self.ftl);
        let (executed, mut answer) = if self.nand.is_packed() {
            self.execute_packed(&request, &mut transfer)
        } else {
            self.execute_whole(&request, &mut transfer)
        };
        let kind = match operation {
            Operation::Read => Kind::Read,
            Operation::Write => Kind::Write,
            Operation::Trim => Kind::Trim,
            Operation::Flush => Kind::Flush,
        };
        self.clock.strike_reads(&mut *self.ftl, &mut self.decisions);
        self.submitted = Some(self.clock.submit(kind, &self.decisions));
        self.phases.count(kind, u64::from(length_bytes));
        if let Err(reason) = executed {
            answer = Err(self.refuse(reason));
        }
        self.attend_to_flash()?;
        answer
    }

    /// On a drive whose units lie whole, one at each place. The second answer is what else the host must hear of.
    #[inline]
    fn execute_whole(
        &mut self,
        request: &Request,
        transfer: &mut Transfer<'_>,
    ) -> (Result<(), ReadOnly>, Result<(), DeviceError>) {
        let executed = self.ftl.execute_one(request);
        self.ftl.take_decisions(&mut self.decisions);
        if let Transfer::Read { into, .. } = transfer {
            let unit_bytes = u64::from(self.capacity.mapping_unit_bytes);
            let end = request.offset_bytes + into.len() as u64;
            let is_of_host = |decision: &&Decision| matches!(decision, Decision::Read(_, Cause::Host));
            let units_read = self.decisions.iter().filter(is_of_host).count() as u64;
            // Units that hold nothing take no flash operation.
            if units_read < end.div_ceil(unit_bytes) - request.offset_bytes / unit_bytes {
                into.fill(0);
            }
        }
        let answer = self.nand.carry_out(&self.decisions, self.ftl.map_pages_written_back(), transfer);
        self.spoil_map();
        (executed, answer)
    }

    /// Everything that was answered is in flash, or in memory that outlives a loss of power.
    pub fn flush(&mut self) -> Result<(), DeviceError> {
        if !self.nand.has_power_loss_protection() {
            self.program_all()?;
            if let Some(reason) = self.stranded {
                return Err(DeviceError::ReadOnly(reason.to_string()));
            }
        }
        if self.nand.medium().outlives_the_process() {
            self.save_counters();
        }
        self.submitted = Some(self.clock.submit(Kind::Flush, &[]));
        if self.is_real_pace { Ok(()) } else { self.wait_until_fewer_than(1) }
    }

    /// Simulated time goes on to a moment.
    pub(super) fn advance_to(&mut self, moment_ns: u64) {
        self.clock.advance_to(moment_ns);
    }

    /// The request that was made last, for whoever waits for it.
    pub(super) fn take_submitted(&mut self) -> Option<u32> {
        self.submitted.take()
    }

    /// How long the request took in simulated time, if it is complete.
    pub(super) fn collect(&mut self, slot: u32) -> Option<u64> {
        self.clock.collect(slot)
    }

    /// Requests that wait in groups which nothing fills any more are written with padding.
    pub(super) fn release_what_is_stuck(&mut self) -> Result<(), DeviceError> {
        let stuck = self.clock.stuck_groups();
        self.pad(&stuck)
    }

    /// Ends the phase and begins another.
    pub fn mark(&mut self, name: &str) {
        let latencies = self.clock.take_latencies();
        let ledger = *self.ledger();
        self.phases.mark(name, &ledger, self.clock.now_ns(), &latencies);
        self.watch_anew();
    }

    /// Counts from here on; what was counted before is forgotten.
    pub fn reset(&mut self) {
        self.clock.take_latencies();
        let ledger = *self.ledger();
        self.phases.reset(FIRST_PHASE, &ledger, self.clock.now_ns());
        self.watch_anew();
    }

    /// Simulated time goes on although nobody asks for anything; the drive does what it leaves for such time.
    pub fn idle(&mut self, duration_ns: u64) -> Result<(), DeviceError> {
        if !self.is_real_pace {
            self.wait_until_fewer_than(1)?;
        }
        let since_ns = self.clock.now_ns();
        let until_ns = since_ns + duration_ns;
        while self.keep_house(since_ns, until_ns)? {}
        self.clock.advance_to(until_ns);
        Ok(())
    }

    /// Time has passed in which nobody asked for anything: the drive has done what it leaves for such time, as far as it
    /// came.
    pub(super) fn catch_up(&mut self, until_ns: u64) {
        // Whoever asks next has not asked for this, and hears nothing of what failed: it is met again when it is read.
        while self.clock.rests_before(until_ns)
            && matches!(self.keep_house(self.clock.idle_since_ns(), until_ns), Ok(true))
        {}
        self.clock.advance_to(until_ns);
    }

    /// A piece of what can wait, when the flash has come to rest. False when there is none before `until_ns`.
    fn keep_house(&mut self, idle_since_ns: u64, until_ns: u64) -> Result<bool, DeviceError> {
        self.clock.come_to_rest();
        let now_ns = self.clock.now_ns();
        if now_ns >= until_ns {
            return Ok(false);
        }
        let done = self.ftl.housekeep(now_ns, idle_since_ns);
        if let Ok(Idle::NothingBefore(then_ns)) = done {
            self.clock.advance_to(then_ns.min(until_ns));
            return Ok(now_ns < then_ns && then_ns < until_ns);
        }
        self.carry_out_decisions(done.map(|_| ()))?;
        self.attend_to_flash()?;
        Ok(true)
    }

    /// Simulated time goes on until the queue has a place free.
    fn wait_until_fewer_than(&mut self, depth: u32) -> Result<(), DeviceError> {
        while self.clock.outstanding() >= depth.max(1) {
            if self.clock.step() {
                continue;
            }
            let stuck = self.clock.stuck_groups();
            assert!(!stuck.is_empty(), "what is outstanding has an event, or waits in an open group");
            self.pad(&stuck)?;
            if self.clock.stuck_groups() == stuck {
                // A drive that has turned read-only may have nowhere to go on; its clock is of no more use.
                break;
            }
        }
        Ok(())
    }

    /// Fills groups up with padding, so that they can go to flash.
    fn pad(&mut self, groups: &[Range<u32>]) -> Result<(), DeviceError> {
        if groups.is_empty() {
            return Ok(());
        }
        let padded = self.ftl.pad(groups);
        self.carry_out_decisions(padded)
    }

    /// What the translation layer decided on by itself.
    fn carry_out_decisions(&mut self, decided: Result<(), ReadOnly>) -> Result<(), DeviceError> {
        self.ftl.take_decisions(&mut self.decisions);
        let answer = if self.nand.is_packed() {
            self.carry_out_packed()
        } else {
            self.nand.carry_out(&self.decisions, &[], &mut Transfer::Nothing)
        };
        self.clock.carry_out(&self.decisions);
        self.note_streams();
        if let Err(reason) = decided {
            // Nothing of what was decided is undone by it; the next write hears of it.
            self.refuse(reason);
        }
        answer
    }

    #[inline]
    fn note_streams(&mut self) {
        if !self.nand.has_opened() {
            return;
        }
        let ftl = &self.ftl;
        self.nand.note_streams(ftl.host_units(), |erase_unit| ftl.stream_of(EraseUnit(erase_unit)).0);
    }

    fn refuse(&mut self, reason: ReadOnly) -> DeviceError {
        self.read_only_reason = Some(reason.to_string());
        DeviceError::ReadOnly(reason.to_string())
    }

    /// What the flash asks for after a request: blocks that failed are given up, and the translation layer, which may
    /// open any erase unit that it takes for erased, finds one that truly is.
    fn attend_to_flash(&mut self) -> Result<(), DeviceError> {
        self.note_streams();
        if self.nand.has_failures() {
            self.give_up_failed()?;
        }
        let is_scarce = self.nand.waiting_erases() > 0 && self.nand.waiting_erases() + 1 >= self.ftl.free_erase_units();
        // What the SLC cache has of its own, behind the others, is little, and used again at once.
        if is_scarce || self.nand.waits_to_erase_from(self.capacity.erase_units) {
            self.program_all()?;
        }
        Ok(())
    }

    /// All that is in memory goes to flash.
    pub(super) fn program_all(&mut self) -> Result<(), DeviceError> {
        loop {
            self.pad(&self.nand.open_groups())?;
            self.nand.finish_programs();
            if !self.nand.has_failures() {
                return Ok(());
            }
            self.give_up_failed()?;
        }
    }

    /// Moves what lives in failed erase units away. The copies are in flash before anything else happens: until then
    /// the drive's memory has the only good ones.
    fn give_up_failed(&mut self) -> Result<(), DeviceError> {
        let mut answer = Ok(());
        while let Some(erase_unit) = self.nand.take_failed() {
            let given_up = self.ftl.give_up(EraseUnit(erase_unit));
            let done = self.carry_out_decisions(given_up);
            match given_up {
                Ok(()) => self.nand.retire(erase_unit),
                Err(reason) => self.stranded = Some(reason),
            }
            answer = answer.and(done);
        }
        if !self.nand.has_power_loss_protection() {
            self.pad(&self.nand.open_groups())?;
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

    /// From now on the `moves`-th unit that cleaning moves is not noted in the map: an error that tests must find.
    pub fn forget_a_move(&mut self, moves: u64) {
        self.forgets_after = Some(moves);
    }

    fn spoil_map(&mut self) {
        let Some(mut left) = self.forgets_after.take() else { return };
        for pair in self.decisions.windows(2) {
            let [Decision::Read(from, _), Decision::Program(to, Cause::Gc)] = *pair else { continue };
            left -= 1;
            if left == 0 {
                let lpn = Lpn(self.nand.medium().spare(to.0).lpn);
                if self.ftl.place_of(lpn) == Some(to) {
                    self.ftl.misplace(lpn, from);
                    return;
                }
                left = 1;
            }
        }
        self.forgets_after = Some(left);
    }
}
