//! What a job fails by.

use super::job::{EndsOthers, PerDirection};
use serde::{Deserialize, Serialize};

/// The job fails when its rate falls below the least that is asked of it, or when a request takes longer than it may; see
/// `simulation/job_limits.rs`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobLimits {
    /// The least rate over a window (fio's `rate_min`, `rate_iops_min`). Null: any. Bytes go before requests, as in fio.
    pub bytes_per_second_min: PerDirection<Option<u64>>,
    pub iops_min: PerDirection<Option<u64>>,
    /// The least length of a window (fio's `rate_cycle`).
    pub window_ns: u64,
    /// The longest that a request may take (fio's `max_latency`). Null: as long as it likes.
    pub latency_ns_max: PerDirection<Option<u64>>,
    /// Which others end when the job fails.
    pub ends_others: EndsOthers,
}
