//! One block is filled before the next is opened, on the next die.
//!
//! The fewest open blocks, so garbage collection has the most spare area; and the slowest, since all programs of a
//! stream queue at one die. For drives so small that a half-empty block on each die would be costly, and for comparison
//! with theory.

use super::{DieChoicePolicy, View};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use crate::random::Random;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

pub struct OneBlock;

impl Named for OneBlock {
    const NAME: &'static str = "one-block";
    const SUMMARY: &'static str = "one block is open at a time, on one die after the other, instead of one on each die";
    const SOURCE: &'static str = "-";
    type Config = Config;
}

impl DieChoicePolicy for OneBlock {
    const KEEPS_ONE_BLOCK: bool = true;

    fn new(_config: Config) -> Result<Self, SpecificationError> {
        Ok(Self)
    }

    fn choose<R: Fn(u32) -> bool>(&self, view: &View<R>, _random: &mut Random) -> u32 {
        view.in_turn().next().expect("a die has room")
    }
}
