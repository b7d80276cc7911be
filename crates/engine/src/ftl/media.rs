//! The flash as the translation layer writes it: erase units are opened for a stream, filled at its frontier, closed
//! and erased, and map, occupancy and counters follow.
//!
//! What happens at each of these steps happens here, whoever takes it. Whose turn it is, and which erase unit is
//! emptied, is decided above (`gc.rs`); how a unit is stored, in the layer.

use super::accounts::Accounts;
use super::listeners::Listeners;
use super::map::Map;
use super::space::slc_cache::{HOST, LEFT_TO_OTHERS, SlcCache};
use super::space::{Space, Step};
use crate::error::ReadOnly;
use crate::ledger::Cause;
use crate::nand::Erased;
use crate::policies::placement::{Placement, PoolView, Resident};
use crate::policies::victim::{Closing, Pool, Victim};
use crate::request::Request;
use crate::specification::drive::SpareArea;
use crate::timing::Clock;
use crate::units::{EraseUnit, Lpn, Ppn, StreamId};

/// Where data is moved, how old it is and why it is moved.
#[derive(Clone, Copy)]
pub struct Destination {
    pub stream: StreamId,
    pub born_at: u64,
    pub cause: Cause,
}

/// Done, or not, because the host cannot write any more.
pub type Done<T = ()> = Result<T, ReadOnly>;

pub struct Media<C> {
    pub map: Map,
    pub space: Space,
    pub accounts: Accounts,
    pub placement: Placement,
    /// Here because it is told of every erase unit that is closed.
    pub victim: Victim,
    pub listeners: Listeners,
    pub clock: C,
    /// Why the host cannot write any more.
    pub read_only: Option<ReadOnly>,
}

/// Units and their streams.
impl<C: Clock> Media<C> {
    /// Host units written since the drive was new: the clock of placement policies and of ages.
    pub fn now(&self) -> u64 {
        self.accounts.host_units()
    }

    fn resident(&self, erase_unit: EraseUnit) -> Resident {
        let age = self.now().saturating_sub(self.space.filled.born_at[erase_unit.index()]);
        Resident { stream: self.space.stream_of(erase_unit), age }
    }

    /// The old copy that a write to `lpn` invalidates.
    fn overwritten(&self, lpn: Lpn) -> Option<Resident> {
        let old = self.map.physical(lpn);
        (old != Ppn::UNMAPPED).then(|| self.resident(self.space.layout.erase_unit_of(old)))
    }

    /// The stream to which the host's write goes.
    #[inline(always)]
    pub fn host_stream(&self, lpn: Lpn, identifier: u8) -> StreamId {
        self.placement.host_stream(lpn, identifier, || self.overwritten(lpn))
    }

    /// The stream to which the data of an erase unit is moved.
    pub fn gc_stream(&self, erase_unit: EraseUnit) -> StreamId {
        self.placement.gc_stream(self.resident(erase_unit))
    }

    pub fn pool_to_collect(&mut self) -> Pool {
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
    pub fn die_to_collect(&self) -> Option<u32> {
        if let Some(groups) = &self.space.reclaim_groups {
            return Some(groups.in_turn);
        }
        if C::PACED { self.space.die_to_collect() } else { None }
    }

    /// Invalidates a unit of the usual size.
    #[inline(always)]
    pub fn lose(&mut self, ppn: Ppn) {
        let erase_unit = self.space.layout.erase_unit_of(ppn);
        self.map.mark_stale(ppn);
        self.space.occupancy.lose_one(erase_unit);
        self.accounts.lost(|| self.space.stream_of(erase_unit), 1);
    }

    #[inline(always)]
    pub fn prefetch_map(&self, request: &Request) {
        self.map.prefetch_physical(self.map.lpn_of(request.offset_bytes));
    }

    #[inline(always)]
    pub fn prefetch_old(&self, request: &Request) {
        let old = self.map.physical(self.map.lpn_of(request.offset_bytes));
        self.map.prefetch_live(old);
        self.space.occupancy.prefetch(self.space.layout.erase_unit_of(old));
    }

    /// Reads a range for the host, or before it asks.
    pub fn read_units(&mut self, offset_bytes: u64, length_bytes: u32) {
        for lpn in self.map.touched(offset_bytes, length_bytes) {
            let ppn = self.map.physical(lpn);
            // Unwritten addresses read as zeroes, without a flash operation.
            if ppn != Ppn::UNMAPPED {
                let takes_flash = self.clock.read(ppn, Cause::Host);
                self.accounts.read(Cause::Host, u64::from(takes_flash));
                if let Some(refresh) = &mut self.listeners.refresh {
                    refresh.read(ppn.0, takes_flash);
                }
            }
        }
        if let Some(refresh) = &mut self.listeners.refresh {
            refresh.end_request();
        }
    }

    pub fn still_writable(&self) -> Done {
        self.read_only.map_or(Ok(()), Err)
    }
}

/// Space in open erase units.
impl<C: Clock> Media<C> {
    pub fn host_may_open(&self) -> bool {
        self.space.free.len() > self.space.margins.reserve_erase_units + self.set_aside_erase_units()
    }

    /// Free erase units that the host cannot take before garbage collection runs.
    pub fn kept_from_host(&self) -> u32 {
        self.space.margins.floor_erase_units() + self.set_aside_erase_units()
    }

    /// With a static spare area, space for unwritten addresses remains set aside.
    pub fn set_aside_erase_units(&self) -> u32 {
        match self.space.margins.spare_area {
            SpareArea::Dynamic => 0,
            SpareArea::Static => {
                let layout = &self.space.layout;
                let empty_units = u64::from(self.map.user_units()) - self.accounts.mapped_units();
                let empty = empty_units * u64::from(layout.slots_per_unit());
                (empty / u64::from(layout.data_units_per_erase_unit())) as u32
            }
        }
    }

    /// Advances the stream to the next free run of pages: past parity, and to another die when a program group is full.
    /// Returns whether there is space.
    #[inline]
    pub fn go_on(&mut self, stream: StreamId) -> bool {
        self.space.pass_turn(stream, C::PACED) || self.go_on_in_turn(stream, false)
    }

    fn go_on_in_turn(&mut self, stream: StreamId, mut has_turn_begun: bool) -> bool {
        loop {
            match self.space.step(stream, has_turn_begun) {
                Step::Room => return true,
                Step::Shut => return false,
                Step::Parity(unit) => {
                    self.program_parity(unit);
                    has_turn_begun = false;
                    continue;
                }
                Step::Full(erase_unit) => self.close(stream, erase_unit),
                Step::TurnOver => {}
            }
            if self.space.open_blocks.is_none() {
                return false;
            }
            let may_open = self.host_may_open();
            self.space.turn(stream, may_open, C::PACED);
            has_turn_begun = true;
        }
    }

    /// The same within the open erase unit, without a change of the die.
    pub fn go_on_in_block(&mut self, stream: StreamId) -> bool {
        loop {
            match self.space.step(stream, true) {
                Step::Room => return true,
                Step::Shut | Step::TurnOver => return false,
                Step::Parity(unit) => self.program_parity(unit),
                Step::Full(erase_unit) => {
                    self.close(stream, erase_unit);
                    return false;
                }
            }
        }
    }

    fn program_parity(&mut self, unit: Ppn) {
        self.clock.program(unit, Cause::Parity);
        self.accounts.parity(self.space.layout.slots_per_unit());
    }

    /// The stream has filled its erase unit, which becomes a candidate for garbage collection or folding.
    fn close(&mut self, frontier: StreamId, erase_unit: EraseUnit) {
        let now = self.now();
        self.space.close(frontier, erase_unit, now);
        if !self.space.is_slc(erase_unit) {
            self.listeners.closed(erase_unit);
            self.note_closing(erase_unit, self.space.stream_of(erase_unit), now);
        }
    }

    /// An erase unit became a candidate for garbage collection.
    pub fn note_closing(&mut self, erase_unit: EraseUnit, stream: StreamId, now: u64) {
        let (number, occupancy) = (self.space.filled.closings, &self.space.occupancy);
        self.victim.closed(&Closing { erase_unit, stream, number, now, occupancy });
    }

    /// Opens an erased erase unit for a stream; on a drive with an open block on each die, on the die whose turn it is,
    /// or the next with space.
    pub fn open(&mut self, frontier: StreamId) {
        const KEPT: &str = "the reserve keeps an erase unit free for garbage collection";
        if self.space.open_blocks.is_some() {
            if !self.open_on_its_die(frontier) {
                assert!(self.turn_to_one_with_room(frontier), "{KEPT}");
                if self.space.frontier(frontier).erase_unit.is_none() {
                    self.open_on_its_die(frontier);
                }
            }
            return;
        }
        let erase_unit = self.space.free.take().expect(KEPT);
        let stream = match &mut self.space.reclaim_groups {
            // Its data belongs to the same handle in the group in turn.
            Some(groups) => {
                groups.note_opened(frontier);
                groups.in_turn_for(frontier)
            }
            // The stream after those of the placement policy belongs to the SLC cache, and takes host data.
            None if frontier.index() < usize::from(self.placement.streams()) => frontier,
            None => HOST,
        };
        self.open_as(frontier, stream, erase_unit);
    }

    /// Opens an erased block on the die whose turn it is. False if it has none.
    pub fn open_on_its_die(&mut self, stream: StreamId) -> bool {
        let die = self.space.open_blocks.as_ref().expect("there are open_blocks").active(stream);
        let Some(erase_unit) = self.space.free.take_on(die) else { return false };
        self.open_as(stream, stream, erase_unit);
        true
    }

    /// Passes the turn to the next die with an open or an erased block. Returns whether there is one.
    pub fn turn_to_one_with_room(&mut self, stream: StreamId) -> bool {
        let has_turned = self.space.turn_to_one_with_room(stream);
        if has_turned {
            // A new turn, even if the previous group was full.
            self.go_on_in_turn(stream, true);
        }
        has_turned
    }

    /// Opens an erased erase unit in place `frontier`, for the data of `stream`.
    fn open_as(&mut self, frontier: StreamId, stream: StreamId, erase_unit: EraseUnit) {
        let now = self.now();
        if self.space.slc_cache.is_some() {
            self.clock.open(erase_unit, self.space.is_slc(erase_unit));
        }
        self.space.open(frontier, stream, erase_unit, now);
        self.map.opened(erase_unit, self.space.layout_of(erase_unit));
        self.accounts.opened(stream);
        self.listeners.opened(frontier, erase_unit, self.accounts.ledger().host_written_bytes);
    }

    /// Reads units and programs them into the stream's open erase unit; updates the map, and opens erase units as
    /// needed.
    #[inline(always)]
    pub fn copy_units(&mut self, mut units: &[(Lpn, Ppn)], to: Destination) {
        let Destination { stream, born_at, cause } = to;
        loop {
            units = &units[self.deal_out(units, to)..];
            if units.is_empty() {
                return;
            }
            self.space.head_for(stream, units[0].0);
            if self.space.is_stopped(stream) && !self.go_on(stream) {
                self.open(stream);
                continue;
            }
            let frontier = &mut self.space.frontiers[stream.index()];
            let (now, later) = units.split_at(units.len().min(frontier.run_length() as usize));
            let first = frontier.take_many(now.len() as u32);
            self.map.link_run(now, first);
            self.clock.copy(now.iter().zip(first.0..).map(|(&(_, from), to)| (from, Ppn(to))), cause);
            frontier.note_moved(now.len() as u64, born_at);
            self.observe_move(now, stream);
            units = later;
        }
    }

    /// The same for as many of the first units as the dies take in turn without a decision. Returns their number.
    #[inline(always)]
    fn deal_out(&mut self, units: &[(Lpn, Ppn)], to: Destination) -> usize {
        // The observer is notified of each destination erase unit.
        if self.listeners.observed.is_some() {
            return 0;
        }
        let Some(mut turns) = self.space.deal_out(to.stream, units.len(), to.born_at) else { return 0 };
        let dealt = turns.count();
        let copies = units[..dealt].iter().map(|&(lpn, from)| {
            let slot = turns.take();
            self.map.link(lpn, slot);
            (from, slot)
        });
        self.clock.copy(copies, to.cause);
        dealt
    }

    /// All units come from one erase unit.
    #[inline(always)]
    pub fn observe_move(&mut self, moved: &[(Lpn, Ppn)], stream: StreamId) {
        let (Some(observed), [(_, from), ..]) = (&mut self.listeners.observed, moved) else { return };
        if let Some(to) = self.space.frontiers[stream.index()].erase_unit {
            observed.moved(self.space.layout.erase_unit_of(*from), to, moved.len() as u32);
        }
    }
}

/// Erases, and the end of a drive's life.
impl<C: Clock> Media<C> {
    pub fn erase(&mut self, erase_unit: EraseUnit) -> Done {
        self.map.mark_all_stale(erase_unit);
        self.accounts.erased(self.space.stream_of(erase_unit));
        self.clock.erase(erase_unit);
        if let Some(groups) = &mut self.space.reclaim_groups {
            groups.note_erased(erase_unit);
        }
        self.listeners.erased(erase_unit);
        if self.space.is_slc(erase_unit) {
            self.space.erase_in_slc_mode(erase_unit);
            return Ok(());
        }
        match self.space.erase(erase_unit) {
            Erased::Usable => Ok(()),
            Erased::Retired => self.check_spare_blocks(),
        }
    }

    /// A drive that can no longer guarantee space for all of its addresses becomes read-only before it runs out of
    /// space.
    pub fn check_spare_blocks(&mut self) -> Done {
        if self.space.has_enough_erase_units() { Ok(()) } else { Err(self.turn_read_only()) }
    }

    pub fn turn_read_only(&mut self) -> ReadOnly {
        let reason = ReadOnly::OutOfSpareBlocks {
            erase_units_left: self.space.wear.erase_units_left,
            erase_units_needed: self.space.margins.needed_erase_units,
        };
        self.read_only = Some(reason);
        reason
    }

    pub fn find_nothing_to_reclaim(&mut self) -> ReadOnly {
        self.read_only = Some(ReadOnly::NothingToReclaim);
        ReadOnly::NothingToReclaim
    }
}

/// The host's frontiers on a drive with an SLC cache: one in the cache, and one past it.
impl<C: Clock> Media<C> {
    fn may_open_dynamic(&self, cache: &SlcCache) -> bool {
        let empty_units = f64::from(self.map.user_units()) - self.accounts.mapped_units() as f64;
        let in_hand = if C::PACED { self.space.margins.in_hand_erase_units } else { 0 };
        let kept = self.space.margins.reserve_erase_units + self.set_aside_erase_units() + in_hand;
        cache.may_grow(empty_units) && self.space.free.len() > kept + LEFT_TO_OTHERS
    }

    pub fn has_room_in_cache(&self) -> bool {
        self.space.slc_cache.as_ref().is_some_and(|cache| cache.static_free() > 0 || self.may_open_dynamic(cache))
    }

    pub fn open_in_cache(&mut self) {
        let cache = self.space.slc_cache.as_mut().expect("there is a cache");
        let own = cache.take_free();
        let erase_unit = own.unwrap_or_else(|| self.space.free.take().expect("there is room for the cache"));
        cache.is_slc[erase_unit.index()] = true;
        self.open_as(HOST, HOST, erase_unit);
    }
}
