//! Requests on a drive that fetches map pages: each is split at the boundaries of map pages, and the map page is
//! accessed before its units.

use super::extents::Change;
use super::{MapCached, Page};
use crate::error::{ReadOnly, SpecificationError};
use crate::ftl::Ftl;
use crate::ftl::found::FoundUnit;
use crate::ftl::layer::{Layer, count_live_units};
use crate::ledger::Cause;
use crate::request::{Operation, Request};
use crate::specification::Drive;
use crate::timing::Clock;
use crate::units::{Lpn, Ppn, StreamId};

/// Map pages are written with the host's data, since they are as hot.
const STREAM: StreamId = StreamId(0);

impl Layer for MapCached {
    type Kept = Self;

    fn new(drive: &Drive, user_units: u32, _streams: u8, _seed: u64) -> Result<Self, SpecificationError> {
        Self::of(&drive.map_cache, drive.ftl.mapping_unit_bytes, user_units)
    }

    fn map_pages(&self) -> u32 {
        self.pages()
    }

    fn map_pages_in_flash(&self) -> u64 {
        self.pages_in_flash
    }

    fn map_pages_written_back(&self) -> &[Lpn] {
        &self.written_back
    }

    fn execute_one<C: Clock>(ftl: &mut Ftl<Self, C>, request: &Request) -> Result<(), ReadOnly> {
        ftl.layer.written_back.clear();
        let (offset_bytes, length_bytes) = (request.offset_bytes, request.length_bytes);
        match request.operation {
            Operation::Write => ftl.write_by_map_pages(offset_bytes, length_bytes, request.content.identifier),
            Operation::Trim => ftl.trim_by_map_pages(offset_bytes, length_bytes),
            Operation::Flush => Ok(()),
            Operation::Read => {
                ftl.count_read(request);
                Self::read(ftl, offset_bytes, length_bytes);
                Ok(())
            }
        }
    }

    fn read<C: Clock>(ftl: &mut Ftl<Self, C>, offset_bytes: u64, length_bytes: u32) {
        for (page, at, length_bytes) in pieces(offset_bytes, length_bytes, ftl.span_bytes()) {
            ftl.find_for_read(page);
            ftl.read_units(at, length_bytes);
        }
    }

    fn move_units<C: Clock>(
        ftl: &mut Ftl<Self, C>,
        units: &[(Lpn, Ppn)],
        stream: StreamId,
        born_at: u64,
        cause: Cause,
    ) {
        ftl.copy_units(units, stream, born_at, cause);
        units.iter().for_each(|&(lpn, _)| ftl.layer.moved(lpn));
    }

    fn take_up_units<C: Clock>(ftl: &mut Ftl<Self, C>, found: &[FoundUnit]) {
        let of_host = found.partition_point(|unit| unit.lpn.0 < ftl.map.user_units());
        let (units, map_pages) = found.split_at(of_host);
        for unit in units {
            ftl.map.link(unit.lpn, unit.ppn);
        }
        ftl.accounts.take_up_mapped(units.len() as u64);
        ftl.layer.take_up_units(units);
        for page in map_pages.iter().filter(|page| ftl.layer.take_up_page(page.lpn)) {
            ftl.map.link(page.lpn, page.ppn);
        }
        count_live_units(ftl);
    }

    fn check_map<C: Clock>(ftl: &Ftl<Self, C>) -> Result<(), String> {
        ftl.check_links()?;
        if ftl.read_only.is_some() { Ok(()) } else { ftl.check_map_cache() }
    }

    fn kept(&self) -> Self {
        self.clone()
    }

    fn take_up(&mut self, kept: Self) -> bool {
        self.restore(kept)
    }
}

impl<C: Clock> Ftl<MapCached, C> {
    fn write_by_map_pages(&mut self, offset_bytes: u64, length_bytes: u32, identifier: u8) -> Result<(), ReadOnly> {
        for (page, at, length_bytes) in pieces(offset_bytes, length_bytes, self.span_bytes()) {
            let first = (at >> self.mapping_unit_shift) as u32;
            let last = ((at + u64::from(length_bytes) - 1) >> self.mapping_unit_shift) as u32;
            self.find_for_write(page, first, last - first + 1)?;
            self.write_range(at, length_bytes, identifier)?;
        }
        Ok(())
    }

    /// Host bytes covered by a map page.
    fn span_bytes(&self) -> u64 {
        u64::from(self.layer.entries_per_page) << self.mapping_unit_shift
    }

    fn find_for_read(&mut self, page: Page) {
        if self.layer.extents.as_ref().is_none_or(|extents| extents.is_broken(page)) {
            // A drive that becomes read-only here has recorded it, and continues reading.
            let _ = self.find(page, false);
        }
    }

    fn find_for_write(&mut self, page: Page, first: u32, units: u32) -> Result<(), ReadOnly> {
        if let Some(reason) = self.read_only {
            return Err(reason);
        }
        let cache = &mut self.layer;
        let start = page * cache.entries_per_page;
        let segment_units = cache.entries_per_page.min(cache.user_units - start);
        let change = cache.extents.as_mut().map(|extents| extents.write(page, first - start, units, segment_units));
        match change {
            Some(Change::Whole) => Ok(()),
            // Its content follows from the one entry in memory.
            Some(Change::Breaks) => self.take_in(page, true),
            Some(Change::Mended) => {
                self.drop_map_page(page);
                Ok(())
            }
            Some(Change::Broken) | None => self.find(page, true),
        }
    }

    /// Accesses a map page, and fetches it if it is not in the cache.
    fn find(&mut self, page: Page, changes: bool) -> Result<(), ReadOnly> {
        self.accounts.looked_up_map_page();
        if self.layer.hit(page, changes) {
            return Ok(());
        }
        let lpn = self.layer.lpn_of(page);
        // A map page that was never written back has no copy in flash, except after a loss of power.
        let is_in_flash = self.map.physical(lpn) != Ppn::UNMAPPED;
        let is_behind = std::mem::take(&mut self.layer.is_behind[page as usize]);
        if !is_in_flash && !is_behind && !changes {
            return Ok(());
        }
        let taken_in = self.take_in(page, changes || is_behind);
        if is_in_flash {
            let takes_flash = self.clock.read(self.map.physical(lpn), Cause::Metadata);
            self.accounts.read(Cause::Metadata, u64::from(takes_flash));
        }
        taken_in
    }

    fn take_in(&mut self, page: Page, is_dirty: bool) -> Result<(), ReadOnly> {
        match self.layer.insert(page, is_dirty) {
            Some(written_back) => self.write_map_page(written_back),
            None => Ok(()),
        }
    }

    fn write_map_page(&mut self, page: Page) -> Result<(), ReadOnly> {
        let lpn = self.layer.lpn_of(page);
        if self.space.is_stopped(STREAM) {
            self.space.head_for(STREAM, lpn);
            self.make_room_for_host(STREAM)?;
        }
        let ppn = self.space.frontier(STREAM).take();
        let old = self.map.physical(lpn);
        self.map.link(lpn, ppn);
        self.layer.is_behind[page as usize] = false;
        self.layer.written_back.push(lpn);
        self.accounts.map_page(STREAM);
        self.clock.program(ppn, Cause::Metadata);
        if old == Ppn::UNMAPPED {
            self.layer.pages_in_flash += 1;
        } else {
            self.lose(old);
        }
        if C::PACED { self.pace_gc(STREAM, 1) } else { Ok(()) }
    }

    fn drop_map_page(&mut self, page: Page) {
        self.layer.remove(page);
        let lpn = self.layer.lpn_of(page);
        let old = self.map.physical(lpn);
        if old != Ppn::UNMAPPED {
            self.lose(old);
            self.map.unmap(lpn);
            self.layer.pages_in_flash -= 1;
        }
    }

    /// A map page whose units are all trimmed is dropped; one with remaining units is changed.
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
                if let Some(extents) = &mut self.layer.extents {
                    extents.forget(page);
                }
            } else if self.is_kept(page) {
                self.find(page, true)?;
            }
        }
        // Eviction for another map page may have moved units of a dropped one; now they are trimmed.
        for page in pages.filter(|&page| is_whole(page)) {
            self.layer.is_behind[page as usize] = false;
        }
        self.trim_range(offset_bytes, length_bytes)
    }

    fn is_kept(&self, page: Page) -> bool {
        let lpn = self.layer.lpn_of(page);
        self.layer.is_known_in_memory(page) || self.map.physical(lpn) != Ppn::UNMAPPED
    }

    /// Checks the cache's counts of its map pages.
    fn check_map_cache(&self) -> Result<(), String> {
        let cache = &self.layer;
        let in_flash = (0..cache.pages()).filter(|&page| self.map.physical(cache.lpn_of(page)) != Ppn::UNMAPPED);
        let in_flash = in_flash.count() as u64;
        if in_flash != cache.pages_in_flash {
            return Err(format!("{in_flash} map pages are in flash, but {} were counted", cache.pages_in_flash));
        }
        for (slot, cached) in cache.cached.iter().enumerate() {
            let is_spare = cache.spare_slots.contains(&(slot as u32));
            if !is_spare && cache.slot_of[cached.page as usize] != slot as u32 {
                return Err(format!("map page {} is in slot {slot} of the cache, which it does not know", cached.page));
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

/// The parts of a range within one map page of `span` bytes each: map page, offset and length.
fn pieces(offset_bytes: u64, length_bytes: u32, span: u64) -> impl Iterator<Item = (Page, u64, u32)> {
    let end = offset_bytes + u64::from(length_bytes);
    (offset_bytes / span..end.div_ceil(span)).map(move |page| {
        let (start, stop) = (offset_bytes.max(page * span), end.min((page + 1) * span));
        (page as Page, start, (stop - start) as u32)
    })
}
