//! The drive itself: requests are pushed into the engine's front, below which a translation layer decides and the flash
//! array carries it out on data (`stored`); time goes on as its pace lets it. How a drive begins, and what a loss of power
//! does to it, is in `opening`.

use super::arriving::Data;
use super::phases::Phases;
use super::served::Served;
use super::stored::Stored;
use crate::device::{Capabilities, DeviceError};
use crate::nand::{Nand, Recovery, Transfer};
use ssdlab_engine::ledger::Ledger;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::simulation::live::figures::Seen;
use ssdlab_engine::simulation::{Outcome, SimulatedDrive};
use ssdlab_engine::timing::drive::TimedDrive;
use ssdlab_engine::timing::front::{Completion, Front, Intake, Stepped, Submission};

/// The phase that no one has marked.
pub(super) const FIRST_PHASE: &str = "mounted";

pub struct Core {
    pub(super) front: Front,
    pub(super) stored: Stored,
    pub(super) served: Served,
    pub(super) phases: Phases,
    pub(super) seed: u64,
    pub(super) next_tag: u32,
    /// Whether callers wait for their requests in simulated time, and the request made last.
    pub(super) is_real_pace: bool,
    pub(super) submitted: Option<u32>,
    /// Whether a request must be carried out before it is reported as complete: something may go wrong with it, or it must
    /// outlive the process.
    pub(super) answers_late: bool,
    /// What the last recovery was like.
    pub(super) recovery: Option<Recovery>,
    /// What the observer has seen last; `None` while there is no observer.
    pub(super) seen: Option<Box<Seen>>,
}

impl Core {
    pub fn capabilities(&self) -> Capabilities {
        let unit_bytes = self.stored.capacity.mapping_unit_bytes;
        Capabilities {
            size_bytes: self.stored.capacity.user_units * u64::from(unit_bytes),
            unit_bytes,
            trims: true,
            has_volatile_cache: !self.nand().has_power_loss_protection(),
        }
    }

    pub fn ftl(&self) -> &dyn SimulatedDrive {
        self.stored.simulated()
    }

    pub fn nand(&self) -> &Nand {
        &self.stored.nand
    }

    pub fn now_ns(&self) -> u64 {
        self.front.now_ns()
    }

    /// The share of the time since the beginning in which the dies were at work, on average.
    pub fn die_utilization(&self) -> f64 {
        self.front.flash().utilization(self.now_ns())
    }

    pub fn power_cycles(&self) -> u64 {
        self.stored.counters.power_cycles
    }

    /// What came of the last recovery, if there was one.
    pub fn recovery(&self) -> Option<Recovery> {
        self.recovery
    }

    /// Erase units beyond which none may be lost.
    pub fn erase_units_needed(&self) -> u32 {
        self.stored.ftl.erase_units_needed()
    }

    /// Why the drive takes no more writes, if it does not.
    pub fn read_only_reason(&self) -> Option<String> {
        self.stored.read_only_reason.clone()
    }

    /// What a run would give that ended now: phases are its jobs. What the host has its answer of is counted.
    pub fn outcome(&mut self) -> Outcome {
        self.bring_in_answered();
        self.phases.outcome(self)
    }

    /// The completions since the last call; the first begins to keep them.
    pub fn take_completions(&mut self) -> Vec<Completion> {
        self.served.take_completions()
    }

    pub(super) fn ledger(&self) -> &Ledger {
        TimedDrive::ledger(&self.stored)
    }

    /// One request of at most a gibibyte, within the drive. In simulated time it comes when fewer than `depth` are
    /// outstanding. Where `is_through`, a write is answered only when it outlives a loss of power.
    pub fn execute(
        &mut self,
        operation: Operation,
        transfer: Transfer<'_>,
        length_bytes: u32,
        depth: u32,
        is_through: bool,
    ) -> Result<(), DeviceError> {
        if !self.is_real_pace {
            self.wait_until_fewer_than(depth);
        }
        let request = Request::new(operation, transfer.offset_bytes(), length_bytes);
        if let Transfer::Read { offset_bytes, into } = transfer {
            let answer = self.stored.read(offset_bytes, into);
            self.submit(request, false);
            return answer;
        }
        if let Some(reason) = self.stored.ftl.read_only() {
            return Err(self.stored.refuse(reason));
        }
        let range = request.offset_bytes..request.offset_bytes + u64::from(length_bytes);
        if operation == Operation::Trim {
            self.bring_in(|core| core.stored.arriving.overlaps(&range));
        }
        let tag = self.next_tag;
        self.stored.arriving.push(tag, range, self.data_of(operation, &transfer));
        self.submit(request, is_through);
        if self.is_real_pace {
            return Ok(());
        }
        if self.answers_late {
            self.bring_in(|core| core.stored.arriving.is_here(tag));
            if self.stored.arriving.is_here(tag) {
                return Err(DeviceError::Stalled);
            }
        }
        if is_through {
            self.wait_for(tag)?;
            self.note_what_is_safe()?;
        }
        self.stored.arriving.answer(tag);
        self.stored.arriving.outcome(tag)
    }

    fn data_of(&self, operation: Operation, transfer: &Transfer<'_>) -> Data {
        match transfer {
            Transfer::Write { data, .. } => Data::Bytes(data.to_vec()),
            _ if operation == Operation::Trim => {
                Data::Trimmed { unit_bytes: u64::from(self.stored.capacity.mapping_unit_bytes) }
            }
            _ => Data::Zeroes,
        }
    }

    /// Pushes a request into the front, now. Returns its tag.
    fn submit(&mut self, request: Request, is_through: bool) -> u32 {
        let tag = self.next_tag;
        self.next_tag = self.next_tag.wrapping_add(1);
        self.submitted = Some(tag);
        if self.is_real_pace || is_through {
            self.served.wait_for(tag);
        }
        self.phases.count(request.operation, u64::from(request.length_bytes));
        let submission = Submission { request, issued_ns: self.front.now_ns(), tag, is_through };
        let Self { front, stored, served, .. } = self;
        front.submit(submission, stored, served).expect("what fails is noted for the request");
        tag
    }

    /// Everything that was answered is in flash, or in memory that outlives a loss of power.
    pub fn flush(&mut self) -> Result<(), DeviceError> {
        if !self.is_real_pace {
            // What a host has its answer of is to be flushed with the rest.
            self.wait_until_fewer_than(1);
        }
        self.submit(Request::new(Operation::Flush, 0, 0), false);
        if self.is_real_pace {
            return Ok(());
        }
        self.wait_until_fewer_than(1);
        if self.front.outstanding() > 0 {
            return Err(DeviceError::Stalled);
        }
        self.note_what_is_safe()?;
        self.stored.arriving.take_late_failure()
    }

    /// What is in flash by the clock is so in the flash array too.
    fn note_what_is_safe(&mut self) -> Result<(), DeviceError> {
        if !self.nand().has_power_loss_protection() {
            if self.nand().is_packed() {
                self.program_all()?;
            }
            self.stored.nand.finish_programs();
            let attended = self.stored.attend_to_flash();
            self.carry_out_own();
            attended?;
            if let Some(reason) = self.stored.stranded {
                return Err(DeviceError::ReadOnly(reason.to_string()));
            }
        }
        if self.nand().medium().outlives_the_process() {
            self.stored.counters.simulated_ns = self.now_ns();
            self.stored.save_counters();
        }
        Ok(())
    }

    fn program_all(&mut self) -> Result<(), DeviceError> {
        let done = self.stored.program_all();
        self.carry_out_own();
        done
    }

    /// Notes where everything is, and the counters, in the system blocks.
    pub fn checkpoint(&mut self) -> Result<(), DeviceError> {
        self.bring_in_answered();
        self.stored.counters.simulated_ns = self.now_ns();
        let done = self.stored.checkpoint();
        self.carry_out_own();
        done
    }

    /// What the drive has decided on outside of any request takes its time too.
    pub(super) fn carry_out_own(&mut self) {
        self.front.carry_out(&std::mem::take(&mut self.stored.decided));
    }

    pub(super) fn next_event_ns(&self) -> Option<u64> {
        self.front.next_event_ns()
    }

    /// The request that was made last, for a caller that waits for it.
    pub(super) fn take_submitted(&mut self) -> Option<u32> {
        self.submitted.take()
    }

    /// How long the request took in simulated time, and what came of it, if it is complete.
    pub(super) fn collect(&mut self, tag: u32) -> Option<(u64, Result<(), DeviceError>)> {
        let latency_ns = self.served.collect(tag)?;
        Some((latency_ns, self.stored.arriving.outcome(tag)))
    }

    /// What a flush or a write through was to bring about is so, once it is complete.
    pub(super) fn settle_durable(&mut self) -> Result<(), DeviceError> {
        self.note_what_is_safe()?;
        self.stored.arriving.take_late_failure()
    }

    /// Ends the phase and begins another.
    pub fn mark(&mut self, name: &str) {
        self.bring_in_answered();
        let latencies = std::mem::take(&mut self.served.latencies);
        let read_ahead = self.front.take_read_counts();
        let ledger = *self.ledger();
        self.phases.mark(name, &ledger, self.now_ns(), &latencies, read_ahead);
        self.watch_anew();
    }

    /// Counts from here on; what was counted before is forgotten.
    pub fn reset(&mut self) {
        self.bring_in_answered();
        self.served.latencies = Default::default();
        self.front.take_read_counts();
        let ledger = *self.ledger();
        self.phases.reset(FIRST_PHASE, &ledger, self.now_ns());
        self.watch_anew();
    }

    /// Simulated time goes on although nobody asks for anything; the drive does what it leaves for such time.
    pub fn idle(&mut self, duration_ns: u64) -> Result<(), DeviceError> {
        if !self.is_real_pace {
            self.wait_until_fewer_than(1);
        }
        self.advance_to(self.now_ns() + duration_ns);
        Ok(())
    }

    /// Simulated time goes on to a moment, and the drive does what it leaves for idle time, as far as it comes.
    pub(super) fn advance_to(&mut self, moment_ns: u64) {
        while let Stepped::Events(_) = self.step(moment_ns) {}
        self.front.come_to(moment_ns);
    }

    fn step(&mut self, until_ns: u64) -> Stepped {
        let Self { front, stored, served, .. } = self;
        front.step(until_ns, 1, stored, served).expect("what fails is noted for the request")
    }

    /// Lets the next event happen. Returns whether there was one: a drive at rest has none. One at rest with requests
    /// outstanding is stalled.
    fn go_on(&mut self) -> bool {
        matches!(self.step(u64::MAX), Stepped::Events(_))
    }

    /// Simulated time goes on until the queue has a place free.
    fn wait_until_fewer_than(&mut self, depth: u32) {
        while self.front.outstanding() >= depth.max(1) && self.go_on() {}
    }

    /// Simulated time goes on until a request is complete.
    fn wait_for(&mut self, tag: u32) -> Result<(), DeviceError> {
        while self.served.collect(tag).is_none() {
            if !self.go_on() {
                return Err(DeviceError::Stalled);
            }
        }
        Ok(())
    }

    /// Simulated time goes on until what is on its way to the drive has come.
    pub(super) fn bring_in(&mut self, is_on_its_way: impl Fn(&Self) -> bool) {
        while is_on_its_way(self) && self.front.outstanding() > 0 && self.go_on() {}
    }

    /// The same of all that the host has its answer of.
    pub(super) fn bring_in_answered(&mut self) {
        if !self.is_real_pace {
            self.bring_in(|core| !core.stored.arriving.is_empty());
        }
    }

    /// From now on the `moves`-th unit that cleaning moves is not noted in the map: an error that tests must find.
    pub fn forget_a_move(&mut self, moves: u64) {
        self.stored.forgets_after = Some(moves);
    }
}
