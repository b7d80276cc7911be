//! The SLC cache of the twin.

use super::UNIT;
use super::model::{Slot, Twin};
use ssdlab_engine::specification::drive::WhenFull;
use ssdlab_engine::specification::drive::*;
use std::collections::VecDeque;

/// What the twin knows of it.
pub struct Cache {
    pub units: usize,
    pub static_first: usize,
    pub static_free: VecDeque<usize>,
    dynamic_max: usize,
    free_share: f64,
    folds_when_full: bool,
    pub is_slc: Vec<bool>,
    pub full: Vec<usize>,
    /// Whether the first open erase unit is in the cache; the other of the host's is the third.
    takes_host: bool,
}

impl Cache {
    pub fn new(drive: &Drive, erase_units: usize, units: usize) -> Option<Self> {
        let said = &drive.slc_cache;
        let slc_units = slc_units(drive, units);
        let slc_bytes = data_units(slc_units, drive.parity.units_per_stripe as usize) as u64 * UNIT;
        let static_count = said.static_bytes.div_ceil(slc_bytes) as usize;
        said.is_on().then(|| Self {
            units: slc_units,
            static_first: erase_units - static_count,
            static_free: (erase_units - static_count..erase_units).collect(),
            dynamic_max: said.dynamic_bytes_max.div_ceil(slc_bytes) as usize,
            free_share: said.dynamic_free_share,
            folds_when_full: said.when_full == WhenFull::Fold,
            is_slc: vec![false; erase_units],
            full: Vec::new(),
            takes_host: true,
        })
    }
}

impl Twin {
    /// Free erase units that the host may not open.
    pub fn not_for_host(&self) -> usize {
        let empty = self.user_units as usize - self.mapped();
        self.reserve + if self.is_static { empty / self.data_units() } else { 0 }
    }

    /// Cleans the pool, unless something can be folded. Returns whether space was gained.
    pub fn make_some_space(&mut self, pool: Option<usize>) -> bool {
        match self.next_to_fold(true) {
            Some(erase_unit) => {
                self.fold(erase_unit);
                true
            }
            None => self.clean(pool),
        }
    }

    fn has_room_in_cache(&self) -> bool {
        let cache = self.cache.as_ref().expect("a cache");
        let mut most = cache.dynamic_max;
        if cache.free_share > 0.0 {
            let empty = f64::from(self.user_units) - self.mapped() as f64;
            most = most.min((empty * cache.free_share / data_units(cache.units, self.stripe) as f64) as usize);
        }
        let in_use = (0..cache.static_first).filter(|&erase_unit| cache.is_slc[erase_unit]).count();
        !cache.static_free.is_empty() || (in_use < most && self.free.len() > self.not_for_host() + 1)
    }

    /// What holds nothing, or what has been full longest.
    fn next_to_fold(&mut self, only_dynamic: bool) -> Option<usize> {
        let cache = self.cache.as_ref()?;
        let candidates: Vec<usize> =
            cache.full.iter().copied().filter(|&full| !only_dynamic || full < cache.static_first).collect();
        let dead = candidates.iter().copied().find(|&full| self.live(full) == 0);
        let next = dead.or(candidates.first().copied())?;
        self.cache.as_mut().expect("a cache").full.retain(|&full| full != next);
        Some(next)
    }

    fn turn_host(&mut self, to_cache: bool) {
        let cache = self.cache.as_mut().expect("a cache");
        if cache.takes_host != to_cache {
            cache.takes_host = to_cache;
            self.open.swap(0, 2);
        }
    }

    pub fn make_room_in_cache(&mut self) -> bool {
        while !self.has_room_in_cache() {
            let full = self.cache.as_ref().expect("a cache").full.clone();
            let Some(dead) = full.into_iter().find(|&full| self.live(full) == 0) else { break };
            self.cache.as_mut().expect("a cache").full.retain(|&full| full != dead);
            self.erase(dead);
        }
        if self.has_room_in_cache() {
            self.turn_host(true);
            let own = self.cache.as_mut().expect("a cache").static_free.pop_front();
            let erase_unit = own.unwrap_or_else(|| self.free.pop_front().expect("a free erase unit"));
            self.cache.as_mut().expect("a cache").is_slc[erase_unit] = true;
            self.begin(erase_unit, 0);
            self.open[0] = Some(erase_unit);
            return true;
        }
        if self.cache.as_ref().is_some_and(|cache| cache.folds_when_full)
            && let Some(oldest) = self.next_to_fold(false)
        {
            self.fold(oldest);
            return true;
        }
        let was_in_cache = self.cache.as_ref().expect("a cache").takes_host;
        self.turn_host(false);
        was_in_cache
    }

    fn fold(&mut self, erase_unit: usize) {
        let past = |twin: &Self| if twin.cache.as_ref().expect("a cache").takes_host { 2 } else { 0 };
        let room = self.open[past(self)].map_or(0, |open| {
            (0..self.units()).filter(|&at| self.slots[open][at] == Slot::Empty && !self.is_parity(open, at)).count()
        });
        if room < self.live(erase_unit) && erase_unit >= self.cache.as_ref().expect("a cache").static_first {
            while self.free.len() <= self.not_for_host() {
                self.make_some_space(None);
            }
        }
        for slot in 0..self.units() {
            if let (true, Slot::Data(lpn)) = (self.is_live(erase_unit, slot), self.slots[erase_unit][slot]) {
                let to = past(self);
                let at = loop {
                    match self.slot(to) {
                        Some(at) => break at,
                        None => self.open(to),
                    }
                };
                self.put(lpn, at);
                self.note_moved(lpn);
                self.ledger.programmed_units.slc_fold += 1;
                self.ledger.read_units.slc_fold += 1;
            }
        }
        self.erase(erase_unit);
        if self.has_room_in_cache() {
            self.turn_host(true);
        }
    }
}

pub fn is_parity(slot: usize, units: usize, stripe: usize) -> bool {
    stripe != 0 && ((slot + 1).is_multiple_of(stripe) || slot + 1 == units)
}

pub fn data_units(units: usize, stripe: usize) -> usize {
    (0..units).filter(|&slot| !is_parity(slot, units, stripe)).count()
}

/// Mapping units of an erase unit in SLC mode: whole pages of each of its blocks.
pub fn slc_units(drive: &Drive, units: usize) -> usize {
    let bits = match drive.nand.cell {
        Cell::Slc => 1,
        Cell::Mlc => 2,
        Cell::Tlc => 3,
        Cell::Qlc => 4,
    };
    let pages = drive.nand.pages_per_block as usize;
    units / pages * (pages / bits)
}
