//! Does a run that goes on from a saved state go on as if it had not stopped, for every policy; and is what is no such
//! state refused?

use serde_json::json;
use ssdlab_engine::simulation::{InitialState, Outcome, Run, start_from};
use ssdlab_engine::specification::Specification;

const UNIT: u64 = 4096;

fn job(name: &str, stage: u32, sequential: bool, user_bytes: u64, passes: u64) -> serde_json::Value {
    let sizes = json!([{ "bytes": UNIT, "percent": 100.0 }]);
    json!({
        "name": name, "clone": 0, "stage": stage, "direction": "write", "sequential": sequential,
        "read_percent": 0.0, "offset_bytes": 0, "size_bytes": user_bytes, "io_bytes": passes * user_bytes,
        "number_ios": null, "loops": 1,
        "block_sizes": { "read": sizes, "write": sizes, "trim": sizes },
        "block_align_bytes": { "read": UNIT, "write": UNIT, "trim": UNIT },
        "distribution": { "name": "zipf", "theta": 0.9, "center": null },
        "random_map": false, "skip_bytes": null, "runs": null, "random_percent": null, "files": null,
        "seed": 7 + stage, "iodepth": 1,
    })
}

fn specification(choices: &serde_json::Value, pages: u32, jobs: serde_json::Value) -> Specification {
    let user_bytes = 50 * u64::from(pages) * 2 * UNIT;
    let mut drive = json!({
        "name": "test",
        "nand": {
            "cell": "slc", "channels": 2, "dies_per_channel": 1, "planes_per_die": 1, "blocks_per_plane": 64,
            "pages_per_block": pages, "page_bytes": UNIT, "read_us": 25.0, "program_us": 200.0, "erase_us": 1500.0,
            "channel_mb_s": 200.0, "endurance_cycles": 1000,
        },
        "ftl": {
            "user_bytes": user_bytes, "mapping_unit_bytes": UNIT, "erase_unit": "superblock",
            "victim": { "name": "greedy" }, "placement": { "name": "host-gc-split" }, "reserve_erase_units": 2,
            "wear_leveling": { "name": "none" }, "spare_area": "dynamic",
        },
        "write_buffer": { "bytes": 0 },
        "controller": { "command_us": 5.0 },
        "parity": { "units_per_stripe": 0 },
        "faults": { "factory_bad_blocks": 0.0, "wear_out": false, "endurance_spread": 0.0 },
    });
    for (key, value) in choices.as_object().unwrap() {
        drive["ftl"][key] = value.clone();
    }
    let specification = json!({
        "seed": 3, "timed": false, "until": { "kind": "job" }, "series_points_max": 16, "drive": drive, "jobs": jobs,
    });
    serde_json::from_value(specification).unwrap()
}

fn user_bytes(pages: u32) -> u64 {
    50 * u64::from(pages) * 2 * UNIT
}

fn run(specification: &Specification, state: Option<(&[u8], u32)>) -> (Outcome, Vec<u8>) {
    let mut bytes = state.map(|(bytes, _)| bytes).unwrap_or_default();
    let times = state.map_or(1, |(_, times)| times);
    let initial = state.is_some().then_some(InitialState { input: &mut bytes, times });
    let mut run: Box<dyn Run> = start_from(specification, initial).unwrap();
    while !run.advance(10_000).unwrap().is_finished {}
    let mut saved = Vec::new();
    run.save_state(&mut saved).unwrap();
    (run.finish(), saved)
}

#[test]
fn going_on_from_a_state_is_not_having_stopped() {
    let mut cases = Vec::new();
    for victim in ["greedy", "fifo", "d-choices", "windowed-greedy", "cost-benefit", "random"] {
        cases.push(json!({ "victim": { "name": victim } }));
    }
    for placement in ["single", "frequency-frontiers", "class-spare", "host-streams"] {
        cases.push(json!({ "placement": { "name": placement }, "reserve_erase_units": 2 }));
    }
    cases.push(json!({ "wear_leveling": { "name": "static", "threshold": 3 }, "victim": { "name": "d-choices" } }));
    cases.push(json!({ "wear_leveling": { "name": "dynamic" } }));
    for die_choice in ["round-robin", "least-loaded", "random", "one-block"] {
        cases.push(json!({ "erase_unit": "block", "die_choice": { "name": die_choice } }));
    }
    for choices in cases {
        let size = user_bytes(16);
        let whole =
            json!([job("fill", 0, true, size, 1), job("first", 1, false, size, 4), job("second", 2, false, size, 3)]);
        let before = json!([job("fill", 0, true, size, 1), job("first", 1, false, size, 4)]);
        let mut second = job("second", 0, false, size, 3);
        second["seed"] = json!(9);
        let (at_once, end) = run(&specification(&choices, 16, whole), None);
        let (_, saved) = run(&specification(&choices, 16, before), None);
        let (later, later_end) = run(&specification(&choices, 16, json!([second])), Some((&saved, 1)));
        assert_eq!(later.ledger, at_once.ledger, "{choices}");
        assert_eq!(later.jobs[0].ledger, at_once.jobs[2].ledger, "{choices}");
        assert_eq!(later.wear, at_once.wear, "{choices}");
        assert_eq!(later.capacity, at_once.capacity, "{choices}");
        assert!(later_end == end, "the states at the end are the same bytes: {choices}");
    }
}

#[test]
fn a_state_of_smaller_erase_units_stands_for_a_larger_drive() {
    for (victim, erase_unit) in [("greedy", "superblock"), ("fifo", "superblock"), ("greedy", "block")] {
        let choices = json!({ "victim": { "name": victim }, "erase_unit": erase_unit });
        let jobs = |pages, passes| {
            json!([job("fill", 0, true, user_bytes(pages), 1), job("a", 1, false, user_bytes(pages), passes)])
        };
        let (small, saved) = run(&specification(&choices, 32, jobs(32, 12)), None);
        let large = json!([job("b", 0, false, user_bytes(128), 1)]);
        let (went_on, _) = run(&specification(&choices, 128, large), Some((&saved, 4)));
        let (simulated, _) = run(&specification(&choices, 128, jobs(128, 12)), None);
        assert_eq!(went_on.ledger.host_written_bytes, 4 * small.ledger.host_written_bytes + user_bytes(128));
        let waf = |ledger: ssdlab_engine::ledger::Ledger| {
            ledger.programmed_units.total() as f64 / ledger.programmed_units.host as f64
        };
        let (going_on, settled) = (waf(went_on.jobs[0].ledger), waf(simulated.jobs[1].ledger));
        assert!(going_on > 1.2 && settled > 1.2, "{victim}: cleaning is under way: {going_on:.3} and {settled:.3}");
    }
}

#[test]
fn what_is_no_state_of_the_drive_is_refused() {
    let jobs = json!([job("fill", 0, true, user_bytes(16), 2)]);
    let choices = json!({});
    let plain = specification(&choices, 16, jobs.clone());
    let (_, saved) = run(&plain, None);
    let refused = |mut bytes: &[u8], specification: &Specification, times: u32| {
        let initial = InitialState { input: &mut bytes, times };
        start_from(specification, Some(initial)).err().map(|error| error.value).unwrap_or_default()
    };
    assert_eq!(refused(&saved, &plain, 1), "");
    assert!(refused(&saved[..saved.len() / 2], &plain, 1).contains("ends too early"));
    assert!(refused(&[], &plain, 1).contains("ends too early"));
    assert!(refused(&saved, &specification(&choices, 32, jobs.clone()), 1).contains("of another drive"));
    let mut changed = saved.clone();
    let last = changed.len() - 4;
    changed[last..].copy_from_slice(&12_345_678u32.to_le_bytes());
    assert!(refused(&changed, &plain, 1).contains("is not there"));
    changed.copy_within(last - 4..last, last);
    assert!(refused(&changed, &plain, 1).contains("twice"));
    // A unit that the map no longer names leaves the counts wrong.
    changed[last..].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(refused(&changed, &plain, 1).contains("damaged"));
}

/// A drive with whole tables of the drive file changed, and jobs whose data can be reduced.
fn patched(patch: &serde_json::Value, timed: bool, jobs: serde_json::Value) -> Specification {
    let plain = serde_json::to_value(specification(&json!({}), 48, jobs)).unwrap();
    let mut specification = plain;
    specification["timed"] = json!(timed);
    for (table, values) in patch.as_object().unwrap() {
        for (key, value) in values.as_object().unwrap() {
            specification["drive"][table][key] = value.clone();
        }
    }
    for job in specification["jobs"].as_array_mut().unwrap() {
        job["compress_percent"] = json!(40.0);
        job["dedupe_percent"] = json!(20.0);
        job["iodepth"] = json!(8);
        // All that the job before has left to do is done by then.
        job["start_delay_ns"] = json!(2_000_000_000u64);
    }
    serde_json::from_value(specification).unwrap()
}

/// Whatever a drive keeps beside its map, with a clock and without: the second job has the same counters, and with a
/// clock the same latencies to the nanosecond, whether the drive was saved before it or not.
#[test]
fn what_is_kept_beside_the_map_goes_on_too() {
    let cache = json!({ "static_bytes": 24 * UNIT, "dynamic_bytes_max": 128 * UNIT, "program_us": 60.0 });
    let with_cache = |more: serde_json::Value| {
        let mut tables = json!({ "nand": { "cell": "tlc" }, "slc_cache": cache });
        tables.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        tables
    };
    let map_cache = |eviction: &str, form: &str| json!({ "map_cache": { "bytes": 16384, "entries_per_map_page": 64, "eviction": eviction, "form": form } });
    let reduced = |deduplication: bool| {
        let table = json!({ "compression": true, "deduplication": deduplication, "index_bytes_per_unit": 16 });
        json!({ "data_reduction": table })
    };
    let cases = [
        json!({}),
        json!({ "write_buffer": { "bytes": 32 * UNIT } }),
        with_cache(json!({})),
        with_cache(json!({ "slc_cache": { "dynamic_bytes_max": 128 * UNIT, "when_full": "fold" } })),
        with_cache(
            json!({ "write_buffer": { "bytes": 32 * UNIT }, "housekeeping": { "erased_pool_bytes": 200 * UNIT } }),
        ),
        with_cache(
            json!({ "nand": { "cell": "tlc", "pages_per_program": 3 }, "write_buffer": { "bytes": 32 * UNIT } }),
        ),
        map_cache("lru", "page"),
        map_cache("clock", "page"),
        map_cache("lru", "extent"),
        reduced(false),
        reduced(true),
    ];
    for (case, timed) in cases.iter().flat_map(|case| [(case, false), (case, true)]) {
        let size = user_bytes(48);
        let fill = || job("fill", 0, true, size, 1);
        let (first, second) = (|| job("first", 1, false, size, 3), |stage| job("second", stage, false, size, 2));
        let last = |stage| {
            json!({ "seed": 9 }).as_object().unwrap().iter().fold(second(stage), |mut job, (key, value)| {
                job[key] = value.clone();
                job
            })
        };
        let (at_once, end) = run(&patched(case, timed, json!([fill(), first(), last(2)])), None);
        let (_, saved) = run(&patched(case, timed, json!([fill(), first()])), None);
        let (later, later_end) = run(&patched(case, timed, json!([last(0)])), Some((&saved, 1)));
        let what = format!("{case}, {}", if timed { "with a clock" } else { "without one" });
        assert!(at_once.ledger.programmed_units.gc > 0, "cleaning was under way: {what}");
        assert_eq!(later.jobs[0].ledger, at_once.jobs[2].ledger, "{what}");
        assert_eq!((later.ledger, later.wear), (at_once.ledger, at_once.wear), "{what}");
        assert!(later_end == end, "the states at the end are the same bytes: {what}");
        let latency = |outcome: &ssdlab_engine::simulation::JobOutcome| {
            outcome.timing.as_ref().map(|timing| (timing.end_ns - timing.start_ns, format!("{:?}", timing.write)))
        };
        assert_eq!(latency(&later.jobs[0]), latency(&at_once.jobs[2]), "{what}");
    }
}

#[test]
fn what_a_drive_keeps_beside_its_map_stands_for_no_larger_one_and_times_are_not_kept() {
    let jobs = json!([job("fill", 0, true, user_bytes(48), 2)]);
    let with_map_cache = patched(&json!({ "map_cache": { "bytes": 16384, "entries_per_map_page": 64 } }), false, jobs);
    let (_, saved) = run(&with_map_cache, None);
    let refused = |specification: &Specification, times: u32| {
        let initial = InitialState { input: &mut &saved[..], times };
        start_from(specification, Some(initial)).err().map(|error| error.value).unwrap_or_default()
    };
    assert_eq!(refused(&with_map_cache, 1), "");
    let jobs = json!([job("fill", 0, true, user_bytes(48), 2)]);
    assert!(refused(&patched(&json!({}), false, jobs.clone()), 1).contains("beside its map"));
    let ages = patched(&json!({ "housekeeping": { "retention_days": 3.0 } }), true, jobs);
    let mut aging = start_from(&ages, None).unwrap();
    while !aging.advance(10_000).unwrap().is_finished {}
    let said = aging.save_state(&mut Vec::new()).expect_err("times are not kept").to_string();
    assert!(said.contains("retention_days"), "{said}");
}
