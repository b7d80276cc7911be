//! The SLC cache: erase units that the host fills with one bit a cell, and that are folded into the others later.
//!
//! The choice between the cache and the rest is made when an erase unit is opened, never for a unit: the host's writes go
//! to the frontier of their stream as ever, and while the cache takes them, that frontier's erase unit is one in SLC mode.
//! The other frontier, half full as it may be, waits in a place of its own; it also takes what is folded.
//!
//! Erase units in SLC mode are never chosen as victims. The one that has been full longest is folded first, but one that
//! holds nothing any more is only erased. Folding happens in idle time; when erased space runs short, since it gives more
//! back than any cleaning; and, where the drive file says so, when the cache is full.

use super::Ftl;
use super::layout::Layout;
use super::numbers::{EraseUnit, Lpn, Ppn, StreamId};
use super::pacing::InProgress;
use crate::error::{ReadOnly, SpecificationError};
use crate::nand::Geometry;
use crate::policies::placement::PlacementPolicy;
use crate::specification::drive::{Cell, Drive};
use crate::specification::slc_cache::WhenFull;
use crate::timing::Clock;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The stream of the host's writes in the one placement that the cache works with.
pub(super) const HOST: StreamId = StreamId(0);
/// Erased erase units that the cache leaves to others, beyond those that the host may never take.
const LEFT_TO_OTHERS: u32 = 1;

pub(super) struct SlcCache {
    /// Where things lie in an erase unit in SLC mode; only for places within it.
    pub(super) layout: Layout,
    /// Erase units from here on are the cache's own.
    pub(super) static_first: u32,
    static_free: VecDeque<EraseUnit>,
    dynamic_max: u32,
    dynamic_in_use: u32,
    free_share: f64,
    pub(super) folds_when_full: bool,
    /// By erase unit.
    is_slc: Vec<bool>,
    /// Those that are full, the oldest first.
    pub(super) full: VecDeque<EraseUnit>,
    /// Whether the host's frontier is in the cache now; the other one waits in the last place.
    takes_host: bool,
    pub(super) folding: Option<InProgress>,
    pub(super) moving: Vec<(Lpn, Ppn)>,
    erased_erase_units: u64,
}

/// Erase units that a drive has for the cache alone, and how many mapping units one holds in SLC mode.
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

/// Erase units that the cache holds open, beside those of the placement: the frontier past it, and a dynamic one.
pub(super) fn open_erase_units(drive: &Drive) -> u32 {
    u32::from(drive.slc_cache.is_on()) + u32::from(drive.slc_cache.dynamic_bytes_max > 0)
}

/// What of the cache is not the drive file's.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Holding {
    static_free: VecDeque<EraseUnit>,
    dynamic_in_use: u32,
    is_slc: Vec<bool>,
    full: VecDeque<EraseUnit>,
    takes_host: bool,
    folding: Option<InProgress>,
    moving: Vec<(Lpn, Ppn)>,
    erased_erase_units: u64,
}

impl SlcCache {
    pub fn holding(&self) -> Holding {
        Holding {
            static_free: self.static_free.clone(),
            dynamic_in_use: self.dynamic_in_use,
            is_slc: self.is_slc.clone(),
            full: self.full.clone(),
            takes_host: self.takes_host,
            folding: self.folding.clone(),
            moving: self.moving.clone(),
            erased_erase_units: self.erased_erase_units,
        }
    }

    /// Takes up what one of the same drive held. False when it is not one of the same drive.
    pub fn hold(&mut self, held: Holding) -> bool {
        let known = |erase_unit: EraseUnit| erase_unit.index() < self.is_slc.len();
        let folding = held.folding.as_ref().map(InProgress::victim);
        let named = held.static_free.iter().chain(&held.full).copied().chain(folding);
        if held.is_slc.len() != self.is_slc.len() || !named.into_iter().all(known) {
            return false;
        }
        self.static_free = held.static_free;
        self.dynamic_in_use = held.dynamic_in_use;
        self.is_slc = held.is_slc;
        self.full = held.full;
        self.takes_host = held.takes_host;
        self.folding = held.folding;
        self.moving = held.moving;
        self.erased_erase_units = held.erased_erase_units;
        true
    }

    /// `erase_units` are all, the last `static_count` of them the cache's own.
    pub fn new(drive: &Drive, units_in_slc_mode: u32, erase_units: u32, static_count: u32) -> Box<Self> {
        let said = &drive.slc_cache;
        let layout = Layout::new(units_in_slc_mode, drive.parity.units_per_stripe, 1);
        let bytes = u64::from(layout.data_units_per_erase_unit()) * u64::from(drive.ftl.mapping_unit_bytes);
        let static_first = erase_units - static_count;
        Box::new(Self {
            layout,
            static_first,
            static_free: (static_first..erase_units).map(EraseUnit).collect(),
            dynamic_max: u32::try_from(said.dynamic_bytes_max.div_ceil(bytes)).unwrap_or(u32::MAX),
            dynamic_in_use: 0,
            free_share: said.dynamic_free_share,
            folds_when_full: said.when_full == WhenFull::Fold,
            is_slc: vec![false; erase_units as usize],
            full: VecDeque::new(),
            takes_host: true,
            folding: None,
            moving: Vec::with_capacity(128),
            erased_erase_units: 0,
        })
    }

    /// After a loss of power: nothing is known of the erase units yet, but how often they were erased.
    pub fn begin_anew(&mut self, erased_erase_units: u64) {
        self.static_free.clear();
        self.erased_erase_units = erased_erase_units;
    }

    /// An erase unit in SLC mode was found that holds something, perhaps because its erase was not carried out.
    pub fn found(&mut self, erase_unit: EraseUnit, is_erase_undone: bool) {
        self.is_slc[erase_unit.index()] = true;
        self.dynamic_in_use += u32::from(!self.is_static(erase_unit));
        self.erased_erase_units -= u64::from(is_erase_undone);
    }

    /// One of the cache's own is erased.
    pub fn put_free(&mut self, erase_unit: EraseUnit) {
        self.static_free.push_back(erase_unit);
    }

    /// One of the cache's own, erased, is never used again.
    pub fn retire(&mut self, erase_unit: EraseUnit) {
        self.static_free.retain(|&free| free != erase_unit);
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub fn is_slc(&self, erase_unit: EraseUnit) -> bool {
        self.is_slc[erase_unit.index()]
    }

    pub fn is_static(&self, erase_unit: EraseUnit) -> bool {
        erase_unit.0 >= self.static_first
    }

    pub fn static_free(&self) -> u32 {
        self.static_free.len() as u32
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

    pub fn has_full(&self) -> bool {
        !self.full.is_empty()
    }

    pub fn is_folding(&self) -> bool {
        self.folding.is_some()
    }

    /// Whether it is full, being folded or not.
    pub fn holds(&self, erase_unit: EraseUnit) -> bool {
        self.full.contains(&erase_unit) || self.folding.as_ref().is_some_and(|folding| folding.victim() == erase_unit)
    }

    pub fn closed(&mut self, erase_unit: EraseUnit) {
        self.full.push_back(erase_unit);
    }

    /// It is erased; one of the cache's own comes back to it. Returns whether it was one of those.
    pub fn erased(&mut self, erase_unit: EraseUnit) -> bool {
        self.is_slc[erase_unit.index()] = false;
        self.erased_erase_units += 1;
        if self.is_static(erase_unit) {
            self.put_free(erase_unit);
            return true;
        }
        self.dynamic_in_use -= 1;
        false
    }
}

impl<P: PlacementPolicy, C: Clock> Ftl<P, C> {
    /// Where the places of an erase unit lie, which depends on its mode.
    pub(super) fn layout_of(&self, erase_unit: EraseUnit) -> &Layout {
        match &self.slc_cache {
            Some(cache) if cache.is_slc(erase_unit) => &cache.layout,
            _ => &self.layout,
        }
    }

    pub(super) fn is_slc(&self, erase_unit: EraseUnit) -> bool {
        self.slc_cache.as_ref().is_some_and(|cache| cache.is_slc(erase_unit))
    }

    /// The frontier that writes past the cache, and takes what is folded.
    pub(super) fn frontier_past_cache(&self) -> StreamId {
        let waits = self.slc_cache.as_ref().is_some_and(|cache| cache.takes_host);
        if waits { StreamId(self.frontiers.len() as u8 - 1) } else { HOST }
    }

    /// Erase units that the cache may not leave fewer than.
    fn left_to_others(&self) -> u32 {
        let in_hand = if C::PACED { self.in_hand_erase_units } else { 0 };
        self.reserve_erase_units + self.set_aside_erase_units() + in_hand + LEFT_TO_OTHERS
    }

    fn may_open_dynamic(&self) -> bool {
        let Some(cache) = &self.slc_cache else { return false };
        let mut most = cache.dynamic_max;
        if cache.free_share > 0.0 {
            let empty = f64::from(self.map.user_units()) - self.mapped_units as f64;
            most = most.min((empty * cache.free_share / f64::from(cache.layout.data_units_per_erase_unit())) as u32);
        }
        cache.dynamic_in_use < most && self.free.len() > self.left_to_others()
    }

    pub(super) fn has_room_in_cache(&self) -> bool {
        self.slc_cache.as_ref().is_some_and(|cache| cache.static_free() > 0) || self.may_open_dynamic()
    }

    /// The host's frontier is full: opens another one in the cache, or sees to it that the host writes past it. False when
    /// the host's frontier is past the cache already and full too.
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
        let cache = self.slc_cache.as_ref().expect("there is a cache");
        if cache.folds_when_full && (cache.is_folding() || cache.has_full()) {
            self.fold_one()?;
            return Ok(true);
        }
        let was_in_cache = cache.takes_host;
        self.turn_host(false);
        Ok(was_in_cache)
    }

    /// Exchanges the two frontiers that the host may write to, if it writes to the other one now.
    pub(super) fn turn_host(&mut self, to_cache: bool) {
        let last = self.frontiers.len() - 1;
        let cache = self.slc_cache.as_mut().expect("there is a cache");
        if std::mem::replace(&mut cache.takes_host, to_cache) != to_cache {
            self.frontiers.swap(HOST.index(), last);
        }
    }

    fn open_in_cache(&mut self) {
        let own = self.slc_cache.as_mut().and_then(|cache| cache.static_free.pop_front());
        let erase_unit = match own {
            Some(own) => own,
            None => {
                let taken = self.free.take().expect("there is room for the cache");
                self.slc_cache.as_mut().expect("there is a cache").dynamic_in_use += 1;
                taken
            }
        };
        self.slc_cache.as_mut().expect("there is a cache").is_slc[erase_unit.index()] = true;
        self.open_as(HOST, HOST, erase_unit);
    }

    /// What holds nothing any more need not be folded, at any time. Returns whether there was such an erase unit.
    fn erase_dead(&mut self) -> Result<bool, ReadOnly> {
        let cache = self.slc_cache.as_mut().expect("there is a cache");
        let occupancy = &self.occupancy;
        let dead = cache.full.iter().position(|&full| occupancy.live_units(full) == 0);
        match dead.and_then(|place| cache.full.remove(place)) {
            Some(dead) => self.erase(dead).map(|()| true),
            None => Ok(false),
        }
    }
}
