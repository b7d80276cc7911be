//! What the host asks of a drive that reduces data.

use super::Reduction;
use crate::error::ReadOnly;
use crate::ftl::Ftl;
use crate::ftl::numbers::{Lpn, Ppn, StreamId};
use crate::ledger::Cause;
use crate::policies::placement::PlacementPolicy;
use crate::request::{Operation, Request};
use crate::timing::Clock;
use crate::timing::recorder::Packed;

impl<P: PlacementPolicy, C: Clock> Ftl<P, C> {
    pub(in crate::ftl) fn execute_one_reduced(&mut self, request: &Request) -> Result<(), ReadOnly> {
        match request.operation {
            Operation::Write => self.write_reduced(request),
            Operation::Read => {
                self.read_reduced(request);
                Ok(())
            }
            Operation::Trim => self.trim_range(request.offset_bytes, request.length_bytes),
            Operation::Flush => Ok(()),
        }
    }

    pub(super) fn reduction(&mut self) -> &mut Reduction {
        self.reduction.as_deref_mut().expect("only a drive that reduces data comes here")
    }

    fn write_reduced(&mut self, request: &Request) -> Result<(), ReadOnly> {
        let unit_bytes = 1u64 << self.mapping_unit_shift;
        let end = request.offset_bytes + u64::from(request.length_bytes);
        let repeats = self.reduction().draw_repetition(request.content);
        let places = self.reduction().places_for(request.content);
        let mut at = request.offset_bytes;
        let mut nth = 0;
        while at < end {
            let part_end = end.min((at & !(unit_bytes - 1)) + unit_bytes);
            let lpn = self.lpn_of(at);
            let is_whole = part_end - at == unit_bytes;
            if !is_whole {
                self.read_modify(lpn);
            }
            let original = if repeats && is_whole { self.reduction().original(nth) } else { None };
            match original.filter(|&original| self.map.physical(original) != Ppn::UNMAPPED) {
                Some(original) => self.share(lpn, original)?,
                None => {
                    self.write_places(lpn, places)?;
                    if is_whole && !repeats {
                        self.reduction().remember(lpn, request.content);
                    }
                }
            }
            self.ledger.host_written_bytes += part_end - at;
            at = part_end;
            nth += 1;
        }
        Ok(())
    }

    pub(super) fn write_places(&mut self, lpn: Lpn, places: u32) -> Result<(), ReadOnly> {
        let mut stream = self.placement.host_stream(lpn, self.overwritten(lpn));
        if !self.has_room(stream, places) {
            self.make_room_for_places(stream, places)?;
            // Cleaning may have moved the old copy, and with it what the policy goes by.
            stream = self.placement.host_stream(lpn, self.overwritten(lpn));
            if !self.has_room(stream, places) {
                self.make_room_for_places(stream, places)?;
            }
        }
        let ppn = self.take_places(stream, places, Cause::Host, |place| Packed::Written { lpn, place, places });
        self.ledger.programmed_units.host += u64::from(places);
        let old = self.map.physical(lpn);
        if old == Ppn::UNMAPPED {
            self.mapped_units += 1;
        } else {
            self.release(lpn, old);
        }
        self.map.link(lpn, ppn);
        self.map.mark_live(ppn);
        self.reduction().store(lpn, places);
        if P::POOLED {
            self.pools[stream.index()].live_units += u64::from(places);
            self.pools[stream.index()].recent_units += 1;
        }
        self.note_host_unit(stream)?;
        if C::PACED { self.pace_cleaning(places) } else { Ok(()) }
    }

    /// The data is stored already, at `original`: the address only points at it. Nothing is compared or read: the
    /// controller is taken to know it by a hash.
    pub(super) fn share(&mut self, lpn: Lpn, original: Lpn) -> Result<(), ReadOnly> {
        if let Some(reason) = self.read_only {
            return Err(reason);
        }
        let stream = self.placement.host_stream(lpn, self.overwritten(lpn));
        let (old, shared) = (self.map.physical(lpn), self.map.physical(original));
        self.ledger.deduplicated_units += 1;
        if old != shared {
            self.clock.pack(Packed::Shared { lpn, original });
            if old == Ppn::UNMAPPED {
                self.mapped_units += 1;
            } else {
                self.release(lpn, old);
            }
            self.point_at(lpn, original);
        }
        self.note_host_unit(stream)
    }

    /// An address that holds nothing points at what another has stored.
    pub(super) fn point_at(&mut self, lpn: Lpn, original: Lpn) {
        self.map.point(lpn, self.map.physical(original));
        let reduction = self.reduction();
        let places = reduction.stored_places.get(original.index());
        reduction.stored_places.set(lpn.index(), places);
        reduction.sharing.as_mut().expect("repetitions are found by deduplication").join(lpn, original);
    }

    /// The address no longer holds what it held at `old`; whoever else has the same data keeps it.
    pub(in crate::ftl) fn release(&mut self, lpn: Lpn, old: Ppn) {
        let reduction = self.reduction();
        if let Some(heir) = reduction.sharing.as_mut().and_then(|sharing| sharing.leave(lpn)) {
            self.map.link(heir, old);
            return;
        }
        let places = reduction.places_of(lpn);
        reduction.live_places -= u64::from(places);
        let erase_unit = self.layout.erase_unit_of(old);
        self.map.mark_stale(old);
        self.occupancy.lose(erase_unit, places);
        if P::POOLED {
            self.pools[self.streams[erase_unit.index()].index()].live_units -= u64::from(places);
        }
    }

    /// Counts a unit that the host has written, and programs the index when a mapping unit of it is full.
    fn note_host_unit(&mut self, stream: StreamId) -> Result<(), ReadOnly> {
        let reduction = self.reduction();
        reduction.host_units += 1;
        if reduction.index_is_due(stream) {
            let places = reduction.places_per_unit();
            if !self.has_room(stream, places) {
                self.make_room_for_places(stream, places)?;
            }
            self.take_index_unit(stream);
        }
        Ok(())
    }

    pub(super) fn has_room(&self, stream: StreamId, places: u32) -> bool {
        self.frontiers[stream.index()].run_length() >= places
    }

    fn make_room_for_places(&mut self, stream: StreamId, places: u32) -> Result<(), ReadOnly> {
        // A cleaning into the same frontier may leave a run that is too short again, but not so often.
        for _ in 0..=2 * self.occupancy.erase_units() {
            self.pad_run(stream);
            self.make_room_for_host(stream)?;
            if self.has_room(stream, places) {
                return Ok(());
            }
        }
        self.read_only = Some(ReadOnly::NothingToReclaim);
        Err(ReadOnly::NothingToReclaim)
    }

    /// Takes places that are there. Mapping units of flash that are full with them are programmed.
    #[inline(always)]
    pub(super) fn take_places(
        &mut self,
        stream: StreamId,
        places: u32,
        cause: Cause,
        packed: impl FnOnce(Ppn) -> Packed,
    ) -> Ppn {
        let shift = self.reduction().places_per_unit_shift;
        let ppn = self.frontiers[stream.index()].take_many(places);
        self.clock.pack(packed(ppn));
        for unit in ppn.0 >> shift..(ppn.0 + places) >> shift {
            self.clock.program(Ppn(unit), cause);
        }
        ppn
    }

    /// A mapping unit of index entries. Cleaning does not move it: what it moves is entered anew.
    pub(super) fn take_index_unit(&mut self, stream: StreamId) {
        let places = self.reduction().places_per_unit();
        self.take_stale_places(stream, places, Cause::Metadata);
        self.ledger.programmed_units.metadata += u64::from(places);
    }

    /// Fills the rest of the run up, so that the next unit does not have to lie on both sides of its end.
    pub(in crate::ftl) fn pad_run(&mut self, stream: StreamId) {
        let places = self.frontiers[stream.index()].run_length();
        if places > 0 {
            self.take_stale_places(stream, places, Cause::Padding);
            self.ledger.programmed_units.padding += u64::from(places);
        }
    }

    pub(super) fn take_stale_places(&mut self, stream: StreamId, places: u32, cause: Cause) {
        let erase_unit = self.frontiers[stream.index()].erase_unit.expect("there is room in an open erase unit");
        self.take_places(stream, places, cause, |place| Packed::Nothing { place, places });
        self.occupancy.lose(erase_unit, places);
    }

    fn read_reduced(&mut self, request: &Request) {
        self.ledger.host_read_bytes += u64::from(request.length_bytes);
        let (first, last) = (
            self.lpn_of(request.offset_bytes),
            self.lpn_of(request.offset_bytes + u64::from(request.length_bytes) - 1),
        );
        let mut last_unit = u32::MAX;
        let mut read_units = 0;
        for lpn in (first.0..=last.0).map(Lpn) {
            let ppn = self.map.physical(lpn);
            // What was never written reads as zeroes, which takes no flash operation.
            if ppn == Ppn::UNMAPPED {
                continue;
            }
            for unit in self.units_of(ppn, lpn) {
                // Small units share a mapping unit of flash, which is read once.
                if std::mem::replace(&mut last_unit, unit) != unit {
                    read_units += 1;
                    self.clock.read(Ppn(unit), Cause::Host);
                }
            }
        }
        let places_per_unit = u64::from(self.reduction().places_per_unit());
        self.ledger.read_units.host += read_units * places_per_unit;
    }

    /// Reads what an address holds, to fill up a unit of which the host writes a part.
    pub(in crate::ftl) fn read_to_modify(&mut self, lpn: Lpn, old: Ppn) {
        let places_per_unit = u64::from(self.reduction().places_per_unit());
        for unit in self.units_of(old, lpn) {
            self.ledger.read_units.read_modify_write += places_per_unit;
            self.clock.read(Ppn(unit), Cause::ReadModifyWrite);
        }
    }

    /// The mapping units of flash that what is stored at `ppn` touches.
    pub(super) fn units_of(&mut self, ppn: Ppn, lpn: Lpn) -> std::ops::RangeInclusive<u32> {
        let reduction = self.reduction();
        let shift = reduction.places_per_unit_shift;
        ppn.0 >> shift..=(ppn.0 + reduction.places_of(lpn) - 1) >> shift
    }
}
