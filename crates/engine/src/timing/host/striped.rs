//! Several devices behind one host, under one clock.
//!
//! The host in front has the queue, and neither buffer nor flash: it issues, and its requests are dealt out in parts
//! (`crate::chunks`). Each device is a whole host's side of its own (`device`), with its link, its buffer and its flash. A
//! request is complete when the last of its parts is, whose time is then the request's.
//!
//! Events of all devices happen in the order of their times; of those at one time the host's side comes before the flash,
//! and the first device before the second. A device knows of its own requests only: without a write buffer it fills its
//! half-filled program groups up when all that it was asked for waits for them, whatever the others are at.

use super::device::Rank;
use super::gate::Gate;
use super::way::AnyWay;
use super::{Client, Completion, Host, Plan, TimedDrive};
use crate::chunks::Chunks;
use crate::error::ReadOnly;
use crate::ledger::Ledger;
use crate::request::Request;
use crate::timing::breakdown::Parts;
use crate::timing::read_counts::ReadCounts;
use crate::timing::recorder::Decision;
use std::collections::VecDeque;
use std::ops::Range;

/// The translation layers of the devices.
pub trait Devices {
    fn device(&self, index: usize) -> &dyn TimedDrive;
    fn device_mut(&mut self, index: usize) -> &mut dyn TimedDrive;
}

pub struct StripedHost {
    front: Host,
    devices: Vec<Host>,
    chunks: Chunks,
    /// By slot, parts of its request that are not complete.
    parts_left: Vec<u32>,
    books: Books,
    /// Slots whose parts are complete, with the device.
    completed: VecDeque<(u32, usize)>,
}

/// What all devices have counted, and each when it was last looked at.
struct Books {
    whole: Ledger,
    of_device: Vec<Ledger>,
}

impl Books {
    fn note(&mut self, device: usize, ledger: &Ledger) {
        self.whole += *ledger - self.of_device[device];
        self.of_device[device] = *ledger;
    }
}

impl StripedHost {
    /// `front` is a host with the flash of one device, which does nothing.
    pub fn new(front: Host, devices: Vec<Host>, chunks: Chunks) -> Self {
        let books = Books { whole: Ledger::default(), of_device: vec![Ledger::default(); devices.len()] };
        let front = Host { gate: Gate::Devices(VecDeque::new()), ..front };
        Self { front, devices, chunks, parts_left: Vec::new(), books, completed: VecDeque::new() }
    }

    pub fn now_ns(&self) -> u64 {
        self.front.now_ns
    }

    /// The host that issues.
    pub fn front(&self) -> &Host {
        &self.front
    }

    pub fn front_mut(&mut self) -> &mut Host {
        &mut self.front
    }

    /// The share of `elapsed_ns` in which the dies were at work, on average; all devices have as many.
    pub fn utilization(&self, elapsed_ns: u64) -> f64 {
        let sum: f64 = self.devices.iter().map(|device| device.flash.utilization(elapsed_ns)).sum();
        sum / self.devices.len() as f64
    }

    pub fn units_in_memory(&self) -> u64 {
        self.devices.iter().map(Host::units_in_memory).sum()
    }

    pub fn read_counts(&self) -> Option<ReadCounts> {
        self.devices.iter().map(Host::read_counts).reduce(sum)?
    }

    pub fn take_read_counts(&mut self) -> Option<ReadCounts> {
        self.devices.iter_mut().map(Host::take_read_counts).reduce(sum)?
    }

    /// As `Host::start_all`, `Host::advance` and `Host::end_stage`.
    pub fn start_all(
        &mut self,
        first: u32,
        plans: Vec<Plan>,
        drives: &mut dyn Devices,
        client: &mut dyn Client,
    ) -> Result<(), ReadOnly> {
        for index in 0..self.devices.len() {
            self.books.note(index, drives.device(index).ledger());
        }
        let mut below = Below { drives, chunks: self.chunks, ledger: self.books.whole, devices: self.devices.len() };
        self.front.start_all(first, plans, &mut below, client)?;
        self.parts_left.resize(self.front.slots.len(), 0);
        self.devices.iter_mut().for_each(|device| device.take_slots_of(&self.front));
        self.settle(drives, client)
    }

    pub fn end_stage(&mut self) {
        self.front.end_stage();
        self.devices.iter_mut().for_each(Host::end_stage);
        self.parts_left.clear();
    }

    pub fn advance(
        &mut self,
        events: u64,
        drives: &mut dyn Devices,
        client: &mut dyn Client,
    ) -> Result<bool, ReadOnly> {
        let mut left = events;
        while left > 0 {
            if self.front.outstanding == 0 && self.front.agenda.next_ns() == u64::MAX {
                return Ok(false);
            }
            for (index, device) in self.devices.iter_mut().enumerate() {
                let drive = drives.device_mut(index);
                if device.pad_if_stuck(self.front.now_ns, drive)? {
                    self.books.note(index, drive.ledger());
                }
            }
            left -= self.take_events(left, drives, client)?;
            self.settle(drives, client)?;
        }
        Ok(self.front.outstanding > 0 || self.front.agenda.next_ns() < u64::MAX)
    }

    /// Carries out the earliest event of all, and those of its device's flash that nothing else comes before. Returns how
    /// many it was.
    fn take_events(
        &mut self,
        events_max: u64,
        drives: &mut dyn Devices,
        client: &mut dyn Client,
    ) -> Result<u64, ReadOnly> {
        let Self { front, devices, books, completed, .. } = self;
        let waking_ns = front.agenda.next_ns();
        let next = devices.iter().map(Host::next_of_device).enumerate();
        let (index, (at_ns, rank)) = next.min_by_key(|&(_, next)| next).expect("a stripe has devices");
        if (waking_ns, Rank::Waking) < (at_ns, rank) {
            let ledger = books.whole;
            let mut below = Below { drives, chunks: self.chunks, ledger, devices: devices.len() };
            front.take_event::<AnyWay>(&mut below, client)?;
            return Ok(1);
        }
        let others = devices.iter().enumerate().filter(|&(other, _)| other != index);
        let others_ns = others.map(|(_, other)| other.next_of_device().0).min().unwrap_or(u64::MAX);
        let drive = drives.device_mut(index);
        let mut above = Above { index, slots: &front.slots, books, completed, client };
        let events = if rank == Rank::Agenda {
            devices[index].take_event::<AnyWay>(drive, &mut above)?;
            1
        } else {
            // What happens at the time of the earliest comes before the others of that time.
            let until_ns = others_ns.min(waking_ns).max(at_ns + 1);
            devices[index].run_flash(until_ns, events_max, drive, &mut above)?
        };
        front.now_ns = front.now_ns.max(devices[index].now_ns);
        Ok(events)
    }

    /// Completes the requests whose last parts are complete, and deals out what is issued, until there is neither.
    fn settle(&mut self, drives: &mut dyn Devices, client: &mut dyn Client) -> Result<(), ReadOnly> {
        loop {
            while let Some(slot) = self.front.gate.next_to_deal() {
                self.deal(slot, drives, client)?;
            }
            let Some((slot, device)) = self.completed.pop_front() else { return Ok(()) };
            self.parts_left[slot as usize] -= 1;
            if self.parts_left[slot as usize] == 0 {
                self.front.accounts[slot as usize] = self.devices[device].accounts[slot as usize];
                let ledger = self.books.whole;
                let mut below = Below { drives, chunks: self.chunks, ledger, devices: self.devices.len() };
                self.front.complete::<AnyWay>(slot, &mut below, client)?;
            }
        }
    }

    fn deal(&mut self, slot: u32, drives: &mut dyn Devices, client: &mut dyn Client) -> Result<(), ReadOnly> {
        let Self { front, devices, chunks, parts_left, books, completed } = self;
        let request = front.slots[slot as usize].request;
        // A part may be complete before the next is dealt out.
        parts_left[slot as usize] =
            (0..devices.len()).filter(|&index| chunks.part(&request, index).is_some()).count() as u32;
        for (index, device) in devices.iter_mut().enumerate() {
            if let Some(part) = chunks.part(&request, index) {
                let mut above = Above { index, slots: &front.slots, books, completed, client };
                device.take_part(slot, part, front, drives.device_mut(index), &mut above)?;
            }
        }
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

/// The client of a device. A job's number is the slot's.
struct Above<'a> {
    index: usize,
    /// Of the host in front.
    slots: &'a [super::Slot],
    books: &'a mut Books,
    completed: &'a mut VecDeque<(u32, usize)>,
    client: &'a mut dyn Client,
}

impl Client for Above<'_> {
    fn draw(&mut self, _job: u32, _out: &mut Vec<Request>, _count_max: usize) {}

    fn is_over(&self, _job: u32, _now_ns: u64) -> bool {
        true
    }

    fn executed(&mut self, job: u32, ledger: &Ledger) {
        self.books.note(self.index, ledger);
        self.client.executed(self.slots[job as usize].job, &self.books.whole);
    }

    fn completed(&mut self, completion: Completion, _parts: &Parts) {
        self.completed.push_back((completion.job, self.index));
    }
}

/// What the host in front has below it: it brings near what the devices will look at, and knows what they have counted.
struct Below<'a> {
    drives: &'a dyn Devices,
    chunks: Chunks,
    devices: usize,
    ledger: Ledger,
}

impl Below<'_> {
    fn each_part(&self, request: &Request, act: impl Fn(&dyn TimedDrive, &Request)) {
        for index in 0..self.devices {
            if let Some(part) = self.chunks.part(request, index) {
                act(self.drives.device(index), &part);
            }
        }
    }
}

impl TimedDrive for Below<'_> {
    fn prefetch(&self, request: &Request) {
        self.each_part(request, |drive, part| drive.prefetch(part));
    }

    fn prefetch_old(&self, request: &Request) {
        self.each_part(request, |drive, part| drive.prefetch_old(part));
    }

    fn execute_one(&mut self, _request: &Request) -> Result<(), ReadOnly> {
        unreachable!("requests are dealt out to the devices");
    }

    fn pad(&mut self, _groups: &[Range<u32>]) -> Result<(), ReadOnly> {
        unreachable!("the host in front has no program groups");
    }

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn take_decisions(&mut self, _into: &mut Vec<Decision>) {
        unreachable!("the host in front has no flash");
    }
}
