//! Collects any erase unit.
//!
//! No gain; a baseline for the others, equal to d-choices with d = 1. Costs one random number.

use super::d_choices::draw;
use super::{Pool, VictimPolicy, View};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use crate::random;
use crate::units::EraseUnit;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

pub struct Random;

impl Named for Random {
    const NAME: &'static str = "random";
    const SUMMARY: &'static str = "any erase unit, all with the same chance";
    const SOURCE: &'static str = "Van Houdt 2013";
    type Config = Config;
}

impl VictimPolicy for Random {
    fn new(_config: Config, _erase_units: u32) -> Result<Self, SpecificationError> {
        Ok(Self)
    }

    fn choose(&self, view: &View<'_>, pool: Pool, random: &mut random::Random) -> Option<EraseUnit> {
        draw(view, pool, random)
    }
}
