//! When a job may end because its rate is steady.

use serde::{Deserialize, Serialize};

/// A rule for a job's steady state, fio's or SNIA's; see `simulation/job_steady_state.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobSteadyState {
    pub criterion: SteadyCriterion,
    /// In requests or bytes a second, or in percent of the mean. SNIA's rule has its own limits.
    pub limit: f64,
    pub is_percent: bool,
    /// Seconds over which the rule looks.
    pub duration_seconds: u32,
    /// Before it begins to look.
    pub ramp_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SteadyCriterion {
    Iops,
    IopsSlope,
    Bw,
    BwSlope,
    /// SNIA's rule over five rounds, each a fifth of the duration.
    SniaPtsIops,
    SniaPtsBw,
}

impl SteadyCriterion {
    pub fn is_snia(self) -> bool {
        matches!(self, Self::SniaPtsIops | Self::SniaPtsBw)
    }
}
