//! The results of a run.

use super::depth_search::DepthFound;
use super::intervals::Interval;
use super::job_limits::JobFailure;
use super::job_log::LogColumns;
use super::job_steady_state::JobSteadyStateOutcome;
use super::series::Columns;
use super::time_series::TimeColumns;
use super::timed_rounds::SteadyTiming;
use crate::ftl::zoned::ZoneCounts;
use crate::ftl::{Capacity, NamespaceCounts, Wear};
use crate::ledger::{Ledger, NamespaceLedger};
use crate::request::Operation;
use crate::timing::breakdown::BreakdownColumns;
use crate::timing::front::read_counts::ReadCounts;
use crate::timing::histogram::Latency;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Outcome {
    pub jobs: Vec<JobOutcome>,
    pub ledger: Ledger,
    pub capacity: Capacity,
    pub wear: Wear,
    /// None for a drive without zones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<ZoneCounts>,
    /// In order; None for a drive without namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<Vec<NamespaceOutcome>>,
    pub stages: Vec<StageOutcome>,
    /// None unless the run was to continue until the steady state.
    pub steady_state: Option<SteadyStateOutcome>,
    pub series: Columns,
    /// None without a clock.
    pub timing: Option<Timing>,
    /// Why the drive refused writes, if it did.
    pub failure: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobOutcome {
    pub name: String,
    pub clone: u32,
    pub stage: u32,
    pub read: Requests,
    pub write: Requests,
    pub trim: Requests,
    /// Flushes have 0 bytes.
    pub flush: Requests,
    /// The drive's counters for this job; garbage collection counts for the job whose write triggered it.
    pub ledger: Ledger,
    /// None without a clock.
    pub timing: Option<JobTiming>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Timing {
    pub simulated_ns: u64,
    /// The mean share of the time in which the dies were busy.
    pub die_utilization: f64,
    pub series: TimeColumns,
    /// None unless the run was to report intervals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Vec<Interval>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JobTiming {
    pub start_ns: u64,
    pub end_ns: u64,
    pub read: Latency,
    pub write: Latency,
    pub trim: Latency,
    pub flush: Latency,
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
    pub read: BreakdownColumns,
    pub write: BreakdownColumns,
    pub trim: BreakdownColumns,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Requests {
    pub ios: u64,
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StageOutcome {
    pub stage: u32,
    pub host_written_bytes_start: u64,
    pub host_written_bytes_end: u64,
    /// Read-ahead in the window; None for a drive, or a run, without it.
    pub read_ahead: Option<ReadCounts>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SteadyStateOutcome {
    pub reached: bool,
    /// Host bytes since the start of the run.
    pub at_host_bytes: Option<u64>,
    pub round_bytes: u64,
    pub range_share: Option<f64>,
    pub slope_share: Option<f64>,
    /// Write amplification of each round of the last stage; None where the host wrote nothing.
    pub round_waf: Vec<f64>,
    /// None without a clock.
    pub timing: Option<SteadyTiming>,
    /// The drive's counters in the last five rounds, or in all of them if they were fewer.
    pub window: Ledger,
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
        }
    }

    pub fn requests_mut(&mut self, operation: Operation) -> &mut Requests {
        match operation {
            Operation::Read => &mut self.read,
            Operation::Write => &mut self.write,
            Operation::Trim => &mut self.trim,
            Operation::Flush => &mut self.flush,
        }
    }
}
