//! The translation layer of drives that store data: effects of flash faults and of losses of power on the map.
//!
//! After a loss of power a new translation layer is built from a scan of the flash. The array with its worn blocks and
//! the ledger, which a drive stores in its system blocks, persist.

pub use super::found::{Found, FoundContents, FoundEraseUnit, FoundUnit};
use super::layer::Layer;
use super::layer::NamespaceCounts;
use super::layer::zoned::{KeptZones, ZoneChange, ZoneTable};
use super::slc_cache::HOST;
use super::space::Frontier;
use super::{Ftl, PlacementEventKind};
use crate::error::ReadOnly;
use crate::ledger::{Cause, Ledger};
use crate::nand::Array;
use crate::nand::occupancy::State;
use crate::policies::victim::Closing;
use crate::timing::Clock;
use crate::units::{EraseUnit, Lpn, Ppn, StreamId};

/// What a drive with contents needs from its translation layer in addition to requests. None of it is called for a
/// request.
pub trait Recoverable {
    /// The slot to which a unit is mapped; None if it was never written, or was trimmed.
    fn slot_of(&self, lpn: Lpn) -> Option<Ppn>;
    /// The number of logical units: those of the host and, after them, those of map pages.
    fn logical_units(&self) -> u32;
    /// The map pages written back by the last request, in order.
    fn map_pages_written_back(&self) -> &[Lpn];
    /// The stream for which an erase unit was last opened.
    fn stream_of(&self, erase_unit: EraseUnit) -> StreamId;
    /// Moves the live units out of an erase unit and retires it.
    fn give_up(&mut self, erase_unit: EraseUnit) -> Result<(), ReadOnly>;
    /// What survives a loss of power in addition to the flash's contents. The translation layer must not be used
    /// afterwards.
    fn take_lasting(&mut self) -> Lasting;
    /// Restores what a scan has found. Only for a new translation layer. Returns the partly written erase units that
    /// are closed instead of continued: the rest of them is counted as padding, and must be treated as padding from now
    /// on.
    fn restore(&mut self, found: &Found, lasting: Lasting) -> Vec<EraseUnit>;
    /// Corrupts the map on purpose, as an engine would that forgets to record a move. For tests that must detect it.
    fn misplace(&mut self, lpn: Lpn, ppn: Ppn);
    /// Why the drive is read-only; None if it is not.
    fn read_only(&self) -> Option<ReadOnly>;
    /// The number of erase units without which the drive becomes read-only.
    fn erase_units_needed(&self) -> u32;
    /// All erase units, including those of the SLC cache.
    fn erase_units(&self) -> u32;
    /// Units of an erase unit in SLC mode; 0 without an SLC cache.
    fn units_in_slc_mode(&self) -> u32;
    /// Units written by the host so far: the clock of ages.
    fn host_units(&self) -> u64;
    /// The handle of a placement identifier leaves the reclaim unit to which it writes, as the host asks. Returns the
    /// units that are left unused; None if there was nothing to leave.
    fn leave_reclaim_unit(&mut self, identifier: u8) -> Result<Option<u64>, ReadOnly>;
    /// Whether events of a kind are recorded for a handle; at first all are.
    fn enable_placement_events(&mut self, handle: u8, kind: PlacementEventKind, is_enabled: bool);
    /// The zones; None for a drive without.
    fn zone_table(&self) -> Option<&ZoneTable>;
    /// What is kept of them besides their data.
    fn kept_zones(&self) -> KeptZones;
    /// Changes the state of a zone. Only for a drive with zones.
    fn change_zone(&mut self, zone: u32, change: ZoneChange) -> Result<(), ReadOnly>;
}

/// What a drive stores in its system blocks.
pub struct Lasting {
    /// The counters, which may lack the last programs.
    pub ledger: Ledger,
    /// The blocks and their wear; None if another process made them, and only the counts of `Found` are known.
    pub array: Option<Array>,
    /// Erases of erase units in SLC mode, as the ledger counts them.
    pub erased_in_slc_mode: u64,
    /// Units written by the host; on drives without data reduction the ledger has this number.
    pub host_units: u64,
    /// Slots of partly filled mapping units that are not continued.
    pub slots_left_in_begun_units: u64,
    /// Only of a drive with zones.
    pub zones: KeptZones,
    /// The ledger's counts by namespace; live units are counted again.
    pub namespaces: Vec<NamespaceCounts>,
}

impl<L: Layer, C: Clock> Recoverable for Ftl<L, C> {
    fn slot_of(&self, lpn: Lpn) -> Option<Ppn> {
        let ppn = self.map.physical(lpn);
        (ppn != Ppn::UNMAPPED).then_some(ppn)
    }

    fn logical_units(&self) -> u32 {
        self.map.units()
    }

    fn map_pages_written_back(&self) -> &[Lpn] {
        self.layer.map_pages_written_back()
    }

    fn stream_of(&self, erase_unit: EraseUnit) -> StreamId {
        self.space.stream_of(erase_unit)
    }

    fn give_up(&mut self, erase_unit: EraseUnit) -> Result<(), ReadOnly> {
        self.finish_gc()?;
        self.finish_folding()?;
        if self.space.occupancy.state(erase_unit) == State::Open {
            self.fill_up(erase_unit);
        }
        if self.space.is_slc(erase_unit) {
            self.fold_failed(erase_unit)?;
        }
        if self.space.occupancy.state(erase_unit) == State::Closed {
            self.empty(erase_unit, Cause::Gc)?;
        }
        if self.space.occupancy.state(erase_unit) == State::Free {
            self.space.occupancy.retire(erase_unit);
            self.space.array.note_bad_block();
            match self.slc_cache.as_mut().filter(|cache| cache.is_static(erase_unit)) {
                Some(cache) => cache.retire(erase_unit),
                None => {
                    self.space.free.remove(erase_unit);
                    self.space.wear.erase_units_left -= 1;
                    self.check_spare_blocks()?;
                }
            }
        }
        Ok(())
    }

    fn take_lasting(&mut self) -> Lasting {
        Lasting {
            ledger: *self.accounts.ledger(),
            array: Some(self.space.array.take()),
            erased_in_slc_mode: self.slc_cache.as_ref().map_or(0, |cache| cache.erased_erase_units()),
            host_units: self.now(),
            slots_left_in_begun_units: L::slots_left_in_begun_units(self),
            zones: self.layer.kept_zones(),
            namespaces: self.layer.namespaces().to_vec(),
        }
    }

    fn restore(&mut self, found: &Found, lasting: Lasting) -> Vec<EraseUnit> {
        assert_eq!(*self.accounts.ledger(), Ledger::default(), "only a new translation layer can be restored");
        self.accounts.take_up_ledger(lasting.ledger);
        self.accounts.padded(found.padding_units + lasting.slots_left_in_begun_units);
        self.layer.take_up_host_units(lasting.host_units);
        let is_same_array = lasting.array.is_some();
        match lasting.array {
            Some(array) => self.space.array = array,
            None => {
                // Which erases of the other erase units were in SLC mode is not recorded in flash.
                for (erase_unit, unit) in (0..).map(EraseUnit).zip(&found.erase_units) {
                    let is_static = self.slc_cache.as_ref().is_some_and(|cache| cache.is_static(erase_unit));
                    self.space.array.set_erase_count(erase_unit.0, unit.erase_count, is_static);
                }
            }
        }
        if let Some(cache) = &mut self.slc_cache {
            cache.begin_anew(lasting.erased_in_slc_mode);
        }
        self.place_erase_units(found);
        L::take_up_units(self, &found.units);
        self.layer.take_up_namespaces(&lasting.namespaces, &found.units);
        let filled_up = self.take_up_frontiers(found);
        self.space.resume_turns();
        if !is_same_array {
            self.explain_programs(found, lasting.zones.unprogrammed);
        }
        L::take_up_zones(self, &lasting.zones);
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
        self.space.erase_units()
    }

    fn units_in_slc_mode(&self) -> u32 {
        self.space.slc_mode.as_ref().map_or(0, |mode| mode.layout.units_per_erase_unit())
    }

    fn host_units(&self) -> u64 {
        self.now()
    }

    fn leave_reclaim_unit(&mut self, identifier: u8) -> Result<Option<u64>, ReadOnly> {
        self.leave_reclaim_unit(identifier)
    }

    fn enable_placement_events(&mut self, handle: u8, kind: PlacementEventKind, is_enabled: bool) {
        self.enable_placement_events(handle, kind, is_enabled);
    }

    fn zone_table(&self) -> Option<&ZoneTable> {
        self.layer.zones()
    }

    fn kept_zones(&self) -> KeptZones {
        self.layer.kept_zones()
    }

    fn change_zone(&mut self, zone: u32, change: ZoneChange) -> Result<(), ReadOnly> {
        L::change_zone(self, zone, change)
    }
}

impl<L: Layer, C: Clock> Ftl<L, C> {
    /// Pads an open erase unit to its end, which closes it.
    pub(super) fn fill_up(&mut self, erase_unit: EraseUnit) {
        let Some(stream) = self.space.bring_to_front(erase_unit) else { return };
        // A full group does not end the die's turn here.
        while self.space.frontier(stream).erase_unit == Some(erase_unit) && self.go_on_in_block(stream) {
            let slots = self.space.frontier(stream).run_length();
            L::pad(self, stream, slots);
        }
    }

    /// Sets the states of the erase units; those with data are open until their live units are counted.
    fn place_erase_units(&mut self, found: &Found) {
        self.space.free.clear();
        for (erase_unit, unit) in (0..).map(EraseUnit).zip(&found.erase_units) {
            let erase_count = self.space.array.erase_count(erase_unit.0);
            self.space.wear.note(erase_unit, erase_count);
            if unit.is_erase_undone {
                self.accounts.erase_undone();
            }
            let own_cache = self.slc_cache.as_mut().filter(|cache| cache.is_static(erase_unit));
            match unit.contents {
                FoundContents::Erased => match own_cache {
                    Some(cache) => cache.put_free(erase_unit),
                    None => self.space.free.put(erase_unit, erase_count),
                },
                FoundContents::Retired => {
                    self.space.wear.erase_units_left -= u32::from(own_cache.is_none());
                    self.space.occupancy.retire(erase_unit);
                }
                FoundContents::Written { stream, opened_at, is_slc, .. } => {
                    if let Some(cache) = self.slc_cache.as_mut().filter(|_| is_slc) {
                        cache.found(erase_unit, unit.is_erase_undone);
                        self.space.set_slc(erase_unit, true);
                    }
                    let born_at = opened_at.min(self.now());
                    self.space.found(erase_unit, stream, born_at);
                    if !L::IS_PACKED {
                        self.map.mark_all_live(erase_unit, self.space.layout_of(erase_unit));
                    }
                    self.accounts.opened(stream);
                }
            }
        }
    }

    /// The frontier that continues a partly written erase unit of a stream: one for all dies, or one for each. The host
    /// has a second one, for data that bypasses the SLC cache.
    fn slot_for(&mut self, stream: StreamId, erase_unit: EraseUnit) -> &mut Frontier {
        let goes_past_cache = stream == HOST && !self.space.is_slc(erase_unit);
        let frontier = if goes_past_cache { self.frontier_past_cache() } else { stream };
        match &mut self.space.open_blocks {
            Some(open_blocks) => open_blocks.parked_open_block(stream, erase_unit),
            None => &mut self.space.frontiers[frontier.index()],
        }
    }

    /// Partly written erase units are continued, one a stream, or one a stream and die; full ones are closed in the
    /// order in which they were filled. Returns those that are partly written and closed.
    fn take_up_frontiers(&mut self, found: &Found) -> Vec<EraseUnit> {
        let mut filled_up = Vec::new();
        let mut written: Vec<_> = (0..)
            .map(EraseUnit)
            .zip(&found.erase_units)
            .filter_map(|(erase_unit, unit)| match unit.contents {
                FoundContents::Written { stream, slots, order, opened_at, .. } => {
                    Some((order, erase_unit, stream, slots, opened_at))
                }
                _ => None,
            })
            .collect();
        written.sort_unstable();
        for (_, erase_unit, stream, slots, opened_at) in written {
            // A ledger that lacks some programs must not be younger than what it counts.
            let opened_at = opened_at.min(self.now());
            let first = self.space.layout.first(erase_unit);
            let layout = *self.space.layout_of(erase_unit);
            let units = layout.units_per_erase_unit();
            if slots < units && self.slot_for(stream, erase_unit).erase_unit.is_none() {
                if !L::IS_PACKED {
                    let ahead = (first + slots..first + units).map(Ppn);
                    ahead.filter(|ppn| !layout.is_parity(ppn.0 - first)).for_each(|ppn| self.map.mark_live(ppn));
                }
                self.space.occupancy.gain(erase_unit, layout.data_units_from(slots));
                *self.slot_for(stream, erase_unit) = Frontier::open(erase_unit, Ppn(first + slots), opened_at);
                if !self.space.is_slc(erase_unit) {
                    // A reclaim unit is continued.
                    self.note_opened(stream);
                }
                continue;
            }
            if slots < units {
                self.accounts.padded(u64::from(units - slots));
                filled_up.push(erase_unit);
            }
            if let Some(cache) = self.slc_cache.as_mut().filter(|_| self.space.is_slc(erase_unit)) {
                cache.closed(erase_unit);
                continue;
            }
            self.space.found_full(erase_unit, opened_at);
            let (number, occupancy) = (self.space.filled.closings, &self.space.occupancy);
            self.gc.victim.closed(&Closing { erase_unit, stream, number, now: opened_at, occupancy });
        }
        filled_up
    }

    /// The ledger of a killed process may lack programs that are in flash: these are recorded separately.
    fn explain_programs(&mut self, found: &Found, unprogrammed: u64) {
        let units = u64::from(self.space.layout.units_per_erase_unit());
        let slots_of = |(erase_unit, unit): (EraseUnit, &FoundEraseUnit)| match unit.contents {
            FoundContents::Written { slots, .. } => {
                let is_open = self.space.frontier_at(erase_unit).is_some();
                u64::from(if is_open { slots } else { self.space.layout_of(erase_unit).units_per_erase_unit() })
            }
            _ => 0,
        };
        let written: u64 = (0..).map(EraseUnit).zip(&found.erase_units).map(slots_of).sum();
        let erased = self.accounts.ledger().erased_erase_units * units;
        self.accounts.explain((erased + written).saturating_sub(unprogrammed));
    }
}
