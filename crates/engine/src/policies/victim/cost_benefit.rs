//! Collects the erase unit with the highest ratio of freed space times age to work: (1 - u) x age / 2u, with u the live
//! share.
//!
//! Effective under skew: an old erase unit is cold and loses units slowly, so it is collected while still fairly full,
//! and a hot one is left to lose more. Costs a scan of all erase units for each collection. With `age_power` below 1
//! age counts for less, down to greedy at 0: drives that separate cold data imperfectly lie in between. Far above 1 the
//! oldest erase unit with any stale unit is collected, so that one that is losing units quickly is left until it is
//! old.

use super::{Pool, VictimPolicy, View};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use crate::random::Random;
use crate::random::power::{exp2, log2};
use crate::units::EraseUnit;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The exponent of the age, from 0 to 8.
    pub age_power: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { age_power: 1.0 }
    }
}

pub struct CostBenefit {
    age_power: f64,
}

impl Named for CostBenefit {
    const NAME: &'static str = "cost-benefit";
    const SUMMARY: &'static str = "the most space gained, times its age, for the work of moving what is live";
    const SOURCE: &'static str = "Rosenblum and Ousterhout 1992; for flash Kawaguchi, Nishioka and Motoda 1995";
    type Config = Config;
}

impl VictimPolicy for CostBenefit {
    fn new(config: Config, _erase_units: u32) -> Result<Self, SpecificationError> {
        let age_power = config.age_power;
        if !(0.0..=8.0).contains(&age_power) {
            return Err(SpecificationError::new("ftl.victim.age_power", age_power, "a number from 0 to 8"));
        }
        Ok(Self { age_power })
    }

    fn choose(&self, view: &View<'_>, pool: Pool, _random: &mut Random) -> Option<EraseUnit> {
        most_beneficial(view, pool, |erase_unit| {
            let age = (view.now - view.closed_at[erase_unit.index()]) as f64 + 1.0;
            if self.age_power == 1.0 { age } else { exp2(self.age_power * log2(age)) }
        })
    }
}

/// The candidate with the most space gained, times its age, for the work; among equals, the lowest number.
pub(super) fn most_beneficial(view: &View<'_>, pool: Pool, age: impl Fn(EraseUnit) -> f64) -> Option<EraseUnit> {
    let units = f64::from(view.data_units_per_erase_unit);
    let mut best: Option<(f64, EraseUnit)> = None;
    for erase_unit in view.candidates(pool) {
        let live = f64::from(view.occupancy.live_units(erase_unit));
        let score = if live == 0.0 { f64::INFINITY } else { (units - live) * age(erase_unit) / (2.0 * live) };
        if best.is_none_or(|(highest, _)| score > highest) {
            best = Some((score, erase_unit));
        }
    }
    best.map(|(_, erase_unit)| erase_unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_of_the_age_outside_0_to_1_is_refused() {
        assert!([-0.1, 8.1, f64::NAN].iter().all(|&age_power| CostBenefit::new(Config { age_power }, 8).is_err()));
        assert!([0.0, 0.5, 1.0, 8.0].iter().all(|&age_power| CostBenefit::new(Config { age_power }, 8).is_ok()));
    }
}
