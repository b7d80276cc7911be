//! The dies take turns.
//!
//! Every die receives as many groups as any other, whatever its load. Sequential writes are spread over all dies, and
//! are read back from all of them at once. But a die that is slow for a while, because of garbage collection or reads,
//! accumulates the host's whole queue: the other dies become idle, and nearly all requests of a closed loop wait for
//! it. So the median is low, and the mean and the tail are long.

use super::{DieChoicePolicy, View};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use crate::random::Random;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

pub struct RoundRobin;

impl Named for RoundRobin {
    const NAME: &'static str = "round-robin";
    const SUMMARY: &'static str = "the dies take turns, a program group each";
    const SOURCE: &'static str = "Agrawal, Prabhakaran, Wobber, Davis, Manasse and Panigrahy 2008";
    type Config = Config;
}

impl DieChoicePolicy for RoundRobin {
    const TAKES_TURNS: bool = true;

    fn new(_config: Config) -> Result<Self, SpecificationError> {
        Ok(Self)
    }

    #[inline]
    fn choose<R: Fn(u32) -> bool>(&self, view: &View<R>, _random: &mut Random) -> u32 {
        view.in_turn().next().expect("a die has room")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_with_room_takes_the_group() {
        let choose = |last, room: &[bool]| {
            let has_room = |die| room[die as usize];
            let view = View { last, home: 0, dies: room.len() as u32, has_room, free_at_ns: &[] };
            RoundRobin.choose(&view, &mut Random::new(1))
        };
        assert_eq!(choose(0, &[true, true, true]), 1);
        assert_eq!(choose(2, &[true, true, true]), 0);
        assert_eq!(choose(0, &[true, false, true]), 2);
        assert_eq!(choose(1, &[false, true, false]), 1);
    }
}
