//! A move: live units are copied out of an erase unit, a few at a time, until it can be erased.

use super::layer::Stored;
use super::map::Map;
use super::media::{Destination, Media};
use super::space::Space;
use crate::ledger::Cause;
use crate::timing::Clock;
use crate::units::{EraseUnit, Lpn, Ppn, StreamId};
use serde::{Deserialize, Serialize};

/// Live units gathered at a time: enough to overlap their cache misses, few enough to stay in the innermost cache until
/// they are written.
pub const GATHERED_AT_ONCE: usize = 256;
/// The same for small budgets, so that most gathered units are still live when they are moved.
const GATHERED_IN_STEPS: usize = 64;

/// An erase unit whose live units are being moved.
#[derive(Clone, Serialize, Deserialize)]
pub struct Move {
    pub victim: EraseUnit,
    /// The cause that its programs are counted under.
    pub cause: Cause,
    /// The destination. Folded data instead goes to the stream behind the SLC cache, whose number may change.
    pub stream: StreamId,
    born_at: u64,
    /// Slots of the victim that have been examined.
    slot: u32,
    /// Live units found there, and how many of them have been moved.
    pub gathered: Vec<(Lpn, Ppn)>,
    done: usize,
    /// The victim's live units at first, and the units that its erase frees: their ratio is the pace of throttled
    /// collection.
    pub live_units: u64,
    pub gained_units: u64,
    /// Fractions of a unit still to be moved, in units times `gained_units`.
    debt: u64,
    /// Live units moved so far, counted only for a drive with placement handles and not saved.
    #[serde(skip)]
    pub moved_units: u64,
}

/// Why a move stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The victim has no live unit left, and is to be erased.
    Empty,
    OutOfBudget,
    /// There is no erased unit left for its next unit.
    OutOfRoom,
}

impl Move {
    /// `gained_units` host writes pay for moving the victim's live units.
    pub fn new(
        victim: EraseUnit,
        cause: Cause,
        stream: StreamId,
        born_at: u64,
        (live_units, gained_units): (u64, u64),
        mut list: Vec<(Lpn, Ppn)>,
    ) -> Self {
        list.clear();
        let gained_units = gained_units.max(1);
        Self {
            victim,
            cause,
            stream,
            born_at,
            slot: 0,
            gathered: list,
            done: 0,
            live_units,
            gained_units,
            debt: 0,
            moved_units: 0,
        }
    }

    /// Units to move for one more unit written by the host.
    pub fn owe(&mut self) -> u64 {
        self.take_on(self.live_units)
    }

    /// Adds fractions of a unit to the debt, and returns the whole units in it.
    pub fn take_on(&mut self, parts: u64) -> u64 {
        self.debt += parts;
        let units = self.debt / self.gained_units;
        self.debt %= self.gained_units;
        units
    }

    /// Whether all numbers are valid for this drive; `units` is the number of units in flash.
    pub fn is_within(&self, space: &Space, units: u32) -> bool {
        let is_of_victim = |&(lpn, ppn): &(Lpn, Ppn)| lpn.0 < units && space.layout.erase_unit_of(ppn) == self.victim;
        self.gained_units > 0
            && self.slot <= space.layout.units_per_erase_unit()
            && self.stream.index() < space.frontiers.len()
            && self.done <= self.gathered.len()
            && self.gathered.iter().all(is_of_victim)
    }

    /// Moves live units of the victim, at most `budget` slots, of which the rest is left.
    #[inline(always)]
    pub fn advance<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L, budget: &mut u64) -> Progress {
        // Units gathered in this call cannot have been overwritten since.
        let mut is_fresh = false;
        loop {
            if self.done == self.gathered.len() {
                if self.slot == media.space.layout.units_per_erase_unit() {
                    return Progress::Empty;
                }
                self.gather(&media.map, *budget);
                is_fresh = true;
                continue;
            }
            if *budget == 0 {
                return Progress::OutOfBudget;
            }
            if L::IS_PACKED || media.space.slc_cache.is_some() {
                if let Some(stop) = self.advance_by_one(media, layer, budget) {
                    return stop;
                }
                continue;
            }
            let first = self.done;
            let end = self.gathered.len().min(first.saturating_add(*budget as usize));
            self.done = end;
            let run = &mut self.gathered[first..end];
            let live_units = if is_fresh { run.len() } else { keep_live(&media.map, run) };
            *budget -= live_units as u64;
            self.moved_units += live_units as u64;
            let live = &self.gathered[first..first + live_units];
            relocate(media, layer, self.victim, live, live_units as u32, self.destination(self.stream));
        }
    }

    fn destination(&self, stream: StreamId) -> Destination {
        Destination { stream, born_at: self.born_at, cause: self.cause }
    }

    fn gather(&mut self, map: &Map, budget: u64) {
        self.gathered.clear();
        self.done = 0;
        let most = if budget < GATHERED_AT_ONCE as u64 { GATHERED_IN_STEPS } else { GATHERED_AT_ONCE };
        self.slot = map.gather_live(self.victim, self.slot, most, &mut self.gathered);
    }

    /// The same for one unit: where units have different sizes, or where folding and garbage collection may need each
    /// other's space. None if it was moved.
    fn advance_by_one<L: Stored, C: Clock>(
        &mut self,
        media: &mut Media<C>,
        layer: &mut L,
        budget: &mut u64,
    ) -> Option<Progress> {
        let is_fold = self.cause == Cause::SlcFold;
        let stream = if is_fold { media.space.frontier_past_cache() } else { self.stream };
        let is_without_room = media.space.free.len() == 0 && media.space.slc_cache.is_some();
        if is_without_room && media.space.is_stopped(stream) && !media.go_on(stream) {
            return Some(Progress::OutOfRoom);
        }
        let (lpn, from) = self.gathered[self.done];
        let Some((lpn, slots)) = layer.still_at(&media.map, lpn, from) else {
            self.done += 1;
            return None;
        };
        if *budget < u64::from(slots) {
            // The budget accumulates.
            self.debt += *budget * self.gained_units;
            return Some(Progress::OutOfBudget);
        }
        self.done += 1;
        self.moved_units += 1;
        relocate(media, layer, self.victim, &[(lpn, from)], slots, self.destination(stream));
        *budget -= u64::from(slots);
        None
    }
}

/// Moves the units that are still live since they were gathered to the front of the list.
fn keep_live(map: &Map, gathered: &mut [(Lpn, Ppn)]) -> usize {
    let mut live_units = 0;
    for slot in 0..gathered.len() {
        let (lpn, from) = gathered[slot];
        gathered[live_units] = (lpn, from);
        live_units += usize::from(map.physical(lpn) == from);
    }
    live_units
}

/// Moves all live units among `units` of an erase unit to a stream, in the order of their slots. Updates map, occupancy
/// and counters.
#[inline(always)]
pub fn relocate<L: Stored, C: Clock>(
    media: &mut Media<C>,
    layer: &mut L,
    erase_unit: EraseUnit,
    units: &[(Lpn, Ppn)],
    slots: u32,
    to: Destination,
) {
    let (Some(&(_, first)), Some(&(_, last))) = (units.first(), units.last()) else { return };
    media.listeners.moving(true);
    layer.move_units(media, units, to);
    media.listeners.moving(false);
    media.map.mark_range_stale(first, last);
    media.space.occupancy.lose(erase_unit, slots);
    // Reads of reduced data are counted as they are found.
    let read_units = if L::IS_PACKED { 0 } else { u64::from(slots) };
    media.accounts.moved(to.cause, media.space.stream_of(erase_unit), to.stream, u64::from(slots), read_units);
    layer.relocated(units, to.cause);
}
