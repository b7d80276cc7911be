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
        let mut fruitless = 0;
        while !self.go_on_behind_parity(stream) {
            if self.free.len() > self.reserve_erase_units + self.set_aside_erase_units() {
                self.open(stream);
                continue;
            }
            if self.in_progress.is_some() {
                self.finish_cleaning()?;
                continue;
            }
            let pool = if fruitless == 0 { self.pool_to_clean() } else { Pool::All };
            let gained = self.clean(pool)?;
            fruitless = if gained { 0 } else { fruitless + 1 };
            // First-in-first-out may meet full erase units in a row, but never all of them twice over.
            if fruitless > 2 * self.occupancy.erase_units() {
                self.read_only = Some(ReadOnly::NothingToReclaim);
                return Err(ReadOnly::NothingToReclaim);
            }
        }
        Ok(())
    }

    /// With a static spare area the space of addresses that hold nothing stays set aside for them.
    pub(super) fn set_aside_erase_units(&self) -> u32 {
        match self.spare_area {
            SpareArea::Dynamic => 0,
            SpareArea::Static => {
                let empty = u64::from(self.map.user_units()) - self.mapped_units;
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
    pub(super) fn go_on_behind_parity(&mut self, stream: StreamId) -> bool {
        let frontier = &mut self.frontiers[stream.index()];
        let Some(erase_unit) = frontier.erase_unit else { return false };
        if frontier.run_length() > 0 {
            return true;
        }
        let first = self.layout.first(erase_unit);
        loop {
            let place = frontier.next().0 - first;
            if place == self.layout.units_per_erase_unit() {
                break;
            }
            if !self.layout.is_parity(place) {
                frontier.run_to(Ppn(first + self.layout.next_parity(place)));
                return true;
            }
            self.clock.program(frontier.next(), Cause::Parity);
            self.ledger.programmed_units.parity += 1;
            frontier.skip_parity();
        }
        self.close(stream, erase_unit);
        false
    }

    fn close(&mut self, stream: StreamId, erase_unit: EraseUnit) {
        let data_units = self.layout.data_units_per_erase_unit();
        self.born_at[erase_unit.index()] = self.frontiers[stream.index()].born_at(data_units, self.now());
        self.closed_at[erase_unit.index()] = self.now();
        self.occupancy.close(erase_unit);
        self.closings += 1;
        self.victim.closed(erase_unit, stream, self.closings);
        self.frontiers[stream.index()] = Frontier::shut();
    }

    fn open(&mut self, stream: StreamId) {
        let erase_unit = self.free.take().expect("the reserve keeps an erase unit free for cleaning");
        let now = self.now();
        self.occupancy.open(erase_unit, self.layout.data_units_per_erase_unit());
        self.map.mark_all_live(erase_unit);
        self.streams[erase_unit.index()] = stream;
        self.born_at[erase_unit.index()] = now;
        self.pools[stream.index()].erase_units += 1;
        self.frontiers[stream.index()] = Frontier::open(erase_unit, Ppn(self.layout.first(erase_unit)), now);
    }

    /// Cleans one victim of the pool, or of any if the pool has none. Returns whether space was gained.
    fn clean(&mut self, pool: Pool) -> Result<bool, ReadOnly> {
        let victim = self.choose(pool).or_else(|| self.choose(Pool::All));
        let Some(victim) = victim else {
            self.read_only = Some(ReadOnly::NothingToReclaim);
            return Err(ReadOnly::NothingToReclaim);
        };
        let gained = self.occupancy.live_units(victim) < self.layout.data_units_per_erase_unit();
        self.empty(victim, Cause::Gc)?;
        self.level_wear()?;
        Ok(gained)
    }

    pub(super) fn level_wear(&mut self) -> Result<(), ReadOnly> {
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

    pub(super) fn choose(&mut self, pool: Pool) -> Option<EraseUnit> {
        let mut view = View {
            now: self.ledger.programmed_units.host,
            erase_units: self.streams.len() as u32,
            data_units_per_erase_unit: self.layout.data_units_per_erase_unit(),
            occupancy: &mut self.occupancy,
            closed_at: &self.closed_at,
            streams: &self.streams,
        };
        let victim = self.victim.choose(&mut view, pool)?;
        assert_eq!(self.occupancy.state(victim), State::Closed, "a victim is closed");
        Some(victim)
    }

    /// Moves the live units of a closed erase unit away and erases it.
    fn empty(&mut self, victim: EraseUnit, cause: Cause) -> Result<(), ReadOnly> {
        let resident = self.resident(victim);
        let born_at = self.born_at[victim.index()];
        let stream = self.placement.cleaning_stream(resident);
        let live_units = u64::from(self.occupancy.live_units(victim));
        self.check_room_to_move(stream, live_units)?;
        match cause {
            Cause::WearLeveling => {
                self.ledger.programmed_units.wear_leveling += live_units;
                self.ledger.read_units.wear_leveling += live_units;
            }
            _ => {
                self.ledger.programmed_units.gc += live_units;
                self.ledger.read_units.gc += live_units;
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
        if self.free.len() > 0 || live_units == 0 {
            return Ok(());
        }
        let frontier = &self.frontiers[stream.index()];
        let room = frontier.erase_unit.map_or(0, |erase_unit| {
            let first = self.layout.first(erase_unit);
            self.layout.data_units_from(frontier.next().0 - first)
        });
        if live_units <= u64::from(room) { Ok(()) } else { Err(self.turn_read_only()) }
    }

    pub(super) fn move_units(&mut self, mut units: &[(Lpn, Ppn)], stream: StreamId, born_at: u64, cause: Cause) {
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
                self.clock.read(from, cause);
                self.clock.program(to, cause);
            }
            frontier.note_moved(now.len() as u64, born_at);
            units = later;
        }
    }

    pub(super) fn erase(&mut self, erase_unit: EraseUnit) -> Result<(), ReadOnly> {
        self.map.mark_all_stale(erase_unit);
        self.pools[self.streams[erase_unit.index()].index()].erase_units -= 1;
        self.ledger.erased_erase_units += 1;
        self.clock.erase(erase_unit);
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
    fn check_spare_blocks(&mut self) -> Result<(), ReadOnly> {
        let enough = u64::from(self.erase_units_left) >= self.erase_units_needed();
        if enough { Ok(()) } else { Err(self.turn_read_only()) }
    }

    fn turn_read_only(&mut self) -> ReadOnly {
        let reason = ReadOnly::OutOfSpareBlocks {
            erase_units_left: self.erase_units_left,
            erase_units_needed: self.erase_units_needed() as u32,
        };
        self.read_only = Some(reason);
        reason
    }

    fn erase_units_needed(&self) -> u64 {
        let streams = self.placement.streams();
        erase_units_needed(self.map.user_units(), &self.layout, self.reserve_erase_units, streams)
    }
}
