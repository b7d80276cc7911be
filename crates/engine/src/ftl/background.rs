//! Background operations while the host sends no requests: folding of the SLC cache, refresh, garbage collection in
//! advance, wear levelling, rewriting in address order.
//!
//! One call performs one batch, as large as one program of every die, so that a request arriving meanwhile waits
//! briefly. A partly collected victim stays so; throttled collection continues it when space is short, or the next idle
//! time does.
//!
//! Refreshed data is counted as wear levelling, data rewritten in order as garbage collection: the ledger has no
//! separate causes for them.

use super::Ftl;
use super::layer::Layer;
use super::order::Order;
use super::refresh::Refresh;
use crate::error::{ReadOnly, SpecificationError};
use crate::ledger::Cause;
use crate::nand::Geometry;
use crate::nand::occupancy::State;
use crate::policies::wear::LOOKED_AT;
use crate::specification::drive::{Drive, EraseUnitKind};
use crate::timing::Clock;
use crate::timing::drive::Idle;
use crate::units::{EraseUnit, Lpn, Ppn};

pub(super) struct Background {
    idle_after_ns: u64,
    batch_units: u64,
    /// Erase units that garbage collection keeps erased in idle time, in addition to those that the host may not take;
    /// 0: no collection in idle time.
    pool_erase_units: u32,
    pub(super) levels_wear: bool,
    /// The number of erases at the last examination of the whole drive that found nothing to level.
    pub(super) level_at_erases: u64,
    pub(super) refresh: Refresh,
    pub(super) order: Option<Order>,
    /// Whether an erase unit opened now is opened by background operations.
    pub(super) is_at_work: bool,
}

impl Background {
    /// None for a drive without background operations.
    pub fn new(
        drive: &Drive,
        geometry: &Geometry,
        erase_units: u32,
        open_blocks_per_stream: u32,
    ) -> Result<Option<Box<Self>>, SpecificationError> {
        let said = &drive.background;
        let refresh = Refresh::new(said, geometry, erase_units)?;
        if !(said.idle_after_ms >= 0.0 && said.idle_after_ms <= 1e9) {
            let allowed = "milliseconds from 0 to 10^9";
            return Err(SpecificationError::new("background.idle_after_ms", said.idle_after_ms, allowed));
        }
        if said.wear_leveling && drive.ftl.wear_leveling.name != "static" {
            let allowed = "false, or true with ftl.wear_leveling = \"static\": no other has work for idle time";
            return Err(SpecificationError::new("background.wear_leveling", true, allowed));
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
            EraseUnitKind::Superblock => geometry.blocks_per_erase_unit() * geometry.units_per_page,
            EraseUnitKind::Block => geometry.units_per_page * open_blocks_per_stream,
        };
        let erase_unit_bytes = u64::from(geometry.units_per_erase_unit()) * u64::from(geometry.mapping_unit_bytes);
        let pool_erase_units = said.erased_pool_bytes.div_ceil(erase_unit_bytes);
        if pool_erase_units >= u64::from(erase_units) {
            let allowed = format!("less than the {} bytes of T", u64::from(erase_units) * erase_unit_bytes);
            return Err(SpecificationError::new("background.erased_pool_bytes", said.erased_pool_bytes, allowed));
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

    /// Whether it stores the times or the order of writes.
    pub fn remembers(&self) -> bool {
        self.refresh.is_on() || self.order.is_some()
    }

    pub fn opened(&mut self, erase_unit: EraseUnit) {
        if let Some(order) = self.order.as_mut().filter(|_| !self.is_at_work) {
            order.opened(erase_unit);
        }
    }
}

impl<L: Layer, C: Clock> Ftl<L, C> {
    /// Performs one batch of background operations. The host has sent no request since `idle_since_ns`.
    pub fn run_background(&mut self, now_ns: u64, idle_since_ns: u64) -> Result<Idle, ReadOnly> {
        let Some(background) = &mut self.background else { return Ok(Idle::NothingBefore(u64::MAX)) };
        background.refresh.set_time(now_ns);
        let begins_ns = idle_since_ns.saturating_add(background.idle_after_ns);
        if now_ns < begins_ns {
            return Ok(Idle::NothingBefore(begins_ns));
        }
        if self.read_only.is_some() {
            return Ok(Idle::NothingBefore(u64::MAX));
        }
        background.is_at_work = true;
        let batch_units = background.batch_units;
        let done = self.idle_batch(batch_units);
        let background = self.background.as_mut().expect("it was there");
        background.is_at_work = false;
        let next_ns = background.refresh.next_due_ns();
        done.map(|decided| if decided { Idle::Decided } else { Idle::NothingBefore(next_ns) })
    }

    fn idle_batch(&mut self, units: u64) -> Result<bool, ReadOnly> {
        if self.gc.victim_under_way().is_none() {
            if self.fold_in_idle(units)? {
                return Ok(true);
            }
            let Some((victim, cause)) = self.idle_victim() else { return self.put_in_order(units) };
            self.start_gc(victim, cause)?;
        }
        self.go_on_with_gc(units * u64::from(self.space.layout.slots_per_unit()))?;
        Ok(true)
    }

    /// The next erase unit to collect in idle time, and the cause.
    fn idle_victim(&mut self) -> Option<(EraseUnit, Cause)> {
        let background = self.background.as_mut().expect("idle work is on");
        let space = &self.space;
        if let Some(due) = background.refresh.due(|erase_unit| space.is_closed(erase_unit)) {
            return Some((due, Cause::WearLeveling));
        }
        let pool_erase_units = background.pool_erase_units;
        if pool_erase_units > 0
            && self.space.free.len() < self.kept_from_host() + pool_erase_units
            && let Some(victim) = self.victim_with_gain()
        {
            return Some((victim, Cause::Gc));
        }
        self.erase_unit_to_level_in_idle().map(|behind| (behind, Cause::WearLeveling))
    }

    /// Free erase units that the host cannot take before garbage collection runs.
    fn kept_from_host(&self) -> u32 {
        self.space.margins.reserve_erase_units + self.space.margins.in_hand_erase_units + self.set_aside_erase_units()
    }

    fn erase_unit_to_level_in_idle(&mut self) -> Option<EraseUnit> {
        let background = self.background.as_mut().expect("idle work is on");
        if !background.levels_wear || background.level_at_erases == self.accounts.ledger().erased_erase_units {
            return None;
        }
        for _ in 0..self.space.erase_units().div_ceil(LOOKED_AT) {
            if let Some(behind) = self.gc.erase_unit_to_level(&self.space) {
                return Some(behind);
            }
        }
        background.level_at_erases = self.accounts.ledger().erased_erase_units;
        None
    }

    /// Rewrites, in address order, one segment that is stored in another order. False when there is none, or no space.
    fn put_in_order(&mut self, units: u64) -> Result<bool, ReadOnly> {
        if self.background.as_ref().is_none_or(|background| background.order.is_none()) {
            return Ok(false);
        }
        if self.space.free.len() <= self.kept_from_host() {
            let Some(victim) = self.victim_with_gain() else { return Ok(false) };
            self.start_gc(victim, Cause::Gc)?;
            self.go_on_with_gc(units)?;
            return Ok(true);
        }
        let mut order = self.background.as_mut().and_then(|background| background.order.take()).expect("it was there");
        let (space, victim) = (&self.space, self.gc.victim_under_way());
        let found = order.next_out_of_order(
            &space.layout,
            &self.map,
            self.space.array.geometry().units_per_page,
            |erase_unit| match space.occupancy.state(erase_unit) {
                State::Free | State::Retired => 0,
                State::Open if victim != Some(erase_unit) => space.written_slots(erase_unit),
                State::Open | State::Closed => space.layout.units_per_erase_unit(),
            },
        );
        if found {
            self.move_in_order(order.segment());
        }
        self.background.as_mut().expect("it was there").order = Some(order);
        Ok(found)
    }

    /// Leaves the rest of the segment as it is where an erase unit would have to be opened for it that garbage collection
    /// needs: a segment can be longer than a small erase unit, and be dealt out to several streams.
    fn move_in_order(&mut self, segment: &[(Lpn, Ppn)]) {
        for &(lpn, from) in segment {
            let erase_unit = self.space.layout.erase_unit_of(from);
            let stream = self.placement.gc_stream(self.resident(erase_unit));
            let born_at = self.space.filled.born_at[erase_unit.index()];
            self.space.head_for(stream, lpn);
            let must_open = self.space.is_stopped(stream) && !self.go_on(stream);
            if must_open && self.space.free.len() <= self.space.margins.reserve_erase_units {
                return;
            }
            self.relocate(erase_unit, &[(lpn, from)], 1, stream, born_at, Cause::Gc);
        }
    }
}
