//! What does it cost to have data safe? Flushes and sync writes with a buffer that a loss of power empties, and with
//! one that it does not.

use super::drives::*;
use serde_json::{Value, json};
use ssdlab_engine::simulation::JobOutcome;

const COMMAND_NS: u64 = 5_000;
const TRANSFER_NS: u64 = 5_120;
const PROGRAM_NS: u64 = 700_000;

/// One die whose pages hold four units, with a buffer of 256 units.
fn buffered(power_loss_protection: bool) -> Value {
    let mut drive = drive_of(json!({
        "cell": "tlc", "channels": 1, "dies_per_channel": 1, "planes_per_die": 1, "blocks_per_plane": 64,
        "pages_per_block": 32, "page_bytes": 4 * UNIT, "read_us": 60.0, "program_us": 700.0, "erase_us": 5000.0,
        "channel_mb_s": 800.0, "endurance_cycles": 3000,
    }));
    drive["write_buffer"] = json!({ "bytes": 256 * UNIT, "power_loss_protection": power_loss_protection });
    drive
}

fn fresh(drive: &Value, ios: u64, more: Value) -> JobOutcome {
    run(drive, vec![job(drive, "write", ios, more)]).jobs.pop().unwrap()
}

fn flushes(job: &JobOutcome) -> (u64, Option<u64>, Option<u64>) {
    let latency = &job.timing.as_ref().unwrap().flush;
    assert_eq!(latency.count, job.flush.ios);
    (job.flush.ios, latency.min_ns, latency.max_ns)
}

/// A group of four units crosses the channel and is programmed.
const GROUP_NS: u64 = 4 * TRANSFER_NS + PROGRAM_NS;

#[test]
fn a_flush_of_a_volatile_buffer_waits_for_flash_and_fills_the_open_group() {
    let measured = fresh(&buffered(false), 20, json!({ "flush_every_writes": 2 }));
    // Nine flushes between ten pairs of writes, as in fio, which ends with the last write. The two units are followed
    // by two of padding, and all four cross the channel. Then follows a unit of the journal, in a group of its own.
    let wait_ns = 2 * GROUP_NS + COMMAND_NS;
    assert_eq!(flushes(&measured), (9, Some(wait_ns), Some(wait_ns)));
    let programmed = measured.ledger.programmed_units;
    assert_eq!((programmed.padding, programmed.journal), (18, 36));
    assert_eq!(programmed.total(), 20 + 18 + 36);
    assert_eq!(measured.timing.unwrap().write.max_ns, Some(COMMAND_NS), "the buffer itself takes writes at once");
}

#[test]
fn a_flush_of_a_long_run_writes_one_unit_of_the_journal() {
    // 256 units that fill 64 groups, on the only die; the last group waits for the 63 before it.
    let measured = fresh(&buffered(false), 257, json!({ "flush_every_writes": 256 }));
    let (count, _, wait_ns) = flushes(&measured);
    assert_eq!((count, measured.ledger.programmed_units.journal), (1, 4));
    let written_ns = 256 * COMMAND_NS;
    assert_eq!(wait_ns, Some(64 * GROUP_NS + first_group_ns() - written_ns + GROUP_NS + COMMAND_NS));
}

/// When the first group is full: its units are written one after another.
fn first_group_ns() -> u64 {
    3 * COMMAND_NS
}

#[test]
fn a_flush_programs_in_slc_mode_what_the_drive_writes_in_it() {
    let mut drive = buffered(false);
    drive["ftl"]["user_bytes"] = json!(512 * UNIT);
    drive["slc_cache"] = json!({
        "static_bytes": 16 * 32 * 4 * UNIT, "dynamic_bytes_max": 0, "dynamic_free_share": 0.0, "when_full": "direct",
        "read_us": 25.0, "program_us": 200.0, "erase_us": 3000.0,
    });
    let measured = fresh(&drive, 20, json!({ "flush_every_writes": 2 }));
    let wait_ns = 2 * (4 * TRANSFER_NS + 200_000) + COMMAND_NS;
    assert_eq!(flushes(&measured), (9, Some(wait_ns), Some(wait_ns)));
}

#[test]
fn a_job_may_end_with_a_flush() {
    for (protected, wait_ns) in [(false, 2 * GROUP_NS + COMMAND_NS), (true, COMMAND_NS)] {
        let measured = fresh(&buffered(protected), 20, json!({ "flush_at_end": true, "iodepth": 4 }));
        assert_eq!((measured.write.ios, flushes(&measured).0), (20, 1));
        let timing = measured.timing.as_ref().unwrap();
        let more_ns = if protected { 0 } else { 4 * GROUP_NS };
        assert!(timing.flush.max_ns.unwrap() >= wait_ns.min(GROUP_NS + COMMAND_NS));
        assert!(timing.flush.max_ns.unwrap() <= wait_ns + more_ns);
        assert_eq!(timing.end_ns - timing.start_ns, 5 * COMMAND_NS + timing.flush.max_ns.unwrap());
    }
}

#[test]
fn the_hosts_own_time_is_a_part_of_every_latency() {
    let measured = fresh(&buffered(false), 20, json!({ "flush_every_writes": 2, "host_ns": 3_000 }));
    let wait_ns = 3_000 + 2 * GROUP_NS + COMMAND_NS;
    assert_eq!(flushes(&measured), (9, Some(wait_ns), Some(wait_ns)));
    let timing = measured.timing.unwrap();
    assert_eq!((timing.write.min_ns, timing.write.max_ns), (Some(COMMAND_NS + 3_000), Some(COMMAND_NS + 3_000)));
}

#[test]
fn a_flush_of_a_protected_buffer_or_of_none_is_answered_at_once() {
    let mut none = buffered(false);
    none["write_buffer"]["bytes"] = json!(0);
    for (drive, padding) in [(buffered(true), 0), (none, 60)] {
        let measured = fresh(&drive, 20, json!({ "flush_every_writes": 1 }));
        assert_eq!(flushes(&measured), (19, Some(COMMAND_NS), Some(COMMAND_NS)));
        assert_eq!(measured.ledger.programmed_units.padding, padding);
    }
}

#[test]
fn sync_writes_go_past_a_volatile_buffer_only() {
    let volatile = fresh(&buffered(false), 100, json!({ "sync_writes": true }));
    let latency = &volatile.timing.as_ref().unwrap().write;
    assert_eq!((latency.min_ns, latency.max_ns), (Some(GROUP_NS), Some(GROUP_NS)));
    let programmed = volatile.ledger.programmed_units;
    assert_eq!((programmed.padding, programmed.journal), (300, 0), "the page itself says which addresses it has");
    let protected = fresh(&buffered(true), 100, json!({ "sync_writes": true }));
    assert_eq!(protected.timing.as_ref().unwrap().write.max_ns, Some(COMMAND_NS));
    assert_eq!(protected.ledger.programmed_units.padding, 0);
}

#[test]
fn a_sync_write_on_sata_is_a_write_and_a_flush() {
    let link = json!({ "interface": "sata-6g", "mb_s": 409.6, "command_us": 2.0 });
    // The data takes 10 us on the link.
    let [written_ns, flushed_ns] = [12_000 + COMMAND_NS, 2_000 + COMMAND_NS];
    for (protected, in_flash_ns, units) in [(true, 0, (0, 0)), (false, 2 * GROUP_NS, (300, 400))] {
        let mut drive = buffered(protected);
        drive["host_link"] = link.clone();
        let measured = fresh(&drive, 100, json!({ "sync_writes": true }));
        let latency = &measured.timing.as_ref().unwrap().write;
        let whole_ns = written_ns + in_flash_ns + flushed_ns;
        assert_eq!((latency.min_ns, latency.max_ns), (Some(whole_ns), Some(whole_ns)));
        assert_eq!(measured.flush.ios, 0, "the host asked for writes alone");
        let programmed = measured.ledger.programmed_units;
        assert_eq!((programmed.padding, programmed.journal), units);
        let of_host = fresh(&drive, 100, json!({ "sync_writes": true, "host_ns": 1_000 }));
        assert_eq!(of_host.timing.unwrap().write.max_ns, Some(whole_ns + 2_000), "for both commands");
    }
}

/// Two jobs whose pairs of commands take turns: a flush is alone in the drive.
#[test]
fn sync_writes_of_several_jobs_on_sata_are_one_after_another() {
    let mut drive = buffered(true);
    drive["host_link"] = json!({ "interface": "sata-6g", "mb_s": 409.6, "command_us": 2.0 });
    // All fits into the buffer.
    let rate = |jobs: u64, sync_writes: bool| {
        let more = |seed: u64| json!({ "seed": seed, "sync_writes": sync_writes });
        let outcome = run(&drive, (0..jobs).map(|seed| job(&drive, "write", 60, more(seed))).collect());
        let ends_ns = outcome.jobs.iter().map(|job| job.timing.as_ref().unwrap().end_ns).max().unwrap();
        60.0 * jobs as f64 / ends_ns as f64
    };
    let pair_ns = (12_000 + COMMAND_NS + 2_000 + COMMAND_NS) as f64;
    near(rate(1, true), 1.0 / pair_ns, 0.001);
    // Without flushes the link is busy all the time; with them, each command waits for the one before it.
    near(rate(4, false), 1.0 / 12_000.0, 0.01);
    // Both write, one behind the other on the link; then both flush, one behind the other.
    let two_ns = (2 * 12_000 + COMMAND_NS + 2 * (2_000 + COMMAND_NS)) as f64;
    near(rate(2, true), 2.0 / two_ns, 0.01);
    let four_ns = (4 * 12_000 + COMMAND_NS + 4 * (2_000 + COMMAND_NS)) as f64;
    near(rate(4, true), 4.0 / four_ns, 0.01);
}

/// The writes that wait for a slot are not in the drive, and no flush waits for them.
#[test]
fn a_sync_write_on_sata_keeps_its_slot_through_its_flush() {
    let mut drive = buffered(true);
    drive["host_link"] = json!({ "interface": "sata-6g", "mb_s": 409.6, "command_us": 2.0 });
    let mut took_ns = |slots: u64, iodepth: u64| {
        drive["controller"]["command_slots"] = json!(slots);
        took_ns(&fresh(&drive, 60, json!({ "iodepth": iodepth, "sync_writes": true })))
    };
    let pair_ns = 12_000 + COMMAND_NS + 2_000 + COMMAND_NS;
    assert_eq!([took_ns(1, 1), took_ns(1, 8)], [60 * pair_ns; 2]);
    assert_eq!(took_ns(4, 8), took_ns(4, 4));
}

#[test]
fn a_sync_write_on_sata_counts_twice_for_the_limit_of_commands() {
    let mut drive = buffered(true);
    drive["host_link"] = json!({ "interface": "sata-6g" });
    drive["controller"]["commands_per_second_max"] = json!(1_000);
    let seconds = |sync_writes: bool| {
        let measured = fresh(&drive, 100, json!({ "sync_writes": sync_writes }));
        took_ns(&measured) as f64 / 1e9
    };
    // The last command is not followed by a pause.
    near(seconds(false), 0.099, 0.001);
    near(seconds(true), 0.199, 0.001);
}

/// Two jobs share the buffer: one flushes, the other keeps it full, and garbage collection goes on. Every request must
/// come to its end, whatever waits for what.
#[test]
fn flushes_under_load_all_end() {
    for (sync_writes, interface) in [(false, "none"), (true, "none"), (true, "sata-6g")] {
        let mut drive = buffered(false);
        drive["host_link"] = json!({ "interface": interface });
        let busy = job(&drive, "write", 30_000, json!({ "stage": 1, "iodepth": 32 }));
        let more = json!({ "stage": 1, "iodepth": 4, "seed": 2, "flush_every_writes": 5, "sync_writes": sync_writes });
        let flushing = job(&drive, "write", 5_000, more);
        let outcome = run(&drive, vec![fill(&drive), busy, flushing]);
        let flushing = &outcome.jobs[2];
        assert_eq!((outcome.jobs[1].write.ios, flushing.write.ios, flushing.flush.ios), (30_000, 5_000, 999));
        assert!(outcome.ledger.erased_erase_units > 0);
        // A flush waits for about as much as the buffer holds, at times with the garbage collection between.
        assert!(flushes(flushing).2.unwrap() < 2_000_000_000, "{:?}", flushes(flushing));
    }
}
