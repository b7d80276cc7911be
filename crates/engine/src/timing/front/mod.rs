//! The front end of a timed drive: everything between the caller that submits requests and the flash.
//!
//! A request passes the controller's admission: a limit of commands, trims before it. Written data crosses the link and
//! enters the buffer, or goes to flash; read data comes from flash and crosses the link. A front generates no requests:
//! its caller (a run, a mount, a network block device) submits them, advances time, and is called back when one
//! completes.
//!
//! With a write buffer a write completes when the buffer has admitted it, and waits while the buffer is full; a large one
//! is admitted in parts (`parts`). Without one it completes when it is in flash; since such a drive cannot wait for
//! further writes when all outstanding requests wait for it, it then fills a partly filled program group with padding.
//! It does the same for a group that a flush or a write past a volatile buffer waits for.

pub(super) mod account;
mod back_end;
mod buffer;
mod command_admission;
mod command_slots;
pub(super) mod event_queue;
mod flush_turns;
mod front_end;
mod journal;
mod link;
mod map_waits;
mod next_admission;
mod pacer;
mod parts;
mod path;
mod power_limit;
mod processing;
pub mod read_counts;
mod read_streams;
mod reading;
pub(super) mod slots;
mod striped;
mod submission;
mod throttle;
mod write_admission;

use super::breakdown::{Part, Parts};
use super::decision::Decision;
use super::drive::{Idle, TimedDrive};
use super::flash::{Finished, Flash};
use super::service::Service;
use crate::error::{ReadOnly, SpecificationError};
use crate::ledger::Ledger;
use crate::nand::Geometry;
use crate::request::Request;
use crate::specification::Drive;
use crate::specification::drive::reclaim_groups_of;
use account::GcShare;
use back_end::BackEnd;
use buffer::BUFFERED_FIRST;
use command_admission::CommandAdmission;
use event_queue::{Event, EventQueue, Step};
pub use front_end::FrontEnd;
use link::Link;
use power_limit::PowerLimit;
use processing::Processing;
use read_counts::ReadCounts;
use reading::{OWN, Reading};
use slots::Slots;
pub use striped::{Devices, StripedFront};
pub use submission::{Completion, Submission};
use write_admission::WriteAdmission;

/// How long a write without a buffer waits for others to fill its program group while other requests are in progress.
/// Assumed: firmware has such a time, and none is published. It is long compared with any request, so that it only
/// matters to a write that would otherwise wait for as long as others read.
const PATIENCE_NS: u64 = 100_000_000;

/// The interface of a front, for one drive or several, to the submitters of requests.
pub trait Intake {
    /// The translation layer below it, or those of several devices.
    type Drives<'d>: ?Sized;

    /// The current time.
    fn now_ns(&self) -> u64;
    /// The time of the next event on the host's side; the end of time if there is none.
    fn next_ns(&self) -> u64;
    /// When the next event of any kind happens, if one is pending.
    fn next_event_ns(&self) -> Option<u64>;
    /// The number of outstanding requests.
    fn outstanding(&self) -> u32;
    /// Advances time to a moment before which nothing happens.
    fn come_to(&mut self, now_ns: u64);
    /// Starts a request; it may complete only later.
    fn submit(
        &mut self,
        submission: Submission,
        drives: &mut Self::Drives<'_>,
        requester: &mut dyn Requester<Self>,
    ) -> Result<(), ReadOnly>;
    /// Processes what was submitted since the last step; called after the last submission of a moment.
    fn settle(&mut self, _drives: &mut Self::Drives<'_>, _requester: &mut dyn Requester<Self>) -> Result<(), ReadOnly> {
        Ok(())
    }
    /// Processes the next event, if it is before `until_ns`; an event of the host's side also at `until_ns`. The flash
    /// may process several events, at most `events_max`.
    fn step(
        &mut self,
        until_ns: u64,
        events_max: u64,
        drives: &mut Self::Drives<'_>,
        requester: &mut dyn Requester<Self>,
    ) -> Result<Stepped, ReadOnly>;
    /// Prefetches what the request will access first, and, once that is cached, what it points to.
    fn prefetch(&self, request: &Request, drives: &Self::Drives<'_>);
    /// Prefetches the old copies of the request's units, after `prefetch`.
    fn prefetch_old(&self, request: &Request, drives: &Self::Drives<'_>);
    /// The drive's counters.
    fn ledger<'a>(&'a self, drives: &'a Self::Drives<'_>) -> &'a Ledger;
    /// Called before requests are submitted, after other users may have changed the drives' counters.
    fn begin_stage(&mut self, drives: &Self::Drives<'_>);
}

/// The caller that submits requests to a front and is called back.
pub trait Requester<F: Intake + ?Sized> {
    /// The drive has decided on a request and counted it in its ledger; it completes later.
    fn executed(&mut self, _tag: u32, _now_ns: u64, _ledger: &Ledger) {}
    /// A request has completed; the next may be submitted at once. The parts of its time add up to it; a flush has no
    /// parts.
    fn completed(
        &mut self,
        completion: Completion,
        parts: &Parts,
        front: &mut F,
        drives: &mut F::Drives<'_>,
    ) -> Result<(), ReadOnly>;
}

/// What a front stands between.
pub(super) struct Sides<'a, F: Intake + ?Sized> {
    pub above: &'a mut dyn Requester<F>,
    pub below: &'a mut dyn TimedDrive,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stepped {
    /// The number of events processed.
    Events(u64),
    /// The number of events, and no other event before the given time.
    ToTheEnd(u64),
}

/// The front of one drive.
pub struct Front {
    back_end: BackEnd,
    slots: Slots,
    commands: CommandAdmission,
    link: Option<Link>,
    writes: WriteAdmission,
    processing: Processing,
    holds_suspends: bool,
    coalesces: bool,
    event_queue: EventQueue,
    /// Whether the last step ended only because of its number of events, and nothing was submitted since: between events
    /// that concern the host nothing is decided, so that the steps change no outcome.
    is_cut_short: bool,
    now_ns: u64,
    /// When the last request completed.
    idle_since_ns: u64,
    /// Without a buffer: when the last write reached the flash.
    wrote_ns: u64,
}

impl Front {
    /// A front above a flash.
    pub fn new(flash: Flash, front_end: &FrontEnd) -> Self {
        let (buffer, tells_backlog) = (&front_end.buffer, front_end.tells_backlog);
        let writes = WriteAdmission::new(buffer, flash.mapping_unit_bytes());
        let [coalesces, frees_at_program] =
            [buffer.coalesce, buffer.free_at_program].map(|is| is && writes.buffer.exists());
        let flash = if coalesces || frees_at_program { flash.reporting_begun(frees_at_program) } else { flash };
        let flash = if writes.asks_for_backlog() || tells_backlog { flash.counting_own() } else { flash };
        Self {
            back_end: BackEnd::new(flash, writes.buffer.is_volatile(), tells_backlog),
            slots: Slots::default(),
            commands: CommandAdmission::new(front_end),
            link: front_end.link.as_ref().map(Link::new),
            writes,
            processing: Processing::new(&front_end.controller),
            holds_suspends: buffer.programs_first,
            coalesces,
            event_queue: EventQueue::new(),
            is_cut_short: false,
            now_ns: 0,
            idle_since_ns: 0,
            wrote_ns: 0,
        }
    }

    /// The front of a drive. Errors name the key, its value and what is allowed.
    pub fn of(drive: &Drive, layer: &dyn TimedDrive) -> Result<Self, SpecificationError> {
        drive.read_retries.check()?;
        let flash = Flash::new(&drive.nand, drive.ftl.mapping_unit_bytes, drive.ftl.erase_unit)
            .in_reclaim_groups(reclaim_groups_of(&drive.ftl.placement))
            .with_slc_cache(&drive.nand, &drive.slc_cache)
            .with_retries(&drive.read_retries, &Geometry::of(drive)?)
            .with_power_loss_protection(drive.write_buffer.power_loss_protection)
            .with_program_issue(drive.controller.program_us)
            .below(layer);
        let power_limit = PowerLimit::new(drive)?;
        let mut front = Self::new(flash, &FrontEnd::of(drive)?);
        front.commands.power_limit = power_limit;
        front.back_end.reading = Reading::new(drive)?;
        Ok(front)
    }

    /// Starts at a given time, as after a loss of power.
    pub fn since(self, now_ns: u64) -> Self {
        Self { now_ns, idle_since_ns: now_ns, ..self }
    }

    /// Whether nothing but a channel for each die and the dies give a request its time: no stage between host and flash,
    /// and flash of the simplest kind.
    pub fn is_plain(&self) -> bool {
        let is_open = self.commands.is_unlimited() && self.link.is_none() && self.processing.is_even();
        is_open && !self.writes.buffer.exists() && self.back_end.is_plain()
    }

    /// The time of a request that waits for no flash.
    pub fn command_ns(&self) -> u64 {
        self.processing.command_ns
    }

    /// The flash below it.
    pub fn flash(&self) -> &Flash {
        &self.back_end.flash
    }

    /// Units of the host that wait in the buffer or, without one, for their program group to fill.
    pub fn units_in_memory(&self) -> u64 {
        if self.writes.buffer.exists() { self.writes.buffer.units() } else { self.flash().groups().units_waiting() }
    }

    /// The counts that `take_read_counts` would return.
    pub fn read_counts(&self) -> Option<ReadCounts> {
        self.back_end.reading.as_ref()?.counts()
    }

    /// The read-ahead since the last call; None for a drive without.
    pub fn take_read_counts(&mut self) -> Option<ReadCounts> {
        self.back_end.reading.as_mut()?.take_counts()
    }

    /// Performs operations that the drive decided on by itself, for which no request waits.
    pub fn carry_out(&mut self, decisions: &[Decision]) {
        self.back_end.flash.carry_out(self.now_ns, decisions, BUFFERED_FIRST);
    }

    #[inline(always)]
    fn step_within(
        &mut self,
        until_ns: u64,
        events_max: u64,
        sides: &mut Sides<'_, Self>,
    ) -> Result<Stepped, ReadOnly> {
        if !self.is_cut_short {
            self.free_if_stuck(self.now_ns, sides)?;
        }
        let (events, concerns_host) = self.run_flash(until_ns, events_max, sides)?;
        self.is_cut_short = !concerns_host && events == events_max;
        if concerns_host || self.is_cut_short {
            return Ok(Stepped::Events(events));
        }
        if self.slots.outstanding() == 0 && self.run_background(until_ns, sides.below)? {
            return Ok(Stepped::Events(events + 1));
        }
        if self.event_queue.next_ns() > until_ns || self.event_queue.next_ns() == u64::MAX {
            return Ok(Stepped::ToTheEnd(events));
        }
        self.take_event(sides)?;
        Ok(Stepped::Events(events + 1))
    }

    /// Makes progress certain: where requests wait that nothing in progress would let go on, admits waiting writes that
    /// there is space for, or else programs partly filled groups. Returns whether it has done so.
    ///
    /// A unit in the buffer is in transfer, waits for a map page, or is being programmed, and then has an event; or it
    /// is in a partly filled group. When all are, only a known time of admission may be waited for, at which there is
    /// space; a pause of the pacer would only keep the flash idle. Programmed groups leave the buffer empty, and an
    /// empty buffer admits any write.
    #[inline]
    fn free_if_stuck(&mut self, now_ns: u64, sides: &mut Sides<'_, Self>) -> Result<bool, ReadOnly> {
        if self.slots.outstanding() == 0 || !self.is_stuck(now_ns) {
            return Ok(false);
        }
        self.now_ns = now_ns;
        while self.admits_while_stuck(sides)? {
            if !self.is_stuck(now_ns) {
                return Ok(true);
            }
        }
        let groups = self.flash().groups().waited_for();
        debug_assert!(!groups.is_empty(), "an empty buffer admits any write");
        self.back_end.pad(now_ns, &groups, sides.below)?;
        Ok(true)
    }

    /// Admits waiting writes that there is space for, without the pacer's pause, or else the next part of a large write,
    /// which goes into the groups that wait. Returns whether there was any.
    #[cold]
    fn admits_while_stuck(&mut self, sides: &mut Sides<'_, Self>) -> Result<bool, ReadOnly> {
        if self.writes.hurry(self.now_ns) {
            self.event_queue.cancel(Step::Paced);
        }
        let admitted_units = self.writes.admitted_units();
        self.take_waiting_into_buffer(None, Part::HostOperations, sides)?;
        if self.writes.admitted_units() > admitted_units {
            return Ok(true);
        }
        // The group that is being filled is at most one program, which a drive holds in any case.
        let Some((slot, part)) = self.writes.next(&self.slots).filter(|(_, part)| !part.is_whole()) else {
            return Ok(false);
        };
        self.slots.account(slot).spend(Part::HostOperations, self.now_ns);
        self.admit_first(slot, part, sides)?;
        Ok(true)
    }

    /// Processes events of the flash before `until_ns`, at most `events_max`, up to the first that concerns the host's
    /// side. Returns how many, and whether one did.
    #[inline(always)]
    fn run_flash(
        &mut self,
        until_ns: u64,
        events_max: u64,
        sides: &mut Sides<'_, Self>,
    ) -> Result<(u64, bool), ReadOnly> {
        let flash = &mut self.back_end.flash;
        let events = flash.run(until_ns.min(self.event_queue.next_ns()), events_max);
        self.now_ns = self.now_ns.max(flash.now_ns());
        let has_begun = flash.take_begun();
        let concerns_host = has_begun || !flash.finished().is_empty();
        if concerns_host {
            self.note_finished(sides)?;
        }
        Ok((events, concerns_host))
    }

    fn take_event(&mut self, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        let (at_ns, event) = self.event_queue.take().expect("its time is known");
        self.now_ns = at_ns;
        match event {
            Event::Answered(slot) => self.answer(slot, sides),
            Event::Step(Step::MapPage, chain) => self.map_page_arrived(chain, sides),
            Event::Step(Step::Issued, slot) => self.limit_commands(slot, sides),
            Event::Step(Step::Admitted, slot) => self.enter(slot, sides),
            Event::Step(Step::Trickled, _) => self.trickle(sides),
            Event::Step(Step::Paced, _) => {
                self.writes.paced();
                self.take_waiting_into_buffer(None, Part::HostOperations, sides)
            }
            Event::Step(Step::Throttled, _) => {
                self.writes.throttled();
                self.take_waiting_into_buffer(None, Part::Gc, sides)
            }
            Event::Step(Step::Arrived, slot) => self.arrive(slot, sides),
            Event::Step(Step::Sent, slot) => self.complete(slot, sides),
            Event::Step(Step::Delivered, stream) => self.piece_delivered(stream as usize, sides),
            Event::Step(Step::Processed, stream) => self.stream_read_processed(stream as usize, sides),
        }
    }

    /// Nothing is outstanding: lets the drive perform one batch of background work, if the flash becomes idle before
    /// anything else is due.
    fn run_background(&mut self, until_ns: u64, drive: &mut dyn TimedDrive) -> Result<bool, ReadOnly> {
        let until_ns = until_ns.min(self.event_queue.next_ns());
        let rests_at_ns = self.flash().rests_at_ns().max(self.now_ns);
        if self.flash().next_event_ns().is_some() || rests_at_ns >= until_ns {
            return Ok(false);
        }
        self.now_ns = rests_at_ns;
        match self.back_end.run_background(self.now_ns, self.idle_since_ns, drive)? {
            Idle::Decided => Ok(true),
            Idle::NothingBefore(then_ns) if then_ns > self.now_ns && then_ns < until_ns => {
                self.now_ns = then_ns;
                Ok(true)
            }
            Idle::NothingBefore(_) => Ok(false),
        }
    }

    /// Whether a request waits that can go on only with further writes, which do not come.
    fn is_stuck(&self, now_ns: u64) -> bool {
        let in_open_groups = self.flash().groups().units_waiting();
        if !self.writes.buffer.exists() {
            // Without a buffer any request in progress may be followed by a write, but not for ever.
            let all_wait = self.slots.units_outstanding == in_open_groups && !self.event_queue.is_serving();
            return in_open_groups > 0 && (all_wait || now_ns.saturating_sub(self.wrote_ns) >= PATIENCE_NS);
        }
        // A waiting write keeps back all later ones, whatever else is in progress. A unit that a flush or a write past
        // the buffer waits for may have reached its group late, after a map page.
        let is_waited_for = self.writes.are_waiting() || (in_open_groups > 0 && self.writes.buffer.is_awaited());
        is_waited_for
            && self.writes.buffer.units() == in_open_groups
            && !self.writes.knows_next(&self.slots, self.back_end.moment(now_ns))
    }

    fn note_finished(&mut self, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        // Determined before an answer causes further operations. Programs that have only begun carry no information on
        // it.
        let has_service = !self.back_end.flash.finished().is_empty();
        let service = has_service.then(|| self.flash().service());
        let buffered_units = self.writes.buffer.units();
        // The answers cause no further entries.
        let mut noted = Ok(());
        for index in 0..self.back_end.flash.finished().len() {
            let part = self.back_end.flash.finished()[index];
            noted = noted.and_then(|()| self.note_part(part, service.as_ref(), sides));
        }
        self.back_end.flash.finished().clear();
        noted?;
        self.writes.freed(self.now_ns, buffered_units.saturating_sub(self.writes.buffer.units()));
        self.take_waiting_into_buffer(service.as_ref(), Part::HostOperations, sides)
    }

    #[inline(always)]
    fn note_part(
        &mut self,
        part: Finished,
        service: Option<&Service>,
        sides: &mut Sides<'_, Self>,
    ) -> Result<(), ReadOnly> {
        let (slot, units) = match part {
            Finished::Written { slot: tag } if tag >= BUFFERED_FIRST => {
                self.writes.buffer.finish(tag);
                return Ok(());
            }
            Finished::Read { slot, units } if slot >= OWN => {
                return self.own_read_ended(slot, units, sides);
            }
            Finished::Read { slot, units } => (slot, units),
            Finished::Written { slot } => {
                if self.writes.buffer.exists() {
                    self.writes.buffer.finish_through();
                }
                (slot, 1)
            }
        };
        if !self.slots.units_arrived(slot, units) {
            return Ok(());
        }
        if self.slots.is_flush(slot) {
            self.journal_came(slot, service);
            return Ok(());
        }
        if let Some(service) = service {
            self.slots.account(slot).spend_on_flash(service);
        }
        self.answer(slot, sides)
    }

    /// The request has been executed except for the controller's processing time.
    #[inline]
    fn answer_after_command(&mut self, slot: u32) {
        let at_ns = self.process(slot);
        self.event_queue.answer(at_ns, slot);
    }

    /// When the controller will have processed the request; it counts for that long.
    #[inline]
    fn process(&mut self, slot: u32) -> u64 {
        let at_ns = self.processing.ends_ns(self.now_ns.max(self.flash().program_issue_ends_ns()));
        self.slots.account(slot).spend(Part::Controller, at_ns);
        at_ns
    }

    /// Continues the flushes that waited for data that is now in flash, and gives freed space to waiting writes. The
    /// space was freed by the end of a program, whose service is given, or by another event: its beginning, a map page.
    fn take_waiting_into_buffer(
        &mut self,
        service: Option<&Service>,
        otherwise: Part,
        sides: &mut Sides<'_, Self>,
    ) -> Result<(), ReadOnly> {
        while let Some(flushed) = self.writes.buffer.next_flushed() {
            let account = self.slots.account(flushed);
            match service {
                Some(service) => account.spend_on_flash(service),
                None => account.spend(otherwise, self.now_ns),
            }
            self.write_journal(flushed, sides.below);
        }
        let freed_by = service.map(|service| (service, GcShare::of(service)));
        while let Some((slot, part)) = self.writes.next_admitted(&self.slots, self.back_end.moment(self.now_ns)) {
            let account = self.slots.account(slot);
            match freed_by {
                Some((service, share)) => account.spend_on_room(service, share),
                None => account.spend(otherwise, self.now_ns),
            }
            self.admit_first(slot, part, sides)?;
        }
        self.note_waiting();
        Ok(())
    }

    /// Updates whether writes wait for space in the buffer.
    #[inline]
    pub(super) fn note_waiting(&mut self) {
        if self.holds_suspends {
            self.back_end.flash.hold_suspends(self.writes.are_waiting());
        }
        let moment = self.back_end.moment(self.now_ns);
        self.writes.wake_ups(&self.slots, moment).for_each(|(at_ns, step)| self.event_queue.step(at_ns, step, 0));
    }

    /// A closed buffer admits one of the waiting writes.
    fn trickle(&mut self, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        let moment = self.back_end.moment(self.now_ns);
        if let Some((slot, part)) = self.writes.trickled(&self.slots, moment) {
            self.slots.account(slot).spend(Part::Queueing, self.now_ns);
            self.admit_first(slot, part, sides)?;
        }
        self.note_waiting();
        Ok(())
    }

    #[inline(always)]
    fn complete(&mut self, slot: u32, sides: &mut Sides<'_, Self>) -> Result<(), ReadOnly> {
        self.idle_since_ns = self.now_ns;
        self.leave_turn(self.slots.is_flush(slot), sides)?;
        let parts = *self.slots.account(slot).parts();
        let completion = self.slots.complete(slot, self.now_ns);
        // The next enters its slot before the host can submit more.
        if let Some(next) = self.commands.leave_slot() {
            self.slots.account(next).spend(Part::Queueing, self.now_ns);
            self.take_turn(next, sides)?;
        }
        debug_assert!(Slots::is_accounted_for(&completion, &parts));
        sides.above.completed(completion, &parts, self, sides.below)
    }
}

impl Intake for Front {
    type Drives<'d> = dyn TimedDrive + 'd;

    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn next_ns(&self) -> u64 {
        self.event_queue.next_ns()
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.event_queue.next_event_ns().into_iter().chain(self.flash().next_event_ns()).min()
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
        self.submit_to(submission, &mut Sides { above: requester, below: drive })
    }

    #[inline]
    fn step(
        &mut self,
        until_ns: u64,
        events_max: u64,
        drive: &mut (dyn TimedDrive + '_),
        requester: &mut dyn Requester<Self>,
    ) -> Result<Stepped, ReadOnly> {
        self.step_within(until_ns, events_max, &mut Sides { above: requester, below: drive })
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
