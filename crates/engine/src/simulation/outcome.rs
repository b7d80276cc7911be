//! What a run has counted.

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
use crate::workload::store::StoreCounts;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Outcome {
    pub jobs: Vec<JobOutcome>,
    pub ledger: Ledger,
    pub capacity: Capacity,
    pub wear: Wear,
    /// Nothing for a drive without zones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<ZoneCounts>,
    /// In their order; nothing for a drive without namespaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<Vec<NamespaceOutcome>>,
    pub stages: Vec<StageOutcome>,
    /// Nothing unless the run was to go on until the steady state.
    pub steady_state: Option<SteadyStateOutcome>,
    pub series: Columns,
    /// Nothing without a clock.
    pub timing: Option<Timing>,
    /// Why the drive stopped taking writes, if it did.
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
    /// Their bytes are 0.
    pub flush: Requests,
    /// What the drive did while it served this job; garbage collection counts for the job whose write set it off.
    pub ledger: Ledger,
    /// Nothing without a clock.
    pub timing: Option<JobTiming>,
    /// What a database asked for, by cause; nothing of any other job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<StoreCounts>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Timing {
    pub simulated_ns: u64,
    /// The share of the time in which the dies were at work, on average.
    pub die_utilization: f64,
    pub series: TimeColumns,
    /// Nothing unless the run was to count in intervals.
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
    /// Nothing where requests come from outside.
    pub breakdown: Option<JobBreakdown>,
    /// Nothing unless the job asks for a log.
    pub log: Option<LogColumns>,
    /// Nothing unless the job is to end in its steady state.
    pub steady_state: Option<JobSteadyStateOutcome>,
    /// Nothing where the job kept to its limits, or has none.
    pub failure: Option<JobFailure>,
    /// Nothing unless the job looks for a depth.
    pub depth: Option<DepthFound>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NamespaceOutcome {
    /// Addresses that the host has written and not trimmed.
    pub live_units: u64,
    /// Since the drive was new.
    pub ledger: NamespaceLedger,
    /// In the stage that the run ended with.
    pub last_stage: NamespaceLedger,
}

impl NamespaceOutcome {
    /// Of all namespaces, with what they had counted when the last stage began; nothing for a drive without any.
    pub fn all(now: &[NamespaceCounts], before: &[NamespaceCounts]) -> Option<Vec<Self>> {
        let outcome = |(now, before): (&NamespaceCounts, &NamespaceCounts)| Self {
            live_units: now.live_units,
            ledger: now.ledger,
            last_stage: now.ledger - before.ledger,
        };
        (!now.is_empty()).then(|| now.iter().zip(before).map(outcome).collect())
    }
}

/// Where the time of the requests went, a row for each bin of the direction's latency.
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
    /// What was read ahead in it; nothing for a drive, or a run, that does not.
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
    /// Write amplification of each round of the last stage; nothing where the host wrote nothing.
    pub round_waf: Vec<f64>,
    /// Nothing without a clock.
    pub timing: Option<SteadyTiming>,
    /// What the drive did in the last five rounds, or in all of them if they were fewer.
    pub window: Ledger,
}

impl JobOutcome {
    /// One that has done nothing yet.
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

    pub fn requests_mut(&mut self, operation: Operation) -> &mut Requests {
        match operation {
            Operation::Read => &mut self.read,
            Operation::Write => &mut self.write,
            Operation::Trim => &mut self.trim,
            Operation::Flush => &mut self.flush,
        }
    }
}
