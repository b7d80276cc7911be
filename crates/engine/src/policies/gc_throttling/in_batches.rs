//! Moves as much as `proportional`, but in batches.
//!
//! A controller reads a word line of all planes at once and fills a whole program with it, so it moves tens of units at
//! a time or none. Larger batches are the bursts of drives whose writes stall at regular intervals: after every B
//! written units the flash performs garbage collection for the duration of a batch, alone or, in pieces
//! (`units_at_a_time`), beside the host's writes: the dies then get the next piece when they have nearly performed the
//! last one. The more the host writes meanwhile, the longer a batch takes.

use super::{GcThrottlingPolicy, Pace, View, proportional};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Mapping units moved together, 1 to 10^6.
    pub units: u32,
    /// Mapping units of a batch that are queued at the dies at a time, 0 to 10^6; 0: the whole batch.
    pub units_at_a_time: u32,
    /// How much more is moved while there are too few erased units, as a share, 0 to 100.
    pub catch_up: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { units: 48, units_at_a_time: 0, catch_up: proportional::Config::default().catch_up }
    }
}

pub struct InBatches {
    even: proportional::Proportional,
    units: u32,
    units_at_a_time: u32,
}

impl Named for InBatches {
    const NAME: &'static str = "in-batches";
    const SUMMARY: &'static str = "as many live units are moved as by `proportional`, but so many together";
    const SOURCE: &'static str = "-";
    type Config = Config;
}

impl GcThrottlingPolicy for InBatches {
    fn new(config: Config) -> Result<Self, SpecificationError> {
        if !(1..=1_000_000).contains(&config.units) {
            return Err(SpecificationError::new(
                "ftl.gc_throttling.units",
                config.units,
                "mapping units from 1 to 10^6",
            ));
        }
        if config.units_at_a_time > 1_000_000 {
            return Err(SpecificationError::new(
                "ftl.gc_throttling.units_at_a_time",
                config.units_at_a_time,
                "mapping units from 0 to 10^6",
            ));
        }
        let even = proportional::Proportional::new(proportional::Config { catch_up: config.catch_up })?;
        Ok(Self { even, units: config.units, units_at_a_time: config.units_at_a_time })
    }

    #[inline]
    fn pace(&self, view: &View) -> Pace {
        self.even.pace(view)
    }

    fn batch_units(&self) -> u64 {
        u64::from(self.units)
    }

    fn piece_units(&self) -> Option<u64> {
        (self.units_at_a_time > 0).then(|| u64::from(self.units_at_a_time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_is_the_even_one_and_a_batch_is_at_least_a_unit() {
        let view =
            View { free_erase_units: 3, floor_erase_units: 3, live_units: 48, gained_units: 16, written_units: 2 };
        let policy = InBatches::new(Config { units: 480, ..Config::default() }).unwrap();
        assert_eq!((policy.pace(&view), policy.batch_units()), (Pace::Parts(96), 480));
        assert_eq!(policy.piece_units(), None);
        let in_pieces = InBatches::new(Config { units_at_a_time: 24, ..Config::default() }).unwrap();
        assert_eq!((in_pieces.batch_units(), in_pieces.piece_units()), (48, Some(24)));
        for config in
            [Config { units: 0, ..Config::default() }, Config { units_at_a_time: 1_000_001, ..Config::default() }]
        {
            assert!(InBatches::new(config).is_err());
        }
    }
}
