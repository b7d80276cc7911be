//! NBD connections: what arbitrary bytes lead to, whether reads, holes and block status agree with a model, and whether
//! clients are kept within their limits.

mod checks;
#[expect(dead_code, reason = "one drive is served here")]
#[path = "../tiny/mod.rs"]
mod tiny;

use checks::{Asked, Memory, SIZE_BYTES, UNIT_BYTES, UNREADABLE_UNIT, Words, answer, check, heard, through_options};
use proptest::prelude::*;
use ssdlab_blockdev::device::Device;
use ssdlab_blockdev::drive::{Achieved, Command, Options, Pace, SimulatedDevice, SimulatedQueue};
use ssdlab_blockdev::nbd::{Address, Limits, Server, serve};
use ssdlab_blockdev::queue::{Immediate, Queue};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tiny::{Tiny, UNIT};

const OPTION: &[u8] = b"IHAVEOPT";
const GO: &[u8] = &[0; 6];
const SELECT: &[u8] = b"\0\0\0\0\0\0\0\x01\0\0\0\x0fbase:allocation";

/// Flags, options, and GO.
fn greeting(is_structured: bool) -> Vec<u8> {
    let mut says = vec![0, 0, 0, 3];
    let options: &[(u32, &[u8])] = if is_structured { &[(8, b""), (10, SELECT), (7, GO)] } else { &[(7, GO)] };
    for (number, data) in options {
        says.extend([OPTION, &number.to_be_bytes(), &(data.len() as u32).to_be_bytes(), data].concat());
    }
    says
}

fn request(asked: &Asked, data: &[u8]) -> Vec<u8> {
    let mut says = 0x2560_9513u32.to_be_bytes().to_vec();
    says.extend([asked.flags.to_be_bytes(), asked.command.to_be_bytes()].concat());
    says.extend([asked.cookie.to_be_bytes(), asked.offset_bytes.to_be_bytes()].concat());
    says.extend(asked.length_bytes.to_be_bytes());
    says.extend(data);
    says
}

/// Zeroes and other bytes, in runs.
fn contents() -> impl Strategy<Value = Vec<u8>> {
    let run = (any::<bool>().prop_map(|is_zero| if is_zero { 0 } else { 7 }), 1..40_000usize);
    proptest::collection::vec(run, 1..5)
        .prop_map(|runs| runs.into_iter().flat_map(|(byte, length)| vec![byte; length]).collect())
}

/// Requests that an honest client may send, and some past the end or with flags that they have not.
fn requests() -> impl Strategy<Value = Vec<(Asked, Vec<u8>)>> {
    let offset = prop_oneof![0..SIZE_BYTES + 5000, (0..SIZE_BYTES / UNIT_BYTES).prop_map(|unit| unit * UNIT_BYTES)];
    let length = prop_oneof![0..200_000u32, (0..60u32).prop_map(|units| units * UNIT_BYTES as u32)];
    let command = prop_oneof![4 => Just(0u16), 4 => Just(1), 1 => 2..9u16, 1 => Just(4), 1 => Just(6), 2 => Just(7)];
    let flags = prop_oneof![8 => Just(0u16), 1 => Just(1), 1 => Just(2), 1 => Just(8), 1 => any::<u16>()];
    let one = (flags, command, any::<u64>(), offset, length, contents()).prop_map(
        |(flags, command, cookie, offset_bytes, length, data)| match command {
            // It is sent in the end.
            2 => (Asked { flags, command: 3, cookie, offset_bytes: 0, length_bytes: 0 }, Vec::new()),
            1 => (Asked { flags, command, cookie, offset_bytes, length_bytes: data.len() as u32 }, data),
            _ => (Asked { flags, command, cookie, offset_bytes, length_bytes: length }, Vec::new()),
        },
    );
    proptest::collection::vec(one, 1..25)
}

/// The obvious twin of the drive behind the server: a byte a place, and nothing for a hole.
struct Model(Vec<Option<u8>>);

impl Model {
    /// The error that the protocol asks for, or what is read or reported.
    fn expect(&mut self, asked: &Asked, data: &[u8], has_status: bool) -> (u32, Option<Vec<Option<u8>>>) {
        let known = match asked.command {
            6 => 1 | 2,
            7 => 1 | 8,
            _ => 1,
        };
        let range = asked.offset_bytes as usize..asked.offset_bytes as usize + asked.length_bytes as usize;
        if asked.flags & !known != 0 || !matches!(asked.command, 0 | 1 | 3 | 4 | 6 | 7) {
            return (22, None);
        }
        if range.end > self.0.len() {
            return (if matches!(asked.command, 1 | 6) { 28 } else { 22 }, None);
        }
        let unit = UNIT_BYTES as usize;
        match asked.command {
            0 => {
                let unreadable = UNREADABLE_UNIT as usize * unit..(UNREADABLE_UNIT as usize + 1) * unit;
                if !range.is_empty() && range.start < unreadable.end && unreadable.start < range.end {
                    return (5, None);
                }
                return (0, Some(self.0[range].to_vec()));
            }
            7 if !has_status || range.is_empty() => return (22, None),
            7 => return (0, Some(self.0[range].to_vec())),
            1 => self.put(range, data),
            4 => self.trim(range),
            6 if asked.flags & 2 != 0 => self.put(range.clone(), &vec![0; range.len()]),
            6 => {
                let (first, end) = (range.start.div_ceil(unit) * unit, range.end / unit * unit);
                for part in [range.start..range.end.min(first), range.end.min(first).max(end)..range.end] {
                    self.put(part.clone(), &vec![0; part.len()]);
                }
                self.trim(range);
            }
            _ => {}
        }
        (0, None)
    }

    fn put(&mut self, range: std::ops::Range<usize>, data: &[u8]) {
        if range.is_empty() {
            return;
        }
        let unit = UNIT_BYTES as usize;
        for place in range.start / unit * unit..range.end.div_ceil(unit) * unit {
            self.0[place].get_or_insert(0);
        }
        for (place, &byte) in range.zip(data) {
            self.0[place] = Some(byte);
        }
    }

    fn trim(&mut self, range: std::ops::Range<usize>) {
        let unit = UNIT_BYTES as usize;
        for place in range.start.div_ceil(unit) * unit..range.end / unit * unit {
            self.0[place] = None;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_answered_or_refused(says in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&says);
    }

    #[test]
    fn any_options_and_requests_are_answered_or_refused(
        options in proptest::collection::vec((0..12u32, proptest::collection::vec(any::<u8>(), 0..40)), 0..6),
        is_structured: bool,
        requests in requests(),
        cut: prop::sample::Index,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let mut says = greeting(is_structured);
        for (number, data) in options {
            let option = [OPTION, &number.to_be_bytes(), &(data.len() as u32).to_be_bytes(), &data].concat();
            says.splice(4..4, option);
        }
        requests.iter().for_each(|(asked, data)| says.extend(request(asked, data)));
        for (at, byte) in changes {
            let at = at.index(says.len().min(400));
            says[at] = byte;
        }
        says.truncate(cut.index(says.len()).max(says.len() / 2));
        check(&says);
    }

    #[test]
    fn answers_agree_with_a_model(is_structured: bool, requests in requests()) {
        let mut says = greeting(is_structured);
        requests.iter().for_each(|(asked, data)| says.extend(request(asked, data)));
        let heard = heard(&says, usize::MAX);
        let (mut says, mut hears) = (Words(&says), Words(&heard));
        prop_assert!(through_options(&mut says, &mut hears).is_some());
        let mut model = Model(vec![None; SIZE_BYTES as usize]);
        for (asked, data) in &requests {
            let (error, expected) = model.expect(asked, data, is_structured);
            let Some(answer) = answer(&mut hears, asked) else {
                prop_assert!(!is_structured && (asked.command, error) == (0, 5), "only a failing read ends it: {asked:?}");
                return Ok(());
            };
            prop_assert_eq!(answer.error, error, "{:?}", asked);
            let Some(expected) = expected else { continue };
            if asked.command == 0 {
                let bytes: Vec<u8> = expected.iter().map(|byte| byte.unwrap_or(0)).collect();
                prop_assert!(answer.data == bytes, "{:?}", asked);
                let unaligned = 2 * UNIT_BYTES as usize;
                let is_hole = is_structured && bytes.len() > unaligned && bytes.iter().all(|&byte| byte == 0);
                prop_assert!(!is_hole || answer.hole_bytes > 0, "zeroes are not sent");
            } else {
                let states: Vec<bool> =
                    answer.extents.iter().flat_map(|&(length, state)| vec![state == 3; length as usize]).collect();
                let holes: Vec<bool> = expected.iter().map(Option::is_none).collect();
                prop_assert!(states[..] == holes[..states.len()], "{:?}", asked);
                prop_assert!(asked.flags & 8 != 0 || states.len() == holes.len(), "all of it: {:?}", asked);
            }
        }
        prop_assert!(hears.0.is_empty());
    }
}

#[test]
fn the_kept_inputs_of_the_fuzzer_are_answered_or_refused() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/nbd.hex");
    let corpus = std::fs::read_to_string(corpus).unwrap();
    let digit = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    for line in corpus.lines() {
        check(&line.as_bytes().chunks(2).map(digit).collect::<Vec<u8>>());
    }
    assert!(corpus.lines().count() > 3);
}

fn start(name: &str, limits: Limits) -> (Server, PathBuf) {
    let path = std::env::temp_dir().join(format!("ssdlab-nbd-{name}-{}", std::process::id()));
    let device: Arc<dyn Device> = Arc::new(Memory::default());
    let memory = device.clone();
    let queues = Arc::new(move || Box::new(Immediate::new(memory.clone())) as Box<dyn Queue>);
    let server = serve(device, queues, Address::Unix(path.clone()), limits).unwrap();
    (server, path)
}

fn connect(path: &PathBuf) -> UnixStream {
    let stream = UnixStream::connect(path).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
    stream
}

/// What the server says until it closes the connection.
fn rest(stream: &mut UnixStream) -> Vec<u8> {
    let mut rest = Vec::new();
    // A server that closes with the client's bytes unread resets the connection.
    let _ = stream.read_to_end(&mut rest);
    rest
}

#[test]
fn whoever_stops_in_the_middle_is_left_and_whoever_is_silent_between_requests_is_not() {
    let short = Duration::from_millis(200);
    let limits = Limits { connections_max: 8, negotiation: short, half_request: short };
    let (mut server, path) = start("limits", limits);
    let begun = Instant::now();
    let mut silent = connect(&path);
    let mut idle = connect(&path);
    idle.write_all(&greeting(false)).unwrap();
    let flush = Asked { flags: 0, command: 3, cookie: 5, offset_bytes: 0, length_bytes: 0 };
    let write = Asked { flags: 0, command: 1, cookie: 5, offset_bytes: 0, length_bytes: 32 << 20 };
    let halves = [request(&flush, &[])[..20].to_vec(), request(&write, &[1; 1000])];
    let mut halves = halves.map(|half| {
        let mut stream = connect(&path);
        stream.write_all(&[greeting(false), half].concat()).unwrap();
        stream
    });
    assert_eq!(rest(&mut silent).len(), 18, "the greeting, and then the end");
    halves.iter_mut().for_each(|half| assert!(!rest(half).is_empty()));
    assert!(begun.elapsed() >= short);
    // It has been silent for as long as all of them.
    std::thread::sleep(2 * short);
    idle.write_all(&request(&flush, &[])).unwrap();
    let mut hears = vec![0; 18 + 32 + 34 + 20 + 16];
    idle.read_exact(&mut hears).unwrap();
    assert_eq!(hears[hears.len() - 8..], 5u64.to_be_bytes());
    server.stop();
}

#[test]
fn one_client_too_many_is_closed_at_once_and_another_takes_the_place_of_one_that_left() {
    let (mut server, path) = start("many", Limits::with_connections(2));
    let mut greeting = [0; 18];
    let mut clients = [connect(&path), connect(&path)];
    clients.iter_mut().for_each(|client| client.read_exact(&mut greeting).unwrap());
    assert_eq!(connect(&path).read(&mut greeting).unwrap(), 0, "closed without a word");
    assert_eq!((server.connections(), server.refused()), (3, 1));
    drop(clients);
    // The server learns of it some time later.
    while connect(&path).read(&mut greeting).unwrap() == 0 {}
    server.stop();
}

/// Writes units and then reads them, `depth` at a time, over one connection. Returns the time in simulated nanoseconds,
/// and at real pace the latencies.
fn read_at_depth(pace: Pace, depth: usize) -> (u64, Option<Achieved>) {
    const READS: usize = 96;
    let mut drive = Tiny::default().drive();
    // Long enough for a busy machine.
    drive.nand.read_us = serde_json::from_value(serde_json::json!(2000.0)).unwrap();
    let options = Options { pace, power_loss_protection: Some(true), ..Options::default() };
    let device = Arc::new(SimulatedDevice::new(&drive, &options).map_err(|error| format!("{error:?}")).unwrap());
    let path = std::env::temp_dir().join(format!("ssdlab-nbd-depth-{depth}-{pace:?}-{}", std::process::id()));
    let queued = device.clone();
    let queues = Arc::new(move || Box::new(SimulatedQueue::new(queued.clone())) as Box<dyn Queue>);
    let mut server = serve(device.clone(), queues, Address::Unix(path.clone()), Limits::with_connections(4)).unwrap();
    let mut client = connect(&path);
    client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    client.write_all(&greeting(false)).unwrap();
    client.read_exact(&mut [0; 18 + 32 + 34 + 20]).unwrap();
    let length_bytes = UNIT as u32;
    let asked = |command: u16, number: usize| {
        let cookie = (number % 64) as u64;
        Asked { flags: 0, command, cookie, offset_bytes: cookie * UNIT, length_bytes }
    };
    for unit in 0..64 {
        client.write_all(&request(&asked(1, unit), &[unit as u8; UNIT as usize])).unwrap();
        client.read_exact(&mut [0; 16]).unwrap();
    }
    device.carry_out(&Command::Reset).unwrap();
    let first: Vec<u8> = (0..depth).flat_map(|number| request(&asked(0, number), &[])).collect();
    client.write_all(&first).unwrap();
    for number in depth..READS + depth {
        let mut hears = [0; 16 + UNIT as usize];
        client.read_exact(&mut hears).unwrap();
        let cookie = u64::from_be_bytes(hears[8..16].try_into().unwrap());
        assert_eq!((&hears[4..8], &hears[16..]), (&[0; 4][..], &[cookie as u8; UNIT as usize][..]));
        if number < READS {
            client.write_all(&request(&asked(0, number), &[])).unwrap();
        }
    }
    server.stop();
    (device.outcome().timing.unwrap().simulated_ns, device.achieved())
}

/// One connection was one caller: whatever a client sent at a time, the drive executed one request after another.
#[test]
fn the_drive_sees_how_many_requests_a_client_has_in_flight() {
    let (alone_ns, _) = read_at_depth(Pace::Virtual, 1);
    let (together_ns, _) = read_at_depth(Pace::Virtual, 32);
    // Two dies of two planes.
    assert!(3 * together_ns < 2 * alone_ns, "{together_ns} ns, one at a time {alone_ns} ns");
}

/// At real pace each is answered at its own time. `--nocapture` shows how far the machine was behind.
#[test]
fn at_real_pace_requests_of_one_client_wait_side_by_side() {
    let mean_of = |depth| {
        let (_, achieved) = read_at_depth(Pace::Real, depth);
        let achieved = achieved.unwrap();
        let (intended, real) = (achieved.intended_mean_ns.unwrap(), achieved.achieved_mean_ns.unwrap());
        println!("depth {depth}: {intended:.0} ns in simulated time, {real:.0} ns in real time");
        assert!(real >= intended);
        intended
    };
    let means: Vec<f64> = [1, 4, 32].map(mean_of).into();
    assert!(means[2] > 3.0 * means[0], "requests that wait behind each other take longer: {means:?}");
}
