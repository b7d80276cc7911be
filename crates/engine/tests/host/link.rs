//! Closed forms of what link and controller leave of the flash, from the drive file's own numbers.

use super::drives::*;
use serde_json::{Value, json};
use ssdlab_engine::simulation::JobOutcome;

/// Eight channels of two dies with two planes and pages of 16 KiB.
fn wide(link: Value) -> Value {
    let mut drive = drive_of(json!({
        "cell": "tlc", "channels": 8, "dies_per_channel": 2, "planes_per_die": 2, "blocks_per_plane": 32,
        "pages_per_block": 16, "page_bytes": 4 * UNIT, "read_us": 60.0, "program_us": 700.0, "erase_us": 5000.0,
        "channel_mb_s": 800.0, "endurance_cycles": 3000,
    }));
    drive["host_link"] = link;
    drive["write_buffer"] = json!({ "bytes": 1024 * UNIT });
    drive
}

/// Sequential requests of 32 units, 128 KiB.
fn in_sequence(drive: &Value, direction: &str, more: Value) -> JobOutcome {
    let sizes = json!([{ "bytes": 32 * UNIT, "percent": 100.0 }]);
    let mut all = json!({
        "sequential": true, "iodepth": 32, "number_ios": null, "io_bytes": 4 * user_bytes(drive),
        "block_sizes": { "read": sizes, "write": sizes, "trim": sizes },
    });
    change(&mut all, &more);
    run_one(drive, job(drive, direction, 0, all))
}

fn mb_s(job: &JobOutcome) -> f64 {
    (job.read.bytes + job.write.bytes) as f64 / seconds(job) / 1e6
}

const SATA_MB_S: f64 = 560.0;
/// A program group of a die: two pages of four units.
const GROUP_BYTES: f64 = 8.0 * UNIT as f64;

#[test]
fn an_unloaded_request_takes_its_parts_and_no_more() {
    let drive = wide(json!({ "interface": "sata-6g", "command_us": 2.0 }));
    let link_ns = 2_000.0 + UNIT as f64 * 1e3 / SATA_MB_S;
    // What the buffer still holds of the fill is programmed meanwhile, but for a last group that is not full.
    let in_flash = json!({ "start_delay_ns": 1_000_000_000, "size_bytes": user_bytes(&drive) - GROUP_BYTES as u64 });
    let reading = run_one(&drive, job(&drive, "read", 2000, in_flash));
    let latency = reads(&reading);
    near(latency.min_ns.unwrap() as f64, READ_NS as f64 + link_ns, 0.001);
    near(latency.max_ns.unwrap() as f64, READ_NS as f64 + link_ns, 0.001);
    // A buffered write: the link, and the command.
    let writing = run(&drive, vec![job(&drive, "write", 500, json!({}))]).jobs.pop().unwrap();
    near(writing.timing.unwrap().write.mean_ns.unwrap(), link_ns + 5_000.0, 0.001);
    // Without a buffer: the link, the group's transfer, the program.
    let mut unbuffered = drive.clone();
    unbuffered["write_buffer"]["bytes"] = json!(0);
    let writing = run(&unbuffered, vec![job(&unbuffered, "write", 500, json!({}))]).jobs.pop().unwrap();
    near(writing.timing.unwrap().write.mean_ns.unwrap(), link_ns + 8.0 * 5_120.0 + 700_000.0, 0.001);
}

#[test]
fn sequential_reads_are_bound_by_the_link_or_by_the_channels() {
    for (link, bound) in [
        (json!({ "interface": "sata-6g" }), SATA_MB_S),
        (json!({ "interface": "pcie2x2" }), 1000.0 * 256.0 / 280.0),
        (json!({ "mb_s": 1500.0 }), 1500.0),
    ] {
        near(mb_s(&in_sequence(&wide(link), "read", json!({ "iodepth": 64 }))), bound, 0.01);
    }
}

#[test]
fn sequential_writes_are_bound_by_the_link_or_by_the_programs() {
    let link_bound = wide(json!({ "interface": "sata-3g" }));
    near(mb_s(&in_sequence(&link_bound, "write", json!({}))), 285.0, 0.01);
    // Each of the 16 dies takes a group's transfer and program for 32 KiB, and an erase for every 16 groups. Two dies
    // share a channel, whose transfers are short compared with the programs.
    let group_ns = 8.0 * 5_120.0 + 700_000.0 + 5_000_000.0 / 16.0;
    let flash_bound = wide(json!({ "interface": "pcie4x4" }));
    // So long that what was erased before, and what is buffered at the end, is little.
    let long = json!({ "iodepth": 64, "io_bytes": 20 * user_bytes(&flash_bound) });
    near(mb_s(&in_sequence(&flash_bound, "write", long)), 16.0 * GROUP_BYTES * 1e3 / group_ns, 0.01);
}

#[test]
fn random_reads_are_bound_by_dies_link_or_commands() {
    let iops = |drive: &Value| {
        let more = json!({ "iodepth": 1024, "runtime_ns": 4_000_000_000u64 });
        let reading = run_one(drive, job(drive, "read", u64::MAX, more));
        reading.read.ios as f64 / seconds(&reading)
    };
    // Every die has a channel of its own, and takes the array and the transfer for each. With so many requests, thrown
    // at random, a die is hardly ever without one.
    let mut dies = drive(4);
    near(iops(&dies), 4.0 * 1e9 / READ_NS as f64, 0.01);
    dies["controller"]["commands_per_second_max"] = json!(37_500);
    near(iops(&dies), 37_500.0, 0.01);
    near(iops(&wide(json!({ "mb_s": 400.0, "command_us": 1.0 }))), 1e9 / (UNIT as f64 * 2.5 + 1000.0), 0.01);
}

#[test]
fn directions_share_a_half_duplex_link() {
    let mixed = json!({ "read_percent": 50.0, "iodepth": 64 });
    for (duplex, bound) in [("half", 100.0), ("full", 200.0)] {
        let drive = wide(json!({ "mb_s": 100.0, "duplex": duplex }));
        near(mb_s(&in_sequence(&drive, "read-write", mixed.clone())), bound, 0.02);
    }
}

/// A link that is never waited for changes nothing but the time that it takes.
#[test]
fn a_link_that_takes_no_time_changes_nothing() {
    let without = wide(json!({}));
    let with = wide(json!({ "mb_s": 1e6, "command_us": 0.0 }));
    let at = |drive: &Value| {
        let writing = run_one(drive, job(drive, "write", 20_000, json!({ "iodepth": 16 })));
        (writing.ledger, seconds(&writing))
    };
    let (plain, linked) = (at(&without), at(&with));
    near(linked.1, plain.1, 0.01);
    near(linked.0.programmed_units.total() as f64, plain.0.programmed_units.total() as f64, 0.01);
}

/// While a part of a large write crosses the link, the one before it is programmed: if both take as long, the whole takes
/// that long and not both times together.
#[test]
fn writes_larger_than_the_buffer_use_link_and_flash_at_the_same_time() {
    const DIES: u64 = 4;
    // A unit crosses the channel and is programmed.
    let flash_mb_s = (DIES * UNIT) as f64 / (700.0 + 5.12);
    let mut slow = drive(DIES as u32);
    slow["host_link"] = json!({ "mb_s": flash_mb_s });
    slow["write_buffer"] = json!({ "bytes": 64 * UNIT });
    for (units, depth) in [(256, 1), (256, 2), (256, 4), (64, 2), (40, 2)] {
        let sizes = json!([{ "bytes": units * UNIT, "percent": 100.0 }]);
        let more = json!({
            "iodepth": depth, "sequential": true, "block_sizes": { "read": sizes, "write": sizes, "trim": sizes },
        });
        let written = run(&slow, vec![job(&slow, "write", 1024 / units, more)]).jobs.pop().unwrap();
        near(mb_s(&written), flash_mb_s, 0.06);
    }
}
