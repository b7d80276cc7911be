//! A run that is watched, cut into steps of any length, and whose jobs are ended and appended while it goes on: does it
//! come to the bytes of a plain run of the specification that it gives?

use proptest::prelude::*;
use serde_json::{Value, json};
use ssdlab_engine::ftl::picture::{CellsBy, Standing};
use ssdlab_engine::simulation::live::LiveRun;
use ssdlab_engine::simulation::{Outcome, start};
use ssdlab_engine::specification::{Job, Specification};

const UNIT: u64 = 4096;
const USER_UNITS: u64 = 760;

/// 64 erase units of 16 mapping units, on two dies; superblocks of two planes, so that several requests end at once.
fn specification(timed: bool, seed: u64, placement: &str, jobs: Vec<Value>) -> Specification {
    serde_json::from_value(plain(timed, seed, placement, jobs)).expect("a good specification")
}

/// Optional features of a drive: none, parity, a cache in SLC mode, no room for its map, data reduction, idle
/// work, blocks as erase units with one open on every die.
const FEATURES: u64 = 7;

fn with_feature(timed: bool, seed: u64, feature: u64, jobs: Vec<Value>) -> Specification {
    let mut said = plain(timed, seed, "host-gc-split", jobs);
    let drive = &mut said["drive"];
    match feature {
        1 => drive["parity"]["units_per_stripe"] = json!(8),
        2 => {
            drive["ftl"]["user_bytes"] = json!((USER_UNITS - 60) * UNIT);
            drive["slc_cache"] = json!({
                "static_bytes": 8 * UNIT, "dynamic_bytes_max": 16 * UNIT, "dynamic_free_share": 0.0,
                "when_full": "fold", "read_us": 20.0, "program_us": 100.0, "erase_us": 1000.0,
            });
        }
        3 => {
            drive["map_cache"] = json!({
                "bytes": 2048, "entries_per_map_page": 64, "entry_bytes": 4, "eviction": "lru", "form": "page",
                "miss_us": 1.0,
            });
        }
        4 => drive["data_reduction"] = json!({ "compression": true, "deduplication": true, "packing_bytes": 512 }),
        6 => {
            drive["ftl"]["erase_unit"] = json!("block");
            drive["ftl"]["reserve_erase_units"] = json!(8);
        }
        5 => drive["background"] = json!({ "idle_after_ms": 0.1, "erased_pool_bytes": 100 * UNIT }),
        _ => {}
    }
    if feature == 2 {
        for job in said["jobs"].as_array_mut().unwrap() {
            job["size_bytes"] = json!((USER_UNITS - 60) * UNIT);
        }
    }
    serde_json::from_value(said).expect("a good specification")
}

fn plain(timed: bool, seed: u64, placement: &str, jobs: Vec<Value>) -> Value {
    json!({
        "seed": seed, "timed": timed, "until": { "kind": "job" }, "series_points_max": 16,
        "drive": {
            "name": "tiny",
            "nand": {
                "cell": "tlc", "channels": 2, "dies_per_channel": 1, "planes_per_die": 2, "blocks_per_plane": 64,
                "pages_per_block": 4, "page_bytes": UNIT, "read_us": 25.0, "program_us": 200.0, "erase_us": 1500.0,
                "channel_mb_s": 200.0, "endurance_cycles": 1000,
            },
            "ftl": {
                "user_bytes": USER_UNITS * UNIT, "mapping_unit_bytes": UNIT, "erase_unit": "superblock",
                "victim": { "name": "greedy" }, "placement": { "name": placement }, "reserve_erase_units": 2,
                "wear_leveling": { "name": "none" }, "spare_area": "dynamic",
            },
            "write_buffer": { "bytes": if seed.is_multiple_of(2) { 0 } else { 8 * UNIT } },
            "controller": { "command_us": 5.0 },
            "parity": { "units_per_stripe": 0 },
            "faults": { "factory_bad_blocks": 0.0, "wear_out": false, "endurance_spread": 0.0 },
        },
        "jobs": jobs,
    })
}

#[derive(Clone, Debug)]
struct Words {
    direction: &'static str,
    sequential: bool,
    iodepth: u32,
    requests: u64,
    loops: u32,
    /// Which of the ways to hold back it has.
    pace: u8,
}

fn words() -> impl Strategy<Value = Words> {
    let direction = prop::sample::select(vec!["write", "write", "read-write", "trim-write", "read"]);
    (direction, any::<bool>(), 1u32..40, 1u64..3000, 1u32..3, 0u8..10).prop_map(
        |(direction, sequential, iodepth, requests, loops, pace)| Words {
            direction,
            sequential,
            iodepth,
            requests,
            loops,
            pace,
        },
    )
}

fn job(words: &Words, stage: u32, number: u64) -> Value {
    let sizes = json!([{ "bytes": UNIT, "percent": 70.0 }, { "bytes": 3 * UNIT, "percent": 30.0 }]);
    let mut job = json!({
        "name": format!("job{number}"), "clone": 0, "stage": stage, "direction": words.direction,
        "sequential": words.sequential, "read_percent": 40.0, "offset_bytes": 0, "size_bytes": USER_UNITS * UNIT,
        "io_bytes": words.requests * UNIT, "number_ios": null, "loops": words.loops,
        "block_sizes": { "read": sizes, "write": sizes, "trim": sizes },
        "block_align_bytes": { "read": UNIT, "write": UNIT, "trim": UNIT },
        "distribution": { "name": "random" }, "random_map": false, "skip_bytes": null, "runs": null,
        "random_percent": null, "files": null, "seed": number, "iodepth": words.iodepth,
    });
    match words.pace {
        0 => (job["think_time_ns"], job["think_time_blocks"]) = (json!(700_000), json!(7)),
        1 => job["rate_iops"] = json!({ "read": 4000, "write": 3000, "trim": null }),
        2 => job["flush_every_writes"] = json!(5),
        3 => job["start_delay_ns"] = json!(3_000_000),
        4 => (job["runtime_ns"], job["time_based"]) = (json!(40_000_000), json!(true)),
        5 => job["ramp_ns"] = json!(5_000_000),
        _ => {}
    }
    job
}

#[derive(Clone, Debug)]
enum Action {
    Advance(u64),
    End(Option<u64>),
    Append(Vec<Words>),
    Drop,
    Look,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => (1u64..30).prop_map(Action::Advance),
        4 => (30u64..2000).prop_map(Action::Advance),
        3 => prop::option::weighted(0.3, 1u64..1500).prop_map(Action::End),
        2 => prop::collection::vec(words(), 1..3).prop_map(Action::Append),
        1 => Just(Action::Drop),
        2 => Just(Action::Look),
    ]
}

fn plain_run(specification: &Specification) -> Outcome {
    let mut run = start(specification).expect("a good specification");
    while !run.advance(100_000).unwrap().is_finished {}
    run.finish()
}

fn text(outcome: &Outcome) -> String {
    serde_json::to_string(outcome).unwrap()
}

/// Returns the finished run; nothing where it can say no specification.
fn lived(timed: bool, seed: u64, first: &[Words], actions: &[Action]) -> LiveRun {
    let placement = ["host-gc-split", "single", "frequency-frontiers"][(seed % 3) as usize];
    let mut numbers = 1..;
    let mut stages = 1..;
    let mut of_words = |words: &[Words], stage| -> Vec<Value> {
        words.iter().map(|words| job(words, stage, numbers.next().unwrap())).collect()
    };
    let mut run = LiveRun::new(specification(timed, seed, placement, of_words(first, 0))).unwrap();
    let mut cells = Vec::new();
    for action in actions {
        match action {
            Action::Advance(requests) => {
                let before = run.standing().requests;
                let standing = run.advance(*requests).unwrap();
                let went = standing.requests - before;
                assert!(standing.is_finished || went >= *requests, "{went} of {requests}");
                assert!(timed || went <= *requests, "{went} of {requests}");
            }
            Action::End(after) => run.end_job(after.map(|after| [after; 64]).as_ref().map(|after| &after[..])).unwrap(),
            Action::Append(words) => {
                let stage = stages.next().unwrap();
                for job in of_words(words, stage) {
                    run.append_job(serde_json::from_value::<Job>(job).unwrap()).unwrap();
                }
            }
            Action::Drop => run.drop_jobs_to_come().unwrap(),
            Action::Look => {
                run.figures();
                run.marks();
                run.cells(CellsBy::Temperature, &mut cells);
                let outcome = run.outcome();
                assert_eq!(outcome.ledger, run.outcome().ledger);
            }
        }
    }
    while !run.advance(777).unwrap().is_finished {}
    run
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn a_run_that_was_changed_is_the_plain_run_of_what_it_says(
        timed in any::<bool>(),
        seed in 0u64..12,
        first in prop::collection::vec(words(), 0..3),
        actions in prop::collection::vec(action(), 1..12),
    ) {
        let run = lived(timed, seed, &first, &actions);
        if let Ok(specification) = run.specification() {
            if specification.jobs.is_empty() {
                prop_assert!(start(specification).is_err());
            } else {
                prop_assert_eq!(text(&run.outcome()), text(&plain_run(specification)));
            }
        }
    }
}

fn random_writes(stage: u32, requests: u64) -> Value {
    let words = Words { direction: "write", sequential: false, iodepth: 4, requests, loops: 1, pace: 9 };
    job(&words, stage, 1 + u64::from(stage))
}

/// A job that holds itself back ends with its next request. Ended again when that is issued, it was given one more,
/// which its `number_ios` did not have.
#[test]
fn a_job_that_is_ended_twice_ends_where_it_was_ended_first() {
    let mut thinking = random_writes(0, 1000);
    (thinking["think_time_ns"], thinking["iodepth"]) = (json!(700_000), json!(1));
    let mut run = LiveRun::new(specification(true, 0, "single", vec![thinking])).unwrap();
    for _ in 0..2 {
        run.advance(1).unwrap();
        run.end_job(None).unwrap();
    }
    while !run.advance(1).unwrap().is_finished {}
    assert_eq!(run.standing().requests, 2);
    assert_eq!(text(&run.outcome()), text(&plain_run(run.specification().unwrap())));
}

/// What the property would miss if every end were unsayable.
#[test]
fn an_end_by_hand_is_a_number_of_requests() {
    for timed in [false, true] {
        let jobs = vec![random_writes(0, 1_000_000)];
        let mut run = LiveRun::new(specification(timed, 1, "host-gc-split", jobs)).unwrap();
        run.advance(5000).unwrap();
        run.end_job(None).unwrap();
        run.append_job(serde_json::from_value(random_writes(1, 900)).unwrap()).unwrap();
        while !run.advance(50).unwrap().is_finished {}
        let specification = run.specification().unwrap();
        let ended_after = specification.jobs[0].number_ios.unwrap();
        assert!((5000..5040).contains(&ended_after) && (timed || ended_after == 5000), "{ended_after}");
        let plain = plain_run(specification);
        assert!(plain.ledger.programmed_units.gc > 1000, "so short a run would prove little");
        assert_eq!(text(&run.outcome()), text(&plain));
        assert_eq!(specification.jobs[1].number_ios, None);
    }
}

#[test]
fn what_cannot_be_said_or_changed_is_refused_with_its_key() {
    let mut looping = random_writes(0, 100);
    looping["loops"] = json!(1000);
    let mut run = LiveRun::new(specification(false, 1, "single", vec![looping])).unwrap();
    run.advance(10).unwrap();
    assert!(run.specification().is_ok());
    run.advance(500).unwrap();
    run.end_job(None).unwrap();
    assert_eq!(run.specification().unwrap_err().key, "jobs.job1.loops");

    let refused = run.append_job(serde_json::from_value(random_writes(0, 5)).unwrap()).unwrap_err();
    assert_eq!(refused.key, "jobs.job1.stage");
    let mut too_large = random_writes(1, 5);
    too_large["size_bytes"] = json!(USER_UNITS * UNIT * 2);
    let refused = run.append_job(serde_json::from_value(too_large).unwrap()).unwrap_err();
    assert_eq!(refused.key, "jobs.job2.size_bytes");

    let mut steady = specification(false, 1, "single", vec![random_writes(0, 100)]);
    steady.until = serde_json::from_value(json!({
        "kind": "steady-state", "round_bytes": UNIT, "host_bytes_max": 100 * UNIT,
    }))
    .unwrap();
    let mut run = LiveRun::new(steady).unwrap();
    assert_eq!(run.end_job(None).unwrap_err().key, "until");
    while !run.advance(7).unwrap().is_finished {}
    assert_eq!(text(&run.outcome()), text(&plain_run(run.specification().unwrap())));
}

/// A drive at rest in the middle of nothing goes on when there is something to do.
#[test]
fn a_run_may_begin_without_jobs_and_go_on_after_its_end() {
    let mut run = LiveRun::new(specification(true, 2, "single", vec![])).unwrap();
    let standing = run.advance(100).unwrap();
    assert!(standing.is_finished && standing.requests == 0 && standing.job.is_none());
    for stage in 3..6 {
        run.append_job(serde_json::from_value(random_writes(stage, 300)).unwrap()).unwrap();
        assert!(!run.standing().is_finished);
        while !run.advance(64).unwrap().is_finished {}
    }
    assert_eq!(run.outcome().jobs.len(), 3);
    assert_eq!(text(&run.outcome()), text(&plain_run(run.specification().unwrap())));
}

/// With each optional feature, ends and pictures are right.
#[test]
fn drives_of_every_kind_are_looked_at_and_ended() {
    for (timed, feature) in [false, true].into_iter().flat_map(|timed| (0..FEATURES).map(move |one| (timed, one))) {
        let mut writes = random_writes(0, 1_000_000);
        (writes["compress_percent"], writes["dedupe_percent"]) = (json!(40.0), json!(20.0));
        (writes["think_time_ns"], writes["think_time_blocks"]) = (json!(3_000_000), json!(150));
        let mut run = LiveRun::new(with_feature(timed, 1, feature, vec![writes])).unwrap();
        for _ in 0..60 {
            run.advance(83).unwrap();
            let figures = run.figures();
            let mut cells = Vec::new();
            let mut letters = 0;
            for by in [CellsBy::Valid, CellsBy::Age, CellsBy::Temperature, CellsBy::EraseCount, CellsBy::State] {
                run.cells(by, &mut cells);
            }
            for (index, &state) in (0..).zip(&cells) {
                let close = run.close_up(index).unwrap();
                assert_eq!(state, close.state as u8);
                let count = |wanted| close.units.bytes().filter(|&letter| letter == wanted).count() as u32;
                letters += u64::from(count(b'v'));
                assert!([count(b'v'), count(b'v') + count(b'p')].contains(&close.valid), "{feature}: {close:?}");
            }
            if feature == 4 {
                assert!(letters * 512 < figures.capacity.live_units * UNIT);
            } else {
                assert_eq!(letters, figures.capacity.live_units, "{feature}");
            }
            run.marks();
        }
        run.end_job(None).unwrap();
        while !run.advance(100).unwrap().is_finished {}
        let plain = plain_run(run.specification().unwrap());
        assert!(plain.ledger.erased_erase_units > 100, "{feature}: so short a run would prove little");
        assert_eq!(text(&run.outcome()), text(&plain), "{feature}");
    }
}

/// The picture against the ledger, and the moves against what garbage collection has programmed.
#[test]
fn the_picture_adds_up() {
    for timed in [false, true] {
        let mut run = LiveRun::new(specification(timed, 1, "host-gc-split", vec![random_writes(0, 100_000)])).unwrap();
        let mut victims_seen = 0;
        let mut moved_seen = 0;
        for _ in 0..400 {
            run.advance(20).unwrap();
            let figures = run.figures();
            let erase_units = figures.capacity.erase_units;
            let close: Vec<_> = (0..erase_units).map(|index| run.close_up(index).unwrap()).collect();
            assert!(run.close_up(erase_units).is_none());
            assert_eq!(close.iter().map(|unit| u64::from(unit.valid)).sum::<u64>(), figures.capacity.live_units);
            let mut cells = Vec::new();
            run.cells(CellsBy::Valid, &mut cells);
            for (unit, &cell) in close.iter().zip(&cells) {
                let valid = unit.units.bytes().filter(|&letter| letter == b'v').count();
                assert_eq!(valid, unit.valid as usize);
                assert_eq!(cell, (valid as f32 / 16.0 * 255.0).round() as u8);
            }
            run.cells(CellsBy::State, &mut cells);
            assert_eq!(cells.iter().filter(|&&state| state == 0).count(), figures.free_erase_units as usize);
            assert!(cells.iter().zip(&close).all(|(&state, unit)| state == unit.state as u8));
            run.cells(CellsBy::Stream, &mut cells);
            assert_eq!(cells.iter().filter(|&&stream| stream == 255).count(), figures.free_erase_units as usize);
            let erases: u64 = close.iter().map(|unit| u64::from(unit.erase_count)).sum();
            assert_eq!(erases, figures.ledger.erased_erase_units);
            assert!((figures.erase_count.mean * f64::from(erase_units) - erases as f64).abs() < 1e-6);

            let marks = run.marks();
            for (erase_unit, stream) in &marks.open {
                assert_eq!(close[*erase_unit as usize].state, Standing::Open);
                assert_eq!(close[*erase_unit as usize].stream.as_ref(), Some(stream));
            }
            victims_seen += marks.victims.len() as u64;
            moved_seen += marks.moves.iter().map(|&(_, _, units)| u64::from(units)).sum::<u64>();
            assert_eq!((victims_seen, moved_seen), {
                let ledger = figures.ledger;
                (ledger.erased_erase_units, ledger.programmed_units.gc)
            });
            assert_eq!(figures.since.iops.is_some(), timed && figures.since.simulated_seconds != Some(0.0));
        }
        assert!(victims_seen > 100, "{victims_seen}");
    }
}
