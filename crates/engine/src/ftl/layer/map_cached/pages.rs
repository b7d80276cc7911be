//! Requests on a drive that fetches map pages: each is split at the boundaries of map pages, and the map page is
//! accessed before its units.

use super::extents::{Change, Extents};
use super::{MapCached, NOWHERE, Page};
use crate::error::SpecificationError;
use crate::ftl::accounts::Accounts;
use crate::ftl::found::FoundUnit;
use crate::ftl::gc::Gc;
use crate::ftl::host;
use crate::ftl::layer::Layer;
use crate::ftl::layer::stored::{Stored, check_links, count_live_units};
use crate::ftl::map::Map;
use crate::ftl::media::{Destination, Done, Media};
use crate::ledger::Cause;
use crate::request::{Operation, Request};
use crate::specification::Drive;
use crate::timing::Clock;
use crate::units::{Lpn, Ppn, StreamId};

/// Map pages are written with the host's data, since they are as hot.
const STREAM: StreamId = StreamId(0);

impl Stored for MapCached {
    fn map_pages(&self) -> u32 {
        self.pages()
    }

    fn map_pages_in_flash(&self) -> u64 {
        self.pages_in_flash
    }

    fn move_units<C: Clock>(&mut self, media: &mut Media<C>, units: &[(Lpn, Ppn)], to: Destination) {
        media.copy_units(units, to);
        units.iter().for_each(|&(lpn, _)| self.moved(lpn));
    }

    fn take_up_units<C: Clock>(&mut self, media: &mut Media<C>, found: &[FoundUnit]) {
        let of_host = found.partition_point(|unit| unit.lpn.0 < media.map.user_units());
        let (units, map_pages) = found.split_at(of_host);
        for unit in units {
            media.map.link(unit.lpn, unit.ppn);
        }
        media.accounts.take_up_mapped(units.len() as u64);
        self.take_up_units(units);
        for page in map_pages.iter().filter(|page| self.take_up_page(page.lpn)) {
            media.map.link(page.lpn, page.ppn);
        }
        count_live_units(media);
    }

    fn check_map<C: Clock>(&self, media: &Media<C>) -> Result<(), String> {
        check_links(media, self.pages_in_flash)?;
        if media.read_only.is_some() { Ok(()) } else { self.check_map_cache(&media.map) }
    }
}

impl Layer for MapCached {
    type Kept = Self;

    fn new(drive: &Drive, user_units: u32, _streams: u8, _seed: u64) -> Result<Self, SpecificationError> {
        Self::of(&drive.map_cache, drive.ftl.mapping_unit_bytes, user_units)
    }

    fn map_pages_written_back(&self) -> &[Lpn] {
        &self.written_back
    }

    fn execute_one<C: Clock>(&mut self, media: &mut Media<C>, gc: &mut Gc, request: &Request) -> Done {
        self.written_back.clear();
        match request.operation {
            Operation::Write => self.write(media, gc, request),
            Operation::Trim => self.trim(media, gc, request),
            Operation::Flush => Ok(()),
            Operation::Read => {
                media.accounts.host_read(u64::from(request.length_bytes));
                self.read(media, gc, request.offset_bytes, request.length_bytes);
                Ok(())
            }
        }
    }

    fn read<C: Clock>(&mut self, media: &mut Media<C>, gc: &mut Gc, offset_bytes: u64, length_bytes: u32) {
        for (page, at, length_bytes) in pieces(offset_bytes, length_bytes, self.span_bytes(media)) {
            self.find_for_read(media, gc, page);
            media.read_units(at, length_bytes);
        }
    }

    fn kept(&self, _accounts: &Accounts) -> Self {
        self.clone()
    }

    fn take_up(&mut self, saved: Self, _accounts: &mut Accounts) -> bool {
        let sizes = |cache: &Self| {
            (cache.user_units, cache.entries_per_page, cache.slot_of.len(), cache.cached.len(), cache.is_behind.len())
        };
        let slots = self.cached.len() as u32;
        let fits = sizes(self) == sizes(&saved)
            && saved.slot_of.iter().all(|&slot| slot == NOWHERE || slot < slots)
            && saved.cached.iter().all(|cached| (cached.page as usize) < saved.slot_of.len())
            && saved.spare_slots.iter().all(|&slot| slot < slots)
            && saved.recency.is_like(&self.recency)
            && saved.extents.as_ref().map(Extents::pages) == self.extents.as_ref().map(Extents::pages);
        if fits {
            *self = saved;
        }
        fits
    }
}

impl MapCached {
    fn write<C: Clock>(&mut self, media: &mut Media<C>, gc: &mut Gc, request: &Request) -> Done {
        let (offset_bytes, length_bytes) = (request.offset_bytes, request.length_bytes);
        for (page, at, length_bytes) in pieces(offset_bytes, length_bytes, self.span_bytes(media)) {
            let first = media.map.lpn_of(at).0;
            let last = media.map.lpn_of(at + u64::from(length_bytes) - 1).0;
            self.find_for_write(media, gc, page, first, last - first + 1)?;
            host::write_range(media, self, gc, &Request { offset_bytes: at, length_bytes, ..*request })?;
        }
        Ok(())
    }

    /// Host bytes covered by a map page.
    fn span_bytes<C: Clock>(&self, media: &Media<C>) -> u64 {
        u64::from(self.entries_per_page) * media.map.unit_bytes()
    }

    fn find_for_read<C: Clock>(&mut self, media: &mut Media<C>, gc: &mut Gc, page: Page) {
        if self.extents.as_ref().is_none_or(|extents| extents.is_broken(page)) {
            // A drive that becomes read-only here has recorded it, and continues reading.
            let _ = self.find(media, gc, page, false);
        }
    }

    fn find_for_write<C: Clock>(
        &mut self,
        media: &mut Media<C>,
        gc: &mut Gc,
        page: Page,
        first: u32,
        units: u32,
    ) -> Done {
        media.still_writable()?;
        let start = page * self.entries_per_page;
        let segment_units = self.entries_per_page.min(self.user_units - start);
        let change = self.extents.as_mut().map(|extents| extents.write(page, first - start, units, segment_units));
        match change {
            Some(Change::Whole) => Ok(()),
            // Its content follows from the one entry in memory.
            Some(Change::Breaks) => self.take_in(media, gc, page, true),
            Some(Change::Mended) => {
                self.drop_map_page(media, page);
                Ok(())
            }
            Some(Change::Broken) | None => self.find(media, gc, page, true),
        }
    }

    /// Accesses a map page, and fetches it if it is not in the self.
    fn find<C: Clock>(&mut self, media: &mut Media<C>, gc: &mut Gc, page: Page, changes: bool) -> Done {
        media.accounts.looked_up_map_page();
        if self.hit(page, changes) {
            return Ok(());
        }
        let lpn = self.lpn_of(page);
        // A map page that was never written back has no copy in flash, except after a loss of power.
        let is_in_flash = media.map.physical(lpn) != Ppn::UNMAPPED;
        let is_behind = std::mem::take(&mut self.is_behind[page as usize]);
        if !is_in_flash && !is_behind && !changes {
            return Ok(());
        }
        let taken_in = self.take_in(media, gc, page, changes || is_behind);
        if is_in_flash {
            let takes_flash = media.clock.read(media.map.physical(lpn), Cause::Metadata);
            media.accounts.read(Cause::Metadata, u64::from(takes_flash));
        }
        taken_in
    }

    fn take_in<C: Clock>(&mut self, media: &mut Media<C>, gc: &mut Gc, page: Page, is_dirty: bool) -> Done {
        match self.insert(page, is_dirty) {
            Some(written_back) => self.write_map_page(media, gc, written_back),
            None => Ok(()),
        }
    }

    fn write_map_page<C: Clock>(&mut self, media: &mut Media<C>, gc: &mut Gc, page: Page) -> Done {
        let lpn = self.lpn_of(page);
        if media.space.is_stopped(STREAM) {
            media.space.head_for(STREAM, lpn);
            gc.make_room_for_host(media, self, STREAM)?;
        }
        let ppn = media.space.frontier(STREAM).take();
        let old = media.map.physical(lpn);
        media.map.link(lpn, ppn);
        self.is_behind[page as usize] = false;
        self.written_back.push(lpn);
        media.accounts.map_page(STREAM);
        media.clock.program(ppn, Cause::Metadata);
        if old == Ppn::UNMAPPED {
            self.pages_in_flash += 1;
        } else {
            media.lose(old);
        }
        if C::PACED { gc.pace_gc(media, self, STREAM, 1) } else { Ok(()) }
    }

    fn drop_map_page<C: Clock>(&mut self, media: &mut Media<C>, page: Page) {
        self.remove(page);
        let lpn = self.lpn_of(page);
        let old = media.map.physical(lpn);
        if old != Ppn::UNMAPPED {
            media.lose(old);
            media.map.unmap(lpn);
            self.pages_in_flash -= 1;
        }
    }

    /// A map page whose units are all trimmed is dropped; one with remaining units is changed.
    fn trim<C: Clock>(&mut self, media: &mut Media<C>, gc: &mut Gc, request: &Request) -> Done {
        let span = self.span_bytes(media);
        media.still_writable()?;
        let (offset_bytes, length_bytes) = (request.offset_bytes, request.length_bytes);
        let unit_bytes = media.map.unit_bytes();
        let user_bytes = u64::from(media.map.user_units()) * unit_bytes;
        let end = offset_bytes + u64::from(length_bytes);
        let first = offset_bytes.next_multiple_of(unit_bytes);
        let last = end / unit_bytes * unit_bytes;
        let pages = if first < last { first / span..last.div_ceil(span) } else { 0..0 };
        let is_whole = |page: u64| first <= page * span && user_bytes.min((page + 1) * span) <= last;
        for number in pages.clone() {
            let page = number as Page;
            if is_whole(number) {
                self.drop_map_page(media, page);
                if let Some(extents) = &mut self.extents {
                    extents.forget(page);
                }
            } else if self.is_kept(&media.map, page) {
                self.find(media, gc, page, true)?;
            }
        }
        // Eviction for another map page may have moved units of a dropped one; now they are trimmed.
        for page in pages.filter(|&page| is_whole(page)) {
            self.is_behind[page as usize] = false;
        }
        host::trim(media, self, request)
    }

    fn is_kept(&self, map: &Map, page: Page) -> bool {
        let lpn = self.lpn_of(page);
        self.is_known_in_memory(page) || map.physical(lpn) != Ppn::UNMAPPED
    }

    /// Checks the cache's counts of its map pages.
    fn check_map_cache(&self, map: &Map) -> Result<(), String> {
        let in_flash = (0..self.pages()).filter(|&page| map.physical(self.lpn_of(page)) != Ppn::UNMAPPED);
        let in_flash = in_flash.count() as u64;
        if in_flash != self.pages_in_flash {
            return Err(format!("{in_flash} map pages are in flash, but {} were counted", self.pages_in_flash));
        }
        for (slot, cached) in self.cached.iter().enumerate() {
            let is_spare = self.spare_slots.contains(&(slot as u32));
            if !is_spare && self.slot_of[cached.page as usize] != slot as u32 {
                return Err(format!("map page {} is in slot {slot} of the cache, which it does not know", cached.page));
            }
        }
        for lpn in (0..self.user_units).map(Lpn).filter(|&lpn| map.physical(lpn) != Ppn::UNMAPPED) {
            let page = lpn.0 / self.entries_per_page;
            let needs_page = self.extents.as_ref().is_none_or(|extents| extents.is_broken(page));
            let is_known = self.is_known_in_memory(page) || map.physical(self.lpn_of(page)) != Ppn::UNMAPPED;
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
