//! What a die does without letting the host's reads between: copies whose pages are read together, and work of its own.

use super::by_hand::{OneDie, UNIT_NS};
use ssdlab_engine::ledger::Cause;
use ssdlab_engine::specification::drive::Nand;
use ssdlab_engine::timing::decision::Decision::{self, Program, Read};
use ssdlab_engine::units::Ppn;

const READ_NS: u64 = 60_000 + UNIT_NS;
const PROGRAM_NS: u64 = 700_000 + UNIT_NS;

fn copies(count: u32) -> Vec<Decision> {
    (0..count).flat_map(|unit| [Read(Ppn(unit), Cause::Gc), Program(Ppn(16 + unit), Cause::Gc)]).collect()
}

/// When the host's read ends that comes while a die is at the first of four copies.
fn read_beside_copies(copy_pages_together: u32) -> u64 {
    let mut die = OneDie::new(|nand| Nand { copy_pages_together, ..nand });
    die.at(0, &copies(4));
    die.at(1_000, &[Read(Ppn(40), Cause::Host)]);
    die.ends()[0]
}

#[test]
fn a_read_waits_for_the_pages_of_copies_that_are_read_together() {
    for (together, before) in [(0, 1), (1, 1), (2, 2), (3, 3), (4, 4), (12, 4)] {
        assert_eq!(read_beside_copies(together), (before + 1) * READ_NS, "{together} together");
    }
}

#[test]
fn a_read_waits_for_no_copy_that_has_not_begun_with_the_first() {
    let mut die = OneDie::new(|nand| Nand { copy_pages_together: 12, ..nand });
    die.at(0, &[Program(Ppn(0), Cause::Host)]);
    die.at(1_000, &copies(4));
    die.at(2_000, &[Read(Ppn(40), Cause::Host)]);
    assert_eq!(die.ends(), [PROGRAM_NS, PROGRAM_NS + READ_NS]);
}

/// Of one die, 2 ms ten times a second: due at 50 ms, 150 ms and so on.
fn with_background(nand: Nand) -> Nand {
    Nand { background_us: 2000.0, background_per_second: 10.0, ..nand }
}

#[test]
fn a_read_waits_for_the_rest_of_what_the_die_began_by_itself() {
    let mut die = OneDie::new(with_background);
    die.at(10_000_000, &[Read(Ppn(1), Cause::Host)]);
    die.at(50_500_000, &[Read(Ppn(2), Cause::Host)]);
    die.at(60_000_000, &[Read(Ppn(3), Cause::Host)]);
    die.at(160_000_000, &[Read(Ppn(4), Cause::Host)]);
    let at_once = |at_ns| at_ns + READ_NS;
    assert_eq!(die.ends(), [at_once(10_000_000), at_once(52_000_000), at_once(60_000_000), at_once(160_000_000)]);
}

#[test]
fn it_waits_for_the_operation_under_way_and_is_not_suspended() {
    let mut die = OneDie::new(|nand| Nand { suspend: true, program_suspend_us: 30.0, ..with_background(nand) });
    die.at(49_900_000, &[Program(Ppn(0), Cause::Host)]);
    let programmed_ns = 49_900_000 + PROGRAM_NS;
    die.at(programmed_ns + 1_000, &[Read(Ppn(9), Cause::Host)]);
    assert_eq!(die.ends(), [programmed_ns, programmed_ns + 2_000_000 + READ_NS]);
}

/// P(wait > x) = rate (t - x): the share of the reads that wait for more than x of a work of t.
#[test]
fn the_share_of_reads_that_wait_is_that_of_the_time() {
    let mut die = OneDie::new(with_background);
    let times_ns: Vec<u64> = (0..4000).map(|read| read * 499_979).collect();
    times_ns.iter().for_each(|&at_ns| die.at(at_ns, &[Read(Ppn(9), Cause::Host)]));
    let ends_ns = die.ends();
    for wait_ns in [1, 500_000, 1_000_000, 1_500_000] {
        let waited =
            times_ns.iter().zip(&ends_ns).filter(|&(at_ns, end_ns)| end_ns - at_ns > READ_NS + wait_ns).count();
        let expected = 10.0 * (2e-3 - wait_ns as f64 / 1e9) * 4000.0;
        assert!((waited as f64 - expected).abs() <= 0.1 * expected + 4.0, "{waited} against {expected}");
    }
}
