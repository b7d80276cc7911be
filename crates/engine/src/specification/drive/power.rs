//! The table `[power]`: the energy of what a drive does. Field names are the keys of the drive file.
//!
//! A run uses it for a limit only (`timing/front/power_limit.rs`): results multiply it by the ledger's counters and the
//! simulated time (`python/ssdlab/simulator/results/energy.py`).

use crate::error::SpecificationError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Power at rest and the energy of each operation. Off, and the energy of a run unknown, unless the first three are
/// given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Power {
    /// power without requests, which the energies below are added to
    #[schemars(example = 1.0, extend("unit" = "W", "exclusiveMinimum" = 0.0, "acts" = "in energies"))]
    pub idle_watts: Option<f64>,
    /// energy of reading a page; a unit takes its share of it
    #[schemars(range(min = 0, max = 100_000), example = 12.0, extend("unit" = "uJ", "acts" = "in energies"))]
    pub read_uj: Option<f64>,
    /// energy of programming a page
    #[schemars(range(min = 0, max = 100_000), example = 60.0, extend("unit" = "uJ", "acts" = "in energies"))]
    pub program_uj: Option<f64>,
    /// energy of erasing a block; 0: contained in `program_uj`
    #[schemars(range(min = 0, max = 10_000_000), example = 500.0, extend("unit" = "uJ", "acts" = "in energies"))]
    pub erase_uj: f64,
    /// energy of a byte between host and flash; 0: contained in `read_uj` and `program_uj`
    #[schemars(range(min = 0, max = 1000), example = 0.3, extend("unit" = "nJ/B", "acts" = "in energies"))]
    pub transfer_nj_per_byte: f64,
    /// the controller's energy for a command of the host; 0: contained in the other values
    #[schemars(range(min = 0, max = 100_000), example = 8.0, extend("unit" = "uJ", "acts" = "in energies"))]
    pub command_uj: f64,
    /// mean power above which commands wait, as in a power state of NVMe; absent: no limit
    #[schemars(example = 8.25, extend("unit" = "W", "exclusiveMinimum" = 0.0, "acts" = "with a clock"))]
    pub limit_watts: Option<f64>,
}

impl Power {
    /// Checks that concern a limit only. Errors name the key.
    pub fn check(&self) -> Result<(), SpecificationError> {
        let Some(limit_watts) = self.limit_watts else { return Ok(()) };
        let needed = [("idle_watts", self.idle_watts), ("read_uj", self.read_uj), ("program_uj", self.program_uj)];
        if let Some((key, _)) = needed.into_iter().find(|(_, value)| value.is_none()) {
            let allowed = "a number, with power.limit_watts: a limit needs the energy of what the drive does";
            return Err(SpecificationError::new(format!("power.{key}"), "absent", allowed));
        }
        match self.idle_watts {
            Some(idle_watts) if !(limit_watts > idle_watts && limit_watts.is_finite()) => {
                let allowed = format!("above power.idle_watts, {idle_watts}");
                Err(SpecificationError::new("power.limit_watts", limit_watts, allowed))
            }
            _ => Ok(()),
        }
    }
}
