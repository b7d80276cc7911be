//! The twin: erase units are lists of slots, live units are counted by looking.

use super::UNIT;
use super::map_cache::TwinMapCache;
use super::open_blocks::TwinOpenBlocks;
use super::policies::Policies;
use super::reclaim_groups::TwinGroups;
use super::slc_cache::{Cache, data_units, is_parity};
use ssdlab_engine::ledger::Ledger;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::specification::drive::*;
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Slot {
    Empty,
    Parity,
    Data(u32),
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum State {
    Free,
    Open,
    Closed,
}

pub struct Twin {
    pub slots: Vec<Vec<Slot>>,
    pub state: Vec<State>,
    /// Where each address lies; nothing for one that holds nothing.
    pub map: BTreeMap<u32, (usize, usize)>,
    pub open: Vec<Option<usize>>,
    pub free: VecDeque<usize>,
    pub closed_in_order: VecDeque<usize>,
    /// By closing: which erase unit it was, when, and the live units of all of them then.
    pub closings: Vec<(usize, u64, Vec<usize>)>,
    pub user_units: u32,
    pub reserve: usize,
    pub stripe: usize,
    pub policies: Policies,
    /// By erase unit: the stream that fills or filled it; host units written when it was opened and when it was closed;
    /// when what garbage collection moved there had been written; when all that it holds had been, on average; how
    /// often it was erased.
    pub stream: Vec<usize>,
    opened_at: Vec<u64>,
    pub closed_at: Vec<u64>,
    moved_born_at: Vec<Vec<u64>>,
    pub born_at: Vec<u64>,
    pub erase_counts: Vec<u32>,
    /// Erases in SLC mode, which are not among the others.
    pub slc_erase_counts: Vec<u32>,
    pub is_static: bool,
    pub ledger: Ledger,
    pub map_cache: Option<TwinMapCache>,
    pub cache: Option<Cache>,
    pub open_blocks: Option<TwinOpenBlocks>,
    pub groups: TwinGroups,
}

impl Twin {
    pub fn new(drive: &Drive, erase_units: usize, units: usize, seed: u64) -> Self {
        let policies = Policies::new(drive, erase_units, seed);
        let cache = Cache::new(drive, erase_units, units);
        let for_data = cache.as_ref().map_or(erase_units, |cache| cache.static_first);
        Self {
            slots: vec![vec![Slot::Empty; units]; erase_units],
            state: vec![State::Free; erase_units],
            map: BTreeMap::new(),
            open: vec![None; policies.streams().max(3)],
            free: (0..for_data).collect(),
            closed_in_order: VecDeque::new(),
            closings: Vec::new(),
            user_units: (drive.ftl.user_bytes / UNIT) as u32,
            reserve: drive.ftl.reserve_erase_units as usize,
            stripe: drive.parity.units_per_stripe as usize,
            policies,
            stream: vec![0; erase_units],
            opened_at: vec![0; erase_units],
            closed_at: vec![0; erase_units],
            moved_born_at: vec![Vec::new(); erase_units],
            born_at: vec![0; erase_units],
            erase_counts: vec![0; erase_units],
            slc_erase_counts: vec![0; erase_units],
            is_static: drive.ftl.spare_area == SpareArea::Static,
            ledger: Ledger::default(),
            map_cache: TwinMapCache::new(drive),
            cache,
            open_blocks: TwinOpenBlocks::new(drive),
            groups: TwinGroups::default(),
        }
    }

    pub fn units(&self) -> usize {
        self.slots[0].len()
    }

    fn units_of(&self, erase_unit: usize) -> usize {
        match &self.cache {
            Some(cache) if cache.is_slc[erase_unit] => cache.units,
            _ => self.units(),
        }
    }

    pub fn is_parity(&self, erase_unit: usize, slot: usize) -> bool {
        is_parity(slot, self.units_of(erase_unit), self.stripe)
    }

    pub fn is_live(&self, erase_unit: usize, slot: usize) -> bool {
        matches!(self.slots[erase_unit][slot], Slot::Data(lpn) if self.map.get(&lpn) == Some(&(erase_unit, slot)))
    }

    pub fn live(&self, erase_unit: usize) -> usize {
        (0..self.units()).filter(|&slot| self.is_live(erase_unit, slot)).count()
    }

    pub fn data_units(&self) -> usize {
        data_units(self.units(), self.stripe)
    }

    /// The next place of the stream's open erase unit, after parity has been written where it is due; nothing if full.
    pub fn slot(&mut self, stream: usize) -> Option<(usize, usize)> {
        if self.open_blocks.is_some() {
            return self.place_in_open_blocks(stream);
        }
        let erase_unit = self.open[stream]?;
        for slot in 0..self.units_of(erase_unit) {
            if self.slots[erase_unit][slot] != Slot::Empty {
                continue;
            }
            if !self.is_parity(erase_unit, slot) {
                return Some((erase_unit, slot));
            }
            self.slots[erase_unit][slot] = Slot::Parity;
            self.ledger.programmed_units.parity += 1;
        }
        self.open[stream] = None;
        match &mut self.cache {
            Some(cache) if cache.is_slc[erase_unit] => cache.full.push(erase_unit),
            _ => self.close(erase_unit),
        }
        None
    }

    /// What the host wrote there it wrote between the opening and now, on average in the middle.
    pub fn close(&mut self, erase_unit: usize) {
        let now = self.ledger.programmed_units.host;
        let moved = &self.moved_born_at[erase_unit];
        let direct = (self.data_units() - moved.len()) as u64;
        let direct_born_at = self.opened_at[erase_unit] + (now - self.opened_at[erase_unit]) / 2;
        self.born_at[erase_unit] = (moved.iter().sum::<u64>() + direct * direct_born_at) / self.data_units() as u64;
        self.closed_at[erase_unit] = now;
        self.state[erase_unit] = State::Closed;
        self.closed_in_order.push_back(erase_unit);
        self.closings.push((erase_unit, now, (0..self.state.len()).map(|unit| self.live(unit)).collect()));
    }

    pub fn open(&mut self, stream: usize) {
        if self.open_blocks.is_some() {
            return self.open_on_each_die(stream);
        }
        let in_turn = (0..self.free.len()).filter(|&slot| self.is_in_turn(self.free[slot])).collect::<Vec<_>>();
        let slot = self.next_free(in_turn.into_iter()).expect("a free erase unit");
        let erase_unit = self.free.remove(slot).expect("it was found");
        self.note_opened_in_group(stream);
        self.begin(erase_unit, self.stream_in_turn(stream));
        self.open[stream] = Some(erase_unit);
    }

    pub fn begin(&mut self, erase_unit: usize, stream: usize) {
        self.state[erase_unit] = State::Open;
        self.stream[erase_unit] = stream;
        self.opened_at[erase_unit] = self.ledger.programmed_units.host;
        self.born_at[erase_unit] = self.opened_at[erase_unit];
        self.moved_born_at[erase_unit].clear();
    }

    pub fn put(&mut self, lpn: u32, at: (usize, usize)) {
        self.slots[at.0][at.1] = Slot::Data(lpn);
        self.map.insert(lpn, at);
    }

    fn write(&mut self, lpn: u32) {
        self.place_and_put(lpn);
        self.ledger.programmed_units.host += 1;
    }

    pub fn place_and_put(&mut self, lpn: u32) {
        let at = if self.open_blocks.is_some() { self.host_place_in_open_blocks() } else { self.host_slot(lpn) };
        self.put(lpn, at);
    }

    /// Making room may move the old copy, and with it what says where the unit goes.
    fn host_slot(&mut self, lpn: u32) -> (usize, usize) {
        let mut stream = self.host_stream(lpn);
        if self.is_stopped(stream) {
            self.make_room(stream);
            stream = self.host_stream(lpn);
            if self.is_stopped(stream) {
                self.make_room(stream);
            }
        }
        self.note_host_write(stream);
        self.slot(stream).expect("there is room")
    }

    /// Whether the stream's next unit cannot just follow the last.
    fn is_stopped(&self, stream: usize) -> bool {
        let next = |erase_unit: usize| {
            let empty = (0..self.units_of(erase_unit)).find(|&slot| self.slots[erase_unit][slot] == Slot::Empty);
            empty.is_some_and(|slot| !self.is_parity(erase_unit, slot))
        };
        !self.open[stream].is_some_and(next)
    }

    fn make_room(&mut self, stream: usize) {
        self.turn_to_group_for(stream);
        let mut gained = true;
        while self.slot(stream).is_none() {
            if self.cache.is_some() && self.make_room_in_cache() {
                continue;
            }
            if self.free_in_turn() > self.not_for_host() {
                self.open(stream);
            } else {
                let pool = if gained { self.pool_to_collect() } else { None };
                gained = self.make_some_space(pool);
            }
        }
    }

    pub fn mapped(&self) -> usize {
        self.map.range(..self.user_units).count()
    }

    /// Returns whether space was gained.
    pub fn clean(&mut self, pool: Option<usize>) -> bool {
        let victim = self.victim(pool);
        let moved = self.empty(victim) as u64;
        self.ledger.programmed_units.gc += moved;
        self.ledger.read_units.gc += moved;
        if let Some(behind) = self.erase_unit_to_level() {
            let moved = self.empty(behind) as u64;
            self.ledger.programmed_units.wear_leveling += moved;
            self.ledger.read_units.wear_leveling += moved;
        }
        moved < self.data_units() as u64
    }

    /// Moves what is live and erases the rest. Returns how much was moved.
    fn empty(&mut self, victim: usize) -> usize {
        self.closed_in_order.retain(|&erase_unit| erase_unit != victim);
        let stream = self.gc_stream(victim);
        let mut moved = 0;
        for slot in 0..self.units() {
            if let (true, Slot::Data(lpn)) = (self.is_live(victim, slot), self.slots[victim][slot]) {
                let at = loop {
                    match self.slot(stream) {
                        Some(at) => break at,
                        None => self.open(stream),
                    }
                };
                self.put(lpn, at);
                self.moved_born_at[at.0].push(self.born_at[victim]);
                self.note_moved(lpn);
                moved += 1;
            }
        }
        self.erase(victim);
        moved
    }

    pub fn erase(&mut self, erase_unit: usize) {
        self.slots[erase_unit].fill(Slot::Empty);
        self.state[erase_unit] = State::Free;
        self.ledger.erased_erase_units += 1;
        let is_slc = self.cache.as_ref().is_some_and(|cache| cache.is_slc[erase_unit]);
        let counts = if is_slc { &mut self.slc_erase_counts } else { &mut self.erase_counts };
        counts[erase_unit] += 1;
        match &mut self.cache {
            Some(cache) if erase_unit >= cache.static_first => cache.static_free.push_back(erase_unit),
            _ => self.free.push_back(erase_unit),
        }
        if let Some(cache) = &mut self.cache {
            cache.is_slc[erase_unit] = false;
        }
    }

    pub fn request(&mut self, request: &Request) {
        self.policies.said = request.content.identifier;
        let start = request.offset_bytes;
        let end = start + u64::from(request.length_bytes);
        let touched = (start / UNIT) as u32..=((end - 1) / UNIT) as u32;
        let is_whole = |lpn: u32| u64::from(lpn) * UNIT >= start && u64::from(lpn + 1) * UNIT <= end;
        match request.operation {
            Operation::Write => {
                for lpn in touched {
                    if !is_whole(lpn) {
                        self.ledger.read_modify_write_units += 1;
                        self.ledger.read_units.read_modify_write += u64::from(self.map.contains_key(&lpn));
                    }
                    self.write(lpn);
                }
                self.ledger.host_written_bytes += end - start;
            }
            Operation::Read => {
                self.ledger.host_read_bytes += end - start;
                self.ledger.read_units.host += touched.filter(|lpn| self.map.contains_key(lpn)).count() as u64;
            }
            Operation::Trim => {
                self.ledger.host_trimmed_bytes += end - start;
                for lpn in touched.filter(|&lpn| is_whole(lpn)) {
                    self.ledger.trimmed_units += u64::from(self.map.remove(&lpn).is_some());
                }
            }
            Operation::Flush => {}
        }
    }
}
