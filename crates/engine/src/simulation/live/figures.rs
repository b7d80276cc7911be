//! The figures of a drive at a moment, and the changes between two observations.

use crate::ftl::{Capacity, Spread};
use crate::ledger::Ledger;
use crate::simulation::SimulatedDrive;
use crate::timing::histogram::Histogram;
use serde::Serialize;

/// Figures of a run, in addition to those of its drive.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// Completed reads, writes and trims, in this order, as the jobs count them.
    pub completed: [u64; 3],
    /// None without a clock.
    pub clock: Option<ClockLook>,
}

/// Figures of the clock.
#[derive(Clone, Debug, Default)]
pub struct ClockLook {
    /// The simulated time.
    pub now_ns: u64,
    /// Mean over the dies, since the start.
    pub die_utilization: f64,
    /// Latencies of completed reads.
    pub reads: Histogram,
    /// Latencies of completed writes.
    pub writes: Histogram,
}

/// The values of the last observation.
pub struct Seen {
    requests: u64,
    ledger: Ledger,
    look: Look,
}

/// The figures of a drive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// None without a clock.
    pub simulated_seconds: Option<f64>,
    /// Issued.
    pub requests: u64,
    /// The counters since the drive was new.
    pub ledger: Ledger,
    /// Bytes programmed over bytes written by the host; None before the first write.
    pub waf: Option<f64>,
    /// The drive's capacities now.
    pub capacity: Capacity,
    /// Erased erase units.
    pub free_erase_units: u32,
    /// Over the erase units that are not retired, each by its most worn block.
    pub erase_count: Spread,
    /// Changes since the last call.
    pub since: Since,
}

/// Between two observations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Since {
    /// None without a clock.
    pub simulated_seconds: Option<f64>,
    /// Requests issued.
    pub requests: u64,
    /// The drive's counters in between.
    pub ledger: Ledger,
    /// None if the host wrote nothing.
    pub waf: Option<f64>,
    /// Reads, writes and trims completed a simulated second.
    pub iops: Option<f64>,
    /// None without a clock.
    pub die_utilization: Option<f64>,
    /// None where nothing was read, or without a clock.
    pub read_latency: Option<LatencySince>,
    /// None where nothing was written, or without a clock.
    pub write_latency: Option<LatencySince>,
}

/// Latencies between two observations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LatencySince {
    /// Requests.
    pub count: u64,
    /// Their mean.
    pub mean_ns: f64,
    /// The median.
    pub p50_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The 99.9th percentile.
    pub p999_ns: u64,
}

impl Seen {
    /// Starts with these values.
    pub fn new(drive: &dyn SimulatedDrive, look: &Look) -> Self {
        Self { requests: 0, ledger: *drive.ledger(), look: look.clone() }
    }

    /// Resets the counts, except the number of requests.
    pub fn begin_anew(&mut self, drive: &dyn SimulatedDrive, look: Look) {
        (self.ledger, self.look) = (*drive.ledger(), look);
    }

    /// `requests` is the number issued so far; None where only completed ones are known.
    pub fn figures(&mut self, drive: &dyn SimulatedDrive, look: Look, requests: Option<u64>) -> Figures {
        let completed = |look: &Look| look.completed.iter().sum::<u64>();
        let requests = requests.unwrap_or(self.requests + completed(&look) - completed(&self.look));
        let capacity = drive.capacity();
        let ledger = *drive.ledger();
        let waf = |ledger: &Ledger| {
            let programmed_bytes = ledger.programmed_units.total() as f64 * f64::from(capacity.counted_unit_bytes);
            (ledger.host_written_bytes > 0).then(|| programmed_bytes / ledger.host_written_bytes as f64)
        };
        let ledger_since = ledger - self.ledger;
        let since = Since {
            requests: requests - self.requests,
            waf: waf(&ledger_since),
            ledger: ledger_since,
            ..self.by_the_clock(&look)
        };
        let simulated_seconds = look.clock.as_ref().map(|clock| seconds(clock.now_ns));
        *self = Self { requests, ledger, look };
        Figures {
            simulated_seconds,
            requests,
            waf: waf(&ledger),
            ledger,
            free_erase_units: drive.free_erase_units(),
            erase_count: drive.erase_count(),
            capacity,
            since,
        }
    }

    fn by_the_clock(&self, look: &Look) -> Since {
        let nothing = Since {
            simulated_seconds: None,
            requests: 0,
            ledger: Ledger::default(),
            waf: None,
            iops: None,
            die_utilization: None,
            read_latency: None,
            write_latency: None,
        };
        let (Some(now), Some(before)) = (&look.clock, &self.look.clock) else { return nothing };
        let completed: u64 = look.completed.iter().sum::<u64>() - self.look.completed.iter().sum::<u64>();
        let elapsed_ns = now.now_ns - before.now_ns;
        let busy_ns = |clock: &ClockLook| clock.die_utilization * clock.now_ns as f64;
        let per_time = |value: f64| (elapsed_ns > 0).then(|| value / elapsed_ns as f64);
        Since {
            simulated_seconds: Some(seconds(elapsed_ns)),
            iops: per_time(completed as f64 * 1e9),
            die_utilization: per_time(busy_ns(now) - busy_ns(before)).map(|share| share.clamp(0.0, 1.0)),
            read_latency: latency_since(&now.reads, &before.reads),
            write_latency: latency_since(&now.writes, &before.writes),
            ..nothing
        }
    }
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

fn latency_since(now: &Histogram, before: &Histogram) -> Option<LatencySince> {
    let since = now.since(before);
    Some(LatencySince {
        count: since.count(),
        mean_ns: since.mean()?,
        p50_ns: since.percentile(0.5)?,
        p99_ns: since.percentile(0.99)?,
        p999_ns: since.percentile(0.999)?,
    })
}
