//! The twin's map cache: a list of map pages in the order of their use, and the history of every segment.

use super::UNIT;
use super::model::Twin;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::specification::drive::{Drive, MapForm};
use std::collections::{BTreeMap, BTreeSet};

/// Map pages in memory, the one used last at the end.
pub struct TwinMapCache {
    slots: usize,
    entries: u32,
    is_of_extents: bool,
    cached: Vec<(u32, bool)>,
    behind: BTreeSet<u32>,
    /// By map page: every unit that the host wrote since the page held nothing, in order.
    written: BTreeMap<u32, Vec<u32>>,
}

impl Twin {
    pub fn note_moved(&mut self, lpn: u32) {
        let Some(cache) = &mut self.map_cache else { return };
        let page = lpn / cache.entries;
        if lpn < self.user_units && cache.needs_page(page, self.user_units) {
            match cache.cached.iter_mut().find(|cached| cached.0 == page) {
                Some(cached) => cached.1 = true,
                None => drop(cache.behind.insert(page)),
            }
        }
    }

    /// Finds the map page of a request's piece, as the engine's own description of it says.
    fn find(&mut self, page: u32, changes: bool) {
        self.ledger.map_page_lookups += 1;
        let cache = self.map_cache.as_mut().unwrap();
        if let Some(slot) = cache.cached.iter().position(|cached| cached.0 == page) {
            let (page, is_dirty) = cache.cached.remove(slot);
            cache.cached.push((page, is_dirty || changes));
            return;
        }
        let is_in_flash = self.map.contains_key(&(self.user_units + page));
        if is_in_flash || changes {
            let is_behind = cache.behind.remove(&page);
            self.take_in(page, changes || is_behind);
            self.ledger.read_units.metadata += u64::from(is_in_flash);
        }
    }

    fn take_in(&mut self, page: u32, is_dirty: bool) {
        let cache = self.map_cache.as_mut().unwrap();
        let mut out = (0, false);
        if cache.cached.len() == cache.slots {
            out = cache.cached.remove(0);
        }
        cache.cached.push((page, is_dirty));
        if out.1 {
            self.place_and_put(self.user_units + out.0);
            self.map_cache.as_mut().unwrap().behind.remove(&out.0);
            self.ledger.programmed_units.metadata += 1;
        }
    }

    fn forget_map_page(&mut self, page: u32) {
        let cache = self.map_cache.as_mut().unwrap();
        cache.cached.retain(|cached| cached.0 != page);
        cache.behind.remove(&page);
        self.map.remove(&(self.user_units + page));
    }

    /// The request, with each map page found before the units that it names.
    pub fn request_by_map_pages(&mut self, request: &Request) {
        let cache = self.map_cache.as_mut().unwrap();
        let (entries, is_of_extents) = (cache.entries, cache.is_of_extents);
        let span = u64::from(entries) * UNIT;
        let end = request.offset_bytes + u64::from(request.length_bytes);
        if request.operation == Operation::Trim {
            let whole: Vec<u32> = (0..self.user_units)
                .filter(|&lpn| u64::from(lpn) * UNIT >= request.offset_bytes && u64::from(lpn + 1) * UNIT <= end)
                .collect();
            for page in whole.iter().map(|lpn| lpn / entries).collect::<BTreeSet<_>>() {
                let units = (page * entries..((page + 1) * entries).min(self.user_units)).collect::<Vec<_>>();
                let cache = self.map_cache.as_mut().unwrap();
                if units.iter().all(|unit| whole.contains(unit)) {
                    cache.written.remove(&page);
                    self.forget_map_page(page);
                } else if cache.cached.iter().any(|cached| cached.0 == page)
                    || self.map.contains_key(&(self.user_units + page))
                {
                    self.find(page, true);
                }
            }
            return self.request(request);
        }
        let mut at = request.offset_bytes;
        while at < end {
            let page = (at / span) as u32;
            let piece_end = end.min((at / span + 1) * span);
            let cache = self.map_cache.as_mut().unwrap();
            let needed_page = cache.needs_page(page, self.user_units);
            if request.operation == Operation::Read {
                if needed_page {
                    self.find(page, false);
                }
            } else {
                cache.written.entry(page).or_default().extend((at / UNIT) as u32..=((piece_end - 1) / UNIT) as u32);
                match (needed_page, cache.needs_page(page, self.user_units)) {
                    (false, false) => {}
                    (false, true) => self.take_in(page, true),
                    (true, true) => self.find(page, true),
                    (true, false) => self.forget_map_page(page),
                }
                assert!(is_of_extents || needed_page, "a page map always needs its page");
            }
            self.request(&Request { offset_bytes: at, length_bytes: (piece_end - at) as u32, ..*request });
            at = piece_end;
        }
    }
}

impl TwinMapCache {
    pub fn new(drive: &Drive) -> Option<Self> {
        let keys = &drive.map_cache;
        (keys.bytes > 0).then(|| Self {
            slots: (keys.bytes / u64::from(keys.entries_per_map_page * keys.entry_bytes)) as usize,
            entries: keys.entries_per_map_page,
            is_of_extents: keys.form == MapForm::Extent,
            cached: Vec::new(),
            behind: BTreeSet::new(),
            written: BTreeMap::new(),
        })
    }

    /// A segment is one extent when its units were last written in order, from the first to the last, or when nothing
    /// but its beginning was ever written, in order.
    fn needs_page(&self, page: u32, user_units: u32) -> bool {
        let Some(written) = self.written.get(&page).filter(|_| self.is_of_extents) else {
            return !self.is_of_extents;
        };
        let segment: Vec<u32> = (page * self.entries..((page + 1) * self.entries).min(user_units)).collect();
        !(written.ends_with(&segment) || segment.starts_with(written))
    }
}
