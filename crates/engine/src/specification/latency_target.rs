//! A latency that a job looks for the right depth by.

use serde::{Deserialize, Serialize};

/// The job looks for the most requests outstanding at which it keeps to a latency (fio's `latency_target`), up to its
/// `iodepth`; see `simulation/depth_search.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatencyTarget {
    pub latency_ns: u64,
    /// How long a depth is tried.
    pub window_ns: u64,
    /// So many of the requests must be in time, above 0 to 100.
    pub percent: f64,
    /// Whether the job goes on looking to its end, and does not end at the depth that it found.
    pub goes_on: bool,
}
