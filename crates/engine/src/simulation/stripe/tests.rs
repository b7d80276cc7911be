//! A stripe of one device is the drive without a stripe, to the byte.

use super::Stripe;
use crate::simulation::timed::Machine;
use crate::simulation::{Simulation, TimedSimulation};
use crate::specification::drive::HostLink;
use crate::specification::{Drive, Job, Specification, Until};
use serde_json::{Value, json};

const UNIT: u64 = 4096;
const USER_UNITS: u64 = 640;

/// Two channels, three dies on each of two planes, with what `changes` changes: table, key, value.
fn drive(changes: &[(&str, &str, Value)]) -> Drive {
    let mut drive = json!({
        "name": "tiny",
        "nand": {
            "cell": "slc", "channels": 2, "dies_per_channel": 3, "planes_per_die": 2, "blocks_per_plane": 20,
            "pages_per_block": 4, "page_bytes": UNIT, "read_us": 25.0, "program_us": 220.0, "erase_us": 1500.0,
            "channel_mb_s": 100.0, "endurance_cycles": 100_000,
        },
        "ftl": {
            "user_bytes": USER_UNITS * UNIT, "mapping_unit_bytes": UNIT, "erase_unit": "superblock",
            "victim": { "name": "greedy" }, "placement": { "name": "host-gc-split" },
            "wear_leveling": { "name": "none" }, "reserve_erase_units": 2, "spare_area": "dynamic",
        },
        "parity": { "units_per_stripe": 0 },
        "faults": { "factory_bad_blocks": 0.0, "wear_out": false, "endurance_spread": 0.0 },
        "write_buffer": { "bytes": 16 * UNIT }, "controller": { "command_us": 5.0 },
    });
    for (table, key, value) in changes {
        let object = drive.as_object_mut().unwrap().entry(*table).or_insert_with(|| json!({}));
        object[*key] = value.clone();
    }
    serde_json::from_value(drive).unwrap()
}

fn job(name: &str, stage: u32, changes: &[(&str, Value)]) -> Job {
    let mut job = serde_json::to_value(Job::default()).unwrap();
    let sizes = json!([{ "bytes": 4096, "percent": 50.0 }, { "bytes": 16384, "percent": 30.0 }, { "bytes": 512, "percent": 20.0 }]);
    let align = json!({ "read": 512, "write": 512, "trim": 512 });
    let all = [
        ("name", json!(name)),
        ("stage", json!(stage)),
        ("size_bytes", json!(USER_UNITS * UNIT)),
        ("io_bytes", json!(4 * USER_UNITS * UNIT)),
        ("block_sizes", json!({ "read": sizes, "write": sizes, "trim": sizes })),
        ("block_align_bytes", align),
        ("random_map", json!(false)),
        ("iodepth", json!(7)),
    ];
    for (key, value) in all.iter().chain(changes) {
        job[*key] = value.clone();
    }
    serde_json::from_value(job).unwrap()
}

fn specification(drive: Drive, timed: bool) -> Specification {
    // Where one program completes several requests, what a device has waiting uses the link before what the host issues
    // next; a host with one drive issues between one of them and the next.
    let has_link = drive.host_link != HostLink::default();
    let jobs = vec![
        job("fill", 0, &[("sequential", json!(true)), ("direction", json!("write"))]),
        job("mixed", 1, &[("direction", json!("read-write")), ("read_percent", json!(40.0)), ("seed", json!(5))]),
        job(
            "trims",
            1,
            &[("direction", json!("trim-write")), ("seed", json!(6)), ("start_delay_ns", json!(3_000_000))],
        ),
        job("flushed", 1, &[("direction", json!("write")), ("flush_every_writes", json!(9))]),
        job("synchronous", 1, &[("direction", json!("write")), ("sync_writes", json!(!has_link)), ("seed", json!(7))]),
        job(
            "paused",
            1,
            &[("direction", json!("read")), ("sequential", json!(true)), ("think_time_ns", json!(70_000))],
        ),
        job("last", 2, &[("direction", json!("write")), ("iodepth", json!(1))]),
    ];
    Specification { seed: 3, drive, timed, until: Until::Job, series_points_max: 200, interval_ns: None, jobs }
}

fn outcome_of(mut run: impl crate::simulation::Run + 'static) -> String {
    while !run.advance(100).unwrap().is_finished {}
    serde_json::to_string(&Box::new(run).finish()).unwrap()
}

fn drives() -> Vec<Drive> {
    let volatile = ("write_buffer", "power_loss_protection", json!(false));
    vec![
        drive(&[]),
        drive(&[("write_buffer", "bytes", json!(0))]),
        drive(&[volatile.clone(), ("host_link", "interface", json!("sata-3g"))]),
        drive(&[
            ("controller", "commands_per_second_max", json!(20_000)),
            ("host_link", "interface", json!("pcie2x4")),
        ]),
        drive(&[("read_ahead", "window_bytes", json!(262_144)), ("read_ahead", "segment_bytes", json!(32768))]),
        drive(&[("ftl", "erase_unit", json!("block")), ("nand", "suspend", json!(true)), volatile]),
        drive(&[("faults", "factory_bad_blocks", json!(0.02))]),
    ]
}

#[test]
fn a_stripe_of_one_device_is_the_drive_itself_with_a_clock() {
    for (number, drive) in drives().into_iter().enumerate() {
        let specification = specification(drive, true);
        let single = TimedSimulation::new(&specification).unwrap();
        let mut striped = TimedSimulation::new(&specification).unwrap();
        striped.machine = Machine::striped(&specification.drive, specification.seed).unwrap();
        assert!(outcome_of(single) == outcome_of(striped), "drive {number}");
    }
}

#[test]
fn and_without_one() {
    for (number, drive) in drives().into_iter().enumerate() {
        let specification = specification(drive, false);
        let single = Simulation::new(&specification).unwrap();
        let mut striped = Simulation::new(&specification).unwrap();
        striped.drive = Box::new(Stripe::build(&specification.drive, specification.seed).unwrap());
        assert!(outcome_of(single) == outcome_of(striped), "drive {number}");
    }
}
