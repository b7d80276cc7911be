//! Pages in SLC mode are programmed one at a time, though three are programmed in one shot elsewhere: every end by
//! hand.

#![expect(clippy::single_range_in_vec_init, reason = "these are lists of groups, each of which is a range")]

use ssdlab_engine::ledger::Cause;
use ssdlab_engine::specification::Drive;
use ssdlab_engine::specification::drive::{EraseUnitKind, Nand, SlcCache};
use ssdlab_engine::timing::decision::Decision::{self, Erase, Open, Program, Read};
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::units::{EraseUnit, Ppn};

/// A unit, which is a page here, over the channel.
const UNIT_NS: u64 = 5_120;

/// Two dies of blocks of six pages: places 0 to 11 are the first superblock, 12 to 17 may be the second in SLC mode.
fn flash(erase_unit: EraseUnitKind) -> Flash {
    let textbook = Drive::textbook();
    let nand =
        Nand { channels: 2, pages_per_block: 6, pages_per_program: 3, program_us: 2000.0.into(), ..textbook.nand };
    let times = SlcCache { read_us: 25.0, program_us: 200.0, erase_us: 3000.0, ..textbook.slc_cache };
    let cache = SlcCache { static_bytes: 4096, ..times };
    Flash::new(&nand, 4096, erase_unit).with_slc_cache(&nand, &cache).with_power_loss_protection(true)
}

fn of_host(ppns: std::ops::Range<u32>) -> Vec<Decision> {
    ppns.map(|ppn| Program(Ppn(ppn), Cause::Host)).collect()
}

fn ends(flash: &mut Flash) -> Vec<u64> {
    let mut ends = Vec::new();
    while flash.run(u64::MAX, 1) > 0 {
        let now_ns = flash.now_ns();
        ends.extend(flash.finished().drain(..).map(|_| now_ns));
    }
    ends
}

#[test]
fn each_mode_has_groups_of_its_own_size() {
    let mut flash = flash(EraseUnitKind::Superblock);
    flash.carry_out(0, &[Open(EraseUnit(0), false), Open(EraseUnit(1), true)], 0);
    let one_shot_ns = 3 * UNIT_NS + 2_000_000;
    // Two of three wait; in SLC mode none does.
    assert_eq!(flash.carry_out(0, &of_host(0..2), 0), 2);
    assert_eq!(flash.groups().waited_for(), [0..3]);
    assert_eq!(flash.carry_out(0, &of_host(12..14), 0), 2);
    assert_eq!(flash.groups().waited_for(), [0..3]);
    assert_eq!(ends(&mut flash), [UNIT_NS + 200_000; 2], "on two dies");
    let now_ns = flash.now_ns();
    flash.carry_out(now_ns, &of_host(2..6), 0);
    assert_eq!(flash.groups().waited_for(), []);
    assert_eq!(ends(&mut flash), [now_ns + one_shot_ns; 6], "places 0 to 2 on the first die, 3 to 5 on the other");
    let dies: Vec<usize> = (0..18).map(|page| flash.die_of(page)).collect();
    assert_eq!(dies, [0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0, 1, 0, 1]);
}

#[test]
fn a_fold_reads_pages_and_programs_three_at_once() {
    let mut flash = flash(EraseUnitKind::Superblock);
    flash.carry_out(0, &[Open(EraseUnit(0), false), Open(EraseUnit(1), true)], 0);
    // Two pages of the first die and one of the other.
    let copies = (0..3).flat_map(|n| [Read(Ppn(12 + n), Cause::SlcFold), Program(Ppn(n), Cause::SlcFold)]);
    let mut decisions: Vec<Decision> = copies.collect();
    decisions.extend(of_host(14..15));
    flash.carry_out(0, &decisions, 0);
    assert_eq!(flash.next_event_ns(), Some(25_000 + UNIT_NS));
    ends(&mut flash);
    // Behind two reads and the host's page on the first die comes the one shot, which nobody waits for, and the erase.
    flash.carry_out(flash.now_ns(), &[Erase(EraseUnit(1))], 0);
    ends(&mut flash);
    let reads_ns = 2 * (25_000 + UNIT_NS);
    let programs_ns = UNIT_NS + 200_000 + 3 * UNIT_NS + 2_000_000;
    assert_eq!(flash.rests_at_ns(), reads_ns + programs_ns + 3_000_000);
}

/// Single blocks: the erase unit says which die it is, whatever the mode.
#[test]
fn single_blocks_stay_on_their_dies() {
    let mut flash = flash(EraseUnitKind::Block);
    flash.carry_out(0, &[Open(EraseUnit(0), true), Open(EraseUnit(1), false)], 0);
    assert_eq!((0..12).map(|page| flash.die_of(page)).collect::<Vec<_>>(), [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
    flash.carry_out(0, &of_host(0..2), 0);
    flash.carry_out(0, &of_host(6..11), 0);
    assert_eq!(flash.groups().waited_for(), [9..12]);
    let one_ns = UNIT_NS + 200_000;
    let shot_ns = 3 * UNIT_NS + 2_000_000;
    assert_eq!(ends(&mut flash), [one_ns, 2 * one_ns, shot_ns, shot_ns, shot_ns]);
}
