//! Collects the erase unit with the fewest live units.
//!
//! Optimal for uniform writes. Under skew cold erase units remain at a medium count, neither cheap enough to be
//! collected nor full. Costs a scan of one word in sixty-four erase units.

use super::{Pool, VictimPolicy, View};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use crate::random::Random;
use crate::units::EraseUnit;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

pub struct Greedy;

impl Named for Greedy {
    const NAME: &'static str = "greedy";
    const SUMMARY: &'static str = "the erase unit with the fewest live units";
    const SOURCE: &'static str = "Rosenblum and Ousterhout 1992";
    type Config = Config;
}

impl VictimPolicy for Greedy {
    fn new(_config: Config, _erase_units: u32) -> Result<Self, SpecificationError> {
        Ok(Self)
    }

    fn choose(&self, view: &View<'_>, pool: Pool, _random: &mut Random) -> Option<EraseUnit> {
        match (pool, view.die) {
            (Pool::All, None) => view.occupancy.least(),
            (Pool::All, Some(die)) => view.occupancy.least_on(die),
            (Pool::Only(_), _) => view.candidates(pool).min_by_key(|&erase_unit| view.occupancy.live_units(erase_unit)),
        }
    }
}
