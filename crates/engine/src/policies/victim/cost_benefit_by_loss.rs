//! Cost-benefit whose age is the time since the erase unit last lost a unit: (1 - u) x age / 2u, with u the live share.
//!
//! An erase unit that is being overwritten in order, such as one of a log, is left until no more of it dies; where all
//! lose units all the time, as under uniform writes, all have the same age and the choice is greedy's. Counts are
//! compared whenever an erase unit has been filled, so that the time is known to within one erase unit: so much is added
//! to the age. The rule has no parameter, and a write pays nothing for it; each filling and each choice cost a scan of
//! all erase units. In a miniature an erase unit holds so few units that some lose none for a while by chance.

use super::cost_benefit::most_beneficial;
use super::{Closing, Pool, VictimPolicy, View};
use crate::error::SpecificationError;
use crate::nand::occupancy::State;
use crate::policies::registry::Named;
use crate::random::Random;
use crate::units::EraseUnit;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Seen {
    live_units: u32,
    /// Host units written when it had lost a unit, or when it was closed.
    lost_at: u64,
}

pub struct CostBenefitByLoss {
    /// By erase unit.
    seen: Vec<Seen>,
}

impl Named for CostBenefitByLoss {
    const NAME: &'static str = "cost-benefit-by-loss";
    const SUMMARY: &'static str = "as cost-benefit, with the time since it last lost a unit as its age";
    const SOURCE: &'static str = "Kawaguchi, Nishioka and Motoda 1995";
    type Config = Config;
}

impl VictimPolicy for CostBenefitByLoss {
    fn new(_config: Config, erase_units: u32) -> Result<Self, SpecificationError> {
        Ok(Self { seen: vec![Seen::default(); erase_units as usize] })
    }

    fn closed(&mut self, closing: &Closing<'_>) {
        for (erase_unit, seen) in (0..).map(EraseUnit).zip(&mut self.seen) {
            let live_units = closing.occupancy.live_units(erase_unit);
            let is_closed = closing.occupancy.state(erase_unit) == State::Closed;
            if is_closed && (live_units < seen.live_units || erase_unit == closing.erase_unit) {
                *seen = Seen { live_units, lost_at: closing.now };
            }
        }
    }

    fn choose(&self, view: &View<'_>, pool: Pool, _random: &mut Random) -> Option<EraseUnit> {
        let known_within = u64::from(view.data_units_per_erase_unit);
        most_beneficial(view, pool, |erase_unit| {
            let since_loss = view.now.saturating_sub(self.seen[erase_unit.index()].lost_at);
            (since_loss + known_within) as f64
        })
    }

    fn state(&self) -> serde_json::Value {
        serde_json::json!(self.seen)
    }

    fn restore(&mut self, state: serde_json::Value, times: u32) -> Result<(), serde_json::Error> {
        let mut saved: Vec<Seen> = serde_json::from_value(state)?;
        for seen in &mut saved {
            seen.live_units = seen.live_units.saturating_mul(times);
            seen.lost_at = seen.lost_at.saturating_mul(u64::from(times));
        }
        if saved.len() != self.seen.len() {
            return Err(serde::de::Error::custom("erase units that the drive does not have"));
        }
        self.seen = saved;
        Ok(())
    }
}
