//! Cache program and cache read: a die takes the longer of array and transfer a page, not their sum.

use super::by_hand::{OneDie, UNIT_NS};
use super::experiment::*;
use ssdlab_engine::ledger::Cause;
use ssdlab_engine::request::Operation;
use ssdlab_engine::specification::drive::Nand;
use ssdlab_engine::timing::recorder::Decision::{Program, Read};
use ssdlab_engine::units::Ppn;

const PAGES: u64 = 16;

/// When the last of so many pages is done; they cross the channel in so many nanoseconds.
fn last_ns(cached: bool, transfer_ns: u64, is_read: bool) -> u64 {
    let mut die = OneDie::new(|nand| Nand {
        cache_program: cached,
        cache_read: cached,
        channel_mb_s: 4096.0 * 1000.0 / transfer_ns as f64,
        ..nand
    });
    let of = |page: u64| match is_read {
        true => Read(Ppn(page as u32), Cause::Host),
        false => Program(Ppn(page as u32), Cause::Host),
    };
    die.at(0, &(0..PAGES).map(of).collect::<Vec<_>>());
    *die.ends().last().unwrap()
}

#[test]
fn programs_take_the_longer_of_array_and_transfer() {
    for transfer_ns in [5_120, 400_000, 900_000] {
        assert_eq!(last_ns(false, transfer_ns, false), PAGES * (transfer_ns + 700_000));
        let longer = transfer_ns.max(700_000);
        // The first transfer, or the last program, overlaps nothing.
        assert_eq!(last_ns(true, transfer_ns, false), PAGES * longer + transfer_ns.min(700_000));
    }
}

#[test]
fn reads_take_the_longer_of_array_and_transfer() {
    for transfer_ns in [5_120, 40_960, 90_000] {
        assert_eq!(last_ns(false, transfer_ns, true), PAGES * (transfer_ns + 60_000));
        let longer = transfer_ns.max(60_000);
        assert_eq!(last_ns(true, transfer_ns, true), PAGES * longer + transfer_ns.min(60_000));
    }
}

/// The page that has crossed the channel is under way; the read passes the one behind it.
#[test]
fn a_read_waits_for_what_is_in_the_cache_register() {
    let mut die = OneDie::new(|nand| Nand { cache_program: true, cache_read: true, ..nand });
    die.at(0, &[0, 1, 2].map(|page| Program(Ppn(page), Cause::Host)));
    die.at(100_000, &[Read(Ppn(9), Cause::Host)]);
    let programmed = [UNIT_NS + 700_000, UNIT_NS + 1_400_000];
    let read_ns = programmed[1] + 60_000 + UNIT_NS;
    assert_eq!(die.ends(), [programmed[0], programmed[1], read_ns, read_ns + UNIT_NS + 700_000]);
}

fn sequential(cached: bool, operation: Operation) -> f64 {
    let mut drive = drive(Shape { dies_per_channel: 1, planes: 1, page_bytes: 4096, pages: 256, blocks: 48, ..SMALL });
    // A page crosses the channel in 50 us, a program takes 100.
    (drive.nand.channel_mb_s, drive.nand.program_us) = (81.92, 100.0.into());
    (drive.nand.cache_program, drive.nand.cache_read) = (cached, cached);
    measure(Experiment {
        drive,
        operation,
        length_units: 32,
        is_sequential: true,
        depth: 8,
        warm_up: 200,
        requests: 4_000,
        buffer_units: 0,
    })
    .iops
}

#[test]
fn sequential_throughput_is_that_of_the_longer_part() {
    // Four dies with a channel each, requests of 32 pages; an erase for every 256 programs of a die.
    let requests = |page_ns: f64| 4.0 * 1e9 / page_ns / 32.0;
    let erase_ns = 5_000_000.0 / 256.0;
    near(sequential(false, Operation::Write), requests(150_000.0 + erase_ns), 0.01);
    // An erase lets the register run empty, so that the transfer after it overlaps nothing.
    near(sequential(true, Operation::Write), requests(100_000.0 + (5_000_000.0 + 50_000.0) / 256.0), 0.01);
    near(sequential(false, Operation::Read), requests(110_000.0), 0.01);
    near(sequential(true, Operation::Read), requests(60_000.0), 0.01);
}

#[test]
fn gc_under_a_mix_comes_to_its_end() {
    let writes = |cached| {
        let mut drive = drive(SMALL);
        (drive.nand.cache_program, drive.nand.cache_read) = (cached, cached);
        let requests = drive.ftl.user_bytes / UNIT / 2;
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
    };
    let (plain, cached) = (writes(false), writes(true));
    near(cached.waf, plain.waf, 0.02);
    assert!(cached.iops > plain.iops, "{cached:?} against {plain:?}");
}
