//! Cleans the erase unit with the fewest live units.
//!
//! Wins for uniform writes, where nothing can do better. Under skew it lets cold erase units sit at a middling count,
//! neither cheap enough to be cleaned nor full. Costs a scan of one word in sixty-four erase units.

use super::{Pool, VictimPolicy, View};
use crate::error::SpecificationError;
use crate::ftl::numbers::EraseUnit;
use crate::policies::registry::Named;
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
    fn new(_config: Config, _erase_units: u32, _seed: u64) -> Result<Self, SpecificationError> {
        Ok(Self)
    }

    fn choose(&mut self, view: &mut View<'_>, pool: Pool) -> Option<EraseUnit> {
        match pool {
            Pool::All if view.on_die.is_none() => view.occupancy.least(),
            _ => view.candidates(pool).min_by_key(|&erase_unit| view.occupancy.live_units(erase_unit)),
        }
    }
}
