//! The state of a drive at rest, to be written out and taken up again: the map, what each erase unit holds, the open
//! ones, the free ones, wear, counters, and what policies remember.
//!
//! Only the map is large; it follows a header of JSON as plain numbers. What the map tells (which places are live, which
//! address a place holds) is not written, but for drives that keep more beside it (`beside.rs`). A state may be taken up
//! by a drive whose erase units are a whole number of times larger, if the map is all: each address and place then stands
//! for so many.
//!
//! A drive with a clock is saved when nothing is asked of it any more. What its flash and its buffer have yet to do then
//! is decided already, and counts as done: the clock's state at rest is none but this. Units that wait for others to fill
//! a program with go as programmed. The time that the drive has run is not kept, so one that remembers times (ages of
//! data, read disturb) cannot be saved.

use super::Ftl;
use super::beside::Beside;
use super::frontier::Frontier;
use super::lanes::LanesState;
use super::numbers::{EraseUnit, Lpn, Ppn, StreamId};
use super::occupancy::State;
use crate::error::ReadOnly;
use crate::ledger::Ledger;
use crate::nand::array::Worn;
use crate::policies::placement::{PlacementPolicy, PoolState};
use crate::timing::Clock;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, Read, Write};

/// Numbers of the map that are written or read at a time.
const AT_ONCE: usize = 1 << 14;

/// Why a state cannot be written or taken up.
#[derive(Debug)]
pub enum StateError {
    Io(io::Error),
    /// It is not what its beginning says, or ends too early.
    Damaged(String),
    /// It does not belong to such a drive.
    OtherDrive(String),
    /// The drive keeps something that a state does not hold.
    Unsaved(&'static str),
}

#[derive(Serialize, Deserialize)]
struct Header {
    erase_units: u32,
    units_per_erase_unit: u32,
    user_units: u32,
    states: Vec<u8>,
    frontiers: Vec<Frontier>,
    /// Only of a drive whose streams have a block open on every die.
    #[serde(default)]
    lanes: Option<LanesState>,
    /// In the order in which they will be taken.
    free: Vec<u32>,
    worn: Worn,
    victim: serde_json::Value,
    wear_leveling: serde_json::Value,
    ledger: Ledger,
    mapped_units: u64,
    erase_units_left: u32,
    closings: u64,
    read_only: Option<ReadOnly>,
    streams: Vec<u8>,
    born_at: Vec<u64>,
    closed_at: Vec<u64>,
    pools: Vec<PoolState>,
    #[serde(default)]
    beside: Option<Box<Beside>>,
}

impl<P: PlacementPolicy, C: Clock> Ftl<P, C> {
    /// Writes the state. The drive must be at rest: nothing is asked of it.
    pub fn save_state(&mut self, out: &mut dyn Write) -> Result<(), StateError> {
        let beside = self.beside()?;
        let has_tables = beside.is_some();
        let erase_units = self.streams.len() as u32;
        let header = Header {
            erase_units,
            units_per_erase_unit: self.layout.units_per_erase_unit(),
            user_units: self.map.user_units(),
            states: (0..erase_units).map(|erase_unit| self.occupancy.state(EraseUnit(erase_unit)) as u8).collect(),
            frontiers: self.frontiers.clone(),
            lanes: self.lanes.as_ref().map(|lanes| lanes.state()),
            free: self.free.in_order().into_iter().map(|erase_unit| erase_unit.0).collect(),
            worn: self.array.worn(),
            victim: self.victim.state(),
            wear_leveling: self.wear_leveling.state(),
            ledger: self.ledger,
            mapped_units: self.mapped_units,
            erase_units_left: self.erase_units_left,
            closings: self.closings,
            read_only: self.read_only,
            streams: self.streams.iter().map(|stream| stream.0).collect(),
            born_at: self.born_at.clone(),
            closed_at: self.closed_at.clone(),
            pools: self.pools.clone(),
            beside,
        };
        let text = serde_json::to_vec(&header).expect("plain numbers become JSON");
        out.write_all(&(text.len() as u64).to_le_bytes())?;
        out.write_all(&text)?;
        if has_tables {
            return self.write_tables(out);
        }
        let mut bytes = Vec::with_capacity(4 * AT_ONCE);
        for lpns in (0..header.user_units).step_by(AT_ONCE) {
            bytes.clear();
            for lpn in lpns..header.user_units.min(lpns + AT_ONCE as u32) {
                bytes.extend_from_slice(&self.map.physical(Lpn(lpn)).0.to_le_bytes());
            }
            out.write_all(&bytes)?;
        }
        Ok(())
    }

    /// Takes up a state that was written by a drive like this new one, or by one whose erase units are `times` smaller.
    pub fn load_state(&mut self, input: &mut dyn Read, times: u32) -> Result<(), StateError> {
        let mut header = read_header(input)?;
        self.check(&header, times)?;
        let damaged = |what: &str| StateError::Damaged(format!("{what} cannot be"));
        let times = u64::from(times.max(1));
        self.take_up_counters(&header, times);
        if let (Some(lanes), Some(state)) = (&mut self.lanes, &header.lanes) {
            lanes.restore(state, times).map_err(StateError::Damaged)?;
        }
        self.victim.restore(header.victim.take()).map_err(|_| damaged("what the victim policy remembers"))?;
        self.wear_leveling
            .restore(header.wear_leveling.take())
            .map_err(|_| damaged("what wear levelling remembers"))?;
        self.array.wear_as(header.worn.clone()).map_err(StateError::Damaged)?;
        self.erase_counts = (0..header.erase_units).map(|erase_unit| self.array.erase_count(erase_unit)).collect();
        self.erase_count_max = self.erase_counts.iter().copied().max().unwrap_or(0);
        self.free.clear();
        for &erase_unit in &header.free {
            let count = *self.erase_counts.get(erase_unit as usize).ok_or_else(|| damaged("a free erase unit"))?;
            self.free.put(EraseUnit(erase_unit), count);
        }
        if let Some(beside) = header.beside.take() {
            let states = header.states.iter().map(|&state| known_state(state)).collect::<Result<Vec<_>, _>>()?;
            self.pools = header.pools.clone();
            self.mapped_units = header.mapped_units;
            self.take_up_beside(input, *beside, &states)?;
            self.check_accounts().map_err(StateError::Damaged)?;
            return self.come_to_rest();
        }
        if self.map_cache.is_some() || self.reduction.is_some() || self.slc_cache.is_some() {
            return Err(StateError::OtherDrive("it keeps nothing beside its map".into()));
        }
        let live = self.take_up_map(input, &header, times)?;
        if times == 1 && self.mapped_units != header.mapped_units {
            return Err(damaged("its number of live units"));
        }
        self.take_up_occupancy(&header, &live)?;
        self.check_accounts().map_err(StateError::Damaged)
    }

    /// Without a clock a victim is always emptied at once.
    fn come_to_rest(&mut self) -> Result<(), StateError> {
        if C::PACED || self.in_progress.is_none() || self.read_only.is_some() {
            return Ok(());
        }
        // A drive that cannot any more has noted it, and says so at the first request.
        let _ = self.finish_cleaning();
        Ok(())
    }

    fn check(&self, header: &Header, times: u32) -> Result<(), StateError> {
        let own = self.layout.units_per_erase_unit();
        let fits = header.erase_units as usize == self.streams.len()
            && header.units_per_erase_unit.checked_mul(times.max(1)) == Some(own)
            && header.frontiers.len() == self.frontiers.len()
            && header.lanes.is_some() == self.lanes.is_some()
            && header.pools.len() == self.pools.len();
        if !fits {
            return Err(StateError::OtherDrive(format!(
                "it has {} erase units of {} mapping units, the drive {} of {own}",
                header.erase_units,
                header.units_per_erase_unit,
                self.streams.len()
            )));
        }
        if times > 1 && header.beside.is_some() {
            return Err(StateError::OtherDrive("what it keeps beside its map stands for no larger drive".into()));
        }
        if times > 1 && self.layout.data_units_per_erase_unit() != own {
            return Err(StateError::Unsaved("parity.units_per_stripe"));
        }
        let lengths = [header.states.len(), header.streams.len(), header.born_at.len(), header.closed_at.len()];
        if lengths.iter().any(|&length| length != self.streams.len()) {
            return Err(StateError::Damaged("its lists are not as long as it has erase units".into()));
        }
        if times == 1 && header.user_units != self.map.user_units() {
            return Err(StateError::OtherDrive(format!("it has {} mapping units for the host", header.user_units)));
        }
        Ok(())
    }

    fn take_up_counters(&mut self, header: &Header, times: u64) {
        self.ledger = header.ledger.magnified(times);
        self.erase_units_left = header.erase_units_left;
        self.closings = header.closings;
        self.read_only = header.read_only;
        self.streams = header.streams.iter().map(|&stream| StreamId(stream)).collect();
        self.born_at = header.born_at.iter().map(|born_at| born_at * times).collect();
        self.closed_at = header.closed_at.iter().map(|closed_at| closed_at * times).collect();
        self.frontiers = header.frontiers.iter().map(|frontier| frontier.times(times)).collect();
        self.pools = header
            .pools
            .iter()
            .map(|pool| PoolState { live_units: 0, recent_units: pool.recent_units * times, ..*pool })
            .collect();
    }

    /// Links addresses and places, and counts what is live in each erase unit.
    fn take_up_map(&mut self, input: &mut dyn Read, header: &Header, times: u64) -> Result<Vec<u32>, StateError> {
        let mut live = vec![0u32; self.streams.len()];
        let physical_units = u64::from(header.erase_units) * u64::from(header.units_per_erase_unit);
        let user_units = u64::from(self.map.user_units());
        let mut bytes = vec![0; 4 * AT_ONCE];
        self.mapped_units = 0;
        for erase_unit in 0..header.erase_units {
            self.map.mark_all_stale(EraseUnit(erase_unit));
        }
        for lpns in (0..header.user_units).step_by(AT_ONCE) {
            let count = (header.user_units - lpns).min(AT_ONCE as u32) as usize;
            input.read_exact(&mut bytes[..4 * count])?;
            for (place, four) in bytes[..4 * count].chunks_exact(4).enumerate() {
                let ppn = u32::from_le_bytes(four.try_into().expect("four bytes"));
                if Ppn(ppn) == Ppn::UNMAPPED {
                    continue;
                }
                if u64::from(ppn) >= physical_units {
                    return Err(StateError::Damaged(format!("its map names place {ppn}, which is not there")));
                }
                let first = (u64::from(lpns) + place as u64) * times;
                for part in 0..times.min(user_units.saturating_sub(first)) {
                    // A place of the smaller drive is so many neighbours of the larger one.
                    let to = Ppn((u64::from(ppn) * times + part) as u32);
                    if self.map.is_live(to) {
                        return Err(StateError::Damaged(format!("its map names place {ppn} twice")));
                    }
                    self.map.link(Lpn((first + part) as u32), to);
                    self.map.mark_live(to);
                    self.mapped_units += 1;
                    let erase_unit = self.layout.erase_unit_of(to);
                    live[erase_unit.index()] += 1;
                    if P::POOLED {
                        self.pools[self.streams[erase_unit.index()].index()].live_units += 1;
                    }
                }
            }
        }
        Ok(live)
    }

    fn take_up_occupancy(&mut self, header: &Header, live: &[u32]) -> Result<(), StateError> {
        for (index, &state) in header.states.iter().enumerate() {
            let erase_unit = EraseUnit(index as u32);
            let state = known_state(state)?;
            let mut count = live[index];
            if state == State::Open {
                count += self.mark_unwritten_live(erase_unit);
            } else if live[index] > 0 && state != State::Closed {
                return Err(StateError::Damaged(format!("erase unit {index} is free and holds data")));
            }
            self.occupancy.put(erase_unit, state, count);
        }
        Ok(())
    }

    /// Places of an open erase unit that are not yet written count as live, as `mark_all_live` has it.
    fn mark_unwritten_live(&mut self, erase_unit: EraseUnit) -> u32 {
        let frontier = self.frontier_at(erase_unit);
        let first = self.layout.first(erase_unit);
        let from = frontier.map_or(first, |frontier| frontier.next().0);
        let mut count = 0;
        for place in from - first..self.layout.units_per_erase_unit() {
            if !self.layout.is_parity(place) {
                self.map.mark_live(Ppn(first + place));
                count += 1;
            }
        }
        count
    }
}

fn known_state(number: u8) -> Result<State, StateError> {
    let known = [State::Free, State::Open, State::Closed, State::Retired];
    let state = known.into_iter().find(|&state| state as u8 == number);
    state.ok_or_else(|| StateError::Damaged("an erase unit is in no known state".into()))
}

fn read_header(input: &mut dyn Read) -> Result<Header, StateError> {
    let mut length = [0; 8];
    input.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    let mut text = Vec::new();
    input.take(length).read_to_end(&mut text)?;
    if text.len() as u64 != length {
        return Err(StateError::Damaged("it ends too early".into()));
    }
    serde_json::from_slice(&text).map_err(|error| StateError::Damaged(error.to_string()))
}

impl From<io::Error> for StateError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Damaged("it ends too early".into()),
            _ => Self::Io(error),
        }
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Damaged(how) => write!(f, "the state is damaged: {how}"),
            Self::OtherDrive(how) => write!(f, "the state is of another drive: {how}"),
            Self::Unsaved(what) => write!(f, "the state of a drive with {what} cannot be kept"),
        }
    }
}

impl std::error::Error for StateError {}
