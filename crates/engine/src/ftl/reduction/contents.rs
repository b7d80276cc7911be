//! For drives that keep what is written to them: how a unit is stored is known from its data, and after a loss of power
//! from what a scan has found.

use super::Reduction;
use crate::error::ReadOnly;
use crate::ftl::Ftl;
use crate::ftl::numbers::{EraseUnit, Lpn, Ppn};
use crate::ftl::occupancy::State;
use crate::ftl::recovery::FoundUnit;
use crate::policies::placement::PlacementPolicy;
use crate::request::Request;
use crate::timing::Clock;
use crate::timing::recorder::{Packed, Recorder};

/// How a unit of the host is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredAs {
    Places(u32),
    /// Its data is what another address holds.
    SameAs(Lpn),
}

/// What a drive that reduces data is asked and told by whoever keeps its contents; no other drive is asked for any of it.
pub trait Packs {
    /// From now on it is noted what is put where.
    fn note_packing(&mut self);
    /// Exchanges what was noted since the last call for an empty list.
    fn take_packed(&mut self, into: &mut Vec<(u32, Packed)>);
    /// A write within one unit, whose contents are known.
    fn write_as(&mut self, request: &Request, stored: StoredAs) -> Result<(), ReadOnly>;
    /// An address that holds what is stored at the place, if any does.
    fn owner_of(&self, place: Ppn) -> Option<Lpn>;
    /// Places in a mapping unit; 0 for a drive that does not reduce data.
    fn places_per_unit(&self) -> u32;
}

impl<P: PlacementPolicy> Packs for Ftl<P, Recorder> {
    fn note_packing(&mut self) {
        self.clock.packed.get_or_insert_default();
    }

    fn take_packed(&mut self, into: &mut Vec<(u32, Packed)>) {
        into.clear();
        std::mem::swap(into, self.clock.packed.as_mut().expect("packing is noted"));
    }

    fn write_as(&mut self, request: &Request, stored: StoredAs) -> Result<(), ReadOnly> {
        self.heed(request);
        let lpn = self.lpn_of(request.offset_bytes);
        if u64::from(request.length_bytes) < 1 << self.mapping_unit_shift {
            self.read_modify(lpn);
        }
        match stored {
            StoredAs::Places(places) => self.write_places(lpn, places)?,
            StoredAs::SameAs(original) => self.share(lpn, original)?,
        }
        self.ledger.host_written_bytes += u64::from(request.length_bytes);
        Ok(())
    }

    fn owner_of(&self, place: Ppn) -> Option<Lpn> {
        self.map.is_live(place).then(|| self.map.logical(place))
    }

    fn places_per_unit(&self) -> u32 {
        self.reduction.as_deref().map_or(0, Reduction::places_per_unit)
    }
}

impl<P: PlacementPolicy, C: Clock> Ftl<P, C> {
    /// Takes up what a scan has found. Addresses that were found at one place share it.
    pub(in crate::ftl) fn link_stored(&mut self, units: &[FoundUnit]) {
        self.mapped_units = units.len() as u64;
        for unit in units {
            if self.map.is_live(unit.ppn) {
                self.point_at(unit.lpn, self.map.logical(unit.ppn));
            } else {
                self.map.link(unit.lpn, unit.ppn);
                self.map.mark_live(unit.ppn);
                self.reduction().store(unit.lpn, unit.places);
            }
        }
    }

    /// Counts what is not live off the erase units that hold anything; no place after what is written is.
    pub(in crate::ftl) fn count_live_places(&mut self, units: &[FoundUnit]) {
        let mut live_places = vec![0; self.streams.len()];
        for unit in units.iter().filter(|unit| self.map.logical(unit.ppn) == unit.lpn) {
            live_places[self.layout.erase_unit_of(unit.ppn).index()] += unit.places;
        }
        for (erase_unit, live_places) in (0..).map(EraseUnit).zip(live_places) {
            if self.occupancy.state(erase_unit) != State::Open {
                continue;
            }
            self.occupancy.lose(erase_unit, self.layout.data_units_per_erase_unit() - live_places);
            if P::POOLED {
                self.pools[self.streams[erase_unit.index()].index()].live_units += u64::from(live_places);
            }
        }
    }

    /// Places that are left in mapping units that have been begun.
    pub(in crate::ftl) fn places_left_in_begun_units(&self) -> u64 {
        let Some(reduction) = &self.reduction else { return 0 };
        let mask = reduction.places_per_unit() - 1;
        let open = self.frontiers.iter().filter(|frontier| frontier.erase_unit.is_some());
        open.map(|frontier| u64::from(frontier.next().0.wrapping_neg() & mask)).sum()
    }
}
