//! The complete description of a run: the hardware, the host's requests, and when to stop.
//!
//! Defaults, percentages and units are resolved above the engine; here every value is explicit, so that a specification
//! and its seed suffice to repeat the run byte for byte. Names are those of the drive file and the result.

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
    /// The seed of everything random but the jobs' requests.
    pub seed: u64,
    /// The drive.
    pub drive: Drive,
    /// Whether the drive has a clock. Without one only write amplification is computed, much faster.
    pub timed: bool,
    /// When the run ends.
    pub until: Until,
    /// The maximum number of points of the time series; it is thinned by half when it would exceed this.
    pub series_points_max: u32,
    /// The drive's counters are also reported in intervals of simulated time of this length. Null: they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_ns: Option<u64>,
    /// Ordered by stage: all jobs of a stage run concurrently, and a stage starts when the previous one has ended.
    pub jobs: Vec<Job>,
}

/// When the last stage ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs, reason = "the variant's comment names its fields")]
pub enum Until {
    /// When its jobs are complete.
    Job,
    /// Its jobs restart until write amplification is steady by SNIA's rule, or `host_bytes_max` have been written in
    /// the stage. With a `precision`, a share, it goes on until the mean of the rounds behind the last change of trend
    /// is known that exactly; what is reported are these rounds, else the five of the rule.
    SteadyState {
        round_bytes: u64,
        host_bytes_max: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        precision: Option<f64>,
    },
}
