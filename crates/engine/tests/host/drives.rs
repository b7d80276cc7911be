//! Small drives and jobs as JSON, as the Python side gives them, and runs of whole specifications.

use serde_json::{Value, json};
use ssdlab_engine::simulation::{JobOutcome, Outcome, start};
use ssdlab_engine::specification::{Drive, Job, Specification, Until};
use ssdlab_engine::timing::histogram::Latency;

pub const UNIT: u64 = 4096;
/// One unit read from an idle drive: 60 us in the array, 4 KiB over a channel of 800 MB/s.
pub const READ_NS: u64 = 60_000 + 5_120;

/// So many channels with one die each, of one plane and pages of one unit.
pub fn drive(channels: u32) -> Value {
    drive_of(json!({
        "cell": "tlc", "channels": channels, "dies_per_channel": 1, "planes_per_die": 1, "blocks_per_plane": 64,
        "pages_per_block": 32, "page_bytes": UNIT, "read_us": 60.0, "program_us": 700.0, "erase_us": 5000.0,
        "channel_mb_s": 800.0, "endurance_cycles": 3000,
    }))
}

pub fn drive_of(nand: Value) -> Value {
    let number = |key: &str| nand[key].as_u64().unwrap();
    let dies = number("channels") * number("dies_per_channel");
    let physical_bytes =
        dies * number("planes_per_die") * number("blocks_per_plane") * number("pages_per_block") * number("page_bytes");
    json!({
        "name": "test",
        "nand": nand,
        "ftl": {
            "user_bytes": physical_bytes * 10 / 13 / UNIT * UNIT, "mapping_unit_bytes": UNIT,
            "erase_unit": "superblock", "victim": { "name": "greedy" }, "placement": { "name": "host-gc-split" },
            "wear_leveling": { "name": "none" }, "reserve_erase_units": 1, "spare_area": "dynamic",
        },
        "parity": { "units_per_stripe": 0 },
        "faults": { "factory_bad_blocks": 0.0, "wear_out": false, "endurance_spread": 0.0 },
        "write_buffer": { "bytes": 0 },
        "controller": { "command_us": 5.0 },
    })
}

pub fn user_bytes(drive: &Value) -> u64 {
    drive["ftl"]["user_bytes"].as_u64().unwrap()
}

/// So many requests of one unit, at random places of the whole drive; `more` changes what it says.
pub fn job(drive: &Value, direction: &str, ios: u64, more: Value) -> Value {
    let sizes = json!([{ "bytes": UNIT, "percent": 100.0 }]);
    let mut job = serde_json::to_value(Job::default()).unwrap();
    change(
        &mut job,
        &json!({
            "direction": direction, "size_bytes": user_bytes(drive), "io_bytes": u64::MAX, "number_ios": ios,
            "block_sizes": { "read": sizes, "write": sizes, "trim": sizes },
            "block_align_bytes": { "read": UNIT, "write": UNIT, "trim": UNIT },
        }),
    );
    change(&mut job, &more);
    job
}

/// The whole drive once in sequence, as the first stage.
pub fn fill(drive: &Value) -> Value {
    let sizes = json!([{ "bytes": UNIT, "percent": 100.0 }]);
    let more = json!({
        "name": "fill", "sequential": true, "iodepth": 64, "io_bytes": user_bytes(drive),
        "block_sizes": { "read": sizes, "write": sizes, "trim": sizes },
    });
    job(drive, "write", u64::MAX, more)
}

pub fn change(value: &mut Value, more: &Value) {
    for (key, change) in more.as_object().unwrap() {
        value[key] = change.clone();
    }
}

pub fn run(drive: &Value, jobs: Vec<Value>) -> Outcome {
    run_with_clock(drive, jobs, true)
}

pub fn run_untimed(drive: &Value, jobs: Vec<Value>) -> Outcome {
    run_with_clock(drive, jobs, false)
}

fn run_with_clock(drive: &Value, jobs: Vec<Value>, timed: bool) -> Outcome {
    let specification = Specification {
        seed: 1,
        drive: serde_json::from_value::<Drive>(drive.clone()).unwrap(),
        timed,
        until: Until::Job,
        series_points_max: 64,
        interval_ns: None,
        jobs: jobs.into_iter().map(|job| serde_json::from_value(job).unwrap()).collect(),
    };
    let mut run = start(&specification).unwrap();
    while !run.advance(100_000).unwrap().is_finished {}
    let outcome = run.finish();
    assert_eq!(outcome.failure, None);
    outcome
}

/// A filled drive, then this job alone.
pub fn run_one(drive: &Value, mut job: Value) -> JobOutcome {
    job["stage"] = json!(1);
    run(drive, vec![fill(drive), job]).jobs.pop().unwrap()
}

pub fn took_ns(job: &JobOutcome) -> u64 {
    let timing = job.timing.as_ref().unwrap();
    timing.end_ns - timing.start_ns
}

pub fn seconds(job: &JobOutcome) -> f64 {
    took_ns(job) as f64 / 1e9
}

pub fn reads(job: &JobOutcome) -> &Latency {
    &job.timing.as_ref().unwrap().read
}

pub fn near(actual: f64, expected: f64, allowed: f64) {
    assert!((actual / expected - 1.0).abs() <= allowed, "{actual} instead of {expected}");
}
