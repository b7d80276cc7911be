//! Any die, with equal probability.
//!
//! A baseline for the others: it needs neither an order nor the state of the queues, and its queues become uneven by
//! chance alone. Costs one random number a group.

use super::{DieChoicePolicy, View};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use crate::random;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

pub struct Random;

impl Named for Random {
    const NAME: &'static str = "random";
    const SUMMARY: &'static str = "any die, all with the same chance";
    const SOURCE: &'static str = "-";
    type Config = Config;
}

impl DieChoicePolicy for Random {
    fn new(_config: Config) -> Result<Self, SpecificationError> {
        Ok(Self)
    }

    #[inline]
    fn choose<R: Fn(u32) -> bool>(&self, view: &View<R>, random: &mut random::Random) -> u32 {
        let with_room = view.in_turn().count() as u64;
        view.in_turn().nth(random.below(with_room) as usize).expect("a die has room")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_with_room_are_chosen_alike() {
        let mut random = random::Random::new(1);
        let mut chosen = [0; 4];
        for _ in 0..3000 {
            let view = View { last: 1, home: 0, dies: 4, has_room: |die| die != 2, free_at_ns: &[] };
            chosen[Random.choose(&view, &mut random) as usize] += 1;
        }
        assert_eq!(chosen[2], 0);
        assert!([0, 1, 3].iter().all(|&die| (900..1100).contains(&chosen[die])), "{chosen:?}");
    }
}
