//! Space management: the state of each erase unit, the erased and the open ones, and their wear.
//!
//! A stream writes at its frontier, the position in its open erase unit. On a drive of single blocks it may have one
//! open on every die (`open_blocks.rs`); its frontier then rotates over the dies. An erase unit in SLC mode has another
//! layout. Addresses are unknown here: `map` knows which unit is in which slot.

mod free_pool;
mod frontier;
mod layout;
mod open_blocks;
mod reclaim_groups;
pub mod slc_cache;

use crate::nand::occupancy::{Occupancy, State};
use crate::nand::{Array, Erased};
use crate::specification::drive::SpareArea;
use crate::units::{EraseUnit, Ppn, StreamId};
pub use free_pool::FreePool;
pub use frontier::Frontier;
pub use layout::Layout;
pub use open_blocks::{OpenBlocks, OpenBlocksState, open_blocks_per_stream};
pub use reclaim_groups::{GroupCounts, ReclaimGroups};
use slc_cache::{HOST, SlcCache};
use std::ops::Range;

/// Erase units that the drive file reserves.
#[derive(Clone, Copy, Debug)]
pub struct Margins {
    /// Erased erase units that only garbage collection may take.
    pub reserve_erase_units: u32,
    /// Erased erase units beyond the reserve below which garbage collection runs; only with a clock. On a drive with
    /// reclaim groups more than there are, so that the group of each write is looked at.
    pub in_hand_erase_units: u32,
    /// The number of erase units that may be open at a time.
    pub open_erase_units: u32,
    /// Not part of T: those of the drive itself and of the SLC cache.
    pub held_out_erase_units: u32,
    /// Without as many the drive becomes read-only.
    pub needed_erase_units: u32,
    pub spare_area: SpareArea,
}

impl Margins {
    /// Free erase units at which garbage collection runs.
    pub fn floor_erase_units(&self) -> u32 {
        self.reserve_erase_units + self.in_hand_erase_units
    }
}

/// By erase unit: by which stream and when it was filled.
pub struct Filled {
    pub streams: Vec<StreamId>,
    /// When the host wrote its contents, on average.
    pub born_at: Vec<u64>,
    pub closed_at: Vec<u64>,
    /// Erase units closed since the drive was new.
    pub closings: u64,
}

/// The wear of erase units, and how many are left. Erases in SLC mode count nowhere here.
pub struct Wear {
    /// By erase unit: the erase count of its most worn block.
    pub erase_counts: Vec<u32>,
    pub erase_count_max: u32,
    pub erase_units_left: u32,
}

pub struct Space {
    pub layout: Layout,
    pub margins: Margins,
    pub array: Array,
    pub occupancy: Occupancy,
    pub free: FreePool,
    /// By stream. With an SLC cache one more, the last.
    pub frontiers: Vec<Frontier>,
    /// Only on a drive whose streams have a block open on every die.
    pub open_blocks: Option<Box<OpenBlocks>>,
    /// Only on a drive with reclaim groups.
    pub reclaim_groups: Option<Box<ReclaimGroups>>,
    /// Only on a drive with an SLC cache.
    pub slc_cache: Option<Box<SlcCache>>,
    pub filled: Filled,
    pub wear: Wear,
}

/// The next step at a frontier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Slots are free.
    Room,
    /// No erase unit is open.
    Shut,
    /// A unit of parity is due; the frontier has advanced past it.
    Parity(Ppn),
    /// The erase unit is full and must be closed.
    Full(EraseUnit),
    /// A program group is full, and the turn passes to another die.
    TurnOver,
}

impl Filled {
    pub fn new(erase_units: u32) -> Self {
        let erase_units = erase_units as usize;
        Self {
            streams: vec![StreamId(0); erase_units],
            born_at: vec![0; erase_units],
            closed_at: vec![0; erase_units],
            closings: 0,
        }
    }
}

impl Wear {
    /// Of `erase_units`, `usable` are not the SLC cache's.
    pub fn new(erase_units: u32, usable: u32) -> Self {
        Self { erase_counts: vec![0; erase_units as usize], erase_count_max: 0, erase_units_left: usable }
    }

    pub fn note(&mut self, erase_unit: EraseUnit, erase_count: u32) {
        self.erase_counts[erase_unit.index()] = erase_count;
        self.erase_count_max = self.erase_count_max.max(erase_count);
    }
}

impl Space {
    /// Including retired ones.
    pub fn erase_units(&self) -> u32 {
        self.filled.streams.len() as u32
    }

    pub fn each_erase_unit(&self) -> impl Iterator<Item = EraseUnit> + use<> {
        (0..self.erase_units()).map(EraseUnit)
    }

    pub fn is_slc(&self, erase_unit: EraseUnit) -> bool {
        self.slc_cache.as_ref().is_some_and(|cache| cache.is_slc[erase_unit.index()])
    }

    /// The layout of an erase unit, which depends on its mode.
    pub fn layout_of(&self, erase_unit: EraseUnit) -> &Layout {
        match &self.slc_cache {
            Some(cache) if cache.is_slc[erase_unit.index()] => &cache.layout,
            _ => &self.layout,
        }
    }

    pub fn data_units_in_slc_mode(&self) -> u32 {
        self.slc_cache.as_ref().map_or(0, |cache| cache.layout.data_units_per_erase_unit())
    }

    pub fn stream_of(&self, erase_unit: EraseUnit) -> StreamId {
        self.filled.streams[erase_unit.index()]
    }

    #[inline(always)]
    pub fn frontier(&mut self, stream: StreamId) -> &mut Frontier {
        &mut self.frontiers[stream.index()]
    }

    #[inline(always)]
    pub fn is_stopped(&self, stream: StreamId) -> bool {
        self.frontiers[stream.index()].is_stopped()
    }

    /// The next step of the stream's frontier. `has_turn_begun` says that its die has just received the turn, so that
    /// the full group before the frontier does not end it.
    pub fn step(&mut self, stream: StreamId, has_turn_begun: bool) -> Step {
        let frontier = &self.frontiers[stream.index()];
        let Some(erase_unit) = frontier.erase_unit else { return Step::Shut };
        if frontier.run_length() > 0 {
            return Step::Room;
        }
        let slots = *self.layout_of(erase_unit);
        let (first, next) = (self.layout.first(erase_unit), frontier.next().0);
        let slot = next - first;
        let end = slots.units_per_erase_unit();
        if slot == end {
            return Step::Full(erase_unit);
        }
        let group_units = self.open_blocks.as_ref().map_or(end, |open_blocks| open_blocks.group_units());
        if !has_turn_begun && slot.is_multiple_of(group_units) && slot > 0 {
            return Step::TurnOver;
        }
        if slots.is_parity(slot) {
            let slots_per_unit = slots.slots_per_unit();
            self.frontier(stream).skip_parity(slots_per_unit);
            return Step::Parity(Ppn(next / slots_per_unit));
        }
        let group_end = (slot / group_units + 1) * group_units;
        self.frontier(stream).run_to(Ppn(first + slots.next_parity(slot).min(group_end)));
        Step::Room
    }

    /// Opens an erased erase unit in position `frontier`, for the data of a stream.
    pub fn open(&mut self, frontier: StreamId, stream: StreamId, erase_unit: EraseUnit, now: u64) {
        self.occupancy.open(erase_unit, self.layout_of(erase_unit).data_units_per_erase_unit());
        self.filled.streams[erase_unit.index()] = stream;
        self.filled.born_at[erase_unit.index()] = now;
        self.frontiers[frontier.index()] = Frontier::open(erase_unit, Ppn(self.layout.first(erase_unit)), now);
    }

    /// The frontier has filled its erase unit. One in SLC mode is excluded from victim selection.
    pub fn close(&mut self, frontier: StreamId, erase_unit: EraseUnit, now: u64) {
        let data_units = self.layout_of(erase_unit).data_units_per_erase_unit();
        self.filled.born_at[erase_unit.index()] = self.frontiers[frontier.index()].born_at(data_units, now);
        self.filled.closed_at[erase_unit.index()] = now;
        self.shut(frontier);
        match &mut self.slc_cache {
            Some(cache) if cache.is_slc[erase_unit.index()] => cache.closed(erase_unit),
            _ => {
                self.occupancy.close(erase_unit);
                self.filled.closings += 1;
            }
        }
    }

    /// The stream has no open erase unit at its frontier any more.
    pub fn shut(&mut self, frontier: StreamId) {
        self.frontiers[frontier.index()] = Frontier::shut();
        if let Some(open_blocks) = &mut self.open_blocks {
            open_blocks.forget_turns(frontier);
        }
    }

    /// A scan found a written erase unit. It is open until its live units are counted.
    pub fn found(&mut self, erase_unit: EraseUnit, stream: StreamId, born_at: u64) {
        self.occupancy.open(erase_unit, self.layout_of(erase_unit).data_units_per_erase_unit());
        self.filled.streams[erase_unit.index()] = stream;
        self.filled.born_at[erase_unit.index()] = born_at;
    }

    /// Closes an erase unit that was found and is not continued.
    pub fn found_full(&mut self, erase_unit: EraseUnit, closed_at: u64) {
        self.occupancy.close(erase_unit);
        self.filled.closed_at[erase_unit.index()] = closed_at;
        self.filled.closings += 1;
    }

    /// The frontier that bypasses the SLC cache, and receives folded data.
    pub fn frontier_past_cache(&self) -> StreamId {
        let waits = self.slc_cache.as_ref().is_some_and(|cache| cache.takes_host());
        if waits { StreamId(self.frontiers.len() as u8 - 1) } else { HOST }
    }

    /// Exchanges the two frontiers of the host, unless the host already uses the requested one. Returns whether it used
    /// the cache.
    pub fn turn_host(&mut self, to_cache: bool) -> bool {
        let last = self.frontiers.len() - 1;
        let was_in_cache = self.slc_cache.as_mut().is_some_and(|cache| cache.take_host(to_cache));
        if was_in_cache != to_cache {
            self.frontiers.swap(HOST.index(), last);
        }
        was_in_cache
    }

    /// Erases an erase unit in SLC mode; unless it is the cache's own, it is free for any use then.
    pub fn erase_in_slc_mode(&mut self, erase_unit: EraseUnit) {
        let is_static = self.slc_cache.as_mut().is_some_and(|cache| cache.erased(erase_unit));
        self.array.erase_in_slc_mode(erase_unit.0);
        self.occupancy.free(erase_unit);
        if !is_static {
            self.free.put(erase_unit, self.wear.erase_counts[erase_unit.index()]);
        }
    }

    /// Erases an erase unit of T, and makes it free if it is still usable.
    pub fn erase(&mut self, erase_unit: EraseUnit) -> Erased {
        let erased = self.array.erase(erase_unit.0);
        let erase_count = self.array.erase_count(erase_unit.0);
        self.wear.note(erase_unit, erase_count);
        match erased {
            Erased::Usable => {
                self.occupancy.free(erase_unit);
                self.free.put(erase_unit, erase_count);
            }
            Erased::Retired => {
                self.occupancy.retire(erase_unit);
                self.wear.erase_units_left -= 1;
                if let Some(groups) = &mut self.reclaim_groups {
                    groups.note_retired(erase_unit);
                }
            }
        }
        erased
    }

    /// Whether so many erase units are left that they can hold all addresses, in each reclaim group its share.
    pub fn has_enough_erase_units(&self) -> bool {
        let has_group_enough = |groups: &ReclaimGroups| groups.usable_min() >= groups.needed_erase_units;
        self.wear.erase_units_left >= self.margins.needed_erase_units
            && self.reclaim_groups.as_deref().is_none_or(has_group_enough)
    }

    /// Erased erase units of all reclaim groups.
    pub fn free_erase_units(&self) -> u32 {
        self.free.len() + self.reclaim_groups.as_ref().map_or(0, |groups| groups.waiting_free())
    }

    /// By reclaim group; empty for a drive without any.
    pub fn group_counts(&self) -> Vec<GroupCounts> {
        let Some(groups) = &self.reclaim_groups else { return Vec::new() };
        let mut unwritten_units = vec![0; groups.groups() as usize];
        for (_, open, _) in self.open_frontiers() {
            unwritten_units[groups.group_of(open) as usize] += u64::from(self.unwritten_data_units(open));
        }
        groups.counts(&self.occupancy, &unwritten_units)
    }

    /// The reclaim group of the stream's open erase unit.
    pub fn group_of_open(&self, stream: StreamId) -> Option<u32> {
        let groups = self.reclaim_groups.as_ref()?;
        self.frontiers[stream.index()].erase_unit.map(|open| groups.group_of(open))
    }

    /// Free data slots in the stream's open erase units.
    pub fn slots_left(&self, stream: StreamId) -> u32 {
        let parked = self.open_blocks.as_ref().map_or(&[][..], |open_blocks| open_blocks.parked_of(stream));
        let open = parked.iter().chain([&self.frontiers[stream.index()]]);
        open.filter_map(|frontier| {
            let first = self.layout.first(frontier.erase_unit?);
            Some(self.layout.data_units_from(frontier.next().0 - first))
        })
        .sum()
    }

    /// Free data slots in all open and erased erase units.
    pub fn room(&self) -> u64 {
        let open: u64 =
            (0..self.frontiers.len()).map(|stream| u64::from(self.slots_left(StreamId(stream as u8)))).sum();
        open + u64::from(self.free.len()) * u64::from(self.layout.data_units_per_erase_unit())
    }

    /// All open erase units, parked or not, each with its stream.
    pub fn open_frontiers(&self) -> impl Iterator<Item = (StreamId, EraseUnit, &Frontier)> {
        let parked = self.open_blocks.as_ref().map_or(&[][..], |open_blocks| open_blocks.parked());
        let dies = self.open_blocks.as_ref().map_or(1, |open_blocks| open_blocks.dies() as usize);
        let parked = parked.iter().enumerate().map(move |(slot, frontier)| (slot / dies, frontier));
        let all = self.frontiers.iter().enumerate().chain(parked);
        all.filter_map(|(stream, frontier)| Some((StreamId(stream as u8), frontier.erase_unit?, frontier)))
    }

    /// The frontier, parked or not, of an open erase unit.
    pub fn frontier_at(&self, open: EraseUnit) -> Option<&Frontier> {
        self.open_frontiers().find(|&(_, erase_unit, _)| erase_unit == open).map(|(_, _, frontier)| frontier)
    }

    /// Written slots of an open erase unit.
    pub fn written_slots(&self, open: EraseUnit) -> u32 {
        self.frontier_at(open).map_or(0, |frontier| frontier.next().0 - self.layout.first(open))
    }

    /// Unwritten data slots of an open erase unit, which count as live.
    pub fn unwritten_data_units(&self, open: EraseUnit) -> u32 {
        self.layout_of(open).data_units_from(self.written_slots(open))
    }

    /// Whether the next slot of the stream's frontier is inside one of the groups of mapping units, but not at its
    /// start.
    pub fn stands_within(&self, stream: StreamId, groups: &[Range<u32>]) -> bool {
        self.is_within(&self.frontiers[stream.index()], groups)
    }

    /// The same for any open erase unit.
    fn is_within(&self, frontier: &Frontier, groups: &[Range<u32>]) -> bool {
        let (next, slots) = (frontier.next().0, self.layout.slots_per_unit());
        let is_within = |group: &Range<u32>| next > group.start * slots && next < group.end * slots;
        frontier.erase_unit.is_some() && groups.iter().any(is_within)
    }

    pub fn is_closed(&self, erase_unit: EraseUnit) -> bool {
        self.occupancy.state(erase_unit) == State::Closed
    }
}

/// Erase units filled by this many data slots.
pub fn data_erase_units(user_slots: u64, layout: &Layout) -> u64 {
    user_slots.div_ceil(u64::from(layout.data_units_per_erase_unit()))
}

/// The least number of erase units with which a drive can collect garbage when every address is live: data, reserve,
/// open erase units.
pub fn erase_units_needed(user_slots: u64, layout: &Layout, margins: &Margins) -> u64 {
    data_erase_units(user_slots, layout) + u64::from(margins.reserve_erase_units) + u64::from(margins.open_erase_units)
}

/// Erase units beyond the reserve below which garbage is collected: one for each open block of a stream, since those
/// may become full at the same time, so that the host's next openings are covered; at most half of the spare erase
/// units, since garbage collection could never reach more.
pub fn in_hand(open_blocks_per_stream: u32, spare_erase_units: u64) -> u32 {
    open_blocks_per_stream.min((spare_erase_units / 2) as u32).max(1)
}
