//! Draws d erase units at random, with replacement, and cleans the one with the fewest live units.
//!
//! Wins simplicity: with d of about ten it comes close to greedy without any index. Costs d random accesses.

use super::{Pool, VictimPolicy, View};
use crate::error::SpecificationError;
use crate::ftl::numbers::EraseUnit;
use crate::policies::registry::Named;
use crate::random::Random;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How many are drawn, 1 or more.
    pub d: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { d: 10 }
    }
}

pub struct DChoices {
    draw: Draw,
    d: u32,
}

impl Named for DChoices {
    const NAME: &'static str = "d-choices";
    const SUMMARY: &'static str = "the one with the fewest live units among d drawn at random";
    const SOURCE: &'static str = "Van Houdt 2013; Li, Lee and Lui 2013";
    type Config = Config;
}

impl VictimPolicy for DChoices {
    fn new(config: Config, _erase_units: u32, seed: u64) -> Result<Self, SpecificationError> {
        if config.d == 0 {
            return Err(SpecificationError::new("ftl.victim.d", config.d, "a whole number of 1 or more"));
        }
        Ok(Self { draw: Draw::new(seed), d: config.d })
    }

    fn choose(&mut self, view: &mut View<'_>, pool: Pool) -> Option<EraseUnit> {
        let drawn = (0..self.d).map_while(|_| self.draw.one(view, pool));
        drawn.min_by_key(|&erase_unit| view.occupancy.live_units(erase_unit))
    }

    fn state(&self) -> serde_json::Value {
        serde_json::json!(self.draw)
    }

    fn restore(&mut self, state: serde_json::Value) -> Result<(), serde_json::Error> {
        self.draw = serde_json::from_value(state)?;
        Ok(())
    }
}

/// Draws candidates, all with the same chance.
#[derive(Serialize, Deserialize)]
pub struct Draw {
    random: Random,
}

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self { random: Random::new(seed ^ 0x7669_6374) }
    }

    pub fn one(&mut self, view: &View<'_>, pool: Pool) -> Option<EraseUnit> {
        // Nearly all erase units are closed when cleaning runs, so a draw seldom misses. A small pool is listed instead.
        for _ in 0..64 {
            let erase_unit = match view.on_die {
                None => EraseUnit(self.random.below(u64::from(view.erase_units)) as u32),
                Some(on_die) => on_die[self.random.below(on_die.len() as u64) as usize],
            };
            if view.is_closed_in(erase_unit, pool) {
                return Some(erase_unit);
            }
        }
        let candidates: Vec<EraseUnit> = view.candidates(pool).collect();
        if candidates.is_empty() {
            return None;
        }
        Some(candidates[self.random.below(candidates.len() as u64) as usize])
    }
}
