//! Simulated time for requests that come from outside: each is given its decisions when it comes, and is complete when
//! the flash, or the write buffer, would have it.
//!
//! The rules are those of the engine's own host (`timing::host`), which draws its requests itself and so cannot be asked
//! here. A buffered write is complete when the buffer has room for it, others when the flash is done with them.

use serde::Serialize;
use ssdlab_engine::timing::flash::{Finished, Flash};
use ssdlab_engine::timing::histogram::Histogram;
use ssdlab_engine::timing::host::TimedDrive;
use ssdlab_engine::timing::recorder::Decision;
use std::collections::VecDeque;
use std::ops::Range;

/// The kinds of request whose latencies are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Kind {
    Read = 0,
    Write = 1,
    Trim = 2,
    Flush = 3,
}

pub const KINDS: usize = 4;

/// Stands for the buffer where a slot is named: no request waits for these units.
const BUFFERED: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Slot {
    kind: Kind,
    issued_ns: u64,
    units_left: u32,
    /// When it was complete, until it is collected.
    completed_ns: Option<u64>,
}

pub struct DriveClock {
    flash: Flash,
    command_ns: u64,
    buffer_units_max: u64,
    now_ns: u64,
    idle_since_ns: u64,
    slots: Vec<Slot>,
    spare_slots: Vec<u32>,
    outstanding: u32,
    /// Units of unbuffered requests that are still to be finished.
    units_outstanding: u64,
    /// Requests that wait for no flash, in the order of their completion.
    answered: VecDeque<(u64, u32)>,
    /// Units that the buffer has taken and given to flash since the start; a write waits until what it added fits.
    taken_units: u64,
    drained_units: u64,
    waiting: VecDeque<(u64, u32)>,
    /// Completed requests that nobody waits for are forgotten at once.
    keeps_completed: bool,
    latencies: [Histogram; KINDS],
    finished: Vec<Finished>,
}

impl DriveClock {
    /// A buffer of 0 units is none. `keeps_completed` for a pace at which someone asks for each completion.
    pub fn new(flash: Flash, command_ns: u64, buffer_units: u64, now_ns: u64, keeps_completed: bool) -> Self {
        Self {
            flash,
            command_ns,
            buffer_units_max: buffer_units,
            now_ns,
            idle_since_ns: now_ns,
            slots: Vec::new(),
            spare_slots: Vec::new(),
            outstanding: 0,
            units_outstanding: 0,
            answered: VecDeque::new(),
            taken_units: 0,
            drained_units: 0,
            waiting: VecDeque::new(),
            keeps_completed,
            latencies: std::array::from_fn(|_| Histogram::default()),
            finished: Vec::new(),
        }
    }

    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }

    pub fn utilization(&self, elapsed_ns: u64) -> f64 {
        self.flash.utilization(elapsed_ns)
    }

    pub fn latencies(&self) -> &[Histogram; KINDS] {
        &self.latencies
    }

    pub fn take_latencies(&mut self) -> [Histogram; KINDS] {
        std::mem::replace(&mut self.latencies, std::array::from_fn(|_| Histogram::default()))
    }

    /// Goes on with what another clock has counted.
    pub fn put_latencies(&mut self, latencies: [Histogram; KINDS]) {
        self.latencies = latencies;
    }

    /// A request comes now. Returns its slot.
    pub fn submit(&mut self, kind: Kind, decisions: &[Decision]) -> u32 {
        let slot = Slot { kind, issued_ns: self.now_ns, units_left: 0, completed_ns: None };
        let id = match self.spare_slots.pop() {
            Some(id) => {
                self.slots[id as usize] = slot;
                id
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        };
        self.outstanding += 1;
        if kind == Kind::Write && self.buffer_units_max > 0 {
            self.taken_units += u64::from(self.flash.carry_out(self.now_ns, decisions, BUFFERED));
            if self.fits(self.taken_units) {
                self.answered.push_back((self.now_ns + self.command_ns, id));
            } else {
                self.waiting.push_back((self.taken_units, id));
            }
            return id;
        }
        let units = self.flash.carry_out(self.now_ns, decisions, id);
        self.slots[id as usize].units_left = units;
        self.units_outstanding += u64::from(units);
        if units == 0 {
            self.answered.push_back((self.now_ns + self.command_ns, id));
        }
        id
    }

    /// For a translation layer whose decisions go by what the dies have queued.
    pub fn tell_load(&self, drive: &mut dyn TimedDrive) {
        if self.flash.is_asked_for_load() {
            drive.note_load(&self.flash, self.now_ns);
        }
    }

    /// What the controller still has in its memory is not read from flash.
    pub fn strike_reads(&mut self, drive: &mut dyn TimedDrive, decisions: &mut Vec<Decision>) {
        if self.flash.has_any_in_memory() {
            drive.strike_reads(decisions, &mut self.flash);
        }
    }

    /// Work that no request waits for.
    pub fn carry_out(&mut self, decisions: &[Decision]) {
        self.flash.carry_out(self.now_ns, decisions, BUFFERED);
    }

    /// A write that alone is larger than the buffer is taken when the buffer is empty of all else.
    fn fits(&self, taken_units: u64) -> bool {
        taken_units <= self.drained_units + self.buffer_units_max
    }

    pub fn next_event_ns(&self) -> Option<u64> {
        let answered = self.answered.front().map(|&(at_ns, _)| at_ns);
        answered.into_iter().chain(self.flash.next_event_ns()).min()
    }

    /// Lets the next event happen; false when there is none.
    pub fn step(&mut self) -> bool {
        let answered_ns = self.answered.front().map_or(u64::MAX, |&(at_ns, _)| at_ns);
        if self.flash.run(answered_ns, 1) > 0 {
            self.now_ns = self.now_ns.max(self.flash.now_ns());
            if !self.flash.finished().is_empty() {
                self.note_finished();
            }
            return true;
        }
        let Some((at_ns, slot)) = self.answered.pop_front() else { return false };
        self.now_ns = self.now_ns.max(at_ns);
        self.complete(slot);
        true
    }

    /// All that has been decided on happens, to the last operation of the flash.
    pub fn come_to_rest(&mut self) {
        while self.step() {}
        self.now_ns = self.now_ns.max(self.flash.rests_at_ns());
    }

    /// All that happens up to a moment. Returns whether nothing is left to happen then; the clock stands where it came to
    /// rest.
    pub fn rests_before(&mut self, moment_ns: u64) -> bool {
        while self.next_event_ns().is_some_and(|next_ns| next_ns <= moment_ns) {
            self.step();
        }
        self.outstanding == 0 && self.next_event_ns().is_none() && self.flash.rests_at_ns() <= moment_ns
    }

    /// When the last request was complete.
    pub fn idle_since_ns(&self) -> u64 {
        self.idle_since_ns
    }

    /// All that happens up to a moment, and then that moment.
    pub fn advance_to(&mut self, moment_ns: u64) {
        while self.next_event_ns().is_some_and(|next_ns| next_ns <= moment_ns) {
            self.step();
        }
        self.now_ns = self.now_ns.max(moment_ns);
    }

    /// The places of the groups that hold back what requests wait for, if all that is outstanding waits in them.
    pub fn stuck_groups(&self) -> Vec<Range<u32>> {
        if self.outstanding > 0 && self.next_event_ns().is_none() {
            self.flash.groups().waited_for()
        } else {
            Vec::new()
        }
    }

    /// How long the request took, if it is complete; its slot is free from then on. A request of before a loss of power
    /// is over.
    pub fn collect(&mut self, slot: u32) -> Option<u64> {
        let Some(&Slot { issued_ns, completed_ns, .. }) = self.slots.get(slot as usize) else { return Some(0) };
        let latency_ns = completed_ns? - issued_ns;
        self.spare_slots.push(slot);
        Some(latency_ns)
    }

    fn note_finished(&mut self) {
        let mut finished = std::mem::take(&mut self.finished);
        std::mem::swap(&mut finished, self.flash.finished());
        for part in finished.drain(..) {
            let (slot, units) = match part {
                Finished::Written { slot: BUFFERED } => {
                    self.drained_units += 1;
                    continue;
                }
                Finished::Read { slot, units } => (slot, units),
                Finished::Written { slot } => (slot, 1),
            };
            self.units_outstanding -= u64::from(units);
            let left = &mut self.slots[slot as usize].units_left;
            *left -= units;
            if *left == 0 {
                self.complete(slot);
            }
        }
        self.finished = finished;
        while let Some(&(taken_units, slot)) = self.waiting.front()
            && (self.fits(taken_units) || self.drained_units == self.taken_units)
        {
            self.waiting.pop_front();
            self.answered.push_back((self.now_ns + self.command_ns, slot));
        }
    }

    fn complete(&mut self, slot: u32) {
        let Slot { kind, issued_ns, .. } = self.slots[slot as usize];
        self.latencies[kind as usize].add(self.now_ns - issued_ns);
        self.outstanding -= 1;
        self.idle_since_ns = self.now_ns;
        if self.keeps_completed {
            self.slots[slot as usize].completed_ns = Some(self.now_ns);
        } else {
            self.spare_slots.push(slot);
        }
    }
}
