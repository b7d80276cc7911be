//! Is what the host has written in the controller's memory exactly until it is in flash?

use ssdlab_engine::ledger::Cause;
use ssdlab_engine::specification::Drive;
use ssdlab_engine::specification::drive::{EraseUnitKind, Nand};
use ssdlab_engine::timing::decision::Decision::{Program, Read};
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::units::Ppn;

fn in_memory(flash: &mut Flash, ppns: std::ops::Range<u32>) -> Vec<u32> {
    ppns.filter(|&ppn| flash.in_memory().holds(Ppn(ppn))).collect()
}

/// To the next end that the host hears of.
fn run(flash: &mut Flash) -> u64 {
    while flash.finished().is_empty() {
        assert_eq!(flash.run(u64::MAX, 1), 1);
    }
    flash.finished().clear();
    flash.now_ns()
}

/// One die, whose pages are one unit: 5.12 us over the channel, 700 us in the array.
#[test]
fn what_is_being_programmed_is_in_memory_until_its_program_ends() {
    for suspend in [false, true] {
        let nand = Nand { suspend, ..Drive::textbook().nand };
        let mut flash = Flash::new(&nand, 4096, EraseUnitKind::Block);
        let of_host = |ppn| Program(Ppn(ppn), Cause::Host);
        flash.carry_out(0, &[of_host(0), of_host(1)], 0);
        flash.run(700_000, u64::MAX);
        assert_eq!(in_memory(&mut flash, 0..3), [0, 1]);
        assert_eq!(run(&mut flash), 705_120);
        assert_eq!(in_memory(&mut flash, 0..3), [1]);
        run(&mut flash);
        assert!(in_memory(&mut flash, 0..3).is_empty());
        assert!(flash.in_memory().is_empty());
    }
}

/// Pages of two units on two planes: a group waits for its fourth unit.
#[test]
fn what_waits_for_its_group_to_be_full_is_in_memory_and_what_is_moved_is_not() {
    let nand = Nand { page_bytes: 8192, planes_per_die: 2, ..Drive::textbook().nand };
    let mut flash = Flash::new(&nand, 4096, EraseUnitKind::Superblock);
    let copy = |from, to| [Read(Ppn(from), Cause::Gc), Program(Ppn(to), Cause::Gc)];
    flash.carry_out(0, &copy(40, 8), 0);
    assert!(flash.in_memory().is_empty());
    flash.carry_out(0, &[Program(Ppn(0), Cause::Host)], 0);
    assert_eq!(in_memory(&mut flash, 0..12), [0, 1, 2, 3], "all units of the group alike");
    flash.carry_out(0, &[1, 2, 3].map(|ppn| Program(Ppn(ppn), Cause::Host)), 0);
    assert_eq!(in_memory(&mut flash, 0..12), [0, 1, 2, 3]);
    run(&mut flash);
    assert!(in_memory(&mut flash, 0..12).is_empty());
}
