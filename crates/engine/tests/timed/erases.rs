//! Which erases take time: one of so many on a drive made smaller, and each plane's by itself.

use super::by_hand::{OneDie, UNIT_NS};
use ssdlab_engine::ledger::Cause;
use ssdlab_engine::specification::Drive;
use ssdlab_engine::specification::drive::{EraseUnitKind, Nand};
use ssdlab_engine::timing::decision::Decision::{Erase, Read};
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::units::{EraseUnit, Ppn};

const READ_NS: u64 = 60_000 + UNIT_NS;
const ERASE_NS: u64 = 5_000_000;

#[test]
fn a_read_waits_for_one_erase_of_so_many_and_for_all_of_that_one() {
    let mut die = OneDie::new(|nand| Nand { erases_at_once: 4, ..nand });
    for erase in 0..8_u32 {
        let at_ns = u64::from(erase) * 10_000_000;
        die.at(at_ns, &[Erase(EraseUnit(erase))]);
        die.at(at_ns + 1_000, &[Read(Ppn(40), Cause::Host)]);
    }
    let waits = |erase| erase == 1 || erase == 5;
    let end = |erase: u64| erase * 10_000_000 + if waits(erase) { ERASE_NS } else { 1_000 } + READ_NS;
    assert_eq!(die.ends(), (0..8).map(end).collect::<Vec<_>>());
}

/// The time that dies are busy with `erases` superblocks of four planes, one each 100 requests.
fn busy_ns(erase_by_plane: bool, erases: u32) -> f64 {
    let nand = Nand { channels: 2, dies_per_channel: 1, planes_per_die: 4, erase_by_plane, ..Drive::textbook().nand };
    let mut flash = Flash::new(&nand, nand.page_bytes, EraseUnitKind::Superblock);
    let request_ns = 1_000_000;
    let requests = u64::from(erases) * 100;
    for request in 0..requests {
        let erase = [Erase(EraseUnit((request / 100) as u32))];
        flash.run(request * request_ns, u64::MAX);
        flash.carry_out(request * request_ns, if request % 100 == 0 { &erase } else { &[] }, 0);
    }
    let elapsed_ns = requests * request_ns + 10 * ERASE_NS;
    flash.run(elapsed_ns, u64::MAX);
    flash.utilization(elapsed_ns) * elapsed_ns as f64
}

#[test]
fn the_planes_of_a_die_are_erased_together_or_one_by_one() {
    assert!((busy_ns(false, 10) / ERASE_NS as f64 - 10.0).abs() < 1e-6);
    // After the first, whose other planes follow the second at once, each superblock takes four times as long.
    assert!((busy_ns(true, 10) / ERASE_NS as f64 - 40.0).abs() < 1e-6);
}
