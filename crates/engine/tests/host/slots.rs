//! Slots for commands inside the drive: who waits for one how long, against arithmetic.

use super::drives::*;
use serde_json::{Value, json};

const SLOTS: u64 = 8;
const MANY: u64 = 64;

/// The mean latency of a job that reads one unit at a time from a single die, in reads of the die, next to a job with
/// many reads outstanding.
fn reads_waited_for(controller: &Value) -> f64 {
    let mut drive = drive(1);
    change(&mut drive["controller"], controller);
    let many = job(&drive, "read", 20_000, json!({ "name": "many", "stage": 1, "iodepth": MANY }));
    let one = job(&drive, "read", 100, json!({ "name": "one", "stage": 1, "iodepth": 1 }));
    let jobs = run(&drive, vec![fill(&drive), many, one]).jobs;
    reads(jobs.last().unwrap()).mean_ns.unwrap() / READ_NS as f64
}

#[test]
fn a_command_waits_for_all_before_it_unless_queues_take_turns() {
    near(reads_waited_for(&json!({ "command_slots": SLOTS })), (MANY + 1) as f64, 0.03);
    let in_turn = reads_waited_for(&json!({ "command_slots": SLOTS, "slots_in_turn": true }));
    // For at most one other command to enter, and for those in the other slots.
    assert!((SLOTS as f64..=SLOTS as f64 + 2.0).contains(&in_turn), "{in_turn}");
}
