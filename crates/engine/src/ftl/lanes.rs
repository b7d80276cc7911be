//! An open block on every die for each stream, for drives whose erase units are single blocks.
//!
//! The block that a stream writes to now is its frontier, as on any drive; the blocks that it has open on the other dies
//! are parked here. When a program group is full, the policy says which die takes the next, and the two change places. So
//! a unit that is written costs what it costs on other drives, and a full group a little more.
//!
//! Erased blocks are kept by die; a die that has none is passed over. With a clock cleaning takes its victims where they
//! are fewest, since those dies would rest, and as many are kept in hand as there are dies, as far as spare area goes.
//! Without one it takes the best victim anywhere: a die that was passed over grows stale and so comes next.

use super::Ftl;
use super::frontier::Frontier;
use super::numbers::{EraseUnit, Ppn, StreamId};
use super::occupancy::State;
use crate::error::{ReadOnly, SpecificationError};
use crate::ledger::Cause;
use crate::nand::Geometry;
use crate::policies::die_choice::{DieChoice, View};
use crate::policies::placement::PlacementPolicy;
use crate::specification::drive::{Drive, EraseUnitKind};
use crate::timing::Clock;
use serde::{Deserialize, Serialize};

pub(super) struct Lanes {
    dies: u32,
    group_units: u32,
    policy: DieChoice,
    /// By stream: the die that its frontier is on, or is to be opened on.
    active: Vec<u32>,
    /// By stream and die: the open block, unless it is the frontier.
    parked: Vec<Frontier>,
    /// By die: its erase units.
    erase_units: Vec<Vec<EraseUnit>>,
    /// By die: when it will have done what is queued, as last told, and what was given to it since.
    free_at_ns: Vec<u64>,
    group_ns: u64,
    has_room: Vec<bool>,
}

/// What a saved state says of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct LanesState {
    active: Vec<u32>,
    parked: Vec<Frontier>,
    policy: serde_json::Value,
}

/// Whether a drive has an open block on each die, and so how many a stream has; checks `ftl.die_choice`.
pub(super) fn open_blocks_per_stream(drive: &Drive, geometry: &Geometry) -> Result<u32, SpecificationError> {
    let choice = &drive.ftl.die_choice;
    let policy = DieChoice::new(choice, 0)?;
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

impl Lanes {
    /// `die_of` says for each erase unit which die it lies on.
    pub fn new(drive: &Drive, geometry: &Geometry, streams: u8, die_of: &[u16], seed: u64) -> Box<Self> {
        let dies = geometry.dies();
        let group_units = geometry.units_per_page * drive.nand.pages_per_program;
        let transfer_us = f64::from(group_units * geometry.mapping_unit_bytes) / drive.nand.channel_mb_s;
        let policy = DieChoice::new(&drive.ftl.die_choice, seed).expect("it was checked");
        let mut erase_units = vec![Vec::new(); dies as usize];
        for (erase_unit, &die) in (0..).map(EraseUnit).zip(die_of) {
            erase_units[usize::from(die)].push(erase_unit);
        }
        Box::new(Self {
            dies,
            group_units,
            policy,
            // So that the first group goes to the first die.
            active: vec![0; usize::from(streams)],
            parked: vec![Frontier::shut(); usize::from(streams) * dies as usize],
            erase_units,
            free_at_ns: vec![0; dies as usize],
            group_ns: ((drive.nand.program_us + transfer_us) * 1000.0).round().max(1.0) as u64,
            has_room: vec![false; dies as usize],
        })
    }

    /// The erase units of a die, in order.
    pub fn erase_units_on(&self, die: Option<u32>) -> Option<&[EraseUnit]> {
        die.map(|die| &self.erase_units[die as usize][..])
    }

    fn parked_of(&self, stream: StreamId) -> &[Frontier] {
        let dies = self.dies as usize;
        &self.parked[stream.index() * dies..(stream.index() + 1) * dies]
    }

    pub fn heeds_load(&self) -> bool {
        self.policy.heeds_load()
    }

    /// To be told when each die will have done what is queued.
    pub fn free_at_ns(&mut self) -> &mut [u64] {
        &mut self.free_at_ns
    }

    pub fn state(&self) -> LanesState {
        LanesState { active: self.active.clone(), parked: self.parked.clone(), policy: self.policy.state() }
    }

    /// Takes up what `state` gave, of a drive with erase units `times` smaller; an error says what does not fit.
    pub fn restore(&mut self, state: &LanesState, times: u64) -> Result<(), String> {
        let fits = state.active.len() == self.active.len() && state.parked.len() == self.parked.len();
        if !fits || state.active.iter().any(|&die| die >= self.dies) {
            return Err("its open blocks are not those of such a drive".into());
        }
        self.active.clone_from(&state.active);
        self.parked = state.parked.iter().map(|frontier| frontier.times(times)).collect();
        self.policy.restore(state.policy.clone()).map_err(|error| error.to_string())
    }

    fn place_of(&self, stream: StreamId, die: u32) -> usize {
        stream.index() * self.dies as usize + die as usize
    }

    /// The parked block of a stream on the die of `erase_unit`, for a drive that takes up what a scan has found.
    pub fn parked_beside(&mut self, stream: StreamId, erase_unit: EraseUnit) -> &mut Frontier {
        let holds = |units: &Vec<EraseUnit>| units.binary_search(&erase_unit).is_ok();
        let die = self.erase_units.iter().position(holds).expect("every erase unit lies on a die");
        let place = self.place_of(stream, die as u32);
        &mut self.parked[place]
    }
}

impl<P: PlacementPolicy, C: Clock> Ftl<P, C> {
    fn lanes(&mut self) -> &mut Lanes {
        self.lanes.as_mut().expect("only a drive with an open block on each die comes here")
    }

    /// Places for data that are left in what a stream has open.
    pub(super) fn places_left(&self, stream: StreamId) -> u32 {
        let parked = self.lanes.as_ref().map_or(&[][..], |lanes| lanes.parked_of(stream));
        let open = parked.iter().chain([&self.frontiers[stream.index()]]);
        open.filter_map(|frontier| {
            let first = self.layout.first(frontier.erase_unit?);
            Some(self.layout.data_units_from(frontier.next().0 - first))
        })
        .sum()
    }

    /// All that is open, parked or not, with the stream that it is open for.
    pub(super) fn open_frontiers(&self) -> impl Iterator<Item = (StreamId, EraseUnit, &Frontier)> {
        let parked = self.lanes.as_ref().map_or(&[][..], |lanes| &lanes.parked);
        let dies = self.lanes.as_ref().map_or(1, |lanes| lanes.dies as usize);
        let parked = parked.iter().enumerate().map(move |(place, frontier)| (place / dies, frontier));
        let all = self.frontiers.iter().enumerate().chain(parked);
        all.filter_map(|(stream, frontier)| Some((StreamId(stream as u8), frontier.erase_unit?, frontier)))
    }

    /// The frontier, parked or not, that an open erase unit belongs to.
    pub(super) fn frontier_at(&self, open: EraseUnit) -> Option<&Frontier> {
        self.open_frontiers().find(|&(_, erase_unit, _)| erase_unit == open).map(|(_, _, frontier)| frontier)
    }

    /// All that is open was parked: each stream goes on with what lies on the die whose turn it is.
    pub(super) fn take_up_turns(&mut self) {
        let Some(lanes) = &mut self.lanes else { return };
        for (stream, frontier) in self.frontiers.iter_mut().enumerate() {
            let place = lanes.place_of(StreamId(stream as u8), lanes.active[stream]);
            *frontier = std::mem::replace(&mut lanes.parked[place], Frontier::shut());
        }
    }

    /// Makes an open erase unit that is parked its stream's frontier. Returns the stream.
    pub(super) fn bring_to_front(&mut self, open: EraseUnit) -> Option<StreamId> {
        let is_it = |frontier: &Frontier| frontier.erase_unit == Some(open);
        if let Some(lanes) = &mut self.lanes
            && let Some(place) = lanes.parked.iter().position(is_it)
        {
            let (stream, die) = (place / lanes.dies as usize, place as u32 % lanes.dies);
            let left = std::mem::replace(&mut lanes.active[stream], die);
            let front = std::mem::replace(&mut self.frontiers[stream], lanes.parked[place]);
            lanes.parked[place] = Frontier::shut();
            let place = stream * lanes.dies as usize + left as usize;
            lanes.parked[place] = front;
        }
        self.frontiers.iter().position(is_it).map(|stream| StreamId(stream as u8))
    }

    /// `go_on_behind_parity` on a drive with an open block on each die: a full group ends the die's turn. False when the
    /// die whose turn it is has no open block for the stream.
    pub(super) fn go_on_in_lanes(&mut self, stream: StreamId) -> bool {
        self.go_on_in_turn(stream, false)
    }

    fn go_on_in_turn(&mut self, stream: StreamId, mut has_just_begun: bool) -> bool {
        let group_units = self.lanes().group_units;
        loop {
            let frontier = &self.frontiers[stream.index()];
            let Some(erase_unit) = frontier.erase_unit else { return false };
            if frontier.run_length() > 0 {
                return true;
            }
            let first = self.layout.first(erase_unit);
            let place = frontier.next().0 - first;
            if place == self.layout.units_per_erase_unit() {
                self.close(stream, erase_unit);
            } else if has_just_begun || !place.is_multiple_of(group_units) || place == 0 {
                if !self.layout.is_parity(place) {
                    let group_end = (place / group_units + 1) * group_units;
                    let stop = self.layout.next_parity(place).min(group_end);
                    self.frontiers[stream.index()].run_to(Ppn(first + stop));
                    return true;
                }
                self.clock.program(frontier.next(), Cause::Parity);
                self.ledger.programmed_units.parity += 1;
                self.frontiers[stream.index()].skip_parity(1);
                has_just_begun = false;
                continue;
            }
            self.turn(stream);
            has_just_begun = true;
        }
    }

    /// Parks the stream's frontier and goes to the die that the policy chooses.
    fn turn(&mut self, stream: StreamId) {
        let may_open = self.host_may_open();
        let lanes = self.lanes.as_mut().expect("there are lanes");
        let last = lanes.active[stream.index()];
        let place = lanes.place_of(stream, last);
        lanes.parked[place] = std::mem::replace(&mut self.frontiers[stream.index()], Frontier::shut());
        let mut any = false;
        for die in 0..lanes.dies {
            let is_open = lanes.parked[lanes.place_of(stream, die)].erase_unit.is_some();
            let has_erased = self.free.len_on(die) > 0;
            let has_room = is_open || (may_open && has_erased);
            lanes.has_room[die as usize] = has_room;
            any |= has_room;
        }
        if !any {
            // The host cleans, wherever there is anything to gain, and turns again.
            lanes.has_room.fill(true);
        }
        let view = View { last, has_room: &lanes.has_room, free_at_ns: &lanes.free_at_ns };
        let die = lanes.policy.choose(&view);
        assert!(lanes.has_room[die as usize], "a die is chosen that has room");
        if C::PACED {
            lanes.free_at_ns[die as usize] += lanes.group_ns;
        }
        lanes.active[stream.index()] = die;
        let place = lanes.place_of(stream, die);
        self.frontiers[stream.index()] = std::mem::replace(&mut lanes.parked[place], Frontier::shut());
    }

    /// Opens an erased block on the die whose turn it is, or turns to a die that has an open one.
    pub(super) fn open_in_lanes(&mut self, stream: StreamId) {
        let die = self.lanes().active[stream.index()];
        match self.free.take_on(die) {
            Some(erase_unit) => self.open_as(stream, stream, erase_unit),
            None => {
                assert!(self.turn_to_one_with_room(stream), "the reserve keeps an erase unit free for cleaning");
                let die = self.lanes().active[stream.index()];
                if self.frontiers[stream.index()].erase_unit.is_none()
                    && let Some(erase_unit) = self.free.take_on(die)
                {
                    self.open_as(stream, stream, erase_unit);
                }
            }
        }
    }

    /// The die whose turn it is cannot be used: the next one with an open or an erased block takes its place. Returns
    /// whether there is one.
    fn turn_to_one_with_room(&mut self, stream: StreamId) -> bool {
        let lanes = self.lanes.as_mut().expect("there are lanes");
        let last = lanes.active[stream.index()];
        let usable = (0..lanes.dies)
            .map(|step| (last + step) % lanes.dies)
            .find(|&die| lanes.parked[lanes.place_of(stream, die)].erase_unit.is_some() || self.free.len_on(die) > 0);
        let Some(die) = usable else { return false };
        let place = lanes.place_of(stream, die);
        lanes.active[stream.index()] = die;
        self.frontiers[stream.index()] = std::mem::replace(&mut lanes.parked[place], Frontier::shut());
        // Its turn begins, though the group before may have been full.
        self.go_on_in_turn(stream, true);
        true
    }

    /// `make_room_for_host` on a drive with an open block on each die.
    pub(super) fn make_room_in_lanes(&mut self, stream: StreamId) -> Result<(), ReadOnly> {
        loop {
            let has_room = self.go_on_behind_parity(stream);
            if has_room && !self.lacks_reserve() {
                return Ok(());
            }
            if has_room {
                self.make_space(Some(stream))?;
                continue;
            }
            let die = self.lanes().active[stream.index()];
            if !self.host_may_open() {
                self.make_space(Some(stream))?;
            } else if self.free.len_on(die) == 0 {
                self.turn_to_one_with_room(stream);
            } else {
                self.open(stream);
            }
        }
    }

    fn host_may_open(&self) -> bool {
        self.free.len() > self.reserve_erase_units + self.set_aside_erase_units()
    }

    /// The die that is cleaned next, where blocks are opened by die: of those with anything to gain the one with the
    /// fewest erased ones. Any, without a clock: there most dies have none at a time, and cleaning the first of them
    /// again and again would move what is hardly stale.
    pub(super) fn die_to_clean(&self) -> Option<u32> {
        let lanes = self.lanes.as_ref().filter(|_| C::PACED)?;
        let with_gain = (0..lanes.dies).filter(|&die| self.has_to_gain_on(die));
        with_gain.min_by_key(|&die| self.free.len_on(die))
    }

    /// Whether a closed erase unit of the die holds anything stale.
    fn has_to_gain_on(&self, die: u32) -> bool {
        let lanes = self.lanes.as_ref().expect("there are lanes");
        let data_units = self.layout.data_units_per_erase_unit();
        lanes.erase_units[die as usize].iter().any(|&erase_unit| {
            self.occupancy.state(erase_unit) == State::Closed && self.occupancy.live_units(erase_unit) < data_units
        })
    }
}
