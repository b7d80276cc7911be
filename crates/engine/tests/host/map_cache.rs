//! Does a drive without room for its whole map pay for it what one computes by hand?

use super::drives::*;
use serde_json::{Value, json};
use ssdlab_engine::simulation::{JobOutcome, Outcome};

const ENTRIES: u64 = 16;

/// A drive with room for this share of its map.
fn with_cache(mut drive: Value, share: f64, more: Value) -> Value {
    let pages = (user_bytes(&drive) / UNIT).div_ceil(ENTRIES);
    let bytes = (pages as f64 * share).round() as u64 * ENTRIES * 4;
    drive["map_cache"] = json!({
        "bytes": bytes, "entries_per_map_page": ENTRIES, "entry_bytes": 4, "eviction": "lru", "form": "page",
        "miss_us": 0.0,
    });
    change(&mut drive["map_cache"], &more);
    drive
}

fn random(drive: &Value, direction: &str, ios: u64, stage: u32) -> Value {
    job(drive, direction, ios, json!({ "random_map": false, "stage": stage }))
}

fn last(mut outcome: Outcome) -> JobOutcome {
    outcome.jobs.pop().unwrap()
}

#[test]
fn uniform_reads_miss_as_much_of_the_map_as_is_not_in_memory() {
    for eviction in ["lru", "clock"] {
        for share in [0.1, 0.5, 0.9] {
            let drive = with_cache(drive(4), share, json!({ "eviction": eviction, "miss_us": 20.0 }));
            let reads = vec![fill(&drive), random(&drive, "read", 20_000, 1), random(&drive, "read", 40_000, 2)];
            let measured = last(run(&drive, reads));
            let misses = measured.ledger.read_units.metadata as f64 / measured.ledger.map_page_lookups as f64;
            assert!((misses - (1.0 - share)).abs() < 0.01, "{eviction} {share}: {misses}");
            // One at a time: a miss reads a map page and works on it first.
            let expected = READ_NS as f64 + misses * (READ_NS + 20_000) as f64;
            near(self::reads(&measured).mean_ns.unwrap(), expected, 1e-3);
            assert_eq!(self::reads(&measured).max_ns, Some(2 * READ_NS + 20_000));
        }
    }
}

#[test]
fn uniform_writes_program_a_map_page_for_each_miss() {
    for share in [0.25, 0.75] {
        let mut drive = with_cache(drive(4), share, json!({}));
        for is_timed in [true, false] {
            // Without a queue of its own each write would pad its group; a buffer takes them.
            drive["write_buffer"] = json!({ "bytes": if is_timed { 1 << 18 } else { 0 } });
            let writes = vec![fill(&drive), random(&drive, "write", 30_000, 1), random(&drive, "write", 60_000, 2)];
            let outcome = if is_timed { run(&drive, writes) } else { run_untimed(&drive, writes) };
            let ledger = last(outcome).ledger;
            // In the steady state all of the cache is dirty: what comes in for a miss puts a map page out.
            let metadata = ledger.programmed_units.metadata as f64 / ledger.programmed_units.host as f64;
            assert!((metadata - (1.0 - share)).abs() < 0.01, "{share}: {metadata}");
            assert!(ledger.programmed_units.gc > 0);
        }
    }
}

#[test]
fn a_map_that_fits_costs_nothing() {
    let whole = with_cache(drive(4), 1.0, json!({}));
    let jobs = |drive: &Value| vec![fill(drive), random(drive, "write", 30_000, 1), random(drive, "read", 5_000, 2)];
    let (with, without) = (run(&whole, jobs(&whole)), run(&drive(4), jobs(&drive(4))));
    assert_eq!(with.ledger.programmed_units, without.ledger.programmed_units);
    assert_eq!(with.timing.unwrap().simulated_ns, without.timing.unwrap().simulated_ns);
}

#[test]
fn a_broken_segment_costs_its_map_page_until_it_is_rewritten_in_order() {
    let extents = json!({ "form": "extent", "miss_us": 30.0 });
    let drive = with_cache(drive(1), 0.05, extents);
    let span = ENTRIES * UNIT;
    let block = |block_bytes: u64, more: Value| {
        let sizes = json!([{ "bytes": block_bytes, "percent": 100.0 }]);
        let mut all = json!({
            "sequential": true, "io_bytes": 32 * span, "size_bytes": 32 * span, "number_ios": null,
            "block_sizes": { "read": sizes, "write": sizes, "trim": sizes },
            "block_align_bytes": { "read": block_bytes, "write": block_bytes, "trim": block_bytes },
        });
        change(&mut all, &more);
        all
    };
    let read = |stage: u32| job(&drive, "read", 1, block(span, json!({ "stage": stage })));
    // One unit of each of 32 segments, the second of each.
    let rewrite =
        block(UNIT, json!({ "stage": 2, "skip_bytes": span - UNIT, "io_bytes": 32 * UNIT, "offset_bytes": UNIT }));
    let remedy = block(span, json!({ "stage": 5 }));
    let jobs = vec![
        fill(&drive),
        read(1),
        job(&drive, "write", 1, rewrite),
        read(3),
        read(4),
        job(&drive, "write", 1, remedy),
        read(6),
    ];
    let outcome = run(&drive, jobs);
    let mean_ns = |index: usize| reads(&outcome.jobs[index]).mean_ns.unwrap();
    // Pages of one unit on one die.
    let whole_ns = (ENTRIES * READ_NS) as f64;
    near(mean_ns(1), whole_ns, 1e-9);
    // A map page and its work before the data; in sequence each one has put out what is needed next. The first time the
    // five map pages in memory are dirty and must be programmed on the same die.
    let missed_ns = (READ_NS + 30_000) as f64;
    assert_eq!(outcome.jobs[3].ledger.programmed_units.metadata, 5);
    near(mean_ns(3), whole_ns + missed_ns + 5.0 / 32.0 * 705_120.0, 1e-9);
    assert_eq!(outcome.jobs[4].ledger.read_units.metadata, 32);
    near(mean_ns(4), whole_ns + missed_ns, 1e-9);
    near(mean_ns(6), whole_ns, 1e-9);
    assert_eq!(outcome.jobs[6].ledger.map_page_lookups, 0);
}
