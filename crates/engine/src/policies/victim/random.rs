//! Cleans any erase unit.
//!
//! Wins nothing; it is the yardstick for the others, and is the same as d-choices with d = 1. Costs one random number.

use super::d_choices::Draw;
use super::{Pool, VictimPolicy, View};
use crate::error::SpecificationError;
use crate::ftl::numbers::EraseUnit;
use crate::policies::registry::Named;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

pub struct Random {
    draw: Draw,
}

impl Named for Random {
    const NAME: &'static str = "random";
    const SUMMARY: &'static str = "any erase unit, all with the same chance";
    const SOURCE: &'static str = "Van Houdt 2013";
    type Config = Config;
}

impl VictimPolicy for Random {
    fn new(_config: Config, _erase_units: u32, seed: u64) -> Result<Self, SpecificationError> {
        Ok(Self { draw: Draw::new(seed) })
    }

    fn choose(&mut self, view: &mut View<'_>, pool: Pool) -> Option<EraseUnit> {
        self.draw.one(view, pool)
    }

    fn state(&self) -> serde_json::Value {
        serde_json::json!(self.draw)
    }

    fn restore(&mut self, state: serde_json::Value) -> Result<(), serde_json::Error> {
        self.draw = serde_json::from_value(state)?;
        Ok(())
    }
}
