//! How fast are the fronts, and how near is real pace to the simulated times? `cargo run --release -p ssdlab-blockdev
//! --example front_rates -- [SECONDS [DRIVE]]` drives each with one connection, of a client in this process, with
//! requests of 4 KiB at random places. Per request it prints the processor time of the serving thread, too: a rate on a
//! busy machine says little.

#[expect(dead_code, reason = "the client sends many commands at a time")]
#[path = "../tests/nvme/initiator.rs"]
mod initiator;

use initiator::{Entry, Host, unit};
use ssdlab_blockdev::device::{Device, Durability};
use ssdlab_blockdev::drive::{Options, Pace, SimulatedDevice, SimulatedQueue};
use ssdlab_blockdev::nbd::{self, Address, Limits};
use ssdlab_blockdev::null::Null;
use ssdlab_blockdev::nvme::{self, Health, Identity, Namespace, Presented};
use ssdlab_blockdev::queue::{Immediate, Queue};
use ssdlab_engine::random::Random;
use ssdlab_engine::specification::Drive;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What `tools/served_catalogue` prints: each as small as it can be made.
const CATALOGUE: &str = include_str!("../tests/catalogue.jsonl");
const BLOCK: usize = 4096;
/// At real pace as many are sent at once as the depth says, so that no more than this arrive in a second.
const REAL_PACE_PER_SECOND: f64 = 100_000.0;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Read,
    Write,
}

/// One request or answer of a protocol, as bytes.
#[derive(Clone, Copy, Debug)]
enum Protocol {
    Nvme,
    Nbd,
}

impl Protocol {
    fn ask(self, kind: Kind, tag: u16, block: u64, out: &mut Vec<u8>) {
        let data = [tag as u8; BLOCK];
        let data = if kind == Kind::Write { &data[..] } else { &[] };
        match self {
            Self::Nvme => {
                let mut entry = Entry::new(if kind == Kind::Write { 1 } else { 2 }, 1).blocks(block, 1).0;
                entry[2..4].copy_from_slice(&tag.to_le_bytes());
                entry[32..36].copy_from_slice(&(BLOCK as u32).to_le_bytes());
                entry[39] = if kind == Kind::Write { 0x01 } else { 0x5a };
                out.extend(unit(4, 0, &entry, data, 0));
            }
            Self::Nbd => {
                out.extend(0x2560_9513u32.to_be_bytes());
                out.extend([0, 0, 0, u8::from(kind == Kind::Write)]);
                out.extend(u64::from(tag).to_be_bytes());
                out.extend((block * BLOCK as u64).to_be_bytes());
                out.extend((BLOCK as u32).to_be_bytes());
                out.extend_from_slice(data);
            }
        }
    }

    /// The first answer, if it is there, and the bytes that it takes.
    fn answer(self, kind: Kind, bytes: &[u8]) -> Option<(Option<u16>, usize)> {
        let head = bytes.get(..16)?;
        let (tag, length) = match self {
            Self::Nvme => {
                let length = u32::from_le_bytes(head[4..8].try_into().unwrap()) as usize;
                let whole = bytes.get(..length)?;
                let tag = (head[0] == 5).then(|| {
                    assert_eq!(whole[22..24], [0, 0], "refused");
                    u16::from_le_bytes(whole[20..22].try_into().unwrap())
                });
                (tag, length)
            }
            Self::Nbd => {
                assert_eq!(head[4..8], [0; 4], "refused");
                (Some(u16::from_be_bytes([head[14], head[15]])), 16 + if kind == Kind::Read { BLOCK } else { 0 })
            }
        };
        (bytes.len() >= length).then_some((tag, length))
    }
}

/// What one run gave.
struct Rates {
    requests: u64,
    seconds: f64,
    target_seconds: f64,
    mean_us: f64,
}

/// Keeps `depth` requests in flight; or, with a limit, sends so many together and waits for all of them.
fn drive(
    (stream, protocol): (&mut TcpStream, Protocol),
    (kind, depth, blocks): (Kind, u16, u64),
    per_second: Option<f64>,
    duration: Duration,
) -> Rates {
    let mut random = Random::new(11);
    let started = Instant::now();
    let before = target_seconds();
    let mut sent = vec![started; usize::from(depth)];
    let mut free: Vec<u16> = (0..depth).collect();
    let (mut out, mut input, mut arrived) = (Vec::new(), vec![0; 1 << 20], 0);
    let (mut requests, mut waited_ns) = (0, 0);
    let mut next = started;
    loop {
        let is_over = started.elapsed() >= duration;
        if is_over && free.len() == usize::from(depth) {
            break;
        }
        if !is_over && (per_second.is_none() || free.len() == usize::from(depth)) {
            if let Some(per_second) = per_second {
                while Instant::now() < next {
                    std::thread::sleep(next.saturating_duration_since(Instant::now()));
                }
                next = Instant::now() + Duration::from_secs_f64(f64::from(depth) / per_second);
            }
            let now = Instant::now();
            for tag in free.drain(..) {
                sent[usize::from(tag)] = now;
                protocol.ask(kind, tag, random.below(blocks), &mut out);
            }
            stream.write_all(&out).unwrap();
            out.clear();
        }
        arrived += stream.read(&mut input[arrived..]).unwrap();
        let (mut used, now) = (0, Instant::now());
        while let Some((tag, length)) = protocol.answer(kind, &input[used..arrived]) {
            used += length;
            if let Some(tag) = tag {
                requests += 1;
                waited_ns += (now - sent[usize::from(tag)]).as_nanos() as u64;
                free.push(tag);
            }
        }
        input.copy_within(used..arrived, 0);
        arrived -= used;
    }
    let seconds = started.elapsed().as_secs_f64();
    let mean_us = waited_ns as f64 / requests as f64 / 1e3;
    Rates { requests, seconds, target_seconds: target_seconds() - before, mean_us }
}

/// The processor time of the serving threads.
fn target_seconds() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
    let own = |path: &std::path::PathBuf| {
        let name = std::fs::read_to_string(path.join("comm")).unwrap_or_default();
        name.starts_with("nvme") || name.starts_with("nbd")
    };
    let nanoseconds = tasks.filter(own).map(|path| {
        let text = std::fs::read_to_string(path.join("schedstat")).unwrap_or_default();
        text.split_whitespace().next().map_or(0, |first| first.parse::<u64>().unwrap())
    });
    nanoseconds.sum::<u64>() as f64 / 1e9
}

/// Makes a queue of what is served.
type Queues = Arc<dyn Fn() -> Box<dyn Queue> + Send + Sync>;

/// Serves for the time of `act`.
fn with_front(protocol: Protocol, device: Arc<dyn Device>, queues: &Queues, act: impl FnOnce(&mut TcpStream)) {
    match protocol {
        Protocol::Nvme => {
            let size_bytes = device.capabilities().size_bytes;
            let presented = Presented {
                identity: Identity { model: "rates".to_owned(), unique: [7; 16] },
                namespaces: vec![Namespace { start_bytes: 0, size_bytes, handles: Vec::new() }],
                placement: None,
                zones: None,
                figures: Box::new(|| Ok(Health::default())),
            };
            let mut server = nvme::serve(queues(), presented, ("127.0.0.1", 0)).unwrap();
            let admin = Host::admin(&server, 0).unwrap();
            act(&mut admin.queue(&server, 1, 0).unwrap().stream);
            drop(admin);
            server.stop();
        }
        Protocol::Nbd => {
            let address = Address::Tcp("127.0.0.1".to_owned(), 0);
            let mut server = nbd::serve(device, queues.clone(), address, Limits::with_connections(4)).unwrap();
            let Address::Tcp(host, port) = server.address().clone() else { unreachable!("it was given") };
            let mut stream = TcpStream::connect((host.as_str(), port)).unwrap();
            stream.set_nodelay(true).unwrap();
            let mut says = vec![0, 0, 0, 3];
            says.extend([&b"IHAVEOPT"[..], &7u32.to_be_bytes(), &6u32.to_be_bytes(), &[0; 6]].concat());
            stream.write_all(&says).unwrap();
            stream.read_exact(&mut [0; 18 + 32 + 34 + 20]).unwrap();
            act(&mut stream);
            server.stop();
        }
    }
}

fn filled(drive: &Drive, pace: Pace) -> Arc<SimulatedDevice> {
    let open = |pace| {
        let options = Options { pace, power_loss_protection: Some(true), ..Options::default() };
        Arc::new(SimulatedDevice::new(drive, &options).map_err(|error| format!("{error:?}")).unwrap())
    };
    let device = open(pace);
    let size_bytes = device.capabilities().size_bytes;
    let data = vec![1; 256 * BLOCK];
    let mut queue = SimulatedQueue::new(device.clone());
    let mut done = Vec::new();
    for offset_bytes in (0..size_bytes - data.len() as u64).step_by(data.len()) {
        let asked = ssdlab_blockdev::queue::Asked::Write {
            offset_bytes,
            data: &data,
            durability: Durability::Cached,
            identifier: 0,
        };
        queue.submit(0, asked);
        while done.is_empty() {
            queue.completed(&mut done);
        }
        done.clear();
    }
    device
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds: f64 = arguments.next().map_or(1.0, |text| text.parse().expect("SECONDS is a number"));
    let name = arguments.next().unwrap_or_else(|| "generic-tlc-480".to_owned());
    let drives = CATALOGUE.lines().map(|line| serde_json::from_str::<Drive>(line).unwrap());
    let spec = drives.into_iter().find(|drive| drive.name == name).expect("a drive of the catalogue");
    let duration = Duration::from_secs_f64(seconds);
    let both = [Protocol::Nvme, Protocol::Nbd];
    println!("front  device     requests       depth  requests/s  us of the target's processor  mean us at the client");
    let show = |protocol: Protocol, of: &str, kind: Kind, depth: u16, rates: &Rates| {
        let each_us = rates.target_seconds / rates.requests as f64 * 1e6;
        print!(
            "{:<6} {of:<10} {:<14} {depth:>5} {:>11.0} {each_us:>29.2} {:>22.1}",
            format!("{protocol:?}"),
            format!("{kind:?}"),
            rates.requests as f64 / rates.seconds,
            rates.mean_us,
        );
    };
    let depths = [1, 8, 32];
    for protocol in both {
        let null: Arc<dyn Device> = Arc::new(Null::new(1 << 30, BLOCK as u32));
        let of_null = null.clone();
        let queues: Queues = Arc::new(move || Box::new(Immediate::new(of_null.clone())));
        with_front(protocol, null, &queues, |stream| {
            for (kind, depth) in [Kind::Read, Kind::Write].iter().flat_map(|&kind| depths.map(|depth| (kind, depth))) {
                let rates = drive((stream, protocol), (kind, depth, (1 << 30) / BLOCK as u64), None, duration);
                show(protocol, "null", kind, depth, &rates);
                println!();
            }
        });
        let device = filled(&spec, Pace::Virtual);
        let blocks = device.capabilities().size_bytes / BLOCK as u64;
        let of_drive = device.clone();
        let queues: Queues = Arc::new(move || Box::new(SimulatedQueue::new(of_drive.clone())));
        with_front(protocol, device.clone(), &queues, |stream| {
            for (kind, depth) in [Kind::Read, Kind::Write].iter().flat_map(|&kind| depths.map(|depth| (kind, depth))) {
                let rates = drive((stream, protocol), (kind, depth, blocks), None, duration);
                show(protocol, "simulated", kind, depth, &rates);
                println!();
            }
        });
        let device = filled(&spec, Pace::Real);
        let of_drive = device.clone();
        let queues: Queues = Arc::new(move || Box::new(SimulatedQueue::new(of_drive.clone())));
        with_front(protocol, device.clone(), &queues, |stream| {
            for depth in [1, 4, 16, 64] {
                let before = device.achieved().unwrap();
                let limit = Some(REAL_PACE_PER_SECOND);
                let rates = drive((stream, protocol), (Kind::Read, depth, blocks), limit, duration);
                show(protocol, "real pace", Kind::Read, depth, &rates);
                let after = device.achieved().unwrap();
                let mean_us = |mean: fn(&ssdlab_blockdev::drive::Achieved) -> Option<f64>| {
                    let sum = |of: &_| mean(of).unwrap_or(0.0);
                    let (old, new) = (before.requests as f64, after.requests as f64);
                    (sum(&after) * new - sum(&before) * old) / (new - old) / 1e3
                };
                let (intended_us, real_us) = (mean_us(|all| all.intended_mean_ns), mean_us(|all| all.achieved_mean_ns));
                let over = (real_us / intended_us - 1.0) * 100.0;
                println!("  simulated {intended_us:.1}, answered after {real_us:.1} us ({over:+.1} %)");
            }
        });
    }
}
