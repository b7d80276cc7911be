//! Several devices as one drive: does each do what it would do alone, and is the whole what they are together?

mod twin;

use serde_json::{Value, json};
use ssdlab_engine::error::ReadOnly;
use ssdlab_engine::simulation::{JobOutcome, Outcome, start};
use ssdlab_engine::specification::{Drive, Job, Specification, Until};

const UNIT: u64 = 4096;
const CHUNK: u64 = 65536;
const PROGRAM_NS: u64 = 220_000;
const READ_NS: u64 = 25_000;
/// A unit over a channel of 100 MB/s.
const TRANSFER_NS: u64 = 40_960;

/// `changes`: table, key, value.
fn drive(devices: u32, changes: &[(&str, &str, Value)]) -> Drive {
    let mut drive = json!({
        "name": "striped",
        "nand": {
            "cell": "slc", "channels": 4, "dies_per_channel": 2, "planes_per_die": 1, "blocks_per_plane": 128,
            "pages_per_block": 16, "page_bytes": UNIT, "read_us": 25.0, "program_us": 220.0, "erase_us": 1500.0,
            "channel_mb_s": 100.0, "endurance_cycles": 100_000,
        },
        "ftl": {
            "user_bytes": u64::from(devices) * (56 << 20), "mapping_unit_bytes": UNIT, "erase_unit": "superblock",
            "victim": { "name": "greedy" }, "placement": { "name": "single" }, "wear_leveling": { "name": "none" },
            "reserve_erase_units": 2, "spare_area": "dynamic",
        },
        "parity": { "units_per_stripe": 0 },
        "faults": { "factory_bad_blocks": 0.0, "wear_out": false, "endurance_spread": 0.0 },
        "write_buffer": { "bytes": 0 }, "controller": { "command_us": 5.0 },
        "stripe": { "devices": devices, "chunk_bytes": CHUNK },
    });
    for (table, key, value) in changes {
        let object = drive.as_object_mut().unwrap().entry(*table).or_insert_with(|| json!({}));
        object[*key] = value.clone();
    }
    serde_json::from_value(drive).unwrap()
}

/// One channel with one die, and few blocks.
fn tiny(devices: u32, changes: &[(&str, &str, Value)]) -> Drive {
    let size = [
        ("nand", "channels", json!(1)),
        ("nand", "dies_per_channel", json!(1)),
        ("nand", "blocks_per_plane", json!(24)),
        ("nand", "pages_per_block", json!(8)),
        ("ftl", "user_bytes", json!(u64::from(devices) * 150 * UNIT)),
        ("stripe", "chunk_bytes", json!(4 * UNIT)),
    ];
    drive(devices, &[&size, changes].concat())
}

fn job(stage: u32, direction: &str, bytes: u64, changes: &[(&str, Value)]) -> Job {
    let sizes = json!([{ "bytes": bytes, "percent": 100.0 }]);
    let mut job = serde_json::to_value(Job::default()).unwrap();
    let all = [
        ("stage", json!(stage)),
        ("direction", json!(direction)),
        ("block_sizes", json!({ "read": sizes, "write": sizes, "trim": sizes })),
        ("block_align_bytes", json!({ "read": bytes, "write": bytes, "trim": bytes })),
    ];
    for (key, value) in all.iter().chain(changes) {
        job[*key] = value.clone();
    }
    serde_json::from_value(job).unwrap()
}

fn once(stage: u32, direction: &str, offset_bytes: u64, bytes: u64) -> Job {
    let place = [("offset_bytes", offset_bytes), ("size_bytes", bytes), ("io_bytes", bytes), ("iodepth", 1)];
    job(stage, direction, bytes, &place.map(|(key, value)| (key, json!(value))))
}

fn outcome(drive: Drive, timed: bool, jobs: Vec<Job>) -> Outcome {
    let specification =
        Specification { seed: 7, drive, timed, until: Until::Job, series_points_max: 64, interval_ns: None, jobs };
    let mut run = start(&specification).unwrap();
    while !run.advance(10_000).unwrap().is_finished {}
    run.finish()
}

fn slowest_ns(job: &JobOutcome) -> u64 {
    let timing = job.timing.as_ref().unwrap();
    let latencies = [&timing.read, &timing.write, &timing.trim];
    latencies.iter().filter_map(|latency| latency.max_ns).max().expect("one request is complete")
}

#[test]
fn a_request_over_two_chunks_takes_as_long_as_the_longer_part() {
    let written = outcome(
        tiny(2, &[]),
        true,
        vec![
            // One unit on each device.
            once(0, "write", 3 * UNIT, 2 * UNIT),
            once(1, "read", 3 * UNIT, 2 * UNIT),
            // Chunks 0, 1 and 2: the first and the third lie on the first device, four units and one.
            once(2, "write", 0, 9 * UNIT),
            once(3, "read", 2 * UNIT, 3 * UNIT),
            once(4, "trim", 0, 8 * UNIT),
        ],
    );
    let unit_ns = TRANSFER_NS + PROGRAM_NS;
    let expected = [unit_ns, READ_NS + TRANSFER_NS, 5 * unit_ns, 2 * (READ_NS + TRANSFER_NS), 5_000];
    assert_eq!(written.jobs.iter().map(slowest_ns).collect::<Vec<_>>(), expected);
    assert_eq!((written.ledger.host_written_bytes, written.ledger.host_read_bytes), (11 * UNIT, 5 * UNIT));
    assert_eq!(written.ledger.programmed_units.host, 11);
    assert_eq!((written.capacity.user_units, written.capacity.live_units), (300, 1));
    assert_eq!((written.capacity.erase_units, written.capacity.physical_units), (48, 2 * 24 * 8));
    assert_eq!(written.wear.histogram.iter().map(|bin| bin.blocks).sum::<u32>(), 48);
}

/// Blocks a second, mean latency in ns and write amplification in the steady state of random writes over half of the
/// addresses, after which the whole drive is as full for each device.
fn steady(devices: u32, depth: u32, changes: &[(&str, &str, Value)]) -> (f64, f64, f64) {
    const BLOCK: u64 = 16384;
    let drive = drive(devices, changes);
    let user_bytes = drive.ftl.user_bytes;
    let writes = |stage: u32, passes: u64, depth: u32, sequential: bool| {
        let size =
            [("size_bytes", user_bytes), ("io_bytes", passes * user_bytes), ("iodepth", depth.into()), ("seed", 5)];
        let size = size.map(|(key, value)| (key, json!(value)));
        let how = [("sequential", json!(sequential)), ("random_map", json!(false))];
        job(stage, "write", BLOCK, &[&size[..], &how].concat())
    };
    let jobs = vec![writes(0, 1, depth, true), writes(1, 4, depth, false), writes(2, 6, depth, false)];
    let outcome = outcome(drive, true, jobs);
    let measured = &outcome.jobs[2];
    let timing = measured.timing.as_ref().unwrap();
    let seconds = (timing.end_ns - timing.start_ns) as f64 / 1e9;
    let waf = (measured.ledger.programmed_units.total() * UNIT) as f64 / measured.ledger.host_written_bytes as f64;
    (measured.write.ios as f64 / seconds, timing.write.mean_ns.unwrap(), waf)
}

fn assert_twice(depth: u32, allowed: f64, changes: &[(&str, &str, Value)]) {
    let (one, latency_of_one, waf_of_one) = steady(1, depth / 2, changes);
    let (both, latency, waf) = steady(2, depth, changes);
    assert!(waf_of_one > 1.5, "garbage collection is at work: {waf_of_one}");
    let ratio = both / one / 2.0;
    assert!(ratio < 1.01 && ratio > 1.0 - allowed, "two devices are {} times as fast as one", 2.0 * ratio);
    assert!((waf / waf_of_one - 1.0).abs() < 0.02, "WAF {waf} against {waf_of_one}");
    for (speed, latency_ns, depth) in [(one, latency_of_one, depth / 2), (both, latency, depth)] {
        let law = speed * latency_ns / 1e9 / f64::from(depth);
        assert!((law - 1.0).abs() < 0.005, "{speed} a second, each {latency_ns} ns, at depth {depth}");
    }
}

#[test]
fn two_buffered_devices_are_just_under_twice_as_fast_as_one_at_half_the_depth() {
    assert_twice(32, 0.03, &[("write_buffer", "bytes", json!(1 << 20))]);
}

#[test]
fn and_when_they_wait_for_their_channels() {
    assert_twice(32, 0.03, &[("write_buffer", "bytes", json!(1 << 20)), ("nand", "channel_mb_s", json!(30.0))]);
}

#[test]
fn without_a_buffer_one_of_them_is_idle_now_and_then() {
    assert_twice(64, 0.12, &[]);
}

#[test]
fn a_request_alone_is_as_fast_as_on_one_device() {
    let reads = |devices: u32| {
        let user_bytes = u64::from(devices) * (56 << 20);
        let size =
            |io_bytes: u64| [("size_bytes", json!(user_bytes)), ("io_bytes", json!(io_bytes)), ("iodepth", json!(1))];
        let write = job(0, "write", UNIT, &[&size(user_bytes)[..], &[("sequential", json!(true))]].concat());
        let read = job(1, "read", UNIT, &size(4 << 20));
        let outcome = outcome(drive(devices, &[]), true, vec![write, read]);
        let of_job = |job: usize| outcome.jobs[job].timing.clone().unwrap();
        (of_job(0).write.mean_ns, of_job(1).read.mean_ns)
    };
    assert_eq!(reads(1), (Some((TRANSFER_NS + PROGRAM_NS) as f64), Some((READ_NS + TRANSFER_NS) as f64)));
    assert_eq!(reads(2), reads(1));
}

#[test]
fn without_a_clock_it_writes_as_much_as_its_devices_do() {
    let waf = |devices: u32| {
        let drive = drive(devices, &[]);
        let size = [("size_bytes", json!(drive.ftl.user_bytes)), ("io_bytes", json!(8 * drive.ftl.user_bytes))];
        let outcome =
            outcome(drive, false, vec![job(0, "write", UNIT, &[&size[..], &[("random_map", json!(false))]].concat())]);
        assert_eq!(outcome.failure, None);
        (outcome.ledger.programmed_units.total() * UNIT) as f64 / outcome.ledger.host_written_bytes as f64
    };
    let (one, three) = (waf(1), waf(3));
    assert!(one > 2.0 && (three / one - 1.0).abs() < 0.02, "WAF {three} against {one}");
}

#[test]
fn what_a_stripe_cannot_do_is_refused_by_its_keys() {
    let refused = |changes: &[(&str, &str, Value)]| {
        let drive = drive(2, changes);
        let jobs = vec![once(0, "write", 0, UNIT)];
        let specification = Specification {
            seed: 1,
            drive,
            timed: true,
            until: Until::Job,
            series_points_max: 64,
            interval_ns: None,
            jobs,
        };
        let error = start(&specification).err().expect("it is refused");
        (error.key.clone(), error.to_string())
    };
    for (table, key, value) in [
        ("background", "erased_pool_bytes", json!(1 << 20)),
        ("background", "defragment", json!(true)),
        ("slc_cache", "static_bytes", json!(1 << 20)),
    ] {
        let (refused_key, message) = refused(&[(table, key, value)]);
        assert_eq!(refused_key, "stripe.devices");
        assert!(message.contains(&format!("{table}.{key}")), "{message}");
    }
    for (bytes, words) in [(6000, "multiple of ftl.mapping_unit_bytes"), (1 << 30, "so small that each")] {
        let (key, message) = refused(&[("stripe", "chunk_bytes", json!(bytes))]);
        assert_eq!(key, "stripe.chunk_bytes");
        assert!(message.contains(words), "{message}");
    }
    assert_eq!(refused(&[("stripe", "devices", json!(0))]).0, "stripe.devices");
}

/// A device that refuses a write makes the whole read-only.
#[test]
fn the_whole_is_read_only_when_a_device_is() {
    let worn = [
        ("faults", "wear_out", json!(true)),
        ("faults", "endurance_spread", json!(0.2)),
        ("nand", "endurance_cycles", json!(20)),
    ];
    for timed in [true, false] {
        let drive = tiny(2, &worn);
        let user_bytes = drive.ftl.user_bytes;
        let size = [("size_bytes", json!(user_bytes)), ("io_bytes", json!(200 * user_bytes))];
        let jobs = vec![job(0, "write", UNIT, &[&size[..], &[("random_map", json!(false))]].concat())];
        let outcome = outcome(drive, timed, jobs);
        let reason = outcome.failure.expect("it wears out");
        let says = ReadOnly::OutOfSpareBlocks { erase_units_left: 0, erase_units_needed: 0 }.to_string();
        assert_eq!(reason.split('(').next(), says.split('(').next());
        assert!(outcome.wear.bad_blocks_grown > 0);
    }
}
