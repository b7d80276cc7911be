//! Zones: what the controller says of them, random commands against rules written down a second time, losses of power,
//! and a drive that another process opens again.

use super::checks::{ACTIVE_MAX, CAPACITY_UNITS, OPEN_MAX, ZONE_UNITS, ZONES, with_zones as drive};
use super::initiator::{Answer, Entry, Host};
use super::{
    DATASET, INVALID_FIELD, INVALID_OPCODE, OUT_OF_RANGE, READ, WRITE, ZEROES, commands, device_of, served_with,
    u16_at, u32_at, u64_at,
};
use crate::tiny::{Tiny, UNIT, contents};
use ssdlab_blockdev::drive::{Command, Contents, OpenError, Options, Pace, SimulatedDevice};
use ssdlab_blockdev::nand::FlashFaults;
use ssdlab_blockdev::nvme::{Health, Server};
use ssdlab_engine::random::Random;
use ssdlab_engine::specification::Drive;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

const MANAGE: u8 = 0x79;
const REPORT: u8 = 0x7a;
const APPEND: u8 = 0x7d;

const CLOSE: u32 = 1;
const FINISH: u32 = 2;
const OPEN: u32 = 3;
const RESET: u32 = 4;
const ALL: u32 = 1 << 8;

const BOUNDARY: u16 = 0x1b8;
const FULL: u16 = 0x1b9;
const INVALID_WRITE: u16 = 0x1bc;
const TOO_MANY_ACTIVE: u16 = 0x1bd;
const TOO_MANY_OPEN: u16 = 0x1be;
const INVALID_TRANSITION: u16 = 0x1bf;

fn protected() -> Options {
    Options { power_loss_protection: Some(true), ..Options::default() }
}

fn served(device: &Arc<SimulatedDevice>) -> Server {
    served_with(device, &drive(), |_| Health::default())
}

fn start_of(zone: u64) -> u64 {
    zone * ZONE_UNITS
}

fn manage(zone: u64, action: u32) -> Entry {
    Entry::new(MANAGE, 1).dword(10, start_of(zone) as u32).dword(13, action)
}

fn append(zone: u64, units: u64) -> Entry {
    Entry::new(APPEND, 1).blocks(start_of(zone), units)
}

/// State and write pointer of a zone, as reported.
type Seen = (u8, u64);

fn report_of(host: &mut Host, first: u64, states: u32, room: usize) -> (u64, Vec<Seen>) {
    let entry = Entry::new(REPORT, 1).dword(10, first as u32).dword(12, room as u32 / 4 - 1).dword(13, states);
    let page = host.round(entry, &[], room).unwrap().data;
    let zones = page[64..].chunks_exact(64).filter(|zone| zone[0] != 0).map(|zone| {
        assert_eq!((zone[0], u64_at(zone, 8)), (2, CAPACITY_UNITS));
        // A full zone has no write pointer.
        let pointer = u64_at(zone, 24);
        (zone[1] >> 4, if pointer == u64::MAX { pointer } else { pointer - u64_at(zone, 16) })
    });
    (u64_at(&page, 0), zones.collect())
}

fn report(host: &mut Host) -> Vec<Seen> {
    let (count, zones) = report_of(host, 0, 0, 64 * (1 + ZONES as usize));
    assert_eq!((count, zones.len()), (ZONES, ZONES as usize));
    zones
}

#[test]
fn the_controller_says_what_linux_asks_of_zones() {
    let device = device_of(&drive(), &protected());
    let server = served(&device);
    let mut host = Host::admin(&server, 0).unwrap();
    // CAP.CSS bit 6: other command sets.
    assert_eq!(host.property(0).unwrap() >> 43 & 1, 1);
    let names = host.identify(3, 1).unwrap().data;
    // EUI-64, NGUID, UUID, and then the command set.
    assert_eq!(names[12 + 20 + 20..12 + 20 + 20 + 5], [4, 1, 0, 0, 2]);
    let of_set = |structure: u32| Entry::new(6, 1).dword(10, structure).dword(11, 2 << 24);
    let page = host.round(of_set(5), &[], 4096).unwrap().data;
    assert_eq!((u16_at(&page, 0), u32_at(&page, 4), u32_at(&page, 8)), (0, 2, 1));
    assert_eq!((u64_at(&page, 2816), page[2824]), (ZONE_UNITS, 0));
    assert_eq!(host.round(of_set(6), &[], 4096).unwrap().status, 0);
    assert_eq!(host.round(of_set(7).dword(1, 0), &[], 4096).unwrap().data[..8], [1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(u64_at(&host.identify(0x1c, 0).unwrap().data, 0), 0b101);
    let page = host.identify(0, 1).unwrap().data;
    assert_eq!((u64_at(&page, 0), u64_at(&page, 8)), (ZONES * ZONE_UNITS, ZONES * ZONE_UNITS));
    // No Dataset Management.
    assert_eq!(host.identify(1, 0).unwrap().data[520] & 0b1100, 0b1000);
    let effects = host.log(5, 4096, 0).unwrap().data;
    for opcode in [MANAGE, REPORT, APPEND] {
        assert_eq!(u32_at(&effects, 1024 + 4 * usize::from(opcode)) & 1, 1);
    }
    let mut queue = host.queue(&server, 1, 0).unwrap();
    let range = [0; 16];
    assert_eq!(queue.round(Entry::new(DATASET, 1).dword(11, 4), &range, 0).unwrap().status, INVALID_OPCODE);
}

#[test]
fn a_drive_without_zones_knows_none_of_it() {
    let device = device_of(&Tiny::default().drive(), &protected());
    let server = served_with(&device, &Tiny::default().drive(), |_| Health::default());
    let mut host = Host::admin(&server, 0).unwrap();
    assert_eq!(host.property(0).unwrap() >> 43 & 1, 0);
    let of_set = Entry::new(6, 1).dword(10, 5).dword(11, 2 << 24);
    assert_eq!(host.round(of_set, &[], 4096).unwrap().status, INVALID_FIELD);
    let mut queue = host.queue(&server, 1, 0).unwrap();
    for entry in [manage(0, RESET), Entry::new(REPORT, 1), append(0, 1)] {
        assert_eq!(queue.round(entry, &[], 0).unwrap().status, INVALID_OPCODE);
    }
}

#[test]
fn every_state_is_reached_reported_and_refuses_what_it_must() {
    let device = device_of(&drive(), &protected());
    let server = served(&device);
    let admin = Host::admin(&server, 0).unwrap();
    let mut queue = admin.queue(&server, 1, 0).unwrap();
    let mut random = Random::new(1);
    let mut data = |units: u64| contents(&mut random, units * UNIT);
    let write = |zone: u64, at: u64, units: u64| Entry::new(WRITE, 1).blocks(start_of(zone) + at, units);
    let first = data(3);
    assert_eq!(queue.round(write(0, 0, 3), &first, 0).unwrap().status, 0);
    assert_eq!(queue.round(write(0, 4, 1), &data(1), 0).unwrap().status, INVALID_WRITE);
    assert_eq!(queue.round(write(0, 0, 1), &data(1), 0).unwrap().status, INVALID_WRITE);
    assert_eq!(queue.round(write(0, 90, 7), &data(7), 0).unwrap().status, BOUNDARY);
    let answer = queue.round(append(0, 2), &data(2), 0).unwrap();
    assert_eq!((answer.status, answer.result), (0, 3));
    let misplaced = Entry::new(APPEND, 1).blocks(1, 1);
    assert_eq!(queue.round(misplaced, &data(1), 0).unwrap().status, INVALID_FIELD);
    assert_eq!(queue.round(append(ZONES, 1), &data(1), 0).unwrap().status, OUT_OF_RANGE);
    // Zeroes are written like data.
    assert_eq!(queue.round(Entry::new(ZEROES, 1).blocks(5, 2), &[], 0).unwrap().status, 0);
    for zone in [1, 2] {
        assert_eq!(queue.round(manage(zone, OPEN), &[], 0).unwrap().status, 0);
    }
    // The limits: two open, three active.
    assert_eq!(report(&mut queue)[..4], [(4, 7), (3, 0), (3, 0), (1, 0)]);
    assert_eq!(queue.round(append(0, 1), &data(1), 0).unwrap().status, TOO_MANY_OPEN);
    assert_eq!(queue.round(append(3, 1), &data(1), 0).unwrap().status, TOO_MANY_ACTIVE);
    assert_eq!(queue.round(manage(3, CLOSE), &[], 0).unwrap().status, INVALID_TRANSITION);
    assert_eq!(queue.round(manage(1, CLOSE), &[], 0).unwrap().status, 0);
    assert_eq!(queue.round(append(0, 1), &data(1), 0).unwrap().status, 0);
    assert_eq!(queue.round(manage(0, FINISH), &[], 0).unwrap().status, 0);
    assert_eq!(queue.round(append(0, 1), &data(1), 0).unwrap().status, FULL);
    assert_eq!(queue.round(manage(0, OPEN), &[], 0).unwrap().status, INVALID_TRANSITION);
    assert_eq!(report(&mut queue)[..3], [(0xe, u64::MAX), (4, 0), (3, 0)]);
    // From a zone on, of a state, and only what has room.
    assert_eq!(report_of(&mut queue, start_of(2), 1 << 8, 64 * 3), (3, vec![(1, 0), (1, 0)]));
    assert_eq!(report_of(&mut queue, start_of(2), 1 << 8 | 1 << 16, 64 * 3), (2, vec![(1, 0), (1, 0)]));
    assert_eq!(queue.round(manage(0, 5), &[], 0).unwrap().status, INVALID_FIELD);
    // The rest of a finished zone reads zeroes, across its end too.
    let read = queue.round(Entry::new(READ, 1).blocks(0, 200), &[], 200 * UNIT as usize).unwrap();
    assert_eq!(
        (&read.data[..3 * UNIT as usize], &read.data[20 * UNIT as usize..]),
        (&first[..], &vec![0; 180 * UNIT as usize][..])
    );
    assert_eq!(queue.round(manage(0, RESET), &[], 0).unwrap().status, 0);
    let read = queue.round(Entry::new(READ, 1).blocks(0, 8), &[], 8 * UNIT as usize).unwrap();
    assert_eq!(read.data, vec![0; 8 * UNIT as usize]);
    assert_eq!(queue.round(manage(0, CLOSE | ALL), &[], 0).unwrap().status, 0);
    assert_eq!(queue.round(manage(0, RESET | ALL), &[], 0).unwrap().status, 0);
    assert_eq!(report(&mut queue), vec![(1, 0); ZONES as usize]);
    device.core().check_zones().unwrap();
    let counts = device.outcome().zones.unwrap();
    // Three writes, two of the limits, and one to a full zone; zones 0, 1 and 2 were reset.
    assert_eq!((counts.empty, counts.refused, counts.finishes, counts.resets), (ZONES as u32, 6, 1, 3));
}

/// A zone by the rules of the standard, without anything of how the drive keeps it.
#[derive(Clone, Default)]
struct Zone {
    state: State,
    data: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum State {
    #[default]
    Empty,
    /// With the time of its opening: the first is closed when another must open.
    Implicit(u64),
    Explicit,
    Closed,
    Full,
}

#[derive(Default)]
struct Twin {
    zones: BTreeMap<u64, Zone>,
    time: u64,
}

impl Twin {
    fn zone(&mut self, zone: u64) -> &mut Zone {
        self.zones.entry(zone).or_default()
    }

    fn count(&self, of: fn(State) -> bool) -> usize {
        self.zones.values().filter(|zone| of(zone.state)).count()
    }

    fn open(&mut self, zone: u64, opened: State) -> u16 {
        let is_open = |state| matches!(state, State::Implicit(_) | State::Explicit);
        let state = self.zone(zone).state;
        if state == State::Empty && self.count(|state| !matches!(state, State::Empty | State::Full)) == ACTIVE_MAX {
            return TOO_MANY_ACTIVE;
        }
        if !is_open(state) && self.count(|state| matches!(state, State::Implicit(_) | State::Explicit)) == OPEN_MAX {
            let oldest = self.zones.values_mut().filter(|zone| matches!(zone.state, State::Implicit(_)));
            match oldest.min_by_key(|zone| if let State::Implicit(time) = zone.state { time } else { u64::MAX }) {
                Some(oldest) => oldest.state = State::Closed,
                None => return TOO_MANY_OPEN,
            }
        }
        self.zone(zone).state = opened;
        0
    }

    fn write(&mut self, zone: u64, at: Option<u64>, data: &[u8]) -> u16 {
        let (state, written) = (self.zone(zone).state, self.zone(zone).data.len() as u64 / UNIT);
        let units = data.len() as u64 / UNIT;
        match at.unwrap_or(written) {
            _ if state == State::Full => return FULL,
            at if at + units > CAPACITY_UNITS => return BOUNDARY,
            at if at != written => return INVALID_WRITE,
            _ => {}
        }
        if !matches!(state, State::Implicit(_) | State::Explicit) {
            self.time += 1;
            let status = self.open(zone, State::Implicit(self.time));
            if status != 0 {
                return status;
            }
        }
        let written = self.zone(zone);
        written.data.extend_from_slice(data);
        if written.data.len() as u64 == CAPACITY_UNITS * UNIT {
            written.state = State::Full;
        }
        0
    }

    fn manage(&mut self, zone: u64, action: u32) -> u16 {
        let state = self.zone(zone).state;
        match (action, state) {
            (RESET, _) => *self.zone(zone) = Zone::default(),
            (FINISH, _) => self.zone(zone).state = State::Full,
            (CLOSE, State::Empty | State::Full) | (OPEN, State::Full) => return INVALID_TRANSITION,
            (CLOSE, _) => self.zone(zone).state = State::Closed,
            (OPEN, _) => return self.open(zone, State::Explicit),
            _ => unreachable!("only these are drawn"),
        }
        0
    }

    fn seen(&mut self) -> Vec<Seen> {
        let of = |zone: &Zone| {
            let written = zone.data.len() as u64 / UNIT;
            match zone.state {
                State::Empty => (1, 0),
                State::Implicit(_) => (2, written),
                State::Explicit => (3, written),
                State::Closed => (4, written),
                State::Full => (0xe, u64::MAX),
            }
        };
        (0..ZONES).map(|zone| of(self.zone(zone))).collect()
    }

    fn read(&mut self, first: u64, units: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        for unit in first..first + units {
            let at = (unit % ZONE_UNITS * UNIT) as usize;
            let data = &self.zone(unit / ZONE_UNITS).data;
            bytes.extend(data.get(at..at + UNIT as usize).unwrap_or(&[0; UNIT as usize]));
        }
        bytes
    }

    /// Open zones are closed, and those without data are empty.
    fn lose_power(&mut self) {
        for zone in self.zones.values_mut().filter(|zone| zone.state != State::Full) {
            zone.state = if zone.data.is_empty() { State::Empty } else { State::Closed };
        }
    }
}

/// Several appends and writes are in flight, over several queues, whose answers come in any order. They are to zones
/// that are open by then, so that only the order of their submission matters.
struct Queues {
    hosts: Vec<Host>,
    in_flight: Vec<BTreeMap<u16, (u16, Option<u64>)>>,
}

impl Queues {
    fn new(server: &Server, count: u16) -> (Host, Self) {
        let admin = Host::admin(server, 0).unwrap();
        let hosts: Vec<Host> = (1..=count).map(|number| admin.queue(server, number, 0).unwrap()).collect();
        let in_flight = hosts.iter().map(|_| BTreeMap::new()).collect();
        (admin, Self { hosts, in_flight })
    }

    fn send(&mut self, which: usize, entry: Entry, data: &[u8], expected: (u16, Option<u64>)) {
        let id = self.hosts[which].send(entry, data, 0).unwrap();
        self.in_flight[which].insert(id, expected);
    }

    /// Takes all answers of a queue, and compares.
    fn collect(&mut self, which: usize) {
        while !self.in_flight[which].is_empty() {
            let Answer { id, status, result, .. } = self.hosts[which].receive().unwrap();
            let (expected, address) = self.in_flight[which].remove(&id).expect("the answer to a command in flight");
            assert_eq!(status, expected);
            assert!(status != 0 || address.is_none_or(|address| address == result), "{result} for {address:?}");
        }
    }
}

fn agrees_with_the_rules(options: &Options, rounds: u64, seed: u64) {
    let device = device_of(&drive(), options);
    let server = served(&device);
    let (_admin, mut queues) = Queues::new(&server, 4);
    let (mut random, mut twin) = (Random::new(seed), Twin::default());
    for round in 0..rounds {
        let which = random.below(4) as usize;
        let zone = random.below(ZONES);
        let written = twin.zone(zone).data.len() as u64 / UNIT;
        let longest = if random.below(5) == 0 { 40 } else { 5 };
        let units = 1 + random.below(longest);
        match random.below(20) {
            0..=8 => {
                // Of one queue, so that the target sees them in this order.
                for _ in 0..=random.below(6) {
                    let data = contents(&mut random, units * UNIT);
                    let address = start_of(zone) + twin.zone(zone).data.len() as u64 / UNIT;
                    let expected = (twin.write(zone, None, &data), Some(address));
                    queues.send(which, append(zone, units), &data, expected);
                }
            }
            9..=12 => {
                let at =
                    if random.below(6) == 0 { random.below(CAPACITY_UNITS) } else { written.min(CAPACITY_UNITS - 1) };
                let units = units.min(ZONE_UNITS - at);
                let data = contents(&mut random, units * UNIT);
                let expected = (twin.write(zone, Some(at), &data), None);
                queues.send(which, Entry::new(WRITE, 1).blocks(start_of(zone) + at, units), &data, expected);
            }
            13..=16 => {
                let action = [CLOSE, FINISH, OPEN, RESET, RESET][random.below(5) as usize];
                let expected = (twin.manage(zone, action), None);
                queues.send(which, manage(zone, action), &[], expected);
            }
            17 | 18 => {
                let first = random.below(ZONES * ZONE_UNITS);
                let units = units.min(ZONES * ZONE_UNITS - first);
                let room = (units * UNIT) as usize;
                let read = queues.hosts[which].round(Entry::new(READ, 1).blocks(first, units), &[], room).unwrap();
                assert_eq!(read.data, twin.read(first, units), "{units} at {first} in round {round}");
            }
            _ => assert_eq!(report(&mut queues.hosts[which]), twin.seen(), "round {round}"),
        }
        // The states, and the limits of all zones together, depend on the order.
        queues.collect(which);
    }
    assert_eq!(report(&mut queues.hosts[0]), twin.seen());
    let mut core = device.core();
    core.check_zones().unwrap();
    core.ftl().check_accounts().unwrap();
    core.ftl().check_map().unwrap();
}

#[test]
fn random_commands_to_zones_agree_with_the_rules() {
    agrees_with_the_rules(&protected(), commands(2000), 1);
}

#[test]
fn random_commands_to_zones_agree_with_the_rules_at_real_pace() {
    agrees_with_the_rules(&Options { pace: Pace::Real, ..protected() }, commands(1500), 2);
}

/// Appends of several queues to one zone get addresses of their own, whatever the order of their answers.
#[test]
fn appends_of_several_queues_share_a_zone_without_a_gap() {
    for pace in [Pace::Virtual, Pace::Real] {
        let device = device_of(&drive(), &Options { pace, ..protected() });
        let server = served(&device);
        let (_admin, mut queues) = Queues::new(&server, 4);
        let mut random = Random::new(5);
        let mut sent = BTreeMap::new();
        for number in 0..CAPACITY_UNITS {
            let which = (number % 4) as usize;
            let data = contents(&mut random, UNIT);
            let id = queues.hosts[which].send(append(2, 1), &data, 0).unwrap();
            sent.insert((which, id), data);
        }
        let mut found = BTreeMap::new();
        for number in 0..CAPACITY_UNITS {
            let which = (number % 4) as usize;
            let answer = queues.hosts[which].receive().unwrap();
            assert_eq!(answer.status, 0);
            found.insert(answer.result, sent.remove(&(which, answer.id)).unwrap());
        }
        let addresses: Vec<u64> = found.keys().copied().collect();
        assert_eq!(addresses, (start_of(2)..start_of(2) + CAPACITY_UNITS).collect::<Vec<_>>());
        let room = (CAPACITY_UNITS * UNIT) as usize;
        let read = queues.hosts[0].round(Entry::new(READ, 1).blocks(start_of(2), CAPACITY_UNITS), &[], room).unwrap();
        assert_eq!(read.data, found.into_values().collect::<Vec<_>>().concat());
        assert_eq!(report(&mut queues.hosts[1])[2].0, 0xe);
        device.core().check_zones().unwrap();
    }
}

/// Fills, finishes and resets zones at random.
fn use_zones(host: &mut Host, twin: &mut Twin, random: &mut Random, commands: u64) {
    for _ in 0..commands {
        let zone = random.below(ZONES);
        let (entry, data, expected) = match random.below(12) {
            0 => (manage(zone, RESET), Vec::new(), twin.manage(zone, RESET)),
            1 if random.below(3) == 0 => (manage(zone, FINISH), Vec::new(), twin.manage(zone, FINISH)),
            2 => (manage(zone, OPEN), Vec::new(), twin.manage(zone, OPEN)),
            _ => {
                let units = 1 + random.below(20);
                let data = contents(random, units * UNIT);
                let expected = twin.write(zone, None, &data);
                (append(zone, units), data, expected)
            }
        };
        assert_eq!(host.round(entry, &data, 0).unwrap().status, expected);
    }
}

fn holds_what_the_twin_holds(device: &Arc<SimulatedDevice>, host: &mut Host, twin: &mut Twin) {
    assert_eq!(report(host), twin.seen());
    for zone in 0..ZONES {
        let room = (ZONE_UNITS * UNIT) as usize;
        let read = host.round(Entry::new(READ, 1).blocks(start_of(zone), ZONE_UNITS), &[], room).unwrap();
        assert_eq!(read.data, twin.read(start_of(zone), ZONE_UNITS), "zone {zone}");
    }
    let mut core = device.core();
    core.check_zones().unwrap();
    core.ftl().check_accounts().unwrap();
    core.ftl().check_map().unwrap();
}

#[test]
fn zones_outlive_losses_of_power() {
    let device = device_of(&drive(), &protected());
    let server = served(&device);
    let (mut random, mut twin) = (Random::new(7), Twin::default());
    for _ in 0..60 {
        let admin = Host::admin(&server, 0).unwrap();
        let mut queue = admin.queue(&server, 1, 0).unwrap();
        use_zones(&mut queue, &mut twin, &mut random, 30);
        device.carry_out(&Command::CutPower).unwrap();
        twin.lose_power();
        assert!(queue.round(Entry::new(REPORT, 1), &[], 4096).is_err(), "the connection ends with the power");
        let admin = Host::admin(&server, 0).unwrap();
        let mut queue = admin.queue(&server, 1, 0).unwrap();
        holds_what_the_twin_holds(&device, &mut queue, &mut twin);
    }
    assert_eq!(device.core().power_cycles(), 60);
}

/// In order or killed: a process that is killed has saved nothing at its end.
#[test]
fn another_process_finds_the_zones_in_the_file() {
    let path = file("zones");
    let (mut random, mut twin) = (Random::new(9), Twin::default());
    for number in 0..12 {
        let options = Options { contents: Contents::File(path.clone()), ..protected() };
        let device = device_of(&drive(), &options);
        let server = served(&device);
        let admin = Host::admin(&server, 0).unwrap();
        let mut queue = admin.queue(&server, 1, 0).unwrap();
        holds_what_the_twin_holds(&device, &mut queue, &mut twin);
        use_zones(&mut queue, &mut twin, &mut random, 40);
        if number % 2 == 0 {
            device.core().close().unwrap();
        }
        twin.lose_power();
        drop((queue, admin, server));
    }
    std::fs::remove_file(path).unwrap();
}

fn file(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("ssdlab-nvme-{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn what_zones_cannot_be_served_with_is_refused_by_its_key() {
    let refused = |drive: &Drive, options: &Options| match SimulatedDevice::new(drive, options) {
        Err(OpenError::Specification(error)) => error.to_string(),
        other => panic!("{:?}", other.map(|_| "opened")),
    };
    let unprotected = Options { power_loss_protection: Some(false), ..Options::default() };
    assert!(refused(&drive(), &unprotected).contains("write_buffer.power_loss_protection"));
    let faults = FlashFaults { erase_failures: 0.1, ..FlashFaults::default() };
    assert!(refused(&drive(), &Options { faults, ..protected() }).contains("failures"));
    let mut with_areas = drive();
    with_areas.zones.random_write_area_bytes = 8 * UNIT;
    with_areas.zones.flush_granularity_bytes = 4 * UNIT;
    assert!(refused(&with_areas, &protected()).contains("zones.random_write_area_bytes"));
}
