//! How fast are uniform 4 KiB writes in the steady state, on one thread, against the machine's own random-access rate?
//!
//! Prints one JSON object a drive. `cargo bench` runs the drives of the table, or those whose name holds its argument;
//! `cargo test --benches`, a part of the normal tests, runs a small one, so that the benchmark does not rot. The bound
//! is measured in the same process: read-modify-write of random 4-byte entries of a table as large as the drive's map,
//! on huge pages, prefetched in batches.

use ssdlab_engine::ledger::Ledger;
use ssdlab_engine::random::Random;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::simulation::{SimulatedDrive, build};
use ssdlab_engine::specification::Job;
use ssdlab_engine::specification::drive::{Drive, EraseUnitKind, Ftl, Nand, PolicyChoice};
use ssdlab_engine::specification::job::{BlockSize, Direction, Distribution, PerDirection};
use ssdlab_engine::table::Table;
use ssdlab_engine::workload::Stream;
use std::time::Instant;

const UNIT: u64 = 4096;
const BATCH: usize = 256;

struct Case {
    name: &'static str,
    /// Erase units of so many blocks (planes) of so many pages of one unit.
    blocks_per_plane: u32,
    planes: u32,
    pages_per_block: u32,
    over_provisioning: f64,
    victim: &'static str,
    placement: &'static str,
    /// Measured: so many times U, of which the median of five parts is given.
    drive_writes: f64,
}

const GIB: u64 = 1 << 18;

const fn case(name: &'static str, units: u64, erase_units: u32, pages_per_block: u32, over_provisioning: f64) -> Case {
    Case {
        name,
        blocks_per_plane: erase_units,
        planes: (units / (erase_units as u64 * pages_per_block as u64)) as u32,
        pages_per_block,
        over_provisioning,
        victim: "greedy",
        placement: "single",
        drive_writes: 1.0,
    }
}

fn cases() -> Vec<Case> {
    vec![
        Case { drive_writes: 40.0, ..case("1 GiB, OP 12.7 %", GIB, 1024, 256, 0.127) },
        Case { drive_writes: 2.0, ..case("64 GiB, OP 12.7 %", 64 * GIB, 1024, 256, 0.127) },
        Case { drive_writes: 0.4, ..case("1 TB, OP 28 %", 244_140_625, 1270, 256, 0.28) },
        Case { drive_writes: 0.2, ..case("1 TB, OP 7 %", 244_140_625, 1270, 256, 0.07) },
        Case {
            drive_writes: 10.0,
            placement: "host-gc-split",
            ..case("4 GiB, OP 12.7 %, host-gc-split", 4 * GIB, 1024, 256, 0.127)
        },
        Case { drive_writes: 10.0, victim: "fifo", ..case("4 GiB, OP 12.7 %, FIFO", 4 * GIB, 1024, 256, 0.127) },
        Case {
            drive_writes: 10.0,
            victim: "d-choices",
            ..case("4 GiB, OP 12.7 %, d-choices", 4 * GIB, 1024, 256, 0.127)
        },
        Case {
            drive_writes: 10.0,
            placement: "frequency-frontiers",
            victim: "cost-benefit",
            ..case("4 GiB, OP 12.7 %, frequency frontiers, cost-benefit", 4 * GIB, 1024, 256, 0.127)
        },
        Case {
            drive_writes: 10.0,
            placement: "class-spare",
            ..case("4 GiB, OP 12.7 %, class spare", 4 * GIB, 1024, 256, 0.127)
        },
    ]
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let is_quick = !arguments.iter().any(|argument| argument == "--bench");
    let wanted = arguments.iter().skip(1).find(|argument| !argument.starts_with("--"));
    let quick = [Case { drive_writes: 1.0, ..case("64 MiB, OP 12.7 %", GIB / 16, 256, 64, 0.127) }];
    let all = if is_quick { Vec::from(quick) } else { cases() };
    for case in all.iter().filter(|case| wanted.is_none_or(|wanted| case.name.contains(wanted.as_str()))) {
        println!("{}", measure(case));
    }
}

fn measure(case: &Case) -> serde_json::Value {
    let drive = drive_of(case);
    let user_units = drive.ftl.user_bytes / UNIT;
    let mut built = build(&drive, 1).expect("a drive of the table");
    fill(&mut *built, user_units);
    let mut uniform = Stream::new(&uniform_job(user_units)).expect("a uniform job");
    let settle_units = (user_units as f64 * settle_drive_writes(case)) as u64;
    write(&mut *built, &mut uniform, settle_units);
    let part_units = ((user_units as f64 * case.drive_writes) as u64 / 5).max(1);
    let mut parts: Vec<(f64, Ledger)> = (0..5).map(|_| write(&mut *built, &mut uniform, part_units)).collect();
    let bound = random_accesses_per_second(user_units);
    parts.sort_by(|left, right| left.0.total_cmp(&right.0));
    let (seconds, ledger) = parts[2];
    let host_writes = ledger.programmed_units.host as f64 / seconds;
    let programs = ledger.programmed_units.total() as f64 / seconds;
    built.check_accounts().expect("the ledger adds up");
    serde_json::json!({
        "drive": case.name,
        "victim": case.victim,
        "placement": case.placement,
        "host_writes_per_second": host_writes.round(),
        "programs_per_second": programs.round(),
        "random_accesses_per_second": bound.round(),
        "programs_per_random_access": (programs / bound * 1000.0).round() / 1000.0,
        "waf": (ledger.programmed_units.total() as f64 / ledger.programmed_units.host as f64 * 10000.0).round() / 10000.0,
        "bytes_per_mapping_unit": (built.memory_bytes() as f64 / user_units as f64 * 100.0).round() / 100.0,
        "result_hash": format!("{:016x}", hash(built.ledger())),
    })
}

/// Large drives are costly to settle; a little more than the overshoot is enough for a rate.
fn settle_drive_writes(case: &Case) -> f64 {
    if case.drive_writes >= 2.0 { 4.0 } else { 1.0 }
}

fn fill(drive: &mut dyn SimulatedDrive, user_units: u64) {
    let batch = |first: u64| -> Vec<Request> {
        (first..(first + 32).min(user_units))
            .map(|unit| Request::new(Operation::Write, unit * UNIT, UNIT as u32))
            .collect()
    };
    (0..user_units).step_by(32).for_each(|first| drive.execute(&batch(first)).expect("a drive that does not wear out"));
}

/// Returns the seconds it took and what the drive did in them.
fn write(drive: &mut dyn SimulatedDrive, stream: &mut Stream, units: u64) -> (f64, Ledger) {
    let before = *drive.ledger();
    let mut batch = Vec::with_capacity(BATCH);
    let start = Instant::now();
    let mut left = units;
    while left > 0 {
        batch.clear();
        left -= stream.fill(&mut batch, BATCH.min(left as usize)) as u64;
        drive.execute(&batch).expect("a drive that does not wear out");
    }
    (start.elapsed().as_secs_f64(), *drive.ledger() - before)
}

fn random_accesses_per_second(entries: u64) -> f64 {
    let mut table = Table::<u32>::filled(entries as usize, 1).expect("memory for the table");
    let mut random = Random::new(1);
    let mut places = [0usize; BATCH];
    let mut rates: Vec<f64> = (0..5)
        .map(|_| {
            let accesses = (entries * 4).clamp(1 << 22, 1 << 25);
            let start = Instant::now();
            for _ in 0..accesses / BATCH as u64 {
                for place in &mut places {
                    *place = random.below(entries) as usize;
                    table.prefetch(*place);
                }
                for &place in &places {
                    table.set(place, table.get(place).wrapping_add(1));
                }
            }
            accesses as f64 / start.elapsed().as_secs_f64()
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    rates[2]
}

fn hash(ledger: &Ledger) -> u64 {
    // FNV-1a over the text of the counters: enough to see that a result has changed.
    let text = format!("{ledger:?}");
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn uniform_job(user_units: u64) -> Job {
    let one = || vec![BlockSize { bytes: UNIT as u32, percent: 100.0 }];
    Job {
        name: "uniform".into(),
        clone: 0,
        stage: 0,
        direction: Direction::Write,
        sequential: false,
        read_percent: 0.0,
        offset_bytes: 0,
        size_bytes: user_units * UNIT,
        io_bytes: u64::MAX,
        number_ios: None,
        loops: 1,
        block_sizes: PerDirection { read: one(), write: one(), trim: one() },
        block_align_bytes: PerDirection { read: UNIT, write: UNIT, trim: UNIT },
        distribution: Distribution::Random,
        random_map: false,
        skip_bytes: None,
        runs: None,
        random_percent: None,
        files: None,
        seed: 1,
        iodepth: 32,
        ..Job::default()
    }
}

fn drive_of(case: &Case) -> Drive {
    let units = u64::from(case.blocks_per_plane) * u64::from(case.planes) * u64::from(case.pages_per_block);
    let textbook = Drive::textbook();
    Drive {
        name: case.name.into(),
        nand: Nand {
            dies_per_channel: case.planes,
            blocks_per_plane: case.blocks_per_plane,
            pages_per_block: case.pages_per_block,
            ..textbook.nand
        },
        ftl: Ftl {
            user_bytes: (units as f64 / (1.0 + case.over_provisioning)) as u64 * UNIT,
            erase_unit: EraseUnitKind::Superblock,
            victim: PolicyChoice::named(case.victim),
            placement: PolicyChoice::named(case.placement),
            ..textbook.ftl
        },
        ..textbook
    }
}
