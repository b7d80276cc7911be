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

#[test]
fn a_flush_of_a_volatile_buffer_waits_for_flash_and_fills_the_open_group() {
    let measured = fresh(&buffered(false), 20, json!({ "flush_every_writes": 2 }));
    // Nine flushes between ten pairs of writes, as in fio, which ends with the last write. The two units are followed
    // by two of padding, and all four cross the channel.
    let wait_ns = 4 * TRANSFER_NS + PROGRAM_NS + COMMAND_NS;
    assert_eq!(flushes(&measured), (9, Some(wait_ns), Some(wait_ns)));
    assert_eq!(measured.ledger.programmed_units.padding, 18);
    assert_eq!(measured.timing.unwrap().write.max_ns, Some(COMMAND_NS), "the buffer itself takes writes at once");
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
    let through_ns = 4 * TRANSFER_NS + PROGRAM_NS;
    assert_eq!((latency.min_ns, latency.max_ns), (Some(through_ns), Some(through_ns)));
    assert_eq!(volatile.ledger.programmed_units.padding, 300);
    let protected = fresh(&buffered(true), 100, json!({ "sync_writes": true }));
    assert_eq!(protected.timing.as_ref().unwrap().write.max_ns, Some(COMMAND_NS));
    assert_eq!(protected.ledger.programmed_units.padding, 0);
}

/// Two jobs share the buffer: one flushes, the other keeps it full, and garbage collection goes on. Every request must
/// come to its end, whatever waits for what.
#[test]
fn flushes_under_load_all_end() {
    for sync_writes in [false, true] {
        let drive = buffered(false);
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
