//! Pages of a word line that take times of their own: which time belongs to which page, every end by hand.

use super::by_hand::{OneDie, UNIT_NS};
use super::experiment::*;
use ssdlab_engine::ledger::Cause;
use ssdlab_engine::request::Operation;
use ssdlab_engine::specification::Drive;
use ssdlab_engine::specification::drive::{EraseUnitKind, Nand, PageTimes, SlcCache};
use ssdlab_engine::timing::decision::Decision::{self, Open, Program, Read};
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::units::{EraseUnit, Ppn};

const READ_NS: [u64; 3] = [40_000, 60_000, 90_000];
const PROGRAM_NS: [u64; 3] = [300_000, 600_000, 1_500_000];

fn of_three_pages(nand: Nand) -> Nand {
    let microseconds = |times: [u64; 3]| PageTimes::ByPage(times.map(|ns| ns as f64 / 1000.0).to_vec());
    Nand { read_us: microseconds(READ_NS), program_us: microseconds(PROGRAM_NS), pages_per_block: 18, ..nand }
}

fn of_host(program: bool, pages: std::ops::Range<u32>) -> Vec<Decision> {
    let decision = |page| match program {
        true => Program(Ppn(page), Cause::Host),
        false => Read(Ppn(page), Cause::Host),
    };
    pages.map(decision).collect()
}

/// When the host heard of each of its units, all decided on at once.
fn ends(mut flash: Flash, decisions: &[Decision]) -> Vec<u64> {
    flash.carry_out(0, decisions, 0);
    let mut ends = Vec::new();
    while flash.run(u64::MAX, 1) > 0 {
        let now_ns = flash.now_ns();
        ends.extend(flash.finished().drain(..).map(|_| now_ns));
    }
    ends
}

/// Sums from the first on.
fn one_after_another(times: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut now_ns = 0;
    times
        .into_iter()
        .map(|time| {
            now_ns += time;
            now_ns
        })
        .collect()
}

#[test]
fn pages_of_a_block_take_their_times_in_turn() {
    for (program, times) in [(false, READ_NS), (true, PROGRAM_NS)] {
        let mut die = OneDie::new(of_three_pages);
        // The second block begins with the first page of a word line again.
        die.at(0, &of_host(program, 1..20));
        let expected = (1..20).map(|page| times[(page % 18 % 3) as usize] + UNIT_NS);
        assert_eq!(die.ends(), one_after_another(expected));
    }
}

#[test]
fn the_pages_of_all_planes_of_a_superblock_are_one_page_of_a_word_line() {
    let nand = of_three_pages(Nand { channels: 2, planes_per_die: 2, ..Drive::textbook().nand });
    let flash = || Flash::new(&nand, 4096, EraseUnitKind::Superblock);
    // Places 0 and 1 are page 0 of the first die, 2 and 3 of the second, 4 and 5 page 1 of the first.
    let rows = one_after_another(PROGRAM_NS.map(|program_ns| 2 * UNIT_NS + program_ns));
    assert_eq!(ends(flash(), &of_host(true, 0..12)), rows.iter().flat_map(|&end| [end; 4]).collect::<Vec<_>>());
    let pages = one_after_another([0, 0, 1, 1].map(|page| READ_NS[page] + UNIT_NS));
    assert_eq!(ends(flash(), &of_host(false, 0..8)), pages.iter().flat_map(|&end| [end; 2]).collect::<Vec<_>>());
}

#[test]
fn pages_programmed_in_one_shot_are_read_each_in_its_time() {
    let nand = of_three_pages(Nand { channels: 2, pages_per_program: 3, ..Drive::textbook().nand });
    let nand = Nand { program_us: 2000.0.into(), ..nand };
    let flash = || Flash::new(&nand, 4096, EraseUnitKind::Superblock);
    // Three pages of the first die, then three of the second.
    let pages = one_after_another(READ_NS.map(|read_ns| read_ns + UNIT_NS));
    assert_eq!(ends(flash(), &of_host(false, 0..6)), pages.iter().flat_map(|&end| [end; 2]).collect::<Vec<_>>());
    assert_eq!(ends(flash(), &of_host(true, 0..6)), [3 * UNIT_NS + 2_000_000; 6]);
}

#[test]
fn a_page_in_slc_mode_has_its_word_line_to_itself() {
    let nand = of_three_pages(Drive::textbook().nand);
    let cache = SlcCache { read_us: 25.0, program_us: 200.0, static_bytes: 4096, ..SlcCache::default() };
    let flash = Flash::new(&nand, 4096, EraseUnitKind::Block).with_slc_cache(&nand, &cache);
    let mut decisions = vec![Open(EraseUnit(0), true), Open(EraseUnit(1), false)];
    decisions.extend(of_host(true, 1..4));
    decisions.extend(of_host(true, 19..20));
    let times = [200_000, 200_000, 200_000, PROGRAM_NS[1]];
    assert_eq!(ends(flash, &decisions), one_after_another(times.map(|program_ns| program_ns + UNIT_NS)));
}

#[test]
fn the_rest_of_a_slow_page_is_programmed_after_a_suspend() {
    let mut die =
        OneDie::new(|nand| Nand { suspend: true, program_suspend_us: 30.0, resume_us: 7.0, ..of_three_pages(nand) });
    die.at(0, &of_host(true, 2..3));
    die.at(105_120, &of_host(false, 19..20));
    let read_ns = 105_120 + 30_000 + READ_NS[1] + UNIT_NS;
    assert_eq!(die.ends(), [read_ns, read_ns + 7_000 + PROGRAM_NS[2] - 100_000]);
}

#[test]
fn a_copy_reads_one_page_and_programs_another() {
    let mut die = OneDie::new(of_three_pages);
    // Page 2 to page 0 of the next block.
    let copy = [Read(Ppn(2), Cause::Gc), Program(Ppn(18), Cause::Gc)];
    die.at(0, &copy);
    die.at(1, &of_host(true, 37..38));
    // The host's program was there before the copy's.
    assert_eq!(die.ends(), [READ_NS[2] + UNIT_NS + PROGRAM_NS[1] + UNIT_NS]);
    let mut die = OneDie::new(of_three_pages);
    die.at(0, &copy);
    die.at(READ_NS[2] + 2 * UNIT_NS, &of_host(true, 37..38));
    assert_eq!(die.ends().last(), Some(&(READ_NS[2] + PROGRAM_NS[0] + PROGRAM_NS[1] + 3 * UNIT_NS)));
}

#[test]
fn sequential_writes_reach_the_rate_of_the_mean() {
    let mut drive = drive(Shape { pages: 18, ..SMALL });
    drive.nand = Nand { pages_per_block: 18, ..of_three_pages(drive.nand) };
    let measured = measure(Experiment {
        drive,
        operation: Operation::Write,
        length_units: 8,
        is_sequential: true,
        depth: 64,
        warm_up: 3000,
        requests: 20_000,
        buffer_units: 0,
    });
    let group_ns = 8.0 * UNIT_NS as f64 + 800_000.0 + 5_000_000.0 / 18.0;
    near(measured.iops, 8.0 * 1e9 / group_ns, 0.01);
}

#[test]
fn lists_that_contradict_each_other_are_refused() {
    let refused = |change: fn(&mut Nand), key: &str| {
        let mut nand = of_three_pages(Drive::textbook().nand);
        change(&mut nand);
        let error = nand.check_times().expect_err(key);
        assert_eq!(error.key, key, "{error}");
    };
    of_three_pages(Drive::textbook().nand).check_times().unwrap();
    refused(|nand| nand.read_us = PageTimes::ByPage(vec![60.0, 70.0]), "nand.program_us");
    refused(|nand| nand.pages_per_program = 3, "nand.program_us");
    refused(|nand| nand.read_us = PageTimes::ByPage(Vec::new()), "nand.read_us");
    refused(|nand| nand.program_us = PageTimes::ByPage(vec![1.0; 17]), "nand.program_us");
    refused(|nand| nand.program_us = PageTimes::ByPage(vec![1.0, f64::NAN, 1.0]), "nand.program_us");
}

#[test]
fn a_specification_says_a_number_or_a_list() {
    let nand = of_three_pages(Drive::textbook().nand);
    let mut text = serde_json::to_value(&nand).unwrap();
    assert_eq!(text["read_us"], serde_json::json!([40.0, 60.0, 90.0]));
    assert_eq!(serde_json::from_value::<Nand>(text.clone()).unwrap(), nand);
    text["read_us"] = 55.into();
    assert_eq!(serde_json::from_value::<Nand>(text.clone()).unwrap().read_us, PageTimes::Same(55.0));
    text["read_us"] = "55".into();
    let error = serde_json::from_value::<Nand>(text).unwrap_err();
    assert!(error.to_string().contains("a number, or a list of numbers"), "{error}");
}
