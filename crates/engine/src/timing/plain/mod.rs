//! The front of a plain drive, from the host to the flash: no link, no buffer, no limit of commands, a channel for each
//! die, and a page for each mapping unit. It gives the times that `Front` gives for the same drive, with fewer events,
//! since every end is known as soon as an operation is queued; tests compare the two.

mod dies;
mod flash;

use super::breakdown::Part;
use super::decision::Decision;
use super::drive::{Idle, TimedDrive};
use super::flash::Finished;
use super::front::account::Account;
use super::front::event_queue::{Event, EventQueue, Step};
use super::front::slots::Slots;
use super::front::{Front, Intake, Requester, Sides, Stepped, Submission};
use crate::error::ReadOnly;
use crate::ledger::Ledger;
use crate::request::{Operation, Request};
use flash::PlainFlash;

/// Stands for no slot: an operation for which no request waits.
const NO_SLOT: u32 = u32::MAX;

/// See the file's description.
pub struct PlainFront {
    flash: PlainFlash,
    slots: Slots,
    event_queue: EventQueue,
    command_ns: u64,
    unit_bytes: u64,
    now_ns: u64,
    /// When the last request completed.
    idle_since_ns: u64,
    decisions: Vec<Decision>,
}

impl PlainFront {
    /// In place of the front of a drive that has no more than this one gives a time to; before its first request.
    pub fn of(front: &Front) -> Option<Self> {
        front.is_plain().then(|| Self {
            flash: PlainFlash::of(front.flash()),
            slots: Slots::default(),
            event_queue: EventQueue::new(),
            command_ns: front.command_ns(),
            unit_bytes: front.flash().mapping_unit_bytes(),
            now_ns: front.now_ns(),
            idle_since_ns: front.now_ns(),
            decisions: Vec::new(),
        })
    }

    /// The mean share of `elapsed_ns` in which the dies were busy.
    pub fn utilization(&self, elapsed_ns: u64) -> f64 {
        self.flash.utilization(elapsed_ns)
    }

    /// The drive has the command: it decides, and the flash begins.
    #[inline(always)]
    fn execute(&mut self, slot: u32, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        let Submission { request, tag, .. } = self.slots.submission(slot);
        if request.operation == Operation::Flush {
            self.answer_after_command(slot);
            return Ok(());
        }
        self.decide(tag, &request, sides.below)?;
        sides.above.executed(tag, self.now_ns, sides.below.ledger());
        let units = self.flash.carry_out(self.now_ns, &self.decisions, slot);
        self.slots.wait_for(slot, units);
        if units == 0 {
            self.answer_after_command(slot);
        }
        Ok(())
    }

    #[inline(always)]
    fn decide(&mut self, tag: u32, request: &Request, drive: &mut dyn TimedDrive) -> Result<(), ReadOnly> {
        self.flash.check_queues()?;
        // The unit is a power of two; a partial write reads first, and not what is still in memory.
        let in_part = (request.offset_bytes | u64::from(request.length_bytes)) & (self.unit_bytes - 1);
        let may_read = request.operation == Operation::Read || in_part > 0;
        if may_read && !self.flash.in_memory().is_empty() {
            drive.exchange_memory(self.flash.in_memory());
            let decided = drive.decide(tag, request);
            drive.exchange_memory(self.flash.in_memory());
            decided?;
        } else {
            drive.decide(tag, request)?;
        }
        drive.take_decisions(&mut self.decisions);
        Ok(())
    }

    /// A request that waits for no flash takes the controller's time.
    fn answer_after_command(&mut self, slot: u32) {
        let at_ns = self.now_ns + self.command_ns;
        self.slots.account(slot).spend(Part::Controller, at_ns);
        self.event_queue.answer(at_ns, slot);
    }

    fn take_event(&mut self, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        let (at_ns, event) = self.event_queue.take().expect("its time is known");
        self.now_ns = at_ns;
        match event {
            Event::Answered(slot) => {
                let account = *self.slots.account(slot);
                self.complete(slot, account, sides)
            }
            Event::Step(Step::Issued, slot) => self.execute(slot, sides),
            Event::Step(..) => unreachable!("a plain drive has no other step"),
        }
    }

    /// What the flash has finished: one operation, which one or several requests waited for.
    fn note_finished(&mut self, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        // Determined before an answer causes further operations, which add no entries.
        let service = self.flash.service();
        let mut noted = Ok(());
        for index in 0..self.flash.finished.len() {
            let (slot, units) = match self.flash.finished[index] {
                Finished::Read { slot, units } => (slot, units),
                Finished::Written { slot } => (slot, 1),
            };
            if noted.is_ok() && self.slots.units_arrived(slot, units) {
                // Changed on a copy: copying the parts right after changing them one by one would stall the processor.
                let mut account = *self.slots.account(slot);
                account.spend_on_flash(&service);
                noted = self.complete(slot, account, sides);
            }
        }
        self.flash.finished.clear();
        noted
    }

    #[inline(always)]
    fn complete(&mut self, slot: u32, account: Account, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        self.idle_since_ns = self.now_ns;
        let completion = self.slots.complete(slot, self.now_ns);
        debug_assert!(Slots::is_accounted_for(&completion, account.parts()));
        sides.above.completed(completion, account.parts(), self, sides.below)
    }

    /// Nothing is outstanding: lets the drive perform one batch of background work, if the flash becomes idle before
    /// anything else is due.
    fn run_background(&mut self, until_ns: u64, drive: &mut dyn TimedDrive) -> Result<bool, ReadOnly> {
        let until_ns = until_ns.min(self.event_queue.next_ns());
        let rests_at_ns = self.flash.rests_at_ns().max(self.now_ns);
        if self.flash.next_event_ns().is_some() || rests_at_ns >= until_ns {
            return Ok(false);
        }
        self.now_ns = rests_at_ns;
        match drive.run_background(self.now_ns, self.idle_since_ns)? {
            Idle::Decided => {
                drive.take_decisions(&mut self.decisions);
                self.flash.carry_out(self.now_ns, &self.decisions, NO_SLOT);
                Ok(true)
            }
            Idle::NothingBefore(then_ns) if then_ns > self.now_ns && then_ns < until_ns => {
                self.now_ns = then_ns;
                Ok(true)
            }
            Idle::NothingBefore(_) => Ok(false),
        }
    }
}

impl Intake for PlainFront {
    type Drives<'d> = dyn TimedDrive + 'd;

    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn next_ns(&self) -> u64 {
        self.event_queue.next_ns()
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.event_queue.next_event_ns().into_iter().chain(self.flash.next_event_ns()).min()
    }

    fn outstanding(&self) -> u32 {
        self.slots.outstanding()
    }

    fn come_to(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns);
    }

    #[inline(always)]
    fn submit(
        &mut self,
        submission: Submission,
        drive: &mut (dyn TimedDrive + '_),
        requester: &mut dyn Requester<Self>,
    ) -> Result<(), ReadOnly> {
        let slot = self.slots.take(submission);
        let mut account = Account::since(submission.issued_ns);
        let host_ns = u64::from(submission.host_ns);
        account.spend(Part::Queueing, self.now_ns + host_ns);
        *self.slots.account(slot) = account;
        if host_ns > 0 {
            self.event_queue.step(self.now_ns + host_ns, Step::Issued, slot);
            return Ok(());
        }
        self.execute(slot, &mut Sides { above: requester, below: drive })
    }

    #[inline]
    fn step(
        &mut self,
        until_ns: u64,
        events_max: u64,
        drive: &mut (dyn TimedDrive + '_),
        requester: &mut dyn Requester<Self>,
    ) -> Result<Stepped, ReadOnly> {
        let events = self.flash.run(until_ns.min(self.event_queue.next_ns()), events_max);
        self.now_ns = self.now_ns.max(self.flash.now_ns);
        if !self.flash.finished.is_empty() {
            self.note_finished(&mut Sides { above: requester, below: drive })?;
            return Ok(Stepped::Events(events));
        }
        if events == events_max {
            return Ok(Stepped::Events(events));
        }
        if self.slots.outstanding() == 0 && self.run_background(until_ns, drive)? {
            return Ok(Stepped::Events(events + 1));
        }
        if self.event_queue.next_ns() > until_ns || self.event_queue.next_ns() == u64::MAX {
            return Ok(Stepped::ToTheEnd(events));
        }
        self.take_event(&mut Sides { above: requester, below: drive })?;
        Ok(Stepped::Events(events + 1))
    }

    fn prefetch(&self, request: &Request, drive: &(dyn TimedDrive + '_)) {
        drive.prefetch(request);
    }

    fn prefetch_old(&self, request: &Request, drive: &(dyn TimedDrive + '_)) {
        drive.prefetch_old(request);
    }

    fn ledger<'a>(&'a self, drive: &'a (dyn TimedDrive + '_)) -> &'a Ledger {
        drive.ledger()
    }

    fn begin_stage(&mut self, _drive: &(dyn TimedDrive + '_)) {}
}
