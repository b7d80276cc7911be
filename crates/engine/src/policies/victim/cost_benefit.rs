//! Cleans where the space gained, weighed by its age, is largest for the work: (1 - u) x age / 2u, u the live share.
//!
//! Wins under skew: an old erase unit is cold, what it has lost it lost slowly, so it is cleaned while still fairly
//! full, and a hot one is left to lose more. Costs a scan of all erase units for each one cleaned.

use super::{Pool, VictimPolicy, View};
use crate::error::SpecificationError;
use crate::ftl::numbers::EraseUnit;
use crate::policies::registry::Named;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

pub struct CostBenefit;

impl Named for CostBenefit {
    const NAME: &'static str = "cost-benefit";
    const SUMMARY: &'static str = "the most space gained, times its age, for the work of moving what is live";
    const SOURCE: &'static str = "Rosenblum and Ousterhout 1992; for flash Kawaguchi, Nishioka and Motoda 1995";
    type Config = Config;
}

impl VictimPolicy for CostBenefit {
    fn new(_config: Config, _erase_units: u32, _seed: u64) -> Result<Self, SpecificationError> {
        Ok(Self)
    }

    fn choose(&mut self, view: &mut View<'_>, pool: Pool) -> Option<EraseUnit> {
        let units = f64::from(view.data_units_per_erase_unit);
        let score = |erase_unit: EraseUnit| {
            let live = f64::from(view.occupancy.live_units(erase_unit));
            let age = (view.now - view.closed_at[erase_unit.index()]) as f64 + 1.0;
            if live == 0.0 { f64::INFINITY } else { (units - live) * age / (2.0 * live) }
        };
        let mut best: Option<(f64, EraseUnit)> = None;
        for erase_unit in view.candidates(pool) {
            let score = score(erase_unit);
            if best.is_none_or(|(highest, _)| score > highest) {
                best = Some((score, erase_unit));
            }
        }
        best.map(|(_, erase_unit)| erase_unit)
    }
}
