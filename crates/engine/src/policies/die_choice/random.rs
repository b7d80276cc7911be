//! Any die, all with the same chance.
//!
//! A yardstick for the others: it needs neither an order nor a look at the queues, and its queues grow uneven by chance
//! alone. Costs one random number a group.

use super::{DieChoicePolicy, View};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use crate::random;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

pub struct Random {
    random: random::Random,
}

impl Named for Random {
    const NAME: &'static str = "random";
    const SUMMARY: &'static str = "any die, all with the same chance";
    const SOURCE: &'static str = "-";
    type Config = Config;
}

impl DieChoicePolicy for Random {
    fn new(_config: Config, seed: u64) -> Result<Self, SpecificationError> {
        Ok(Self { random: random::Random::new(seed ^ 0x6469_6573) })
    }

    #[inline]
    fn choose(&mut self, view: &View) -> u32 {
        let with_room = view.in_turn().count() as u64;
        view.in_turn().nth(self.random.below(with_room) as usize).expect("a die has room")
    }

    fn state(&self) -> serde_json::Value {
        serde_json::json!(self.random)
    }

    fn restore(&mut self, state: serde_json::Value) -> Result<(), serde_json::Error> {
        self.random = serde_json::from_value(state)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_with_room_are_chosen_alike() {
        let mut policy = Random::new(Config::default(), 1).unwrap();
        let mut chosen = [0; 4];
        for _ in 0..3000 {
            let view = View { last: 1, has_room: &[true, true, false, true], free_at_ns: &[] };
            chosen[policy.choose(&view) as usize] += 1;
        }
        assert_eq!(chosen[2], 0);
        assert!([0, 1, 3].iter().all(|&die| (900..1100).contains(&chosen[die])), "{chosen:?}");
    }
}
