//! Does the engine agree with its twin? The twin does everything the slow and obvious way: erase units are lists of
//! slots, live units are counted by looking. Random operations go to both, and every counter is compared after each.

use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ssdlab_engine::ledger::Ledger;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::simulation::build;
use ssdlab_engine::specification::drive::*;
use std::collections::{BTreeMap, VecDeque};

const UNIT: u64 = 4096;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Slot {
    Empty,
    Parity,
    Data(u32),
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Free,
    Open,
    Closed,
}

struct Twin {
    slots: Vec<Vec<Slot>>,
    state: Vec<State>,
    /// Where each address lies; nothing for one that holds nothing.
    map: BTreeMap<u32, (usize, usize)>,
    open: Vec<Option<usize>>,
    free: VecDeque<usize>,
    closed_in_order: VecDeque<usize>,
    user_units: u32,
    reserve: usize,
    stripe: usize,
    is_fifo: bool,
    is_split: bool,
    is_static: bool,
    ledger: Ledger,
}

impl Twin {
    fn new(drive: &Drive, erase_units: usize, units: usize) -> Self {
        Self {
            slots: vec![vec![Slot::Empty; units]; erase_units],
            state: vec![State::Free; erase_units],
            map: BTreeMap::new(),
            open: vec![None; 2],
            free: (0..erase_units).collect(),
            closed_in_order: VecDeque::new(),
            user_units: (drive.ftl.user_bytes / UNIT) as u32,
            reserve: drive.ftl.reserve_erase_units as usize,
            stripe: drive.parity.units_per_stripe as usize,
            is_fifo: drive.ftl.victim.name == "fifo",
            is_split: drive.ftl.placement.name == "host-gc-split",
            is_static: drive.ftl.spare_area == SpareArea::Static,
            ledger: Ledger::default(),
        }
    }

    fn units(&self) -> usize {
        self.slots[0].len()
    }

    fn is_parity(&self, place: usize) -> bool {
        self.stripe != 0 && ((place + 1).is_multiple_of(self.stripe) || place + 1 == self.units())
    }

    fn is_live(&self, erase_unit: usize, place: usize) -> bool {
        matches!(self.slots[erase_unit][place], Slot::Data(lpn) if self.map.get(&lpn) == Some(&(erase_unit, place)))
    }

    fn live(&self, erase_unit: usize) -> usize {
        (0..self.units()).filter(|&place| self.is_live(erase_unit, place)).count()
    }

    fn data_units(&self) -> usize {
        (0..self.units()).filter(|&place| !self.is_parity(place)).count()
    }

    /// The next place of the stream's open erase unit, after parity has been written where it is due; nothing if full.
    fn place(&mut self, stream: usize) -> Option<(usize, usize)> {
        let erase_unit = self.open[stream]?;
        for place in 0..self.units() {
            if self.slots[erase_unit][place] != Slot::Empty {
                continue;
            }
            if !self.is_parity(place) {
                return Some((erase_unit, place));
            }
            self.slots[erase_unit][place] = Slot::Parity;
            self.ledger.programmed_units.parity += 1;
        }
        self.state[erase_unit] = State::Closed;
        self.closed_in_order.push_back(erase_unit);
        self.open[stream] = None;
        None
    }

    fn open(&mut self, stream: usize) {
        let erase_unit = self.free.pop_front().expect("a free erase unit");
        self.state[erase_unit] = State::Open;
        self.open[stream] = Some(erase_unit);
    }

    fn put(&mut self, lpn: u32, at: (usize, usize)) {
        self.slots[at.0][at.1] = Slot::Data(lpn);
        self.map.insert(lpn, at);
    }

    fn write(&mut self, lpn: u32) {
        let at = loop {
            if let Some(at) = self.place(0) {
                break at;
            }
            let empty = self.user_units as usize - self.map.len();
            let set_aside = if self.is_static { empty / self.data_units() } else { 0 };
            if self.free.len() > self.reserve + set_aside { self.open(0) } else { self.clean() }
        };
        self.put(lpn, at);
        self.ledger.programmed_units.host += 1;
    }

    fn clean(&mut self) {
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
                self.ledger.programmed_units.gc += 1;
                self.ledger.read_units.gc += 1;
            }
        }
        self.slots[victim].fill(Slot::Empty);
        self.state[victim] = State::Free;
        self.free.push_back(victim);
        self.ledger.erased_erase_units += 1;
    }

    fn request(&mut self, request: &Request) {
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
        }
    }
}

fn choice(name: &str) -> PolicyChoice {
    PolicyChoice { name: name.into(), parameters: Default::default() }
}

/// Two dies, eight blocks, four pages of two units: everything rare happens within a hundred operations.
fn tiny(
    victim: &str,
    placement: &str,
    erase_unit: EraseUnitKind,
    spare_area: SpareArea,
    stripe: u32,
    reserve: u32,
) -> Drive {
    let (erase_units, units) = shape(erase_unit);
    let data_units = if stripe == 0 { units } else { units - units.div_ceil(stripe) };
    let streams = if placement == "single" { 1 } else { 2 };
    Drive {
        name: "tiny".into(),
        nand: Nand {
            cell: Cell::Slc,
            channels: 1,
            dies_per_channel: 2,
            planes_per_die: 1,
            blocks_per_plane: 8,
            pages_per_block: 4,
            page_bytes: 8192,
            read_us: 25.0,
            program_us: 200.0,
            erase_us: 1500.0,
            channel_mb_s: 100.0,
            endurance_cycles: 100,
        },
        ftl: Ftl {
            user_bytes: u64::from((erase_units - reserve - streams) * data_units) * UNIT,
            mapping_unit_bytes: UNIT as u32,
            erase_unit,
            victim: choice(victim),
            placement: choice(placement),
            wear_leveling: choice("none"),
            reserve_erase_units: reserve,
            spare_area,
        },
        parity: Parity { units_per_stripe: stripe },
        faults: Faults { factory_bad_blocks: 0.0, wear_out: false, endurance_spread: 0.0 },
        write_buffer: WriteBuffer { bytes: 0 },
        controller: Controller { command_us: 5.0 },
    }
}

/// Erase units, and mapping units in each.
fn shape(erase_unit: EraseUnitKind) -> (u32, u32) {
    match erase_unit {
        EraseUnitKind::Block => (16, 8),
        EraseUnitKind::Superblock => (8, 16),
    }
}

fn random_request(generator: &mut impl Rng, user_bytes: u64) -> Request {
    let mut below = |bound: u64| generator.next_u64() % bound;
    let operation = match below(10) {
        0 => Operation::Read,
        1 => Operation::Trim,
        _ => Operation::Write,
    };
    let (grain, most) = if below(4) == 0 { (512, 40) } else { (UNIT, 3) };
    let offset_bytes = below(user_bytes / grain) * grain;
    let length = (1 + below(most)) * grain;
    Request { offset_bytes, length_bytes: length.min(user_bytes - offset_bytes) as u32, operation }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(160))]

    #[test]
    fn every_counter_agrees_after_every_operation(
        seed in any::<u64>(),
        victim in prop_oneof![Just("fifo"), Just("greedy")],
        placement in prop_oneof![Just("single"), Just("host-gc-split")],
        erase_unit in prop_oneof![Just(EraseUnitKind::Block), Just(EraseUnitKind::Superblock)],
        spare_area in prop_oneof![Just(SpareArea::Dynamic), Just(SpareArea::Static)],
        stripe in prop_oneof![Just(0u32), 2u32..9],
        reserve in 1u32..3,
    ) {
        let drive = tiny(victim, placement, erase_unit, spare_area, stripe, reserve);
        let (erase_units, units) = shape(erase_unit);
        let mut engine = build(&drive, seed).expect("a tiny drive");
        let mut twin = Twin::new(&drive, erase_units as usize, units as usize);
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        for step in 0..1500 {
            let request = random_request(&mut generator, drive.ftl.user_bytes);
            engine.execute(&[request]).expect("a drive that does not wear out takes all writes");
            twin.request(&request);
            prop_assert_eq!(engine.ledger(), &twin.ledger, "after step {} {:?}", step, request);
            prop_assert_eq!(engine.capacity().live_units, twin.map.len() as u64);
            prop_assert_eq!(engine.free_erase_units() as usize, twin.free.len());
            prop_assert_eq!(engine.check_accounts(), Ok(()));
            prop_assert_eq!(engine.check_map(), Ok(()));
        }
    }
}

/// Requests given one at a time and in one batch must come to the same: prefetching may not change what is done.
#[test]
fn batches_change_nothing() {
    let drive = tiny("greedy", "host-gc-split", EraseUnitKind::Block, SpareArea::Dynamic, 0, 1);
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(5);
    let requests: Vec<Request> = (0..5000).map(|_| random_request(&mut generator, drive.ftl.user_bytes)).collect();
    let mut one_by_one = build(&drive, 1).unwrap();
    let mut at_once = build(&drive, 1).unwrap();
    requests.iter().for_each(|request| one_by_one.execute(std::slice::from_ref(request)).unwrap());
    at_once.execute(&requests).unwrap();
    assert_eq!(one_by_one.ledger(), at_once.ledger());
    assert_eq!(one_by_one.wear(), at_once.wear());
}
