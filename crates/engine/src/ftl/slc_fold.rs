//! Folding: what is live in a full erase unit of the SLC cache moves to the others, in idle time or in step with the host.

use super::Ftl;
use super::numbers::EraseUnit;
use super::pacing::InProgress;
use crate::error::ReadOnly;
use crate::policies::placement::PlacementPolicy;
use crate::timing::Clock;

impl<P: PlacementPolicy, C: Clock> Ftl<P, C> {
    /// The next to fold: one that holds nothing, or the one that has been full longest.
    fn next_to_fold(&mut self, only_dynamic: bool) -> Option<EraseUnit> {
        let cache = self.slc_cache.as_mut()?;
        let occupancy = &self.occupancy;
        let static_first = cache.static_first;
        let candidates = cache.full.iter().enumerate().filter(|(_, full)| !only_dynamic || full.0 < static_first);
        let place =
            candidates.min_by_key(|&(place, &full)| (occupancy.live_units(full) > 0, place)).map(|(place, _)| place);
        place.and_then(|place| cache.full.remove(place))
    }

    /// With a clock, and where the drive waits for room: begins to fold so early that the next erase unit of the cache is
    /// ready when the one just opened is full.
    pub(super) fn fold_ahead(&mut self) -> Result<(), ReadOnly> {
        let cache = self.slc_cache.as_ref().expect("there is a cache");
        if !cache.folds_when_full || cache.is_folding() {
            return Ok(());
        }
        let host_units = u64::from(cache.layout.data_units_per_erase_unit());
        match self.next_to_fold(false) {
            Some(oldest) => self.start_folding(oldest, host_units),
            None => Ok(()),
        }
    }

    /// Folds an erase unit of the cache at once, or ends the folding that is under way.
    pub(super) fn fold_one(&mut self) -> Result<(), ReadOnly> {
        if !self.slc_cache.as_ref().is_some_and(|cache| cache.is_folding()) {
            let Some(oldest) = self.next_to_fold(false) else { return Ok(()) };
            self.start_folding(oldest, 1)?;
        }
        self.go_on_folding(u64::MAX)
    }

    /// Folds one that is full at once, because its block has failed.
    pub(super) fn fold_failed(&mut self, failed: EraseUnit) -> Result<(), ReadOnly> {
        let cache = self.slc_cache.as_mut().expect("there is a cache");
        cache.full.retain(|&full| full != failed);
        self.start_folding(failed, 1)?;
        self.go_on_folding(u64::MAX)
    }

    /// Where erased space runs short, one of the cache's erase units gives more of it back than any victim: returns
    /// whether there was one. `paced` over so many units of the host that what it gives back is there in time.
    pub(super) fn fold_for_space(&mut self, paced: bool) -> Result<bool, ReadOnly> {
        let Some(cache) = &self.slc_cache else { return Ok(false) };
        if !cache.is_folding() {
            let Some(oldest) = self.next_to_fold(true) else { return Ok(false) };
            let live_units = self.occupancy.live_units(oldest);
            let gained_units = self.layout.data_units_per_erase_unit() - live_units;
            self.start_folding(oldest, u64::from(gained_units))?;
        }
        if !paced {
            self.go_on_folding(u64::MAX)?;
        }
        Ok(true)
    }

    /// Idle time: folds so many units. False when nothing in the cache is full, or there is no room to fold to.
    pub(super) fn fold_in_idle(&mut self, units: u64) -> Result<bool, ReadOnly> {
        let Some(cache) = &self.slc_cache else { return Ok(false) };
        if !cache.is_folding() {
            if cache.full.is_empty() {
                return Ok(false);
            }
            let has_space = self.free.len() > self.reserve_erase_units + self.set_aside_erase_units();
            let Some(oldest) = self.next_to_fold(!has_space) else { return Ok(false) };
            self.start_folding(oldest, 1)?;
        }
        self.go_on_folding(units)?;
        Ok(true)
    }

    /// Spreads folding over the next `host_units` of the host.
    fn start_folding(&mut self, erase_unit: EraseUnit, host_units: u64) -> Result<(), ReadOnly> {
        let live_units = self.occupancy.live_units(erase_unit);
        let room = self.make_room_to_fold(erase_unit, u64::from(live_units));
        if room.is_err() {
            let cache = self.slc_cache.as_mut().expect("there is a cache");
            cache.full.push_front(erase_unit);
            return room;
        }
        let born_at = self.born_at[erase_unit.index()];
        let folding = InProgress::fold(erase_unit, born_at, u64::from(live_units), host_units.max(1));
        let cache = self.slc_cache.as_mut().expect("there is a cache");
        cache.moving.clear();
        cache.folding = Some(folding);
        Ok(())
    }

    /// A dynamic erase unit gives back more than folding it takes, so that it may take of the reserve as cleaning does;
    /// one of the cache's own gives nothing to the others.
    fn make_room_to_fold(&mut self, erase_unit: EraseUnit, live_units: u64) -> Result<(), ReadOnly> {
        if self.room_past_cache() >= live_units {
            return Ok(());
        }
        if self.free.len() <= self.reserve_erase_units {
            self.finish_cleaning()?;
        }
        let is_static = self.slc_cache.as_ref().is_some_and(|cache| cache.is_static(erase_unit));
        if is_static {
            self.make_space(None)?;
        }
        let stream = self.frontier_past_cache();
        self.check_room_to_move(stream, live_units)
    }

    /// Places for data that are left in the frontier past the cache.
    fn room_past_cache(&self) -> u64 {
        u64::from(self.places_left(self.frontier_past_cache()))
    }

    /// For each unit that the host writes.
    #[inline]
    pub(super) fn pace_folding(&mut self) -> Result<(), ReadOnly> {
        let Some(cache) = &mut self.slc_cache else { return Ok(()) };
        let Some(folding) = &mut cache.folding else { return Ok(()) };
        let units = folding.owe();
        self.go_on_folding(units)
    }

    fn go_on_folding(&mut self, units: u64) -> Result<(), ReadOnly> {
        let cache = self.slc_cache.as_mut().expect("there is a cache");
        let Some(mut folding) = cache.folding.take() else { return Ok(()) };
        let mut moving = std::mem::take(&mut cache.moving);
        let is_empty = self.go_on_emptying(&mut folding, &mut moving, units);
        let cache = self.slc_cache.as_mut().expect("there is a cache");
        cache.moving = moving;
        if !matches!(is_empty, Ok(true)) {
            cache.folding = Some(folding);
            return is_empty.map(|_| ());
        }
        self.erase(folding.victim())?;
        self.note_room()
    }

    /// Room in the cache is used at once.
    fn note_room(&mut self) -> Result<(), ReadOnly> {
        if self.has_room_in_cache() {
            // The frontier past the cache may be half full; it waits, and takes what is folded.
            self.turn_host(true);
        }
        Ok(())
    }

    /// Ends the folding under way, if there is one.
    pub(super) fn finish_folding(&mut self) -> Result<(), ReadOnly> {
        if self.slc_cache.is_some() { self.go_on_folding(u64::MAX) } else { Ok(()) }
    }
}
