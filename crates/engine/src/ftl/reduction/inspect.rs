//! The identities of a drive that reduces data.

use crate::ftl::Ftl;
use crate::ftl::numbers::{Lpn, Ppn};
use crate::policies::placement::PlacementPolicy;
use crate::timing::Clock;

impl<P: PlacementPolicy, C: Clock> Ftl<P, C> {
    /// What takes places in flash: the host's units by number, or by size with data reduction.
    pub(in crate::ftl) fn live_places(&self) -> u64 {
        self.reduction.as_ref().map_or(self.mapped_units, |reduction| reduction.live_places())
    }

    /// Every stored unit is live, belongs to one of the addresses that point at it, and overlaps no other.
    pub(in crate::ftl) fn check_stored(&self) -> Result<(), String> {
        let Some(reduction) = &self.reduction else { return Ok(()) };
        let mut stored: Vec<(Ppn, u32)> = Vec::new();
        let mut mapped = 0;
        for lpn in (0..self.map.user_units()).map(Lpn) {
            let ppn = self.map.physical(lpn);
            if ppn == Ppn::UNMAPPED {
                continue;
            }
            mapped += 1;
            let owner = self.map.logical(ppn);
            if self.map.physical(owner) != ppn || reduction.places_of(owner) != reduction.places_of(lpn) {
                return Err(format!("{lpn:?} is mapped to {ppn:?}, which belongs to {owner:?}"));
            }
            if !self.map.is_live(ppn) {
                return Err(format!("{lpn:?} is mapped to {ppn:?}, which is stale"));
            }
            if owner == lpn {
                stored.push((ppn, reduction.places_of(lpn)));
            }
        }
        if mapped != self.mapped_units {
            return Err(format!("{mapped} addresses are mapped, but {} were counted", self.mapped_units));
        }
        stored.sort_unstable();
        if let Some(pair) = stored.windows(2).find(|pair| pair[0].0.0 + pair[0].1 > pair[1].0.0) {
            return Err(format!("what is stored at {:?} and {:?} overlaps", pair[0].0, pair[1].0));
        }
        let places: u64 = stored.iter().map(|&(_, places)| u64::from(places)).sum();
        if places != reduction.live_places() {
            return Err(format!("{places} places are live, but {} were counted", reduction.live_places()));
        }
        Ok(())
    }
}
