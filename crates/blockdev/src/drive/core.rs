//! The drive itself: requests are submitted to the engine's front, below which each device of a stripe has a
//! translation layer and a flash array with data (`stored`); time advances according to the pace. Opening a drive, and
//! the effects of a loss of power, are in `opening`.

use super::arriving::Data;
use super::fronts::{Devices, ServedFront};
use super::host_events::HostEvents;
use super::phases::Phases;
use super::recording::{Event, Recorder};
use super::served::Served;
use super::stored::Stored;
use super::zoned::HostZones;
use crate::device::{Capabilities, DeviceError};
use crate::nand::{Events, Recovery, Transfer};
use ssdlab_engine::chunks::Chunks;
use ssdlab_engine::error::ZoneStatus;
use ssdlab_engine::ledger::Ledger;
use ssdlab_engine::request::{Content, Operation, Request};
use ssdlab_engine::simulation::live::figures::Seen;
use ssdlab_engine::simulation::{Outcome, SimulatedDrive, StripeDevice};
use ssdlab_engine::timing::front::{Completion, Stepped, Submission};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Range;

/// The phase before the first mark.
pub(super) const FIRST_PHASE: &str = "mounted";

/// How a request is made, besides what it asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// A write is answered only when its data would survive a loss of power.
    pub is_through: bool,
    /// The placement identifier of a write; 0 for none.
    pub identifier: u8,
    /// The rules of zones have allowed it.
    pub is_granted: bool,
}

/// The drive without locks; see [`super::SimulatedDevice`].
pub struct Core {
    pub(super) front: ServedFront,
    pub(super) devices: Devices,
    pub(super) served: Served,
    pub(super) phases: Phases,
    pub(super) seed: u64,
    pub(super) next_tag: u32,
    /// Whether callers wait for their requests in simulated time, and the last request.
    pub(super) is_real_pace: bool,
    pub(super) submitted: Option<u32>,
    /// Whether a request must be executed before it is reported as complete: because it may fail, or must survive the
    /// process.
    pub(super) answers_late: bool,
    /// The last recovery.
    pub(super) recovery: Option<Recovery>,
    pub(super) host_events: HostEvents,
    /// The last values seen by the observer; None without an observer.
    pub(super) seen: Option<Box<Seen>>,
    /// None for a drive without zones.
    pub(super) zones: Option<HostZones>,
    /// None if what is asked is not written down.
    pub(super) recorder: Option<Recorder>,
}

impl Core {
    /// Capacity, mapping unit, and whether the buffer is volatile.
    pub fn capabilities(&self) -> Capabilities {
        let unit_bytes = self.unit_bytes() as u32;
        let user_units: u64 = self.each().map(|device| device.capacity.user_units).sum();
        // The addresses of zones go on behind their capacity.
        let in_zones = self.zones().map(|zones| u64::from(zones.count) * zones.zone_bytes);
        Capabilities {
            size_bytes: in_zones.unwrap_or(user_units * u64::from(unit_bytes)),
            unit_bytes,
            trims: true,
            has_volatile_cache: !self.has_power_loss_protection(),
        }
    }

    fn each(&self) -> impl Iterator<Item = &Stored> {
        self.devices.devices().iter().map(|device| &**device)
    }

    pub(super) fn each_mut(&mut self) -> impl Iterator<Item = &mut Stored> {
        self.devices.devices_mut().iter_mut().map(|device| &mut **device)
    }

    /// All devices are alike, except in their capacity for the host.
    fn first(&self) -> &Stored {
        &self.devices.devices()[0]
    }

    fn chunks(&self) -> Chunks {
        self.devices.chunks()
    }

    fn unit_bytes(&self) -> u64 {
        u64::from(self.first().capacity.mapping_unit_bytes)
    }

    pub(super) fn has_power_loss_protection(&self) -> bool {
        self.first().nand.has_power_loss_protection()
    }

    /// The translation layer, or those of a stripe combined, with its current counters.
    pub fn ftl(&mut self) -> &dyn SimulatedDrive {
        self.devices.note();
        self.whole()
    }

    /// The same, with a stripe's counters as of the last `note`.
    pub(super) fn whole(&self) -> &dyn SimulatedDrive {
        match self.devices.devices() {
            [device] => device.layer(),
            _ => &self.devices,
        }
    }

    /// Events of the flash: failures and losses.
    pub fn events(&self) -> Events {
        let mut events = Events::default();
        self.each().for_each(|device| events += device.nand.events());
        events
    }

    /// The simulated time.
    pub fn now_ns(&self) -> u64 {
        self.front.now_ns()
    }

    /// The mean share of the time since the start in which the dies were busy.
    pub fn die_utilization(&self) -> f64 {
        self.front.die_utilization()
    }

    /// The number of times that power returned.
    pub fn power_cycles(&self) -> u64 {
        self.first().counters.power_cycles
    }

    /// A random number by which hosts know the drive: made when it is first asked for, and kept in the drive's file.
    pub fn unique(&mut self) -> [u8; 16] {
        if self.first().counters.unique == [0; 16] {
            // Two keys of the standard library's maps: random in every process.
            let number = || RandomState::new().build_hasher().finish().to_le_bytes();
            let unique = [number(), number()].concat().try_into().expect("twice eight bytes");
            for device in self.each_mut() {
                device.counters.unique = unique;
                if device.nand.medium().outlives_the_process() {
                    device.save_counters();
                }
            }
        }
        self.first().counters.unique
    }

    /// The result of the last recovery, if there was one.
    pub fn recovery(&self) -> Option<Recovery> {
        self.recovery
    }

    /// The number of erase units without which the drive becomes read-only.
    pub fn erase_units_needed(&self) -> u32 {
        self.each().map(|device| device.ftl.erase_units_needed()).sum()
    }

    /// Erase units of the new drive, without factory bad blocks.
    pub fn erase_units_when_new(&self) -> u32 {
        self.each().map(|device| device.nand.medium().shape().erase_units).sum()
    }

    /// Why the drive refuses writes, if it does.
    pub fn read_only_reason(&self) -> Option<String> {
        self.each().find_map(|device| device.read_only_reason.clone())
    }

    /// The outcome of a run that ended now: phases are its jobs. Everything reported to the host as complete is
    /// counted.
    pub fn outcome(&mut self) -> Outcome {
        self.note_asked(Event::Looked);
        self.bring_in_answered();
        self.devices.note();
        self.phases.outcome(self)
    }

    /// The completions since the last call; the first call starts recording them.
    pub fn take_completions(&mut self) -> Vec<Completion> {
        self.served.take_completions()
    }

    pub(super) fn ledger(&mut self) -> Ledger {
        *self.ftl().ledger()
    }

    /// Executes one request of at most a gibibyte, within the drive. In simulated time it arrives when fewer than
    /// `depth` are outstanding.
    pub fn execute(
        &mut self,
        operation: Operation,
        transfer: Transfer<'_>,
        length_bytes: u32,
        depth: u32,
        manner: Manner,
    ) -> Result<(), DeviceError> {
        let Manner { is_through, identifier, is_granted } = manner;
        let offset_bytes = transfer.offset_bytes();
        self.note_asked(Event::Request { operation, offset_bytes, length_bytes, depth, manner });
        if !self.is_real_pace {
            self.wait_until_fewer_than(depth);
        }
        let content = Content { identifier, ..Content::default() };
        let is_through = is_through && operation != Operation::Read;
        let request = Request { content, is_through, ..Request::new(operation, offset_bytes, length_bytes) };
        if let Transfer::Read { offset_bytes, into } = transfer {
            let answer = self.read(offset_bytes, into);
            self.submit(request);
            return answer;
        }
        self.refuse_writes()?;
        let range = request.offset_bytes..request.offset_bytes + u64::from(length_bytes);
        if let Some(zones) = self.zones.as_mut().filter(|_| !is_granted) {
            let allowed = match operation {
                Operation::Write => zones.write(&range),
                _ => Err(ZoneStatus::InvalidZoneOperationRequest),
            };
            allowed.map_err(DeviceError::Zone)?;
        }
        if operation == Operation::Trim {
            self.bring_in(|core| core.is_arriving(&range));
        }
        let tag = self.next_tag;
        self.take_in(tag, operation, &range, &transfer);
        self.submit(request);
        if self.is_real_pace {
            return Ok(());
        }
        if self.answers_late {
            let is_here = |core: &Self| core.each().any(|device| device.arriving.is_here(tag));
            self.bring_in(is_here);
            if is_here(self) {
                return Err(DeviceError::Stalled);
            }
        }
        if is_through {
            self.wait_for(tag)?;
            self.note_what_is_safe()?;
        }
        self.each_mut().for_each(|device| device.arriving.answer(tag));
        self.outcome_of(tag)
    }

    /// A stripe refuses writes as soon as one of its devices does.
    pub(super) fn refuse_writes(&mut self) -> Result<(), DeviceError> {
        self.each_mut().find_map(Stored::refusal).map_or(Ok(()), Err)
    }

    /// Reads the current contents of a range.
    fn read(&mut self, offset_bytes: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        let chunks = self.chunks();
        let mut answer = Ok(());
        for piece in chunks.pieces(offset_bytes..offset_bytes + into.len() as u64) {
            let into = &mut into[piece.at_bytes as usize..][..piece.length_bytes as usize];
            let done = self.devices.devices_mut()[piece.device].read(piece.offset_bytes, into);
            answer = answer.and(done.map_err(|error| on_drive(chunks, piece.device, error)));
        }
        answer
    }

    /// Stores written data with each device that it goes to, until the device decides on it.
    fn take_in(&mut self, tag: u32, operation: Operation, range: &Range<u64>, transfer: &Transfer<'_>) {
        let (chunks, unit_bytes) = (self.chunks(), self.unit_bytes());
        let tag_of_part = self.front.tag_of_parts(tag);
        for (index, device) in self.devices.devices_mut().iter_mut().enumerate() {
            let own = chunks.range_on(index, range);
            if own.is_empty() {
                continue;
            }
            let data = match transfer {
                Transfer::Write { data, .. } => {
                    let mut bytes = Vec::with_capacity((own.end - own.start) as usize);
                    for piece in chunks.pieces(range.clone()).filter(|piece| piece.device == index) {
                        bytes.extend_from_slice(&data[piece.at_bytes as usize..][..piece.length_bytes as usize]);
                    }
                    Data::Bytes(bytes)
                }
                _ if operation == Operation::Trim => Data::Trimmed { unit_bytes },
                _ => Data::Zeroes,
            };
            device.arriving.push(tag, tag_of_part, own, data);
        }
    }

    /// Whether a write or trim of part of the range is pending.
    pub(super) fn is_arriving(&self, range: &Range<u64>) -> bool {
        let own_of = |(index, device)| (self.chunks().range_on(index, range), device);
        self.each().enumerate().map(own_of).any(|(own, device): (_, &Stored)| device.arriving.overlaps(&own))
    }

    /// Whether nothing is stored for a range of the drive, which is within a mapping unit.
    pub(super) fn is_hole(&self, range: Range<u64>) -> bool {
        let own_of = |(index, device)| (self.chunks().range_on(index, &range), device);
        self.each().enumerate().map(own_of).all(|(own, device): (_, &Stored)| device.is_hole(&own))
    }

    /// The result of a request that was decided on: the first error of its parts.
    pub(super) fn outcome_of(&mut self, tag: u32) -> Result<(), DeviceError> {
        let chunks = self.chunks();
        let outcomes = self.each_mut().map(|device| device.arriving.outcome(tag)).enumerate();
        first_error(outcomes.map(|(index, outcome)| outcome.map_err(|error| on_drive(chunks, index, error))))
    }

    /// Errors of requests that had been answered, since the last call.
    fn take_late_failure(&mut self) -> Result<(), DeviceError> {
        let chunks = self.chunks();
        let failures = self.each_mut().map(|device| device.arriving.take_late_failure()).enumerate();
        first_error(failures.map(|(index, failed)| failed.map_err(|error| on_drive(chunks, index, error))))
    }

    /// Submits a request to the front, now. Returns its tag.
    fn submit(&mut self, request: Request) -> u32 {
        let tag = self.next_tag;
        self.next_tag = self.next_tag.wrapping_add(1);
        self.submitted = Some(tag);
        if self.is_real_pace || request.is_through {
            self.served.wait_for(tag);
        }
        self.phases.count(request.operation, u64::from(request.length_bytes));
        let submission = Submission { request, issued_ns: self.front.now_ns(), tag, host_ns: 0 };
        let Self { front, devices, served, .. } = self;
        front.submit(submission, devices, served).expect("what fails is noted for the request");
        tag
    }

    /// Ensures that everything answered is in flash, or in memory that survives a loss of power.
    pub fn flush(&mut self) -> Result<(), DeviceError> {
        self.note_asked(Event::Flush);
        if !self.is_real_pace {
            // Answered requests must be included in the flush.
            self.wait_until_fewer_than(1);
        }
        self.submit(Request::new(Operation::Flush, 0, 0));
        if self.is_real_pace {
            return Ok(());
        }
        self.wait_until_fewer_than(1);
        if self.front.outstanding() > 0 {
            return Err(DeviceError::Stalled);
        }
        self.note_what_is_safe()?;
        self.take_late_failure()
    }

    /// Marks as safe in the flash array what is in flash according to the clock.
    fn note_what_is_safe(&mut self) -> Result<(), DeviceError> {
        self.have_each(Stored::note_what_is_safe)
    }

    /// Writes a checkpoint of the map and the counters to the system blocks.
    pub fn checkpoint(&mut self) -> Result<(), DeviceError> {
        self.bring_in_answered();
        self.have_each(|device, now_ns| {
            device.counters.simulated_ns = now_ns;
            device.checkpoint()
        })
    }

    /// Lets every device perform an operation that no request asks for, and that takes time. Returns the first error.
    fn have_each(&mut self, act: impl Fn(&mut Stored, u64) -> Result<(), DeviceError>) -> Result<(), DeviceError> {
        let (chunks, now_ns) = (self.chunks(), self.now_ns());
        let Self { front, devices, .. } = self;
        first_error(devices.devices_mut().iter_mut().enumerate().map(|(index, device)| {
            let done = act(device, now_ns).map_err(|error| on_drive(chunks, index, error));
            front.carry_out(index, device);
            done
        }))
    }

    pub(super) fn next_event_ns(&self) -> Option<u64> {
        self.front.next_event_ns()
    }

    /// The last request, for a caller that waits for it.
    pub(super) fn take_submitted(&mut self) -> Option<u32> {
        self.submitted.take()
    }

    /// The last request is one of a queue: `take_completed` reports it.
    pub(super) fn queue_submitted(&mut self, queue: u32) -> Option<u32> {
        let tag = self.submitted.take()?;
        self.served.queue(tag, queue);
        Some(tag)
    }

    /// Moves the tags and latencies of a queue's requests that have completed.
    pub(super) fn take_completed(&mut self, queue: u32, into: &mut Vec<(u32, u64)>) {
        self.served.take_completed(queue, into);
    }

    /// The queue is gone.
    pub(super) fn forget_queue(&mut self, queue: u32) {
        self.served.forget_queue(queue);
    }

    /// The latency of the request in simulated time, and its result, if it has completed.
    pub(super) fn collect(&mut self, tag: u32) -> Option<(u64, Result<(), DeviceError>)> {
        let latency_ns = self.served.collect(tag)?;
        Some((latency_ns, self.outcome_of(tag)))
    }

    /// After completion of a flush or a write-through: applies its durability to the flash array.
    pub(super) fn settle_durable(&mut self) -> Result<(), DeviceError> {
        self.note_asked(Event::Settled);
        self.note_what_is_safe()?;
        self.take_late_failure()
    }

    /// Ends the phase and starts another.
    pub fn mark(&mut self, name: &str) {
        self.note_marked(name);
        self.bring_in_answered();
        let latencies = std::mem::take(&mut self.served.latencies);
        let read_ahead = self.front.take_read_counts();
        let ledger = self.ledger();
        self.phases.mark(name, &ledger, self.now_ns(), &latencies, read_ahead);
        self.note_namespaces(false);
        self.watch_anew();
    }

    fn note_namespaces(&mut self, is_reset: bool) {
        let now = self.whole().namespaces().to_vec();
        self.phases.note_namespaces(&now, is_reset);
    }

    /// Resets the counters.
    pub fn reset(&mut self) {
        self.note_asked(Event::Reset);
        self.bring_in_answered();
        self.served.latencies = Default::default();
        self.front.take_read_counts();
        let ledger = self.ledger();
        self.phases.reset(FIRST_PHASE, &ledger, self.now_ns());
        self.note_namespaces(true);
        self.watch_anew();
    }

    /// Advances simulated time without requests; the drive performs background operations.
    pub fn idle(&mut self, duration_ns: u64) -> Result<(), DeviceError> {
        self.note_asked(Event::Idle { duration_ns });
        if !self.is_real_pace {
            self.wait_until_fewer_than(1);
        }
        self.advance_to(self.now_ns() + duration_ns);
        Ok(())
    }

    /// Advances simulated time to a moment; the drive performs background operations as far as there is time.
    pub(super) fn advance_to(&mut self, moment_ns: u64) {
        while let Stepped::Events(_) = self.step(moment_ns) {}
        self.front.come_to(moment_ns);
    }

    fn step(&mut self, until_ns: u64) -> Stepped {
        let Self { front, devices, served, .. } = self;
        front.step(until_ns, devices, served).expect("what fails is noted for the request")
    }

    /// Processes the next event. Returns whether there was one: an idle drive has none. An idle drive with requests
    /// outstanding is stalled.
    fn go_on(&mut self) -> bool {
        matches!(self.step(u64::MAX), Stepped::Events(_))
    }

    /// Advances simulated time until the queue has a free place.
    fn wait_until_fewer_than(&mut self, depth: u32) {
        while self.front.outstanding() >= depth.max(1) && self.go_on() {}
    }

    /// Advances simulated time until a request has completed.
    fn wait_for(&mut self, tag: u32) -> Result<(), DeviceError> {
        while self.served.collect(tag).is_none() {
            if !self.go_on() {
                return Err(DeviceError::Stalled);
            }
        }
        Ok(())
    }

    /// Advances simulated time until pending transfers to the drive have arrived.
    pub(super) fn bring_in(&mut self, is_on_its_way: impl Fn(&Self) -> bool) {
        while is_on_its_way(self) && self.front.outstanding() > 0 && self.go_on() {}
    }

    /// The same for everything reported to the host as complete.
    pub(super) fn bring_in_answered(&mut self) {
        if !self.is_real_pace {
            self.bring_in(|core| core.each().any(|device| !device.arriving.is_empty()));
        }
    }

    /// For tests: does not record the `moves`-th unit moved by garbage collection in the map, an error that they must
    /// detect.
    pub fn forget_a_move(&mut self, moves: u64) {
        self.devices.devices_mut()[0].forgets_after = Some(moves);
    }
}

/// All of them are executed, even if one fails.
pub(super) fn first_error<E>(outcomes: impl Iterator<Item = Result<(), E>>) -> Result<(), E> {
    let mut answer = Ok(());
    for outcome in outcomes {
        answer = answer.and(outcome);
    }
    answer
}

/// An error of a device, with the drive's address in place of the device's.
fn on_drive(chunks: Chunks, device: usize, error: DeviceError) -> DeviceError {
    match error {
        DeviceError::Unreadable { offset_bytes } => {
            DeviceError::Unreadable { offset_bytes: chunks.address_of(device, offset_bytes) }
        }
        DeviceError::Misplaced { offset_bytes } => {
            DeviceError::Misplaced { offset_bytes: chunks.address_of(device, offset_bytes) }
        }
        other => other,
    }
}
