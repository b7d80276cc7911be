//! Making room: opening erase units, cleaning victims, levelling wear.

use super::frontier::Frontier;
use super::numbers::{EraseUnit, Lpn, Ppn, StreamId};
use super::occupancy::State;
use super::{Ftl, MOVED_AT_ONCE, erase_units_needed};
use crate::error::ReadOnly;
use crate::ledger::Cause;
use crate::nand::Erased;
use crate::policies::placement::{PlacementPolicy, PoolView};
use crate::policies::victim::{Pool, View};
use crate::policies::wear;
use crate::specification::drive::SpareArea;
use crate::timing::Clock;

impl<P: PlacementPolicy, C: Clock> Ftl<P, C> {
    /// Leaves the stream's frontier with room for a unit, cleaning first if opening an erase unit for the host would
    /// leave fewer free than the reserve.
    #[cold]
    #[inline(never)]
    pub(super) fn make_room_for_host(&mut self, stream: StreamId) -> Result<(), ReadOnly> {
        if let Some(reason) = self.read_only {
            return Err(reason);
        }
        if self.lanes.is_some() {
            return self.make_room_in_lanes(stream);
        }
        loop {
            let has_room = self.go_on_behind_parity(stream);
            if has_room && !self.lacks_reserve() {
                return Ok(());
            }
            if !has_room && self.slc_cache.is_some() && self.make_room_in_cache()? {
                continue;
            }
            self.make_space(Some(stream))?;
            // Cleaning may have opened it, where the host shares it, or made room in the cache.
            let goes_past_cache = self.slc_cache.as_ref().is_none_or(|cache| !cache.takes_host());
            if goes_past_cache && self.frontiers[stream.index()].erase_unit.is_none() {
                self.open(stream);
            }
        }
    }

    /// Cleans until the host may open an erase unit, or until its stream has room, where it shares one with cleaning.
    pub(super) fn make_space(&mut self, stream: Option<StreamId>) -> Result<(), ReadOnly> {
        let mut fruitless = 0;
        while self.free.len() <= self.reserve_erase_units + self.set_aside_erase_units() {
            if self.in_progress.is_some() {
                self.finish_cleaning()?;
            } else if self.slc_cache.is_some() && self.fold_for_space(false)? {
                fruitless = 0;
            } else {
                let pool = if fruitless == 0 { self.pool_to_clean() } else { Pool::All };
                let gained = self.clean(pool, self.die_to_clean())?;
                fruitless = if gained { 0 } else { fruitless + 1 };
                // First-in-first-out may meet full erase units in a row, but never all of them twice over.
                if fruitless > 2 * self.occupancy.erase_units() {
                    self.read_only = Some(ReadOnly::NothingToReclaim);
                    return Err(ReadOnly::NothingToReclaim);
                }
            }
            if stream.is_some_and(|stream| self.go_on_behind_parity(stream)) && !self.lacks_reserve() {
                break;
            }
        }
        Ok(())
    }

    /// Whether an erase unit that was lost has left fewer free than the reserve. Where host and cleaning share a frontier
    /// nobody else would notice: cleaning leaves it with room, and each loss would take one from the reserve for good.
    pub(super) fn lacks_reserve(&self) -> bool {
        self.free.len() < self.reserve_erase_units && self.in_progress.is_none()
    }

    /// With a static spare area the space of addresses that hold nothing stays set aside for them.
    pub(super) fn set_aside_erase_units(&self) -> u32 {
        match self.spare_area {
            SpareArea::Dynamic => 0,
            SpareArea::Static => {
                let empty =
                    (u64::from(self.map.user_units()) - self.mapped_units) * u64::from(self.layout.places_per_unit());
                (empty / u64::from(self.layout.data_units_per_erase_unit())) as u32
            }
        }
    }

    pub(super) fn pool_to_clean(&mut self) -> Pool {
        if !P::POOLED {
            return Pool::All;
        }
        // Old writes fade, so that the shares follow a workload that changes.
        let recent: u64 = self.pools.iter().map(|pool| pool.recent_units).sum();
        if recent > 4 * u64::from(self.map.user_units()) {
            self.pools.iter_mut().for_each(|pool| pool.recent_units /= 2);
        }
        let data_units_per_erase_unit = self.layout.data_units_per_erase_unit();
        self.placement.pool_to_clean(&PoolView { pools: &self.pools, data_units_per_erase_unit })
    }

    /// Moves the frontier past parity to the next run of places. Returns whether there is any room.
    #[inline]
    pub(super) fn go_on_behind_parity(&mut self, stream: StreamId) -> bool {
        if self.lanes.is_some() { self.go_on_in_lanes(stream) } else { self.go_on_in_block(stream) }
    }

    /// The same within what the frontier has open.
    pub(super) fn go_on_in_block(&mut self, stream: StreamId) -> bool {
        let frontier = &mut self.frontiers[stream.index()];
        let Some(erase_unit) = frontier.erase_unit else { return false };
        if frontier.run_length() > 0 {
            return true;
        }
        let first = self.layout.first(erase_unit);
        let places = match &self.slc_cache {
            Some(cache) if cache.is_slc(erase_unit) => cache.layout(),
            _ => &self.layout,
        };
        loop {
            let place = frontier.next().0 - first;
            if place == places.units_per_erase_unit() {
                break;
            }
            if !places.is_parity(place) {
                frontier.run_to(Ppn(first + places.next_parity(place)));
                return true;
            }
            let places = self.layout.places_per_unit();
            self.clock.program(Ppn(frontier.next().0 / places), Cause::Parity);
            self.ledger.programmed_units.parity += u64::from(places);
            frontier.skip_parity(places);
        }
        self.close(stream, erase_unit);
        false
    }

    pub(super) fn close(&mut self, frontier: StreamId, erase_unit: EraseUnit) {
        let data_units = self.layout_of(erase_unit).data_units_per_erase_unit();
        self.born_at[erase_unit.index()] = self.frontiers[frontier.index()].born_at(data_units, self.now());
        self.closed_at[erase_unit.index()] = self.now();
        self.frontiers[frontier.index()] = Frontier::shut();
        if let Some(cache) = self.slc_cache.as_mut().filter(|cache| cache.is_slc(erase_unit)) {
            cache.closed(erase_unit);
            return;
        }
        self.occupancy.close(erase_unit);
        if let Some(upkeep) = &mut self.upkeep {
            upkeep.refresh.closed(erase_unit);
        }
        self.closings += 1;
        self.victim.closed(erase_unit, self.streams[erase_unit.index()], self.closings);
    }

    pub(super) fn open(&mut self, frontier: StreamId) {
        if self.lanes.is_some() {
            return self.open_in_lanes(frontier);
        }
        let erase_unit = self.free.take().expect("the reserve keeps an erase unit free for cleaning");
        // The frontier after those of the placement belongs to the SLC cache, and takes data of the host.
        let is_of_placement = frontier.index() < usize::from(self.placement.streams());
        self.open_as(frontier, if is_of_placement { frontier } else { StreamId(0) }, erase_unit);
    }

    /// Opens an erased erase unit at a frontier, for the data of a stream.
    pub(super) fn open_as(&mut self, frontier: StreamId, stream: StreamId, erase_unit: EraseUnit) {
        let now = self.now();
        if self.slc_cache.is_some() {
            self.clock.open(erase_unit, self.is_slc(erase_unit));
        }
        let places = *self.layout_of(erase_unit);
        self.occupancy.open(erase_unit, places.data_units_per_erase_unit());
        if self.reduction.is_none() {
            self.map.mark_all_live(erase_unit, &places);
        }
        if let Some(upkeep) = &mut self.upkeep {
            upkeep.opened(erase_unit);
        }
        self.streams[erase_unit.index()] = stream;
        self.born_at[erase_unit.index()] = now;
        self.pools[stream.index()].erase_units += 1;
        self.frontiers[frontier.index()] = Frontier::open(erase_unit, Ppn(self.layout.first(erase_unit)), now);
    }

    /// Cleans one victim of the pool on the die, or of any if there is none. Returns whether space was gained.
    pub(super) fn clean(&mut self, pool: Pool, die: Option<u32>) -> Result<bool, ReadOnly> {
        let Some(victim) = self.choose_for(pool, die) else {
            self.read_only = Some(ReadOnly::NothingToReclaim);
            return Err(ReadOnly::NothingToReclaim);
        };
        let gained = self.occupancy.live_units(victim) < self.layout.data_units_per_erase_unit();
        self.empty(victim, Cause::Gc)?;
        self.level_wear()?;
        Ok(gained)
    }

    pub(super) fn level_wear(&mut self) -> Result<(), ReadOnly> {
        if self.upkeep.as_ref().is_some_and(|upkeep| upkeep.levels_wear) {
            return Ok(());
        }
        let view = wear::View {
            occupancy: &self.occupancy,
            erase_counts: &self.erase_counts,
            erase_count_max: self.erase_count_max,
        };
        if let Some(behind) = self.wear_leveling.erase_unit_to_level(&view) {
            self.empty(behind, Cause::WearLeveling)?;
        }
        Ok(())
    }

    /// A victim of the pool on the die; or of another pool on the die; or any.
    pub(super) fn choose_for(&mut self, pool: Pool, die: Option<u32>) -> Option<EraseUnit> {
        let on_die = die.and_then(|_| self.choose(pool, die).or_else(|| self.choose(Pool::All, die)));
        on_die.or_else(|| self.choose(pool, None)).or_else(|| self.choose(Pool::All, None))
    }

    fn choose(&mut self, pool: Pool, die: Option<u32>) -> Option<EraseUnit> {
        let now = self.now();
        let mut view = View {
            now,
            erase_units: self.streams.len() as u32,
            data_units_per_erase_unit: self.layout.data_units_per_erase_unit(),
            occupancy: &mut self.occupancy,
            closed_at: &self.closed_at,
            streams: &self.streams,
            on_die: self.lanes.as_ref().and_then(|lanes| lanes.erase_units_on(die)),
        };
        let victim = self.victim.choose(&mut view, pool)?;
        assert_eq!(self.occupancy.state(victim), State::Closed, "a victim is closed");
        Some(victim)
    }

    /// Moves the live units of a closed erase unit away and erases it.
    pub(super) fn empty(&mut self, victim: EraseUnit, cause: Cause) -> Result<(), ReadOnly> {
        let resident = self.resident(victim);
        let born_at = self.born_at[victim.index()];
        let stream = self.placement.cleaning_stream(resident);
        let live_units = u64::from(self.occupancy.live_units(victim));
        self.check_room_to_move(stream, live_units)?;
        // With data reduction what is read is counted as it is found.
        let read_units = if self.reduction.is_none() { live_units } else { 0 };
        match cause {
            Cause::WearLeveling => {
                self.ledger.programmed_units.wear_leveling += live_units;
                self.ledger.read_units.wear_leveling += read_units;
            }
            _ => {
                self.ledger.programmed_units.gc += live_units;
                self.ledger.read_units.gc += read_units;
            }
        }
        let mut moving = std::mem::take(&mut self.moving);
        let mut place = 0;
        while place < self.layout.units_per_erase_unit() {
            moving.clear();
            place = self.map.gather_live(victim, place, MOVED_AT_ONCE, &mut moving);
            self.move_units(&moving, stream, born_at, cause);
        }
        self.moving = moving;
        if P::POOLED {
            self.pools[resident.stream.index()].live_units -= live_units;
            self.pools[stream.index()].live_units += live_units;
        }
        self.erase(victim)
    }

    /// A block that failed its erase is one that did not come back: with a small reserve there may be nowhere to move to.
    pub(super) fn check_room_to_move(&mut self, stream: StreamId, live_units: u64) -> Result<(), ReadOnly> {
        if live_units == 0 {
            return Ok(());
        }
        if self.reduction.is_some() {
            return if self.has_room_to_move(stream, live_units) { Ok(()) } else { Err(self.turn_read_only()) };
        }
        if self.free.len() > 0 {
            return Ok(());
        }
        if live_units <= u64::from(self.places_left(stream)) { Ok(()) } else { Err(self.turn_read_only()) }
    }

    pub(super) fn move_units(&mut self, mut units: &[(Lpn, Ppn)], stream: StreamId, born_at: u64, cause: Cause) {
        if self.reduction.is_some() {
            return self.move_stored(units, stream, born_at, cause);
        }
        while !units.is_empty() {
            if self.frontiers[stream.index()].is_stopped() && !self.go_on_behind_parity(stream) {
                self.open(stream);
                continue;
            }
            let frontier = &mut self.frontiers[stream.index()];
            let (now, later) = units.split_at(units.len().min(frontier.run_length() as usize));
            for &(lpn, from) in now {
                let to = frontier.take();
                self.map.link(lpn, to);
                self.clock.copy(from, to, cause);
            }
            frontier.note_moved(now.len() as u64, born_at);
            self.observe_move(now, stream);
            if let Some(cache) = &mut self.map_cache {
                now.iter().for_each(|&(lpn, _)| cache.moved(lpn));
            }
            units = later;
        }
    }

    /// Units that are moved together come from one erase unit.
    #[inline]
    pub(super) fn observe_move(&mut self, moved: &[(Lpn, Ppn)], stream: StreamId) {
        if let (Some(observed), Some(&(_, from)), Some(to)) =
            (&mut self.observed, moved.first(), self.frontiers[stream.index()].erase_unit)
        {
            observed.moved(self.layout.erase_unit_of(from), to, moved.len() as u32);
        }
    }

    pub(super) fn erase(&mut self, erase_unit: EraseUnit) -> Result<(), ReadOnly> {
        self.map.mark_all_stale(erase_unit);
        if let Some(reduction) = &mut self.reduction {
            reduction.forget_last_read();
        }
        self.pools[self.streams[erase_unit.index()].index()].erase_units -= 1;
        self.ledger.erased_erase_units += 1;
        if let Some(upkeep) = &mut self.upkeep {
            upkeep.refresh.erased(erase_unit);
        }
        self.clock.erase(erase_unit);
        if let Some(observed) = &mut self.observed {
            observed.erased(erase_unit);
        }
        if let Some(cache) = self.slc_cache.as_mut().filter(|cache| cache.is_slc(erase_unit))
            && cache.erased(erase_unit)
        {
            self.occupancy.free(erase_unit);
            return Ok(());
        }
        let erased = self.array.erase(erase_unit.0);
        let erase_count = self.array.erase_count(erase_unit.0);
        self.erase_counts[erase_unit.index()] = erase_count;
        self.erase_count_max = self.erase_count_max.max(erase_count);
        match erased {
            Erased::Usable => {
                self.occupancy.free(erase_unit);
                self.free.put(erase_unit, erase_count);
                Ok(())
            }
            Erased::Retired => {
                self.occupancy.retire(erase_unit);
                self.erase_units_left -= 1;
                self.check_spare_blocks()
            }
        }
    }

    /// A drive that can no longer promise room for all of its addresses stops taking writes, before it runs dry.
    pub(super) fn check_spare_blocks(&mut self) -> Result<(), ReadOnly> {
        let enough = u64::from(self.erase_units_left) >= self.erase_units_needed();
        if enough { Ok(()) } else { Err(self.turn_read_only()) }
    }

    pub(super) fn turn_read_only(&mut self) -> ReadOnly {
        let reason = ReadOnly::OutOfSpareBlocks {
            erase_units_left: self.erase_units_left,
            erase_units_needed: self.erase_units_needed() as u32,
        };
        self.read_only = Some(reason);
        reason
    }

    pub(super) fn erase_units_needed(&self) -> u64 {
        let units = u64::from(self.map.units());
        let places = self.reduction.as_ref().map_or(units, |reduction| reduction.places_of_all());
        erase_units_needed(places, &self.layout, self.reserve_erase_units, self.open_erase_units)
    }
}
