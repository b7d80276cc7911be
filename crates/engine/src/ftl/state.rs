//! Saving and restoring the state of a drive at rest: the map, the contents of each erase unit, open and free erase
//! units, wear, counters, and the state of policies.
//!
//! Only the map is large; it follows a JSON header as plain numbers. What follows from the map (live slots, the address
//! of each slot) is not written. Drives with extra state are the exception: an SLC cache, cached map pages, reduced
//! data, a partly collected victim, progress of background operations. That does not follow from the map, so all tables
//! of such a drive are written. A state without extra state can be restored on a drive whose erase units are larger by
//! a whole factor: each address and slot then stands for that many.
//!
//! A drive with a clock is saved when no request is outstanding. Pending operations of its flash and its buffer have
//! been decided by then and count as done, so the clock has no state of its own. Units that wait for a full program
//! group count as programmed. The simulated time is not saved, so a drive that stores times (ages of data, read
//! disturb) cannot be saved.
//!
//! A file may be damaged in any way. Every number in it is checked against the drive before it is used, and every count
//! against a recount, so that a damaged file is either refused or harmless.

use super::background::Background;
use super::gc::{Gc, Owed};
use super::inspect::check_accounts;
use super::layer::Layer;
use super::media::Media;
use super::moving::Move;
use super::space::slc_cache::Holding;
use super::space::{Frontier, Layout, OpenBlocksState};
use crate::error::ReadOnly;
use crate::ledger::Ledger;
use crate::nand::array::Worn;
use crate::nand::occupancy::State;
use crate::policies::placement::PoolState;
use crate::random::Random;
use crate::table::TableBytes;
use crate::timing::Clock;
use crate::units::{EraseUnit, Lpn, Ppn, StreamId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::io::{self, Read, Write};

/// The version of the format written here.
const VERSION: u32 = 2;
/// Numbers of the map that are written or read in one step.
const AT_ONCE: usize = 1 << 14;

/// Why a state cannot be saved or restored.
#[derive(Debug)]
pub enum StateError {
    /// The file cannot be read or written.
    Io(io::Error),
    /// Not a state file, or one that is damaged or incomplete.
    Damaged(String),
    /// The state belongs to another kind of drive.
    OtherDrive(String),
    /// The drive has state that the format does not cover.
    Unsaved(&'static str),
}

#[derive(Serialize, Deserialize)]
struct Header {
    version: u32,
    erase_units: u32,
    units_per_erase_unit: u32,
    user_units: u32,
    states: Vec<u8>,
    frontiers: Vec<Frontier>,
    /// Only on a drive whose streams have a block open on every die.
    #[serde(rename = "lanes")]
    open_blocks: Option<OpenBlocksState>,
    /// In the order in which they will be taken.
    free: Vec<u32>,
    worn: Worn,
    victim: Value,
    random: Random,
    leveled_to: u32,
    /// Only on a drive that moves units in batches.
    #[serde(default, skip_serializing_if = "is_zero")]
    owed_units: u64,
    /// Only on a drive that moves batches in pieces.
    #[serde(default, skip_serializing_if = "is_zero")]
    batch_units: u64,
    ledger: Ledger,
    mapped_units: u64,
    erase_units_left: u32,
    closings: u64,
    read_only: Option<ReadOnly>,
    streams: Vec<u8>,
    born_at: Vec<u64>,
    closed_at: Vec<u64>,
    pools: Vec<PoolState>,
    #[serde(rename = "beside")]
    extra_state: Option<Box<ExtraState>>,
}

/// State of some drives in addition to the map.
#[derive(Serialize, Deserialize)]
struct ExtraState {
    live_units: Vec<u32>,
    under_way: Option<Box<Move>>,
    slc_cache: Option<CacheState>,
    /// By erase unit: whether it is in SLC mode.
    is_slc: Option<Vec<bool>>,
    /// State of the layer.
    layer: Value,
    /// State of background operations.
    level_at_erases: Option<u64>,
}

/// State of an SLC cache, with the folding in progress.
#[derive(Serialize, Deserialize)]
struct CacheState {
    #[serde(flatten)]
    holding: Holding,
    folding: Option<Move>,
    erased_erase_units: u64,
}

fn is_zero(units: &u64) -> bool {
    *units == 0
}

fn damaged(what: &str) -> StateError {
    StateError::Damaged(format!("{what} cannot be"))
}

/// The layout of the saved drive, whose erase units may be smaller.
fn layout_of(header: &Header, own: &Layout) -> Result<Layout, StateError> {
    let units = header.units_per_erase_unit / own.slots_per_unit();
    own.of_units(units).ok_or_else(|| damaged("the size of an erase unit"))
}

fn extra_state_mismatch() -> StateError {
    StateError::OtherDrive("it keeps other state in addition to its map".into())
}

/// The parts of a drive at rest that have state.
pub struct AtRest<'a, L, C> {
    pub media: &'a mut Media<C>,
    pub layer: &'a mut L,
    pub gc: &'a mut Gc,
    pub background: Option<&'a mut Background>,
}

/// Saving.
impl<L: Layer, C: Clock> AtRest<'_, L, C> {
    /// Writes the state. The drive must be at rest, without outstanding requests.
    pub fn save(&mut self, out: &mut dyn Write) -> Result<(), StateError> {
        let extra_state = self.extra_state()?;
        let space = &self.media.space;
        let header = Header {
            version: VERSION,
            erase_units: space.erase_units(),
            units_per_erase_unit: space.layout.units_per_erase_unit(),
            user_units: self.media.map.user_units(),
            states: space.each_erase_unit().map(|erase_unit| space.occupancy.state(erase_unit) as u8).collect(),
            frontiers: space.frontiers.clone(),
            open_blocks: space.open_blocks.as_ref().map(|open_blocks| open_blocks.state()),
            free: space.free.in_order().into_iter().map(|erase_unit| erase_unit.0).collect(),
            worn: space.array.worn(),
            victim: self.media.victim.state(),
            random: self.gc.random.clone(),
            leveled_to: self.gc.leveled_to,
            owed_units: self.gc.owed.units,
            batch_units: self.gc.owed.batch_units,
            ledger: *self.media.accounts.ledger(),
            mapped_units: self.media.accounts.mapped_units(),
            erase_units_left: space.wear.erase_units_left,
            closings: space.filled.closings,
            read_only: self.media.read_only,
            streams: space.filled.streams.iter().map(|stream| stream.0).collect(),
            born_at: space.filled.born_at.clone(),
            closed_at: space.filled.closed_at.clone(),
            pools: self.media.accounts.pools().to_vec(),
            extra_state,
        };
        let text = serde_json::to_vec(&header).expect("plain numbers become JSON");
        out.write_all(&(text.len() as u64).to_le_bytes())?;
        out.write_all(&text)?;
        if header.extra_state.is_some() { self.write_tables(out) } else { self.write_map(out) }
    }

    /// The state in addition to the map; None if the map is all. The error names state that cannot be saved, such as
    /// times, since the restored drive's clock starts at 0.
    fn extra_state(&self) -> Result<Option<Box<ExtraState>>, StateError> {
        if self.media.listeners.remember() {
            return Err(StateError::Unsaved("background.retention_days, .read_disturb_reads or .defragment"));
        }
        if L::IS_ZONED {
            return Err(StateError::Unsaved("[zones]"));
        }
        if self.media.space.reclaim_groups.is_some() {
            return Err(StateError::Unsaved("several ftl.placement.reclaim_groups"));
        }
        let layer = serde_json::to_value(self.layer.kept(&self.media.accounts)).expect("plain numbers become JSON");
        let is_map_all = layer.is_null()
            && self.media.space.slc_cache.is_none()
            && self.background.is_none()
            && self.gc.under_way.is_none();
        if is_map_all {
            return Ok(None);
        }
        let space = &self.media.space;
        Ok(Some(Box::new(ExtraState {
            live_units: space.each_erase_unit().map(|erase_unit| space.occupancy.live_units(erase_unit)).collect(),
            under_way: self.gc.under_way.clone(),
            slc_cache: space.slc_cache.as_ref().map(|cache| CacheState {
                holding: cache.holding().clone(),
                folding: self.gc.folding.clone(),
                erased_erase_units: cache.erased_erase_units(),
            }),
            is_slc: space.slc_cache.as_ref().map(|cache| cache.is_slc.clone()),
            layer,
            level_at_erases: self.background.as_ref().map(|background| background.level_at_erases),
        })))
    }

    fn write_map(&self, out: &mut dyn Write) -> Result<(), StateError> {
        let mut bytes = Vec::with_capacity(4 * AT_ONCE);
        let user_units = self.media.map.user_units();
        for lpns in (0..user_units).step_by(AT_ONCE) {
            bytes.clear();
            for lpn in lpns..user_units.min(lpns + AT_ONCE as u32) {
                bytes.extend_from_slice(&self.media.map.physical(Lpn(lpn)).0.to_le_bytes());
            }
            out.write_all(&bytes)?;
        }
        Ok(())
    }

    fn write_tables(&mut self, out: &mut dyn Write) -> Result<(), StateError> {
        let (physical, logical, live) = self.media.map.tables();
        let tables: [&dyn TableBytes; 3] = [physical, logical, live];
        tables.into_iter().try_for_each(|table| table.write(out))?;
        let units = self.media.map.units();
        for (table, _) in self.layer.tables(units) {
            table.write(out)?;
        }
        Ok(())
    }
}

/// Restoring.
impl<L: Layer, C: Clock> AtRest<'_, L, C> {
    /// Restores a state saved by a drive like this new one, or by one with erase units smaller by the factor `times`.
    /// After an error the drive must not be used.
    pub fn load(&mut self, input: &mut dyn Read, times: u32) -> Result<(), StateError> {
        let mut header = read_header(input)?;
        self.check(&header, times)?;
        let states = header.states.iter().map(|&state| known_state(state)).collect::<Result<Vec<_>, _>>()?;
        let times = u64::from(times.max(1));
        self.take_up_counters(&header, times);
        self.take_up_open(&header, &states, times)?;
        self.take_up_policies(&mut header, times)?;
        self.take_up_wear(&header, &states)?;
        match header.extra_state.take() {
            Some(extra_state) => self.restore_extra_state(input, &header, *extra_state, &states)?,
            None => self.take_up_alone(input, &header, &states, times)?,
        }
        self.check_times()?;
        self.check_slots().map_err(StateError::Damaged)?;
        self.layer.check_map(self.media).map_err(StateError::Damaged)?;
        check_accounts(self.media, self.layer, self.gc).map_err(StateError::Damaged)?;
        self.come_to_rest();
        Ok(())
    }

    /// Without a clock a victim is always completed at once.
    fn come_to_rest(&mut self) {
        if !C::PACED && self.media.read_only.is_none() {
            // A drive without space for it has recorded that, and reports it at the first request.
            let _ = self.gc.finish_gc(self.media, self.layer);
        }
    }

    fn check(&self, header: &Header, times: u32) -> Result<(), StateError> {
        let space = &self.media.space;
        let (own, erase_units) = (space.layout.units_per_erase_unit(), space.erase_units());
        let fits = header.erase_units == erase_units
            && header.units_per_erase_unit.checked_mul(times.max(1)) == Some(own)
            && header.frontiers.len() == space.frontiers.len()
            && header.open_blocks.is_some() == space.open_blocks.is_some()
            && header.pools.len() == self.media.accounts.pools().len();
        if !fits {
            return Err(StateError::OtherDrive(format!(
                "it has {} erase units of {} mapping units, the drive {erase_units} of {own}",
                header.erase_units, header.units_per_erase_unit,
            )));
        }
        if times > 1 && header.extra_state.is_some() {
            return Err(StateError::OtherDrive("what it keeps in addition to its map fits no larger drive".into()));
        }
        let data_units = layout_of(header, &space.layout)?.data_units_per_erase_unit();
        if data_units.checked_mul(times.max(1)) != Some(space.layout.data_units_per_erase_unit()) {
            let wrong = "its erase units end within a stripe of parity, and stand for no larger ones";
            return Err(StateError::OtherDrive(wrong.into()));
        }
        let lengths = [header.states.len(), header.streams.len(), header.born_at.len(), header.closed_at.len()];
        if lengths.iter().any(|&length| length != erase_units as usize) {
            return Err(StateError::Damaged("its lists are not as long as it has erase units".into()));
        }
        if header.streams.iter().any(|&stream| usize::from(stream) >= header.pools.len()) {
            return Err(damaged("the stream of an erase unit"));
        }
        if times == 1 && header.user_units != self.media.map.user_units() {
            return Err(StateError::OtherDrive(format!("it has {} mapping units for the host", header.user_units)));
        }
        Ok(())
    }

    fn take_up_counters(&mut self, header: &Header, times: u64) {
        self.media.accounts.take_up_ledger(header.ledger.magnified(times));
        self.media.accounts.take_up_pools(header.pools.iter().map(|pool| pool.times(times)).collect());
        self.media.read_only = header.read_only;
        let filled = &mut self.media.space.filled;
        filled.closings = header.closings;
        filled.streams = header.streams.iter().map(|&stream| StreamId(stream)).collect();
        filled.born_at = header.born_at.iter().map(|born_at| born_at.wrapping_mul(times)).collect();
        filled.closed_at = header.closed_at.iter().map(|closed_at| closed_at.wrapping_mul(times)).collect();
    }

    /// Restores the frontiers and parked blocks. Each must be a different open erase unit, at a position inside it.
    fn take_up_open(&mut self, header: &Header, states: &[State], times: u64) -> Result<(), StateError> {
        let own = self.media.space.layout;
        let smaller = layout_of(header, &own)?;
        let is_there = |frontier: &Frontier| frontier.erase_unit.is_none_or(|unit| unit.index() < states.len());
        let larger =
            |frontier: &Frontier| if is_there(frontier) { frontier.times(times, &smaller, &own) } else { None };
        let frontiers: Option<Vec<Frontier>> = header.frontiers.iter().map(larger).collect();
        self.media.space.frontiers = frontiers.ok_or_else(|| damaged("the place that is written next"))?;
        if let (Some(open_blocks), Some(state)) = (&mut self.media.space.open_blocks, &header.open_blocks) {
            open_blocks.restore(state, larger).map_err(StateError::Damaged)?;
        }
        let mut is_taken = vec![false; states.len()];
        for (_, erase_unit, frontier) in self.media.space.open_frontiers() {
            let is_open = states.get(erase_unit.index()) == Some(&State::Open);
            if !is_open || std::mem::replace(&mut is_taken[erase_unit.index()], true) {
                return Err(damaged("an open erase unit"));
            }
            let first = self.media.space.layout.first(erase_unit);
            if !frontier.is_within(first, self.media.space.layout.units_per_erase_unit()) {
                return Err(damaged("the place that is written next"));
            }
        }
        if times > 1 {
            self.count_parity_of_open(header, &smaller, times);
        }
        Ok(())
    }

    /// The parity of an open erase unit covers the data up to its last full parity stripe, which on the smaller drive
    /// ended earlier: stripes in between have parity on the larger drive alone.
    fn count_parity_of_open(&mut self, header: &Header, smaller: &Layout, times: u64) {
        let parity = |layout: &Layout, erase_unit: EraseUnit, frontier: &Frontier| {
            let slot = frontier.next().0 - layout.first(erase_unit);
            u64::from(slot - layout.data_units_before(slot))
        };
        let parked = header.open_blocks.as_ref().map_or(&[][..], |open_blocks| open_blocks.parked());
        let of_smaller: u64 = (header.frontiers.iter().chain(parked))
            .filter_map(|frontier| Some(times * parity(smaller, frontier.erase_unit?, frontier)))
            .sum();
        let layout = &self.media.space.layout;
        let of_own: u64 = self
            .media
            .space
            .open_frontiers()
            .map(|(_, erase_unit, frontier)| parity(layout, erase_unit, frontier))
            .sum();
        self.media.accounts.parity((of_own - of_smaller) as u32);
    }

    fn take_up_policies(&mut self, header: &mut Header, times: u64) -> Result<(), StateError> {
        if header.leveled_to >= self.media.space.erase_units() {
            return Err(damaged("what wear levelling remembers"));
        }
        self.gc.leveled_to = header.leveled_to;
        self.gc.owed = Owed { units: header.owed_units, batch_units: header.batch_units };
        self.gc.random = header.random.clone();
        let victim = header.victim.take();
        self.media.victim.restore(victim, times as u32).map_err(|_| damaged("what the victim policy remembers"))
    }

    fn take_up_wear(&mut self, header: &Header, states: &[State]) -> Result<(), StateError> {
        let space = &mut self.media.space;
        space.array.wear_as(header.worn.clone()).map_err(StateError::Damaged)?;
        for erase_unit in space.each_erase_unit() {
            space.wear.note(erase_unit, space.array.erase_count(erase_unit.0));
        }
        space.wear.erase_units_left = header.erase_units_left;
        if header.erase_units_left > header.erase_units {
            return Err(damaged("its number of erase units"));
        }
        space.free.clear();
        let mut is_taken = vec![false; states.len()];
        for &erase_unit in &header.free {
            let is_free = states.get(erase_unit as usize) == Some(&State::Free);
            if !is_free || std::mem::replace(&mut is_taken[erase_unit as usize], true) {
                return Err(damaged("a free erase unit"));
            }
            space.free.put(EraseUnit(erase_unit), space.wear.erase_counts[erase_unit as usize]);
        }
        Ok(())
    }

    /// Restores a drive whose only state is the map.
    fn take_up_alone(
        &mut self,
        input: &mut dyn Read,
        header: &Header,
        states: &[State],
        times: u64,
    ) -> Result<(), StateError> {
        let has_layer = serde_json::to_value(self.layer.kept(&self.media.accounts)).is_ok_and(|kept| !kept.is_null());
        if has_layer || self.media.space.slc_cache.is_some() {
            return Err(StateError::OtherDrive("it keeps nothing in addition to its map".into()));
        }
        let live = self.take_up_map(input, header, times)?;
        if times == 1 && self.media.accounts.mapped_units() != header.mapped_units {
            return Err(damaged("its number of live units"));
        }
        self.take_up_occupancy(states, &live)
    }

    /// Links addresses and slots, and counts the live units of each erase unit.
    fn take_up_map(&mut self, input: &mut dyn Read, header: &Header, times: u64) -> Result<Vec<u32>, StateError> {
        let mut live = vec![0u32; header.states.len()];
        let (own, smaller) = (self.media.space.layout, layout_of(header, &self.media.space.layout)?);
        let physical_units = u64::from(header.erase_units) * u64::from(header.units_per_erase_unit);
        let user_units = u64::from(self.media.map.user_units());
        let mut bytes = vec![0; 4 * AT_ONCE];
        let mut mapped_units = 0;
        for erase_unit in self.media.space.each_erase_unit() {
            self.media.map.mark_all_stale(erase_unit);
        }
        for lpns in (0..header.user_units).step_by(AT_ONCE) {
            let count = (header.user_units - lpns).min(AT_ONCE as u32) as usize;
            input.read_exact(&mut bytes[..4 * count])?;
            for (slot, four) in bytes[..4 * count].chunks_exact(4).enumerate() {
                let ppn = u32::from_le_bytes(four.try_into().expect("four bytes"));
                if Ppn(ppn) == Ppn::UNMAPPED {
                    continue;
                }
                if u64::from(ppn) >= physical_units {
                    return Err(StateError::Damaged(format!("its map names place {ppn}, which is not there")));
                }
                let erase_unit = smaller.erase_unit_of(Ppn(ppn));
                let within = ppn - smaller.first(erase_unit);
                if smaller.is_parity(within) {
                    return Err(StateError::Damaged(format!("its map names place {ppn}, which holds parity")));
                }
                // A slot of the smaller drive stands for `times` neighbouring slots of the larger one.
                let number = smaller.data_units_before(within) * times as u32;
                let first = (u64::from(lpns) + slot as u64) * times;
                for part in 0..times.min(user_units.saturating_sub(first)) {
                    let to = Ppn(own.first(erase_unit) + own.slot_of_data(number + part as u32));
                    if self.media.map.is_live(to) {
                        return Err(StateError::Damaged(format!("its map names place {ppn} twice")));
                    }
                    self.media.map.link(Lpn((first + part) as u32), to);
                    self.media.map.mark_live(to);
                    mapped_units += 1;
                    live[erase_unit.index()] += 1;
                    self.media.accounts.found(self.media.space.stream_of(erase_unit), 1);
                }
            }
        }
        self.media.accounts.take_up_mapped(mapped_units);
        Ok(live)
    }

    fn take_up_occupancy(&mut self, states: &[State], live: &[u32]) -> Result<(), StateError> {
        for (erase_unit, (&state, &live)) in (0..).map(EraseUnit).zip(states.iter().zip(live)) {
            let unwritten = if state == State::Open { self.mark_unwritten_live(erase_unit)? } else { 0 };
            if live > 0 && matches!(state, State::Free | State::Retired) {
                return Err(StateError::Damaged(format!("erase unit {} is free and holds data", erase_unit.0)));
            }
            self.media.space.occupancy.put(erase_unit, state, live + unwritten);
        }
        Ok(())
    }

    /// Unwritten slots of an open erase unit count as live, as in `Map::opened`.
    fn mark_unwritten_live(&mut self, erase_unit: EraseUnit) -> Result<u32, StateError> {
        let layout = self.media.space.layout;
        let first = layout.first(erase_unit);
        let mut count = 0;
        for slot in self.media.space.written_slots(erase_unit)..layout.units_per_erase_unit() {
            let ppn = Ppn(first + slot);
            if self.media.map.is_live(ppn) {
                return Err(StateError::Damaged(format!("its map names place {}, which is not yet written", ppn.0)));
            }
            if !layout.is_parity(slot) {
                self.media.map.mark_live(ppn);
                count += 1;
            }
        }
        Ok(count)
    }

    /// Restores the tables and the extra state.
    fn restore_extra_state(
        &mut self,
        input: &mut dyn Read,
        header: &Header,
        extra_state: ExtraState,
        states: &[State],
    ) -> Result<(), StateError> {
        let (units, erase_units) = (self.media.map.units(), self.media.space.erase_units());
        let units_per_erase_unit = self.media.space.layout.units_per_erase_unit();
        let slots = u64::from(erase_units) * u64::from(units_per_erase_unit);
        let slc_length = extra_state.is_slc.as_ref().map(Vec::len);
        let is_alike = extra_state.slc_cache.is_some() == self.media.space.slc_cache.is_some()
            && slc_length == self.media.space.slc_cache.as_ref().map(|cache| cache.is_slc.len())
            && extra_state.live_units.len() == states.len();
        if !is_alike {
            return Err(extra_state_mismatch());
        }
        let layer = serde_json::from_value(extra_state.layer).map_err(|_| extra_state_mismatch())?;
        if !self.layer.take_up(layer, &mut self.media.accounts) {
            return Err(extra_state_mismatch());
        }
        self.read_tables(input, units, slots)?;
        if extra_state.live_units.iter().any(|&live_units| live_units > units_per_erase_unit) {
            return Err(damaged("its number of live units"));
        }
        for (erase_unit, (&state, &live)) in (0..).map(EraseUnit).zip(states.iter().zip(&extra_state.live_units)) {
            self.media.space.occupancy.put(erase_unit, state, live);
        }
        let is_within = |under_way: &Move| {
            states.get(under_way.victim.index()) == Some(&State::Open)
                && under_way.is_within(&self.media.space, self.media.map.units())
        };
        if !extra_state.under_way.as_deref().is_none_or(is_within) {
            return Err(damaged("its victim"));
        }
        if let (Some(state), Some(is_slc)) = (extra_state.slc_cache, extra_state.is_slc) {
            let is_possible = state.folding.as_ref().is_none_or(is_within);
            let cache = self.media.space.slc_cache.as_mut().filter(|_| is_possible).ok_or_else(extra_state_mismatch)?;
            if !cache.hold(state.holding, state.erased_erase_units, states) {
                return Err(extra_state_mismatch());
            }
            cache.is_slc = is_slc;
            if !cache.has_dynamic() {
                return Err(damaged("the number of erase units in SLC mode"));
            }
            // A new clock knows none of them.
            let in_slc_mode = (0..).map(EraseUnit).zip(&cache.is_slc).filter(|&(_, &is_slc)| is_slc);
            in_slc_mode.for_each(|(erase_unit, _)| self.media.clock.open(erase_unit, true));
            self.gc.folding = state.folding;
        }
        if let (Some(background), Some(erases)) = (&mut self.background, extra_state.level_at_erases) {
            background.level_at_erases = erases;
        }
        self.gc.under_way = extra_state.under_way;
        self.media.accounts.take_up_mapped(header.mapped_units);
        self.media.accounts.take_up_pools(header.pools.clone());
        Ok(())
    }

    fn read_tables(&mut self, input: &mut dyn Read, units: u32, slots: u64) -> Result<(), StateError> {
        let wild = || StateError::Damaged("a table names what is not there".into());
        let (physical, logical, live) = self.media.map.tables();
        let is_possible = physical.read(input, slots - 1, Some(u64::from(Ppn::UNMAPPED.0)))?
            && logical.read(input, u64::from(units) - 1, None)?
            && live.read(input, u64::MAX, None)?;
        if !is_possible {
            return Err(wild());
        }
        for (table, most) in self.layer.tables(units) {
            if !table.read(input, most, None)? {
                return Err(wild());
            }
        }
        Ok(())
    }

    /// No recorded time is later than the drive's own.
    fn check_times(&self) -> Result<(), StateError> {
        let now = self.media.now();
        let filled = &self.media.space.filled;
        let opened_at = self.media.space.open_frontiers().map(|(_, _, frontier)| frontier.opened_at());
        let times = filled.born_at.iter().chain(&filled.closed_at).copied().chain(opened_at);
        if times.into_iter().all(|time| time <= now) { Ok(()) } else { Err(damaged("a time after the last write")) }
    }

    /// Checks every live slot against its address, and the counts of each erase unit and each stream.
    fn check_slots(&self) -> Result<(), String> {
        let space = &self.media.space;
        let mut pools = vec![PoolState::default(); self.media.accounts.pools().len()];
        for erase_unit in space.each_erase_unit() {
            let live = self.check_slots_of(erase_unit)?;
            if !matches!(space.occupancy.state(erase_unit), State::Free | State::Retired) {
                let pool = &mut pools[space.stream_of(erase_unit).index()];
                pool.erase_units += 1;
                pool.live_units += u64::from(live);
            }
        }
        for (stream, (pool, known)) in pools.iter().zip(self.media.accounts.pools()).enumerate() {
            if pool.erase_units != known.erase_units
                || (self.media.placement.is_pooled() && pool.live_units != known.live_units)
            {
                return Err(format!("stream {stream} has {pool:?}, but {known:?} were counted"));
            }
        }
        let is_usable = |&erase_unit: &EraseUnit| {
            let is_own = self.media.space.slc_cache.as_ref().is_some_and(|cache| cache.is_static(erase_unit));
            !is_own && space.occupancy.state(erase_unit) != State::Retired
        };
        let left = space.each_erase_unit().filter(is_usable).count() as u32;
        if left != space.wear.erase_units_left {
            return Err(format!("{left} erase units are left, but {} were counted", space.wear.erase_units_left));
        }
        Ok(())
    }

    /// Returns the number of written live slots of an erase unit.
    fn check_slots_of(&self, erase_unit: EraseUnit) -> Result<u32, String> {
        let space = &self.media.space;
        let slots = space.layout_of(erase_unit);
        let first = space.layout.first(erase_unit);
        let (written, unwritten_data) = match space.frontier_at(erase_unit) {
            Some(frontier) => (frontier.next().0 - first, slots.data_units_from(frontier.next().0 - first)),
            None => (space.layout.units_per_erase_unit(), 0),
        };
        let mut live = 0;
        for slot in (0..written).filter(|&slot| self.media.map.is_live(Ppn(first + slot))) {
            let lpn = self.media.map.logical(Ppn(first + slot));
            let taken = self.layer.slots_of(lpn);
            let is_there = self.media.map.physical(lpn) == Ppn(first + slot)
                && slot < slots.units_per_erase_unit()
                && !slots.is_parity(slot)
                && (1..=written - slot).contains(&taken);
            if !is_there {
                return Err(format!("place {} holds {lpn:?}, which lies elsewhere", first + slot));
            }
            live += taken;
        }
        let known = space.occupancy.live_units(erase_unit);
        if live + unwritten_data != known {
            let all = live + unwritten_data;
            return Err(format!("erase unit {} holds {all} live places, but {known} were counted", erase_unit.0));
        }
        Ok(live)
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
    #[derive(Deserialize)]
    struct Versioned {
        version: Option<u32>,
    }
    let damaged = |error: serde_json::Error| StateError::Damaged(error.to_string());
    let version = serde_json::from_slice::<Versioned>(&text).map_err(damaged)?.version.unwrap_or(1);
    if version != VERSION {
        return Err(StateError::Damaged(format!("it is of version {version}, and this one reads version {VERSION}")));
    }
    serde_json::from_slice(&text).map_err(damaged)
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
