//! Dynamic, and moves data out of an erase unit that has fallen too far behind the most worn one.
//!
//! Puts cold data's erase units into circulation at the price of programs that the ledger counts as wear levelling.
//! After each erase it looks at the next few erase units in turn, so the price of looking does not grow with the drive.

use super::{LOOKED_AT, View, WearPolicy};
use crate::error::SpecificationError;
use crate::ftl::numbers::EraseUnit;
use crate::policies::registry::Named;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How many erases an erase unit may lie behind the most worn one, 1 or more.
    pub threshold: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { threshold: 100 }
    }
}

pub struct Static {
    threshold: u32,
    next: u32,
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
        Ok(Self { threshold: config.threshold, next: 0 })
    }

    fn prefers_least_worn(&self) -> bool {
        true
    }

    fn erase_unit_to_level(&mut self, view: &View<'_>) -> Option<EraseUnit> {
        for _ in 0..LOOKED_AT.min(view.erase_units()) {
            let erase_unit = EraseUnit(self.next);
            self.next = (self.next + 1) % view.erase_units();
            let behind = view.erase_count_max - view.erase_counts[erase_unit.index()].min(view.erase_count_max);
            if behind > self.threshold && view.is_closed(erase_unit) {
                return Some(erase_unit);
            }
        }
        None
    }

    fn state(&self) -> serde_json::Value {
        serde_json::json!(self.next)
    }

    fn restore(&mut self, state: serde_json::Value) -> Result<(), serde_json::Error> {
        self.next = serde_json::from_value(state)?;
        Ok(())
    }
}
