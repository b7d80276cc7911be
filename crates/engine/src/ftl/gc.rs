//! Garbage collection: live units are moved out of an erase unit, which is then erased. This is the one path on which
//! space becomes free, and on which the host's writes wait for space.
//!
//! There is one implementation. A `Move` in progress holds its victim, its cause and its progress; `advance` continues
//! it within a budget of units. Reclaiming space immediately is an unbounded budget. Throttled and idle-time
//! collection, wear levelling, refresh, and folding of the SLC cache differ in the size and the time of the budget. At
//! most two moves are in progress: one of garbage collection, and one of folding; each may need the space of the other.
//!
//! On a drive with reclaim groups the turn passes when the host needs space for a placement identifier, and with a clock
//! at every unit that it writes, since garbage collection is paced by the writes of the group.

use super::layer::Stored;
use super::media::{Done, Media};
use super::moving::{GATHERED_AT_ONCE, Move, Progress};
use super::space::Space;
use super::space::slc_cache::HOST;
use crate::error::SpecificationError;
use crate::ledger::Cause;
use crate::policies::gc_throttling::{self, GcThrottling, Pace};
use crate::policies::victim::{Pool, View};
use crate::policies::wear::{LOOKED_AT, WearLeveling};
use crate::random::Random;
use crate::specification::drive::Drive;
use crate::timing::Clock;
use crate::units::{EraseUnit, Lpn, Ppn, StreamId};

/// Selection of victims, and the moves in progress.
pub struct Gc {
    pub wear_leveling: WearLeveling,
    /// Whether wear is levelled in idle time, and not after each victim.
    levels_in_idle: bool,
    gc_throttling: GcThrottling,
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
    /// Folding of an erase unit of the SLC cache.
    pub folding: Option<Move>,
    /// Reused memory for the next folding.
    folding_list: Vec<(Lpn, Ppn)>,
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

impl Gc {
    pub fn new<C: Clock>(drive: &Drive, seed: u64) -> Result<Self, SpecificationError> {
        Ok(Self {
            wear_leveling: WearLeveling::new(&drive.ftl.wear_leveling)?,
            levels_in_idle: C::PACED && drive.background.wear_leveling,
            gc_throttling: GcThrottling::new(&drive.ftl.gc_throttling)?,
            random: Random::new(seed ^ 0x7669_6374),
            leveled_to: 0,
            under_way: None,
            owed: Owed::default(),
            has_backlog: false,
            list: Vec::with_capacity(GATHERED_AT_ONCE + 64),
            waiting: Vec::new(),
            folding: None,
            folding_list: Vec::new(),
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
    fn pass_turn(&mut self, from: u32, to: u32) {
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

    /// Whether it is an erase unit of the SLC cache that is being folded.
    pub fn is_folding(&self, erase_unit: EraseUnit) -> bool {
        self.folding.as_ref().is_some_and(|folding| folding.victim == erase_unit)
    }

    pub fn victim_under_way(&self) -> Option<EraseUnit> {
        self.under_way.as_ref().map(|under_way| under_way.victim)
    }

    /// A victim of the pool on the die; otherwise of another pool on the die; otherwise of any die.
    fn choose<C: Clock>(&mut self, media: &Media<C>, pool: Pool, die: Option<u32>) -> Option<EraseUnit> {
        let space = &media.space;
        let mut choose = |pool, die| {
            let view = View {
                now: media.now(),
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
            let victim = media.victim.choose(&view, pool, &mut self.random)?;
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

/// Moves: each is started, continued within a budget, and ends with an erase.
impl Gc {
    /// Starts moving the live units of a closed erase unit. The drive becomes read-only if there is no space for them.
    fn begin_move<L: Stored, C: Clock>(
        &mut self,
        media: &mut Media<C>,
        layer: &L,
        victim: EraseUnit,
        cause: Cause,
    ) -> Done<Move> {
        let live_units = u64::from(media.space.occupancy.live_units(victim));
        let stream = media.gc_stream(victim);
        check_room_to_move(media, layer, stream, live_units)?;
        media.space.occupancy.start_emptying(victim);
        media.victim.taken(victim, media.space.stream_of(victim));
        // A full victim, which first-in-first-out may choose, frees nothing; it is moved with the next write.
        let gained_units = u64::from(media.space.layout.data_units_per_erase_unit()) - live_units;
        let born_at = media.space.filled.born_at[victim.index()];
        let list = std::mem::take(&mut self.list);
        Ok(Move::new(victim, cause, stream, born_at, (live_units, gained_units), list))
    }

    /// Moves live units of the victim, at most `budget` slots. Returns whether none is left; the victim is then to be
    /// erased.
    #[inline(always)]
    fn advance<L: Stored, C: Clock>(
        &mut self,
        media: &mut Media<C>,
        layer: &mut L,
        under_way: &mut Move,
        mut budget: u64,
    ) -> Done<bool> {
        loop {
            match under_way.advance(media, layer, &mut budget) {
                Progress::Empty => return Ok(true),
                Progress::OutOfBudget => return Ok(false),
                Progress::OutOfRoom => self.finish_the_other(media, layer)?,
            }
        }
    }

    /// Simultaneous garbage collection and folding may have used all erased units: the other move is completed, which
    /// frees some.
    #[cold]
    fn finish_the_other<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L) -> Done {
        self.finish_folding(media, layer)?;
        self.finish_gc(media, layer)?;
        if media.space.free.len() == 0 { Err(media.turn_read_only()) } else { Ok(()) }
    }

    /// Moves all live units of a closed erase unit, and erases it.
    pub fn empty<L: Stored, C: Clock>(
        &mut self,
        media: &mut Media<C>,
        layer: &mut L,
        victim: EraseUnit,
        cause: Cause,
    ) -> Done {
        let mut under_way = self.begin_move(media, layer, victim, cause)?;
        if let Err(reason) = self.advance(media, layer, &mut under_way, u64::MAX) {
            self.under_way = Some(Box::new(under_way));
            return Err(reason);
        }
        self.end_move(media, layer, under_way)
    }

    /// All live units of a victim were moved.
    fn end_move<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L, done: Move) -> Done {
        let host_written_bytes = media.accounts.ledger().host_written_bytes;
        media.listeners.emptied(media.space.stream_of(done.victim), done.moved_units, host_written_bytes);
        self.list = done.gathered;
        layer.erased();
        media.erase(done.victim)
    }

    /// Makes a closed erase unit the current victim; there must be none.
    pub fn start_gc<L: Stored, C: Clock>(
        &mut self,
        media: &mut Media<C>,
        layer: &mut L,
        victim: EraseUnit,
        cause: Cause,
    ) -> Done {
        if media.space.slc_cache.is_some() && media.space.free.len() <= media.space.margins.reserve_erase_units {
            self.finish_folding(media, layer)?;
        }
        self.under_way = Some(Box::new(self.begin_move(media, layer, victim, cause)?));
        Ok(())
    }

    /// Moves at most `budget` live slots of the current victim, and erases it when none is left.
    pub fn go_on_with_gc<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L, budget: u64) -> Done {
        let Some(mut under_way) = self.under_way.take() else { return Ok(()) };
        let is_empty = self.advance(media, layer, &mut under_way, budget);
        if !matches!(is_empty, Ok(true)) {
            self.under_way = Some(under_way);
            return is_empty.map(|_| ());
        }
        self.end_move(media, layer, *under_way)?;
        self.level_wear(media, layer)
    }

    /// Completes the current victim.
    pub fn finish_gc<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L) -> Done {
        self.go_on_with_gc(media, layer, u64::MAX)
    }

    fn level_wear<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L) -> Done {
        if self.levels_in_idle {
            return Ok(());
        }
        match self.erase_unit_to_level(&media.space) {
            Some(behind) => self.empty(media, layer, behind, Cause::WearLeveling),
            None => Ok(()),
        }
    }
}

/// A block whose erase failed is lost: with a small reserve there may be no space to move to.
fn check_room_to_move<L: Stored, C: Clock>(media: &mut Media<C>, layer: &L, stream: StreamId, live_units: u64) -> Done {
    if live_units == 0 || layer.has_room_to_move(&media.space, stream, live_units) {
        return Ok(());
    }
    Err(media.turn_read_only())
}

/// Space for the host's next unit.
impl Gc {
    /// Ensures that the stream's open erase unit has space for a unit. Collects garbage first if opening an erase unit
    /// for the host would leave fewer free erase units than the reserve.
    #[cold]
    #[inline(never)]
    pub fn make_room_for_host<L: Stored, C: Clock>(
        &mut self,
        media: &mut Media<C>,
        layer: &mut L,
        stream: StreamId,
    ) -> Done {
        if let Some(reason) = media.read_only {
            return Err(reason);
        }
        if media.space.open_blocks.is_some() {
            return self.make_room_on_dies(media, layer, stream);
        }
        if media.space.reclaim_groups.is_some() {
            self.turn_to_group_with_room(media, stream);
        }
        loop {
            let has_room = media.go_on(stream);
            if has_room && !self.lacks_reserve(&media.space) {
                return Ok(());
            }
            if !has_room && media.space.slc_cache.is_some() && self.make_room_in_cache(media, layer)? {
                continue;
            }
            self.make_space(media, layer, Some(stream))?;
            // Garbage collection may have opened it, if the host shares the stream, or freed space in the cache.
            let goes_past_cache = media.space.slc_cache.as_ref().is_none_or(|cache| !cache.takes_host());
            if goes_past_cache && media.space.frontier(stream).erase_unit.is_none() {
                media.open(stream);
            }
        }
    }

    /// The same on a drive with an open block on each die.
    fn make_room_on_dies<L: Stored, C: Clock>(
        &mut self,
        media: &mut Media<C>,
        layer: &mut L,
        stream: StreamId,
    ) -> Done {
        loop {
            let has_room = media.go_on(stream);
            if has_room && !self.lacks_reserve(&media.space) {
                return Ok(());
            }
            if has_room || !media.host_may_open() {
                self.make_space(media, layer, Some(stream))?;
            } else if !media.open_on_its_die(stream) {
                media.turn_to_one_with_room(stream);
            }
        }
    }

    /// Whether a lost erase unit has left fewer free erase units than the reserve. Where host and garbage collection
    /// share a stream this is the only check: garbage collection leaves space in the open erase unit, and each loss
    /// would permanently reduce the reserve.
    pub fn lacks_reserve(&self, space: &Space) -> bool {
        space.free.len() < space.margins.reserve_erase_units && self.under_way.is_none()
    }

    /// Collects garbage until the host may open an erase unit, or until its stream has space, where it shares one with
    /// garbage collection.
    fn make_space<L: Stored, C: Clock>(
        &mut self,
        media: &mut Media<C>,
        layer: &mut L,
        stream: Option<StreamId>,
    ) -> Done {
        let mut fruitless = 0;
        while !media.host_may_open() {
            if self.under_way.is_some() {
                self.finish_gc(media, layer)?;
            } else if media.space.slc_cache.is_some() && self.fold_for_space(media, layer, false)? {
                fruitless = 0;
            } else {
                let pool = if fruitless == 0 { media.pool_to_collect() } else { Pool::All };
                let gained = self.collect(media, layer, pool)?;
                fruitless = if gained { 0 } else { fruitless + 1 };
                if fruitless > 2 * media.space.erase_units() {
                    self.collect_least(media, layer)?;
                    fruitless = 0;
                }
            }
            if stream.is_some_and(|stream| media.go_on(stream)) && !self.lacks_reserve(&media.space) {
                break;
            }
        }
        Ok(())
    }

    /// Completes one victim of the pool, or of another if the pool has none. Returns whether space was freed.
    fn collect<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L, pool: Pool) -> Done<bool> {
        let die = media.die_to_collect();
        let Some(victim) = self.choose(media, pool, die) else {
            return Err(media.find_nothing_to_reclaim());
        };
        let has_stale = media.space.occupancy.live_units(victim) < media.space.layout.data_units_per_erase_unit();
        // Packed data needs an index and padding, which can take all that its stale slots gave.
        let room_before = L::IS_PACKED.then(|| media.space.room());
        self.empty(media, layer, victim, Cause::Gc)?;
        let gained = room_before.map_or(has_stale, |before| media.space.room() > before);
        self.level_wear(media, layer)?;
        Ok(gained)
    }

    /// Collects the closed erase unit with the fewest live units, whatever the victim policy: first-in-first-out may
    /// choose several full ones in succession, though at most each of them twice, while a random policy may miss the
    /// few others any number of times.
    fn collect_least<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L) -> Done {
        let Some(victim) = victim_with_gain(media, layer) else { return Err(media.find_nothing_to_reclaim()) };
        self.empty(media, layer, victim, Cause::Gc)?;
        self.level_wear(media, layer)
    }

    /// Throttled collection: called for each unit that the host writes to a stream, which occupies `slots` slots.
    #[inline]
    pub fn pace_gc<L: Stored, C: Clock>(
        &mut self,
        media: &mut Media<C>,
        layer: &mut L,
        stream: StreamId,
        slots: u32,
    ) -> Done {
        if media.space.slc_cache.is_some() {
            self.pace_folding(media, layer)?;
        }
        let mut floor = media.space.margins.floor_erase_units();
        // A victim left by background collection waits as well.
        if media.space.free.len() > floor + media.set_aside_erase_units() {
            return Ok(());
        }
        if media.space.reclaim_groups.is_some() {
            floor = self.turn_to_group_written(&mut media.space, stream);
            if media.space.free.len() > floor {
                return Ok(());
            }
        }
        if self.under_way.is_none() && !self.start_paced_gc(media, layer)? {
            return Ok(());
        }
        let under_way = self.under_way.as_mut().expect("a victim was just chosen");
        let view = gc_throttling::View {
            free_erase_units: media.space.free.len(),
            floor_erase_units: floor,
            live_units: under_way.live_units,
            gained_units: under_way.gained_units,
            written_units: u64::from(slots),
        };
        match self.gc_throttling.pace(&view) {
            Pace::Parts(parts) => {
                let units = under_way.take_on(parts);
                self.move_batch(media, layer, units)?;
            }
            Pace::Whole => self.finish_gc(media, layer)?,
        }
        self.keep_room_for_victim(media, layer)
    }

    /// Adds to the units to be moved, and moves them once they make a batch, from as many victims as needed.
    #[inline]
    fn move_batch<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L, units: u64) -> Done {
        let batch_units = self.gc_throttling.batch_units();
        if batch_units == 1 {
            return self.go_on_with_gc(media, layer, units);
        }
        self.owed.units += units;
        let mut now_units = self.take_owed(batch_units);
        while now_units > 0 && (self.under_way.is_some() || self.start_paced_gc(media, layer)?) {
            let under_way = self.under_way.as_ref().expect("a victim was just chosen");
            let left_units = u64::from(media.space.occupancy.live_units(under_way.victim));
            let moved_units = left_units.min(now_units);
            now_units -= moved_units;
            // An empty victim is erased.
            self.go_on_with_gc(media, layer, if moved_units == left_units { u64::MAX } else { moved_units })?;
        }
        self.owed.units += now_units;
        Ok(())
    }

    /// Chooses a victim for throttled collection. False if there is none, or if an erase unit of the SLC cache is
    /// folded instead.
    fn start_paced_gc<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L) -> Done<bool> {
        if media.space.slc_cache.is_some() && self.fold_for_space(media, layer, true)? {
            return Ok(false);
        }
        let pool = media.pool_to_collect();
        let die = media.die_to_collect();
        if media.space.open_blocks.is_some() && die.is_none() {
            return Ok(false);
        }
        let Some(victim) = self.choose(media, pool, die) else { return Ok(false) };
        self.start_gc(media, layer, victim, Cause::Gc)?;
        Ok(true)
    }

    /// With no erased unit left, the open one must take the rest of the victim. If the host writes to it as well, the
    /// victim is completed before the host has used that space.
    fn keep_room_for_victim<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L) -> Done {
        if media.space.free.len() > 0 {
            return Ok(());
        }
        let Some(under_way) = &self.under_way else { return Ok(()) };
        let live_units = u64::from(media.space.occupancy.live_units(under_way.victim));
        if layer.has_room_to_move(&media.space, under_way.stream, live_units + 1) {
            Ok(())
        } else {
            self.finish_gc(media, layer)
        }
    }
}

/// The closed erase unit with the fewest live units, if collecting it frees space. In idle time there is time for
/// the best choice, whatever the victim policy.
pub fn victim_with_gain<L: Stored, C: Clock>(media: &Media<C>, layer: &L) -> Option<EraseUnit> {
    let data_units = u64::from(media.space.layout.data_units_per_erase_unit());
    let least = match &media.space.reclaim_groups {
        Some(groups) => media.space.occupancy.least_on(groups.in_turn),
        None => media.space.occupancy.least(),
    };
    least.filter(|&least| {
        let live_units = media.space.occupancy.live_units(least);
        // Moved data may be packed less densely than before.
        u64::from(live_units) + layer.overhead_to_move(&media.space, live_units) < data_units
    })
}

/// Turns of reclaim groups.
impl Gc {
    fn turn_to_group(&mut self, space: &mut Space, group: u32) {
        let Some(groups) = &mut space.reclaim_groups else { return };
        let before = groups.in_turn;
        if group != before {
            groups.turn_to(group, &mut space.free);
            self.pass_turn(before, group);
        }
    }

    /// Passes the turn to the group in which the stream's open erase unit has space, or else to that in which its next one
    /// is opened.
    fn turn_to_group_with_room<C: Clock>(&mut self, media: &mut Media<C>, stream: StreamId) {
        if let Some(group) = media.space.group_of_open(stream) {
            self.turn_to_group(&mut media.space, group);
            if media.go_on(stream) {
                return;
            }
        }
        if let Some(groups) = &media.space.reclaim_groups {
            let group = groups.group_for(&media.space.occupancy, stream);
            self.turn_to_group(&mut media.space, group);
        }
    }

    /// Passes the turn to the group that the host has just written to, and returns the number of free erase units below
    /// which its garbage is collected.
    fn turn_to_group_written(&mut self, space: &mut Space, stream: StreamId) -> u32 {
        if let Some(group) = space.group_of_open(stream) {
            self.turn_to_group(space, group);
        }
        let in_hand = space.reclaim_groups.as_ref().map_or(0, |groups| groups.in_hand_erase_units);
        space.margins.reserve_erase_units + in_hand
    }

    /// Keeps room for the victim of each group; on a drive without groups, of the drive.
    pub fn keep_room_for_victims<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L) -> Done {
        let groups = media.space.reclaim_groups.as_ref().map_or(1, |groups| groups.groups());
        for group in 0..groups {
            self.turn_to_group(&mut media.space, group);
            self.keep_room_for_victim(media, layer)?;
        }
        Ok(())
    }
}

/// Folding: live data of a full erase unit of the SLC cache moves to other erase units, in idle time or throttled by the
/// host's writes.
impl Gc {
    /// The host's frontier is full: opens another one in the cache, or lets the host bypass it. False if the host
    /// bypasses the cache already and that frontier is full too.
    fn make_room_in_cache<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L) -> Done<bool> {
        while !media.has_room_in_cache() && erase_dead(media)? {}
        if media.has_room_in_cache() {
            media.space.turn_host(true);
            media.open_in_cache();
            if C::PACED && !media.has_room_in_cache() {
                self.fold_ahead(media, layer)?;
            }
            return Ok(true);
        }
        if folds_when_full(media) && (self.folding.is_some() || has_full(media)) {
            self.fold_one(media, layer)?;
            return Ok(true);
        }
        Ok(media.space.turn_host(false))
    }

    /// With a clock, and where the drive waits for space: starts folding early enough that the next erase unit of the
    /// cache is ready when the one just opened is full.
    fn fold_ahead<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L) -> Done {
        if !folds_when_full(media) || self.folding.is_some() {
            return Ok(());
        }
        let host_units = u64::from(media.space.data_units_in_slc_mode());
        match next_to_fold(media, false) {
            Some(oldest) => self.start_folding(media, layer, oldest, host_units),
            None => Ok(()),
        }
    }

    /// Folds an erase unit of the cache at once, or completes the current folding.
    fn fold_one<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L) -> Done {
        if self.folding.is_none() {
            let Some(oldest) = next_to_fold(media, false) else { return Ok(()) };
            self.start_folding(media, layer, oldest, 1)?;
        }
        self.go_on_folding(media, layer, u64::MAX)
    }

    /// Folds a full one at once, because its block has failed.
    pub fn fold_failed<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L, failed: EraseUnit) -> Done {
        if let Some(cache) = &mut media.space.slc_cache {
            cache.take_failed(failed);
        }
        self.start_folding(media, layer, failed, 1)?;
        self.go_on_folding(media, layer, u64::MAX)
    }

    /// If erased space runs short, folds an erase unit of the cache, which frees more than any victim: returns whether
    /// there was one. If `paced`, spreads it over enough host units that the space is free in time.
    fn fold_for_space<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L, paced: bool) -> Done<bool> {
        if self.folding.is_none() {
            let Some(oldest) = next_to_fold(media, true) else { return Ok(false) };
            let live_units = media.space.occupancy.live_units(oldest);
            let gained_units = media.space.layout.data_units_per_erase_unit() - live_units;
            self.start_folding(media, layer, oldest, u64::from(gained_units))?;
        }
        if !paced {
            self.go_on_folding(media, layer, u64::MAX)?;
        }
        Ok(true)
    }

    /// Folds up to `units` units in idle time. False if nothing in the cache is full, or there is no space to fold to.
    pub fn fold_in_idle<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L, units: u64) -> Done<bool> {
        if self.folding.is_none() {
            if !has_full(media) {
                return Ok(false);
            }
            let has_space = media.host_may_open();
            let Some(oldest) = next_to_fold(media, !has_space) else { return Ok(false) };
            self.start_folding(media, layer, oldest, 1)?;
        }
        self.go_on_folding(media, layer, units)?;
        Ok(true)
    }

    /// Spreads folding over the next `host_units` units written by the host.
    fn start_folding<L: Stored, C: Clock>(
        &mut self,
        media: &mut Media<C>,
        layer: &mut L,
        erase_unit: EraseUnit,
        host_units: u64,
    ) -> Done {
        let live_units = u64::from(media.space.occupancy.live_units(erase_unit));
        let room = self.make_room_to_fold(media, layer, erase_unit, live_units);
        if room.is_err() {
            if let Some(cache) = &mut media.space.slc_cache {
                cache.put_back(erase_unit);
            }
            return room;
        }
        let born_at = media.space.filled.born_at[erase_unit.index()];
        let amounts = (live_units, host_units);
        let list = std::mem::take(&mut self.folding_list);
        self.folding = Some(Move::new(erase_unit, Cause::SlcFold, HOST, born_at, amounts, list));
        Ok(())
    }

    /// Folding a dynamic erase unit frees more than it takes, so it may use the reserve as garbage collection does;
    /// folding a permanent one frees nothing for others.
    fn make_room_to_fold<L: Stored, C: Clock>(
        &mut self,
        media: &mut Media<C>,
        layer: &mut L,
        erase_unit: EraseUnit,
        live_units: u64,
    ) -> Done {
        if u64::from(media.space.slots_left(media.space.frontier_past_cache())) >= live_units {
            return Ok(());
        }
        if media.space.free.len() <= media.space.margins.reserve_erase_units {
            self.finish_gc(media, layer)?;
        }
        if media.space.slc_cache.as_ref().is_some_and(|cache| cache.is_static(erase_unit)) {
            self.make_space(media, layer, None)?;
        }
        let stream = media.space.frontier_past_cache();
        check_room_to_move(media, layer, stream, live_units)
    }

    /// Called for each unit that the host writes.
    #[inline]
    fn pace_folding<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L) -> Done {
        let Some(folding) = &mut self.folding else { return Ok(()) };
        let units = folding.owe();
        self.go_on_folding(media, layer, units)
    }

    fn go_on_folding<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L, budget: u64) -> Done {
        let Some(mut folding) = self.folding.take() else { return Ok(()) };
        let is_empty = self.advance(media, layer, &mut folding, budget);
        if !matches!(is_empty, Ok(true)) {
            self.folding = Some(folding);
            return is_empty.map(|_| ());
        }
        self.folding_list = folding.gathered;
        media.erase(folding.victim)?;
        if media.has_room_in_cache() {
            // Space in the cache is used at once. The frontier past it may be partly written; it waits, and receives
            // folded data.
            media.space.turn_host(true);
        }
        Ok(())
    }

    /// Completes the current folding, if there is one.
    pub fn finish_folding<L: Stored, C: Clock>(&mut self, media: &mut Media<C>, layer: &mut L) -> Done {
        self.go_on_folding(media, layer, u64::MAX)
    }
}

fn folds_when_full<C: Clock>(media: &Media<C>) -> bool {
    media.space.slc_cache.as_ref().is_some_and(|cache| cache.folds_when_full())
}

fn has_full<C: Clock>(media: &Media<C>) -> bool {
    media.space.slc_cache.as_ref().is_some_and(|cache| cache.has_full())
}

fn next_to_fold<C: Clock>(media: &mut Media<C>, only_dynamic: bool) -> Option<EraseUnit> {
    media.space.slc_cache.as_mut()?.take_next(&media.space.occupancy, only_dynamic)
}

/// Erases a full erase unit without live data, which needs no folding. Returns whether there was one.
fn erase_dead<C: Clock>(media: &mut Media<C>) -> Done<bool> {
    let dead = media.space.slc_cache.as_mut().and_then(|cache| cache.take_dead(&media.space.occupancy));
    dead.map_or(Ok(false), |dead| media.erase(dead).map(|()| true))
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
