//! The host in time: slots of a queue, each of which issues its next request as soon as its last one is complete.
//!
//! With a write buffer a write is complete when the buffer has taken it, and waits while the buffer is full. Without one
//! it is complete when it is in flash; and since such a drive cannot wait for more when all of the host's requests are
//! waiting for it, a half-filled program group is then filled up with padding. The link to the host takes no time.

use super::flash::{Finished, Flash};
use super::recorder::Decision;
use crate::error::ReadOnly;
use crate::ftl::numbers::Ppn;
use crate::ledger::Ledger;
use crate::request::{Operation, Request};
use std::collections::VecDeque;

/// A translation layer that writes down what it decides.
pub trait TimedDrive {
    /// Brings near what `execute_one` will look at first, and, once that is near, what it points at.
    fn prefetch(&self, request: &Request);
    fn prefetch_old(&self, request: &Request);
    fn execute_one(&mut self, request: &Request) -> Result<(), ReadOnly>;
    /// Fills the program groups that begin at the given places up with padding.
    fn pad(&mut self, groups: &[Ppn], group_units: u32) -> Result<(), ReadOnly>;
    fn ledger(&self) -> &Ledger;
    /// Exchanges the decisions since the last call for an empty list.
    fn take_decisions(&mut self, into: &mut Vec<Decision>);
}

/// Who asks for requests, and hears of their end.
pub trait Client {
    /// Appends at most `count_max` of a job's next requests; none when the job has no more. They are drawn ahead of their
    /// time and may never be issued.
    fn draw(&mut self, job: u32, out: &mut Vec<Request>, count_max: usize);
    /// Whether the job's time is up, so that it issues nothing more.
    fn is_over(&self, job: u32, now_ns: u64) -> bool;
    /// The drive has carried out a request of the job, in its books; its end in time comes later.
    fn executed(&mut self, _job: u32, _ledger: &Ledger) {}
    fn completed(&mut self, completion: Completion);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    pub job: u32,
    pub operation: Operation,
    pub length_bytes: u32,
    pub issued_ns: u64,
    pub completed_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    completion: Completion,
    units_left: u32,
}

/// Stands for the buffer where a slot is named: no request waits for these units.
const BUFFERED: u32 = u32::MAX;

/// Requests drawn at a time, and how far ahead of its issue the old copy behind a request is prefetched.
const DRAWN_AT_ONCE: usize = 64;
const AHEAD: usize = 12;

#[derive(Clone, Debug, Default)]
struct Upcoming {
    requests: Vec<Request>,
    next: usize,
}

/// The drive's memory for writes that are not yet in flash.
#[derive(Clone, Debug)]
struct Buffer {
    units_max: u64,
    units: u64,
    /// Writes that found it full, in order.
    waiting: VecDeque<(u32, Request)>,
}

impl Buffer {
    /// A write larger than the whole buffer is taken when the buffer is empty.
    fn has_room(&self, units: u64) -> bool {
        self.units + units <= self.units_max || self.units == 0
    }
}

pub struct Host {
    flash: Flash,
    /// By job: requests that are drawn and not yet issued.
    upcoming: Vec<Upcoming>,
    slots: Vec<Slot>,
    /// Units of requests in flight that are still to be finished.
    units_outstanding: u64,
    outstanding: u32,
    /// What a request costs that waits for no flash: a buffered write, a trim, a read of what was never written.
    command_ns: u64,
    /// Such requests, in the order of their completion.
    answered: VecDeque<(u64, u32)>,
    buffer: Buffer,
    decisions: Vec<Decision>,
    finished: Vec<Finished>,
    now_ns: u64,
}

impl Host {
    /// A buffer of 0 units is none.
    pub fn new(flash: Flash, command_ns: u64, buffer_units: u32) -> Self {
        Self {
            flash,
            upcoming: Vec::new(),
            slots: Vec::new(),
            units_outstanding: 0,
            outstanding: 0,
            command_ns,
            answered: VecDeque::new(),
            buffer: Buffer { units_max: u64::from(buffer_units), units: 0, waiting: VecDeque::new() },
            decisions: Vec::new(),
            finished: Vec::new(),
            now_ns: 0,
        }
    }

    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    pub fn flash(&self) -> &Flash {
        &self.flash
    }

    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Lets `depth` slots of a job issue their first requests.
    pub fn start(
        &mut self,
        job: u32,
        depth: u32,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        if self.upcoming.len() <= job as usize {
            self.upcoming.resize_with(job as usize + 1, Upcoming::default);
        }
        for _ in 0..depth {
            let completion =
                Completion { job, operation: Operation::Read, length_bytes: 0, issued_ns: 0, completed_ns: 0 };
            self.slots.push(Slot { completion, units_left: 0 });
            self.issue(self.slots.len() as u32 - 1, drive, client)?;
        }
        Ok(())
    }

    /// Forgets the slots of a stage whose requests are all complete.
    pub fn end_stage(&mut self) {
        assert_eq!(self.outstanding, 0, "a stage ends when nothing is outstanding");
        self.slots.clear();
        self.upcoming.clear();
    }

    /// Carries out about `events` events. Returns false when nothing is outstanding any more.
    pub fn advance(
        &mut self,
        events: u64,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<bool, ReadOnly> {
        for _ in 0..events {
            if self.outstanding == 0 {
                return Ok(false);
            }
            if self.all_waits_for_more_writes() {
                drive.pad(&self.flash.groups().waited_for(), self.flash.groups().units())?;
                drive.take_decisions(&mut self.decisions);
                self.flash.carry_out(self.now_ns, &self.decisions, BUFFERED);
            }
            let flash_ns = self.flash.next_event_ns().unwrap_or(u64::MAX);
            if let Some(&(at_ns, slot)) = self.answered.front().filter(|&&(at_ns, _)| at_ns <= flash_ns) {
                self.answered.pop_front();
                self.now_ns = at_ns;
                self.complete(slot, drive, client)?;
                continue;
            }
            let stepped = self.flash.step();
            self.now_ns = stepped.expect("what is outstanding has an event, or waits in an open group");
            if !self.flash.finished().is_empty() {
                self.note_finished(drive, client)?;
            }
        }
        Ok(self.outstanding > 0)
    }

    /// Whether nothing of what the host waits for can come about unless it writes more.
    fn all_waits_for_more_writes(&self) -> bool {
        let in_open_groups = self.flash.groups().units_waiting();
        let buffer_is_stuck = !self.buffer.waiting.is_empty() && self.buffer.units == in_open_groups;
        let slots_are_stuck = self.units_outstanding > 0 && self.units_outstanding == in_open_groups;
        self.answered.is_empty() && (buffer_is_stuck || (self.buffer.units_max == 0 && slots_are_stuck))
    }

    fn note_finished(&mut self, drive: &mut dyn TimedDrive, client: &mut dyn Client) -> Result<(), ReadOnly> {
        let mut finished = std::mem::take(&mut self.finished);
        std::mem::swap(&mut finished, self.flash.finished());
        for part in finished.drain(..) {
            let (slot, units) = match part {
                Finished::Written { slot: BUFFERED } => {
                    self.buffer.units -= 1;
                    continue;
                }
                Finished::Read { slot, units } => (slot, units),
                Finished::Written { slot } => (slot, 1),
            };
            self.units_outstanding -= u64::from(units);
            self.slots[slot as usize].units_left -= units;
            if self.slots[slot as usize].units_left == 0 {
                self.complete(slot, drive, client)?;
            }
        }
        self.finished = finished;
        while let Some(&(slot, request)) = self.buffer.waiting.front()
            && self.buffer.has_room(self.units_of(&request))
        {
            self.buffer.waiting.pop_front();
            self.take_into_buffer(slot, &request, drive, client)?;
        }
        Ok(())
    }

    /// An upper bound: a unit that is written in part counts whole.
    fn units_of(&self, request: &Request) -> u64 {
        let unit_bytes = self.flash.mapping_unit_bytes();
        (request.offset_bytes + u64::from(request.length_bytes)).div_ceil(unit_bytes)
            - request.offset_bytes / unit_bytes
    }

    fn take_into_buffer(
        &mut self,
        slot: u32,
        request: &Request,
        drive: &mut dyn TimedDrive,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        drive.execute_one(request)?;
        client.executed(self.slots[slot as usize].completion.job, drive.ledger());
        drive.take_decisions(&mut self.decisions);
        self.buffer.units += u64::from(self.flash.carry_out(self.now_ns, &self.decisions, BUFFERED));
        self.answered.push_back((self.now_ns + self.command_ns, slot));
        Ok(())
    }

    fn complete(&mut self, slot: u32, drive: &mut dyn TimedDrive, client: &mut dyn Client) -> Result<(), ReadOnly> {
        self.outstanding -= 1;
        let completed_ns = self.now_ns;
        client.completed(Completion { completed_ns, ..self.slots[slot as usize].completion });
        self.issue(slot, drive, client)
    }

    fn issue(&mut self, slot: u32, drive: &mut dyn TimedDrive, client: &mut dyn Client) -> Result<(), ReadOnly> {
        let job = self.slots[slot as usize].completion.job;
        if client.is_over(job, self.now_ns) {
            return Ok(());
        }
        let Some(request) = self.next_request(job, drive, client) else { return Ok(()) };
        let completion = Completion {
            job,
            operation: request.operation,
            length_bytes: request.length_bytes,
            issued_ns: self.now_ns,
            completed_ns: 0,
        };
        self.slots[slot as usize] = Slot { completion, units_left: 0 };
        self.outstanding += 1;
        if self.buffer.units_max > 0 && request.operation == Operation::Write {
            // First come, first served: nobody passes those who wait.
            if self.buffer.waiting.is_empty() && self.buffer.has_room(self.units_of(&request)) {
                return self.take_into_buffer(slot, &request, drive, client);
            }
            self.buffer.waiting.push_back((slot, request));
            return Ok(());
        }
        drive.execute_one(&request)?;
        client.executed(job, drive.ledger());
        drive.take_decisions(&mut self.decisions);
        let units = self.flash.carry_out(self.now_ns, &self.decisions, slot);
        self.slots[slot as usize].units_left = units;
        self.units_outstanding += u64::from(units);
        if units == 0 {
            self.answered.push_back((self.now_ns + self.command_ns, slot));
        }
        Ok(())
    }

    #[inline]
    fn next_request(&mut self, job: u32, drive: &dyn TimedDrive, client: &mut dyn Client) -> Option<Request> {
        let upcoming = &mut self.upcoming[job as usize];
        if upcoming.next == upcoming.requests.len() {
            upcoming.requests.clear();
            upcoming.next = 0;
            client.draw(job, &mut upcoming.requests, DRAWN_AT_ONCE);
            upcoming.requests.iter().for_each(|request| drive.prefetch(request));
        }
        if let Some(ahead) = upcoming.requests.get(upcoming.next + AHEAD) {
            drive.prefetch_old(ahead);
        }
        let request = upcoming.requests.get(upcoming.next).copied();
        upcoming.next += usize::from(request.is_some());
        request
    }
}
