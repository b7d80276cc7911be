//! A summary of a trace's requests, computed while it is read.
//!
//! Memory grows with the units that the trace accesses, not with its length: 6 to 12 bytes a written unit where they
//! are close together, up to 160 bytes where each is far from the next. All counts are exact. A request of 0 bytes
//! counts as a request and accesses nothing; a unit counts as accessed when any of its bytes is.

use crate::record::{Operation, Record};

mod sizes;
mod units;
mod updates;

pub use sizes::SizeHistogram;
pub use updates::{HottestRegions, UpdateCurvePoint, UpdateFrequencies};

use units::{TouchedUnits, UnitRange};
use updates::WriteCounts;

/// The unit in which a profile counts space, independent of the drive's mapping unit.
pub const UNIT_BYTES: u64 = 4096;

/// A profile in progress. Add batches with [`Profile::add`]; [`Profile::report`] may be called at any time.
#[derive(Default)]
pub struct Profile {
    operations: [OperationTotals; 4],
    arrival_ns_max: u64,
    volumes: Vec<VolumeState>,
    units: UnitTotals,
}

/// Totals of one operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationTotals {
    /// Requests.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Requests that begin where the last request of the same operation on the same volume ended.
    pub sequential_requests: u64,
    /// Bytes of the sequential requests.
    pub sequential_bytes: u64,
    /// Requests that begin and end at a unit's border.
    pub aligned_requests: u64,
    /// Their sizes.
    pub sizes: SizeHistogram,
}

impl OperationTotals {
    /// The share of sequential requests among all, `None` without requests.
    pub fn sequential_share(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.sequential_requests as f64 / self.requests as f64)
    }
}

/// Counts of units of [`UNIT_BYTES`]. Unique ones count once over the whole trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitTotals {
    /// Units accessed.
    pub unique: u64,
    /// Units read.
    pub unique_read: u64,
    /// Units written.
    pub unique_written: u64,
    /// Units trimmed.
    pub unique_trimmed: u64,
    /// Units read, each time it is read.
    pub read: u64,
    /// Of those, the ones that the trace itself had written before and not trimmed since.
    pub read_of_written: u64,
    /// Units written, each time it is written.
    pub written: u64,
    /// Of those, the ones that held data of the trace already.
    pub overwritten: u64,
    /// Units trimmed that held data of the trace.
    pub trimmed_of_written: u64,
}

/// The summary of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileReport {
    /// By [`Operation::index`].
    pub operations: [OperationTotals; 4],
    /// The latest arrival.
    pub duration_ns: u64,
    /// Volumes with requests.
    pub volumes: u64,
    /// The sum over the volumes of the end of their last byte: the space that the trace needs without compaction.
    pub span_bytes: u64,
    /// Counts of units.
    pub units: UnitTotals,
    /// The distribution of the writes over units.
    pub updates: UpdateFrequencies,
}

impl ProfileReport {
    /// The totals of an operation.
    pub fn operation(&self, operation: Operation) -> &OperationTotals {
        &self.operations[operation.index()]
    }

    /// Requests of all operations.
    pub fn requests(&self) -> u64 {
        self.operations.iter().map(|totals| totals.requests).sum()
    }

    /// The share of units read that the trace had written itself; None if it reads nothing.
    pub fn read_of_written_share(&self) -> Option<f64> {
        (self.units.read > 0).then(|| self.units.read_of_written as f64 / self.units.read as f64)
    }
}

#[derive(Default)]
struct VolumeState {
    requests: u64,
    end_bytes_max: u64,
    /// Where the last request of each operation ended; None before the first one.
    end_bytes_last: [Option<u64>; 4],
    touched: TouchedUnits,
    write_counts: WriteCounts,
}

impl Profile {
    /// An empty profile.
    pub fn new() -> Self {
        Profile::default()
    }

    /// Adds a batch of records.
    pub fn add(&mut self, records: &[Record]) {
        for record in records {
            self.add_one(record);
        }
    }

    fn add_one(&mut self, record: &Record) {
        let operation = record.operation.index();
        let length_bytes = u64::from(record.length_bytes);
        let end_bytes = record.offset_bytes.saturating_add(length_bytes);
        let volume = record.volume as usize;
        if volume >= self.volumes.len() {
            self.volumes.resize_with(volume + 1, VolumeState::default);
        }
        let volume = &mut self.volumes[volume];
        let totals = &mut self.operations[operation];

        self.arrival_ns_max = self.arrival_ns_max.max(record.arrival_ns);
        volume.requests += 1;
        totals.requests += 1;
        if record.operation == Operation::Flush {
            return;
        }
        totals.bytes += length_bytes;
        totals.sizes.add(record.length_bytes);
        totals.aligned_requests += u64::from((record.offset_bytes | end_bytes).is_multiple_of(UNIT_BYTES));
        if volume.end_bytes_last[operation] == Some(record.offset_bytes) {
            totals.sequential_requests += 1;
            totals.sequential_bytes += length_bytes;
        }
        volume.end_bytes_last[operation] = Some(end_bytes);
        volume.end_bytes_max = volume.end_bytes_max.max(end_bytes);
        if record.length_bytes == 0 {
            return;
        }
        let range = UnitRange { first: record.offset_bytes / UNIT_BYTES, last: (end_bytes - 1) / UNIT_BYTES };
        volume.touched.touch(record.operation, range, &mut self.units);
        if record.operation == Operation::Write {
            volume.write_counts.add(range);
        }
    }

    /// The regions of `units_per_region` units that are written most, at most `regions_max`: those of equal rank are
    /// included together or not at all.
    pub fn hottest(&self, units_per_region: u64, regions_max: usize) -> HottestRegions {
        let counts = || self.volumes.iter().map(|volume| &volume.write_counts);
        if units_per_region > 1 {
            return HottestRegions::of(WriteCounts::by_region(counts(), units_per_region), regions_max);
        }
        // Single units can be too many for a table of their own.
        let histogram = UpdateFrequencies::of(counts()).histogram;
        let mut left = regions_max as u64;
        let mut writes_min = u32::MAX;
        for &(writes, units) in histogram.iter().rev() {
            if units > left {
                break;
            }
            left -= units;
            writes_min = writes;
        }
        let listed = counts().flat_map(|counts| counts.written_at_least(writes_min)).collect();
        HottestRegions {
            written: histogram.iter().map(|(_, units)| units).sum(),
            ..HottestRegions::of(listed, regions_max)
        }
    }

    /// The summary so far.
    pub fn report(&self) -> ProfileReport {
        ProfileReport {
            operations: self.operations.clone(),
            duration_ns: self.arrival_ns_max,
            volumes: self.volumes.iter().filter(|volume| volume.requests > 0).count() as u64,
            span_bytes: self.volumes.iter().fold(0, |sum, volume| sum.saturating_add(volume.end_bytes_max)),
            units: self.units,
            updates: UpdateFrequencies::of(self.volumes.iter().map(|volume| &volume.write_counts)),
        }
    }
}

#[cfg(test)]
mod tests;
