//! Cleaning in step with the host, for drives with a clock.
//!
//! A policy says how much of the victim in progress is moved for each unit that the host writes; here it is moved.

use super::Ftl;
use super::numbers::{EraseUnit, Lpn, Ppn, StreamId};
use crate::error::ReadOnly;
use crate::ledger::Cause;
use crate::policies::pacing::{Pace, View};
use crate::policies::placement::PlacementPolicy;
use crate::policies::victim::Pool;
use crate::timing::Clock;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Erase units in hand beyond the reserve below which cleaning runs: one for each block that a stream has open, since
/// those may be full at the same time, so that the host's next openings are covered; but no more than half of what the
/// drive has to spare, since cleaning could never reach that.
pub(super) fn in_hand(open_blocks_per_stream: u32, spare_erase_units: u64) -> u32 {
    open_blocks_per_stream.min((spare_erase_units / 2) as u32).max(1)
}

#[derive(Clone, Serialize, Deserialize)]
pub struct InProgress {
    victim: EraseUnit,
    /// What its programs are counted as.
    cause: Cause,
    stream: StreamId,
    born_at: u64,
    /// Where gathering goes on, and how many of the gathered units are done.
    place: u32,
    moved_of_gathered: usize,
    live_units: u64,
    gained_units: u64,
    /// Fractions of a unit owed, in units times `gained_units`.
    debt: u64,
}

impl InProgress {
    /// An erase unit of the SLC cache, folded over the next `host_units` of the host.
    pub fn fold(victim: EraseUnit, born_at: u64, live_units: u64, host_units: u64) -> Self {
        Self {
            victim,
            cause: Cause::SlcFold,
            // Folded data follows the frontier past the cache, which may change its place.
            stream: StreamId(0),
            born_at,
            place: 0,
            moved_of_gathered: 0,
            live_units,
            gained_units: host_units,
            debt: 0,
        }
    }

    pub fn victim(&self) -> EraseUnit {
        self.victim
    }

    /// Units to move for one more unit of the host.
    pub fn owe(&mut self) -> u64 {
        self.take_on(self.live_units)
    }

    /// Adds parts of a unit to what is owed, and returns the whole units in it.
    fn take_on(&mut self, parts: u64) -> u64 {
        self.debt += parts;
        let units = self.debt / self.gained_units;
        self.debt %= self.gained_units;
        units
    }
}

impl<P: PlacementPolicy, C: Clock> Ftl<P, C> {
    pub(super) fn in_progress_victim(&self) -> Option<EraseUnit> {
        self.in_progress.as_ref().map(|in_progress| in_progress.victim)
    }

    /// Called for each unit that the host writes, which takes so many places: one, unless data is reduced.
    #[inline]
    pub(super) fn pace_cleaning(&mut self, places: u32) -> Result<(), ReadOnly> {
        if self.slc_cache.is_some() {
            self.pace_folding()?;
        }
        let floor = self.reserve_erase_units + self.in_hand_erase_units;
        // A victim that idle time left half empty waits as well.
        if self.free.len() > floor + self.set_aside_erase_units() {
            return Ok(());
        }
        if self.in_progress.is_none() {
            if self.slc_cache.is_some() && self.fold_for_space(true)? {
                return Ok(());
            }
            let pool = self.pool_to_clean();
            if !self.start_cleaning(pool)? {
                return Ok(());
            }
        }
        let in_progress = self.in_progress.as_mut().expect("a victim was just chosen");
        let view = View {
            free_erase_units: self.free.len(),
            floor_erase_units: floor,
            live_units: in_progress.live_units,
            gained_units: in_progress.gained_units,
            written_units: u64::from(places),
        };
        let units = match self.pacing.pace(&view) {
            Pace::Parts(parts) => in_progress.take_on(parts),
            Pace::Whole => u64::MAX,
        };
        self.go_on_cleaning(units)?;
        if self.free.len() == 0 { self.keep_room_for_victim() } else { Ok(()) }
    }

    /// With no erased unit left, the open one must take the rest of the victim. Where the host writes to it as well, the
    /// victim is finished before the host has taken that room.
    pub(super) fn keep_room_for_victim(&mut self) -> Result<(), ReadOnly> {
        let Some(in_progress) = &self.in_progress else { return Ok(()) };
        let room = self.places_left(in_progress.stream);
        let live_units = self.occupancy.live_units(in_progress.victim);
        let fits = if self.reduction.is_some() {
            self.has_room_to_move(in_progress.stream, u64::from(live_units) + 1)
        } else {
            room > live_units
        };
        if fits { Ok(()) } else { self.finish_cleaning() }
    }

    /// Empties the victim in progress at once.
    pub(super) fn finish_cleaning(&mut self) -> Result<(), ReadOnly> {
        self.go_on_cleaning(u64::MAX)
    }

    fn start_cleaning(&mut self, pool: Pool) -> Result<bool, ReadOnly> {
        let die = self.die_to_clean();
        if self.lanes.is_some() && die.is_none() {
            return Ok(false);
        }
        let Some(victim) = self.choose_for(pool, die) else { return Ok(false) };
        self.start_emptying(victim, Cause::Gc)?;
        Ok(true)
    }

    /// Makes a closed erase unit the victim in progress; there must be none.
    pub(super) fn start_emptying(&mut self, victim: EraseUnit, cause: Cause) -> Result<(), ReadOnly> {
        if self.slc_cache.is_some() && self.free.len() <= self.reserve_erase_units {
            self.finish_folding()?;
        }
        let live_units = u64::from(self.occupancy.live_units(victim));
        let stream = self.placement.cleaning_stream(self.resident(victim));
        self.check_room_to_move(stream, live_units)?;
        self.occupancy.start_cleaning(victim);
        self.moving.clear();
        self.in_progress = Some(InProgress {
            victim,
            cause,
            stream,
            born_at: self.born_at[victim.index()],
            place: 0,
            moved_of_gathered: 0,
            live_units,
            // A full victim, which first-in-first-out may choose, gives nothing back; it is moved with the next write.
            gained_units: (u64::from(self.layout.data_units_per_erase_unit()) - live_units).max(1),
            debt: 0,
        });
        Ok(())
    }

    /// Moves so many live units of the victim in progress, and erases it when none is left.
    pub(super) fn go_on_cleaning(&mut self, units: u64) -> Result<(), ReadOnly> {
        let Some(mut in_progress) = self.in_progress.take() else { return Ok(()) };
        let mut moving = std::mem::take(&mut self.moving);
        let is_empty = self.go_on_emptying(&mut in_progress, &mut moving, units);
        self.moving = moving;
        if !matches!(is_empty, Ok(true)) {
            self.in_progress = Some(in_progress);
            return is_empty.map(|_| ());
        }
        self.moving.clear();
        self.erase(in_progress.victim)?;
        self.level_wear()
    }

    /// Moves so many live units of an erase unit. Returns whether none is left. `moving` is what was gathered of it.
    #[inline]
    pub(super) fn go_on_emptying(
        &mut self,
        in_progress: &mut InProgress,
        moving: &mut Vec<(Lpn, Ppn)>,
        mut units: u64,
    ) -> Result<bool, ReadOnly> {
        // One place a unit and one frontier: then units are moved in runs.
        let is_plain = self.slc_cache.is_none() && self.reduction.is_none();
        loop {
            if in_progress.moved_of_gathered == moving.len() {
                if in_progress.place == self.layout.units_per_erase_unit() {
                    return Ok(true);
                }
                moving.clear();
                in_progress.moved_of_gathered = 0;
                in_progress.place = self.map.gather_live(in_progress.victim, in_progress.place, 64, moving);
                continue;
            }
            if units == 0 {
                return Ok(false);
            }
            if is_plain {
                let first = in_progress.moved_of_gathered;
                let end = moving.len().min(first.saturating_add(units as usize));
                in_progress.moved_of_gathered = end;
                let live_units = self.keep_live(&mut moving[first..end]);
                self.move_from_victim(in_progress, &moving[first..first + live_units]);
                units -= live_units as u64;
                continue;
            }
            let is_fold = in_progress.cause == Cause::SlcFold;
            let stream = if is_fold { self.frontier_past_cache() } else { in_progress.stream };
            if self.free.len() == 0 && self.slc_cache.is_some() {
                self.find_room_for(stream)?;
            }
            let (lpn, from) = moving[in_progress.moved_of_gathered];
            let Some((lpn, places)) = self.still_there(lpn, from) else {
                in_progress.moved_of_gathered += 1;
                continue;
            };
            if units < places {
                // Too little for a unit that takes several places: it is saved up.
                in_progress.debt += units * in_progress.gained_units;
                return Ok(false);
            }
            in_progress.moved_of_gathered += 1;
            self.move_units(&[(lpn, from)], stream, in_progress.born_at, in_progress.cause);
            self.map.mark_stale(from);
            self.occupancy.lose(in_progress.victim, places as u32);
            // With data reduction what is read is counted as it is found.
            let read_units = if self.reduction.is_none() { 1 } else { 0 };
            match in_progress.cause {
                Cause::WearLeveling => {
                    self.ledger.programmed_units.wear_leveling += places;
                    self.ledger.read_units.wear_leveling += read_units;
                }
                Cause::SlcFold => {
                    self.ledger.programmed_units.slc_fold += 1;
                    self.ledger.read_units.slc_fold += 1;
                }
                _ => {
                    self.ledger.programmed_units.gc += places;
                    self.ledger.read_units.gc += read_units;
                }
            }
            if P::POOLED {
                let left = self.streams[in_progress.victim.index()];
                self.pools[left.index()].live_units -= places;
                self.pools[in_progress.stream.index()].live_units += places;
            }
            units -= places;
        }
    }

    /// Cleaning and folding side by side may have used up what was erased: the other one is ended, and gives some back.
    #[cold]
    fn find_room_for(&mut self, stream: StreamId) -> Result<(), ReadOnly> {
        if self.frontiers[stream.index()].is_stopped() && !self.go_on_behind_parity(stream) {
            self.finish_folding()?;
            self.finish_cleaning()?;
            if self.free.len() == 0 {
                return Err(self.turn_read_only());
            }
        }
        Ok(())
    }

    /// What was gathered, if the host has not overwritten or trimmed it since, and the places that it takes.
    #[inline]
    fn still_there(&self, lpn: Lpn, from: Ppn) -> Option<(Lpn, u64)> {
        match &self.reduction {
            None => (self.map.physical(lpn) == from).then_some((lpn, 1)),
            // Another address may have inherited it.
            Some(reduction) => self.map.is_live(from).then(|| {
                let owner = self.map.logical(from);
                (owner, u64::from(reduction.places_of(owner)))
            }),
        }
    }

    /// Brings those to the front that the host has not overwritten or trimmed since they were gathered.
    fn keep_live(&self, gathered: &mut [(Lpn, Ppn)]) -> usize {
        let mut live_units = 0;
        for place in 0..gathered.len() {
            let (lpn, from) = gathered[place];
            gathered[live_units] = (lpn, from);
            live_units += usize::from(self.map.physical(lpn) == from);
        }
        live_units
    }

    fn move_from_victim(&mut self, in_progress: &InProgress, live: &[(Lpn, Ppn)]) {
        let &InProgress { victim, cause, stream, born_at, .. } = in_progress;
        self.move_units(live, stream, born_at, cause);
        live.iter().for_each(|&(_, from)| self.map.mark_stale(from));
        let units = live.len() as u64;
        self.occupancy.lose(victim, live.len() as u32);
        match cause {
            Cause::WearLeveling => {
                self.ledger.programmed_units.wear_leveling += units;
                self.ledger.read_units.wear_leveling += units;
            }
            _ => {
                self.ledger.programmed_units.gc += units;
                self.ledger.read_units.gc += units;
            }
        }
        if P::POOLED {
            let left = self.streams[victim.index()];
            self.pools[left.index()].live_units -= units;
            self.pools[stream.index()].live_units += units;
        }
    }

    /// Fills program groups, which are given by their places, up with padding, so that what waits in them can be
    /// programmed.
    pub fn pad(&mut self, groups: &[Range<u32>]) -> Result<(), ReadOnly> {
        for stream in (0..self.frontiers.len()).map(|stream| StreamId(stream as u8)) {
            while self.stands_within(stream, groups) && self.go_on_behind_parity(stream) {
                // Parity may have been written up to the end of the group.
                if !self.stands_within(stream, groups) {
                    break;
                }
                let erase_unit = self.frontiers[stream.index()].erase_unit.expect("the frontier is open");
                let ppn = self.frontiers[stream.index()].take();
                self.map.mark_stale(ppn);
                self.occupancy.lose_one(erase_unit);
                self.ledger.programmed_units.padding += 1;
                self.clock.program(ppn, Cause::Padding);
            }
        }
        if self.free.len() == 0 { self.keep_room_for_victim() } else { Ok(()) }
    }

    /// Whether the next place of the stream's frontier lies inside one of the groups, not at its beginning.
    pub(super) fn stands_within(&self, stream: StreamId, groups: &[Range<u32>]) -> bool {
        let next = self.frontiers[stream.index()].next().0;
        self.frontiers[stream.index()].erase_unit.is_some()
            && groups.iter().any(|group| next > group.start && next < group.end)
    }
}
