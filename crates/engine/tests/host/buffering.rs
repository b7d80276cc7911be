//! What the write buffer saves the flash by replacing units, and when it gives back their room, against closed forms.

use super::drives::*;
use serde_json::{Value, json};
use ssdlab_engine::simulation::JobOutcome;

const COMMAND_NS: u64 = 5_000;
const PROGRAM_NS: u64 = GROUP * 5_120 + 700_000;
/// Units that one program takes.
const GROUP: u64 = 4;

/// One die whose pages hold four units, with a buffer of so many.
fn buffered(units: u64, more: Value) -> Value {
    let mut drive = drive_of(json!({
        "cell": "tlc", "channels": 1, "dies_per_channel": 1, "planes_per_die": 1, "blocks_per_plane": 64,
        "pages_per_block": 32, "page_bytes": GROUP * UNIT, "read_us": 60.0, "program_us": 700.0, "erase_us": 5000.0,
        "channel_mb_s": 800.0, "endurance_cycles": 3000,
    }));
    drive["write_buffer"] = json!({ "bytes": units * UNIT });
    change(&mut drive["write_buffer"], &more);
    drive
}

/// Writes to so many units over and over, each when the flash has nothing left to do.
fn rewriting(drive: &Value, units: u64, ios: u64, direction: &str) -> JobOutcome {
    let more = json!({ "size_bytes": units * UNIT, "think_time_ns": 1_000_000 });
    run(drive, vec![job(drive, direction, ios, more)]).jobs.pop().unwrap()
}

#[test]
fn fewer_units_than_a_program_takes_are_programmed_once_if_ever() {
    let coalescing = buffered(64, json!({ "coalesce": true }));
    for units in 1..GROUP {
        let written = rewriting(&coalescing, units, 1000, "write");
        assert_eq!((written.ledger.host_written_bytes, written.ledger.programmed_units.host), (1000 * UNIT, units));
        assert_eq!(written.timing.unwrap().write.max_ns, Some(COMMAND_NS));
    }
    let plain = rewriting(&buffered(64, json!({})), 2, 1000, "write");
    assert_eq!(plain.ledger.programmed_units.host, 1000);
}

/// A program takes G of k units as soon as so many different ones were written: k/k + k/(k-1) + ... + k/(k-G+1) writes.
#[test]
fn a_program_takes_as_many_writes_as_it_takes_to_see_so_many_different_units() {
    let coalescing = buffered(64, json!({ "coalesce": true }));
    for units in [4, 6, 40] {
        let written = rewriting(&coalescing, units, 20_000, "write");
        let writes: f64 = (0..GROUP).map(|seen| units as f64 / (units - seen) as f64).sum();
        near(written.ledger.programmed_units.host as f64, 20_000.0 * GROUP as f64 / writes, 0.03);
    }
}

#[test]
fn what_was_replaced_is_read_from_memory_and_what_has_no_room_to_wait_is_not_replaced() {
    let coalescing = buffered(64, json!({ "coalesce": true }));
    let mixed = rewriting(&coalescing, 3, 2000, "read-write");
    assert_eq!(mixed.ledger.programmed_units.host, 3);
    assert_eq!(mixed.timing.unwrap().read.max_ns, Some(COMMAND_NS));
    let none = rewriting(&buffered(0, json!({ "coalesce": true })), 1, 100, "write");
    assert_eq!(none.ledger.programmed_units.host, 100, "without a buffer each write is padded and programmed");
}

/// Of 64 writes at once into a fresh drive the buffer takes what it has room for, then as much as each program frees.
#[test]
fn room_is_given_back_when_a_program_begins_or_ends() {
    for (free_at_program, programs) in [(false, 12), (true, 11)] {
        let drive = buffered(16, json!({ "free_at_program": free_at_program }));
        let more = json!({ "sequential": true, "iodepth": 64 });
        let written = run(&drive, vec![job(&drive, "write", 64, more)]).jobs.pop().unwrap();
        // Sixteen units, and four more whose program has begun; the last four come when so many programs have made
        // room.
        let latency = &written.timing.as_ref().unwrap().write;
        assert_eq!(latency.max_ns, Some(programs * PROGRAM_NS + COMMAND_NS));
        assert_eq!(latency.min_ns, Some(COMMAND_NS));
    }
}
