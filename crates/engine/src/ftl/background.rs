//! Background operations while the host sends no requests: folding of the SLC cache, refresh, garbage collection in
//! advance, wear levelling, rewriting in address order.
//!
//! One call performs one batch, as large as one program of every die, so that a request arriving meanwhile waits
//! briefly. A partly collected victim stays so; throttled collection continues it when space is short, or the next idle
//! time does.
//!
//! Refreshed data is counted as wear levelling, data rewritten in order as garbage collection: the ledger has no
//! separate causes for them.

use super::gc::{Gc, victim_with_gain};
use super::layer::Stored;
use super::listeners::Listeners;
use super::media::{Destination, Done, Media};
use super::moving::relocate;
use super::order::Order;
use super::refresh::Refresh;
use crate::error::SpecificationError;
use crate::ledger::Cause;
use crate::nand::Geometry;
use crate::nand::occupancy::State;
use crate::policies::wear::LOOKED_AT;
use crate::specification::drive::{Drive, EraseUnitKind};
use crate::timing::Clock;
use crate::timing::drive::Idle;
use crate::units::{EraseUnit, Lpn, Ppn};

pub struct Background {
    idle_after_ns: u64,
    batch_units: u64,
    /// Erase units that garbage collection keeps erased in idle time, in addition to those that the host may not take;
    /// 0: no collection in idle time.
    pool_erase_units: u32,
    levels_wear: bool,
    /// The number of erases at the last examination of the whole drive that found nothing to level.
    pub level_at_erases: u64,
}

impl Background {
    /// None for a drive without background operations; adds the listeners that they need.
    pub fn new(
        drive: &Drive,
        geometry: &Geometry,
        erase_units: u32,
        open_blocks_per_stream: u32,
        listeners: &mut Listeners,
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
        listeners.refresh = refresh.is_on().then(|| Box::new(refresh));
        listeners.order = said.defragment.then(|| Box::new(Order::new(erase_units)));
        Ok(Some(Box::new(Self {
            idle_after_ns: (said.idle_after_ms * 1e6).round() as u64,
            batch_units: u64::from(batch_units),
            pool_erase_units: pool_erase_units as u32,
            levels_wear: said.wear_leveling,
            level_at_erases: u64::MAX,
        })))
    }

    /// Performs one batch of background operations. The host has sent no request since `idle_since_ns`.
    pub fn run<L: Stored, C: Clock>(
        &mut self,
        media: &mut Media<C>,
        layer: &mut L,
        gc: &mut Gc,
        now_ns: u64,
        idle_since_ns: u64,
    ) -> Done<Idle> {
        if let Some(refresh) = &mut media.listeners.refresh {
            refresh.set_time(now_ns);
        }
        let begins_ns = idle_since_ns.saturating_add(self.idle_after_ns);
        if now_ns < begins_ns {
            return Ok(Idle::NothingBefore(begins_ns));
        }
        if media.read_only.is_some() {
            return Ok(Idle::NothingBefore(u64::MAX));
        }
        media.listeners.idle_work(true);
        let done = self.run_batch(media, layer, gc);
        media.listeners.idle_work(false);
        let next_ns = media.listeners.refresh.as_ref().map_or(u64::MAX, |refresh| refresh.next_due_ns());
        done.map(|decided| if decided { Idle::Decided } else { Idle::NothingBefore(next_ns) })
    }

    fn run_batch<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L, gc: &mut Gc) -> Done<bool> {
        let units = self.batch_units;
        if gc.victim_under_way().is_none() {
            if gc.fold_in_idle(media, layer, units)? {
                return Ok(true);
            }
            let Some((victim, cause)) = self.idle_victim(media, layer, gc) else {
                return put_in_order(media, layer, gc, units);
            };
            gc.start_gc(media, layer, victim, cause)?;
        }
        gc.go_on_with_gc(media, layer, units * u64::from(media.space.layout.slots_per_unit()))?;
        Ok(true)
    }

    /// The next erase unit to collect in idle time, and the cause.
    fn idle_victim<L: Stored, C: Clock>(
        &mut self,
        media: &mut Media<C>,
        layer: &L,
        gc: &mut Gc,
    ) -> Option<(EraseUnit, Cause)> {
        let space = &media.space;
        let refresh = media.listeners.refresh.as_mut();
        if let Some(due) = refresh.and_then(|refresh| refresh.due(|erase_unit| space.is_closed(erase_unit))) {
            return Some((due, Cause::WearLeveling));
        }
        if self.pool_erase_units > 0
            && space.free.len() < media.kept_from_host() + self.pool_erase_units
            && let Some(victim) = victim_with_gain(media, layer)
        {
            return Some((victim, Cause::Gc));
        }
        self.erase_unit_to_level(media, gc).map(|behind| (behind, Cause::WearLeveling))
    }

    fn erase_unit_to_level<C: Clock>(&mut self, media: &Media<C>, gc: &mut Gc) -> Option<EraseUnit> {
        let erases = media.accounts.ledger().erased_erase_units;
        if !self.levels_wear || self.level_at_erases == erases {
            return None;
        }
        for _ in 0..media.space.erase_units().div_ceil(LOOKED_AT) {
            if let Some(behind) = gc.erase_unit_to_level(&media.space) {
                return Some(behind);
            }
        }
        self.level_at_erases = erases;
        None
    }
}

/// Rewrites, in address order, one segment that is stored in another order. False when there is none, or no space.
fn put_in_order<L: Stored, C: Clock>(media: &mut Media<C>, layer: &mut L, gc: &mut Gc, units: u64) -> Done<bool> {
    if media.listeners.order.is_none() {
        return Ok(false);
    }
    if media.space.free.len() <= media.kept_from_host() {
        let Some(victim) = victim_with_gain(media, layer) else { return Ok(false) };
        gc.start_gc(media, layer, victim, Cause::Gc)?;
        gc.go_on_with_gc(media, layer, units)?;
        return Ok(true);
    }
    let Some(mut order) = media.listeners.order.take() else { return Ok(false) };
    let (space, victim) = (&media.space, gc.victim_under_way());
    let found =
        order.next_out_of_order(&space.layout, &media.map, space.array.geometry().units_per_page, |erase_unit| {
            match space.occupancy.state(erase_unit) {
                State::Free | State::Retired => 0,
                State::Open if victim != Some(erase_unit) => space.written_slots(erase_unit),
                State::Open | State::Closed => space.layout.units_per_erase_unit(),
            }
        });
    if found {
        move_in_order(media, layer, order.segment());
    }
    media.listeners.order = Some(order);
    Ok(found)
}

/// Leaves the rest of the segment as it is where an erase unit would have to be opened for it that garbage collection
/// needs: a segment can be longer than a small erase unit, and be dealt out to several streams.
fn move_in_order<L: Stored, C: Clock>(media: &mut Media<C>, layer: &mut L, segment: &[(Lpn, Ppn)]) {
    for &(lpn, from) in segment {
        let erase_unit = media.space.layout.erase_unit_of(from);
        let stream = media.gc_stream(erase_unit);
        let born_at = media.space.filled.born_at[erase_unit.index()];
        media.space.head_for(stream, lpn);
        let must_open = media.space.is_stopped(stream) && !media.go_on(stream);
        if must_open && media.space.free.len() <= media.space.margins.reserve_erase_units {
            return;
        }
        relocate(media, layer, erase_unit, &[(lpn, from)], 1, Destination { stream, born_at, cause: Cause::Gc });
    }
}
