//! The SLC cache: erase units that the host fills with one bit a cell, and that are later folded into the others.
//!
//! Whether the host writes to the cache is decided when an erase unit is opened, never for a single unit: the host's
//! writes go to the frontier of their stream, and while the cache takes them that frontier's erase unit is in SLC mode.
//! The other frontier, which may be partly written, is stored in the last position; folded data also goes there.
//!
//! Erase units in SLC mode are never chosen as victims. The one that has been full longest is folded first; one without
//! live data is only erased. Folding happens in idle time; when erased space runs short, since it frees more than
//! garbage collection; and, where the drive file says so, when the cache is full.

use super::Ftl;
use super::gc::Move;
use super::layer::Layer;
use super::space::{Layout, SlcMode, Space};
use crate::error::{ReadOnly, SpecificationError};
use crate::ledger::Cause;
use crate::nand::Geometry;
use crate::nand::occupancy::State;
use crate::specification::drive::{Cell, Drive, WhenFull};
use crate::timing::Clock;
use crate::units::{EraseUnit, Lpn, Ppn, StreamId};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The stream of the host's writes in the only placement that works with the cache.
pub(super) const HOST: StreamId = StreamId(0);
/// Erased erase units that the cache leaves to others, in addition to those that the host may not take.
const LEFT_TO_OTHERS: u32 = 1;

pub(super) struct SlcCache {
    /// Erase units from this number on belong to the cache permanently.
    static_first: u32,
    static_free: VecDeque<EraseUnit>,
    dynamic_max: u32,
    dynamic_in_use: u32,
    free_share: f64,
    folds_when_full: bool,
    /// Full ones, oldest first.
    full: VecDeque<EraseUnit>,
    /// Whether the host's frontier is in the cache now; the other frontier is then in the last position.
    takes_host: bool,
    folding: Option<Move>,
    /// Reused memory for the next folding.
    list: Vec<(Lpn, Ppn)>,
    erased_erase_units: u64,
}

/// The layout of erase units in SLC mode with `units` mapping units.
pub(super) fn slc_mode(drive: &Drive, units: u32, erase_units: u32) -> SlcMode {
    let layout = Layout::new(units, drive.parity.units_per_stripe, 1);
    SlcMode { layout, is_slc: vec![false; erase_units as usize] }
}

/// The number of erase units that belong to the cache permanently, and the mapping units that each holds in SLC mode.
pub(super) fn static_erase_units(drive: &Drive, geometry: &Geometry) -> Result<(u32, u32), SpecificationError> {
    let said = &drive.slc_cache;
    if !said.is_on() {
        return Ok((0, 0));
    }
    let bits = match drive.nand.cell {
        Cell::Slc => {
            let allowed = "a cell of more than one bit, for a drive with an SLC cache";
            return Err(SpecificationError::new("nand.cell", "slc", allowed));
        }
        Cell::Mlc => 2,
        Cell::Tlc => 3,
        Cell::Qlc => 4,
    };
    if drive.ftl.placement.name != "host-gc-split" {
        let allowed = "host-gc-split, for a drive with an SLC cache";
        return Err(SpecificationError::new("ftl.placement", &drive.ftl.placement.name, allowed));
    }
    if drive.data_reduction.is_on() {
        let allowed = "off, for a drive with an SLC cache";
        return Err(SpecificationError::new("data_reduction", "on", allowed));
    }
    if !(0.0..=1.0).contains(&said.dynamic_free_share) {
        let allowed = "a share from 0 to 1";
        return Err(SpecificationError::new("slc_cache.dynamic_free_share", said.dynamic_free_share, allowed));
    }
    let pages = drive.nand.pages_per_block / bits;
    let units = pages * geometry.units_per_page * geometry.blocks_per_erase_unit();
    let parity = drive.parity.units_per_stripe;
    if units < 2 {
        let allowed = format!("{bits} or more, so that a block in SLC mode has pages");
        return Err(SpecificationError::new("nand.pages_per_block", drive.nand.pages_per_block, allowed));
    }
    let data_units = Layout::new(units, parity, 1).data_units_per_erase_unit();
    let bytes = u64::from(data_units) * u64::from(geometry.mapping_unit_bytes);
    let wanted = said.static_bytes.div_ceil(bytes);
    let erase_units = u64::from(geometry.erase_units_nominal());
    if wanted >= erase_units {
        let allowed = format!("less than the {} bytes that the flash holds in SLC mode", erase_units * bytes);
        return Err(SpecificationError::new("slc_cache.static_bytes", said.static_bytes, allowed));
    }
    Ok((wanted as u32, units))
}

/// Erase units that the cache holds open in addition to those of the placement: the frontier past it, and a dynamic
/// one.
pub(super) fn open_erase_units(drive: &Drive) -> u32 {
    u32::from(drive.slc_cache.is_on()) + u32::from(drive.slc_cache.dynamic_bytes_max > 0)
}

/// The state of the cache that does not follow from the drive file.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Holding {
    static_free: VecDeque<EraseUnit>,
    dynamic_in_use: u32,
    full: VecDeque<EraseUnit>,
    takes_host: bool,
    folding: Option<Move>,
    erased_erase_units: u64,
}

impl SlcCache {
    pub fn holding(&self) -> Holding {
        Holding {
            static_free: self.static_free.clone(),
            dynamic_in_use: self.dynamic_in_use,
            full: self.full.clone(),
            takes_host: self.takes_host,
            folding: self.folding.clone(),
            erased_erase_units: self.erased_erase_units,
        }
    }

    /// Restores the saved state of a cache of the same drive: `states` are those of its erase units, and `is_within`
    /// says whether a move's numbers are valid for the drive. False if the state is of another drive.
    pub fn hold(&mut self, held: Holding, states: &[State], is_within: impl Fn(&Move) -> bool) -> bool {
        let is = |erase_unit: &EraseUnit, state| states.get(erase_unit.index()) == Some(&state);
        let fits = held.full.iter().all(|full| is(full, State::Open))
            && held.static_free.iter().all(|free| is(free, State::Free) && self.is_static(*free))
            && held.folding.as_ref().is_none_or(is_within);
        if fits {
            self.static_free = held.static_free;
            self.dynamic_in_use = held.dynamic_in_use;
            self.full = held.full;
            self.takes_host = held.takes_host;
            self.folding = held.folding;
            self.erased_erase_units = held.erased_erase_units;
        }
        fits
    }

    /// `erase_units` is the number of all; the last `static_count` belong to the cache permanently.
    pub fn new(drive: &Drive, layout: &Layout, erase_units: u32, static_count: u32) -> Box<Self> {
        let said = &drive.slc_cache;
        let bytes = u64::from(layout.data_units_per_erase_unit()) * u64::from(drive.ftl.mapping_unit_bytes);
        let static_first = erase_units - static_count;
        Box::new(Self {
            static_first,
            static_free: (static_first..erase_units).map(EraseUnit).collect(),
            dynamic_max: u32::try_from(said.dynamic_bytes_max.div_ceil(bytes)).unwrap_or(u32::MAX),
            dynamic_in_use: 0,
            free_share: said.dynamic_free_share,
            folds_when_full: said.when_full == WhenFull::Fold,
            full: VecDeque::new(),
            takes_host: true,
            folding: None,
            list: Vec::new(),
            erased_erase_units: 0,
        })
    }

    /// After a loss of power: only the number of erases is known.
    pub fn begin_anew(&mut self, erased_erase_units: u64) {
        self.static_free.clear();
        self.erased_erase_units = erased_erase_units;
    }

    /// A scan found a written erase unit in SLC mode, perhaps because its erase was not performed.
    pub fn found(&mut self, erase_unit: EraseUnit, is_erase_undone: bool) {
        self.dynamic_in_use += u32::from(!self.is_static(erase_unit));
        self.erased_erase_units -= u64::from(is_erase_undone);
    }

    /// A permanent erase unit of the cache is erased.
    pub fn put_free(&mut self, erase_unit: EraseUnit) {
        self.static_free.push_back(erase_unit);
    }

    /// Retires an erased permanent erase unit of the cache.
    pub fn retire(&mut self, erase_unit: EraseUnit) {
        self.static_free.retain(|&free| free != erase_unit);
    }

    pub fn is_static(&self, erase_unit: EraseUnit) -> bool {
        erase_unit.0 >= self.static_first
    }

    pub fn static_free(&self) -> u32 {
        self.static_free.len() as u32
    }

    /// Whether its count of erase units in SLC mode that do not belong to it permanently is right.
    pub fn has_dynamic(&self, in_slc_mode: impl Iterator<Item = EraseUnit>) -> bool {
        in_slc_mode.filter(|&erase_unit| !self.is_static(erase_unit)).count() == self.dynamic_in_use as usize
    }

    pub fn dynamic_in_use(&self) -> u32 {
        self.dynamic_in_use
    }

    /// Erases of erase units that were in SLC mode.
    pub fn erased_erase_units(&self) -> u64 {
        self.erased_erase_units
    }

    pub fn takes_host(&self) -> bool {
        self.takes_host
    }

    fn is_folding(&self) -> bool {
        self.folding.is_some()
    }

    /// The erase unit being folded.
    pub fn victim(&self) -> Option<EraseUnit> {
        self.folding.as_ref().map(|folding| folding.victim)
    }

    /// Whether the erase unit is full, and perhaps being folded.
    pub fn holds(&self, erase_unit: EraseUnit) -> bool {
        self.full.contains(&erase_unit) || self.victim() == Some(erase_unit)
    }

    pub fn closed(&mut self, erase_unit: EraseUnit) {
        self.full.push_back(erase_unit);
    }

    /// Removes a full one from the list, because its block has failed.
    fn take_failed(&mut self, failed: EraseUnit) {
        self.full.retain(|&full| full != failed);
    }

    /// Takes the next to fold: one without live data, or else the one that has been full longest.
    fn take_next(&mut self, space: &Space, only_dynamic: bool) -> Option<EraseUnit> {
        let candidates = self.full.iter().enumerate().filter(|(_, full)| !only_dynamic || full.0 < self.static_first);
        let next = candidates.min_by_key(|&(slot, &full)| (space.occupancy.live_units(full) > 0, slot));
        let slot = next.map(|(slot, _)| slot)?;
        self.full.remove(slot)
    }

    /// Takes one without live data.
    fn take_dead(&mut self, space: &Space) -> Option<EraseUnit> {
        let slot = self.full.iter().position(|&full| space.occupancy.live_units(full) == 0)?;
        self.full.remove(slot)
    }

    /// Takes an erased permanent erase unit.
    fn take_free(&mut self) -> Option<EraseUnit> {
        self.static_free.pop_front()
    }

    /// An erase unit was erased; a permanent one returns to the cache. Returns whether it was permanent.
    pub fn erased(&mut self, erase_unit: EraseUnit) -> bool {
        self.erased_erase_units += 1;
        if self.is_static(erase_unit) {
            self.put_free(erase_unit);
            return true;
        }
        self.dynamic_in_use -= 1;
        false
    }
}

impl<L: Layer, C: Clock> Ftl<L, C> {
    fn cache(&mut self) -> &mut SlcCache {
        self.slc_cache.as_mut().expect("there is a cache")
    }

    /// The frontier that bypasses the cache, and receives folded data.
    pub(super) fn frontier_past_cache(&self) -> StreamId {
        let waits = self.slc_cache.as_ref().is_some_and(|cache| cache.takes_host);
        if waits { StreamId(self.space.frontiers.len() as u8 - 1) } else { HOST }
    }

    /// The number of erased erase units below which the cache takes none.
    fn left_to_others(&self) -> u32 {
        let margins = &self.space.margins;
        let in_hand = if C::PACED { margins.in_hand_erase_units } else { 0 };
        margins.reserve_erase_units + self.set_aside_erase_units() + in_hand + LEFT_TO_OTHERS
    }

    fn may_open_dynamic(&self, cache: &SlcCache) -> bool {
        let mut most = cache.dynamic_max;
        if cache.free_share > 0.0 {
            let empty = f64::from(self.map.user_units()) - self.accounts.mapped_units() as f64;
            most = most.min((empty * cache.free_share / f64::from(self.space.data_units_in_slc_mode())) as u32);
        }
        cache.dynamic_in_use < most && self.space.free.len() > self.left_to_others()
    }

    fn has_room_in_cache(&self) -> bool {
        self.slc_cache.as_ref().is_some_and(|cache| cache.static_free() > 0 || self.may_open_dynamic(cache))
    }

    /// The host's frontier is full: opens another one in the cache, or lets the host bypass it. False if the host
    /// bypasses the cache already and that frontier is full too.
    pub(super) fn make_room_in_cache(&mut self) -> Result<bool, ReadOnly> {
        while !self.has_room_in_cache() && self.erase_dead()? {}
        if self.has_room_in_cache() {
            self.turn_host(true);
            self.open_in_cache();
            if C::PACED && !self.has_room_in_cache() {
                self.fold_ahead()?;
            }
            return Ok(true);
        }
        let cache = self.cache();
        if cache.folds_when_full && (cache.is_folding() || !cache.full.is_empty()) {
            self.fold_one()?;
            return Ok(true);
        }
        let was_in_cache = cache.takes_host;
        self.turn_host(false);
        Ok(was_in_cache)
    }

    /// Exchanges the two frontiers of the host, unless the host already uses the requested one.
    fn turn_host(&mut self, to_cache: bool) {
        let last = self.space.frontiers.len() - 1;
        if std::mem::replace(&mut self.cache().takes_host, to_cache) != to_cache {
            self.space.frontiers.swap(HOST.index(), last);
        }
    }

    fn open_in_cache(&mut self) {
        let erase_unit = match self.cache().take_free() {
            Some(own) => own,
            None => {
                self.cache().dynamic_in_use += 1;
                self.space.free.take().expect("there is room for the cache")
            }
        };
        self.space.set_slc(erase_unit, true);
        self.open_as(HOST, HOST, erase_unit);
    }

    /// Erases a full erase unit without live data, which needs no folding. Returns whether there was one.
    fn erase_dead(&mut self) -> Result<bool, ReadOnly> {
        let cache = self.slc_cache.as_mut().expect("there is a cache");
        match cache.take_dead(&self.space) {
            Some(dead) => self.erase(dead).map(|()| true),
            None => Ok(false),
        }
    }
}

/// Folding: live data of a full erase unit of the cache moves to other erase units, in idle time or throttled by the
/// host's writes.
impl<L: Layer, C: Clock> Ftl<L, C> {
    fn next_to_fold(&mut self, only_dynamic: bool) -> Option<EraseUnit> {
        self.slc_cache.as_mut()?.take_next(&self.space, only_dynamic)
    }

    /// With a clock, and where the drive waits for space: starts folding early enough that the next erase unit of the
    /// cache is ready when the one just opened is full.
    pub(super) fn fold_ahead(&mut self) -> Result<(), ReadOnly> {
        let cache = self.cache();
        if !cache.folds_when_full || cache.is_folding() {
            return Ok(());
        }
        let host_units = u64::from(self.space.data_units_in_slc_mode());
        match self.next_to_fold(false) {
            Some(oldest) => self.start_folding(oldest, host_units),
            None => Ok(()),
        }
    }

    /// Folds an erase unit of the cache at once, or completes the current folding.
    pub(super) fn fold_one(&mut self) -> Result<(), ReadOnly> {
        if !self.cache().is_folding() {
            let Some(oldest) = self.next_to_fold(false) else { return Ok(()) };
            self.start_folding(oldest, 1)?;
        }
        self.go_on_folding(u64::MAX)
    }

    /// Folds a full one at once, because its block has failed.
    pub(super) fn fold_failed(&mut self, failed: EraseUnit) -> Result<(), ReadOnly> {
        self.cache().take_failed(failed);
        self.start_folding(failed, 1)?;
        self.go_on_folding(u64::MAX)
    }

    /// If erased space runs short, folds an erase unit of the cache, which frees more than any victim: returns whether
    /// there was one. If `paced`, spreads it over enough host units that the space is free in time.
    pub(super) fn fold_for_space(&mut self, paced: bool) -> Result<bool, ReadOnly> {
        let Some(cache) = &self.slc_cache else { return Ok(false) };
        if !cache.is_folding() {
            let Some(oldest) = self.next_to_fold(true) else { return Ok(false) };
            let live_units = self.space.occupancy.live_units(oldest);
            let gained_units = self.space.layout.data_units_per_erase_unit() - live_units;
            self.start_folding(oldest, u64::from(gained_units))?;
        }
        if !paced {
            self.go_on_folding(u64::MAX)?;
        }
        Ok(true)
    }

    /// Folds up to `units` units in idle time. False if nothing in the cache is full, or there is no space to fold to.
    pub(super) fn fold_in_idle(&mut self, units: u64) -> Result<bool, ReadOnly> {
        let Some(cache) = &self.slc_cache else { return Ok(false) };
        if !cache.is_folding() {
            if cache.full.is_empty() {
                return Ok(false);
            }
            let has_space = self.host_may_open();
            let Some(oldest) = self.next_to_fold(!has_space) else { return Ok(false) };
            self.start_folding(oldest, 1)?;
        }
        self.go_on_folding(units)?;
        Ok(true)
    }

    /// Spreads folding over the next `host_units` units written by the host.
    fn start_folding(&mut self, erase_unit: EraseUnit, host_units: u64) -> Result<(), ReadOnly> {
        let live_units = u64::from(self.space.occupancy.live_units(erase_unit));
        let room = self.make_room_to_fold(erase_unit, live_units);
        if room.is_err() {
            self.cache().full.push_front(erase_unit);
            return room;
        }
        let born_at = self.space.filled.born_at[erase_unit.index()];
        let amounts = (live_units, host_units);
        let cache = self.cache();
        let list = std::mem::take(&mut cache.list);
        cache.folding = Some(Move::new(erase_unit, Cause::SlcFold, HOST, born_at, amounts, list));
        Ok(())
    }

    /// Folding a dynamic erase unit frees more than it takes, so it may use the reserve as garbage collection does;
    /// folding a permanent one frees nothing for others.
    fn make_room_to_fold(&mut self, erase_unit: EraseUnit, live_units: u64) -> Result<(), ReadOnly> {
        if self.room_past_cache() >= live_units {
            return Ok(());
        }
        if self.space.free.len() <= self.space.margins.reserve_erase_units {
            self.finish_gc()?;
        }
        if self.cache().is_static(erase_unit) {
            self.make_space(None)?;
        }
        let stream = self.frontier_past_cache();
        self.check_room_to_move(stream, live_units)
    }

    /// Free data slots of the frontier past the cache.
    fn room_past_cache(&self) -> u64 {
        u64::from(self.space.slots_left(self.frontier_past_cache()))
    }

    /// Called for each unit that the host writes.
    #[inline]
    pub(super) fn pace_folding(&mut self) -> Result<(), ReadOnly> {
        let Some(cache) = &mut self.slc_cache else { return Ok(()) };
        let Some(folding) = &mut cache.folding else { return Ok(()) };
        let units = folding.owe();
        self.go_on_folding(units)
    }

    fn go_on_folding(&mut self, budget: u64) -> Result<(), ReadOnly> {
        let Some(mut folding) = self.cache().folding.take() else { return Ok(()) };
        let is_empty = self.advance(&mut folding, budget);
        if !matches!(is_empty, Ok(true)) {
            self.cache().folding = Some(folding);
            return is_empty.map(|_| ());
        }
        self.cache().list = folding.gathered;
        self.erase(folding.victim)?;
        self.note_room();
        Ok(())
    }

    /// Space in the cache is used at once.
    fn note_room(&mut self) {
        if self.has_room_in_cache() {
            // The frontier past the cache may be partly written; it waits, and receives folded data.
            self.turn_host(true);
        }
    }

    /// Completes the current folding, if there is one.
    pub(super) fn finish_folding(&mut self) -> Result<(), ReadOnly> {
        if self.slc_cache.is_some() { self.go_on_folding(u64::MAX) } else { Ok(()) }
    }
}
