//! A host that writes zone by zone: fio's `zonemode=zbd`. A stream chooses positions; this moves each request to the
//! write pointer of a zone, and resets full zones.
//!
//! On a drive with zones a reset is a trim of the whole zone. On any other drive the zones are managed by the host
//! alone, and a reset is only its decision to write the zone again, as with fio on a device without zones.

use super::Stream;
use super::error::StreamError;
use crate::random::Random;
use crate::request::{Operation, Request};
use crate::specification::Job;
use crate::specification::job::{Direction, ZonedJob};
use std::sync::{Arc, Mutex, MutexGuard};

/// The state of the zones, shared by the jobs of a run, which are the only users of the drive.
#[derive(Clone, Debug)]
pub struct HostZones {
    zone_bytes: u64,
    capacity_bytes: u64,
    /// Whether they are zones of the drive.
    are_of_drive: bool,
    /// 0: no limit.
    open_max: u32,
    /// Of the drive's random write areas: their size, 0 for none, and the steps in which a write pointer passes them.
    area_bytes: u64,
    granularity_bytes: u64,
    /// By zone, from its start.
    written_bytes: Vec<u64>,
    /// In the order of opening, with the job that opened each.
    open: Vec<(u64, usize)>,
    jobs: usize,
}

/// The zones of a run, once a job has created them.
pub type SharedZones = Arc<Mutex<Option<HostZones>>>;

impl HostZones {
    /// `open_max` of 0 is no limit. A last zone that the end of the drive cuts is excluded.
    pub fn new(zone_bytes: u64, capacity_bytes: u64, open_max: u32, user_bytes: u64, are_of_drive: bool) -> Self {
        let zones = (user_bytes / zone_bytes) as usize;
        Self {
            zone_bytes,
            capacity_bytes,
            are_of_drive,
            open_max,
            area_bytes: 0,
            granularity_bytes: 1,
            written_bytes: vec![0; zones],
            open: Vec::new(),
            jobs: 0,
        }
    }

    /// Adds the random write areas of the drive.
    pub fn with_random_write_areas(self, area_bytes: u64, granularity_bytes: u64) -> Self {
        Self { area_bytes, granularity_bytes, ..self }
    }

    /// The part of a zone, from its start, that the drive has not programmed yet.
    fn uncommitted(&mut self, zone: u64) -> std::ops::Range<u64> {
        let written = *self.written(zone);
        // A zone whose last byte is written is full.
        if written == self.capacity_bytes {
            return written..written;
        }
        written.saturating_sub(self.area_bytes).next_multiple_of(self.granularity_bytes)..written
    }

    /// The size of a zone, and its writable part.
    pub fn sizes_bytes(&self) -> (u64, u64) {
        (self.zone_bytes, self.capacity_bytes)
    }

    /// Applies the common limit of a further job.
    pub fn limit_open(&mut self, open_max: u32) {
        if open_max > 0 && (self.open_max == 0 || open_max < self.open_max) {
            self.open_max = open_max;
        }
    }

    fn written(&mut self, zone: u64) -> &mut u64 {
        &mut self.written_bytes[zone as usize]
    }
}

/// A job's stream, with requests moved to write pointers.
pub struct ZonedStream {
    stream: Stream,
    shared: SharedZones,
    rules: ZonedJob,
    part: Part,
    sequential: bool,
    writes: bool,
    /// The size of the smallest request.
    least_bytes: u64,
    /// The position of a sequential job: its zone, and for reads the byte in it.
    cursor: (u64, u64),
    /// The zone filled by the last request: it is closed when the next is drawn, so after that was issued.
    filled: Option<u64>,
    writes_to_reset: u64,
    /// Chooses overwrites, apart from the stream, so that its requests do not depend on them.
    random: Random,
    /// Requests are drawn one at a time where jobs run concurrently, so that they are issued in the order in which they
    /// are drawn.
    one_at_a_time: bool,
    drawn: Vec<Request>,
    /// The write that follows a reset, and its zone.
    pending: Option<(Request, u64)>,
    is_at_end: bool,
}

/// A job's part of the drive.
struct Part {
    /// The job's index among those with zones.
    job: usize,
    /// The zones entirely within it.
    zones: std::ops::Range<u64>,
    /// The most zones that the job has open; 0: no limit.
    open_max: u32,
}

impl Part {
    fn zone_at(&self, offset_bytes: u64, zones: &HostZones) -> u64 {
        (offset_bytes / zones.zone_bytes).clamp(self.zones.start, self.zones.end - 1)
    }

    fn size_bytes(&self, zones: &HostZones) -> u64 {
        (self.zones.end - self.zones.start) * zones.zone_bytes
    }

    /// What is written, by zone.
    fn written_bytes<'z>(&self, zones: &'z HostZones) -> &'z [u64] {
        &zones.written_bytes[self.zones.start as usize..self.zones.end as usize]
    }

    /// The nearest zone with this much data, higher before lower at equal distance.
    fn with_data(&self, from: u64, bytes: u64, zones: &HostZones) -> Option<u64> {
        let has = |zone: &u64| self.zones.contains(zone) && zones.written_bytes[*zone as usize] >= bytes;
        let steps = self.zones.end - self.zones.start;
        (1..=steps).find_map(|step| {
            let below = from.checked_sub(step);
            Some(from + step).filter(has).or(below.filter(has))
        })
    }

    /// Whether the zone is open, or can be opened.
    fn opens(&self, zone: u64, zones: &mut HostZones) -> bool {
        if zones.open.iter().any(|&(open, _)| open == zone) {
            return true;
        }
        let own = zones.open.iter().filter(|&&(_, job)| job == self.job).count() as u32;
        let is_within = |most: u32, count: u32| most == 0 || count < most;
        let may = is_within(zones.open_max, zones.open.len() as u32) && is_within(self.open_max, own);
        if may {
            zones.open.push((zone, self.job));
        }
        may
    }

    /// One of the open zones, at the same relative position as the offset in the job's part, as fio chooses it.
    fn open_instead(&self, offset_bytes: u64, zones: &HostZones) -> Result<u64, NoZone> {
        let own: Vec<u64> = zones.open.iter().map(|&(zone, _)| zone).filter(|zone| self.zones.contains(zone)).collect();
        if own.is_empty() {
            return Err(NoZone { open: zones.open.len() });
        }
        let along = u128::from(offset_bytes.saturating_sub(self.zones.start * zones.zone_bytes));
        let index = along * own.len() as u128 / u128::from(self.size_bytes(zones));
        Ok(own[(index as usize).min(own.len() - 1)])
    }
}

/// The result of moving a request.
enum Moved {
    To(Request),
    /// The zone is reset; then the write begins it.
    AfterReset(Request, (Request, u64)),
    /// The job can do nothing.
    Nothing,
}

impl ZonedStream {
    /// The first job with zones creates the zones of the run in `shared`.
    pub fn new(
        job: &Job,
        rules: ZonedJob,
        stream: Stream,
        shared: &SharedZones,
        one_at_a_time: bool,
    ) -> Result<Self, StreamError> {
        let mut guard = lock(shared);
        let zones = guard.as_mut().expect("the zones are made before the first job");
        let number = zones.jobs;
        zones.jobs += 1;
        let (zone_bytes, capacity_bytes) = zones.sizes_bytes();
        let end_bytes = job.offset_bytes + job.size_bytes;
        let first = job.offset_bytes.div_ceil(zone_bytes);
        let whole = first..(end_bytes / zone_bytes).min(zones.written_bytes.len() as u64);
        if whole.is_empty() {
            let allowed = format!("a range with a whole zone of {zone_bytes} bytes in it");
            return Err(StreamError::new("size_bytes", job.size_bytes, &allowed));
        }
        let sizes = &job.block_sizes;
        let of = |direction: &[crate::specification::job::BlockSize]| {
            let bytes = || direction.iter().map(|size| u64::from(size.bytes));
            (bytes().min().unwrap_or(0), bytes().max().unwrap_or(0))
        };
        let (reads, writes, trims) = (of(&sizes.read), of(&sizes.write), of(&sizes.trim));
        let direction = job.direction;
        if direction == Direction::TrimWrite {
            return Err(StreamError::new("direction", "trim-write", "another: a zone is reset as a whole"));
        }
        if direction == Direction::Trim && trims != (zone_bytes, zone_bytes) {
            let allowed = format!("the size of a zone, {zone_bytes} bytes: a reset is of the whole");
            return Err(StreamError::new("block_sizes.trim", trims.0, &allowed));
        }
        let is_writing = matches!(direction, Direction::Write | Direction::ReadWrite);
        if !(0.0..=100.0).contains(&rules.overwrite_percent) {
            return Err(StreamError::new("zoned.overwrite_percent", rules.overwrite_percent, "0 to 100"));
        }
        if rules.overwrite_percent > 0.0 && zones.area_bytes == 0 {
            let allowed = "0 on a drive without zones.random_write_area_bytes";
            return Err(StreamError::new("zoned.overwrite_percent", rules.overwrite_percent, allowed));
        }
        if is_writing && zones.area_bytes > 0 && writes.1 > zones.area_bytes {
            let allowed = format!("sizes up to a random write area, {} bytes", zones.area_bytes);
            return Err(StreamError::new("block_sizes.write", writes.1, &allowed));
        }
        if is_writing && (!capacity_bytes.is_multiple_of(writes.0.max(1)) || writes.1 > capacity_bytes) {
            let allowed = format!("sizes up to a zone's capacity, {capacity_bytes} bytes, which the least divides");
            return Err(StreamError::new("block_sizes.write", writes.0, &allowed));
        }
        Ok(Self {
            stream,
            shared: Arc::clone(shared),
            sequential: job.sequential,
            writes: is_writing,
            least_bytes: if direction == Direction::Read { reads.0 } else { writes.0 }.max(1),
            cursor: (whole.start, 0),
            part: Part { job: number, zones: whole, open_max: rules.job_open_max },
            filled: None,
            writes_to_reset: writes_between_resets(&rules),
            random: Random::new(job.seed ^ 0x7a72_7761),
            rules,
            one_at_a_time,
            drawn: Vec::new(),
            pending: None,
            is_at_end: false,
        })
    }

    /// Appends the next requests, at most `count_max`, and returns their number; 0 when the job is done.
    pub fn fill(&mut self, out: &mut Vec<Request>, count_max: usize) -> Result<usize, NoZone> {
        self.fill_from(out, if self.one_at_a_time { count_max.min(1) } else { count_max }, None)
    }

    /// The same for one request of this direction, or of a reset that it needs.
    pub fn fill_one(&mut self, direction: Operation, out: &mut Vec<Request>) -> Result<usize, NoZone> {
        self.fill_from(out, 1, Some(direction))
    }

    fn fill_from(
        &mut self,
        out: &mut Vec<Request>,
        count_max: usize,
        direction: Option<Operation>,
    ) -> Result<usize, NoZone> {
        let start = out.len();
        while out.len() < start + count_max && !self.is_at_end {
            let pending = self.pending.take();
            let Some(request) = pending.map(|(write, _)| write).or_else(|| self.draw(direction)) else { break };
            let shared = Arc::clone(&self.shared);
            let mut guard = lock(&shared);
            let zones = guard.as_mut().expect("the job's zones are there");
            if let Some((_, zone)) = pending
                && *zones.written(zone) < zones.capacity_bytes
            {
                out.push(self.at_pointer(request, zone, zones));
                continue;
            }
            // Another job may have reset it, and opened it with that.
            if let Some(filled) = self.filled.take()
                && *zones.written(filled) == zones.capacity_bytes
            {
                zones.open.retain(|&(zone, _)| zone != filled);
            }
            match self.moved(request, zones)? {
                Moved::To(request) => out.push(request),
                Moved::AfterReset(reset, write) => {
                    out.push(reset);
                    self.pending = Some(write);
                }
                Moved::Nothing => self.is_at_end = true,
            }
        }
        Ok(out.len() - start)
    }

    fn draw(&mut self, direction: Option<Operation>) -> Option<Request> {
        self.drawn.clear();
        match direction {
            Some(direction) => self.stream.fill_one(direction, &mut self.drawn),
            None => self.stream.fill(&mut self.drawn, 1),
        };
        self.drawn.first().copied()
    }

    /// Restarts the job.
    pub fn restart(&mut self) {
        self.stream.restart();
        self.cursor = (self.part.zones.start, 0);
        self.is_at_end = false;
    }

    /// The completed share, from 0 to 1.
    pub fn progress(&self) -> f64 {
        if self.is_at_end && self.pending.is_none() { 1.0 } else { self.stream.progress() }
    }

    fn moved(&mut self, request: Request, zones: &mut HostZones) -> Result<Moved, NoZone> {
        match request.operation {
            Operation::Read => {
                // fio inverts the direction while there is nothing to read.
                let holds_data = || self.part.written_bytes(zones).iter().any(|&bytes| bytes > 0);
                if self.writes && !self.rules.read_beyond_pointer && !holds_data() {
                    let write = Request { operation: Operation::Write, ..request };
                    return self.write(write, zones);
                }
                Ok(self.read(request, zones))
            }
            Operation::Write => self.write(request, zones),
            Operation::Trim => Ok(self.reset(request, zones)),
            Operation::Flush => Ok(Moved::To(request)),
        }
    }

    fn read(&mut self, request: Request, zones: &mut HostZones) -> Moved {
        if self.rules.read_beyond_pointer {
            return Moved::To(request);
        }
        let length = u64::from(request.length_bytes);
        let drawn = if self.sequential { self.cursor.0 } else { self.part.zone_at(request.offset_bytes, zones) };
        let mut zone = drawn;
        let mut at = if self.sequential { self.cursor.1 } else { request.offset_bytes - zone * zones.zone_bytes };
        let wants = if self.sequential { at + self.least_bytes } else { self.least_bytes };
        if *zones.written(zone) < wants {
            let Some(found) = self.part.with_data(zone, self.least_bytes, zones) else { return Moved::Nothing };
            (zone, at) = (found, if self.sequential { 0 } else { at });
        }
        let range = *zones.written(zone);
        if range <= length {
            at = if self.sequential { at } else { 0 };
        } else if !self.sequential {
            at = at % (range - length) / self.least_bytes * self.least_bytes;
        }
        let length = (range - at).min(length) / self.least_bytes * self.least_bytes;
        self.cursor = (zone, at + length);
        let offset_bytes = zone * zones.zone_bytes + at;
        Moved::To(Request { offset_bytes, length_bytes: length as u32, ..request })
    }

    fn write(&mut self, request: Request, zones: &mut HostZones) -> Result<Moved, NoZone> {
        let wanted = if self.sequential { self.cursor.0 } else { self.part.zone_at(request.offset_bytes, zones) };
        let zone = if self.part.opens(wanted, zones) {
            wanted
        } else {
            self.part.open_instead(request.offset_bytes, zones)?
        };
        if let Some(overwrite) = self.overwrite(request, zone, zones) {
            return Ok(Moved::To(overwrite));
        }
        let written = *zones.written(zone);
        let is_due = written > 0 && self.is_reset_due(zones);
        let is_full = written == zones.capacity_bytes;
        let resets = is_full || is_due;
        if resets {
            *zones.written(zone) = 0;
            if zones.are_of_drive {
                let start = zone * zones.zone_bytes;
                let reset = Request::new(Operation::Trim, start, zones.zone_bytes as u32);
                return Ok(Moved::AfterReset(reset, (request, zone)));
            }
        }
        Ok(Moved::To(self.at_pointer(request, zone, zones)))
    }

    /// The write moved to the write pointer of the zone, which it advances.
    fn at_pointer(&mut self, request: Request, zone: u64, zones: &mut HostZones) -> Request {
        let at = *zones.written(zone);
        let room = zones.capacity_bytes - at;
        let length = u64::from(request.length_bytes).min(room) / self.least_bytes * self.least_bytes;
        *zones.written(zone) = at + length;
        let is_filled = at + length == zones.capacity_bytes;
        if is_filled {
            self.filled = Some(zone);
        }
        if self.sequential {
            let next = if zone + 1 < self.part.zones.end { zone + 1 } else { self.part.zones.start };
            self.cursor = (if is_filled { next } else { zone }, 0);
        }
        let start = zone * zones.zone_bytes;
        Request { offset_bytes: start + at, length_bytes: length as u32, ..request }
    }

    /// The request moved to a random place in the random write area, if it is one of those that overwrite and there is
    /// enough to overwrite.
    fn overwrite(&mut self, request: Request, zone: u64, zones: &mut HostZones) -> Option<Request> {
        if self.rules.overwrite_percent == 0.0 || self.random.unit() * 100.0 >= self.rules.overwrite_percent {
            return None;
        }
        let within = zones.uncommitted(zone);
        let length = u64::from(request.length_bytes) / self.least_bytes * self.least_bytes;
        let steps = (within.end - within.start).checked_sub(length)? / self.least_bytes;
        let at = within.end - length - self.random.below(steps + 1) * self.least_bytes;
        let offset_bytes = zone * zones.zone_bytes + at;
        Some(Request { offset_bytes, length_bytes: length as u32, ..request })
    }

    /// Whether enough of the job's part is written, and enough writes have passed, for the zone to be reset.
    fn is_reset_due(&mut self, zones: &HostZones) -> bool {
        if self.rules.reset_frequency <= 0.0 {
            return false;
        }
        let written: u64 = self.part.written_bytes(zones).iter().sum();
        if (written as f64) < self.part.size_bytes(zones) as f64 * self.rules.reset_threshold {
            return false;
        }
        self.writes_to_reset -= 1;
        if self.writes_to_reset > 0 {
            return false;
        }
        self.writes_to_reset = writes_between_resets(&self.rules);
        true
    }

    /// A trim of a zone: at random only of a zone with data.
    fn reset(&mut self, request: Request, zones: &mut HostZones) -> Moved {
        let drawn = self.part.zone_at(request.offset_bytes, zones);
        let is_empty = *zones.written(drawn) == 0;
        let zone = if self.sequential || !is_empty { Some(drawn) } else { self.part.with_data(drawn, 1, zones) };
        let Some(zone) = zone else { return Moved::Nothing };
        *zones.written(zone) = 0;
        zones.open.retain(|&(open, _)| open != zone);
        Moved::To(Request { offset_bytes: zone * zones.zone_bytes, ..request })
    }
}

/// No zone of a job may be opened, and none is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoZone {
    /// Zones open by other jobs.
    pub open: usize,
}

impl std::fmt::Display for NoZone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "a job can open no zone: {} are open, all outside its part of the drive; limit those of each job (job_max_open_zones)",
            self.open
        )
    }
}

impl std::error::Error for NoZone {}

fn writes_between_resets(rules: &ZonedJob) -> u64 {
    if rules.reset_frequency > 0.0 { ((1.0 / rules.reset_frequency) as u64).max(1) } else { u64::MAX }
}

fn lock(shared: &SharedZones) -> MutexGuard<'_, Option<HostZones>> {
    shared.lock().expect("no job panics while it draws")
}
