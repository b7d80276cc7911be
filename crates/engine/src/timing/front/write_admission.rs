//! Which of the waiting writes enters the buffer, and when: as soon as there is room, or later on a drive whose buffer
//! closes (`buffer`), that slows the host down during garbage collection (`throttle`), or that admits evenly what finds
//! the buffer full (`pacer`). Each names the time of the next admission that room alone does not decide.

use super::buffer::Buffer;
use super::event_queue::Step;
use super::pacer::Pacer;
use super::parts::{PartedWrites, WritePart};
use super::slots::Slots;
use super::throttle::Throttle;
use crate::specification::drive::WriteBuffer;
use std::collections::VecDeque;

/// What admission depends on beside the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub now_ns: u64,
    /// Units that have given back their room in the buffer and are still counted: those being programmed.
    pub freed_units: u64,
    /// Whether garbage collection has operations pending; always false where nobody asks.
    pub has_backlog: bool,
}

/// What becomes of a write that has arrived.
pub(super) enum Arrival {
    /// It is admitted whole.
    Enters(WritePart),
    /// It is the first to wait, and some of it may be admitted now.
    InParts,
    Waits,
}

pub(super) struct WriteAdmission {
    pub buffer: Buffer,
    /// Slots of writes that wait for room, in order.
    waiting: VecDeque<u32>,
    parts: PartedWrites,
    throttle: Option<Throttle>,
    pacer: Option<Pacer>,
    /// Whether writes have waited for room since none last waited.
    is_full: bool,
}

impl WriteAdmission {
    pub fn new(said: &WriteBuffer, unit_bytes: u64) -> Self {
        let units = said.bytes / unit_bytes;
        let buffer = Buffer::new(units, !said.power_loss_protection)
            .closing_at(said.close_bytes / unit_bytes)
            .resuming_at(said.resume_bytes / unit_bytes)
            .trickling(said.closed_per_second);
        let exists = buffer.exists();
        Self {
            parts: PartedWrites::new(unit_bytes, buffer.units_until_closed()),
            buffer,
            waiting: VecDeque::new(),
            throttle: Throttle::new(said.gc_admission_share).filter(|_| exists),
            pacer: (exists && said.paced).then(|| Pacer::new(units)),
            is_full: false,
        }
    }

    /// Whether it asks for garbage collection's backlog.
    pub fn asks_for_backlog(&self) -> bool {
        self.throttle.is_some()
    }

    pub fn are_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Units that have been admitted, for comparisons.
    pub fn admitted_units(&self) -> u64 {
        self.parts.admitted_units
    }

    #[inline]
    pub fn units_of(&self, part: &WritePart) -> u64 {
        self.parts.units_of(&part.request)
    }

    /// A write has arrived.
    pub fn arrived(&mut self, slot: u32, slots: &Slots, moment: Moment) -> Arrival {
        let request = slots.request(slot);
        let units = self.parts.units_of(&request);
        // First come, first served: a write does not overtake waiting ones.
        let is_first = !self.are_waiting();
        if let Some(throttle) = &mut self.throttle {
            throttle.arrived(moment.now_ns, units, !is_first);
        }
        let passes_whole = self.parts.passes_whole(units);
        if is_first && passes_whole && self.admits(units, moment) {
            return Arrival::Enters(WritePart::whole(request));
        }
        self.waiting.push_back(slot);
        if is_first && !passes_whole { Arrival::InParts } else { Arrival::Waits }
    }

    /// The first waiting write, and what is to be admitted next of it.
    pub fn next(&self, slots: &Slots) -> Option<(u32, WritePart)> {
        let &slot = self.waiting.front()?;
        Some((slot, self.parts.next(&slots.request(slot))))
    }

    /// The same if it is admitted now, and counted as admitted by what names times.
    pub fn next_admitted(&mut self, slots: &Slots, moment: Moment) -> Option<(u32, WritePart)> {
        let (slot, part) = self.next(slots)?;
        self.admits(self.units_of(&part), moment).then_some((slot, part))
    }

    /// A part of the first waiting write is admitted.
    pub fn admit(&mut self, part: &WritePart) {
        if part.is_last {
            self.waiting.pop_front();
        }
        self.parts.admitted(part);
    }

    /// Room is reserved for a part while it crosses the link.
    pub fn sent(&mut self, part: &WritePart) {
        self.buffer.reserve(self.units_of(part));
        self.parts.sent(part);
    }

    /// What has crossed the link of a write; its reserved room is given back.
    pub fn came(&mut self, slot: u32, slots: &Slots) -> WritePart {
        let part = self.parts.arrived(&slots.request(slot));
        self.buffer.give_back(self.units_of(&part));
        part
    }

    /// A part enters the buffer.
    pub fn entered(&mut self) {
        self.is_full &= self.are_waiting();
    }

    /// Units have left the buffer.
    pub fn freed(&mut self, now_ns: u64, units: u64) {
        if let Some(pacer) = &mut self.pacer
            && units > 0
        {
            pacer.freed(now_ns, units, self.is_full);
        }
    }

    /// Whether a write of this many units is admitted now.
    #[inline]
    fn admits(&mut self, units: u64, moment: Moment) -> bool {
        let Moment { now_ns, has_backlog, .. } = moment;
        // In place of the throttle, which shares out a rate of arrival that is not reached then.
        if self.is_full && self.pacer.is_some() {
            let admits = self.pacer.is_some_and(|pacer| pacer.admits(now_ns)) && self.has_room(units, moment);
            if let Some(pacer) = self.pacer.as_mut().filter(|_| admits) {
                pacer.admitted(now_ns, units, self.buffer.filled_share());
            }
            return admits;
        }
        let is_throttled = self.throttle.is_some_and(|throttle| !throttle.admits(now_ns, has_backlog));
        let admits = !is_throttled && self.has_room(units, moment);
        if let Some(throttle) = self.throttle.as_mut().filter(|_| admits) {
            throttle.admitted(now_ns, units, has_backlog);
        }
        admits
    }

    #[inline]
    fn has_room(&mut self, units: u64, moment: Moment) -> bool {
        let has_room = self.buffer.takes(units, moment.freed_units);
        self.is_full |= !has_room;
        has_room
    }

    /// Times of the next admission that were not yet reported, each with the event that it is.
    pub fn wake_ups(&mut self, slots: &Slots, moment: Moment) -> impl Iterator<Item = (u64, Step)> + use<> {
        let Moment { now_ns, freed_units, .. } = moment;
        let mut found = [None; 3];
        if let Some((_, part)) = self.next(slots) {
            let units = self.units_of(&part);
            let pacer = self.pacer.as_mut().filter(|_| self.is_full);
            found = [
                self.buffer.next_trickle_ns(now_ns, units, freed_units).map(|at_ns| (at_ns, Step::Trickled)),
                pacer.and_then(|pacer| pacer.next.report(now_ns)).map(|at_ns| (at_ns, Step::Paced)),
                self.throttle
                    .as_mut()
                    .and_then(|throttle| throttle.next.report(now_ns))
                    .map(|at_ns| (at_ns, Step::Throttled)),
            ];
        }
        found.into_iter().flatten()
    }

    /// The pacer's time has come.
    pub fn paced(&mut self) {
        self.pacer.as_mut().expect("it admits a write").next.has_come();
    }

    /// The throttle's time has come.
    pub fn throttled(&mut self) {
        self.throttle.as_mut().expect("it admits a write").next.has_come();
    }

    /// The closed buffer's time has come. Returns what it admits of the first waiting write.
    pub fn trickled(&mut self, slots: &Slots, moment: Moment) -> Option<(u32, WritePart)> {
        let first = self.next(slots);
        let units = first.as_ref().map_or(0, |(_, part)| self.units_of(part));
        let admits = self.buffer.trickle(units, moment.freed_units);
        first.filter(|_| admits)
    }

    /// Without the pacer's pause. Returns whether its event is to be cancelled.
    pub fn hurry(&mut self, now_ns: u64) -> bool {
        self.pacer.as_mut().map(|pacer| pacer.next.hurry(now_ns)).is_some()
    }

    /// Whether the first waiting write will be admitted at a known time.
    pub fn knows_next(&self, slots: &Slots, moment: Moment) -> bool {
        let Some((_, part)) = self.next(slots) else { return false };
        let is_throttled = self.throttle.is_some_and(|throttle| throttle.next.is_due());
        is_throttled || self.buffer.will_trickle(self.units_of(&part), moment.freed_units)
    }
}
