//! The cache of map pages of a drive whose memory holds only a part of the map (DFTL: Gupta, Kim and Urgaonkar 2009).
//! The simulator's own map is complete; this cache determines which map pages the drive would fetch and write back.
//!
//! Map pages are stored in flash as mapping units after the host's, and garbage collection moves them like those. Units
//! moved by garbage collection are recorded in the summary of their new erase unit, as in LazyFTL (Ma, Feng and Li
//! 2011): a map page in memory is changed at once, one in flash is outdated, and is merged and dirty when it is next
//! fetched. So garbage collection fetches no map pages. The same applies to what a scan finds after a loss of power
//! (`found`).

mod extents;
mod found;
mod pages;

use crate::error::SpecificationError;
use crate::recency::Recency;
use crate::specification::drive::{MapCache as Keys, MapForm};
use crate::units::Lpn;
use extents::Extents;
pub use extents::Page;
use serde::{Deserialize, Serialize};

const NOWHERE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Cached {
    page: Page,
    is_dirty: bool,
}

/// The layer of drives with a cache of map pages.
#[derive(Clone, Serialize, Deserialize)]
pub struct MapCached {
    user_units: u32,
    entries_per_page: u32,
    /// By map page: its slot in the cache.
    slot_of: Vec<u32>,
    cached: Vec<Cached>,
    spare_slots: Vec<u32>,
    recency: Recency,
    /// By map page: whether garbage collection has moved units of it since it was last written back, or a scan has
    /// found them.
    is_behind: Vec<bool>,
    /// Only for a map of extents.
    extents: Option<Extents>,
    /// Map pages with a copy in flash.
    pages_in_flash: u64,
    /// Map pages written back by the last request, in order.
    #[serde(skip)]
    written_back: Vec<Lpn>,
}

impl MapCached {
    /// Errors name the key of the drive file.
    fn of(keys: &Keys, mapping_unit_bytes: u32, user_units: u32) -> Result<Self, SpecificationError> {
        let page_bytes = u64::from(keys.entries_per_map_page) * u64::from(keys.entry_bytes);
        if page_bytes == 0 || page_bytes > u64::from(mapping_unit_bytes) {
            let allowed = format!(
                "1 or more, and with map_cache.entry_bytes = {} at most a mapping unit of {mapping_unit_bytes} bytes",
                keys.entry_bytes
            );
            return Err(SpecificationError::new("map_cache.entries_per_map_page", keys.entries_per_map_page, allowed));
        }
        if keys.form == MapForm::Extent && keys.entries_per_map_page > Extents::UNITS_MAX {
            let allowed = format!("at most {} for a map of extents", Extents::UNITS_MAX);
            return Err(SpecificationError::new("map_cache.entries_per_map_page", keys.entries_per_map_page, allowed));
        }
        if keys.bytes < page_bytes {
            let allowed = format!("0 for the whole map in memory, or at least a map page of {page_bytes} bytes");
            return Err(SpecificationError::new("map_cache.bytes", keys.bytes, allowed));
        }
        let pages = user_units.div_ceil(keys.entries_per_map_page);
        let slots = (keys.bytes / page_bytes).min(u64::from(pages)) as u32;
        Ok(Self {
            user_units,
            entries_per_page: keys.entries_per_map_page,
            slot_of: vec![NOWHERE; pages as usize],
            cached: vec![Cached { page: 0, is_dirty: false }; slots as usize],
            spare_slots: (0..slots).rev().collect(),
            recency: Recency::new(keys.eviction, slots),
            is_behind: vec![false; pages as usize],
            extents: (keys.form == MapForm::Extent).then(|| Extents::new(pages)),
            pages_in_flash: 0,
            written_back: Vec::new(),
        })
    }

    /// The number of map pages of the drive.
    fn pages(&self) -> u32 {
        self.slot_of.len() as u32
    }

    /// The mapping unit of a map page, after those of the host.
    fn lpn_of(&self, page: Page) -> Lpn {
        Lpn(self.user_units + page)
    }

    fn is_cached(&self, page: Page) -> bool {
        self.slot_of[page as usize] != NOWHERE
    }

    /// Whether memory has changes to a map page that flash lacks.
    fn is_known_in_memory(&self, page: Page) -> bool {
        self.is_cached(page) || self.is_behind[page as usize]
    }

    /// Accesses a map page that may be in the cache. Returns whether it is.
    fn hit(&mut self, page: Page, changes: bool) -> bool {
        let slot = self.slot_of[page as usize];
        if slot == NOWHERE {
            return false;
        }
        self.cached[slot as usize].is_dirty |= changes;
        self.recency.used(slot);
        true
    }

    /// Inserts a map page that is not in the cache. Returns the one that must be written back for it, if any.
    fn insert(&mut self, page: Page, is_dirty: bool) -> Option<Page> {
        debug_assert!(!self.is_cached(page));
        let mut written_back = None;
        let slot = self.spare_slots.pop().unwrap_or_else(|| {
            let slot = self.recency.evict();
            let out = self.cached[slot as usize];
            self.slot_of[out.page as usize] = NOWHERE;
            written_back = out.is_dirty.then_some(out.page);
            slot
        });
        self.cached[slot as usize] = Cached { page, is_dirty };
        self.slot_of[page as usize] = slot;
        self.recency.inserted(slot);
        written_back
    }

    /// Removes a map page without mapped entries.
    fn remove(&mut self, page: Page) {
        self.is_behind[page as usize] = false;
        let slot = std::mem::replace(&mut self.slot_of[page as usize], NOWHERE);
        if slot != NOWHERE {
            self.recency.removed(slot);
            self.spare_slots.push(slot);
        }
    }

    /// Garbage collection has moved a unit.
    fn moved(&mut self, lpn: Lpn) {
        if lpn.0 >= self.user_units {
            // The locations of map pages are always in memory.
            return;
        }
        let page = lpn.0 / self.entries_per_page;
        // Garbage collection preserves the order of units, so an extent remains one.
        if self.extents.as_ref().is_some_and(|extents| !extents.is_broken(page)) {
            return;
        }
        match self.slot_of[page as usize] {
            NOWHERE => self.is_behind[page as usize] = true,
            slot => self.cached[slot as usize].is_dirty = true,
        }
    }
}
