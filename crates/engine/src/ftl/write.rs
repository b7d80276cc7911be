//! What the host asks for: batches of requests, split into mapping units.

use super::Ftl;
use super::numbers::{Lpn, Ppn};
use crate::error::{ReadOnly, Refused};
use crate::ledger::Cause;
use crate::policies::placement::{PlacementPolicy, Resident};
use crate::request::{Operation, Request};
use crate::timing::Clock;

/// How many requests ahead the bits of the old copies are asked for; map entries twice as far.
const AHEAD: usize = 24;

impl<P: PlacementPolicy, C: Clock> Ftl<P, C> {
    /// Carries out requests in order. Each must lie within the drive. Stops when the drive turns read-only: the request
    /// that found it so was carried out in part at most, those after it not at all.
    pub fn execute(&mut self, requests: &[Request]) -> Result<(), Refused> {
        if self.map_cache.is_some() {
            self.execute_by_map_pages(requests)
        } else if self.reduction.is_some() {
            self.execute_each(requests, Self::execute_one_reduced)
        } else {
            self.execute_each(requests, Self::execute_one)
        }
    }

    #[inline(always)]
    fn execute_each(
        &mut self,
        requests: &[Request],
        execute_one: impl Fn(&mut Self, &Request) -> Result<(), ReadOnly>,
    ) -> Result<(), Refused> {
        // The map is far larger than the cache, so entries are asked for ahead of their use: first those of the map,
        // then the bits of the old copies that they point at.
        for request in &requests[..requests.len().min(2 * AHEAD)] {
            self.prefetch_map(request);
        }
        for request in &requests[..requests.len().min(AHEAD)] {
            self.prefetch_old(request);
        }
        for (index, request) in requests.iter().enumerate() {
            if let Some(far) = requests.get(index + 2 * AHEAD) {
                self.prefetch_map(far);
            }
            if let Some(near) = requests.get(index + AHEAD) {
                self.prefetch_old(near);
            }
            self.heed(request);
            if let Err(reason) = execute_one(self, request) {
                return Err(Refused { executed: index, reason });
            }
        }
        Ok(())
    }

    /// Lets a placement that goes by the host's identifiers know that of the request.
    #[inline(always)]
    pub(super) fn heed(&mut self, request: &Request) {
        if P::HEEDS_HOST {
            self.placement.host_says(request.content.identifier);
        }
    }

    #[inline(always)]
    pub fn execute_one(&mut self, request: &Request) -> Result<(), ReadOnly> {
        let unit_bytes = 1u32 << self.mapping_unit_shift;
        let within_unit = request.offset_bytes & u64::from(unit_bytes - 1);
        match request.operation {
            Operation::Write if within_unit == 0 && request.length_bytes == unit_bytes => {
                self.write_unit(self.lpn_of(request.offset_bytes))?;
                self.ledger.host_written_bytes += u64::from(unit_bytes);
                Ok(())
            }
            Operation::Write => self.write_range(request.offset_bytes, request.length_bytes),
            Operation::Read => {
                self.read_range(request.offset_bytes, request.length_bytes);
                Ok(())
            }
            Operation::Trim => self.trim_range(request.offset_bytes, request.length_bytes),
            // What waits in a buffer is a matter of time, and so of the host in time.
            Operation::Flush => Ok(()),
        }
    }

    #[inline(always)]
    pub(super) fn prefetch_map(&self, request: &Request) {
        self.map.prefetch_physical(self.lpn_of(request.offset_bytes));
    }

    #[inline(always)]
    pub(super) fn prefetch_old(&self, request: &Request) {
        let old = self.map.physical(self.lpn_of(request.offset_bytes));
        self.map.prefetch_live(old);
        self.occupancy.prefetch(self.layout.erase_unit_of(old));
    }

    #[inline(always)]
    pub(super) fn lpn_of(&self, offset_bytes: u64) -> Lpn {
        Lpn((offset_bytes >> self.mapping_unit_shift) as u32)
    }

    #[inline(always)]
    fn write_unit(&mut self, lpn: Lpn) -> Result<(), ReadOnly> {
        let mut stream = self.placement.host_stream(lpn, self.overwritten(lpn));
        if self.frontiers[stream.index()].is_stopped() {
            self.make_room_for_host(stream)?;
            // Cleaning may have moved the old copy, and with it what the policy goes by.
            stream = self.placement.host_stream(lpn, self.overwritten(lpn));
            if self.frontiers[stream.index()].is_stopped() {
                self.make_room_for_host(stream)?;
            }
        }
        let ppn = self.frontiers[stream.index()].take();
        let old = self.map.physical(lpn);
        self.map.link(lpn, ppn);
        self.ledger.programmed_units.host += 1;
        self.clock.program(ppn, Cause::Host);
        if P::POOLED {
            self.pools[stream.index()].live_units += 1;
            self.pools[stream.index()].recent_units += 1;
        }
        if old == Ppn::UNMAPPED {
            self.mapped_units += 1;
        } else {
            self.lose(old);
        }
        if C::PACED {
            self.pace_cleaning(1)?;
        }
        Ok(())
    }

    /// What a write to `lpn` makes stale; nothing is looked up for a policy that does not ask.
    #[inline(always)]
    pub(super) fn overwritten(&self, lpn: Lpn) -> Option<Resident> {
        if !P::LOOKS_AT_OLD {
            return None;
        }
        let old = self.map.physical(lpn);
        (old != Ppn::UNMAPPED).then(|| self.resident(self.layout.erase_unit_of(old)))
    }

    #[inline(always)]
    pub(super) fn lose(&mut self, ppn: Ppn) {
        let erase_unit = self.layout.erase_unit_of(ppn);
        self.map.mark_stale(ppn);
        self.occupancy.lose_one(erase_unit);
        if P::POOLED {
            self.pools[self.streams[erase_unit.index()].index()].live_units -= 1;
        }
    }

    pub(super) fn write_range(&mut self, offset_bytes: u64, length_bytes: u32) -> Result<(), ReadOnly> {
        let unit_bytes = 1u64 << self.mapping_unit_shift;
        let end = offset_bytes + u64::from(length_bytes);
        let mut at = offset_bytes;
        while at < end {
            let unit_start = at & !(unit_bytes - 1);
            let part_end = end.min(unit_start + unit_bytes);
            let lpn = self.lpn_of(at);
            if part_end - at < unit_bytes {
                self.read_modify(lpn);
            }
            self.write_unit(lpn)?;
            self.ledger.host_written_bytes += part_end - at;
            at = part_end;
        }
        Ok(())
    }

    /// A unit of which the host writes a part is read first, if it holds anything, and programmed whole.
    pub(super) fn read_modify(&mut self, lpn: Lpn) {
        self.ledger.read_modify_write_units += 1;
        let old = self.map.physical(lpn);
        if old != Ppn::UNMAPPED {
            if self.reduction.is_some() {
                return self.read_to_modify(lpn, old);
            }
            self.ledger.read_units.read_modify_write += 1;
            self.clock.read(old, Cause::ReadModifyWrite);
        }
    }

    fn read_range(&mut self, offset_bytes: u64, length_bytes: u32) {
        self.ledger.host_read_bytes += u64::from(length_bytes);
        self.read_units(offset_bytes, length_bytes);
    }

    /// Ahead of the host's request, which `count_read` counts.
    pub(super) fn read_ahead(&mut self, offset_bytes: u64, length_bytes: u32) {
        match &self.map_cache {
            None => self.read_units(offset_bytes, length_bytes),
            Some(_) => self.read_by_map_pages(offset_bytes, length_bytes),
        }
    }

    pub(super) fn count_read(&mut self, request: &Request) {
        self.ledger.host_read_bytes += u64::from(request.length_bytes);
    }

    pub(super) fn read_units(&mut self, offset_bytes: u64, length_bytes: u32) {
        let last = self.lpn_of(offset_bytes + u64::from(length_bytes) - 1);
        for lpn in (self.lpn_of(offset_bytes).0..=last.0).map(Lpn) {
            let ppn = self.map.physical(lpn);
            // What was never written reads as zeroes, which takes no flash operation.
            if ppn != Ppn::UNMAPPED {
                self.ledger.read_units.host += 1;
                self.clock.read(ppn, Cause::Host);
                if let Some(upkeep) = &mut self.upkeep {
                    upkeep.refresh.read(ppn.0);
                }
            }
        }
        if let Some(upkeep) = &mut self.upkeep {
            upkeep.refresh.end_request();
        }
    }

    /// Only whole units can be forgotten; the parts at both ends stay as they are.
    pub(super) fn trim_range(&mut self, offset_bytes: u64, length_bytes: u32) -> Result<(), ReadOnly> {
        if let Some(reason) = self.read_only {
            return Err(reason);
        }
        self.ledger.host_trimmed_bytes += u64::from(length_bytes);
        let unit_bytes = 1u64 << self.mapping_unit_shift;
        let first = offset_bytes.div_ceil(unit_bytes);
        let end = (offset_bytes + u64::from(length_bytes)) / unit_bytes;
        for lpn in (first..end).map(|unit| Lpn(unit as u32)) {
            let old = self.map.physical(lpn);
            if old != Ppn::UNMAPPED {
                if self.reduction.is_some() {
                    self.release(lpn, old);
                } else {
                    self.lose(old);
                }
                self.map.unmap(lpn);
                self.mapped_units -= 1;
                self.ledger.trimmed_units += 1;
            }
        }
        Ok(())
    }
}
