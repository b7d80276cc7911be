//! The SLC cache: erase units that the host fills with one bit a cell, and that are later folded into the others.
//!
//! Whether the host writes to the cache is decided when an erase unit is opened, never for a single unit: the host's
//! writes go to the frontier of their stream, and while the cache takes them that frontier's erase unit is in SLC mode.
//! The other frontier, which may be partly written, is stored in the last position; folded data also goes there.
//!
//! Erase units in SLC mode are never chosen as victims. The one that has been full longest is folded first; one without
//! live data is only erased. Folding happens in idle time; when erased space runs short, since it frees more than
//! garbage collection; and, where the drive file says so, when the cache is full.

use super::Layout;
use crate::error::SpecificationError;
use crate::nand::Geometry;
use crate::nand::occupancy::{Occupancy, State};
use crate::specification::drive::{Cell, Drive, WhenFull};
use crate::units::{EraseUnit, StreamId};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The stream of the host's writes in the only placement that works with the cache.
pub const HOST: StreamId = StreamId(0);
/// Erased erase units that the cache leaves to others, in addition to those that the host may not take.
pub const LEFT_TO_OTHERS: u32 = 1;

pub struct SlcCache {
    /// Of erase units in SLC mode; only for positions within one.
    pub layout: Layout,
    /// By erase unit: whether it is in SLC mode.
    pub is_slc: Vec<bool>,
    /// Erase units from this number on belong to the cache permanently.
    static_first: u32,
    dynamic_max: u32,
    free_share: f64,
    folds_when_full: bool,
    holding: Holding,
    erased_erase_units: u64,
}

/// The state of the cache that does not follow from the drive file.
#[derive(Clone, Serialize, Deserialize)]
pub struct Holding {
    static_free: VecDeque<EraseUnit>,
    dynamic_in_use: u32,
    /// Full ones, oldest first.
    full: VecDeque<EraseUnit>,
    /// Whether the host's frontier is in the cache now; the other frontier is then in the last position.
    takes_host: bool,
}

/// The number of erase units that belong to the cache permanently, and the mapping units that each holds in SLC mode.
pub fn static_erase_units(drive: &Drive, geometry: &Geometry) -> Result<(u32, u32), SpecificationError> {
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
pub fn open_erase_units(drive: &Drive) -> u32 {
    u32::from(drive.slc_cache.is_on()) + u32::from(drive.slc_cache.dynamic_bytes_max > 0)
}

impl SlcCache {
    /// `units` is what an erase unit holds in SLC mode, in mapping units, `erase_units` the number of all; the last
    /// `static_count` belong to the cache permanently.
    pub fn new(drive: &Drive, units: u32, erase_units: u32, static_count: u32) -> Box<Self> {
        let said = &drive.slc_cache;
        let layout = Layout::new(units, drive.parity.units_per_stripe, 1);
        let bytes = u64::from(layout.data_units_per_erase_unit()) * u64::from(drive.ftl.mapping_unit_bytes);
        let static_first = erase_units - static_count;
        Box::new(Self {
            layout,
            is_slc: vec![false; erase_units as usize],
            static_first,
            dynamic_max: u32::try_from(said.dynamic_bytes_max.div_ceil(bytes)).unwrap_or(u32::MAX),
            free_share: said.dynamic_free_share,
            folds_when_full: said.when_full == WhenFull::Fold,
            holding: Holding {
                static_free: (static_first..erase_units).map(EraseUnit).collect(),
                dynamic_in_use: 0,
                full: VecDeque::new(),
                takes_host: true,
            },
            erased_erase_units: 0,
        })
    }

    pub fn holding(&self) -> &Holding {
        &self.holding
    }

    /// Restores the saved state of a cache of the same drive: `states` are those of its erase units. False if the state
    /// is of another drive.
    pub fn hold(&mut self, held: Holding, erased_erase_units: u64, states: &[State]) -> bool {
        let is = |erase_unit: &EraseUnit, state| states.get(erase_unit.index()) == Some(&state);
        let fits = held.full.iter().all(|full| is(full, State::Open))
            && held.static_free.iter().all(|free| is(free, State::Free) && self.is_static(*free));
        if fits {
            self.holding = held;
            self.erased_erase_units = erased_erase_units;
        }
        fits
    }

    /// After a loss of power: only the number of erases is known.
    pub fn begin_anew(&mut self, erased_erase_units: u64) {
        self.holding.static_free.clear();
        self.erased_erase_units = erased_erase_units;
    }

    /// A scan found a written erase unit in SLC mode, perhaps because its erase was not performed.
    pub fn found(&mut self, erase_unit: EraseUnit, is_erase_undone: bool) {
        self.is_slc[erase_unit.index()] = true;
        self.holding.dynamic_in_use += u32::from(!self.is_static(erase_unit));
        self.erased_erase_units -= u64::from(is_erase_undone);
    }

    /// A permanent erase unit of the cache is erased.
    pub fn put_free(&mut self, erase_unit: EraseUnit) {
        self.holding.static_free.push_back(erase_unit);
    }

    /// Retires an erased permanent erase unit of the cache.
    pub fn retire(&mut self, erase_unit: EraseUnit) {
        self.holding.static_free.retain(|&free| free != erase_unit);
    }

    pub fn is_static(&self, erase_unit: EraseUnit) -> bool {
        erase_unit.0 >= self.static_first
    }

    pub fn static_free(&self) -> u32 {
        self.holding.static_free.len() as u32
    }

    /// Whether its count of erase units in SLC mode that do not belong to it permanently is right.
    pub fn has_dynamic(&self) -> bool {
        let dynamic = self.is_slc[..self.static_first as usize].iter().filter(|&&is_slc| is_slc);
        dynamic.count() == self.holding.dynamic_in_use as usize
    }

    pub fn dynamic_in_use(&self) -> u32 {
        self.holding.dynamic_in_use
    }

    /// Erases of erase units that were in SLC mode.
    pub fn erased_erase_units(&self) -> u64 {
        self.erased_erase_units
    }

    pub fn takes_host(&self) -> bool {
        self.holding.takes_host
    }

    /// Changes whether the host's frontier is in the cache. Returns whether it was.
    pub fn take_host(&mut self, to_cache: bool) -> bool {
        std::mem::replace(&mut self.holding.takes_host, to_cache)
    }

    /// Whether the drive waits for space in a full cache, and does not bypass it.
    pub fn folds_when_full(&self) -> bool {
        self.folds_when_full
    }

    /// Whether the erase unit is full and not yet being folded.
    pub fn holds(&self, erase_unit: EraseUnit) -> bool {
        self.holding.full.contains(&erase_unit)
    }

    pub fn has_full(&self) -> bool {
        !self.holding.full.is_empty()
    }

    /// Whether it may take one more erase unit of the others, when this many mapping units hold no data and an erase
    /// unit in SLC mode holds `slc_units`.
    pub fn may_grow(&self, empty_units: f64) -> bool {
        let mut most = self.dynamic_max;
        if self.free_share > 0.0 {
            most =
                most.min((empty_units * self.free_share / f64::from(self.layout.data_units_per_erase_unit())) as u32);
        }
        self.holding.dynamic_in_use < most
    }

    pub fn closed(&mut self, erase_unit: EraseUnit) {
        self.holding.full.push_back(erase_unit);
    }

    /// Removes a full one from the list, because its block has failed.
    pub fn take_failed(&mut self, failed: EraseUnit) {
        self.holding.full.retain(|&full| full != failed);
    }

    /// Takes the next to fold: one without live data, or else the one that has been full longest.
    pub fn take_next(&mut self, occupancy: &Occupancy, only_dynamic: bool) -> Option<EraseUnit> {
        let candidates =
            self.holding.full.iter().enumerate().filter(|(_, full)| !only_dynamic || full.0 < self.static_first);
        let next = candidates.min_by_key(|&(slot, &full)| (occupancy.live_units(full) > 0, slot));
        let slot = next.map(|(slot, _)| slot)?;
        self.holding.full.remove(slot)
    }

    /// Takes one without live data.
    pub fn take_dead(&mut self, occupancy: &Occupancy) -> Option<EraseUnit> {
        let slot = self.holding.full.iter().position(|&full| occupancy.live_units(full) == 0)?;
        self.holding.full.remove(slot)
    }

    /// Takes an erased permanent erase unit. Without one it gets another erase unit, which it counts as dynamic.
    pub fn take_free(&mut self) -> Option<EraseUnit> {
        let own = self.holding.static_free.pop_front();
        self.holding.dynamic_in_use += u32::from(own.is_none());
        own
    }

    /// One that was taken cannot be folded now.
    pub fn put_back(&mut self, erase_unit: EraseUnit) {
        self.holding.full.push_front(erase_unit);
    }

    /// An erase unit was erased; a permanent one returns to the cache. Returns whether it was permanent.
    pub fn erased(&mut self, erase_unit: EraseUnit) -> bool {
        self.is_slc[erase_unit.index()] = false;
        self.erased_erase_units += 1;
        if self.is_static(erase_unit) {
            self.put_free(erase_unit);
            return true;
        }
        self.holding.dynamic_in_use -= 1;
        false
    }
}
