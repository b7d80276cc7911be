//! The translation layer of drives that store data: effects of flash faults and of losses of power on the map.
//!
//! After a loss of power a new translation layer is built from a scan of the flash. The array with its worn blocks and
//! the ledger, which a drive stores in its system blocks, persist.

pub use super::found::{Found, FoundContents, FoundEraseUnit, FoundUnit};
use super::layer::zoned::{KeptZones, ZoneChange, ZoneTable};
use super::layer::{Layer, NamespaceCounts};
use super::media::Media;
use super::space::Frontier;
use super::space::slc_cache::HOST;
use super::{Ftl, PlacementEventKind};
use crate::error::ReadOnly;
use crate::ledger::{Cause, Ledger};
use crate::nand::Array;
use crate::nand::occupancy::State;
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
        let ppn = self.media.map.physical(lpn);
        (ppn != Ppn::UNMAPPED).then_some(ppn)
    }

    fn logical_units(&self) -> u32 {
        self.media.map.units()
    }

    fn map_pages_written_back(&self) -> &[Lpn] {
        self.layer.map_pages_written_back()
    }

    fn stream_of(&self, erase_unit: EraseUnit) -> StreamId {
        self.media.space.stream_of(erase_unit)
    }

    fn give_up(&mut self, erase_unit: EraseUnit) -> Result<(), ReadOnly> {
        self.gc.finish_gc(&mut self.media, &mut self.layer)?;
        self.gc.finish_folding(&mut self.media, &mut self.layer)?;
        if self.media.space.occupancy.state(erase_unit) == State::Open {
            self.layer.fill_up(&mut self.media, erase_unit);
        }
        if self.media.space.is_slc(erase_unit) {
            self.gc.fold_failed(&mut self.media, &mut self.layer, erase_unit)?;
        }
        if self.media.space.occupancy.state(erase_unit) == State::Closed {
            self.gc.empty(&mut self.media, &mut self.layer, erase_unit, Cause::Gc)?;
        }
        if self.media.space.occupancy.state(erase_unit) == State::Free {
            self.media.space.occupancy.retire(erase_unit);
            self.media.space.array.note_bad_block();
            match self.media.space.slc_cache.as_mut().filter(|cache| cache.is_static(erase_unit)) {
                Some(cache) => cache.retire(erase_unit),
                None => {
                    self.media.space.free.remove(erase_unit);
                    self.media.space.wear.erase_units_left -= 1;
                    self.media.check_spare_blocks()?;
                }
            }
        }
        Ok(())
    }

    fn take_lasting(&mut self) -> Lasting {
        Lasting {
            ledger: *self.media.accounts.ledger(),
            array: Some(self.media.space.array.take()),
            erased_in_slc_mode: self.media.space.slc_cache.as_ref().map_or(0, |cache| cache.erased_erase_units()),
            host_units: self.media.now(),
            slots_left_in_begun_units: self.layer.slots_left_in_begun_units(&self.media.space),
            zones: self.layer.kept_zones(),
            namespaces: self.layer.namespaces().to_vec(),
        }
    }

    fn restore(&mut self, found: &Found, lasting: Lasting) -> Vec<EraseUnit> {
        assert_eq!(*self.media.accounts.ledger(), Ledger::default(), "only a new translation layer can be restored");
        self.media.accounts.take_up_ledger(lasting.ledger);
        self.media.accounts.padded(found.padding_units + lasting.slots_left_in_begun_units);
        self.media.accounts.take_up_host_units(lasting.host_units);
        let is_same_array = lasting.array.is_some();
        match lasting.array {
            Some(array) => self.media.space.array = array,
            None => {
                // Which erases of the other erase units were in SLC mode is not recorded in flash.
                for (erase_unit, unit) in (0..).map(EraseUnit).zip(&found.erase_units) {
                    let is_static =
                        self.media.space.slc_cache.as_ref().is_some_and(|cache| cache.is_static(erase_unit));
                    self.media.space.array.set_erase_count(erase_unit.0, unit.erase_count, is_static);
                }
            }
        }
        if let Some(cache) = &mut self.media.space.slc_cache {
            cache.begin_anew(lasting.erased_in_slc_mode);
        }
        place_erase_units(&mut self.media, found);
        self.layer.take_up_units(&mut self.media, &found.units);
        self.layer.take_up_namespaces(&lasting.namespaces, &found.units);
        let filled_up = take_up_frontiers(&mut self.media, found);
        self.media.space.resume_turns();
        if !is_same_array {
            explain_programs(&mut self.media, found, lasting.zones.unprogrammed);
        }
        self.layer.take_up_zones(&mut self.media, &lasting.zones);
        let _ = self.media.check_spare_blocks();
        filled_up
    }

    fn misplace(&mut self, lpn: Lpn, ppn: Ppn) {
        self.media.map.misplace(lpn, ppn);
    }

    fn read_only(&self) -> Option<ReadOnly> {
        self.media.read_only
    }

    fn erase_units_needed(&self) -> u32 {
        self.media.space.margins.needed_erase_units
    }

    fn erase_units(&self) -> u32 {
        self.media.space.erase_units()
    }

    fn units_in_slc_mode(&self) -> u32 {
        self.media.space.slc_cache.as_ref().map_or(0, |cache| cache.layout.units_per_erase_unit())
    }

    fn host_units(&self) -> u64 {
        self.media.now()
    }

    fn leave_reclaim_unit(&mut self, identifier: u8) -> Result<Option<u64>, ReadOnly> {
        self.media.still_writable()?;
        let stream = StreamId(identifier);
        // It may be filling this reclaim unit.
        self.gc.finish_gc(&mut self.media, &mut self.layer)?;
        let Some(log) = &self.media.listeners.placement_log else { return Ok(None) };
        let Some(left_units) = log.units_to_leave(&self.media.space, stream) else { return Ok(None) };
        let frontiers = self.media.space.open_frontiers().filter(|&(of, _, _)| of == stream);
        let open: Vec<EraseUnit> = frontiers.map(|(_, erase_unit, _)| erase_unit).collect();
        open.into_iter().for_each(|erase_unit| self.layer.fill_up(&mut self.media, erase_unit));
        if let Some(log) = &mut self.media.listeners.placement_log {
            log.left(stream);
        }
        self.gc.keep_room_for_victims(&mut self.media, &mut self.layer)?;
        Ok(Some(left_units))
    }

    fn enable_placement_events(&mut self, handle: u8, kind: PlacementEventKind, is_enabled: bool) {
        if let Some(log) = &mut self.media.listeners.placement_log {
            log.set_enabled(handle, kind, is_enabled);
        }
    }

    fn zone_table(&self) -> Option<&ZoneTable> {
        self.layer.zones()
    }

    fn kept_zones(&self) -> KeptZones {
        self.layer.kept_zones()
    }

    fn change_zone(&mut self, zone: u32, change: ZoneChange) -> Result<(), ReadOnly> {
        self.layer.change_zone(&mut self.media, zone, change)
    }
}

/// Sets the states of the erase units; those with data are open until their live units are counted.
fn place_erase_units<C: Clock>(media: &mut Media<C>, found: &Found) {
    media.space.free.clear();
    for (erase_unit, unit) in (0..).map(EraseUnit).zip(&found.erase_units) {
        let erase_count = media.space.array.erase_count(erase_unit.0);
        media.space.wear.note(erase_unit, erase_count);
        if unit.is_erase_undone {
            media.accounts.erase_undone();
        }
        let own_cache = media.space.slc_cache.as_mut().filter(|cache| cache.is_static(erase_unit));
        match unit.contents {
            FoundContents::Erased => match own_cache {
                Some(cache) => cache.put_free(erase_unit),
                None => media.space.free.put(erase_unit, erase_count),
            },
            FoundContents::Retired => {
                media.space.wear.erase_units_left -= u32::from(own_cache.is_none());
                media.space.occupancy.retire(erase_unit);
            }
            FoundContents::Written { stream, opened_at, is_slc, .. } => {
                if let Some(cache) = media.space.slc_cache.as_mut().filter(|_| is_slc) {
                    cache.found(erase_unit, unit.is_erase_undone);
                }
                let born_at = opened_at.min(media.now());
                media.space.found(erase_unit, stream, born_at);
                media.map.opened(erase_unit, media.space.layout_of(erase_unit));
                media.accounts.opened(stream);
            }
        }
    }
}

/// The frontier that continues a partly written erase unit of a stream: one for all dies, or one for each. The host
/// has a second one, for data that bypasses the SLC cache.
fn slot_for<C: Clock>(media: &mut Media<C>, stream: StreamId, erase_unit: EraseUnit) -> &mut Frontier {
    let goes_past_cache = stream == HOST && !media.space.is_slc(erase_unit);
    let frontier = if goes_past_cache { media.space.frontier_past_cache() } else { stream };
    match &mut media.space.open_blocks {
        Some(open_blocks) => open_blocks.parked_open_block(stream, erase_unit),
        None => &mut media.space.frontiers[frontier.index()],
    }
}

/// Partly written erase units are continued, one a stream, or one a stream and die; full ones are closed in the
/// order in which they were filled. Returns those that are partly written and closed.
fn take_up_frontiers<C: Clock>(media: &mut Media<C>, found: &Found) -> Vec<EraseUnit> {
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
        let opened_at = opened_at.min(media.now());
        let first = media.space.layout.first(erase_unit);
        let layout = *media.space.layout_of(erase_unit);
        let units = layout.units_per_erase_unit();
        if slots < units && slot_for(media, stream, erase_unit).erase_unit.is_none() {
            if !media.map.is_packed() {
                let ahead = (first + slots..first + units).map(Ppn);
                ahead.filter(|ppn| !layout.is_parity(ppn.0 - first)).for_each(|ppn| media.map.mark_live(ppn));
            }
            media.space.occupancy.gain(erase_unit, layout.data_units_from(slots));
            *slot_for(media, stream, erase_unit) = Frontier::open(erase_unit, Ppn(first + slots), opened_at);
            if !media.space.is_slc(erase_unit) {
                // A reclaim unit is continued.
                if let Some(log) = &mut media.listeners.placement_log {
                    log.opened(stream, media.accounts.ledger().host_written_bytes);
                }
            }
            continue;
        }
        if slots < units {
            media.accounts.padded(u64::from(units - slots));
            filled_up.push(erase_unit);
        }
        if let Some(cache) = media.space.slc_cache.as_mut().filter(|cache| cache.is_slc[erase_unit.index()]) {
            cache.closed(erase_unit);
            continue;
        }
        media.space.found_full(erase_unit, opened_at);
        media.note_closing(erase_unit, stream, opened_at);
    }
    filled_up
}

/// The ledger of a killed process may lack programs that are in flash: these are recorded separately.
fn explain_programs<C: Clock>(media: &mut Media<C>, found: &Found, unprogrammed: u64) {
    let units = u64::from(media.space.layout.units_per_erase_unit());
    let slots_of = |(erase_unit, unit): (EraseUnit, &FoundEraseUnit)| match unit.contents {
        FoundContents::Written { slots, .. } => {
            let is_open = media.space.frontier_at(erase_unit).is_some();
            u64::from(if is_open { slots } else { media.space.layout_of(erase_unit).units_per_erase_unit() })
        }
        _ => 0,
    };
    let written: u64 = (0..).map(EraseUnit).zip(&found.erase_units).map(slots_of).sum();
    let erased = media.accounts.ledger().erased_erase_units * units;
    media.accounts.explain((erased + written).saturating_sub(unprogrammed));
}
