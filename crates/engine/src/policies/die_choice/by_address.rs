//! The die on which the unit would lie if all addresses had been written in order.
//!
//! A program group of consecutive addresses belongs to a die, the next group to the next die, so a file that was
//! overwritten at random, or appended to between other writes, is read back from all dies at once, as a contiguous one
//! is. Under other choices its groups lie on dies by chance, and a sequential read waits for the die that holds the
//! most of them. The cost: writes to few addresses queue at few dies, more groups are half full at a time, and each die
//! has to find its space alone, so that a full drive under random writes has a higher write amplification
//! (`tests/timed/die_choice.rs`). A die without space passes its units to the next.
//!
//! Jun et al. give an overwritten page the die of the page that it replaces, which is the same, and an appended one the
//! die after the page before it in the file, which the file system names in the command. That is the same where the
//! addresses of the file are consecutive; the engine knows no files.

use super::{DieChoicePolicy, View};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use crate::random::Random;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

pub struct ByAddress;

impl Named for ByAddress {
    const NAME: &'static str = "by-address";
    const SUMMARY: &'static str = "the die on which the unit would lie if all addresses had been written in order";
    const SOURCE: &'static str =
        "Jun, Park, Kang and Seo 2024, for overwrites; static allocation of Tavakkol et al. 2014";
    type Config = Config;
}

impl DieChoicePolicy for ByAddress {
    const GOES_BY_ADDRESS: bool = true;

    fn new(_config: Config) -> Result<Self, SpecificationError> {
        Ok(Self)
    }

    #[inline]
    fn choose<R: Fn(u32) -> bool>(&self, view: &View<R>, _random: &mut Random) -> u32 {
        (view.home..view.dies).chain(0..view.home).find(|&die| (view.has_room)(die)).expect("a die has room")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_die_of_the_address_or_the_next_with_room_takes_the_unit() {
        let choose = |home, room: &[bool]| {
            let has_room = |die| room[die as usize];
            let view = View { last: 0, home, dies: room.len() as u32, has_room, free_at_ns: &[] };
            ByAddress.choose(&view, &mut Random::new(1))
        };
        assert_eq!(choose(2, &[true; 4]), 2);
        assert_eq!(choose(0, &[true; 4]), 0, "the last may be the next");
        assert_eq!(choose(2, &[true, true, false, true]), 3);
        assert_eq!(choose(3, &[false, true, false, false]), 1);
    }
}
