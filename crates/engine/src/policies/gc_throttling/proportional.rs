//! Spreads the moves of a victim's live units evenly over the writes that use the space it frees.
//!
//! A victim with L live units of N frees N - L. So L / (N - L) units are moved for each unit that the host writes, and
//! the victim is complete just when its space is needed: the host is slowed evenly and never stopped. The best choice
//! where the tail of the latency matters; in return some garbage collection is always in progress.

use super::{GcThrottlingPolicy, Pace, View};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How much more is moved while there are too few erased units, as a share, 0 to 100.
    pub catch_up: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { catch_up: 0.25 }
    }
}

pub struct Proportional {
    catch_up: f64,
}

impl Named for Proportional {
    const NAME: &'static str = "proportional";
    const SUMMARY: &'static str =
        "so many live units are moved for each unit written that the victim is empty just in time";
    const SOURCE: &'static str = "-";
    type Config = Config;
}

impl GcThrottlingPolicy for Proportional {
    fn new(config: Config) -> Result<Self, SpecificationError> {
        if !(0.0..=100.0).contains(&config.catch_up) {
            return Err(SpecificationError::new(
                "ftl.gc_throttling.catch_up",
                config.catch_up,
                "a share from 0 to 100",
            ));
        }
        Ok(Self { catch_up: config.catch_up })
    }

    #[inline]
    fn pace(&self, view: &View) -> Pace {
        let is_behind = view.free_erase_units < view.floor_erase_units;
        let more = if is_behind { (view.live_units as f64 * self.catch_up) as u64 } else { 0 };
        Pace::Parts(view.written_units * (view.live_units + more))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_done_when_what_it_gains_is_written() {
        let policy = Proportional::new(Config::default()).unwrap();
        let view =
            View { free_erase_units: 3, floor_erase_units: 3, live_units: 48, gained_units: 16, written_units: 1 };
        assert_eq!(policy.pace(&view), Pace::Parts(48));
        assert_eq!(policy.pace(&View { written_units: 2, ..view }), Pace::Parts(96));
        assert_eq!(policy.pace(&View { free_erase_units: 2, ..view }), Pace::Parts(60));
        assert!(Proportional::new(Config { catch_up: -1.0 }).is_err());
    }
}
