//! The NVMe target against a small host: every field that Linux asks for, random commands against a model, bytes that
//! break the rules, losses of power. The same against Linux is in `tests/serving/test_nvme.py`.

mod checks;
mod initiator;
mod placement;
#[expect(dead_code, reason = "a sequence is not shortened here")]
#[path = "../tiny/durability.rs"]
mod simulation;
mod through;
#[path = "../tiny/mod.rs"]
mod tiny;
mod together;
mod zones;

use initiator::{Answer, DISCOVERY, Entry, Host, connect_data, connecting, opening, unit};
use simulation::{Scenario, operations, run_caught};
use ssdlab_blockdev::drive::{Command, Contents, Options, Pace, SimulatedDevice, SimulatedQueue};
use ssdlab_blockdev::nand::FlashFaults;
use ssdlab_blockdev::nvme::{Health, Identity, Namespace, Ocp, Presented, Server, Smart, serve};
use ssdlab_blockdev::placement::Placement;
use ssdlab_blockdev::zones::Zones;
use ssdlab_engine::random::Random;
use ssdlab_engine::specification::Drive;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};
use through::{in_blocks, through};
use tiny::{Model, Tiny, UNIT, contents};

const FLUSH: u8 = 0;
const WRITE: u8 = 1;
const READ: u8 = 2;
const ZEROES: u8 = 8;
const DATASET: u8 = 9;
/// I/O Management Send.
const LEAVE: u8 = 0x1d;

const WRITE_PROTECTED: u16 = 0x20;
const OUT_OF_RANGE: u16 = 0x80;
const INVALID_FIELD: u16 = 0x02;
const INVALID_OPCODE: u16 = 0x01;
const INVALID_NAMESPACE: u16 = 0x0b;
const CONNECT_INVALID: u16 = 0x182;

fn device_of(drive: &Drive, options: &Options) -> Arc<SimulatedDevice> {
    Arc::new(SimulatedDevice::new(drive, options).map_err(|error| format!("{error:?}")).unwrap())
}

fn device(tiny: &Tiny, options: &Options) -> Arc<SimulatedDevice> {
    device_of(&tiny.drive(), options)
}

fn served(device: &Arc<SimulatedDevice>) -> Server {
    served_with(device, &Tiny::default().drive(), |_| {
        let smart = Smart { data_units_written: 7, power_cycles: Some(3), critical_warning: 8, ..Smart::default() };
        let ocp = Ocp { physical_media_units_written_bytes: 1 << 40, total_nuse: 12, ..Ocp::default() };
        Health { smart, ocp, live_units: vec![12], ..Health::default() }
    })
}

/// With these figures of the drive in the logs.
fn served_with(device: &Arc<SimulatedDevice>, drive: &Drive, figures: fn(&Arc<SimulatedDevice>) -> Health) -> Server {
    let seen = device.clone();
    let has_handles = device.core().handles().is_some();
    let unique = device.core().unique();
    let presented = Presented {
        identity: Identity { model: "tiny".to_owned(), unique },
        namespaces: Namespace::all_of(drive, &device.core().capabilities()),
        placement: has_handles.then(|| Box::new(device.clone()) as Box<dyn Placement>),
        zones: drive.zones.is_on().then(|| Box::new(device.clone()) as Box<dyn Zones>),
        figures: Box::new(move || Ok(figures(&seen))),
    };
    serve(Box::new(SimulatedQueue::new(device.clone())), presented, ("127.0.0.1", 0)).unwrap()
}

/// A drive that loses what was not flushed.
fn unprotected() -> Options {
    Options { power_loss_protection: Some(false), ..Options::default() }
}

fn started() -> (Arc<SimulatedDevice>, Server) {
    let device = device(&Tiny::default(), &Options::default());
    let server = served(&device);
    (device, server)
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// What Linux 6.1, 6.12 and 7.2 refuse to do without; each was left out in turn to find it.
#[test]
fn the_controller_has_every_field_that_linux_asks_for() {
    let device = device(&Tiny::default(), &unprotected());
    let server = served(&device);
    let mut host = Host::admin(&server, 0).unwrap();
    let capabilities = host.property(0).unwrap();
    assert_eq!(capabilities & 0xffff, 127);
    assert_eq!(capabilities >> 37 & 1, 1);
    assert_eq!(host.property(8).unwrap(), 0x2_0000);
    let page = host.identify(1, 0).unwrap().data;
    assert_eq!(u16_at(&page, 78), host.controller);
    assert!(u16_at(&page, 320) > 0 && u32_at(&page, 536) & 3 != 0 && u16_at(&page, 1800) == 0);
    assert!(u16_at(&page, 514) == 128 && u32_at(&page, 1792) == (64 + 8192) / 16 && u32_at(&page, 1796) >= 1);
    assert_eq!((page[111], page[512], page[513], page[525] & 1), (1, 0x66, 0x44, 1));
    assert_eq!(u16_at(&page, 520) & 0xc, 0xc);
    let nqn = server.nqn().as_bytes();
    assert_eq!(&page[768..768 + nqn.len()], nqn);
    assert_eq!(page[768 + nqn.len()], 0);
    let page = host.identify(0, 1).unwrap().data;
    let blocks = 320;
    assert_eq!((u64_at(&page, 0), u64_at(&page, 8), u64_at(&page, 16), page[130]), (blocks, blocks, 12, 9));
    assert_eq!(host.identify(2, 0).unwrap().data[..8], [1, 0, 0, 0, 0, 0, 0, 0]);
    let names = host.identify(3, 1).unwrap().data;
    assert_eq!((names[0], names[12], names[32], names[52]), (1, 2, 3, 4));
    let independent = host.identify(8, 1).unwrap().data;
    assert_eq!(independent[14] & 1, 1);
    assert!(host.identify(6, 0).unwrap().data[1] > 0);
    assert_eq!(host.identify(0, 7).unwrap().data, vec![0; 4096]);
    assert_eq!(host.identify(3, 7).unwrap().status, INVALID_NAMESPACE);
    assert_eq!(host.identify(0x55, 0).unwrap().status, INVALID_FIELD);
    let queues = host.round(Entry::new(9, 0).dword(10, 7).dword(11, 0x3f_003f), &[], 0).unwrap();
    assert_eq!((queues.status, queues.result), (0, 0x0f_000f));
    assert_eq!(host.round(Entry::new(0x18, 0), &[], 0).unwrap().status, 0);
    host.set_property(0x14, 0x46_4001).unwrap();
    assert_eq!(host.property(0x1c).unwrap() >> 2 & 3, 2);
}

#[test]
fn logs_show_the_figures_and_list_what_is_there() {
    let (_device, server) = started();
    let mut host = Host::admin(&server, 3).unwrap();
    let health = host.log(2, 512, 0).unwrap().data;
    assert_eq!((health[0], u64_at(&health, 48), u64_at(&health, 112)), (8, 7, 3));
    assert_eq!(host.log(2, 16, 48).unwrap().data, health[48..64]);
    let ocp = host.log(0xc0, 512, 0).unwrap().data;
    assert_eq!((u64_at(&ocp, 0), u64_at(&ocp, 152), ocp[496], ocp[511]), (1 << 40, 12, 0xc5, 0xaf));
    let supported = host.log(0, 1024, 0).unwrap().data;
    for number in 0..=255 {
        let is_listed = u32_at(&supported, 4 * number) & 1 == 1;
        assert_eq!(host.log(number as u32, 512, 0).unwrap().status == 0, is_listed, "log {number:#x}");
    }
    // A command is refused exactly if the log of effects does not list it.
    let effects = host.log(5, 4096, 0).unwrap().data;
    let mut queue = host.queue(&server, 1, 0).unwrap();
    for opcode in (0..=255u8).filter(|&opcode| opcode != 0x7f) {
        let is_listed = u32_at(&effects, 1024 + 4 * usize::from(opcode)) & 1 == 1;
        let status = queue.round(Entry::new(opcode, 1).blocks(1 << 40, 1), &[], 0).unwrap().status;
        assert_eq!(status != INVALID_OPCODE, is_listed, "command {opcode:#x}");
        // A request for events has no answer.
        if opcode != 0x0c {
            let is_listed = u32_at(&effects, 4 * usize::from(opcode)) & 1 == 1;
            let status = host.round(Entry::new(opcode, 0), &[], 0).unwrap().status;
            assert_eq!(status != INVALID_OPCODE, is_listed, "admin command {opcode:#x}");
        }
    }
    let errors = host.log(1, 128, 0).unwrap().data;
    assert!(u64_at(&errors, 0) == u64_at(&errors, 64) + 1);
}

#[test]
fn discovery_names_the_drive_and_where_it_is() {
    let (_device, server) = started();
    let mut host = Host::open(&server, 0).unwrap();
    assert_eq!(host.connect(DISCOVERY, 0, 0xffff, 32, 0).unwrap().status, 0);
    let page = host.log(0x70, 2048, 0).unwrap().data;
    assert_eq!((u64_at(&page, 8), page[1024], page[1025]), (1, 3, 1));
    let text = |at: usize, length: usize| String::from_utf8_lossy(&page[at..at + length]).into_owned();
    let (port, address) = (server.address().port().to_string(), server.address().ip().to_string());
    assert_eq!(text(1024 + 32, 32).trim_end(), port);
    assert_eq!(text(1024 + 256, 256).trim_end_matches('\0'), server.nqn());
    assert_eq!(text(1024 + 512, 256).trim_end(), address);
}

#[test]
fn connect_is_refused_with_the_field_that_is_wrong() {
    let (_device, server) = started();
    let admin = Host::admin(&server, 0).unwrap();
    let refused = |nqn: &str, queue: u16, controller: u16, entries: u16| {
        let answer = Host::open(&server, 0).unwrap().connect(nqn, queue, controller, entries, 0).unwrap();
        (answer.status, answer.result)
    };
    let (nqn, id) = (server.nqn(), admin.controller);
    assert_eq!(refused("nqn.2014-08.org.example:other", 0, 0xffff, 32), (CONNECT_INVALID, 1 << 16 | 256));
    assert_eq!(refused(nqn, 0, 1, 32), (CONNECT_INVALID, 1 << 16 | 16));
    assert_eq!(refused(nqn, 0, 0xffff, 1024), (CONNECT_INVALID, 44));
    assert_eq!(refused(nqn, 1, id + 1, 32), (CONNECT_INVALID, 1 << 16 | 16));
    assert_eq!(refused(nqn, 17, id, 32), (CONNECT_INVALID, 42));
    let mut queue = admin.queue(&server, 1, 0).unwrap();
    assert_eq!(refused(nqn, 1, id, 32).0, 0x0c);
    assert_eq!(queue.round(Entry::new(READ, 1).blocks(0, 1), &[], UNIT as usize).unwrap().status, 0);
    assert_eq!(server.hosts(), 1);
}

#[test]
fn a_disabled_controller_loses_its_queues_and_a_lost_admin_queue_everything() {
    let (_device, server) = started();
    let mut admin = Host::admin(&server, 0).unwrap();
    let mut queue = admin.queue(&server, 1, 0).unwrap();
    let flush = |queue: &mut Host| queue.round(Entry::new(FLUSH, 1), &[], 0);
    assert_eq!(flush(&mut queue).unwrap().status, 0);
    admin.set_property(0x14, 0x46_0000).unwrap();
    assert!(flush(&mut queue).is_err());
    admin.set_property(0x14, 0x46_0001).unwrap();
    let mut queue = admin.queue(&server, 1, 0).unwrap();
    assert_eq!(flush(&mut queue).unwrap().status, 0);
    drop(admin);
    assert!(flush(&mut queue).is_err());
    // A host that is silent for its keep-alive time is gone.
    let mut host = Host::open(&server, 0).unwrap();
    assert_eq!(host.connect(server.nqn(), 0, 0xffff, 32, 200).unwrap().status, 0);
    assert!(host.receive().is_err());
}

#[test]
fn a_drive_that_turns_read_only_tells_the_host_that_waits_for_it() {
    let faults = FlashFaults { program_failures: 1.0, ..FlashFaults::default() };
    let device = device(&Tiny::default(), &Options { faults, ..Options::default() });
    let server = served(&device);
    let mut admin = Host::admin(&server, 0).unwrap();
    assert_eq!(admin.round(Entry::new(9, 0).dword(10, 0x0b).dword(11, 8), &[], 0).unwrap().status, 0);
    let waiting = admin.send(Entry::new(0x0c, 0), &[], 0).unwrap();
    let mut queue = admin.queue(&server, 1, 0).unwrap();
    let mut write = |block| queue.round(Entry::new(WRITE, 1).blocks(block, 1), &[1; UNIT as usize], 0).unwrap().status;
    // Every program fails, until too few erase units are left.
    let refused = (0..2000).map(|number| write(number % 320)).find(|&status| status != 0);
    assert_eq!(refused, Some(WRITE_PROTECTED));
    let event = admin.receive().unwrap();
    assert_eq!((event.id, event.result), (waiting, 0x02_0001));
    assert_eq!(queue.round(Entry::new(READ, 1).blocks(0, 1), &[], UNIT as usize).unwrap().status, 0);
}

/// A command in flight: what it does to the model, and the blocks that no other may touch.
struct Flight {
    entry: Entry,
    first: u64,
    count: u64,
    data: Vec<u8>,
}

struct Queue {
    host: Host,
    flights: BTreeMap<u16, Flight>,
}

/// Random commands over several queues, whose answers come in any order.
fn agrees_with_a_model(drive: &Drive, options: &Options, digests: u8, commands: u64, seed: u64) {
    let device = device_of(drive, options);
    let whole = drive.ftl.user_bytes / UNIT;
    let has_handles = device.core().handles().is_some();
    let server = served_with(&device, drive, |_| Health::default());
    let admin = Host::admin(&server, digests).unwrap();
    let mut random = Random::new(seed);
    let mut model = Model::default();
    let mut queues: Vec<Queue> = (1..=4)
        .map(|number| Queue { host: admin.queue(&server, number, digests).unwrap(), flights: BTreeMap::new() })
        .collect();
    for _ in 0..commands {
        let which = random.below(queues.len() as u64) as usize;
        if queues[which].flights.len() >= 8 {
            collect(&mut queues[which], &mut model);
        }
        let flight = draw(&mut random, whole, has_handles);
        // Only what does not depend on the order of requests in flight has one right answer.
        while let Some(other) = queues.iter_mut().find(|queue| queue.flights.values().any(|one| meets(one, &flight))) {
            collect(other, &mut model);
        }
        let room = if flight.entry.is(READ) { (flight.count * UNIT) as usize } else { 0 };
        let queue = &mut queues[which];
        let id = queue.host.send(flight.entry, &flight.data, room).unwrap();
        queue.flights.insert(id, flight);
    }
    for queue in &mut queues {
        while !queue.flights.is_empty() {
            collect(queue, &mut model);
        }
    }
    let read = queues[0].host.round(Entry::new(READ, 1).blocks(0, whole), &[], (whole * UNIT) as usize).unwrap();
    assert_eq!(read.data, model.read(0, whole * UNIT));
    let mut core = device.core();
    core.ftl().check_accounts().unwrap();
    core.ftl().check_map().unwrap();
}

fn meets(one: &Flight, other: &Flight) -> bool {
    let are_reads = one.entry.is(READ) && other.entry.is(READ);
    !are_reads && one.first < other.first + other.count && other.first < one.first + one.count
}

fn draw(random: &mut Random, blocks: u64, has_handles: bool) -> Flight {
    if has_handles && random.below(40) == 0 {
        // A handle leaves its reclaim unit, whatever is in flight.
        let identifier = random.below(3) as u16;
        let data = identifier.to_le_bytes().to_vec();
        return Flight { entry: Entry::new(LEAVE, 1).dword(10, 1), first: 0, count: 0, data };
    }
    let first = random.below(blocks);
    // Now and then more than fits into a capsule.
    let longest = if random.below(8) == 0 { 60 } else { 6 };
    let count = (1 + random.below(longest)).min(blocks - first);
    let through = if random.below(6) == 0 { 1 << 30 } else { 0 };
    let plain = |opcode: u8, bits: u32| {
        let entry = Entry::new(opcode, 1).blocks(first, count);
        entry.dword(12, (count as u32 - 1) | bits)
    };
    let (entry, data) = match random.below(12) {
        0..=4 => {
            let (directive, identifier) =
                if has_handles && random.below(4) > 0 { (2 << 20, random.below(5) as u32) } else { (0, 0) };
            (plain(WRITE, through | directive).dword(13, identifier << 16), contents(random, count * UNIT))
        }
        5..=8 => (plain(READ, 0), Vec::new()),
        9 => (plain(ZEROES, through | ((random.below(2) as u32) << 25)), Vec::new()),
        10 => {
            // As Linux does: one range, and room for 256.
            let mut range = vec![0; if random.below(2) == 0 { 16 } else { 4096 }];
            range[4..8].copy_from_slice(&(count as u32).to_le_bytes());
            range[8..16].copy_from_slice(&first.to_le_bytes());
            (Entry::new(DATASET, 1).dword(11, 4), range)
        }
        _ => return Flight { entry: Entry::new(FLUSH, 1), first, count: 0, data: Vec::new() },
    };
    Flight { entry, first, count, data }
}

fn collect(queue: &mut Queue, model: &mut Model) {
    let answer: Answer = queue.host.receive().unwrap();
    let flight = queue.flights.remove(&answer.id).expect("the answer to a command in flight");
    assert_eq!(answer.status, 0);
    let (offset_bytes, length_bytes) = (flight.first * UNIT, flight.count * UNIT);
    if flight.entry.is(READ) {
        assert_eq!(answer.data, model.read(offset_bytes, length_bytes), "{} blocks at {}", flight.count, flight.first);
    } else if flight.entry.is(WRITE) {
        model.write(offset_bytes, &flight.data);
    } else if flight.count > 0 {
        model.trim(offset_bytes, length_bytes);
    }
}

/// `SSDLAB_NVME_COMMANDS` sets their number, for a longer run.
fn commands(usual: u64) -> u64 {
    std::env::var("SSDLAB_NVME_COMMANDS").map_or(usual, |text| text.parse().expect("a number of commands"))
}

#[test]
fn random_commands_agree_with_a_model() {
    let drive = Tiny::default().drive();
    agrees_with_a_model(&drive, &Options::default(), 0, commands(20_000), 1);
    agrees_with_a_model(&drive, &Options::default(), 3, commands(5_000), 2);
}

#[test]
fn random_commands_agree_with_a_model_at_real_pace() {
    let options = Options { pace: Pace::Real, ..Options::default() };
    agrees_with_a_model(&Tiny::default().drive(), &options, 0, 2_000, 3);
}

#[test]
fn commands_that_are_wrong_fail_alone() {
    let (_device, server) = started();
    let admin = Host::admin(&server, 0).unwrap();
    let mut queue = admin.queue(&server, 1, 0).unwrap();
    let unit_bytes = UNIT as usize;
    let mut status = |entry: Entry, data: &[u8], room: usize| queue.round(entry, data, room).unwrap().status;
    assert_eq!(status(Entry::new(READ, 1).blocks(320, 1), &[], unit_bytes), OUT_OF_RANGE);
    assert_eq!(status(Entry::new(READ, 1).blocks(u64::MAX, 1), &[], unit_bytes), OUT_OF_RANGE);
    assert_eq!(status(Entry::new(WRITE, 1).blocks(319, 2), &vec![0; 2 * unit_bytes], 0), OUT_OF_RANGE);
    assert_eq!(status(Entry::new(READ, 2).blocks(0, 1), &[], unit_bytes), INVALID_NAMESPACE);
    // Room for less than is read, and data for less than is written.
    assert_eq!(status(Entry::new(READ, 1).blocks(0, 2), &[], unit_bytes), 0x0f);
    assert_eq!(status(Entry::new(WRITE, 1).blocks(0, 2), &vec![0; unit_bytes], 0), 0x0f);
    let mut range = vec![0; 16];
    range[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(status(Entry::new(DATASET, 1).dword(11, 4), &range, 0), OUT_OF_RANGE);
    assert_eq!(status(Entry::new(FLUSH, u32::MAX), &[], 0), 0);
}

/// The target's budget for the data of commands. Other tests of this process take some memory at the same time.
const MEMORY_BYTES_MAX: u64 = 128 << 20;

/// Ten thousand connections whose bytes break the rules somewhere. Another connection is not disturbed, and memory does
/// not grow.
#[test]
fn malformed_units_end_their_connection_and_nothing_else() {
    let (_device, server) = started();
    let mut honest = Host::admin(&server, 0).unwrap();
    let mut random = Random::new(4);
    let mut honest_entry = Entry::new(6, 0).dword(10, 1).0;
    honest_entry[39] = 0x5a;
    honest_entry[32..36].copy_from_slice(&4096u32.to_le_bytes());
    let mut connect = connecting(0, 32, 0).0;
    connect[39] = 0x01;
    connect[32..36].copy_from_slice(&1024u32.to_le_bytes());
    let data = connect_data(server.nqn(), 0xffff);
    let parts = [
        opening(0),
        unit(4, 0, &connect, &data, 0),
        unit(4, 0, &honest_entry, &[], 0),
        unit(6, 4, &[0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0], &[7; 16], 0),
    ];
    let before_bytes = resident_bytes();
    for number in 0..10_000u64 {
        let mut bytes = Vec::new();
        for part in &parts {
            let mut part = part.clone();
            if random.below(3) == 0 {
                for _ in 0..=random.below(4) {
                    // Most changes are to headers, where they matter.
                    let within = if random.below(2) == 0 { 24 } else { part.len() as u64 };
                    part[random.below(within) as usize] = random.bits() as u8;
                }
            }
            if random.below(12) == 0 {
                part.truncate(random.below(part.len() as u64) as usize);
            }
            bytes.extend(part);
        }
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
        // The target may have closed it.
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let mut said = Vec::new();
        let ended = stream.read_to_end(&mut said);
        let is_silent = ended.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
        assert!(!is_silent, "connection {number} was not closed");
        if number % 100 == 0 {
            assert_eq!(honest.identify(1, 0).unwrap().status, 0);
        }
    }
    let more_bytes = resident_bytes().saturating_sub(before_bytes);
    assert!(more_bytes < MEMORY_BYTES_MAX, "{more_bytes} bytes more");
}

/// Inputs that the fuzzer kept, and these with bytes changed at random. `SSDLAB_FUZZ_RUNS` sets their number.
#[test]
fn no_bytes_break_the_target() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/nvme.hex");
    let corpus = std::fs::read_to_string(corpus).unwrap();
    let kept: Vec<Vec<u8>> = corpus.lines().map(bytes_of).collect();
    assert!(kept.len() > 10);
    kept.iter().for_each(|says| checks::check(says));
    let runs = std::env::var("SSDLAB_FUZZ_RUNS").map_or(1000, |text| text.parse().expect("a number of inputs"));
    let mut random = Random::new(6);
    for _ in 0..runs {
        let mut says = kept[random.below(kept.len() as u64) as usize].clone();
        for _ in 0..=random.below(4) {
            let at = random.below(says.len() as u64) as usize;
            says[at] = random.bits() as u8;
        }
        checks::check(&says);
    }
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks_exact(2);
    digits.map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

/// The power goes at random moments. Hosts lose their connections, connect again, and find what was flushed; a block
/// that was written since has its old or its new contents.
#[test]
fn what_was_flushed_is_there_after_a_loss_of_power() {
    let tiny = Tiny::default();
    let device = device(&tiny, &unprotected());
    let server = served(&device);
    let mut random = Random::new(5);
    let mut safe = Model::default();
    for _loss in 0..100 {
        let admin = Host::admin(&server, 0).unwrap();
        let mut queue = admin.queue(&server, 1, 0).unwrap();
        let whole = queue.round(Entry::new(READ, 1).blocks(0, tiny.user_units), &[], (tiny.user_units * UNIT) as usize);
        let found = whole.unwrap().data;
        assert_eq!(found, safe.read(0, tiny.user_units * UNIT));
        let mut written: BTreeMap<u64, Vec<Vec<u8>>> = BTreeMap::new();
        for _ in 0..random.below(60) {
            let block = random.below(tiny.user_units);
            if random.below(8) == 0 {
                assert_eq!(queue.round(Entry::new(FLUSH, 1), &[], 0).unwrap().status, 0);
                for (block, contents) in std::mem::take(&mut written) {
                    safe.write(block * UNIT, contents.last().expect("a write"));
                }
                continue;
            }
            let data = contents(&mut random, UNIT);
            assert_eq!(queue.round(Entry::new(WRITE, 1).blocks(block, 1), &data, 0).unwrap().status, 0);
            written.entry(block).or_default().push(data);
        }
        device.carry_out(&Command::CutPower).unwrap();
        assert!(queue.round(Entry::new(FLUSH, 1), &[], 0).is_err(), "the connection ends with the power");
        let admin = Host::admin(&server, 0).unwrap();
        let mut queue = admin.queue(&server, 1, 0).unwrap();
        for (block, contents) in written {
            let read = queue.round(Entry::new(READ, 1).blocks(block, 1), &[], UNIT as usize).unwrap().data;
            assert!(read == safe.read(block * UNIT, UNIT) || contents.contains(&read), "block {block}");
            safe.write(block * UNIT, &read);
        }
    }
    assert_eq!(device.core().power_cycles(), 100);
}

/// `cargo run --release -p ssdlab-blockdev --example durability -- HOURS 0 nvme` goes on for hours.
#[test]
fn every_kind_of_drive_keeps_its_promises_through_this_front() {
    let mut power_cycles = 0;
    for scenario in (0..36).map(Scenario::of_seed) {
        let steps: Vec<_> = operations(&scenario, 400).into_iter().map(in_blocks).collect();
        match run_caught(&scenario, &steps, through) {
            Ok(summary) => power_cycles += summary.power_cycles,
            Err(wrong) => panic!("seed {}: {wrong}\n{scenario:?}", scenario.seed),
        }
    }
    assert!(power_cycles > 50, "{power_cycles}");
}

/// Their counts were lost with the power and with the process, so that such drives were not served.
#[test]
fn namespaces_have_their_own_blocks_and_counts_through_losses_of_power() {
    const BLOCKS: [u64; 2] = [160, 128];
    let mut drive = Tiny::default().drive();
    let listed = BLOCKS.map(|blocks| serde_json::json!({"name": blocks.to_string(), "size_bytes": blocks * UNIT}));
    drive.namespaces = serde_json::from_value(listed.to_vec().into()).unwrap();
    let file = std::env::temp_dir().join(format!("ssdlab-namespaces-{}", std::process::id()));
    let options = Options { contents: Contents::File(file.clone()), ..unprotected() };
    let mut random = Random::new(9);
    let mut models = [Model::default(), Model::default()];
    let mut written = [0, 0];
    for loss in 0..12 {
        let device = device_of(&drive, &options);
        let server = served_with(&device, &drive, |_| Health { live_units: vec![1, 2], ..Health::default() });
        for _ in 0..2 {
            let mut admin = Host::admin(&server, 0).unwrap();
            assert_eq!(admin.identify(2, 0).unwrap().data[..12], [1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
            let mut queue = admin.queue(&server, 1, 0).unwrap();
            for (id, model) in (1..).zip(&mut models) {
                let blocks = BLOCKS[id as usize - 1];
                assert_eq!(u64_at(&admin.identify(0, id).unwrap().data, 0), blocks);
                let whole = queue.round(Entry::new(READ, id).blocks(0, blocks), &[], (blocks * UNIT) as usize).unwrap();
                assert_eq!(whole.data, model.read(0, blocks * UNIT), "namespace {id}, {loss}");
                let beyond = queue.round(Entry::new(READ, id).blocks(blocks, 1), &[], UNIT as usize).unwrap();
                assert_eq!(beyond.status, OUT_OF_RANGE);
                for _ in 0..300 {
                    let block = random.below(blocks);
                    let data = contents(&mut random, UNIT);
                    assert_eq!(queue.round(Entry::new(WRITE, id).blocks(block, 1), &data, 0).unwrap().status, 0);
                    model.write(block * UNIT, &data);
                    written[id as usize - 1] += UNIT;
                }
                let mut range = [0; 16];
                range[4] = 5;
                range[8] = random.below(blocks - 5) as u8;
                assert_eq!(queue.round(Entry::new(DATASET, id).dword(11, 4), &range, 0).unwrap().status, 0);
                model.trim(u64::from(range[8]) * UNIT, 5 * UNIT);
            }
            assert_eq!(queue.round(Entry::new(FLUSH, 1), &[], 0).unwrap().status, 0);
            device.carry_out(&Command::CutPower).unwrap();
            assert!(queue.round(Entry::new(FLUSH, 1), &[], 0).is_err(), "the connection ends with the power");
            let mut core = device.core();
            core.ftl().check_accounts().unwrap();
            let counted: Vec<u64> = core.ftl().namespaces().iter().map(|each| each.ledger.host_written_bytes).collect();
            assert_eq!(counted, written);
        }
    }
    std::fs::remove_file(file).unwrap();
}

/// The host that has the drive attached comes back, and is told not to.
#[test]
fn at_the_end_hosts_are_refused_for_good() {
    let (_device, mut server) = started();
    let (nqn, address) = (server.nqn().to_owned(), server.address());
    let admin = Host::admin(&server, 0).unwrap();
    let mut queue = admin.queue(&server, 1, 0).unwrap();
    let started = Instant::now();
    let stopping = std::thread::spawn(move || server.stop());
    assert!(queue.receive().is_err());
    let answer = Host::open_at(address, 0).unwrap().connect(&nqn, 0, 0xffff, 32, 0).unwrap();
    assert_eq!(answer.status, CONNECT_INVALID);
    stopping.join().unwrap();
    assert!(started.elapsed() < Duration::from_secs(10));
    assert!(Host::open_at(address, 0).is_err());
}
