//! Does a run that goes on from a saved state go on as if it had not stopped, for every policy; and is what is no such
//! state refused?

use serde_json::json;
use ssdlab_engine::simulation::{InitialState, Outcome, Run, start_from};
use ssdlab_engine::specification::{Specification, Until};

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
    for victim in ["greedy", "fifo", "d-choices", "windowed-greedy", "cost-benefit", "cost-benefit-by-loss", "random"] {
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

/// Between the stages, what the saved drive had written was taken for the progress of the stage to come.
#[test]
fn progress_does_not_fall_between_the_stages_of_a_run_from_a_state() {
    let size = user_bytes(32);
    let until = Until::SteadyState { round_bytes: size / 2, host_bytes_max: 2 * size, precision: None };
    let jobs = json!([job("fill", 1, true, size, 1), job("random", 2, false, size, 1)]);
    for timed in [false, true] {
        let specification =
            Specification { timed, until: until.clone(), ..specification(&json!({}), 32, jobs.clone()) };
        let (_, saved) = run(&specification, None);
        let initial = Some(InitialState { input: &mut &*saved, times: 1 });
        let mut from_state = start_from(&specification, initial).unwrap();
        let mut before = from_state.advance(1).unwrap();
        while !before.is_finished {
            let progress = from_state.advance(1).unwrap();
            assert!(progress.done >= before.done, "{} after {}", progress.done, before.done);
            before = progress;
        }
    }
}

#[test]
fn a_state_of_smaller_erase_units_stands_for_a_larger_drive() {
    for (victim, erase_unit) in
        [("greedy", "superblock"), ("fifo", "superblock"), ("cost-benefit-by-loss", "superblock"), ("greedy", "block")]
    {
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
        assert!(
            going_on > 1.2 && settled > 1.2,
            "{victim}: garbage collection is under way: {going_on:.3} and {settled:.3}"
        );
    }
}

/// With parity a place stands for so many data places, which lie around the parity of the larger drive.
#[test]
fn a_state_stands_for_a_larger_drive_with_parity_too() {
    for (erase_unit, placement) in
        [("superblock", "host-gc-split"), ("superblock", "single"), ("block", "host-gc-split")]
    {
        let of_pages = |pages: u32, jobs: serde_json::Value| {
            let choices = json!({ "erase_unit": erase_unit, "placement": { "name": placement } });
            let mut specification = specification(&choices, pages, jobs);
            specification.drive.parity.units_per_stripe = 16;
            specification.drive.ftl.user_bytes = 44 * u64::from(pages) * 2 * UNIT;
            specification
        };
        let size = |pages: u32| 44 * u64::from(pages) * 2 * UNIT;
        let jobs =
            |pages, passes: u64| json!([job("fill", 0, true, size(pages), 1), job("a", 1, false, size(pages), passes)]);
        let large = json!([job("b", 0, false, size(128), 1)]);
        // Saved at several moments, so that the open erase units stand at many places, at their parity too.
        for passes in 8..12 {
            let mut before = jobs(32, passes);
            before[1]["io_bytes"] = json!(passes * size(32) - (passes - 8) * 7 * UNIT);
            let (small, saved) = run(&of_pages(32, before), None);
            let (went_on, _) = run(&of_pages(128, large.clone()), Some((&saved, 4)));
            assert_eq!(went_on.ledger.host_written_bytes, 4 * small.ledger.host_written_bytes + size(128));
            let programs = went_on.jobs[0].ledger.programmed_units;
            assert!(programs.gc > 0 && programs.parity > 0, "{erase_unit}: {programs:?}");
        }
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

/// With every kind of extra state, with a clock and without: the second job has the same counters, and with a
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
            json!({ "write_buffer": { "bytes": 32 * UNIT }, "background": { "erased_pool_bytes": 200 * UNIT } }),
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
        assert!(at_once.ledger.programmed_units.gc > 0, "garbage collection was under way: {what}");
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
    assert!(refused(&patched(&json!({}), false, jobs.clone()), 1).contains("in addition to its map"));
    let ages = patched(&json!({ "background": { "retention_days": 3.0 } }), true, jobs);
    let mut aging = start_from(&ages, None).unwrap();
    while !aging.advance(10_000).unwrap().is_finished {}
    let said = aging.save_state(&mut Vec::new()).expect_err("times are not kept").to_string();
    assert!(said.contains("retention_days"), "{said}");
}

/// Every place of a value where a number stands, as its path.
fn numbers(value: &serde_json::Value, at: &str, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Number(_) => found.push(at.into()),
        serde_json::Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| numbers(item, &format!("{at}/{index}"), found));
        }
        serde_json::Value::Object(fields) => {
            fields.iter().for_each(|(name, field)| numbers(field, &format!("{at}/{name}"), found));
        }
        _ => {}
    }
}

/// A file may be damaged, or made by someone who wants to harm: the tables were once read without a look at what they
/// name, and an index beyond the drive read memory beyond the table. Whatever number of the header or word of a table
/// is wild, the file is refused, or the drive that takes it up is whole and runs.
#[test]
fn a_state_with_wild_numbers_is_refused_or_does_no_harm() {
    const WILD: u32 = 4_000_000_000;
    let drives = [
        json!({}),
        json!({ "ftl": { "victim": { "name": "windowed-greedy" }, "placement": { "name": "class-spare" } } }),
        json!({ "ftl": { "erase_unit": "block" } }),
        json!({ "map_cache": { "bytes": 16384, "entries_per_map_page": 64 } }),
        json!({ "slc_cache": { "static_bytes": 24 * UNIT, "dynamic_bytes_max": 128 * UNIT, "program_us": 60.0 },
            "nand": { "cell": "tlc" } }),
        json!({ "data_reduction": { "compression": true, "deduplication": true, "index_bytes_per_unit": 16 } }),
    ];
    let mut refused = 0;
    for drive in drives {
        let jobs = || json!([job("fill", 0, true, user_bytes(48), 1), job("random", 1, false, user_bytes(48), 1)]);
        let specification = patched(&drive, false, jobs());
        let (_, saved) = run(&specification, None);
        let header_end = 8 + u64::from_le_bytes(saved[..8].try_into().unwrap()) as usize;
        let header: serde_json::Value = serde_json::from_slice(&saved[8..header_end]).unwrap();
        let mut places = Vec::new();
        numbers(&header, "", &mut places);
        let step = (places.len() / 150).max(1);
        let with_header = places.iter().step_by(step).map(|path| {
            let mut changed = header.clone();
            *changed.pointer_mut(path).unwrap() = json!(WILD);
            let text = serde_json::to_vec(&changed).unwrap();
            (path.clone(), [&(text.len() as u64).to_le_bytes()[..], &text, &saved[header_end..]].concat())
        });
        let with_table = (header_end..saved.len() - 4).step_by((saved.len() - header_end) / 50).map(|at| {
            let mut changed = saved.clone();
            changed[at..at + 4].copy_from_slice(&WILD.to_le_bytes());
            (format!("byte {at}"), changed)
        });
        for (where_, bytes) in with_header.chain(with_table).collect::<Vec<_>>() {
            let went_on = std::panic::catch_unwind(|| {
                let initial = InitialState { input: &mut &bytes[..], times: 1 };
                match start_from(&specification, Some(initial)) {
                    Err(error) => error.key == "state",
                    Ok(mut run) => {
                        while !run.advance(10_000).unwrap().is_finished {}
                        false
                    }
                }
            });
            refused += u32::from(went_on.unwrap_or_else(|_| panic!("{where_} of {drive} brings the drive down")));
        }
    }
    assert!(refused > 300, "only {refused} were refused");
}
