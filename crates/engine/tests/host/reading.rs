//! Does reading ahead give the bandwidth that the dies have, and does a rewritten file cost the page reads that one
//! counts by hand?

use super::drives::*;
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;
/// A page of four units: 60 us in the array and four transfers.
const PAGE_NS: u64 = 60_000 + 4 * 5_120;

/// So many dies with a channel each, and pages of four units.
fn wide_pages(channels: u32, window_bytes: u64, segment_bytes: u64) -> Value {
    let mut drive = drive_of(json!({
        "cell": "tlc", "channels": channels, "dies_per_channel": 1, "planes_per_die": 1, "blocks_per_plane": 64,
        "pages_per_block": 64, "page_bytes": 4 * UNIT, "read_us": 60.0, "program_us": 700.0, "erase_us": 5000.0,
        "channel_mb_s": 800.0, "endurance_cycles": 3000,
    }));
    drive["read_ahead"] = json!({ "window_bytes": window_bytes, "segment_bytes": segment_bytes });
    drive
}

/// Sequential reads of the first MiB on, one at a time.
fn in_sequence(drive: &Value, block_bytes: u64, mib: u64) -> Value {
    let sizes = json!([{ "bytes": block_bytes, "percent": 100.0 }]);
    let more = json!({
        "sequential": true, "io_bytes": mib * MIB, "size_bytes": mib * MIB, "number_ios": null, "stage": 9,
        "block_sizes": { "read": sizes, "write": sizes, "trim": sizes },
        "block_align_bytes": { "read": block_bytes, "write": block_bytes, "trim": block_bytes },
    });
    job(drive, "read", 1, more)
}

fn ns_a_mib(drive: &Value, jobs: Vec<Value>, mib: u64) -> f64 {
    seconds(run(drive, jobs).jobs.last().unwrap()) * 1e9 / mib as f64
}

#[test]
fn large_reads_need_no_reading_ahead() {
    // Eight dies share the 64 pages of a request.
    for window in [0, 2 * MIB] {
        let drive = wide_pages(8, window, 128 << 10);
        let took = ns_a_mib(&drive, vec![fill(&drive), in_sequence(&drive, MIB, 16)], 16);
        near(took, 8.0 * PAGE_NS as f64, 0.01);
    }
}

#[test]
fn small_reads_in_sequence_find_what_was_read_ahead() {
    let plain = wide_pages(8, 0, 0);
    let took = ns_a_mib(&plain, vec![fill(&plain), in_sequence(&plain, 4 * UNIT, 16)], 16);
    near(took, 64.0 * PAGE_NS as f64, 1e-9);
    let ahead = wide_pages(8, MIB, 64 << 10);
    let took = ns_a_mib(&ahead, vec![fill(&ahead), in_sequence(&ahead, 4 * UNIT, 16)], 16);
    near(took, 8.0 * PAGE_NS as f64, 0.02);
}

/// The times add up for one request after another. With two outstanding, the controller works on one while the link
/// transfers the other.
#[test]
fn a_read_of_what_was_read_ahead_takes_the_command_and_the_link() {
    let mut drive = wide_pages(8, MIB, 64 << 10);
    drive["host_link"] = json!({ "interface": "none", "mb_s": 500.0, "duplex": null, "command_us": 0.0 });
    let link_ns = UNIT as f64 * 2.0;
    let one = in_sequence(&drive, UNIT, 16);
    let outcome = run(&drive, vec![fill(&drive), one.clone()]);
    assert_eq!(reads(&outcome.jobs[1]).min_ns, Some(5_000 + link_ns as u64));
    near(ns_a_mib(&drive, vec![fill(&drive), one.clone()], 16), 256.0 * (5_000.0 + link_ns), 0.02);
    let mut two = one;
    change(&mut two, &json!({ "iodepth": 2 }));
    near(ns_a_mib(&drive, vec![fill(&drive), two], 16), 256.0 * link_ns, 0.02);
}

#[test]
fn the_window_bounds_what_is_in_flight() {
    // Four pages at a time keep four of eight dies at work.
    let drive = wide_pages(8, 64 << 10, 64 << 10);
    let took = ns_a_mib(&drive, vec![fill(&drive), in_sequence(&drive, MIB, 16)], 16);
    // The first request, which is no stream yet, has no window.
    near(took, (15.0 * 16.0 + 8.0) * PAGE_NS as f64 / 16.0, 1e-3);
}

#[test]
fn a_rewritten_file_costs_the_page_reads_that_one_counts() {
    // Every fourth unit, in order: the rewritten ones lie four to a page.
    let rewrite = |drive: &Value| {
        let more = json!({
            "sequential": true, "skip_bytes": 3 * UNIT, "io_bytes": 2 * MIB, "size_bytes": 8 * MIB, "number_ios": null,
            "stage": 1, "iodepth": 64,
        });
        job(drive, "write", 1, more)
    };
    let transfers_ns = 256.0 * 5_120.0;
    // One die, so that time counts pages. Each request reads its 64 pages again, with three units left in each, and for
    // every fourth unit the page that it went to: each time again where a request is taken as it comes, once a segment
    // of 32 units, eight of them in two pages, where a segment is gathered.
    let plain = wide_pages(1, 0, 0);
    let took = ns_a_mib(&plain, vec![fill(&plain), rewrite(&plain), in_sequence(&plain, MIB, 8)], 8);
    near(took, (64.0 + 64.0) * 60_000.0 + transfers_ns, 1e-6);
    let gathered = wide_pages(1, MIB, 128 << 10);
    let took = ns_a_mib(&gathered, vec![fill(&gathered), rewrite(&gathered), in_sequence(&gathered, MIB, 8)], 8);
    let (first, others) = (128.0, 7.0 * 8.0 * (8.0 + 2.0));
    // The window reads one MiB further than the host asks for, which is not waited for.
    near(took, (first + others) / 8.0 * 60_000.0 + transfers_ns, 0.02);
    // The same in numbers: a segment of 32 units reads 8 pages it always had and 2 more, all on the one die.
    let outcome = run(&gathered, vec![fill(&gathered), rewrite(&gathered), in_sequence(&gathered, MIB, 8)]);
    let counts = outcome.stages.last().unwrap().read_ahead.unwrap();
    // The window reads up to a MiB further, which was never rewritten: 8 pages a segment.
    assert_eq!(counts.pages, 7 * 8 * 10 + (counts.segments - 7 * 8) * 8);
    assert!(counts.segments - 7 * 8 <= 8, "{counts:?}");
    assert_eq!((counts.dies, counts.busiest_die_pages), (counts.segments, counts.pages));
    // The remedy: rewritten in order, it is as it was.
    let mut again = in_sequence(&plain, MIB, 8);
    change(&mut again, &json!({ "direction": "write", "stage": 2 }));
    let took = ns_a_mib(&plain, vec![fill(&plain), rewrite(&plain), again, in_sequence(&plain, MIB, 8)], 8);
    near(took, 64.0 * 60_000.0 + transfers_ns, 1e-6);
}

#[test]
fn what_is_read_ahead_and_rewritten_is_read_anew() {
    // A sequential job of reads and one of writes over the same range, side by side: the counters agree whatever
    // happens.
    let drive = wide_pages(2, MIB, 64 << 10);
    let mut writes = in_sequence(&drive, 4 * UNIT, 8);
    change(&mut writes, &json!({ "direction": "write" }));
    let outcome = run(&drive, vec![fill(&drive), in_sequence(&drive, 4 * UNIT, 8), writes]);
    let reads = &outcome.jobs[1];
    assert_eq!(reads.ledger.host_read_bytes, 8 * MIB);
    assert_eq!(reads.timing.as_ref().unwrap().read.count, 8 * MIB / (4 * UNIT));
}

/// A link at half of what the dies give hides what rewriting costs; one at twice as much hides nothing.
#[test]
fn a_link_that_is_the_limit_hides_fragmentation() {
    let rewrite = |drive: &Value| {
        let more = json!({
            "size_bytes": 8 * MIB, "io_bytes": 4 * MIB, "number_ios": null, "stage": 1, "iodepth": 64,
        });
        job(drive, "write", 1, more)
    };
    // Eight dies read a page of four units in PAGE_NS.
    let flash_mb_s = 8.0 * 4.0 * UNIT as f64 * 1e3 / PAGE_NS as f64;
    for (share, is_hidden) in [(0.125, true), (2.0, false)] {
        let mb_s = flash_mb_s * share;
        let mut drive = wide_pages(8, 2 * MIB, 64 << 10);
        drive["host_link"] = json!({ "interface": "none", "mb_s": mb_s, "duplex": null, "command_us": 0.0 });
        let fresh = ns_a_mib(&drive, vec![fill(&drive), in_sequence(&drive, MIB, 8)], 8);
        let link_ns = MIB as f64 * 1e3 / mb_s;
        // The first request of the eight is no stream yet: it is sent when all of it has been read.
        let flash_ns = 8.0 * PAGE_NS as f64;
        near(fresh, if is_hidden { link_ns + flash_ns / 8.0 } else { flash_ns + link_ns / 8.0 }, 0.02);
        let rewritten = ns_a_mib(&drive, vec![fill(&drive), rewrite(&drive), in_sequence(&drive, MIB, 8)], 8);
        let slower = rewritten / fresh;
        assert!(if is_hidden { slower < 1.05 } else { slower > 1.5 }, "{share}: {slower}");
    }
}

/// A buffered write takes the command's 5 us, its program 705.12 us. Reads of it, one after another, take 5 us each as
/// long as it is not in flash.
#[test]
fn what_is_not_yet_in_flash_is_read_from_the_buffer() {
    let mut drive = drive(1);
    drive["write_buffer"] = json!({ "bytes": 1 << 20 });
    let one_unit = |direction: &str, ios: u64, stage: u32| {
        job(&drive, direction, ios, json!({ "size_bytes": UNIT, "stage": stage }))
    };
    let outcome = run(&drive, vec![one_unit("write", 1, 0), one_unit("read", 200, 1)]);
    let latency = reads(&outcome.jobs[1]);
    let from_buffer = 705_120 / 5_000;
    let whole_ns = from_buffer * 5_000 + (200 - from_buffer) * READ_NS;
    assert_eq!((latency.min_ns, latency.max_ns), (Some(5_000), Some(READ_NS)));
    assert_eq!((latency.mean_ns.unwrap() * 200.0).round() as u64, whole_ns);
    // The ledger counts only reads of the array.
    let of_job = &outcome.jobs[1].ledger;
    assert_eq!((of_job.read_units.host, of_job.host_read_bytes), (200 - from_buffer, 200 * UNIT));
}

/// Half a unit, over one that is on its way to flash or, a second later, there.
#[test]
fn what_a_partial_write_keeps_is_in_memory_until_it_is_in_flash() {
    let drive = drive(1);
    let half = json!([{ "bytes": UNIT / 2, "percent": 100.0 }]);
    for (delay_ns, read_units, latency_ns) in [(0, 0, 2 * 705_120), (1_000_000_000, 1, READ_NS + 705_120)] {
        // Both jobs begin together: without a delay the second comes while the first one's program is under way.
        let write = job(&drive, "write", 1, json!({ "size_bytes": UNIT }));
        let sizes = json!({ "read": half, "write": half, "trim": half });
        let more = json!({ "size_bytes": UNIT / 2, "block_sizes": sizes, "block_align_bytes": {
            "read": UNIT / 2, "write": UNIT / 2, "trim": UNIT / 2 }, "start_delay_ns": delay_ns });
        let outcome = run(&drive, vec![write, job(&drive, "write", 1, more)]);
        let partial = &outcome.jobs[1];
        assert_eq!(partial.ledger.read_units.read_modify_write, read_units);
        assert_eq!(partial.ledger.read_modify_write_units, 1);
        assert_eq!(partial.timing.as_ref().unwrap().write.max_ns, Some(latency_ns));
    }
}

/// Of a segment that is read ahead, too; the counts of pages are of those that are read.
#[test]
fn what_is_read_ahead_may_be_in_memory() {
    let mut drive = wide_pages(1, MIB, 64 << 10);
    drive["write_buffer"] = json!({ "bytes": 4 * MIB });
    let mut write = in_sequence(&drive, 64 << 10, 4);
    change(&mut write, &json!({ "direction": "write", "stage": 0 }));
    let outcome = run(&drive, vec![write, in_sequence(&drive, 64 << 10, 4)]);
    let (counts, ledger) = (outcome.stages.last().unwrap().read_ahead.unwrap(), &outcome.jobs[1].ledger);
    assert_eq!(ledger.host_read_bytes, 4 * MIB);
    // 1024 units were written and hardly any of them programmed; a segment is 16 units.
    assert!(ledger.read_units.host < 512, "{ledger:?}");
    assert!(4 * counts.pages <= outcome.ledger.read_units.host, "{counts:?}");
}
