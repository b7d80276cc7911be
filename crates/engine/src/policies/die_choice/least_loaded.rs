//! The die that will be free first; among equals, the one whose turn it is.
//!
//! A die busy with garbage collection or reads is skipped until it has caught up, so that requests do not queue behind
//! it: all wait about equally long, and the flash is better utilised. Sequential writes are spread less evenly over the
//! dies. Costs a comparison of all dies for each request and each group, and a running sum of each die's queued work.

use super::{DieChoicePolicy, View};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use crate::random::Random;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

pub struct LeastLoaded;

impl Named for LeastLoaded {
    const NAME: &'static str = "least-loaded";
    const SUMMARY: &'static str = "the die that will have done first what is queued; without a clock as round-robin";
    const SOURCE: &'static str = "Tavakkol, Arjomand and Sarbazi-Azad 2014, dynamic allocation";
    type Config = Config;
}

impl DieChoicePolicy for LeastLoaded {
    const USES_LOAD: bool = true;

    fn new(_config: Config) -> Result<Self, SpecificationError> {
        Ok(Self)
    }

    #[inline]
    fn choose<R: Fn(u32) -> bool>(&self, view: &View<R>, _random: &mut Random) -> u32 {
        view.in_turn().min_by_key(|&die| view.free_at_ns[die as usize]).expect("a die has room")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_to_be_free_takes_the_group() {
        let choose = |last, room: &[bool], free_at_ns: &[u64]| {
            let has_room = |die| room[die as usize];
            let view = View { last, home: 0, dies: room.len() as u32, has_room, free_at_ns };
            LeastLoaded.choose(&view, &mut Random::new(1))
        };
        assert_eq!(choose(0, &[true; 3], &[30, 20, 10]), 2);
        assert_eq!(choose(0, &[true, true, false], &[30, 20, 10]), 1);
        assert_eq!(choose(0, &[true; 3], &[10, 10, 10]), 1, "of several, the one whose turn it is");
        assert_eq!(choose(1, &[true; 3], &[10, 10, 40]), 0);
    }
}
