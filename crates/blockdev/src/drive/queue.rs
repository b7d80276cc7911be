//! The queue of the simulated drive.
//!
//! At real pace a request completes when the simulated drive completes it: the queue keeps the requests in flight, and
//! says when the drive's next event is. At virtual pace a request is answered when it is submitted; in simulated time
//! it arrives when fewer than the host's depth are in flight.

use super::core::{Core, Manner};
use super::{PIECE_BYTES_MAX, SimulatedDevice};
use crate::device::{Capabilities, Device, DeviceError, Durability};
use crate::nand::Transfer;
use crate::queue::{Asked, Completed, Queue};
use ssdlab_engine::request::Operation;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// Requests after which a depth that was not seen again is forgotten.
const DEPTH_KEPT: u32 = 256;

/// A queue of requests to a simulated drive.
pub struct SimulatedQueue {
    device: Arc<SimulatedDevice>,
    /// Differs from those of the drive's other queues.
    number: u32,
    in_flight: Vec<InFlight>,
    completed: Vec<Completed>,
    /// Of the drive, with latencies; empty between calls.
    reported: Vec<(u32, u64)>,
    depth: Depth,
    next_event: Option<Instant>,
    power_cycles: u64,
}

struct InFlight {
    /// The drive's own.
    drive_tag: u32,
    tag: u64,
    is_durable: bool,
    made: Instant,
    /// Of the transfer of data, which is done at submission; of an append, its address.
    answer: Result<u64, DeviceError>,
}

/// The depth at which the host asks: the most requests that came between two answers. One thread sees a part of what
/// the host has sent, so that the largest recent count is used.
#[derive(Default)]
struct Depth {
    /// Of this queue; the drive has the number of all.
    own: u32,
    seen: u32,
    seen_before: u32,
    since_kept: u32,
}

impl Depth {
    fn submitted(&mut self, of_all: &AtomicU32) -> u32 {
        self.own += 1;
        let now = of_all.fetch_add(1, Ordering::Relaxed) + 1;
        self.seen = self.seen.max(now);
        self.since_kept += 1;
        if self.since_kept > DEPTH_KEPT {
            (self.seen_before, self.seen, self.since_kept) = (self.seen, now, 0);
        }
        self.seen.max(self.seen_before)
    }

    fn answered(&mut self, of_all: &AtomicU32) {
        of_all.fetch_sub(std::mem::take(&mut self.own), Ordering::Relaxed);
    }
}

impl SimulatedQueue {
    /// A queue of this drive.
    pub fn new(device: Arc<SimulatedDevice>) -> Self {
        let power_cycles = device.core().power_cycles();
        Self {
            power_cycles,
            number: device.queues.fetch_add(1, Ordering::Relaxed),
            device,
            in_flight: Vec::new(),
            completed: Vec::new(),
            reported: Vec::new(),
            depth: Depth::default(),
            next_event: None,
        }
    }

    /// The length of a request that is allowed.
    fn check(&self, asked: &Asked<'_>) -> Result<u64, DeviceError> {
        let (offset_bytes, length_bytes) = match *asked {
            Asked::Read { offset_bytes, ref into } => (offset_bytes, into.len() as u64),
            Asked::Write { offset_bytes, data, .. } => (offset_bytes, data.len() as u64),
            Asked::Trim { offset_bytes, length_bytes } | Asked::Zero { offset_bytes, length_bytes, .. } => {
                (offset_bytes, length_bytes)
            }
            Asked::Append { zone_bytes, data, .. } => (zone_bytes, data.len() as u64),
            // A zone may be longer than any other request.
            Asked::Reset { .. } | Asked::Flush => return Ok(0),
        };
        let capabilities = self.device.capabilities();
        if length_bytes > PIECE_BYTES_MAX {
            let size_bytes = capabilities.size_bytes;
            return Err(DeviceError::PastTheEnd { offset_bytes, length_bytes, size_bytes });
        }
        capabilities.check_range(offset_bytes, length_bytes).map(|()| length_bytes)
    }
}

impl Drop for SimulatedQueue {
    fn drop(&mut self) {
        self.depth.answered(&self.device.outstanding);
        self.device.core().forget_queue(self.number);
    }
}

impl Queue for SimulatedQueue {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn submit(&mut self, tag: u64, asked: Asked<'_>) {
        let depth = self.device.depth_given.unwrap_or_else(|| self.depth.submitted(&self.device.outstanding));
        match self.check(&asked) {
            Ok(length_bytes) if length_bytes > 0 || matches!(asked, Asked::Flush | Asked::Reset { .. }) => {}
            checked => {
                self.completed.push((tag, checked.map(|_| 0)));
                return;
            }
        }
        let made = Instant::now();
        let has_volatile_cache = self.device.capabilities.has_volatile_cache;
        let mut core = self.device.core();
        let is_flush = matches!(asked, Asked::Flush);
        let Some(real_pace) = &self.device.real_pace else {
            let (answer, _) = carry_out(&mut core, asked, depth, has_volatile_cache);
            self.completed.push((tag, answer));
            return;
        };
        core.advance_to(real_pace.now_ns());
        let (answer, is_through) = carry_out(&mut core, asked, depth, has_volatile_cache);
        match core.queue_submitted(self.number) {
            Some(drive_tag) => {
                let is_durable = is_flush || is_through;
                self.in_flight.push(InFlight { drive_tag, tag, is_durable, made, answer });
                // An earlier event stays: what completed at it was not reported yet.
                let next = core.next_event_ns().map(|next_ns| real_pace.instant(next_ns));
                self.next_event = self.next_event.into_iter().chain(next).min();
            }
            None => self.completed.push((tag, answer)),
        }
    }

    fn completed(&mut self, into: &mut Vec<Completed>) {
        self.depth.answered(&self.device.outstanding);
        into.append(&mut self.completed);
        let Some(real_pace) = &self.device.real_pace else { return };
        if self.in_flight.is_empty() {
            self.next_event = None;
            return;
        }
        let mut core = self.device.core();
        if core.power_cycles() != self.power_cycles {
            self.power_cycles = core.power_cycles();
            into.extend(self.in_flight.drain(..).map(|request| (request.tag, Err(DeviceError::PoweredOff))));
        }
        core.advance_to(real_pace.now_ns());
        core.take_completed(self.number, &mut self.reported);
        for (drive_tag, intended_ns) in self.reported.drain(..) {
            let Some(slot) = self.in_flight.iter().position(|request| request.drive_tag == drive_tag) else { continue };
            let request = self.in_flight.remove(slot);
            real_pace.note(intended_ns, request.made.elapsed().as_nanos() as u64);
            let carried_out = core.outcome_of(drive_tag);
            let mut outcome = request.answer.and_then(|address| carried_out.map(|()| address));
            if request.is_durable {
                outcome = core.settle_durable().and(outcome);
            }
            into.push((request.tag, outcome));
        }
        match core.next_event_ns() {
            Some(next_ns) => self.next_event = Some(real_pace.instant(next_ns)),
            None if self.in_flight.is_empty() => self.next_event = None,
            None => {
                // An idle drive with requests in flight: an error of the simulation.
                self.next_event = None;
                into.extend(self.in_flight.drain(..).map(|request| (request.tag, Err(DeviceError::Stalled))));
            }
        }
    }

    fn next_event(&self) -> Option<Instant> {
        self.next_event
    }

    fn power_cycles(&self) -> u64 {
        self.device.core().power_cycles()
    }
}

/// Has the drive execute a request. Returns its result, and whether it is answered only when its data is safe.
fn carry_out(core: &mut Core, asked: Asked<'_>, depth: u32, is_volatile: bool) -> (Result<u64, DeviceError>, bool) {
    let is_through = |durability| durability == Durability::Durable && is_volatile;
    let plain = Manner::default();
    let granted = Manner { is_granted: true, ..plain };
    let (done, through) = match asked {
        Asked::Read { offset_bytes, into } => {
            let length_bytes = into.len() as u32;
            let transfer = Transfer::Read { offset_bytes, into };
            (core.execute(Operation::Read, transfer, length_bytes, depth, plain), false)
        }
        Asked::Write { offset_bytes, data, durability, identifier } => {
            let through = is_through(durability);
            let transfer = Transfer::Write { offset_bytes, data };
            let length_bytes = data.len() as u32;
            let manner = Manner { is_through: through, identifier, ..plain };
            (core.execute(Operation::Write, transfer, length_bytes, depth, manner), through)
        }
        Asked::Trim { offset_bytes, length_bytes } => {
            let transfer = Transfer::Zero { offset_bytes, length_bytes };
            (core.execute(Operation::Trim, transfer, length_bytes as u32, depth, plain), false)
        }
        Asked::Zero { offset_bytes, length_bytes, durability } => {
            let through = is_through(durability);
            let transfer = Transfer::Zero { offset_bytes, length_bytes };
            let manner = Manner { is_through: through, ..plain };
            (core.execute(Operation::Write, transfer, length_bytes as u32, depth, manner), through)
        }
        Asked::Flush => (core.flush(), false),
        Asked::Append { zone_bytes, data, durability } => {
            let through = is_through(durability);
            let done = core.grant_append(zone_bytes, data.len() as u64).and_then(|offset_bytes| {
                let transfer = Transfer::Write { offset_bytes, data };
                let manner = Manner { is_through: through, ..granted };
                core.execute(Operation::Write, transfer, data.len() as u32, depth, manner).map(|()| offset_bytes)
            });
            return (done, through);
        }
        Asked::Reset { zone } => {
            let done = core.grant_reset(zone).and_then(|range| {
                let length_bytes = range.end - range.start;
                let transfer = Transfer::Zero { offset_bytes: range.start, length_bytes };
                core.execute(Operation::Trim, transfer, length_bytes as u32, depth, granted)
            });
            (done, false)
        }
    };
    (done.map(|()| 0), through)
}
