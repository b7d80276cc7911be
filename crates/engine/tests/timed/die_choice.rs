//! What the choice of dies does to the time that writes take, where each stream has an open block on every die.

use super::experiment::*;
use ssdlab_engine::ledger::Cause;
use ssdlab_engine::nand::{Array, Geometry};
use ssdlab_engine::policies::die_choice;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::simulation::{TimedSimulatedDrive, build, build_timed};
use ssdlab_engine::specification::drive::{Drive, EraseUnitKind, Faults, PolicyChoice};
use ssdlab_engine::timing::decision::Decision;
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::units::{EraseUnit, Lpn, Ppn};

/// Single blocks as erase units on four dies, each with a channel of its own.
const BLOCKS: Shape = Shape {
    channels: 4,
    dies_per_channel: 1,
    planes: 1,
    blocks: 128,
    pages: 64,
    page_bytes: 4096,
    over_provisioning: 0.12,
};

fn of_blocks(shape: Shape, die_choice: &str) -> Drive {
    let mut drive = drive(shape);
    drive.ftl.erase_unit = EraseUnitKind::Block;
    drive.ftl.die_choice = PolicyChoice::named(die_choice);
    drive
}

fn writes(drive: Drive, is_sequential: bool, length_units: u64, depth: u32, passes: u64) -> Measured {
    let requests = drive.ftl.user_bytes / UNIT / length_units;
    measure(Experiment {
        drive,
        operation: Operation::Write,
        length_units,
        is_sequential,
        depth,
        warm_up: requests * passes,
        requests: requests * passes,
        buffer_units: 0,
    })
}

/// The accounts and the map are checked at the end of every experiment.
#[test]
fn every_die_choice_keeps_the_drive_clean_at_about_the_same_cost() {
    for description in die_choice::descriptions() {
        let measured = writes(of_blocks(BLOCKS, description.name), false, 1, 32, 1);
        // With dies by address, each die has to find its space alone.
        let most = if description.name == "by-address" { 8.0 } else { 6.0 };
        assert!(measured.waf > 2.0 && measured.waf < most, "{}: {measured:?}", description.name);
    }
}

/// The share of units that lie on the die of their program group of the first row, after a third of the units were
/// overwritten one by one in a shuffled order, on a drive with space for all of it.
fn share_at_home_after_overwrites(die_choice: &str) -> f64 {
    let shape = Shape { page_bytes: 4 * UNIT as u32, pages: 16, over_provisioning: 1.0, ..BLOCKS };
    let drive = of_blocks(shape, die_choice);
    let geometry = Geometry::new(&drive.nand, UNIT as u32, EraseUnitKind::Block).unwrap();
    let dies = Array::new(geometry, &drive.faults, drive.nand.endurance_cycles, 1).dies_of_erase_units();
    let mut translation = build_timed(&drive, 1).unwrap();
    let capacity = translation.capacity();
    let (per_group, per_row) = (4, 16);
    let rows = 64;
    let write = |translation: &mut dyn TimedSimulatedDrive, first: u32, units: u32| {
        let request = Request::new(Operation::Write, u64::from(first) * UNIT, units * UNIT as u32);
        translation.decide(0, &request).unwrap();
    };
    write(&mut *translation, 0, rows * per_row);
    // 389 has no divisor in common with 1024: every unit's turn comes.
    for step in 0..rows * per_row / 3 {
        write(&mut *translation, step * 389 % (rows * per_row), 1);
    }
    translation.check_accounts().unwrap();
    translation.check_map().unwrap();
    let die_of = |unit| {
        let slot = translation.slot_of(Lpn(unit)).expect("it was written").0;
        dies[(slot / capacity.units_per_erase_unit) as usize]
    };
    let mut units_at_home = 0;
    for unit in 0..rows * per_row {
        let in_order = die_of(unit / per_group * per_group % per_row);
        units_at_home += u32::from(die_of(unit) == in_order);
    }
    f64::from(units_at_home) / f64::from(rows * per_row)
}

#[test]
fn overwritten_units_stay_on_the_dies_of_their_addresses_only_if_these_are_chosen_by_address() {
    near(share_at_home_after_overwrites("by-address"), 1.0, 0.0);
    let in_turn = share_at_home_after_overwrites("round-robin");
    assert!(in_turn < 0.9, "a third of the units lie anywhere: {in_turn}");
}

/// With fewer writes in flight than a group has units.
#[test]
fn every_die_choice_goes_on_after_padding() {
    let shape = Shape { page_bytes: 16_384, pages: 4, ..BLOCKS };
    for description in die_choice::descriptions() {
        for depth in [1, 3, 6] {
            let measured = writes(of_blocks(shape, description.name), false, 1, depth, 2);
            assert!(measured.waf > 2.0, "{}, depth {depth}: {measured:?}", description.name);
        }
    }
}

#[test]
fn an_open_block_on_every_die_writes_to_all_dies_at_once() {
    let drive = of_blocks(BLOCKS, "round-robin");
    let all = writes(drive, true, 1, 32, 1);
    // A unit each of four dies, and an erase for every 64 of a die.
    let unit_ns = 700_000.0 + 5_120.0 + 5_000_000.0 / 64.0;
    near(all.iops, 4.0 * 1e9 / unit_ns, 0.02);
    let one = writes(of_blocks(BLOCKS, "one-block"), true, 1, 32, 1);
    // A queue of half a block lies on one die, or on two where a block ends.
    assert!(one.iops < 0.6 * all.iops, "one block at a time is one die at a time: {one:?}");
}

/// 16 dies that share four channels, a queue of eight requests for each.
fn under_gc(throttling: &str) -> [Measured; 2] {
    ["round-robin", "least-loaded"].map(|name| {
        let mut drive = of_blocks(Shape { dies_per_channel: 4, ..BLOCKS }, name);
        drive.ftl.gc_throttling.name = throttling.into();
        writes(drive, false, 1, 128, 2)
    })
}

/// Garbage collection empties a whole victim at once, which keeps its die from the host for long. The dies that take
/// turns take them whatever they are at: one that cleans gathers the queue, and the others run dry behind it.
#[test]
fn taking_turns_forms_convoys_and_the_least_loaded_does_not() {
    let [in_turn, least] = under_gc("at-once");
    near(in_turn.waf, least.waf, 0.03);
    near(in_turn.mean_latency_ns, least.mean_latency_ns, 0.03);
    let median_share = |measured: &Measured| measured.median_ns as f64 / measured.mean_latency_ns;
    assert!(median_share(&in_turn) < 0.4, "most wait for little, some for all: {in_turn:?}");
    assert!(median_share(&least) > 0.85, "all wait alike: {least:?}");
    assert!(least.percentile_99_ns * 3 < in_turn.percentile_99_ns * 2, "{least:?}");
}

/// Garbage collection in step with the host leaves no die to the host or to garbage collection alone, and so less to
/// choose.
#[test]
fn with_proportional_throttling_the_choice_decides_the_tail_only() {
    let [in_turn, least] = under_gc("proportional");
    near(in_turn.median_ns as f64, least.median_ns as f64, 0.2);
    assert!(least.percentile_99_ns * 3 < in_turn.percentile_99_ns * 2, "{least:?}");
}

#[test]
fn factory_bad_blocks_leave_each_erase_unit_on_its_own_die() {
    let mut drive = of_blocks(Shape { planes: 2, over_provisioning: 0.5, ..BLOCKS }, "round-robin");
    drive.faults = Faults { factory_bad_blocks: 0.1, ..drive.faults };
    let geometry = Geometry::new(&drive.nand, UNIT as u32, EraseUnitKind::Block).unwrap();
    let array = Array::new(geometry, &drive.faults, drive.nand.endurance_cycles, 1);
    let dies = array.dies_of_erase_units();
    let per_plane = drive.nand.blocks_per_plane;
    let translation = build_timed(&drive, 1).unwrap();
    let flash = Flash::new(&drive.nand, UNIT as u32, EraseUnitKind::Block).below(&*translation);
    let mut is_off_its_row = false;
    for erase_unit in 0..array.erase_units() {
        let die = array.block_of(erase_unit) / per_plane / 2;
        assert_eq!(u32::from(dies[erase_unit as usize]), die);
        assert_eq!(flash.die_of(erase_unit * drive.nand.pages_per_block) as u32, die);
        is_off_its_row |= die != erase_unit % 8 / 2;
    }
    assert!(is_off_its_row, "a rule that goes by the number alone names the wrong die");
}

/// A served drive lost a write that it had answered. A block had failed on one die while the stream stood in the middle
/// of a program group on another. To fill the failed block up the stream turned to it, and so left the group half full
/// and parked, where `pad` did not look. The unit in the group never reached flash, the write buffer was never empty
/// again, and a write as large as the buffer waited for ever.
#[test]
fn a_group_that_a_failed_block_interrupts_is_still_filled_up() {
    let drive = of_blocks(Shape { page_bytes: 2 * UNIT as u32, ..BLOCKS }, "round-robin");
    let mut translation = build_timed(&drive, 1).unwrap();
    // The first group on the first die, the second on the next, and so on; the last is half full, on the first again.
    let units = 2 * 4 + 1;
    translation.decide(0, &Request::new(Operation::Write, 0, units * UNIT as u32)).unwrap();
    let slot_of = |translation: &dyn TimedSimulatedDrive, unit| translation.slot_of(Lpn(unit)).expect("it was written");
    let half_full = slot_of(&*translation, units - 1).0;
    let failed = EraseUnit(slot_of(&*translation, 2).0 / translation.capacity().units_per_erase_unit);
    translation.give_up(failed).unwrap();
    let mut decisions = Vec::new();
    translation.take_decisions(&mut decisions);
    let group = half_full..half_full + 2;
    translation.pad(std::slice::from_ref(&group)).unwrap();
    translation.take_decisions(&mut decisions);
    assert_eq!(decisions, [Decision::Program(Ppn(half_full + 1), Cause::Padding)]);
    translation.check_accounts().unwrap();
    translation.check_map().unwrap();
    // The stream goes on, on all dies.
    translation.decide(0, &Request::new(Operation::Write, 0, 64 * UNIT as u32)).unwrap();
    translation.check_accounts().unwrap();
    translation.check_map().unwrap();
}

#[test]
fn a_superblock_has_its_order_from_its_stripe() {
    let mut superblocks = of_blocks(BLOCKS, "least-loaded");
    superblocks.ftl.erase_unit = EraseUnitKind::Superblock;
    let error = build(&superblocks, 1).err().expect("a stripe is not asked");
    assert_eq!(error.key, "ftl.die_choice");
    assert!(error.allowed.contains("round-robin"), "{error}");
    let unknown = build(&of_blocks(BLOCKS, "least-load"), 1).err().expect("no such policy");
    assert!(unknown.allowed.contains("least-loaded"), "{unknown}");
    let mut cached = of_blocks(BLOCKS, "round-robin");
    cached.slc_cache.dynamic_bytes_max = 1 << 20;
    assert_eq!(build(&cached, 1).err().expect("one frontier").key, "ftl.die_choice");
    cached.ftl.die_choice.name = "one-block".into();
    assert!(build(&cached, 1).is_ok());
}
