//! Suspending programs and erases for reads: to the nanosecond by hand, and what it is for, the tail of the reads.

use super::by_hand::{OneDie, UNIT_NS};
use super::experiment::*;
use super::fusing::latencies;
use ssdlab_engine::ledger::Cause;
use ssdlab_engine::request::Operation;
use ssdlab_engine::specification::drive::Nand;
use ssdlab_engine::timing::decision::Decision::{Erase, Program, Read};
use ssdlab_engine::units::{EraseUnit, Ppn};

fn suspending(nand: Nand) -> Nand {
    Nand { suspend: true, program_suspend_us: 30.0, erase_suspend_us: 100.0, resume_us: 7.0, ..nand }
}

const READ_NS: u64 = 60_000 + UNIT_NS;

#[test]
fn a_read_waits_for_the_suspend_and_the_program_for_the_read() {
    let mut die = OneDie::new(suspending);
    die.at(0, &[Program(Ppn(0), Cause::Host)]);
    // 305.12 us into it, 300 of them in the array.
    die.at(305_120, &[Read(Ppn(9), Cause::Host)]);
    let read_ns = 305_120 + 30_000 + READ_NS;
    assert_eq!(die.ends(), [read_ns, read_ns + 7_000 + 400_000]);
}

#[test]
fn an_erase_is_suspended_too_and_two_reads_share_a_suspend() {
    let mut die = OneDie::new(suspending);
    die.at(0, &[Erase(EraseUnit(1)), Program(Ppn(0), Cause::Host)]);
    die.at(1_000_000, &[Read(Ppn(9), Cause::Host)]);
    die.at(1_100_000, &[Read(Ppn(10), Cause::Host)]);
    let first_ns = 1_000_000 + 100_000 + READ_NS;
    let erased_ns = first_ns + READ_NS + 7_000 + 4_000_000;
    assert_eq!(die.ends(), [first_ns, first_ns + READ_NS, erased_ns + UNIT_NS + 700_000]);
}

#[test]
fn what_is_nearly_done_is_not_suspended() {
    let mut die = OneDie::new(suspending);
    die.at(0, &[Program(Ppn(0), Cause::Host)]);
    // 30 us are left, and suspending takes as long.
    die.at(UNIT_NS + 670_000, &[Read(Ppn(9), Cause::Host)]);
    assert_eq!(die.ends(), [UNIT_NS + 700_000, UNIT_NS + 700_000 + READ_NS]);
}

#[test]
fn data_on_its_way_to_the_die_is_waited_for() {
    let mut die = OneDie::new(suspending);
    die.at(0, &[Program(Ppn(0), Cause::Host)]);
    die.at(1_000, &[Read(Ppn(9), Cause::Host)]);
    let read_ns = UNIT_NS + 30_000 + READ_NS;
    assert_eq!(die.ends(), [read_ns, read_ns + 7_000 + 700_000]);
}

#[test]
fn an_operation_is_suspended_again_and_only_so_often() {
    let twice = |per_operation_max| {
        let mut die = OneDie::new(|nand| Nand { suspends_per_operation_max: per_operation_max, ..suspending(nand) });
        die.at(0, &[Program(Ppn(0), Cause::Host)]);
        die.at(UNIT_NS + 100_000, &[Read(Ppn(9), Cause::Host)]);
        // 50 us after it was resumed.
        let resumed_ns = UNIT_NS + 130_000 + READ_NS + 7_000;
        die.at(resumed_ns + 50_000, &[Read(Ppn(10), Cause::Host)]);
        (resumed_ns, die.ends())
    };
    let (resumed_ns, unlimited) = twice(0);
    let second_ns = resumed_ns + 50_000 + 30_000 + READ_NS;
    assert_eq!(unlimited[1..], [second_ns, second_ns + 7_000 + 550_000]);
    let (resumed_ns, once) = twice(1);
    assert_eq!(once[1..], [resumed_ns + 600_000, resumed_ns + 600_000 + READ_NS]);
}

fn repeating(nand: Nand) -> Nand {
    Nand { suspend_repeats_us: 100.0, ..suspending(nand) }
}

#[test]
fn each_suspend_costs_a_program_what_it_repeats() {
    let programs = 50;
    let cycle_ns = UNIT_NS + 700_000 + 30_000 + READ_NS + 7_000 + 100_000;
    let mut die = OneDie::new(repeating);
    die.at(0, &(0..programs).map(|page| Program(Ppn(page), Cause::Host)).collect::<Vec<_>>());
    for program in 0..u64::from(programs) {
        // Each program is suspended once, 400 us into the array.
        die.at(program * cycle_ns + UNIT_NS + 400_000, &[Read(Ppn(60), Cause::Host)]);
    }
    let ends = die.ends();
    let reads_ns: Vec<u64> = ends.iter().step_by(2).copied().collect();
    for (program, read_ns) in reads_ns.iter().enumerate() {
        // The read waits for the suspend only.
        assert_eq!(*read_ns, program as u64 * cycle_ns + UNIT_NS + 430_000 + READ_NS);
    }
    assert_eq!(ends.last(), Some(&(u64::from(programs) * cycle_ns)));
}

#[test]
fn a_program_repeats_no_more_than_it_did_since_it_was_resumed() {
    let mut die = OneDie::new(repeating);
    die.at(0, &[Program(Ppn(0), Cause::Host)]);
    die.at(UNIT_NS + 300_000, &[Read(Ppn(9), Cause::Host)]);
    // 500 us are left, 40 of which are done when the second read comes, and lost again.
    let resumed_ns = UNIT_NS + 330_000 + READ_NS + 7_000;
    die.at(resumed_ns + 40_000, &[Read(Ppn(10), Cause::Host)]);
    let second_ns = resumed_ns + 70_000 + READ_NS;
    assert_eq!(die.ends(), [UNIT_NS + 330_000 + READ_NS, second_ns, second_ns + 7_000 + 500_000]);
}

#[test]
fn an_erase_repeats_nothing() {
    let mut die = OneDie::new(repeating);
    die.at(0, &[Erase(EraseUnit(1)), Program(Ppn(0), Cause::Host)]);
    die.at(1_000_000, &[Read(Ppn(9), Cause::Host)]);
    let read_ns = 1_000_000 + 100_000 + READ_NS;
    assert_eq!(die.ends(), [read_ns, read_ns + 7_000 + 4_000_000 + UNIT_NS + 700_000]);
}

#[test]
fn while_suspends_are_held_a_read_waits_for_the_program() {
    let mut die = OneDie::new(suspending);
    die.hold_suspends(true);
    die.at(0, &[Program(Ppn(0), Cause::Host)]);
    die.at(305_120, &[Read(Ppn(9), Cause::Host)]);
    assert_eq!(die.ends(), [UNIT_NS + 700_000, UNIT_NS + 700_000 + READ_NS]);
}

#[test]
fn suspending_takes_evenly_more_up_to_the_spread() {
    let mut die = OneDie::new(|nand| Nand { suspend_spread_us: 100.0, ..suspending(nand) });
    let mut waits_ns = Vec::new();
    for program in 0..400 {
        let at_ns = program * 2_000_000;
        die.at(at_ns, &[Program(Ppn(0), Cause::Host)]);
        die.at(at_ns + 305_120, &[Read(Ppn(9), Cause::Host)]);
        waits_ns.push(at_ns + 305_120 + READ_NS);
    }
    let reads = die.ends().into_iter().step_by(2);
    let mut waits_ns: Vec<u64> = reads.zip(waits_ns).map(|(end_ns, at_once_ns)| end_ns - at_once_ns).collect();
    waits_ns.sort_unstable();
    for (share, expected_ns) in [(0, 30_000), (100, 55_000), (200, 80_000), (300, 105_000), (399, 130_000)] {
        assert!(waits_ns[share].abs_diff(expected_ns) < 10_000, "{} against {expected_ns}", waits_ns[share]);
    }
}

/// Latencies of the reads of a mix of seven reads and three writes or trims, rising.
fn reads_beside_writes(suspend: bool) -> Vec<u64> {
    let mut drive = drive(Shape { dies_per_channel: 1, pages: 8, ..SMALL });
    drive.nand = Nand { suspend, ..suspending(drive.nand) };
    let mut latencies = latencies(&drive, 7, Operation::Read);
    latencies.sort_unstable();
    latencies
}

#[test]
fn reads_beside_writes_have_a_shorter_tail() {
    let [without, with] = [false, true].map(reads_beside_writes);
    let share = |latencies: &[u64], share: f64| latencies[(latencies.len() as f64 * share) as usize] / 1000;
    for (name, latencies) in [("without", &without), ("with", &with)] {
        let [median, nine, tail] = [0.5, 0.99, 0.999].map(|part| share(latencies, part));
        println!("reads {name} suspending: median {median} us, p99 {nine} us, p99.9 {tail} us");
    }
    assert!(share(&with, 0.999) * 2 < share(&without, 0.999));
    assert!(share(&with, 0.5) < share(&without, 0.5));
}
