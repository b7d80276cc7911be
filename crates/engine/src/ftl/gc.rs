//! Garbage collection: live units are moved out of an erase unit, which is then erased.
//!
//! There is one implementation. A `Move` in progress holds its victim, its cause and its progress; `advance` continues
//! it within a budget of units. Reclaiming space immediately is an unbounded budget. Throttled and idle-time
//! collection, wear levelling, refresh, and folding of the SLC cache differ in the size and the time of the budget. At
//! most two moves are in progress: one of garbage collection, and one of folding.

use super::Ftl;
use super::layer::Layer;
use super::space::Space;
use crate::error::{ReadOnly, SpecificationError};
use crate::ledger::Cause;
use crate::nand::Erased;
use crate::policies::gc_throttling::{self, GcThrottling, Pace};
use crate::policies::placement::PoolView;
use crate::policies::victim::{Pool, Victim, View};
use crate::policies::wear::{LOOKED_AT, WearLeveling};
use crate::random::Random;
use crate::specification::drive;
use crate::timing::Clock;
use crate::units::{EraseUnit, Lpn, Ppn, StreamId};
use serde::{Deserialize, Serialize};

/// Live units gathered at a time: enough to overlap their cache misses, few enough to stay in the innermost cache until
/// they are written.
const GATHERED_AT_ONCE: usize = 256;
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
    live_units: u64,
    gained_units: u64,
    /// Fractions of a unit still to be moved, in units times `gained_units`.
    debt: u64,
    /// Live units moved so far, counted only for a drive with placement handles and not saved.
    #[serde(skip)]
    pub moved_units: u64,
}

/// Victim selection, and the move in progress.
pub struct Gc {
    pub victim: Victim,
    pub wear_leveling: WearLeveling,
    pub gc_throttling: GcThrottling,
    /// For victim policies with random choice.
    pub random: Random,
    /// The next erase unit that wear levelling examines.
    pub leveled_to: u32,
    /// In a box, since it is taken out and put back for each write.
    pub under_way: Option<Box<Move>>,
    pub owed: Owed,
    /// Whether the dies have yet to perform most of a piece.
    has_backlog: bool,
    /// Reused memory for the next move.
    list: Vec<(Lpn, Ppn)>,
    /// By reclaim group, while another has its turn; empty for a drive without groups.
    waiting: Vec<Waiting>,
}

/// What garbage collection owes to the host's writes and moves in batches.
#[derive(Clone, Copy, Default)]
pub struct Owed {
    /// Not yet in a batch.
    pub units: u64,
    /// The rest of a batch that is moved in pieces.
    pub batch_units: u64,
}

impl Owed {
    /// How many units are to be moved now: a batch or, in pieces, what the host's writes cost since it began, and a piece
    /// of it if the dies have time.
    #[inline]
    fn take(&mut self, batch_units: u64, piece_units: Option<u64>, has_backlog: bool) -> u64 {
        let Some(piece_units) = piece_units else {
            return if self.units < batch_units { 0 } else { std::mem::take(&mut self.units) };
        };
        if self.batch_units == 0 {
            if self.units < batch_units {
                return 0;
            }
            self.batch_units = std::mem::take(&mut self.units);
        }
        let even_units = if self.units < piece_units { 0 } else { std::mem::take(&mut self.units) };
        let spare_units = if has_backlog { 0 } else { piece_units.min(self.batch_units) };
        self.batch_units -= spare_units;
        even_units + spare_units
    }
}

/// What a reclaim group has begun while another has its turn.
#[derive(Default)]
struct Waiting {
    under_way: Option<Box<Move>>,
    owed: Owed,
    list: Vec<(Lpn, Ppn)>,
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
    fn take_on(&mut self, parts: u64) -> u64 {
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
}

impl Gc {
    pub fn new(settings: &drive::Ftl, erase_units: u32, seed: u64) -> Result<Self, SpecificationError> {
        Ok(Self {
            victim: Victim::new(&settings.victim, erase_units)?,
            wear_leveling: WearLeveling::new(&settings.wear_leveling)?,
            gc_throttling: GcThrottling::new(&settings.gc_throttling)?,
            random: Random::new(seed ^ 0x7669_6374),
            leveled_to: 0,
            under_way: None,
            owed: Owed::default(),
            has_backlog: false,
            list: Vec::with_capacity(GATHERED_AT_ONCE + 64),
            waiting: Vec::new(),
        })
    }

    /// Prepares for this many reclaim groups, of which the first has its turn.
    pub fn wait_in_groups(&mut self, groups: u32) {
        self.waiting.resize_with(groups as usize, Waiting::default);
        for waiting in &mut self.waiting {
            waiting.list.reserve(GATHERED_AT_ONCE + 64);
        }
    }

    /// Exchanges what the group in turn has begun for what another has.
    pub fn pass_turn(&mut self, from: u32, to: u32) {
        for group in [from, to] {
            let waiting = &mut self.waiting[group as usize];
            std::mem::swap(&mut self.under_way, &mut waiting.under_way);
            std::mem::swap(&mut self.owed, &mut waiting.owed);
            std::mem::swap(&mut self.list, &mut waiting.list);
        }
    }

    /// The victims under way in all reclaim groups.
    pub fn victims_under_way(&self) -> impl Iterator<Item = EraseUnit> {
        let waiting = self.waiting.iter().filter_map(|waiting| waiting.under_way.as_ref());
        self.under_way.iter().chain(waiting).map(|under_way| under_way.victim)
    }

    pub fn is_emptying(&self, erase_unit: EraseUnit) -> bool {
        self.victims_under_way().any(|victim| victim == erase_unit)
    }

    /// Whether the dies have yet to perform operations of the drive itself.
    pub fn note_backlog(&mut self, has_backlog: bool) {
        self.has_backlog = has_backlog;
    }

    #[inline]
    fn take_owed(&mut self, batch_units: u64) -> u64 {
        self.owed.take(batch_units, self.gc_throttling.piece_units(), self.has_backlog)
    }

    pub fn victim_under_way(&self) -> Option<EraseUnit> {
        self.under_way.as_ref().map(|under_way| under_way.victim)
    }

    /// A victim of the pool on the die; otherwise of another pool on the die; otherwise of any die.
    fn choose(&mut self, space: &Space, now: u64, pool: Pool, die: Option<u32>) -> Option<EraseUnit> {
        let mut choose = |pool, die| {
            let view = View {
                now,
                erase_units: space.erase_units(),
                data_units_per_erase_unit: space.layout.data_units_per_erase_unit(),
                occupancy: &space.occupancy,
                closed_at: &space.filled.closed_at,
                streams: &space.filled.streams,
                die,
                on_die: match &space.reclaim_groups {
                    Some(groups) => Some(groups.in_group()),
                    None => space.open_blocks.as_ref().and_then(|open_blocks| open_blocks.erase_units_on(die)),
                },
            };
            let victim = self.victim.choose(&view, pool, &mut self.random)?;
            assert!(space.is_closed(victim), "a victim is closed");
            Some(victim)
        };
        let on_die = die.and_then(|_| choose(pool, die).or_else(|| choose(Pool::All, die)));
        if space.reclaim_groups.is_some() {
            return on_die;
        }
        on_die.or_else(|| choose(pool, None)).or_else(|| choose(Pool::All, None))
    }

    /// A closed erase unit whose erase count is too far below the highest one, among the next few in turn.
    pub fn erase_unit_to_level(&mut self, space: &Space) -> Option<EraseUnit> {
        let threshold = self.wear_leveling.threshold()?;
        let erase_units = space.erase_units();
        for _ in 0..LOOKED_AT.min(erase_units) {
            let erase_unit = EraseUnit(self.leveled_to);
            self.leveled_to = (self.leveled_to + 1) % erase_units;
            let behind = space.wear.erase_count_max.saturating_sub(space.wear.erase_counts[erase_unit.index()]);
            if behind > threshold && space.is_closed(erase_unit) {
                return Some(erase_unit);
            }
        }
        None
    }
}

/// Starting and continuing a move.
impl<L: Layer, C: Clock> Ftl<L, C> {
    /// Starts moving the live units of a closed erase unit. The drive becomes read-only if there is no space for them.
    fn begin_move(&mut self, victim: EraseUnit, cause: Cause) -> Result<Move, ReadOnly> {
        let resident = self.resident(victim);
        let live_units = u64::from(self.space.occupancy.live_units(victim));
        let stream = self.placement.gc_stream(resident);
        self.check_room_to_move(stream, live_units)?;
        self.space.occupancy.start_emptying(victim);
        self.gc.victim.taken(victim, resident.stream);
        // A full victim, which first-in-first-out may choose, frees nothing; it is moved with the next write.
        let gained_units = u64::from(self.space.layout.data_units_per_erase_unit()) - live_units;
        let born_at = self.space.filled.born_at[victim.index()];
        let list = std::mem::take(&mut self.gc.list);
        Ok(Move::new(victim, cause, stream, born_at, (live_units, gained_units), list))
    }

    /// Moves live units of the victim, at most `budget` slots. Returns whether none is left; the victim is then to be
    /// erased.
    #[inline(always)]
    pub(super) fn advance(&mut self, under_way: &mut Move, mut budget: u64) -> Result<bool, ReadOnly> {
        // Units gathered in this call cannot have been overwritten since.
        let mut is_fresh = false;
        loop {
            if under_way.done == under_way.gathered.len() {
                if under_way.slot == self.space.layout.units_per_erase_unit() {
                    return Ok(true);
                }
                self.gather(under_way, budget);
                is_fresh = true;
                continue;
            }
            if budget == 0 {
                return Ok(false);
            }
            if L::IS_PACKED || self.slc_cache.is_some() {
                match self.advance_by_one(under_way, budget)? {
                    Some(slots) => budget -= slots,
                    None => return Ok(false),
                }
                continue;
            }
            let first = under_way.done;
            let end = under_way.gathered.len().min(first.saturating_add(budget as usize));
            under_way.done = end;
            let run = &mut under_way.gathered[first..end];
            let live_units = if is_fresh { run.len() } else { self.keep_live(run) };
            budget -= live_units as u64;
            under_way.moved_units += live_units as u64;
            let &mut Move { victim, stream, born_at, cause, .. } = under_way;
            let live = &under_way.gathered[first..first + live_units];
            self.relocate(victim, live, live_units as u32, stream, born_at, cause);
        }
    }

    fn gather(&self, under_way: &mut Move, budget: u64) {
        under_way.gathered.clear();
        under_way.done = 0;
        let most = if budget < GATHERED_AT_ONCE as u64 { GATHERED_IN_STEPS } else { GATHERED_AT_ONCE };
        under_way.slot = self.map.gather_live(under_way.victim, under_way.slot, most, &mut under_way.gathered);
    }

    /// The same for one unit: where units have different sizes, or where folding and garbage collection may need each
    /// other's space. Returns the number of moved slots, or None if the budget is too small for the unit.
    fn advance_by_one(&mut self, under_way: &mut Move, budget: u64) -> Result<Option<u64>, ReadOnly> {
        let is_fold = under_way.cause == Cause::SlcFold;
        let stream = if is_fold { self.frontier_past_cache() } else { under_way.stream };
        if self.space.free.len() == 0 && self.slc_cache.is_some() {
            self.find_room_for(stream)?;
        }
        let (lpn, from) = under_way.gathered[under_way.done];
        let Some((lpn, slots)) = L::still_at(self, lpn, from) else {
            under_way.done += 1;
            return Ok(Some(0));
        };
        if budget < u64::from(slots) {
            // The budget accumulates.
            under_way.debt += budget * under_way.gained_units;
            return Ok(None);
        }
        under_way.done += 1;
        under_way.moved_units += 1;
        self.relocate(under_way.victim, &[(lpn, from)], slots, stream, under_way.born_at, under_way.cause);
        Ok(Some(u64::from(slots)))
    }

    /// Moves the units that are still live since they were gathered to the front of the list.
    fn keep_live(&self, gathered: &mut [(Lpn, Ppn)]) -> usize {
        let mut live_units = 0;
        for slot in 0..gathered.len() {
            let (lpn, from) = gathered[slot];
            gathered[live_units] = (lpn, from);
            live_units += usize::from(self.map.physical(lpn) == from);
        }
        live_units
    }

    /// Moves all live units among `units` of an erase unit to a stream, in the order of their slots. Updates map,
    /// occupancy and counters.
    #[inline(always)]
    pub(super) fn relocate(
        &mut self,
        erase_unit: EraseUnit,
        units: &[(Lpn, Ppn)],
        slots: u32,
        stream: StreamId,
        born_at: u64,
        cause: Cause,
    ) {
        let (Some(&(_, first)), Some(&(_, last))) = (units.first(), units.last()) else { return };
        self.note_moving(true);
        L::move_units(self, units, stream, born_at, cause);
        self.note_moving(false);
        self.map.mark_range_stale(first, last);
        self.space.occupancy.lose(erase_unit, slots);
        // Reads of reduced data are counted as they are found.
        let read_units = if L::IS_PACKED { 0 } else { u64::from(slots) };
        self.accounts.moved(cause, self.space.stream_of(erase_unit), stream, u64::from(slots), read_units);
        self.layer.relocated(units, cause);
    }

    /// A block whose erase failed is lost: with a small reserve there may be no space to move to.
    pub(super) fn check_room_to_move(&mut self, stream: StreamId, live_units: u64) -> Result<(), ReadOnly> {
        if live_units == 0 || L::has_room_to_move(self, stream, live_units) {
            return Ok(());
        }
        Err(self.turn_read_only())
    }

    /// Simultaneous garbage collection and folding may have used all erased units: the other move is completed, which
    /// frees some.
    #[cold]
    fn find_room_for(&mut self, stream: StreamId) -> Result<(), ReadOnly> {
        if self.space.is_stopped(stream) && !self.go_on(stream) {
            self.finish_folding()?;
            self.finish_gc()?;
            if self.space.free.len() == 0 {
                return Err(self.turn_read_only());
            }
        }
        Ok(())
    }

    pub(super) fn erase(&mut self, erase_unit: EraseUnit) -> Result<(), ReadOnly> {
        self.map.mark_all_stale(erase_unit);
        self.layer.erased();
        self.accounts.erased(self.space.stream_of(erase_unit));
        if let Some(background) = &mut self.background {
            background.refresh.erased(erase_unit);
        }
        self.clock.erase(erase_unit);
        if let Some(groups) = &mut self.space.reclaim_groups {
            groups.note_erased(erase_unit);
        }
        if let Some(observed) = &mut self.observed {
            observed.erased(erase_unit);
        }
        if self.space.is_slc(erase_unit) {
            let is_static = self.slc_cache.as_mut().is_some_and(|cache| cache.erased(erase_unit));
            self.space.erase_in_slc_mode(erase_unit, is_static);
            return Ok(());
        }
        match self.space.erase(erase_unit) {
            Erased::Usable => Ok(()),
            Erased::Retired => self.check_spare_blocks(),
        }
    }
}

/// Callers of that implementation.
impl<L: Layer, C: Clock> Ftl<L, C> {
    /// Moves all live units of a closed erase unit, and erases it.
    pub(super) fn empty(&mut self, victim: EraseUnit, cause: Cause) -> Result<(), ReadOnly> {
        let mut under_way = self.begin_move(victim, cause)?;
        if let Err(reason) = self.advance(&mut under_way, u64::MAX) {
            self.gc.under_way = Some(Box::new(under_way));
            return Err(reason);
        }
        self.note_moved(&under_way);
        self.gc.list = under_way.gathered;
        self.erase(victim)
    }

    /// Makes a closed erase unit the current victim; there must be none.
    pub(super) fn start_gc(&mut self, victim: EraseUnit, cause: Cause) -> Result<(), ReadOnly> {
        if self.slc_cache.is_some() && self.space.free.len() <= self.space.margins.reserve_erase_units {
            self.finish_folding()?;
        }
        self.gc.under_way = Some(Box::new(self.begin_move(victim, cause)?));
        Ok(())
    }

    /// Moves at most `budget` live slots of the current victim, and erases it when none is left.
    pub(super) fn go_on_with_gc(&mut self, budget: u64) -> Result<(), ReadOnly> {
        let Some(mut under_way) = self.gc.under_way.take() else { return Ok(()) };
        let is_empty = self.advance(&mut under_way, budget);
        if !matches!(is_empty, Ok(true)) {
            self.gc.under_way = Some(under_way);
            return is_empty.map(|_| ());
        }
        self.note_moved(&under_way);
        self.gc.list = under_way.gathered;
        self.erase(under_way.victim)?;
        self.level_wear()
    }

    /// Completes the current victim.
    pub(super) fn finish_gc(&mut self) -> Result<(), ReadOnly> {
        self.go_on_with_gc(u64::MAX)
    }

    /// Collects garbage until the host may open an erase unit, or until its stream has space, where it shares one with
    /// garbage collection.
    pub(super) fn make_space(&mut self, stream: Option<StreamId>) -> Result<(), ReadOnly> {
        let mut fruitless = 0;
        while !self.host_may_open() {
            if self.gc.under_way.is_some() {
                self.finish_gc()?;
            } else if self.slc_cache.is_some() && self.fold_for_space(false)? {
                fruitless = 0;
            } else {
                let pool = if fruitless == 0 { self.pool_to_collect() } else { Pool::All };
                let gained = self.collect(pool)?;
                fruitless = if gained { 0 } else { fruitless + 1 };
                if fruitless > 2 * self.space.erase_units() {
                    self.collect_least()?;
                    fruitless = 0;
                }
            }
            if stream.is_some_and(|stream| self.go_on(stream)) && !self.lacks_reserve() {
                break;
            }
        }
        Ok(())
    }

    /// Completes one victim of the pool, or of another if the pool has none. Returns whether space was freed.
    fn collect(&mut self, pool: Pool) -> Result<bool, ReadOnly> {
        let (now, die) = (self.now(), self.die_to_collect());
        let Some(victim) = self.gc.choose(&self.space, now, pool, die) else {
            return Err(self.find_nothing_to_reclaim());
        };
        let gained = self.space.occupancy.live_units(victim) < self.space.layout.data_units_per_erase_unit();
        self.empty(victim, Cause::Gc)?;
        self.level_wear()?;
        Ok(gained)
    }

    /// Collects the closed erase unit with the fewest live units, whatever the victim policy: first-in-first-out may
    /// choose several full ones in succession, though at most each of them twice, while a random policy may miss the
    /// few others any number of times.
    fn collect_least(&mut self) -> Result<(), ReadOnly> {
        let Some(victim) = self.victim_with_gain() else { return Err(self.find_nothing_to_reclaim()) };
        self.empty(victim, Cause::Gc)?;
        self.level_wear()
    }

    pub(super) fn level_wear(&mut self) -> Result<(), ReadOnly> {
        if self.background.as_ref().is_some_and(|background| background.levels_wear) {
            return Ok(());
        }
        match self.gc.erase_unit_to_level(&self.space) {
            Some(behind) => self.empty(behind, Cause::WearLeveling),
            None => Ok(()),
        }
    }

    fn pool_to_collect(&mut self) -> Pool {
        if !self.placement.is_pooled() {
            return Pool::All;
        }
        self.accounts.fade(self.map.user_units());
        let data_units_per_erase_unit = self.space.layout.data_units_per_erase_unit();
        self.placement.pool_to_collect(&PoolView { pools: self.accounts.pools(), data_units_per_erase_unit })
    }

    /// The die on which garbage is collected next, where blocks are opened by die. Without a clock, any: most dies then
    /// have no erased block at a time, and always collecting on the first of them would move blocks with few stale
    /// units.
    /// On a drive with reclaim groups, the group in turn.
    fn die_to_collect(&self) -> Option<u32> {
        if let Some(groups) = &self.space.reclaim_groups {
            return Some(groups.in_turn);
        }
        if C::PACED { self.space.die_to_collect() } else { None }
    }

    /// Throttled collection: called for each unit that the host writes to a stream, which occupies `slots` slots.
    #[inline]
    pub(super) fn pace_gc(&mut self, stream: StreamId, slots: u32) -> Result<(), ReadOnly> {
        if self.slc_cache.is_some() {
            self.pace_folding()?;
        }
        let mut floor = self.space.margins.reserve_erase_units + self.space.margins.in_hand_erase_units;
        // A victim left by background collection waits as well.
        if self.space.free.len() > floor + self.set_aside_erase_units() {
            return Ok(());
        }
        if self.space.reclaim_groups.is_some() {
            floor = self.turn_to_group_written(stream);
            if self.space.free.len() > floor {
                return Ok(());
            }
        }
        if self.gc.under_way.is_none() && !self.start_paced_gc()? {
            return Ok(());
        }
        let under_way = self.gc.under_way.as_mut().expect("a victim was just chosen");
        let view = gc_throttling::View {
            free_erase_units: self.space.free.len(),
            floor_erase_units: floor,
            live_units: under_way.live_units,
            gained_units: under_way.gained_units,
            written_units: u64::from(slots),
        };
        match self.gc.gc_throttling.pace(&view) {
            Pace::Parts(parts) => {
                let units = under_way.take_on(parts);
                self.move_batch(units)?;
            }
            Pace::Whole => self.finish_gc()?,
        }
        self.keep_room_for_victim()
    }

    /// Adds to the units to be moved, and moves them once they make a batch, from as many victims as needed.
    #[inline]
    fn move_batch(&mut self, units: u64) -> Result<(), ReadOnly> {
        let batch_units = self.gc.gc_throttling.batch_units();
        if batch_units == 1 {
            return self.go_on_with_gc(units);
        }
        self.gc.owed.units += units;
        let mut now_units = self.gc.take_owed(batch_units);
        while now_units > 0 && (self.gc.under_way.is_some() || self.start_paced_gc()?) {
            let under_way = self.gc.under_way.as_ref().expect("a victim was just chosen");
            let left_units = u64::from(self.space.occupancy.live_units(under_way.victim));
            let moved_units = left_units.min(now_units);
            now_units -= moved_units;
            // An empty victim is erased.
            self.go_on_with_gc(if moved_units == left_units { u64::MAX } else { moved_units })?;
        }
        self.gc.owed.units += now_units;
        Ok(())
    }

    /// Chooses a victim for throttled collection. False if there is none, or if an erase unit of the SLC cache is
    /// folded instead.
    fn start_paced_gc(&mut self) -> Result<bool, ReadOnly> {
        if self.slc_cache.is_some() && self.fold_for_space(true)? {
            return Ok(false);
        }
        let pool = self.pool_to_collect();
        let (now, die) = (self.now(), self.die_to_collect());
        if self.space.open_blocks.is_some() && die.is_none() {
            return Ok(false);
        }
        let Some(victim) = self.gc.choose(&self.space, now, pool, die) else { return Ok(false) };
        self.start_gc(victim, Cause::Gc)?;
        Ok(true)
    }

    /// With no erased unit left, the open one must take the rest of the victim. If the host writes to it as well, the
    /// victim is completed before the host has used that space.
    pub(super) fn keep_room_for_victim(&mut self) -> Result<(), ReadOnly> {
        if self.space.free.len() > 0 {
            return Ok(());
        }
        let Some(under_way) = &self.gc.under_way else { return Ok(()) };
        let live_units = u64::from(self.space.occupancy.live_units(under_way.victim));
        if L::has_room_to_move(self, under_way.stream, live_units + 1) { Ok(()) } else { self.finish_gc() }
    }

    /// The closed erase unit with the fewest live units, if collecting it frees space. In idle time there is time for
    /// the best choice, whatever the victim policy.
    pub(super) fn victim_with_gain(&self) -> Option<EraseUnit> {
        let data_units = u64::from(self.space.layout.data_units_per_erase_unit());
        let least = match &self.space.reclaim_groups {
            Some(groups) => self.space.occupancy.least_on(groups.in_turn),
            None => self.space.occupancy.least(),
        };
        least.filter(|&least| {
            let live_units = self.space.occupancy.live_units(least);
            // Moved data may be packed less densely than before.
            u64::from(live_units) + L::overhead_to_move(self, live_units) < data_units
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_in_pieces_goes_on_while_the_dies_have_time_and_what_writes_cost_is_moved_anyway() {
        let mut owed = Owed { units: 99, batch_units: 0 };
        let mut take = |more_units, has_backlog| {
            owed.units += more_units;
            owed.take(100, Some(40), has_backlog)
        };
        assert_eq!(take(0, false), 0);
        assert_eq!(take(1, true), 0, "begun, and the dies are busy");
        assert_eq!([take(1, false), take(1, true), take(0, false)], [40, 0, 40]);
        assert_eq!([take(37, true), take(1, true)], [0, 40], "what writes cost since it began");
        assert_eq!([take(2, false), take(0, false)], [20, 0], "the rest");
        assert_eq!([take(97, true), take(1, true), take(0, false)], [0, 0, 40], "the next batch, of 100");
    }

    #[test]
    fn a_whole_batch_is_moved_at_once() {
        let mut owed = Owed { units: 99, batch_units: 0 };
        assert_eq!(owed.take(100, None, false), 0);
        owed.units += 5;
        assert_eq!((owed.take(100, None, true), owed.units), (104, 0));
    }
}
