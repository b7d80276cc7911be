//! Dynamic, and moves data out of an erase unit whose erase count is too far below that of the most worn one.
//!
//! Puts the erase units of cold data into circulation at the price of programs that the ledger counts as wear
//! levelling. After each erase the next few erase units are examined in turn, so the cost does not grow with the drive.

use super::WearPolicy;
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The allowed difference in erases from the most worn erase unit, at least 1.
    pub threshold: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { threshold: 100 }
    }
}

pub struct Static {
    threshold: u32,
}

impl Named for Static {
    const NAME: &'static str = "static";
    const SUMMARY: &'static str =
        "dynamic, and data that lies still is moved when its erase unit falls behind by a threshold";
    const SOURCE: &'static str = "Gal and Toledo 2005; Chang, Hsieh and Kuo 2007";
    type Config = Config;
}

impl WearPolicy for Static {
    fn new(config: Config) -> Result<Self, SpecificationError> {
        if config.threshold == 0 {
            let allowed = "a whole number of erases, 1 or more";
            return Err(SpecificationError::new("ftl.wear_leveling.threshold", config.threshold, allowed));
        }
        Ok(Self { threshold: config.threshold })
    }

    fn prefers_least_worn(&self) -> bool {
        true
    }

    fn threshold(&self) -> Option<u32> {
        Some(self.threshold)
    }
}
