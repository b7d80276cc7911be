//! A buffer that admits a share of the arriving writes while garbage collection has a backlog, against arithmetic.

use super::drives::*;
use serde_json::{Value, json};
use ssdlab_engine::simulation::JobOutcome;

/// Writes a second.
const RATE: u64 = 1000;
const OUTSTANDING: u64 = 16;

/// One die of 64 erase units with 1,024 units each, which collects garbage in batches of 400 units.
fn drive(share: f64) -> Value {
    let mut drive = drive_of(json!({
        "cell": "tlc", "channels": 1, "dies_per_channel": 1, "planes_per_die": 1, "blocks_per_plane": 64,
        "pages_per_block": 256, "page_bytes": 4 * UNIT, "read_us": 60.0, "program_us": 700.0, "erase_us": 5000.0,
        "channel_mb_s": 800.0, "endurance_cycles": 3000,
    }));
    drive["ftl"]["gc_throttling"] = json!({ "name": "in-batches", "units": 400 });
    drive["write_buffer"] = json!({ "bytes": 512 * UNIT, "gc_admission_share": share });
    drive
}

/// Random writes after two drive writes, at `rate` a second or, without one, as many as the drive accepts.
fn written(share: f64, rate: Option<u64>) -> JobOutcome {
    let drive = drive(share);
    let settle = job(&drive, "write", 100_000, json!({ "iodepth": OUTSTANDING }));
    let rate = rate.map(|rate| json!({ "read": null, "write": rate, "trim": null }));
    let more = json!({ "name": "measured", "stage": 1, "iodepth": OUTSTANDING, "rate_iops": rate });
    run(&drive, vec![settle, job(&drive, "write", 20_000, more)]).jobs.pop().unwrap()
}

/// With N writes outstanding, of which a share k of the rate L is admitted, each takes N/(k L).
#[test]
fn all_writes_wait_for_their_turn_in_the_admitted_rate() {
    for share in [0.5, 0.8] {
        let timing = written(share, Some(RATE)).timing.unwrap();
        let plateau_ns = OUTSTANDING as f64 * 1e9 / (share * RATE as f64);
        near(timing.write.max_ns.unwrap() as f64, plateau_ns, 0.15);
    }
    let unthrottled = written(0.0, Some(RATE)).timing.unwrap();
    // The first find the buffer full of those before.
    assert!(unthrottled.write.max_ns.unwrap() < 1_000_000, "the buffer takes what comes during a batch");
}

/// The rate of a host that submits as fast as the drive admits is not taken for its own.
#[test]
fn a_saturated_drive_does_not_become_slower_and_slower() {
    let [throttled, plain] = [0.5, 0.0].map(|share| duration_ns(&written(share, None)));
    near(throttled, plain, 0.1);
}

fn duration_ns(job: &JobOutcome) -> f64 {
    let timing = job.timing.as_ref().unwrap();
    (timing.end_ns - timing.start_ns) as f64
}
