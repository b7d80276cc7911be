//! What the drive does when nobody asks anything of it: folding the SLC cache, refreshing, cleaning ahead, levelling
//! wear, putting in order.
//!
//! One call is a batch as large as one program of every die, so that a request which arrives meanwhile waits for little.
//! A victim that idle time left half empty stays so; the pacing of the host's writes goes on with it when space is
//! short, or the next idle time does.
//!
//! Refreshed data is counted as wear levelling, data that is put in order as cleaning: the ledger has no causes of their
//! own for them.

use super::Ftl;
use super::numbers::{EraseUnit, Lpn, Ppn};
use super::occupancy::State;
use super::order::Order;
use super::refresh::Refresh;
use crate::error::{ReadOnly, SpecificationError};
use crate::ledger::Cause;
use crate::nand::Geometry;
use crate::policies::placement::PlacementPolicy;
use crate::policies::wear;
use crate::specification::drive::{Drive, EraseUnitKind};
use crate::timing::Clock;
use crate::timing::host::Idle;

pub(super) struct Upkeep {
    idle_after_ns: u64,
    batch_units: u64,
    /// Erase units that idle cleaning keeps erased beyond what the host may not take; 0: it does not run.
    pool_erase_units: u32,
    pub(super) levels_wear: bool,
    /// Erases at which a look at the whole drive found nothing to level.
    level_at_erases: u64,
    pub(super) refresh: Refresh,
    pub(super) order: Option<Order>,
    /// Whether what is opened now is opened by idle work.
    pub(super) is_at_work: bool,
}

impl Upkeep {
    /// Nothing for a drive that does nothing in idle time.
    pub fn new(
        drive: &Drive,
        geometry: &Geometry,
        erase_units: u32,
        open_blocks_per_stream: u32,
    ) -> Result<Option<Box<Self>>, SpecificationError> {
        let said = &drive.housekeeping;
        let refresh = Refresh::new(said, geometry, erase_units)?;
        if !(said.idle_after_ms >= 0.0 && said.idle_after_ms <= 1e9) {
            let allowed = "milliseconds from 0 to 10^9";
            return Err(SpecificationError::new("housekeeping.idle_after_ms", said.idle_after_ms, allowed));
        }
        if said.wear_leveling && drive.ftl.wear_leveling.name != "static" {
            let allowed = "false, or true with ftl.wear_leveling = \"static\": no other has work for idle time";
            return Err(SpecificationError::new("housekeeping.wear_leveling", true, allowed));
        }
        let has_work = drive.slc_cache.is_on()
            || refresh.is_on()
            || said.erased_pool_bytes > 0
            || said.defragment
            || said.wear_leveling;
        if !has_work {
            return Ok(None);
        }
        let batch_units = match geometry.erase_unit {
            EraseUnitKind::Superblock => geometry.planes * geometry.units_per_page,
            EraseUnitKind::Block => geometry.units_per_page * open_blocks_per_stream,
        };
        let erase_unit_bytes = u64::from(geometry.units_per_erase_unit()) * u64::from(geometry.mapping_unit_bytes);
        let pool_erase_units = said.erased_pool_bytes.div_ceil(erase_unit_bytes);
        if pool_erase_units >= u64::from(erase_units) {
            let allowed = format!("less than the {} bytes of T", u64::from(erase_units) * erase_unit_bytes);
            return Err(SpecificationError::new("housekeeping.erased_pool_bytes", said.erased_pool_bytes, allowed));
        }
        Ok(Some(Box::new(Self {
            idle_after_ns: (said.idle_after_ms * 1e6).round() as u64,
            batch_units: u64::from(batch_units),
            pool_erase_units: pool_erase_units as u32,
            levels_wear: said.wear_leveling,
            level_at_erases: u64::MAX,
            refresh,
            order: said.defragment.then(|| Order::new(erase_units)),
            is_at_work: false,
        })))
    }

    /// Whether it remembers the times of data, or the order in which it was written.
    pub fn remembers(&self) -> bool {
        self.refresh.is_on() || self.order.is_some()
    }

    /// What it remembers else: the erases at which levelling wear found nothing to do.
    pub fn memory(&mut self) -> &mut u64 {
        &mut self.level_at_erases
    }

    pub fn opened(&mut self, erase_unit: EraseUnit) {
        if let Some(order) = self.order.as_mut().filter(|_| !self.is_at_work) {
            order.opened(erase_unit);
        }
    }
}

impl<P: PlacementPolicy, C: Clock> Ftl<P, C> {
    /// Does a batch of what can wait for idle time. Nothing was asked of the drive since `idle_since_ns`.
    pub fn housekeep(&mut self, now_ns: u64, idle_since_ns: u64) -> Result<Idle, ReadOnly> {
        let Some(upkeep) = &mut self.upkeep else { return Ok(Idle::NothingBefore(u64::MAX)) };
        upkeep.refresh.set_time(now_ns);
        let begins_ns = idle_since_ns.saturating_add(upkeep.idle_after_ns);
        if now_ns < begins_ns {
            return Ok(Idle::NothingBefore(begins_ns));
        }
        if self.read_only.is_some() {
            return Ok(Idle::NothingBefore(u64::MAX));
        }
        upkeep.is_at_work = true;
        let batch_units = upkeep.batch_units;
        let done = self.idle_batch(batch_units);
        let upkeep = self.upkeep.as_mut().expect("it was there");
        upkeep.is_at_work = false;
        let next_ns = upkeep.refresh.next_due_ns();
        done.map(|decided| if decided { Idle::Decided } else { Idle::NothingBefore(next_ns) })
    }

    fn idle_batch(&mut self, units: u64) -> Result<bool, ReadOnly> {
        if self.in_progress_victim().is_none() {
            if self.fold_in_idle(units)? {
                return Ok(true);
            }
            let Some((victim, cause)) = self.idle_victim() else { return self.put_in_order(units) };
            self.start_emptying(victim, cause)?;
        }
        self.go_on_cleaning(units * u64::from(self.layout.places_per_unit()))?;
        Ok(true)
    }

    /// The erase unit that idle time empties next, and why.
    fn idle_victim(&mut self) -> Option<(EraseUnit, Cause)> {
        let upkeep = self.upkeep.as_mut().expect("idle work is on");
        let occupancy = &self.occupancy;
        if let Some(due) = upkeep.refresh.due(|erase_unit| occupancy.state(erase_unit) == State::Closed) {
            return Some((due, Cause::WearLeveling));
        }
        let pool_erase_units = upkeep.pool_erase_units;
        if pool_erase_units > 0
            && self.free.len() < self.kept_from_host() + pool_erase_units
            && let Some(victim) = self.victim_with_gain()
        {
            return Some((victim, Cause::Gc));
        }
        self.erase_unit_to_level_in_idle().map(|behind| (behind, Cause::WearLeveling))
    }

    /// Free erase units that the host cannot take before cleaning runs.
    fn kept_from_host(&self) -> u32 {
        self.reserve_erase_units + self.in_hand_erase_units + self.set_aside_erase_units()
    }

    /// The closed erase unit with the fewest live units, if emptying it gives anything back. Whatever the victim policy,
    /// there is time for the best choice.
    pub(super) fn victim_with_gain(&mut self) -> Option<EraseUnit> {
        let data_units = self.layout.data_units_per_erase_unit();
        self.occupancy.least().filter(|&least| {
            let live_units = self.occupancy.live_units(least);
            // What is moved may be packed less tightly than it was.
            u64::from(live_units) + self.overhead_to_move(live_units) < u64::from(data_units)
        })
    }

    fn erase_unit_to_level_in_idle(&mut self) -> Option<EraseUnit> {
        let upkeep = self.upkeep.as_mut().expect("idle work is on");
        if !upkeep.levels_wear || upkeep.level_at_erases == self.ledger.erased_erase_units {
            return None;
        }
        let view = wear::View {
            occupancy: &self.occupancy,
            erase_counts: &self.erase_counts,
            erase_count_max: self.erase_count_max,
        };
        for _ in 0..view.erase_units().div_ceil(wear::LOOKED_AT) {
            if let Some(behind) = self.wear_leveling.erase_unit_to_level(&view) {
                return Some(behind);
            }
        }
        upkeep.level_at_erases = self.ledger.erased_erase_units;
        None
    }

    /// Rewrites, in the order of addresses, one segment that lies otherwise. False when none does, or there is no room.
    fn put_in_order(&mut self, units: u64) -> Result<bool, ReadOnly> {
        if self.upkeep.as_ref().is_none_or(|upkeep| upkeep.order.is_none()) {
            return Ok(false);
        }
        if self.free.len() <= self.kept_from_host() {
            let Some(victim) = self.victim_with_gain() else { return Ok(false) };
            self.start_emptying(victim, Cause::Gc)?;
            self.go_on_cleaning(units)?;
            return Ok(true);
        }
        let mut order = self.upkeep.as_mut().and_then(|upkeep| upkeep.order.take()).expect("it was there");
        let found = order.next_out_of_order(&self.layout, &self.map, self.geometry.units_per_page, |erase_unit| {
            let is_written = !matches!(self.occupancy.state(erase_unit), State::Free | State::Retired);
            let is_victim = self.in_progress_victim() == Some(erase_unit);
            let written = if self.occupancy.state(erase_unit) == State::Open && !is_victim {
                self.written_places(erase_unit)
            } else {
                self.layout.units_per_erase_unit()
            };
            if is_written { written } else { 0 }
        });
        if found {
            self.move_in_order(order.segment());
        }
        self.upkeep.as_mut().expect("it was there").order = Some(order);
        Ok(found)
    }

    fn move_in_order(&mut self, segment: &[(Lpn, Ppn)]) {
        for &(lpn, from) in segment {
            let erase_unit = self.layout.erase_unit_of(from);
            let resident = self.resident(erase_unit);
            let stream = self.placement.cleaning_stream(resident);
            self.move_units(&[(lpn, from)], stream, self.born_at[erase_unit.index()], Cause::Gc);
            self.map.mark_stale(from);
            self.occupancy.lose_one(erase_unit);
            self.ledger.programmed_units.gc += 1;
            self.ledger.read_units.gc += 1;
            if P::POOLED {
                self.pools[resident.stream.index()].live_units -= 1;
                self.pools[stream.index()].live_units += 1;
            }
        }
    }
}
