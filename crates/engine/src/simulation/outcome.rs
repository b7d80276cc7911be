//! The results of a run.

use super::depth_search::DepthFound;
use super::intervals::Interval;
use super::job_limits::JobFailure;
use super::job_log::LogColumns;
use super::job_steady_state::JobSteadyStateOutcome;
use super::requests::Requests;
use super::series::Columns;
use super::time_series::TimeColumns;
use super::timed_rounds::SteadyTiming;
use crate::ftl::zoned::ZoneCounts;
use crate::ftl::{Capacity, GroupCounts, NamespaceCounts, PlacementReport, Wear};
use crate::ledger::{Ledger, NamespaceLedger};
use crate::request::Operation;
use crate::timing::breakdown::BreakdownColumns;
use crate::timing::front::read_counts::ReadCounts;
use crate::timing::histogram::Latency;
use crate::workload::store::StoreCounts;
use schemars::JsonSchema;
use serde::Serialize;

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Outcome {
    /// By job, in order.
    pub jobs: Vec<JobOutcome>,
    /// The drive's counters over the whole run.
    pub ledger: Ledger,
    /// The drive's capacities at the end.
    pub capacity: Capacity,
    /// The wear of all blocks at the end.
    pub wear: Wear,
    /// None for a drive without zones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<ZoneCounts>,
    /// In order; None for a drive without namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<Vec<NamespaceOutcome>>,
    /// In order; None for a drive without reclaim groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reclaim_groups: Option<Vec<GroupCounts>>,
    /// None for a drive without placement handles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<PlacementReport>,
    /// By stage, in order.
    pub stages: Vec<StageOutcome>,
    /// None unless the run was to continue until the steady state.
    pub steady_state: Option<SteadyStateOutcome>,
    /// The time series over host bytes.
    pub series: Columns,
    /// None without a clock.
    pub timing: Option<Timing>,
    /// Why the drive refused writes, if it did.
    pub failure: Option<String>,
}

/// The outcome of a job.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobOutcome {
    /// The job's name.
    pub name: String,
    /// The index of the clone.
    pub clone: u32,
    /// The index of the stage.
    pub stage: u32,
    /// Completed reads.
    pub read: Requests,
    /// Completed writes.
    pub write: Requests,
    /// Completed trims.
    pub trim: Requests,
    /// Flushes have 0 bytes.
    pub flush: Requests,
    /// The drive's counters for this job; garbage collection counts for the job whose write triggered it.
    pub ledger: Ledger,
    /// None without a clock.
    pub timing: Option<JobTiming>,
    /// Bytes written by a database, by cause; absent for other jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<StoreCounts>,
}

/// The outcome on the clock.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Timing {
    /// The simulated duration.
    pub simulated_ns: u64,
    /// The mean share of the time in which the dies were busy.
    pub die_utilization: f64,
    /// The time series over simulated time.
    pub series: TimeColumns,
    /// None unless the run was to report intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Vec<Interval>>,
}

/// The times of a job.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobTiming {
    /// When the counts began.
    pub start_ns: u64,
    /// When its last request completed.
    pub end_ns: u64,
    /// Latencies of reads.
    pub read: Latency,
    /// Latencies of writes.
    pub write: Latency,
    /// Latencies of trims.
    pub trim: Latency,
    /// Latencies of flushes.
    pub flush: Latency,
    /// Latencies of the writes of a recording that survive a loss of power when they complete (FUA), which are among
    /// its writes. None without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub through: Option<Latency>,
    /// None where requests come from outside.
    pub breakdown: Option<JobBreakdown>,
    /// None unless the job requests a log.
    pub log: Option<LogColumns>,
    /// None unless the job is to end in its steady state.
    pub steady_state: Option<JobSteadyStateOutcome>,
    /// None if the job met its limits, or has none.
    pub failure: Option<JobFailure>,
    /// None unless the job searches for a depth.
    pub depth: Option<DepthFound>,
}

/// The outcome of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NamespaceOutcome {
    /// Addresses that the host has written and not trimmed.
    pub live_units: u64,
    /// Since the drive was new.
    pub ledger: NamespaceLedger,
    /// In the last stage.
    pub last_stage: NamespaceLedger,
}

impl NamespaceOutcome {
    /// All namespaces, given their counters at the start of the last stage; None for a drive without any.
    pub fn all(now: &[NamespaceCounts], before: &[NamespaceCounts]) -> Option<Vec<Self>> {
        let outcome = |(now, before): (&NamespaceCounts, &NamespaceCounts)| Self {
            live_units: now.live_units,
            ledger: now.ledger,
            last_stage: now.ledger - before.ledger,
        };
        (!now.is_empty()).then(|| now.iter().zip(before).map(outcome).collect())
    }
}

/// The parts of the time of the requests, one row for each bin of the direction's latency.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobBreakdown {
    /// Of reads.
    pub read: BreakdownColumns,
    /// Of writes.
    pub write: BreakdownColumns,
    /// Of trims.
    pub trim: BreakdownColumns,
}

/// The boundaries of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StageOutcome {
    /// The index of the stage.
    pub stage: u32,
    /// Bytes written by the host before it.
    pub host_written_bytes_start: u64,
    /// Bytes written by the host at its end.
    pub host_written_bytes_end: u64,
    /// Read-ahead in the window; None for a drive, or a run, without it.
    pub read_ahead: Option<ReadCounts>,
}

/// The outcome of the search for the steady state.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SteadyStateOutcome {
    /// Whether the rule held within the limit of writes.
    pub reached: bool,
    /// Host bytes since the start of the run.
    pub at_host_bytes: Option<u64>,
    /// Host bytes of a round.
    pub round_bytes: u64,
    /// The range of the last rounds as a share of their mean.
    pub range_share: Option<f64>,
    /// The change of the least-squares line as a share of the mean.
    pub slope_share: Option<f64>,
    /// Write amplification of each round of the last stage; None where the host wrote nothing.
    pub round_waf: Vec<f64>,
    /// None without a clock.
    pub timing: Option<SteadyTiming>,
    /// The drive's counters in the rounds that are reported: the last five, or all of them if they were fewer; with a
    /// precision those behind the last change of trend.
    pub window: Ledger,
    /// Only with a precision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled: Option<SettledOutcome>,
}

/// How exactly the mean of the reported rounds is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SettledOutcome {
    /// The number of rounds that are reported.
    pub rounds: usize,
    /// Whether the intervals are as narrow as the precision asks.
    pub is_precise: bool,
    /// Half the width of the 95 % interval of write amplification; None with fewer than five rounds.
    pub waf_half_width: Option<f64>,
    /// That of requests a second; None also without a clock.
    pub iops_half_width: Option<f64>,
}

impl JobOutcome {
    /// A job without any activity yet.
    pub fn new(name: &str, clone: u32, stage: u32) -> Self {
        Self {
            name: name.to_owned(),
            clone,
            stage,
            read: Requests::default(),
            write: Requests::default(),
            trim: Requests::default(),
            flush: Requests::default(),
            ledger: Ledger::default(),
            timing: None,
            store: None,
        }
    }

    /// The counts of an operation.
    pub fn requests_mut(&mut self, operation: Operation) -> &mut Requests {
        match operation {
            Operation::Read => &mut self.read,
            Operation::Write => &mut self.write,
            Operation::Trim => &mut self.trim,
            Operation::Flush => &mut self.flush,
        }
    }
}
