//! The twin: erase units are lists of slots, live units are counted by looking.

use super::UNIT;
use super::lanes::TwinLanes;
use super::map_cache::TwinMapCache;
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
    pub user_units: u32,
    pub reserve: usize,
    pub stripe: usize,
    is_fifo: bool,
    is_split: bool,
    pub is_static: bool,
    pub ledger: Ledger,
    pub map_cache: Option<TwinMapCache>,
    pub cache: Option<Cache>,
    pub lanes: Option<TwinLanes>,
}

impl Twin {
    pub fn new(drive: &Drive, erase_units: usize, units: usize) -> Self {
        let cache = Cache::new(drive, erase_units, units);
        let for_data = cache.as_ref().map_or(erase_units, |cache| cache.static_first);
        Self {
            slots: vec![vec![Slot::Empty; units]; erase_units],
            state: vec![State::Free; erase_units],
            map: BTreeMap::new(),
            open: vec![None; 3],
            free: (0..for_data).collect(),
            closed_in_order: VecDeque::new(),
            user_units: (drive.ftl.user_bytes / UNIT) as u32,
            reserve: drive.ftl.reserve_erase_units as usize,
            stripe: drive.parity.units_per_stripe as usize,
            is_fifo: drive.ftl.victim.name == "fifo",
            is_split: drive.ftl.placement.name == "host-gc-split",
            is_static: drive.ftl.spare_area == SpareArea::Static,
            ledger: Ledger::default(),
            map_cache: TwinMapCache::new(drive),
            cache,
            lanes: TwinLanes::new(drive),
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

    pub fn is_parity(&self, erase_unit: usize, place: usize) -> bool {
        is_parity(place, self.units_of(erase_unit), self.stripe)
    }

    pub fn is_live(&self, erase_unit: usize, place: usize) -> bool {
        matches!(self.slots[erase_unit][place], Slot::Data(lpn) if self.map.get(&lpn) == Some(&(erase_unit, place)))
    }

    pub fn live(&self, erase_unit: usize) -> usize {
        (0..self.units()).filter(|&place| self.is_live(erase_unit, place)).count()
    }

    pub fn data_units(&self) -> usize {
        data_units(self.units(), self.stripe)
    }

    /// The next place of the stream's open erase unit, after parity has been written where it is due; nothing if full.
    pub fn place(&mut self, stream: usize) -> Option<(usize, usize)> {
        if self.lanes.is_some() {
            return self.place_in_lanes(stream);
        }
        let erase_unit = self.open[stream]?;
        for place in 0..self.units_of(erase_unit) {
            if self.slots[erase_unit][place] != Slot::Empty {
                continue;
            }
            if !self.is_parity(erase_unit, place) {
                return Some((erase_unit, place));
            }
            self.slots[erase_unit][place] = Slot::Parity;
            self.ledger.programmed_units.parity += 1;
        }
        self.open[stream] = None;
        match &mut self.cache {
            Some(cache) if cache.is_slc[erase_unit] => cache.full.push(erase_unit),
            _ => {
                self.state[erase_unit] = State::Closed;
                self.closed_in_order.push_back(erase_unit);
            }
        }
        None
    }

    pub fn open(&mut self, stream: usize) {
        if self.lanes.is_some() {
            return self.open_in_lanes(stream);
        }
        let erase_unit = self.free.pop_front().expect("a free erase unit");
        self.state[erase_unit] = State::Open;
        self.open[stream] = Some(erase_unit);
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
        let at = loop {
            if self.lanes.is_some() {
                break self.host_place_in_lanes();
            }
            if let Some(at) = self.place(0) {
                break at;
            }
            if self.cache.is_some() && self.make_room_in_cache() {
                continue;
            }
            if self.free.len() > self.not_for_host() {
                self.open(0);
            } else {
                self.make_some_space();
            }
        };
        self.put(lpn, at);
    }

    pub fn mapped(&self) -> usize {
        self.map.range(..self.user_units).count()
    }

    pub fn clean(&mut self) {
        let victim = if self.is_fifo {
            self.closed_in_order[0]
        } else {
            let closed = (0..self.state.len()).filter(|&erase_unit| self.state[erase_unit] == State::Closed);
            closed.min_by_key(|&erase_unit| (self.live(erase_unit), erase_unit)).expect("a closed erase unit")
        };
        self.closed_in_order.retain(|&erase_unit| erase_unit != victim);
        let stream = usize::from(self.is_split);
        for place in 0..self.units() {
            if let (true, Slot::Data(lpn)) = (self.is_live(victim, place), self.slots[victim][place]) {
                let at = loop {
                    match self.place(stream) {
                        Some(at) => break at,
                        None => self.open(stream),
                    }
                };
                self.put(lpn, at);
                self.note_moved(lpn);
                self.ledger.programmed_units.gc += 1;
                self.ledger.read_units.gc += 1;
            }
        }
        self.erase(victim);
    }

    pub fn erase(&mut self, erase_unit: usize) {
        self.slots[erase_unit].fill(Slot::Empty);
        self.state[erase_unit] = State::Free;
        self.ledger.erased_erase_units += 1;
        match &mut self.cache {
            Some(cache) if erase_unit >= cache.static_first => cache.static_free.push_back(erase_unit),
            _ => self.free.push_back(erase_unit),
        }
        if let Some(cache) = &mut self.cache {
            cache.is_slc[erase_unit] = false;
        }
    }

    pub fn request(&mut self, request: &Request) {
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
