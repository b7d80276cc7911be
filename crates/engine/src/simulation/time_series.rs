//! The course of a run over simulated time, in a bounded number of equal intervals with their latencies.

use crate::request::Operation;
use crate::timing::front::Completion;
use crate::timing::histogram::Histogram;
use schemars::JsonSchema;
use serde::Serialize;

/// Each interval has two histograms, so that intervals can be merged without losing percentiles.
const INTERVALS_MAX: usize = 512;
const FIRST_INTERVAL_NS: u64 = 1_000_000;

/// Columns of equal length, an entry an interval; counts are those of the interval unless the name says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TimeColumns {
    /// End of the interval.
    pub time_ns: Vec<u64>,
    pub stage: Vec<u32>,
    pub read_ios: Vec<u64>,
    pub write_ios: Vec<u64>,
    pub trim_ios: Vec<u64>,
    pub read_bytes: Vec<u64>,
    pub written_bytes: Vec<u64>,
    /// Since the run began.
    pub host_written_bytes: Vec<u64>,
    /// Since the run began.
    pub programmed_units_total: Vec<u64>,
    pub free_erase_units: Vec<u32>,
    pub write_mean_ns: Vec<Option<f64>>,
    pub write_p50_ns: Vec<Option<u64>>,
    pub write_p99_ns: Vec<Option<u64>>,
    pub write_p999_ns: Vec<Option<u64>>,
    pub read_mean_ns: Vec<Option<f64>>,
    pub read_p50_ns: Vec<Option<u64>>,
    pub read_p99_ns: Vec<Option<u64>>,
    pub read_p999_ns: Vec<Option<u64>>,
}

/// The drive's state at the end of an interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    pub stage: u32,
    pub host_written_bytes: u64,
    pub programmed_units_total: u64,
    pub free_erase_units: u32,
}

#[derive(Clone, Debug, Default)]
struct Interval {
    end_ns: u64,
    sample: Sample,
    /// By operation.
    ios: [u64; Operation::COUNT],
    bytes: [u64; Operation::COUNT],
    reads: Histogram,
    writes: Histogram,
}

#[derive(Clone)]
pub struct TimeSeries {
    finished: Vec<Interval>,
    current: Interval,
    interval_ns: u64,
    last: Sample,
}

impl Default for TimeSeries {
    fn default() -> Self {
        let current = Interval { end_ns: FIRST_INTERVAL_NS, ..Interval::default() };
        Self { finished: Vec::new(), current, interval_ns: FIRST_INTERVAL_NS, last: Sample::default() }
    }
}

impl TimeSeries {
    /// Records the drive's state; an interval ends with the latest.
    pub fn sample(&mut self, sample: Sample) {
        self.last = sample;
    }

    pub fn add(&mut self, completion: &Completion) {
        while completion.completed_ns >= self.current.end_ns {
            self.close();
        }
        let operation = completion.operation as usize;
        self.current.ios[operation] += 1;
        self.current.bytes[operation] += u64::from(completion.length_bytes);
        let latency_ns = completion.completed_ns - completion.issued_ns;
        match completion.operation {
            Operation::Read => self.current.reads.add(latency_ns),
            Operation::Write => self.current.writes.add(latency_ns),
            Operation::Trim | Operation::Flush => {}
        }
    }

    pub fn into_columns(mut self, end_ns: u64) -> TimeColumns {
        if self.current.ios.iter().any(|&ios| ios > 0) {
            self.close();
        }
        let mut columns = TimeColumns::default();
        for interval in &self.finished {
            columns.push(interval, end_ns);
        }
        columns
    }

    fn close(&mut self) {
        let next = Interval { end_ns: self.current.end_ns + self.interval_ns, ..Interval::default() };
        let mut ended = std::mem::replace(&mut self.current, next);
        ended.sample = self.last;
        self.finished.push(ended);
        if self.finished.len() == INTERVALS_MAX {
            self.merge_pairs();
        }
    }

    fn merge_pairs(&mut self) {
        let pairs = std::mem::take(&mut self.finished);
        self.finished = pairs
            .chunks(2)
            .map(|pair| {
                let mut merged = pair[pair.len() - 1].clone();
                if pair.len() == 2 {
                    for operation in 0..Operation::COUNT {
                        merged.ios[operation] += pair[0].ios[operation];
                        merged.bytes[operation] += pair[0].bytes[operation];
                    }
                    merged.reads.merge(&pair[0].reads);
                    merged.writes.merge(&pair[0].writes);
                }
                merged
            })
            .collect();
        self.interval_ns *= 2;
        // The interval that has just begun is extended to the new length.
        self.current.end_ns += self.interval_ns / 2;
    }
}

impl TimeColumns {
    fn push(&mut self, interval: &Interval, end_ns: u64) {
        let Interval { sample, ios, bytes, reads, writes, .. } = interval;
        self.time_ns.push(interval.end_ns.min(end_ns));
        self.stage.push(sample.stage);
        self.read_ios.push(ios[Operation::Read as usize]);
        self.write_ios.push(ios[Operation::Write as usize]);
        self.trim_ios.push(ios[Operation::Trim as usize]);
        self.read_bytes.push(bytes[Operation::Read as usize]);
        self.written_bytes.push(bytes[Operation::Write as usize]);
        self.host_written_bytes.push(sample.host_written_bytes);
        self.programmed_units_total.push(sample.programmed_units_total);
        self.free_erase_units.push(sample.free_erase_units);
        self.write_mean_ns.push(writes.mean());
        self.write_p50_ns.push(writes.percentile(0.5));
        self.write_p99_ns.push(writes.percentile(0.99));
        self.write_p999_ns.push(writes.percentile(0.999));
        self.read_mean_ns.push(reads.mean());
        self.read_p50_ns.push(reads.percentile(0.5));
        self.read_p99_ns.push(reads.percentile(0.99));
        self.read_p999_ns.push(reads.percentile(0.999));
    }
}
