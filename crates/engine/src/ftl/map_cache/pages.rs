//! Requests on a drive that must fetch map pages: each is taken apart at the borders of the map pages, and a map page is
//! found before the units that it names.

use super::super::Ftl;
use super::super::numbers::{Lpn, Ppn, StreamId};
use super::extents::Change;
use super::{MapCache, Page};
use crate::error::{ReadOnly, Refused};
use crate::ledger::Cause;
use crate::policies::placement::PlacementPolicy;
use crate::request::{Operation, Request};
use crate::timing::Clock;

/// Where map pages are written: with the host's data, since they are as hot.
const STREAM: StreamId = StreamId(0);

impl<P: PlacementPolicy, C: Clock> Ftl<P, C> {
    pub(in super::super) fn execute_by_map_pages(&mut self, requests: &[Request]) -> Result<(), Refused> {
        for (index, request) in requests.iter().enumerate() {
            self.heed(request);
            if let Err(reason) = self.execute_one_by_map_pages(request) {
                return Err(Refused { executed: index, reason });
            }
        }
        Ok(())
    }

    pub(in super::super) fn execute_one_by_map_pages(&mut self, request: &Request) -> Result<(), ReadOnly> {
        let (offset_bytes, length_bytes) = (request.offset_bytes, request.length_bytes);
        self.cache().written_back.clear();
        match request.operation {
            Operation::Write => self.write_by_map_pages(offset_bytes, length_bytes),
            Operation::Trim => self.trim_by_map_pages(offset_bytes, length_bytes),
            Operation::Flush => Ok(()),
            Operation::Read => {
                self.count_read(request);
                self.read_by_map_pages(offset_bytes, length_bytes);
                Ok(())
            }
        }
    }

    pub(in super::super) fn read_by_map_pages(&mut self, offset_bytes: u64, length_bytes: u32) {
        for (page, at, length_bytes) in pieces(offset_bytes, length_bytes, self.span_bytes()) {
            self.find_for_read(page);
            self.read_units(at, length_bytes);
        }
    }

    fn write_by_map_pages(&mut self, offset_bytes: u64, length_bytes: u32) -> Result<(), ReadOnly> {
        for (page, at, length_bytes) in pieces(offset_bytes, length_bytes, self.span_bytes()) {
            let first = (at >> self.mapping_unit_shift) as u32;
            let last = ((at + u64::from(length_bytes) - 1) >> self.mapping_unit_shift) as u32;
            self.find_for_write(page, first, last - first + 1)?;
            self.write_range(at, length_bytes)?;
        }
        Ok(())
    }

    /// Bytes of the host that a map page names.
    fn span_bytes(&mut self) -> u64 {
        u64::from(self.cache().entries_per_page) << self.mapping_unit_shift
    }

    fn cache(&mut self) -> &mut MapCache {
        self.map_cache.as_mut().expect("only drives with a map cache come here")
    }

    fn find_for_read(&mut self, page: Page) {
        if self.cache().extents.as_ref().is_none_or(|extents| extents.is_broken(page)) {
            // A drive that turns read-only here has noted it, and goes on reading.
            let _ = self.find(page, false);
        }
    }

    fn find_for_write(&mut self, page: Page, first: u32, units: u32) -> Result<(), ReadOnly> {
        if let Some(reason) = self.read_only {
            return Err(reason);
        }
        let cache = self.cache();
        let start = page * cache.entries_per_page;
        let segment_units = cache.entries_per_page.min(cache.user_units - start);
        let change = cache.extents.as_mut().map(|extents| extents.write(page, first - start, units, segment_units));
        match change {
            Some(Change::Whole) => Ok(()),
            // What it says is known from the one entry in memory.
            Some(Change::Breaks) => self.take_in(page, true),
            Some(Change::Mended) => {
                self.drop_map_page(page);
                Ok(())
            }
            Some(Change::Broken) | None => self.find(page, true),
        }
    }

    /// Looks a map page up, and fetches it when it is not there.
    fn find(&mut self, page: Page, changes: bool) -> Result<(), ReadOnly> {
        self.ledger.map_page_lookups += 1;
        if self.cache().hit(page, changes) {
            return Ok(());
        }
        let lpn = self.cache().lpn_of(page);
        // Where a map page was never written back, nothing lies behind it, unless the power went before it was.
        let is_in_flash = self.map.physical(lpn) != Ppn::UNMAPPED;
        let is_behind = std::mem::take(&mut self.cache().is_behind[page as usize]);
        if !is_in_flash && !is_behind && !changes {
            return Ok(());
        }
        let taken_in = self.take_in(page, changes || is_behind);
        if is_in_flash {
            self.ledger.read_units.metadata += 1;
            self.clock.read(self.map.physical(lpn), Cause::Metadata);
        }
        taken_in
    }

    fn take_in(&mut self, page: Page, is_dirty: bool) -> Result<(), ReadOnly> {
        match self.cache().insert(page, is_dirty) {
            Some(written_back) => self.write_map_page(written_back),
            None => Ok(()),
        }
    }

    fn write_map_page(&mut self, page: Page) -> Result<(), ReadOnly> {
        if self.frontiers[STREAM.index()].is_stopped() {
            self.make_room_for_host(STREAM)?;
        }
        let lpn = self.cache().lpn_of(page);
        let ppn = self.frontiers[STREAM.index()].take();
        let old = self.map.physical(lpn);
        self.map.link(lpn, ppn);
        self.cache().is_behind[page as usize] = false;
        self.cache().written_back.push(lpn);
        self.ledger.programmed_units.metadata += 1;
        self.clock.program(ppn, Cause::Metadata);
        if P::POOLED {
            self.pools[STREAM.index()].live_units += 1;
        }
        if old == Ppn::UNMAPPED {
            self.cache().pages_in_flash += 1;
        } else {
            self.lose(old);
        }
        if C::PACED { self.pace_cleaning(1) } else { Ok(()) }
    }

    fn drop_map_page(&mut self, page: Page) {
        self.cache().remove(page);
        let lpn = self.cache().lpn_of(page);
        let old = self.map.physical(lpn);
        if old != Ppn::UNMAPPED {
            self.lose(old);
            self.map.unmap(lpn);
            self.cache().pages_in_flash -= 1;
        }
    }

    /// A map page all of whose units are trimmed is dropped; one that keeps some is changed.
    fn trim_by_map_pages(&mut self, offset_bytes: u64, length_bytes: u32) -> Result<(), ReadOnly> {
        let span = self.span_bytes();
        if let Some(reason) = self.read_only {
            return Err(reason);
        }
        let unit_bytes = 1u64 << self.mapping_unit_shift;
        let user_bytes = self.user_bytes();
        let end = offset_bytes + u64::from(length_bytes);
        let first = offset_bytes.next_multiple_of(unit_bytes);
        let last = end / unit_bytes * unit_bytes;
        let pages = if first < last { first / span..last.div_ceil(span) } else { 0..0 };
        let is_whole = |page: u64| first <= page * span && user_bytes.min((page + 1) * span) <= last;
        for number in pages.clone() {
            let page = number as Page;
            if is_whole(number) {
                self.drop_map_page(page);
                if let Some(extents) = &mut self.cache().extents {
                    extents.forget(page);
                }
            } else if self.is_kept(page) {
                self.find(page, true)?;
            }
        }
        // Making room for another map page may have moved units of one that was dropped; now they are gone.
        for page in pages.filter(|&page| is_whole(page)) {
            self.cache().is_behind[page as usize] = false;
        }
        self.trim_range(offset_bytes, length_bytes)
    }

    fn is_kept(&mut self, page: Page) -> bool {
        let lpn = self.cache().lpn_of(page);
        self.cache().is_known_in_memory(page) || self.map.physical(lpn) != Ppn::UNMAPPED
    }

    /// Whether what the cache says of its map pages is so.
    pub(in super::super) fn check_map_cache(&self) -> Result<(), String> {
        let Some(cache) = &self.map_cache else { return Ok(()) };
        let in_flash = (0..cache.pages()).filter(|&page| self.map.physical(cache.lpn_of(page)) != Ppn::UNMAPPED);
        let in_flash = in_flash.count() as u64;
        if in_flash != cache.pages_in_flash {
            return Err(format!("{in_flash} map pages are in flash, but {} were counted", cache.pages_in_flash));
        }
        for (place, cached) in cache.cached.iter().enumerate() {
            let is_spare = cache.spare_places.contains(&(place as u32));
            if !is_spare && cache.place_of[cached.page as usize] != place as u32 {
                return Err(format!("map page {} lies at {place} of the cache, which it does not know", cached.page));
            }
        }
        for lpn in (0..cache.user_units).map(Lpn).filter(|&lpn| self.map.physical(lpn) != Ppn::UNMAPPED) {
            let page = lpn.0 / cache.entries_per_page;
            let needs_page = cache.extents.as_ref().is_none_or(|extents| extents.is_broken(page));
            let is_known = cache.is_known_in_memory(page) || self.map.physical(cache.lpn_of(page)) != Ppn::UNMAPPED;
            if needs_page && !is_known {
                return Err(format!("{lpn:?} is mapped by map page {page}, which is neither in memory nor in flash"));
            }
        }
        Ok(())
    }
}

/// The parts of a range that lie in one map page each, of `span` bytes: the map page, offset and length.
fn pieces(offset_bytes: u64, length_bytes: u32, span: u64) -> impl Iterator<Item = (Page, u64, u32)> {
    let end = offset_bytes + u64::from(length_bytes);
    (offset_bytes / span..end.div_ceil(span)).map(move |page| {
        let (start, stop) = (offset_bytes.max(page * span), end.min((page + 1) * span));
        (page as Page, start, (stop - start) as u32)
    })
}
