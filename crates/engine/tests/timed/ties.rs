//! What happens at the same nanosecond happens in the order of the dies. Timings of a few coprime nanoseconds make such
//! ties common; a flash with an event for every operation knows the order without thinking.

use super::experiment::*;
use super::fusing::Run;
use ssdlab_engine::ledger::Cause;
use ssdlab_engine::policies::die_choice;
use ssdlab_engine::specification::Drive;
use ssdlab_engine::specification::drive::{EraseUnitKind, Nand, PageTimes};
use ssdlab_engine::timing::decision::Decision::{self, Erase, Program, Read};
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::units::{EraseUnit, Ppn};

/// A read takes 3 ns, a program 4, an erase 5; a page of 4 KiB crosses its channel in 2.
fn in_few_nanoseconds(nand: Nand) -> Nand {
    Nand { read_us: 0.003.into(), program_us: 0.004.into(), erase_us: 0.005, channel_mb_s: 2_048_000.0, ..nand }
}

/// When the host heard of each of its units, in order, on three dies with a channel each.
fn ends(is_fused: bool, steps: &[(u64, &[Decision])]) -> Vec<u64> {
    let nand = in_few_nanoseconds(Nand { channels: 3, pages_per_block: 8, ..Drive::textbook().nand });
    let flash = Flash::new(&nand, UNIT as u32, EraseUnitKind::Block);
    let mut flash = if is_fused { flash } else { flash.without_fusing() };
    let mut ends = Vec::new();
    let mut steps = steps.iter().peekable();
    loop {
        if let Some((_, decisions)) = steps.next_if(|(after, _)| ends.len() as u64 >= *after) {
            flash.carry_out(flash.now_ns(), decisions, 0);
        } else if flash.next_event_ns().is_some() {
            flash.run(u64::MAX, 1);
            let now = flash.now_ns();
            ends.extend(flash.finished().drain(..).map(|_| now));
        } else {
            return ends;
        }
    }
}

/// A program of garbage collection on the last die ended at the same nanosecond as a host's program on the first, which
/// comes before it. What the host then queued on the last die was taken as begun at that nanosecond, so that a read of
/// the host waited for an erase that it should have passed.
#[test]
fn what_ends_now_on_a_later_die_is_not_yet_done() {
    // Erase units 0, 1 and 2 lie on dies 0, 1 and 2.
    let steps: [(u64, &[Decision]); 2] = [
        (0, &[Program(Ppn(16), Cause::Gc), Program(Ppn(0), Cause::Host)]),
        (1, &[Erase(EraseUnit(2)), Read(Ppn(17), Cause::Host)]),
    ];
    assert_eq!(ends(false, &steps), [6, 6 + 5]);
    assert_eq!(ends(true, &steps), [6, 6 + 5]);
    // On an earlier die the erase has begun, and the read waits for it.
    let steps: [(u64, &[Decision]); 2] = [
        (0, &[Program(Ppn(0), Cause::Gc), Program(Ppn(16), Cause::Host)]),
        (1, &[Erase(EraseUnit(0)), Read(Ppn(1), Cause::Host)]),
    ];
    assert_eq!(ends(false, &steps), [6, 6 + 5 + 5]);
    assert_eq!(ends(true, &steps), [6, 6 + 5 + 5]);
}

#[test]
fn fused_and_unfused_agree_where_many_operations_end_at_once() {
    let own_channels = Shape { dies_per_channel: 1, planes: 1, blocks: 48, pages: 8, page_bytes: 4096, ..SMALL };
    let choices = die_choice::descriptions();
    let of_blocks = choices.iter().map(|choice| (3, EraseUnitKind::Block, choice.name, false));
    let others = [
        (3, EraseUnitKind::Superblock, "round-robin", false),
        (4, EraseUnitKind::Block, "round-robin", false),
        (3, EraseUnitKind::Block, "least-loaded", true),
        (3, EraseUnitKind::Superblock, "round-robin", true),
    ];
    for (channels, erase_unit, choice, has_page_types) in of_blocks.chain(others) {
        let mut drive = drive(Shape { channels, ..own_channels });
        (drive.ftl.erase_unit, drive.ftl.die_choice.name) = (erase_unit, choice.into());
        drive.nand = in_few_nanoseconds(drive.nand);
        if has_page_types {
            drive.nand.program_us = PageTimes::ByPage(vec![0.004, 0.007, 0.009]);
        }
        for (reads_of_ten, depth) in [(0, 1), (0, 6), (0, 32), (5, 1), (5, 6), (5, 32), (9, 1), (9, 6), (9, 32)] {
            let run = |is_fused| {
                let run = Run { is_fused, reads_of_ten, depth, command_ns: 1, ..Run::of(&drive) };
                run.run()
            };
            let (fused, unfused) = (run(true), run(false));
            let first = fused.0.iter().zip(&unfused.0).position(|(fused, unfused)| fused != unfused);
            let what = (channels, erase_unit, choice, has_page_types, reads_of_ten, depth);
            assert_eq!(first, None, "{what:?}: the first completion that differs, of {}", fused.0.len());
            assert_eq!(fused.1, unfused.1, "{what:?}: how busy the dies were");
        }
    }
}
