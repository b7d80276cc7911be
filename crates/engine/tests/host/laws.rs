//! The laws of queues, with link, limit and buffer in the way: all that is generated is serviced, requests a second
//! times mean latency is the depth, depth never costs throughput, and a trim with a time of its own holds up what follows.

use super::drives::*;
use serde_json::{Value, json};
use ssdlab_engine::simulation::{JobOutcome, start};
use ssdlab_engine::specification::{Specification, Until};

fn drive_with(link: Value, buffer: Value, commands_per_second_max: u64) -> Value {
    let mut drive = drive_of(json!({
        "cell": "tlc", "channels": 4, "dies_per_channel": 2, "planes_per_die": 2, "blocks_per_plane": 24,
        "pages_per_block": 16, "page_bytes": 4 * UNIT, "read_us": 60.0, "program_us": 700.0, "erase_us": 5000.0,
        "channel_mb_s": 800.0, "endurance_cycles": 3000,
    }));
    drive["host_link"] = link;
    drive["write_buffer"] = buffer;
    drive["controller"]["commands_per_second_max"] = json!(commands_per_second_max);
    drive
}

fn drives() -> [Value; 4] {
    let sata = || json!({ "interface": "sata-6g", "command_us": 2.0 });
    let buffer = |protected| json!({ "bytes": 256 * UNIT, "power_loss_protection": protected });
    [
        drive_with(json!({}), buffer(true), 0),
        drive_with(sata(), buffer(true), 0),
        drive_with(sata(), json!({ "bytes": 0 }), 90_000),
        drive_with(json!({ "interface": "pcie3x1" }), buffer(false), 50_000),
    ]
}

/// So many requests on a drive that has been filled and then written at random twice over, so that garbage collection
/// is steady.
fn measure(drive: &Value, direction: &str, depth: u64, requests: u64) -> JobOutcome {
    let warm_up = json!({ "name": "warm-up", "stage": 1, "iodepth": 32, "seed": 5 });
    let more = json!({ "stage": 2, "iodepth": depth, "read_percent": 50.0 });
    let jobs = vec![
        fill(drive),
        job(drive, "write", 2 * user_bytes(drive) / UNIT, warm_up),
        job(drive, direction, requests, more),
    ];
    let measured = run(drive, jobs).jobs.pop().unwrap();
    assert_eq!(measured.read.ios + measured.write.ios, requests, "serviced = generated");
    measured
}

fn iops(job: &JobOutcome) -> f64 {
    (job.read.ios + job.write.ios) as f64 / seconds(job)
}

#[test]
fn iops_times_mean_latency_is_the_depth() {
    for drive in drives() {
        for direction in ["read", "write", "read-write"] {
            for depth in [3, 100] {
                let measured = measure(&drive, direction, depth, 20_000 + 400 * depth);
                let timing = measured.timing.as_ref().unwrap();
                let sum_ns = |latency: &ssdlab_engine::timing::histogram::Latency| {
                    latency.mean_ns.unwrap_or(0.0) * latency.count as f64
                };
                let requests = (measured.read.ios + measured.write.ios) as f64;
                let mean_ns = (sum_ns(&timing.read) + sum_ns(&timing.write)) / requests;
                near(iops(&measured) * mean_ns / 1e9, depth as f64, 0.005);
            }
        }
    }
}

#[test]
fn doubling_the_depth_never_lowers_throughput() {
    for drive in drives() {
        for direction in ["read", "write", "read-write"] {
            let by_depth: Vec<f64> =
                [16, 32, 64].map(|depth| iops(&measure(&drive, direction, depth, 30_000))).to_vec();
            assert!(by_depth.is_sorted_by(|less, more| *more >= less * 0.99), "{direction}: {by_depth:?}");
        }
    }
}

#[test]
fn the_steady_state_is_one_of_requests_a_second_too() {
    let drive = &drives()[1];
    let mut specification = Specification {
        seed: 1,
        drive: serde_json::from_value(drive.clone()).unwrap(),
        timed: true,
        until: Until::SteadyState {
            round_bytes: user_bytes(drive),
            host_bytes_max: 40 * user_bytes(drive),
            precision: None,
        },
        series_points_max: 64,
        interval_ns: None,
        jobs: vec![serde_json::from_value(fill(drive)).unwrap()],
    };
    let writing = job(drive, "write", u64::MAX, json!({ "stage": 1, "iodepth": 32 }));
    specification.jobs.push(serde_json::from_value(writing).unwrap());
    let mut run = start(&specification).unwrap();
    while !run.advance(100_000).unwrap().is_finished {}
    let outcome = run.finish();
    let steady = outcome.steady_state.unwrap();
    let timing = steady.timing.unwrap();
    assert!(steady.reached && timing.range_share.unwrap() <= 0.2 && timing.slope_share.unwrap() <= 0.1);
    assert_eq!(timing.round_iops.len(), steady.round_waf.len());
    // The window is the last five rounds; their mean latency and rate make the depth.
    assert_eq!(timing.write_latency.count, timing.write.ios);
    assert!(timing.write.bytes.abs_diff(5 * user_bytes(drive)) < user_bytes(drive) / 4);
    let window_iops = timing.write.ios as f64 * 1e9 / timing.window_ns as f64;
    near(window_iops * timing.write_latency.mean_ns.unwrap() / 1e9, 32.0, 0.005);
    let last = &timing.round_iops[timing.round_iops.len() - 5..];
    near(5.0 / last.iter().map(|iops| 1.0 / iops).sum::<f64>(), window_iops, 0.01);
}

/// A drive without link and buffer whose controller takes 40 us for a trim and 1 ms for each MiB.
fn trimming_drive() -> Value {
    let mut drive = drive(4);
    change(&mut drive["controller"], &json!({ "trim_us": 40.0, "trim_us_per_mib": 1000.0 }));
    drive
}

fn trims_of(drive: &Value, bytes: u64, ios: u64, depth: u64) -> Value {
    let sizes = json!([{ "bytes": bytes, "percent": 100.0 }]);
    let more = json!({ "stage": 1, "iodepth": depth, "block_sizes": { "read": sizes, "write": sizes, "trim": sizes } });
    job(drive, "trim", ios, more)
}

const COMMAND_NS: u64 = 5000;

#[test]
fn a_trim_takes_its_time_by_command_and_by_range() {
    let drive = trimming_drive();
    for (bytes, own_ns) in [(UNIT, 40_000 + 1_000_000 / 256), (64 * UNIT, 40_000 + 250_000)] {
        let alone = run_one(&drive, trims_of(&drive, bytes, 1000, 1));
        let each_ns = took_ns(&alone) as f64 / 1000.0;
        near(each_ns, (own_ns + COMMAND_NS) as f64, 0.0001);
        // One after the other, whatever the depth: only the time of the command itself overlaps with the next.
        let deep = run_one(&drive, trims_of(&drive, bytes, 1000, 16));
        near(took_ns(&deep) as f64 / 1000.0, own_ns as f64, 0.001);
        near(deep.timing.unwrap().trim.mean_ns.unwrap(), (16 * own_ns) as f64, 0.01);
    }
}

#[test]
fn other_commands_wait_for_trims_but_not_the_flash() {
    let mut drive = trimming_drive();
    let measure = |drive: &Value| {
        let reads = job(drive, "read", 500, json!({ "name": "reads", "stage": 1, "iodepth": 1 }));
        let jobs = vec![fill(drive), trims_of(drive, 64 * UNIT, 500, 1), reads];
        run(drive, jobs).jobs.pop().unwrap()
    };
    // A read enters with the end of a trim and is done before that of the next, which comes when the command has been
    // answered: one read for each trim.
    let cycle_ns = 40_000 + 250_000 + COMMAND_NS;
    near(reads(&measure(&drive)).mean_ns.unwrap(), cycle_ns as f64, 0.005);
    change(&mut drive["controller"], &json!({ "trim_us": 0.0, "trim_us_per_mib": 0.0 }));
    assert!(reads(&measure(&drive)).mean_ns.unwrap() <= READ_NS as f64, "trims without a time hold up nothing");
}
