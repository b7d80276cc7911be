//! Draws d erase units at random, with replacement, and collects the one with the fewest live units.
//!
//! Simple: with d of about ten it comes close to greedy without any index. Costs d random accesses.

use super::{Pool, VictimPolicy, View};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use crate::random::Random;
use crate::units::EraseUnit;
use serde::{Deserialize, Serialize};

/// With more, the victim is as good as greedy's and a run takes for ever.
const D_MAX: u32 = 1000;

#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Number of erase units drawn, from 1 to `D_MAX`.
    pub d: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { d: 10 }
    }
}

pub struct DChoices {
    d: u32,
}

impl Named for DChoices {
    const NAME: &'static str = "d-choices";
    const SUMMARY: &'static str = "the one with the fewest live units among d drawn at random";
    const SOURCE: &'static str = "Van Houdt 2013; Li, Lee and Lui 2013";
    type Config = Config;
}

impl VictimPolicy for DChoices {
    fn new(config: Config, _erase_units: u32) -> Result<Self, SpecificationError> {
        if !(1..=D_MAX).contains(&config.d) {
            return Err(SpecificationError::new("ftl.victim.d", config.d, format!("a whole number from 1 to {D_MAX}")));
        }
        Ok(Self { d: config.d })
    }

    fn choose(&self, view: &View<'_>, pool: Pool, random: &mut Random) -> Option<EraseUnit> {
        let drawn = (0..self.d).map_while(|_| draw(view, pool, random));
        drawn.min_by_key(|&erase_unit| view.occupancy.live_units(erase_unit))
    }
}

/// Draws a candidate, all with equal probability.
pub fn draw(view: &View<'_>, pool: Pool, random: &mut Random) -> Option<EraseUnit> {
    // Nearly all erase units are closed when garbage is collected, so a draw seldom fails. A small pool is listed
    // instead.
    for _ in 0..64 {
        let erase_unit = match view.on_die {
            None => EraseUnit(random.below(u64::from(view.erase_units)) as u32),
            Some(on_die) => on_die[random.below(on_die.len() as u64) as usize],
        };
        if view.is_closed_in(erase_unit, pool) {
            return Some(erase_unit);
        }
    }
    let candidates: Vec<EraseUnit> = view.candidates(pool).collect();
    if candidates.is_empty() {
        return None;
    }
    Some(candidates[random.below(candidates.len() as u64) as usize])
}
