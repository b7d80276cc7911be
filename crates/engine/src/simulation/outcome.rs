//! What a run has counted.

use super::series::Columns;
use crate::ftl::{Capacity, Wear};
use crate::ledger::Ledger;
use crate::request::Operation;
use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    pub jobs: Vec<JobOutcome>,
    pub ledger: Ledger,
    pub capacity: Capacity,
    pub wear: Wear,
    pub stages: Vec<StageOutcome>,
    /// Nothing unless the run was to go on until the steady state.
    pub steady_state: Option<SteadyStateOutcome>,
    pub series: Columns,
    /// Why the drive stopped taking writes, if it did.
    pub failure: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobOutcome {
    pub name: String,
    pub clone: u32,
    pub stage: u32,
    pub read: Requests,
    pub write: Requests,
    pub trim: Requests,
    /// What the drive did while it served this job; cleaning counts for the job whose write set it off.
    pub ledger: Ledger,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Requests {
    pub ios: u64,
    pub bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StageOutcome {
    pub stage: u32,
    pub host_written_bytes_start: u64,
    pub host_written_bytes_end: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SteadyStateOutcome {
    pub reached: bool,
    /// Host bytes since the start of the run.
    pub at_host_bytes: Option<u64>,
    pub round_bytes: u64,
    pub range_share: Option<f64>,
    pub slope_share: Option<f64>,
    /// Write amplification of each round of the last stage; nothing where the host wrote nothing.
    pub round_waf: Vec<f64>,
    /// What the drive did in the last five rounds, or in all of them if they were fewer.
    pub window: Ledger,
}

impl JobOutcome {
    pub fn requests_mut(&mut self, operation: Operation) -> &mut Requests {
        match operation {
            Operation::Read => &mut self.read,
            Operation::Write => &mut self.write,
            Operation::Trim => &mut self.trim,
        }
    }
}
