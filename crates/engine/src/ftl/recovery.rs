//! The translation layer of drives that keep data: what a fault of the flash or a loss of power does to the map.
//!
//! After a loss of power a new translation layer takes up what a scan of the flash has found; the array with its worn
//! blocks and the ledger, which a drive keeps in its system blocks, go on.

use super::Ftl;
use super::frontier::Frontier;
use super::numbers::{EraseUnit, Lpn, Ppn, StreamId};
use super::occupancy::State;
use super::slc_cache::HOST;
use crate::error::ReadOnly;
use crate::ledger::{Cause, Ledger};
use crate::nand::Array;
use crate::policies::placement::PlacementPolicy;
use crate::timing::Clock;

/// What a drive with contents asks of its translation layer besides requests. Nothing here is called for a request.
pub trait Recoverable {
    /// Where the map says that a unit lies; nothing if it was never written, or trimmed.
    fn place_of(&self, lpn: Lpn) -> Option<Ppn>;
    /// Numbers of units that may lie in flash: the host's and, behind them, those of map pages.
    fn logical_units(&self) -> u32;
    /// The map pages that the last request has written back, in their order.
    fn map_pages_written_back(&self) -> &[Lpn];
    /// The stream that an erase unit was last opened for.
    fn stream_of(&self, erase_unit: EraseUnit) -> StreamId;
    /// Moves what lives in an erase unit away and never uses it again.
    fn give_up(&mut self, erase_unit: EraseUnit) -> Result<(), ReadOnly>;
    /// What outlives a loss of power besides the flash's contents. Leaves a translation layer that is of no more use.
    fn take_lasting(&mut self) -> Lasting;
    /// Takes up what a scan has found. Only for a new translation layer. Returns the half-full erase units that it does not
    /// go on with: the rest of them is counted as padding, and must be it from now on.
    fn restore(&mut self, found: &Found, lasting: Lasting) -> Vec<EraseUnit>;
    /// Spoils the map on purpose, as an engine would that forgets to note a move. For tests that must notice.
    fn misplace(&mut self, lpn: Lpn, ppn: Ppn);
    fn read_only(&self) -> Option<ReadOnly>;
    /// Erase units beyond which none may be lost.
    fn erase_units_needed(&self) -> u32;
    /// All of them, the SLC cache's own among them.
    fn erase_units(&self) -> u32;
    /// What one holds in SLC mode; 0 without an SLC cache.
    fn units_in_slc_mode(&self) -> u32;
    /// What the host has written so far: the time that ages go by.
    fn host_units(&self) -> u64;
}

/// What a drive remembers in its system blocks.
pub struct Lasting {
    pub ledger: Ledger,
    /// The blocks and their wear; nothing when another process made them, and only the counts of `Found` are known.
    pub array: Option<Array>,
    /// Erases of erase units in SLC mode that the ledger counts.
    pub erased_in_slc_mode: u64,
    /// What the host had written; the ledger says it of drives that do not reduce data.
    pub host_units: u64,
    /// Places of mapping units that were begun and are not gone on with.
    pub places_left_in_begun_units: u64,
}

/// What a scan of the flash has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// In the order of their logical numbers.
    pub units: Vec<FoundUnit>,
    /// By erase unit.
    pub erase_units: Vec<FoundEraseUnit>,
    /// Places that were passed over because the power went while their group was programmed; of reduced data those of
    /// whole mapping units.
    pub padding_units: u64,
}

/// A unit of the host, or a map page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundUnit {
    pub lpn: Lpn,
    pub ppn: Ppn,
    /// That it takes: 1 unless data is reduced.
    pub places: u32,
    /// Grows with the time at which it was written; a move does not change it.
    pub version: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundEraseUnit {
    pub contents: FoundContents,
    pub erase_count: u32,
    /// Counted as erased, but the power went before it was.
    pub is_erase_undone: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundContents {
    Erased,
    Retired,
    /// The first `places` hold something. `order` grows with the time of the last program; `opened_at`
    /// counts the units that the host had written before.
    Written {
        stream: StreamId,
        places: u32,
        order: u64,
        opened_at: u64,
        is_slc: bool,
    },
}

impl<P: PlacementPolicy, C: Clock> Recoverable for Ftl<P, C> {
    fn place_of(&self, lpn: Lpn) -> Option<Ppn> {
        let ppn = self.map.physical(lpn);
        (ppn != Ppn::UNMAPPED).then_some(ppn)
    }

    fn logical_units(&self) -> u32 {
        self.map.units()
    }

    fn map_pages_written_back(&self) -> &[Lpn] {
        self.map_cache.as_ref().map_or(&[], |cache| cache.written_back())
    }

    fn stream_of(&self, erase_unit: EraseUnit) -> StreamId {
        self.streams[erase_unit.index()]
    }

    fn give_up(&mut self, erase_unit: EraseUnit) -> Result<(), ReadOnly> {
        // Both empty erase units through one list of units on their way.
        self.finish_cleaning()?;
        self.finish_folding()?;
        if self.occupancy.state(erase_unit) == State::Open {
            self.fill_up(erase_unit);
        }
        if self.is_slc(erase_unit) {
            self.fold_failed(erase_unit)?;
        }
        if self.occupancy.state(erase_unit) == State::Closed {
            self.empty(erase_unit, Cause::Gc)?;
        }
        if self.occupancy.state(erase_unit) == State::Free {
            self.occupancy.retire(erase_unit);
            self.array.note_bad_block();
            match self.slc_cache.as_mut().filter(|cache| cache.is_static(erase_unit)) {
                Some(cache) => cache.retire(erase_unit),
                None => {
                    self.free.remove(erase_unit);
                    self.erase_units_left -= 1;
                    self.check_spare_blocks()?;
                }
            }
        }
        Ok(())
    }

    fn take_lasting(&mut self) -> Lasting {
        Lasting {
            ledger: self.ledger,
            array: Some(self.array.take()),
            erased_in_slc_mode: self.slc_cache.as_ref().map_or(0, |cache| cache.erased_erase_units()),
            host_units: self.now(),
            places_left_in_begun_units: self.places_left_in_begun_units(),
        }
    }

    fn restore(&mut self, found: &Found, lasting: Lasting) -> Vec<EraseUnit> {
        assert_eq!(self.ledger, Ledger::default(), "only a new translation layer can be restored");
        self.ledger = lasting.ledger;
        self.ledger.programmed_units.padding += found.padding_units + lasting.places_left_in_begun_units;
        if let Some(reduction) = &mut self.reduction {
            reduction.set_host_units(lasting.host_units);
        }
        let is_same_array = lasting.array.is_some();
        match lasting.array {
            Some(array) => self.array = array,
            None => {
                let counts = found.erase_units.iter().map(|unit| unit.erase_count);
                (0..).zip(counts).for_each(|(unit, count)| self.array.set_erase_count(unit, count));
            }
        }
        if let Some(cache) = &mut self.slc_cache {
            cache.begin_anew(lasting.erased_in_slc_mode);
        }
        self.place_erase_units(found);
        if self.reduction.is_some() {
            self.link_stored(&found.units);
            self.count_live_places(&found.units);
        } else {
            self.link_found(&found.units);
            self.count_live_units();
        }
        let filled_up = self.take_up_frontiers(found);
        self.take_up_turns();
        if !is_same_array {
            self.explain_programs(found);
        }
        let _ = self.check_spare_blocks();
        filled_up
    }

    fn misplace(&mut self, lpn: Lpn, ppn: Ppn) {
        self.map.misplace(lpn, ppn);
    }

    fn read_only(&self) -> Option<ReadOnly> {
        self.read_only
    }

    fn erase_units_needed(&self) -> u32 {
        self.erase_units_needed() as u32
    }

    fn erase_units(&self) -> u32 {
        self.streams.len() as u32
    }

    fn units_in_slc_mode(&self) -> u32 {
        self.slc_cache.as_ref().map_or(0, |cache| cache.layout().units_per_erase_unit())
    }

    fn host_units(&self) -> u64 {
        self.now()
    }
}

impl<P: PlacementPolicy, C: Clock> Ftl<P, C> {
    /// Writes padding to the end of an open erase unit, which closes it.
    fn fill_up(&mut self, erase_unit: EraseUnit) {
        let Some(stream) = self.bring_to_front(erase_unit) else { return };
        // A full group ends no turn here.
        while self.frontiers[stream.index()].erase_unit == Some(erase_unit) && self.go_on_in_block(stream) {
            if self.reduction.is_some() {
                self.pad_run(stream);
                continue;
            }
            let ppn = self.frontiers[stream.index()].take();
            self.map.mark_stale(ppn);
            self.occupancy.lose_one(erase_unit);
            self.ledger.programmed_units.padding += 1;
            self.clock.program(ppn, Cause::Padding);
        }
    }

    fn link_found(&mut self, found: &[FoundUnit]) {
        let of_host = found.partition_point(|unit| unit.lpn.0 < self.map.user_units());
        let (units, map_pages) = found.split_at(of_host);
        self.mapped_units = units.len() as u64;
        for unit in units {
            self.map.link(unit.lpn, unit.ppn);
        }
        let Some(cache) = &mut self.map_cache else { return };
        cache.take_up_units(units);
        for page in map_pages.iter().filter(|page| cache.take_up_page(page.lpn)) {
            self.map.link(page.lpn, page.ppn);
        }
    }

    /// States of the erase units; those that hold anything are open until their live units are counted.
    fn place_erase_units(&mut self, found: &Found) {
        self.free.clear();
        for (erase_unit, unit) in (0..).map(EraseUnit).zip(&found.erase_units) {
            let erase_count = self.array.erase_count(erase_unit.0);
            self.erase_counts[erase_unit.index()] = erase_count;
            self.erase_count_max = self.erase_count_max.max(erase_count);
            self.ledger.erased_erase_units -= u64::from(unit.is_erase_undone);
            let own_cache = self.slc_cache.as_mut().filter(|cache| cache.is_static(erase_unit));
            match unit.contents {
                FoundContents::Erased => match own_cache {
                    Some(cache) => cache.put_free(erase_unit),
                    None => self.free.put(erase_unit, erase_count),
                },
                FoundContents::Retired => {
                    self.erase_units_left -= u32::from(own_cache.is_none());
                    self.occupancy.retire(erase_unit);
                }
                FoundContents::Written { stream, opened_at, is_slc, .. } => {
                    if let Some(cache) = self.slc_cache.as_mut().filter(|_| is_slc) {
                        cache.found(erase_unit, unit.is_erase_undone);
                    }
                    let places = *self.layout_of(erase_unit);
                    self.occupancy.open(erase_unit, places.data_units_per_erase_unit());
                    if self.reduction.is_none() {
                        self.map.mark_all_live(erase_unit, &places);
                    }
                    self.streams[erase_unit.index()] = stream;
                    self.born_at[erase_unit.index()] = opened_at.min(self.now());
                    self.pools[stream.index()].erase_units += 1;
                }
            }
        }
    }

    /// Marks everything stale that no address points at. A place that is not yet written counts as live, as it does when
    /// an erase unit is opened.
    fn count_live_units(&mut self) {
        for erase_unit in (0..self.streams.len() as u32).map(EraseUnit) {
            if self.occupancy.state(erase_unit) != State::Open {
                continue;
            }
            let layout = *self.layout_of(erase_unit);
            let first = self.layout.first(erase_unit);
            let places = first..first + layout.units_per_erase_unit();
            for ppn in places.map(Ppn).filter(|ppn| !layout.is_parity(ppn.0 - first)) {
                let lpn = self.map.logical(ppn);
                let is_live = lpn.0 < self.map.units() && self.map.physical(lpn) == ppn;
                if is_live {
                    self.pools[self.streams[erase_unit.index()].index()].live_units += u64::from(P::POOLED);
                } else {
                    self.map.mark_stale(ppn);
                    self.occupancy.lose_one(erase_unit);
                }
            }
        }
    }

    /// Where a half-full erase unit of a stream goes on: one for all, or one for each die; the host's past the SLC cache
    /// waits beside the one within.
    fn slot_for(&mut self, stream: StreamId, erase_unit: EraseUnit) -> &mut Frontier {
        let goes_past_cache = stream == HOST && !self.is_slc(erase_unit);
        let frontier = if goes_past_cache { self.frontier_past_cache() } else { stream };
        match &mut self.lanes {
            Some(lanes) => lanes.parked_beside(stream, erase_unit),
            None => &mut self.frontiers[frontier.index()],
        }
    }

    /// Half-full erase units go on where they stood, one a stream, or one a stream and die; full ones are closed in the order of their filling.
    /// Returns those that are half full and closed.
    fn take_up_frontiers(&mut self, found: &Found) -> Vec<EraseUnit> {
        let mut filled_up = Vec::new();
        let mut written: Vec<_> = (0..)
            .map(EraseUnit)
            .zip(&found.erase_units)
            .filter_map(|(erase_unit, unit)| match unit.contents {
                FoundContents::Written { stream, places, order, opened_at, .. } => {
                    Some((order, erase_unit, stream, places, opened_at))
                }
                _ => None,
            })
            .collect();
        written.sort_unstable();
        for (_, erase_unit, stream, places, opened_at) in written {
            // A ledger that lags behind its flash must not be younger than what it counts.
            let opened_at = opened_at.min(self.now());
            let first = self.layout.first(erase_unit);
            let layout = *self.layout_of(erase_unit);
            let units = layout.units_per_erase_unit();
            if places < units && self.slot_for(stream, erase_unit).erase_unit.is_none() {
                if self.reduction.is_none() {
                    let ahead = (first + places..first + units).map(Ppn);
                    ahead.filter(|ppn| !layout.is_parity(ppn.0 - first)).for_each(|ppn| self.map.mark_live(ppn));
                }
                self.occupancy.gain(erase_unit, layout.data_units_from(places));
                *self.slot_for(stream, erase_unit) = Frontier::open(erase_unit, Ppn(first + places), opened_at);
                continue;
            }
            if places < units {
                self.ledger.programmed_units.padding += u64::from(units - places);
                filled_up.push(erase_unit);
            }
            if let Some(cache) = self.slc_cache.as_mut().filter(|cache| cache.is_slc(erase_unit)) {
                cache.closed(erase_unit);
                continue;
            }
            self.occupancy.close(erase_unit);
            self.closed_at[erase_unit.index()] = opened_at;
            self.closings += 1;
            self.victim.closed(erase_unit, stream, self.closings);
        }
        filled_up
    }

    /// The ledger of a process that was killed may lag behind its flash: what it does not know of is set apart.
    fn explain_programs(&mut self, found: &Found) {
        let units = u64::from(self.layout.units_per_erase_unit());
        let places_of = |(erase_unit, unit): (EraseUnit, &FoundEraseUnit)| match unit.contents {
            FoundContents::Written { places, .. } => {
                let is_open = self.frontier_at(erase_unit).is_some();
                u64::from(if is_open { places } else { self.layout_of(erase_unit).units_per_erase_unit() })
            }
            _ => 0,
        };
        let written: u64 = (0..).map(EraseUnit).zip(&found.erase_units).map(places_of).sum();
        let known = self.ledger.programmed_units.total() as i64;
        self.unexplained_programs = (self.ledger.erased_erase_units * units + written) as i64 - known;
    }
}
