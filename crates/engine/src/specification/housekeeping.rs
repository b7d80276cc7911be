//! What a drive does in idle time. Field names are the keys of the drive file's table.

use serde::{Deserialize, Serialize};

/// All off unless said otherwise. Idle time is a matter of the clock: without one there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Housekeeping {
    /// How long nothing must have been asked of the drive before it begins.
    pub idle_after_ms: f64,
    /// What idle cleaning keeps erased for the host, beside the reserve and the one in hand below which cleaning runs
    /// anyway; 0: no cleaning ahead.
    pub erased_pool_bytes: u64,
    /// Rewrites what lies in another order than its addresses.
    pub defragment: bool,
    /// Static wear levelling waits for idle time.
    pub wear_leveling: bool,
    /// Page reads of a block after which its data is moved; 0: never.
    pub read_disturb_reads: u32,
    /// Age at which data is moved; 0: never.
    pub retention_days: f64,
}
