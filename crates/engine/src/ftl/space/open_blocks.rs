//! An open block on every die for each stream, for drives whose erase units are single blocks.
//!
//! The block that a stream writes to now is its frontier, as on any drive; its open blocks on the other dies are parked
//! here. When a program group is full, the policy chooses the die of the next group, and the two blocks are exchanged.
//! Writing a unit thus costs the same as on other drives, and a full group a little more.
//!
//! Erased blocks are pooled by die; a die without any is skipped. With a clock garbage collection takes victims on the
//! die with the fewest erased blocks, which would otherwise be idle, and keeps as many blocks erased as there are dies,
//! as far as the spare area allows. Without a clock it takes the best victim anywhere: a skipped die accumulates stale
//! units and is chosen soon.

use super::{Frontier, Layout, Space};
use crate::divisor::Divisor;
use crate::error::SpecificationError;
use crate::nand::Geometry;
use crate::policies::die_choice::{DieChoice, View};
use crate::random::Random;
use crate::specification::drive::{Drive, EraseUnitKind};
use crate::units::{EraseUnit, Lpn, Ppn, StreamId};
use serde::{Deserialize, Serialize};
use std::ops::Range;

pub struct OpenBlocks {
    dies: u32,
    /// Units after which the turn may pass: those of a program group, or 1 with a policy that goes by addresses.
    group_units: Divisor,
    program_units: Divisor,
    chooser: Chooser,
    /// Whether the next die with space takes the next group.
    takes_turns: bool,
    goes_by_address: bool,
    has_parity: bool,
    /// By stream: the die of the next unit's address; only with a policy that goes by addresses.
    homes: Vec<u32>,
    /// By stream: the die of its frontier, or on which the next is opened.
    active: Vec<u32>,
    /// By stream: how many more times its turn can pass to the next die before a block is full or missing; 0 if that is
    /// not known.
    turns: Vec<u32>,
    /// By stream: whether it is known to have an open block with free slots on every die.
    is_open_everywhere: Vec<bool>,
    /// By stream and die: the open block, unless it is the frontier.
    parked: Vec<Frontier>,
    /// By die: its erase units.
    erase_units: Vec<Vec<EraseUnit>>,
}

/// Chooses the die of each group.
struct Chooser {
    policy: DieChoice,
    /// For policies with random choice.
    random: Random,
    /// By die: when its queued work ends, as last reported, plus what was queued since.
    free_at_ns: Vec<u64>,
    group_ns: u64,
}

impl Chooser {
    /// The die after `last`, for a group whose address belongs to the die `home`.
    #[inline(always)]
    fn choose(&mut self, last: u32, home: u32, is_timed: bool, has_room: impl Fn(u32) -> bool) -> u32 {
        let dies = self.free_at_ns.len() as u32;
        let view = View { last, home, dies, has_room, free_at_ns: &self.free_at_ns };
        let die = self.policy.choose(&view, &mut self.random);
        if is_timed {
            self.free_at_ns[die as usize] += self.group_ns;
        }
        die
    }
}

/// The open blocks in a saved state.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct OpenBlocksState {
    active: Vec<u32>,
    parked: Vec<Frontier>,
    random: Option<Random>,
}

impl OpenBlocksState {
    pub fn parked(&self) -> &[Frontier] {
        &self.parked
    }
}

/// The number of open blocks of a stream: the number of dies, or 1; checks `ftl.die_choice`.
pub fn open_blocks_per_stream(drive: &Drive, geometry: &Geometry) -> Result<u32, SpecificationError> {
    let choice = &drive.ftl.die_choice;
    let policy = DieChoice::new(choice)?;
    if drive.ftl.erase_unit == EraseUnitKind::Superblock {
        if choice.name == "round-robin" {
            return Ok(1);
        }
        let allowed = "round-robin with ftl.erase_unit = \"superblock\", whose stripe says which die is next";
        return Err(SpecificationError::new("ftl.die_choice", format!("{:?}", choice.name), allowed));
    }
    if geometry.dies() == 1 || policy.keeps_one_block() {
        return Ok(1);
    }
    let one_frontier = [(drive.slc_cache.is_on(), "an SLC cache"), (drive.data_reduction.is_on(), "data reduction")];
    if let Some((_, with)) = one_frontier.into_iter().find(|&(is_on, _)| is_on) {
        let allowed = format!("one-block for a drive of single blocks on several dies with {with}");
        return Err(SpecificationError::new("ftl.die_choice", format!("{:?}", choice.name), allowed));
    }
    Ok(geometry.dies())
}

impl OpenBlocks {
    /// `die_of` lists the die of each erase unit.
    pub fn new(drive: &Drive, geometry: &Geometry, streams: u8, die_of: &[u16], seed: u64) -> Box<Self> {
        let dies = geometry.dies();
        let program_units = geometry.units_per_page * drive.nand.pages_per_program;
        let transfer_us = f64::from(program_units * geometry.mapping_unit_bytes) / drive.nand.channel_mb_s;
        let policy = DieChoice::new(&drive.ftl.die_choice).expect("it was checked");
        let mut erase_units = vec![Vec::new(); dies as usize];
        for (erase_unit, &die) in (0..).map(EraseUnit).zip(die_of) {
            erase_units[usize::from(die)].push(erase_unit);
        }
        Box::new(Self {
            dies,
            group_units: Divisor::new(if policy.goes_by_address() { 1 } else { program_units }),
            program_units: Divisor::new(program_units),
            goes_by_address: policy.goes_by_address(),
            homes: vec![0; usize::from(streams)],
            takes_turns: policy.takes_turns(),
            has_parity: drive.parity.units_per_stripe > 0,
            chooser: Chooser {
                policy,
                random: Random::new(seed ^ 0x6469_6573),
                free_at_ns: vec![0; dies as usize],
                group_ns: ((drive.nand.program_us_mean() + transfer_us) * 1000.0).round().max(1.0) as u64,
            },
            // So that the first group goes to the first die.
            active: vec![0; usize::from(streams)],
            turns: vec![0; usize::from(streams)],
            is_open_everywhere: vec![false; usize::from(streams)],
            parked: vec![Frontier::shut(); usize::from(streams) * dies as usize],
            erase_units,
        })
    }

    /// The die whose turn it is for the stream.
    pub fn active(&self, stream: StreamId) -> u32 {
        self.active[stream.index()]
    }

    /// The erase units of a die, in order.
    pub fn erase_units_on(&self, die: Option<u32>) -> Option<&[EraseUnit]> {
        die.map(|die| &self.erase_units[die as usize][..])
    }

    pub fn dies(&self) -> u32 {
        self.dies
    }

    /// Units after which the turn may pass to another die.
    pub fn group_units(&self) -> u32 {
        self.group_units.get()
    }

    /// All parked open blocks, by stream and die.
    pub fn parked(&self) -> &[Frontier] {
        &self.parked
    }

    pub fn parked_of(&self, stream: StreamId) -> &[Frontier] {
        &self.parked[self.slots_of(stream)]
    }

    pub fn uses_load(&self) -> bool {
        self.chooser.policy.uses_load()
    }

    /// The times at which the queued work of each die ends, to be updated.
    pub fn free_at_ns(&mut self) -> &mut [u64] {
        &mut self.chooser.free_at_ns
    }

    pub fn state(&self) -> OpenBlocksState {
        let random = Some(self.chooser.random.clone());
        OpenBlocksState { active: self.active.clone(), parked: self.parked.clone(), random }
    }

    /// Restores what `state` returned; `larger` converts an open block to one of this drive, if possible. The error
    /// says what does not fit.
    pub fn restore(
        &mut self,
        state: &OpenBlocksState,
        larger: impl Fn(&Frontier) -> Option<Frontier>,
    ) -> Result<(), String> {
        let parked: Option<Vec<Frontier>> = state.parked.iter().map(larger).collect();
        let parked = parked.filter(|parked| parked.len() == self.parked.len());
        let fits = state.active.len() == self.active.len();
        let Some(parked) = parked.filter(|_| fits) else {
            return Err("its open blocks are not those of such a drive".into());
        };
        if state.active.iter().any(|&die| die >= self.dies) {
            return Err("its open blocks are not those of such a drive".into());
        }
        self.active.clone_from(&state.active);
        self.turns.fill(0);
        self.is_open_everywhere.fill(false);
        self.parked = parked;
        if let Some(random) = &state.random {
            self.chooser.random = random.clone();
        }
        Ok(())
    }

    fn slot_of(&self, stream: StreamId, die: u32) -> usize {
        stream.index() * self.dies as usize + die as usize
    }

    /// The blocks of a stream on all dies.
    fn slots_of(&self, stream: StreamId) -> Range<usize> {
        self.slot_of(stream, 0)..self.slot_of(stream, self.dies)
    }

    /// The parked block of a stream on the die of `erase_unit`, for restoring after a scan.
    pub fn parked_open_block(&mut self, stream: StreamId, erase_unit: EraseUnit) -> &mut Frontier {
        let holds = |units: &Vec<EraseUnit>| units.binary_search(&erase_unit).is_ok();
        let die = self.erase_units.iter().position(holds).expect("every erase unit lies on a die");
        let slot = self.slot_of(stream, die as u32);
        self.forget_turns(stream);
        &mut self.parked[slot]
    }

    /// The stream's open blocks change otherwise than by `pass_turn` and `deal_out`.
    pub fn forget_turns(&mut self, stream: StreamId) {
        self.turns[stream.index()] = 0;
        self.is_open_everywhere[stream.index()] = false;
    }

    /// The stream's frontier is parked, and its open block on another die becomes the frontier.
    #[inline(always)]
    fn exchange(&mut self, stream: StreamId, die: u32, frontier: &mut Frontier) {
        let last = std::mem::replace(&mut self.active[stream.index()], die);
        let of_stream = self.slots_of(stream);
        let parked = &mut self.parked[of_stream];
        parked[last as usize] = std::mem::replace(frontier, parked[die as usize]);
        parked[die as usize] = Frontier::shut();
    }

    #[inline(always)]
    fn die_after(&self, die: u32) -> u32 {
        if die + 1 == self.dies { 0 } else { die + 1 }
    }

    /// How many times the turn can pass to the next die from a frontier between two groups: until the group is dealt that
    /// fills a block, or until a die has no open block.
    #[inline(never)]
    fn turns_from(&self, stream: StreamId, frontier: &Frontier, layout: &Layout) -> u32 {
        let units = layout.units_per_erase_unit();
        // Only if its position is between two groups.
        let groups_left = |frontier: &Frontier| {
            let slot = frontier.next().0 - layout.first(frontier.erase_unit?);
            let is_between = frontier.is_stopped() && self.group_units.remainder(slot) == 0;
            is_between.then(|| self.group_units.quotient(units - slot))
        };
        // A newly opened block is written before the turn ends.
        let groups = self.group_units.quotient(units);
        let own_left = groups_left(frontier).unwrap_or(0);
        if own_left == 0 || own_left == groups {
            return 0;
        }
        let last = self.active[stream.index()];
        let turns = |(die, parked): (u32, &Frontier)| {
            let left = if die == last { own_left } else { groups_left(parked).unwrap_or(0) };
            let until_turn = if die > last { die - last } else { die + self.dies - last };
            // A die whose block is full continues in another.
            (until_turn + left * self.dies) - if left == 0 { 1 } else { self.dies }
        };
        (0..).zip(self.parked_of(stream)).map(turns).min().unwrap_or(0)
    }
}

/// A number of slots of the dies in turn.
pub struct Turns<'a> {
    parked: &'a mut [Frontier],
    /// Also parked until the last slot is taken.
    frontier: &'a mut Frontier,
    active: &'a mut u32,
    die: usize,
    count: usize,
    born_at: u64,
}

impl Turns<'_> {
    pub fn count(&self) -> usize {
        self.count
    }

    /// Takes the next slot; at most `count` times.
    #[inline(always)]
    pub fn take(&mut self) -> Ppn {
        self.die = if self.die + 1 == self.parked.len() { 0 } else { self.die + 1 };
        self.parked[self.die].take_moved(self.born_at)
    }
}

impl Drop for Turns<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        *self.frontier = std::mem::replace(&mut self.parked[self.die], Frontier::shut());
        *self.active = self.die as u32;
    }
}

impl Space {
    /// All open blocks were parked: each stream continues with the one on the die whose turn it is.
    pub fn resume_turns(&mut self) {
        let Some(open_blocks) = &mut self.open_blocks else { return };
        open_blocks.turns.fill(0);
        open_blocks.is_open_everywhere.fill(false);
        for (stream, frontier) in self.frontiers.iter_mut().enumerate() {
            let slot = open_blocks.slot_of(StreamId(stream as u8), open_blocks.active[stream]);
            *frontier = std::mem::replace(&mut open_blocks.parked[slot], Frontier::shut());
        }
    }

    /// Makes a parked open erase unit its stream's frontier. Returns the stream.
    pub fn bring_to_front(&mut self, open: EraseUnit) -> Option<StreamId> {
        let is_it = |frontier: &Frontier| frontier.erase_unit == Some(open);
        if let Some(open_blocks) = &mut self.open_blocks
            && let Some(slot) = open_blocks.parked.iter().position(is_it)
        {
            let (stream, die) = (slot / open_blocks.dies as usize, slot as u32 % open_blocks.dies);
            open_blocks.forget_turns(StreamId(stream as u8));
            let left = std::mem::replace(&mut open_blocks.active[stream], die);
            let front = std::mem::replace(&mut self.frontiers[stream], open_blocks.parked[slot]);
            open_blocks.parked[slot] = Frontier::shut();
            let slot = stream * open_blocks.dies as usize + left as usize;
            open_blocks.parked[slot] = front;
        }
        self.frontiers.iter().position(is_it).map(|stream| StreamId(stream as u8))
    }

    /// The stream's next unit is that of `lpn`, by which a policy may choose its die.
    #[inline(always)]
    pub fn head_for(&mut self, stream: StreamId, lpn: Lpn) {
        if let Some(open_blocks) = &mut self.open_blocks
            && open_blocks.goes_by_address
        {
            let home = open_blocks.program_units.quotient(lpn.0) % open_blocks.dies;
            open_blocks.homes[stream.index()] = home;
            if open_blocks.active[stream.index()] != home {
                self.frontiers[stream.index()].stop();
            }
        }
    }

    /// Brings an open block whose position is inside one of the groups to the stream's frontier, where the next unit
    /// goes. A parked one may be inside a group too: its turn was interrupted when another was brought to the front, or
    /// the policy goes by addresses. False if there is none.
    pub fn go_within(&mut self, stream: StreamId, groups: &[Range<u32>]) -> bool {
        if !self.stands_within(stream, groups) {
            let Some(open_blocks) = &self.open_blocks else { return false };
            let parked = open_blocks.parked_of(stream).iter().find(|frontier| self.is_within(frontier, groups));
            let open = parked.and_then(|frontier| frontier.erase_unit);
            if open.is_none_or(|erase_unit| self.bring_to_front(erase_unit).is_none()) {
                return false;
            }
        }
        if let Some(open_blocks) = &mut self.open_blocks {
            open_blocks.homes[stream.index()] = open_blocks.active[stream.index()];
        }
        true
    }

    /// Parks the stream's frontier and passes the turn to the die that the policy chooses. `may_open` says whether an
    /// erased block may be opened for it; `is_timed` whether the queued work of each die is known to the policy.
    pub fn turn(&mut self, stream: StreamId, may_open: bool, is_timed: bool) {
        let open_blocks = self.open_blocks.as_mut().expect("there are open_blocks");
        open_blocks.turns[stream.index()] = 0;
        let last = open_blocks.active[stream.index()];
        let of_stream = open_blocks.slots_of(stream);
        let parked = &mut open_blocks.parked[of_stream];
        let frontier = &mut self.frontiers[stream.index()];
        parked[last as usize] = *frontier;
        // Padding may have filled a block whose turn was over.
        let has_slots =
            |open: EraseUnit, next: Ppn| next.0 < self.layout.first(open) + self.layout.units_per_erase_unit();
        open_blocks.is_open_everywhere[stream.index()] =
            parked.iter().all(|parked| parked.erase_unit.is_some_and(|open| has_slots(open, parked.next())));
        let free = &self.free;
        let has_room = |die: u32| parked[die as usize].erase_unit.is_some() || (may_open && free.len_on(die) > 0);
        // If none has, the host collects garbage wherever that frees space, and tries again.
        let none_has_room = !(0..open_blocks.dies).any(has_room);
        let may_take = |die| none_has_room || has_room(die);
        let die = open_blocks.chooser.choose(last, open_blocks.homes[stream.index()], is_timed, may_take);
        assert!(may_take(die), "a die is chosen that has room");
        open_blocks.active[stream.index()] = die;
        *frontier = std::mem::replace(&mut parked[die as usize], Frontier::shut());
    }

    /// How many times the stream's turn can pass to the next die without a decision. 0 in the middle of a group.
    #[inline(always)]
    fn turns(&mut self, stream: StreamId) -> u32 {
        let frontier = &self.frontiers[stream.index()];
        let Some(open_blocks) = self.open_blocks.as_mut() else { return 0 };
        if !open_blocks.takes_turns || open_blocks.has_parity || !frontier.is_stopped() {
            return 0;
        }
        if open_blocks.turns[stream.index()] == 0 {
            open_blocks.turns[stream.index()] = open_blocks.turns_from(stream, frontier, &self.layout);
        }
        open_blocks.turns[stream.index()]
    }

    /// Passes the turn where no block must be closed or opened: the group is full, and its block is not. Otherwise
    /// changes nothing and returns false. `is_timed` as in `turn`.
    #[inline(always)]
    pub fn pass_turn(&mut self, stream: StreamId, is_timed: bool) -> bool {
        match &self.open_blocks {
            Some(open_blocks) if open_blocks.is_open_everywhere[stream.index()] && !open_blocks.takes_turns => {
                self.turn_to_open_block(stream, is_timed)
            }
            Some(_) => self.go_round(stream),
            None => false,
        }
    }

    /// The same on a stream with open blocks on all dies, among which the policy chooses.
    #[inline(never)]
    fn turn_to_open_block(&mut self, stream: StreamId, is_timed: bool) -> bool {
        let open_blocks = self.open_blocks.as_mut().expect("there are open blocks");
        let frontier = &mut self.frontiers[stream.index()];
        let Some(erase_unit) = frontier.erase_unit else { return false };
        let slot = frontier.next().0 - self.layout.first(erase_unit);
        let is_between_groups = frontier.is_stopped() && open_blocks.group_units.remainder(slot) == 0;
        let is_full = slot == self.layout.units_per_erase_unit();
        if open_blocks.has_parity || !is_between_groups || is_full || slot == 0 {
            return false;
        }
        let last = open_blocks.active[stream.index()];
        let die = open_blocks.chooser.choose(last, open_blocks.homes[stream.index()], is_timed, |_| true);
        if die != last {
            open_blocks.exchange(stream, die, frontier);
        }
        // Its last turn may have been interrupted in the middle of a group.
        if frontier.is_stopped()
            && let Some(erase_unit) = frontier.erase_unit
        {
            let slot = frontier.next().0 - self.layout.first(erase_unit);
            debug_assert!(slot < self.layout.units_per_erase_unit());
            let in_group = open_blocks.group_units.remainder(slot);
            frontier.run_to(Ppn(frontier.next().0 + open_blocks.group_units.get() - in_group));
        }
        true
    }

    /// The same where the dies take turns.
    #[inline(always)]
    fn go_round(&mut self, stream: StreamId) -> bool {
        if self.turns(stream) == 0 {
            return false;
        }
        let open_blocks = self.open_blocks.as_mut().expect("it has turns");
        let frontier = &mut self.frontiers[stream.index()];
        let next = open_blocks.die_after(open_blocks.active[stream.index()]);
        open_blocks.turns[stream.index()] -= 1;
        open_blocks.exchange(stream, next, frontier);
        frontier.run_to(Ppn(frontier.next().0 + open_blocks.group_units.get()));
        true
    }

    /// Slots of the dies in turn for at most `units` units moved by garbage collection, as far as no decision is needed,
    /// and only where each unit is a group of its own. None if there are none.
    #[inline(always)]
    pub fn deal_out(&mut self, stream: StreamId, units: usize, born_at: u64) -> Option<Turns<'_>> {
        let count = units.min(self.turns(stream) as usize);
        let open_blocks = self.open_blocks.as_mut()?;
        if count == 0 || open_blocks.group_units.get() > 1 {
            return None;
        }
        open_blocks.turns[stream.index()] -= count as u32;
        let of_stream = open_blocks.slots_of(stream);
        let parked = &mut open_blocks.parked[of_stream];
        let active = &mut open_blocks.active[stream.index()];
        let (frontier, die) = (&mut self.frontiers[stream.index()], *active as usize);
        parked[die] = *frontier;
        Some(Turns { parked, frontier, active, die, count, born_at })
    }

    /// The die whose turn it is cannot be used: passes the turn to the next one with an open or an erased block.
    /// Returns whether there is one.
    pub fn turn_to_one_with_room(&mut self, stream: StreamId) -> bool {
        let open_blocks = self.open_blocks.as_mut().expect("there are open_blocks");
        let last = open_blocks.active[stream.index()];
        let usable = (0..open_blocks.dies).map(|step| (last + step) % open_blocks.dies).find(|&die| {
            open_blocks.parked[open_blocks.slot_of(stream, die)].erase_unit.is_some() || self.free.len_on(die) > 0
        });
        let Some(die) = usable else { return false };
        let slot = open_blocks.slot_of(stream, die);
        open_blocks.active[stream.index()] = die;
        open_blocks.forget_turns(stream);
        self.frontiers[stream.index()] = std::mem::replace(&mut open_blocks.parked[slot], Frontier::shut());
        true
    }

    /// Where blocks are opened by die: of the dies with stale units, the one with the fewest erased blocks.
    pub fn die_to_collect(&self) -> Option<u32> {
        let open_blocks = self.open_blocks.as_ref()?;
        let with_gain = (0..open_blocks.dies).filter(|&die| self.has_to_gain_on(open_blocks, die));
        with_gain.min_by_key(|&die| self.free.len_on(die))
    }

    /// Whether a closed erase unit of the die has stale units.
    fn has_to_gain_on(&self, open_blocks: &OpenBlocks, die: u32) -> bool {
        let data_units = self.layout.data_units_per_erase_unit();
        open_blocks.erase_units[die as usize]
            .iter()
            .any(|&erase_unit| self.is_closed(erase_unit) && self.occupancy.live_units(erase_unit) < data_units)
    }
}
