//! An erase waits until the copies of what it erases are in flash, on a drive whose memory is lost with the power.

use super::experiment::*;
use ssdlab_engine::ledger::Cause;
use ssdlab_engine::request::Operation;
use ssdlab_engine::specification::Drive;
use ssdlab_engine::specification::drive::{EraseUnitKind, Nand};
use ssdlab_engine::timing::decision::Decision::{self, Erase, Program, Read};
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::units::{EraseUnit, Ppn};

const READ_NS: u64 = 60_000 + 5_120;
const PROGRAM_NS: u64 = 700_000 + 5_120;

/// Two dies with a channel each; even erase units, of 16 pages of a unit, lie on the first. Returns when the host heard
/// of each of its units.
fn ends(is_protected: bool, decided: &[(u64, &[Decision])]) -> Vec<u64> {
    let nand = Nand { channels: 2, ..Drive::textbook().nand };
    let of = |flash: Flash| {
        let mut flash = flash.with_power_loss_protection(is_protected);
        let mut ends = Vec::new();
        for &(at_ns, decisions) in decided.iter().chain([&(u64::MAX, &[][..])]) {
            while flash.next_event_ns().is_some_and(|next_ns| next_ns < at_ns) {
                flash.run(at_ns, u64::MAX);
                let now = flash.now_ns();
                ends.extend(flash.finished().drain(..).map(|_| now));
            }
            flash.carry_out(at_ns, decisions, 0);
        }
        ends
    };
    let flash = || Flash::new(&nand, 4096, EraseUnitKind::Block);
    let fused = of(flash());
    assert_eq!(fused, of(flash().without_fusing()));
    fused
}

fn slot(erase_unit: u32, page: u32) -> Ppn {
    Ppn(erase_unit * 16 + page)
}

/// A unit of erase unit 0 is copied to the other die, and erase unit 0 erased; meanwhile the host writes to erase unit
/// 2.
fn cleaned() -> [Decision; 4] {
    [Read(slot(0, 3), Cause::Gc), Program(slot(1, 0), Cause::Gc), Erase(EraseUnit(0)), Program(slot(2, 0), Cause::Host)]
}

#[test]
fn the_copy_is_in_flash_before_the_erase_begins() {
    let again = [Program(slot(0, 0), Cause::Host)];
    let decided: [(u64, &[Decision]); 2] = [(0, &cleaned()), (100_000, &again)];
    // Protected, the erase follows the read; what is written behind it waits.
    let erased_ns = READ_NS + 5_000_000;
    assert_eq!(ends(true, &decided), [erased_ns + PROGRAM_NS, erased_ns + 2 * PROGRAM_NS]);
    // Without, the host's program is done before the erase, and what goes to erase unit 0 waits for that.
    let copied_ns = READ_NS + PROGRAM_NS;
    assert_eq!(ends(false, &decided), [copied_ns, copied_ns + 5_000_000 + PROGRAM_NS]);
}

#[test]
fn an_erase_whose_erase_unit_is_needed_at_once_goes_ahead() {
    let again = [Program(slot(0, 0), Cause::Host)];
    let decided: [(u64, &[Decision]); 2] = [(0, &cleaned()[..3]), (10_000, &again)];
    // The copy is still being read.
    assert_eq!(ends(false, &decided), [READ_NS + 5_000_000 + PROGRAM_NS]);
    let later: [(u64, &[Decision]); 2] = [(0, &cleaned()[..3]), (READ_NS + 1, &again)];
    assert_eq!(ends(false, &later), [READ_NS + PROGRAM_NS + 5_000_000 + PROGRAM_NS]);
}

#[test]
fn waiting_costs_next_to_nothing() {
    let [protected, waiting] = [true, false].map(|is_protected| {
        let mut drive = drive(Shape { dies_per_channel: 1, ..SMALL });
        drive.write_buffer.power_loss_protection = is_protected;
        let requests = drive.ftl.user_bytes / UNIT;
        measure(Experiment {
            drive,
            operation: Operation::Write,
            length_units: 1,
            is_sequential: false,
            depth: 64,
            warm_up: requests,
            requests,
            buffer_units: 0,
        })
    });
    near(waiting.waf, protected.waf, 0.01);
    near(waiting.iops, protected.iops, 0.03);
    assert_ne!(waiting.seconds, protected.seconds, "but it is not nothing");
}
