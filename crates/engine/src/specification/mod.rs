//! The fully resolved description of a run: what the hardware is, what the host does, when to stop.
//!
//! Defaults, percentages and units are resolved above the engine; here every value is said, so that a specification
//! and its seed are enough to run again to the same bytes. The words are those of the drive file and the result.

pub mod drive;
pub mod job;
pub mod store;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use drive::Drive;
pub use job::Job;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Specification {
    pub seed: u64,
    pub drive: Drive,
    /// Whether the drive has a clock. Without one there is write amplification only, found much faster.
    pub timed: bool,
    pub until: Until,
    /// The most points that the time series may hold; it is thinned by halves when it would grow past this.
    pub series_points_max: u32,
    /// What the drive did is counted in intervals of simulated time of this length too. Null: it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_ns: Option<u64>,
    /// Ordered by stage: all jobs of a stage run side by side, and a stage starts when the one before it has ended.
    pub jobs: Vec<Job>,
}

/// When the last stage ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Until {
    /// When its jobs have done what they ask for.
    Job,
    /// Its jobs start over until write amplification is steady by SNIA's rule, or `host_bytes_max` have been written in
    /// the stage.
    SteadyState { round_bytes: u64, host_bytes_max: u64 },
}
