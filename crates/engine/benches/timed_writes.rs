//! How many requests a second does the timed drive handle, on one thread, in the steady state under garbage collection?
//! Uniform random 4 KiB writes at depth 32, and a mix with as many reads. Prints one JSON object a drive; `cargo test
//! --benches` runs a small one.
//!
//! `--short` runs a tenth, for tools that count instructions. Another argument chooses the row of that name, or, if
//! there is none, the rows with it in their names. `requests_per_cpu_second` leaves out what other processes took
//! meanwhile; null where the system does not report them.

use ssdlab_engine::ftl;
use ssdlab_engine::policies::die_choice;
use ssdlab_engine::random::Random;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::specification::drive::{Drive, EraseUnitKind, Ftl, Nand, PolicyChoice};
use ssdlab_engine::timing::breakdown::Parts;
use ssdlab_engine::timing::drive::TimedDrive;
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::timing::front::{Completion, Front, FrontEnd, Intake};
use ssdlab_engine::timing::host::{Client, Host};
use ssdlab_engine::timing::plain::PlainFront;
use ssdlab_engine::timing::recorder::Recorder;
use std::time::Instant;

const UNIT: u64 = 4096;
const DEPTH: u32 = 32;

type TimedFtl = ftl::Ftl<ftl::Plain, Recorder>;

#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    /// Whether erases wait for nothing.
    is_protected: bool,
    /// With erase units of single blocks; without, superblocks.
    die_choice: Option<&'static str>,
    channels: u32,
    dies_per_channel: u32,
    planes_per_die: u32,
    blocks_per_plane: u32,
    pages_per_block: u32,
    page_bytes: u32,
    over_provisioning: f64,
    /// Of a hundred requests; the others are writes.
    reads_percent: u64,
    /// Host units written before measuring, and measured, as shares of U.
    settle: f64,
    measure: f64,
}

const SMALL: Case = Case {
    is_protected: true,
    die_choice: None,
    name: "1 GiB, 4 channels x 1 die x 1 plane, 4 KiB pages, OP 7 %",
    channels: 4,
    dies_per_channel: 1,
    planes_per_die: 1,
    blocks_per_plane: 1024,
    pages_per_block: 64,
    page_bytes: 4096,
    over_provisioning: 0.07,
    reads_percent: 0,
    settle: 5.0,
    measure: 10.0,
};

const LARGE: Case = Case {
    is_protected: true,
    die_choice: None,
    name: "1 TB, 8 channels x 4 dies x 2 planes, 16 KiB pages, OP 7 %",
    channels: 8,
    dies_per_channel: 4,
    planes_per_die: 2,
    blocks_per_plane: 1242,
    pages_per_block: 768,
    page_bytes: 16384,
    over_provisioning: 0.07,
    reads_percent: 0,
    settle: 0.15,
    measure: 0.05,
};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let is_benchmark = arguments.iter().any(|argument| argument == "--bench");
    let wanted = arguments.iter().skip(1).find(|argument| !argument.starts_with("--"));
    let is_short = arguments.iter().any(|argument| argument == "--short");
    let all: Vec<Case> = if is_benchmark {
        let roomy = Case {
            name: "1 GiB, 4 channels x 1 die x 1 plane, 4 KiB pages, OP 28 %",
            over_provisioning: 0.28,
            ..SMALL
        };
        let of_blocks = die_choice::descriptions().into_iter().map(|choice| Case {
            name: "1 GiB, 4 channels x 4 dies x 1 plane, 4 KiB pages, single blocks, OP 7 %",
            die_choice: Some(choice.name),
            dies_per_channel: 4,
            blocks_per_plane: 256,
            ..SMALL
        });
        let single = Case {
            name: "1 GiB, 4 channels x 1 die x 1 plane, 4 KiB pages, single blocks, OP 7 %",
            die_choice: Some("round-robin"),
            ..SMALL
        };
        let roomy_single = Case {
            name: "1 GiB, 4 channels x 1 die x 1 plane, 4 KiB pages, single blocks, OP 28 %",
            over_provisioning: 0.28,
            ..single
        };
        let single_with_reads = Case {
            name: "1 GiB, 4 channels x 1 die x 1 plane, 4 KiB pages, single blocks, OP 7 %, 50 % reads",
            reads_percent: 50,
            ..single
        };
        let roomy_single_with_reads = Case {
            name: "1 GiB, 4 channels x 1 die x 1 plane, 4 KiB pages, single blocks, OP 28 %, 50 % reads",
            reads_percent: 50,
            ..roomy_single
        };
        let own_channels = [single, roomy_single, single_with_reads, roomy_single_with_reads];
        let waiting = Case { name: "1 GiB, OP 7 %, no power-loss protection", is_protected: false, ..SMALL };
        [SMALL, roomy, LARGE].into_iter().chain([waiting]).chain(own_channels).chain(of_blocks).collect()
    } else {
        vec![Case { name: "64 MiB", blocks_per_plane: 64, settle: 1.0, measure: 1.0, ..SMALL }]
    };
    let share = if is_short { 0.1 } else { 1.0 };
    let all = all.into_iter().map(|case| Case { settle: share * case.settle, measure: share * case.measure, ..case });
    let is_name = wanted.is_some_and(|wanted| all.clone().any(|case| case.name == wanted));
    let is_wanted =
        |name: &str| wanted.is_none_or(|wanted| if is_name { name == wanted } else { name.contains(wanted) });
    for case in all.filter(|case| is_wanted(case.name)) {
        let drive = drive_of(&case);
        println!("{}", Measure { drive, case }.run());
    }
}

/// For how long this thread has been on a processor.
fn cpu_seconds() -> Option<f64> {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: u64 = statistics.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds as f64 / 1e9)
}

struct Measure {
    drive: Drive,
    case: Case,
}

/// Uniform random writes and reads, after a fill in sequence without time.
struct Mix {
    random: Random,
    user_units: u64,
    reads_percent: u64,
    left: u64,
    completed: u64,
    latency_ns_sum: u64,
}

impl Client for Mix {
    fn draw(&mut self, _job: u32, out: &mut Vec<Request>, count_max: usize) {
        let count = self.left.min(count_max as u64);
        self.left -= count;
        for _ in 0..count {
            let is_read = self.reads_percent > 0 && self.random.below(100) < self.reads_percent;
            let operation = if is_read { Operation::Read } else { Operation::Write };
            out.push(request(operation, self.random.below(self.user_units)));
        }
    }

    fn is_over(&self, _job: u32, _now_ns: u64) -> bool {
        false
    }

    fn completed(&mut self, completion: Completion, _parts: &Parts) {
        self.completed += 1;
        self.latency_ns_sum += completion.completed_ns - completion.issued_ns;
    }
}

fn request(operation: Operation, unit: u64) -> Request {
    Request::new(operation, unit * UNIT, UNIT as u32)
}

impl Measure {
    fn run(self) -> serde_json::Value {
        let Self { drive, case } = self;
        let mut ftl = ftl::Ftl::new(&drive, Recorder::default(), 1).expect("a drive of the table");
        let user_units = drive.ftl.user_bytes / UNIT;
        for unit in 0..user_units {
            ftl.execute_one(&request(Operation::Write, unit)).expect("a drive that does not wear out");
            ftl.clock_mut().decisions.clear();
        }
        let flash = Flash::new(&drive.nand, UNIT as u32, drive.ftl.erase_unit)
            .with_power_loss_protection(case.is_protected)
            .below(&ftl);
        let front = Front::new(flash, &FrontEnd::default());
        match PlainFront::of(&front) {
            Some(plain) => Self { drive, case }.through(plain, &mut ftl),
            None => Self { drive, case }.through(front, &mut ftl),
        }
    }

    fn through<F>(self, front: F, ftl: &mut TimedFtl) -> serde_json::Value
    where
        F: for<'d> Intake<Drives<'d> = dyn TimedDrive + 'd>,
    {
        let Self { drive, case } = self;
        let user_units = drive.ftl.user_bytes / UNIT;
        let mut host = Host::before(front);
        let mut client = Mix {
            random: Random::new(1),
            user_units,
            reads_percent: case.reads_percent,
            left: 0,
            completed: 0,
            latency_ns_sum: 0,
        };
        let mut run = |client: &mut Mix, requests: u64| {
            client.left = requests;
            let (start, start_cpu, start_ns) = (Instant::now(), cpu_seconds(), host.now_ns());
            host.start(0, DEPTH, ftl, client).expect("a drive that does not wear out");
            while host.advance(10_000, ftl, client).expect("a drive that does not wear out") {}
            host.end_stage();
            let cpu = cpu_seconds().zip(start_cpu).map(|(end, start)| end - start);
            (start.elapsed().as_secs_f64(), cpu, (host.now_ns() - start_ns) as f64 / 1e9, *ftl.ledger())
        };
        let (_, _, _, before) = run(&mut client, (user_units as f64 * case.settle) as u64);
        client.latency_ns_sum = 0;
        let requests = (user_units as f64 * case.measure) as u64;
        let (wall, cpu, simulated, after) = run(&mut client, requests);
        let programmed = (after - before).programmed_units;
        serde_json::json!({
            "drive": case.name,
            "die_choice": case.die_choice,
            "requests_per_second": (requests as f64 / wall).round(),
            "requests_per_cpu_second": cpu.map(|cpu| (requests as f64 / cpu).round()),
            "programs_per_second": (programmed.total() as f64 / wall).round(),
            "simulated_iops": (requests as f64 / simulated).round(),
            "simulated_seconds": simulated,
            "mean_latency_us": (client.latency_ns_sum as f64 / requests as f64).round() / 1000.0,
            "waf": (programmed.total() as f64 / programmed.host as f64 * 1000.0).round() / 1000.0,
        })
    }
}

fn drive_of(case: &Case) -> Drive {
    let blocks = u64::from(case.channels * case.dies_per_channel * case.planes_per_die * case.blocks_per_plane);
    let physical = blocks * u64::from(case.pages_per_block) * u64::from(case.page_bytes);
    let textbook = Drive::textbook();
    Drive {
        name: case.name.into(),
        nand: Nand {
            channels: case.channels,
            dies_per_channel: case.dies_per_channel,
            planes_per_die: case.planes_per_die,
            blocks_per_plane: case.blocks_per_plane,
            pages_per_block: case.pages_per_block,
            page_bytes: case.page_bytes,
            ..textbook.nand
        },
        ftl: Ftl {
            user_bytes: (physical as f64 / (1.0 + case.over_provisioning)) as u64 / UNIT * UNIT,
            erase_unit: if case.die_choice.is_some() { EraseUnitKind::Block } else { EraseUnitKind::Superblock },
            die_choice: case.die_choice.map_or(textbook.ftl.die_choice, PolicyChoice::named),
            placement: PolicyChoice::named("host-gc-split"),
            reserve_erase_units: 2,
            ..textbook.ftl
        },
        ..textbook
    }
}
