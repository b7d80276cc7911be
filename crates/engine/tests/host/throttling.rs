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

/// A saturated drive that moves its batches in pieces has writes that take N/X each; one that queues a whole batch at the
/// dies is as fast, but its writes wait for it: 400 reads and 100 programs of four units.
#[test]
fn batches_in_pieces_change_the_spread_and_not_the_mean() {
    let saturated = |units_at_a_time: u64| {
        let mut drive = drive(0.0);
        drive["ftl"]["gc_throttling"]["units_at_a_time"] = json!(units_at_a_time);
        let settle = job(&drive, "write", 100_000, json!({ "iodepth": OUTSTANDING }));
        let measured = job(&drive, "write", 20_000, json!({ "name": "measured", "stage": 1, "iodepth": OUTSTANDING }));
        run(&drive, vec![settle, measured]).jobs.pop().unwrap()
    };
    let [whole, in_pieces] = [0, 4].map(saturated);
    near(duration_ns(&in_pieces), duration_ns(&whole), 0.05);
    let [whole_max_ns, in_pieces_max_ns] =
        [&whole, &in_pieces].map(|job| job.timing.as_ref().unwrap().write.max_ns.unwrap() as f64);
    let batch_ns = 400.0 * 60_000.0 + 100.0 * 700_000.0;
    let mean_ns = OUTSTANDING as f64 * duration_ns(&in_pieces) / 20_000.0;
    assert!(whole_max_ns > batch_ns, "{whole_max_ns} against {batch_ns}");
    // Beyond the mean, an erase and the program in progress.
    assert!(in_pieces_max_ns < mean_ns + 5_000_000.0 + 4.0 * 700_000.0, "{in_pieces_max_ns} against {mean_ns}");
}

/// A buffer that admits writes at the mean rate at which it is emptied has writes that all take N/X; without it they wait
/// for the bursts of garbage collection.
#[test]
fn paced_writes_take_their_number_divided_by_the_rate() {
    let saturated = |is_paced: bool| {
        let mut drive = drive(0.0);
        drive["ftl"]["gc_throttling"] = json!({ "name": "in-batches", "units": 100 });
        drive["write_buffer"]["paced"] = json!(is_paced);
        let settle = job(&drive, "write", 100_000, json!({ "iodepth": OUTSTANDING }));
        let measured = job(&drive, "write", 20_000, json!({ "name": "measured", "stage": 1, "iodepth": OUTSTANDING }));
        run(&drive, vec![settle, measured]).jobs.pop().unwrap()
    };
    let [unpaced, paced] = [false, true].map(saturated);
    near(duration_ns(&paced), duration_ns(&unpaced), 0.02);
    let mean_ns = OUTSTANDING as f64 * duration_ns(&paced) / 20_000.0;
    let write = |job: &JobOutcome| job.timing.as_ref().unwrap().write.clone();
    let spread = |job: &JobOutcome| write(job).stddev_ns.unwrap() / mean_ns;
    near(write(&paced).mean_ns.unwrap(), mean_ns, 0.02);
    println!("standard deviation over the mean: {:.3} paced, {:.3} unpaced", spread(&paced), spread(&unpaced));
    assert!(spread(&paced) < 0.25 && spread(&unpaced) > 2.0 * spread(&paced));
}

fn duration_ns(job: &JobOutcome) -> f64 {
    let timing = job.timing.as_ref().unwrap();
    (timing.end_ns - timing.start_ns) as f64
}
