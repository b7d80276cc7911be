//! Several devices behind one front, with one clock.
//!
//! Requests are split into parts (`crate::chunks`). Each device has a complete front, with its link, its buffer and its
//! flash. A request completes with the last of its parts, whose breakdown is the request's.
//!
//! Events of all devices occur in the order of their times; of simultaneous ones the host's side comes before the
//! flash, and the first device before the second. A device knows only its own requests: without a write buffer it pads
//! its partly filled program groups when all of its requests wait for them, whatever the other devices do.

use super::read_counts::ReadCounts;
use super::slots::Slots;
use super::{Completion, Front, Intake, Requester, Sides, Stepped, Submission, TimedDrive};
use crate::chunks::Chunks;
use crate::error::ReadOnly;
use crate::ledger::Ledger;
use crate::request::Request;
use crate::timing::breakdown::Parts;
use crate::timing::decision::Decision;
use std::collections::VecDeque;

/// The translation layers of the devices.
pub trait Devices {
    /// The translation layer of a device.
    fn device(&self, index: usize) -> &dyn TimedDrive;
    /// The translation layer of a device, to be changed.
    fn device_mut(&mut self, index: usize) -> &mut dyn TimedDrive;
}

/// The front of a striped drive.
pub struct StripedFront {
    devices: Vec<Front>,
    chunks: Chunks,
    /// A slot waits for the parts of its request.
    slots: Slots,
    /// Slots whose requests are to be split, in order.
    to_deal: VecDeque<u32>,
    /// Slots with a completed part, and its breakdown.
    completed: VecDeque<(u32, Parts)>,
    ledgers: Ledgers,
    /// See `Front`.
    is_cut_short: bool,
    now_ns: u64,
}

/// The sum of all devices' counters, and each device's at its last update.
struct Ledgers {
    whole: Ledger,
    of_device: Vec<Ledger>,
}

impl Ledgers {
    fn note(&mut self, device: usize, ledger: &Ledger) {
        self.whole += *ledger - self.of_device[device];
        self.of_device[device] = *ledger;
    }
}

/// The order of simultaneous events, the same as in the front of a single drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// A program has begun, of which the front has not yet been told.
    Begun,
    EventQueue,
    /// A submission by the caller.
    Requester,
    Flash,
}

impl Front {
    /// The time and rank of its next event.
    #[inline]
    fn next_of_device(&self) -> (u64, Rank) {
        if self.flash().has_begun() {
            return (self.now_ns, Rank::Begun);
        }
        let event_queue_ns = self.event_queue.next_ns();
        match self.flash().next_event_ns() {
            Some(flash_ns) if flash_ns < event_queue_ns => (flash_ns, Rank::Flash),
            _ => (event_queue_ns, Rank::EventQueue),
        }
    }
}

impl StripedFront {
    /// A front above those of the devices.
    pub fn new(devices: Vec<Front>, chunks: Chunks) -> Self {
        let ledgers = Ledgers { whole: Ledger::default(), of_device: vec![Ledger::default(); devices.len()] };
        Self {
            devices,
            chunks,
            slots: Slots::default(),
            to_deal: VecDeque::new(),
            completed: VecDeque::new(),
            ledgers,
            is_cut_short: false,
            now_ns: 0,
        }
    }

    /// Starts at a given time, as after a loss of power.
    pub fn since(self, now_ns: u64) -> Self {
        let devices = self.devices.into_iter().map(|device| device.since(now_ns)).collect();
        Self { devices, now_ns, ..self }
    }

    /// The tag under which the devices receive their parts of the next request.
    pub fn next_tag_of_parts(&self) -> u32 {
        self.slots.next()
    }

    /// Performs operations that a device decided on by itself, for which no request waits.
    pub fn carry_out(&mut self, device: usize, decisions: &[Decision]) {
        self.devices[device].come_to(self.now_ns);
        self.devices[device].carry_out(decisions);
    }

    /// The mean share of `elapsed_ns` in which the dies were busy; all devices have the same number of dies.
    pub fn utilization(&self, elapsed_ns: u64) -> f64 {
        let sum: f64 = self.devices.iter().map(|device| device.flash().utilization(elapsed_ns)).sum();
        sum / self.devices.len() as f64
    }

    /// See `Front::units_in_memory`.
    pub fn units_in_memory(&self) -> u64 {
        self.devices.iter().map(Front::units_in_memory).sum()
    }

    /// See `Front::read_counts`.
    pub fn read_counts(&self) -> Option<ReadCounts> {
        self.devices.iter().map(Front::read_counts).reduce(sum)?
    }

    /// See `Front::take_read_counts`.
    pub fn take_read_counts(&mut self) -> Option<ReadCounts> {
        self.devices.iter_mut().map(Front::take_read_counts).reduce(sum)?
    }

    fn free_what_is_stuck(
        &mut self,
        drives: &mut dyn Devices,
        requester: &mut dyn Requester<Self>,
    ) -> Result<(), ReadOnly> {
        let Self { devices, slots, completed, ledgers, .. } = self;
        for (index, device) in devices.iter_mut().enumerate() {
            let drive = drives.device_mut(index);
            let mut above = Above { index, slots, ledgers, completed, requester };
            if device.free_if_stuck(self.now_ns, &mut Sides { above: &mut above, below: drive })? {
                ledgers.note(index, drive.ledger());
            }
        }
        Ok(())
    }

    /// Processes the earliest event of all, and those of its device's flash that precede any other.
    fn take_events(
        &mut self,
        until_ns: u64,
        events_max: u64,
        drives: &mut dyn Devices,
        requester: &mut dyn Requester<Self>,
    ) -> Result<Stepped, ReadOnly> {
        let next = self.devices.iter().map(Front::next_of_device).enumerate();
        let (index, (at_ns, rank)) = next.min_by_key(|&(_, next)| next).expect("a stripe has devices");
        if (until_ns, Rank::Requester) < (at_ns, rank) || at_ns == u64::MAX {
            self.is_cut_short = false;
            return Ok(Stepped::ToTheEnd(0));
        }
        debug_assert!(at_ns >= self.now_ns, "device {index} is behind: at {at_ns} ns of {}", self.now_ns);
        let others = self.devices.iter().enumerate().filter(|&(other, _)| other != index);
        let others_ns = others.map(|(_, other)| other.next_of_device().0).min().unwrap_or(u64::MAX);
        let Self { devices, slots, completed, ledgers, .. } = self;
        let (device, drive) = (&mut devices[index], drives.device_mut(index));
        let mut above = Above { index, slots, ledgers, completed, requester };
        let taken = if rank == Rank::EventQueue {
            device.take_event(&mut Sides { above: &mut above, below: drive }).map(|()| (1, true))
        } else {
            // An event at the time of the earliest precedes the others of that time.
            let until_ns = others_ns.min(until_ns).max(at_ns + 1);
            device.run_flash(until_ns, events_max, &mut Sides { above: &mut above, below: drive })
        };
        // Also of an event that ends the run.
        self.now_ns = self.now_ns.max(device.now_ns);
        let (events, concerns_host) = taken?;
        self.is_cut_short = !concerns_host && events == events_max;
        Ok(Stepped::Events(events))
    }

    fn deal(
        &mut self,
        slot: u32,
        drives: &mut dyn Devices,
        requester: &mut dyn Requester<Self>,
    ) -> Result<(), ReadOnly> {
        let submission = self.slots.submission(slot);
        // A part may complete before the next is submitted.
        let parts = (0..self.devices.len()).filter(|&index| self.chunks.part(&submission.request, index).is_some());
        self.slots.wait_for(slot, parts.count() as u32);
        let Self { devices, chunks, slots, completed, ledgers, .. } = self;
        for (index, device) in devices.iter_mut().enumerate() {
            if let Some(request) = chunks.part(&submission.request, index) {
                let mut above = Above { index, slots, ledgers, completed, requester };
                device.come_to(self.now_ns);
                let part = Submission { request, tag: slot, ..submission };
                device.submit(part, drives.device_mut(index), &mut above)?;
            }
        }
        Ok(())
    }
}

impl Intake for StripedFront {
    type Drives<'d> = dyn Devices + 'd;

    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn next_ns(&self) -> u64 {
        u64::MAX
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.devices.iter().filter_map(Front::next_event_ns).min()
    }

    fn outstanding(&self) -> u32 {
        self.slots.outstanding()
    }

    fn come_to(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns);
    }

    /// It is split when the front settles.
    fn submit(
        &mut self,
        submission: Submission,
        _drives: &mut (dyn Devices + '_),
        _requester: &mut dyn Requester<Self>,
    ) -> Result<(), ReadOnly> {
        self.is_cut_short = false;
        let slot = self.slots.take(submission);
        self.to_deal.push_back(slot);
        Ok(())
    }

    /// Completes requests whose last parts have completed, and splits submitted ones, until neither is left.
    fn settle(&mut self, drives: &mut (dyn Devices + '_), requester: &mut dyn Requester<Self>) -> Result<(), ReadOnly> {
        loop {
            while let Some(slot) = self.to_deal.pop_front() {
                self.deal(slot, drives, requester)?;
            }
            let Some((slot, parts)) = self.completed.pop_front() else { return Ok(()) };
            if self.slots.units_arrived(slot, 1) {
                let completion = self.slots.complete(slot, self.now_ns);
                requester.completed(completion, &parts, self, drives)?;
            }
        }
    }

    fn step(
        &mut self,
        until_ns: u64,
        events_max: u64,
        drives: &mut (dyn Devices + '_),
        requester: &mut dyn Requester<Self>,
    ) -> Result<Stepped, ReadOnly> {
        if !self.is_cut_short {
            self.free_what_is_stuck(drives, requester)?;
        }
        let stepped = self.take_events(until_ns, events_max, drives, requester)?;
        self.settle(drives, requester)?;
        Ok(stepped)
    }

    fn prefetch(&self, request: &Request, drives: &(dyn Devices + '_)) {
        self.each_part(request, drives, |drive, part| drive.prefetch(part));
    }

    fn prefetch_old(&self, request: &Request, drives: &(dyn Devices + '_)) {
        self.each_part(request, drives, |drive, part| drive.prefetch_old(part));
    }

    fn ledger<'a>(&'a self, _drives: &'a (dyn Devices + '_)) -> &'a Ledger {
        &self.ledgers.whole
    }

    fn begin_stage(&mut self, drives: &(dyn Devices + '_)) {
        for index in 0..self.devices.len() {
            self.ledgers.note(index, drives.device(index).ledger());
        }
    }
}

impl StripedFront {
    fn each_part(&self, request: &Request, drives: &dyn Devices, act: impl Fn(&dyn TimedDrive, &Request)) {
        for index in 0..self.devices.len() {
            if let Some(part) = self.chunks.part(request, index) {
                act(drives.device(index), &part);
            }
        }
    }
}

/// The submitter of parts to the front of a device. A part's tag is the slot of its request.
struct Above<'a> {
    index: usize,
    slots: &'a Slots,
    ledgers: &'a mut Ledgers,
    completed: &'a mut VecDeque<(u32, Parts)>,
    requester: &'a mut dyn Requester<StripedFront>,
}

impl Requester<Front> for Above<'_> {
    fn executed(&mut self, slot: u32, now_ns: u64, ledger: &Ledger) {
        self.ledgers.note(self.index, ledger);
        self.requester.executed(self.slots.submission(slot).tag, now_ns, &self.ledgers.whole);
    }

    fn completed(
        &mut self,
        completion: Completion,
        parts: &Parts,
        _front: &mut Front,
        _drive: &mut (dyn TimedDrive + '_),
    ) -> Result<(), ReadOnly> {
        self.completed.push_back((completion.tag, *parts));
        Ok(())
    }
}

fn sum(one: Option<ReadCounts>, other: Option<ReadCounts>) -> Option<ReadCounts> {
    let (one, other) = (one?, other?);
    Some(ReadCounts {
        segments: one.segments + other.segments,
        pages: one.pages + other.pages,
        dies: one.dies + other.dies,
        busiest_die_pages: one.busiest_die_pages + other.busiest_die_pages,
        map_pages: one.map_pages + other.map_pages,
    })
}
