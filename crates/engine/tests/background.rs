//! Does idle time do what the drive file asks for, no more, and do the counters agree?

use ssdlab_engine::ftl::recovery::Recoverable;
use ssdlab_engine::ftl::{Ftl, Plain};
use ssdlab_engine::ledger::Cause;
use ssdlab_engine::random::Random;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::specification::drive::BackgroundOperations;
use ssdlab_engine::specification::drive::*;
use ssdlab_engine::timing::decision::Decision;
use ssdlab_engine::timing::drive::{Idle, TimedDrive};
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::timing::recorder::Recorder;
use ssdlab_engine::units::Lpn;

const UNIT: u64 = 4096;
/// 4 dies, superblocks of 8 planes x 16 pages x 4 units.
const ERASE_UNIT: u64 = 512;
const ERASE_UNITS: u64 = 64;
const DAY_NS: u64 = 86_400_000_000_000;

fn drive(background: BackgroundOperations) -> Drive {
    let textbook = Drive::textbook();
    Drive {
        name: "idle".into(),
        nand: Nand {
            channels: 2,
            dies_per_channel: 2,
            planes_per_die: 2,
            blocks_per_plane: ERASE_UNITS as u32,
            page_bytes: 16384,
            ..textbook.nand
        },
        ftl: ssdlab_engine::specification::drive::Ftl {
            user_bytes: 50 * ERASE_UNIT * UNIT,
            erase_unit: EraseUnitKind::Superblock,
            placement: PolicyChoice::named("host-gc-split"),
            reserve_erase_units: 2,
            ..textbook.ftl
        },
        background,
        ..textbook
    }
}

/// What tests do with a drive, whatever its placement.
trait Idling {
    fn write(&mut self, lpn: u64, units: u64);
    fn read(&mut self, lpn: u64, units: u64);
    /// Reads what the controller still has in its memory.
    fn read_from_memory(&mut self, lpn: u64, units: u64);
    /// All that idle time from `now_ns` on has to do at once, as batches of so many programs; and when there is more.
    fn idle(&mut self, now_ns: u64) -> (Vec<usize>, u64);
    fn free(&self) -> u32;
    fn least_and_most_erased(&self) -> (u32, u32);
}

impl Idling for Ftl<Plain, Recorder> {
    fn write(&mut self, lpn: u64, units: u64) {
        let length_bytes = (units * UNIT) as u32;
        self.execute_one(&Request::new(Operation::Write, lpn * UNIT, length_bytes)).unwrap();
        self.clock_mut().decisions.clear();
    }

    fn read(&mut self, lpn: u64, units: u64) {
        let length_bytes = (units * UNIT) as u32;
        self.execute_one(&Request::new(Operation::Read, lpn * UNIT, length_bytes)).unwrap();
        self.clock_mut().decisions.clear();
    }

    fn read_from_memory(&mut self, lpn: u64, units: u64) {
        let mut flash =
            Flash::new(&drive(BackgroundOperations::default()).nand, UNIT as u32, EraseUnitKind::Superblock);
        let places = (lpn..lpn + units).map(|lpn| self.slot_of(Lpn(lpn as u32)).expect("the drive is full"));
        for place in places.collect::<Vec<_>>() {
            flash.carry_out(0, &[Decision::Program(place, Cause::Host)], 0);
        }
        self.exchange_memory(flash.in_memory());
        self.decide(0, &Request::new(Operation::Read, lpn * UNIT, (units * UNIT) as u32)).unwrap();
        self.exchange_memory(flash.in_memory());
        let decisions = std::mem::take(&mut self.clock_mut().decisions);
        assert_eq!(decisions.len() as u64, units);
        assert!(decisions.iter().all(|decision| matches!(decision, Decision::ReadFromMemory(_, Cause::Host))));
    }

    fn idle(&mut self, now_ns: u64) -> (Vec<usize>, u64) {
        let mut batches = Vec::new();
        loop {
            assert!(batches.len() < 100_000, "idle work comes to an end");
            match self.run_background(now_ns, 0).unwrap() {
                Idle::NothingBefore(next_ns) => {
                    self.check_accounts().unwrap();
                    self.check_map().unwrap();
                    return (batches, next_ns);
                }
                Idle::Decided => {
                    let decisions = std::mem::take(&mut self.clock_mut().decisions);
                    assert!(!decisions.is_empty(), "a batch decides on something");
                    batches.push(
                        decisions
                            .iter()
                            .filter(|one| matches!(one, Decision::Copy(..) | Decision::Program(..)))
                            .count(),
                    );
                }
            }
        }
    }

    fn free(&self) -> u32 {
        self.free_erase_units()
    }

    fn least_and_most_erased(&self) -> (u32, u32) {
        let spread = self.wear().erase_count;
        (spread.min, spread.max)
    }
}

fn build(drive: &Drive) -> Ftl<Plain, Recorder> {
    Ftl::new(drive, Recorder::default(), 1).unwrap()
}

fn fill(drive: &mut Ftl<Plain, Recorder>) {
    (0..50 * ERASE_UNIT / 32).for_each(|block| drive.write(block * 32, 32));
}

fn rewrite(drive: &mut Ftl<Plain, Recorder>, units: u64, seed: u64) {
    let mut random = Random::new(seed);
    (0..units).for_each(|_| drive.write(random.below(50 * ERASE_UNIT), 1));
}

#[test]
fn a_drive_without_idle_work_does_nothing() {
    let mut drive = build(&drive(BackgroundOperations::default()));
    fill(&mut drive);
    rewrite(&mut drive, 20_000, 1);
    let before = *drive.ledger();
    assert_eq!(drive.idle(u64::MAX / 2), (vec![], u64::MAX));
    assert_eq!(*drive.ledger(), before);
}

#[test]
fn idle_cleaning_keeps_a_pool_that_the_host_can_write_to_before_gc_runs() {
    let pool_erase_units = 4;
    let background = BackgroundOperations {
        erased_pool_bytes: pool_erase_units * ERASE_UNIT * UNIT,
        ..BackgroundOperations::default()
    };
    let mut drive = build(&drive(background));
    fill(&mut drive);
    rewrite(&mut drive, 40_000, 1);
    let (batches, next_ns) = drive.idle(1);
    assert!(!batches.is_empty());
    assert_eq!(next_ns, u64::MAX);
    // A batch is one program of each die: 8 planes of 4 units. An erase may follow the last one.
    assert!(batches.iter().all(|&programs| programs <= 32), "{batches:?}");
    // The reserve of 2 and the one in hand are not the host's.
    assert_eq!(u64::from(drive.free()), 3 + pool_erase_units);
    // Garbage collection begins when the host opens the last erase unit of the pool, not before.
    let before = *drive.ledger();
    rewrite(&mut drive, (pool_erase_units - 1) * ERASE_UNIT, 2);
    assert_eq!(drive.ledger().programmed_units.gc, before.programmed_units.gc);
    rewrite(&mut drive, 2 * ERASE_UNIT, 3);
    assert!(drive.ledger().programmed_units.gc > before.programmed_units.gc);
}

#[test]
fn idle_gc_ends_when_nothing_is_stale_and_waits_as_long_as_it_should() {
    let background = BackgroundOperations {
        erased_pool_bytes: 40 * ERASE_UNIT * UNIT,
        idle_after_ms: 2.0,
        ..BackgroundOperations::default()
    };
    let mut drive = build(&drive(background));
    fill(&mut drive);
    rewrite(&mut drive, 3_000, 1);
    assert_eq!(drive.idle(1_999_999), (vec![], 2_000_000));
    let (batches, _) = drive.idle(2_000_000);
    assert!(!batches.is_empty());
    // All 50 erase units' worth of data is packed, but for the two open ones.
    assert!(drive.free() >= 64 - 50 - 3, "{} are free", drive.free());
    assert_eq!(drive.idle(3_000_000), (vec![], u64::MAX));
}

#[test]
fn data_is_moved_when_it_has_aged_and_not_before() {
    let mut drive = build(&drive(BackgroundOperations { retention_days: 30.0, ..BackgroundOperations::default() }));
    fill(&mut drive);
    assert_eq!(drive.idle(29 * DAY_NS), (vec![], 30 * DAY_NS));
    let (batches, next_ns) = drive.idle(30 * DAY_NS);
    assert_eq!(next_ns, 60 * DAY_NS);
    let ledger = drive.ledger();
    // All that was closed, 49 or 50 erase units, once; counted as wear levelling.
    assert!((49..=50).contains(&(ledger.programmed_units.wear_leveling / ERASE_UNIT)), "{ledger:?}");
    assert_eq!(batches.iter().sum::<usize>() as u64, ledger.programmed_units.wear_leveling);
    assert_eq!(drive.idle(59 * DAY_NS), (vec![], 60 * DAY_NS));
}

#[test]
fn what_is_read_too_often_is_moved() {
    let mut drive = build(&drive(BackgroundOperations { read_disturb_reads: 1000, ..BackgroundOperations::default() }));
    fill(&mut drive);
    // 8 units are two pages of two planes of a die: each block is read once.
    (0..999).for_each(|_| drive.read(0, 8));
    assert_eq!(drive.idle(1).0, Vec::<usize>::new());
    drive.read(3, 2);
    let (batches, _) = drive.idle(2);
    assert_eq!(batches.iter().sum::<usize>() as u64, ERASE_UNIT);
    assert_eq!(drive.ledger().programmed_units.wear_leveling, ERASE_UNIT);
    // It starts again where it lies now.
    (0..999).for_each(|_| drive.read(0, 8));
    assert_eq!(drive.idle(3).0, Vec::<usize>::new());
}

#[test]
fn what_is_read_from_memory_disturbs_nothing_and_is_not_counted() {
    let mut drive = build(&drive(BackgroundOperations { read_disturb_reads: 1000, ..BackgroundOperations::default() }));
    fill(&mut drive);
    (0..999).for_each(|_| drive.read(0, 8));
    let read_units = drive.ledger().read_units;
    // Each of them would be the thousandth.
    (0..10).for_each(|_| drive.read_from_memory(0, 8));
    assert_eq!(drive.ledger().read_units, read_units);
    assert_eq!(drive.idle(1).0, Vec::<usize>::new());
    drive.read(0, 1);
    assert!(!drive.idle(2).0.is_empty());
}

/// Page reads that reading all addresses in order takes, in requests of 128 KiB.
fn pages_read_in_order(drive: &mut Ftl<Plain, Recorder>) -> u64 {
    // A read of one unit at a time would read each page as often as it has units.
    let before = drive.ledger().read_units.host;
    (0..50 * ERASE_UNIT / 32).for_each(|block| drive.read(block * 32, 32));
    drive.ledger().read_units.host - before
}

#[test]
fn idle_time_puts_what_was_rewritten_in_order_and_then_rests() {
    let mut drive = build(&drive(BackgroundOperations { defragment: true, ..BackgroundOperations::default() }));
    fill(&mut drive);
    assert_eq!(drive.idle(1).0, Vec::<usize>::new(), "what was written in order is left alone");
    let mut random = Random::new(4);
    (0..400).for_each(|_| drive.write(random.below(8 * ERASE_UNIT), 1));
    let (batches, _) = drive.idle(2);
    let moved: usize = batches.iter().sum();
    // 4096 units are 64 segments, nearly all of which were hit.
    assert!((3000..=4096 + 1024).contains(&moved), "{moved}");
    assert_eq!(drive.idle(3).0, Vec::<usize>::new(), "what is in order is left alone");
    assert_eq!(pages_read_in_order(&mut drive), 50 * ERASE_UNIT);
    // The same in the steady state of random writes, where garbage collection mixes everything.
    rewrite(&mut drive, 60_000, 5);
    assert!(!drive.idle(4).0.is_empty());
    assert_eq!(drive.idle(5).0, Vec::<usize>::new());
}

#[test]
fn wear_is_levelled_in_idle_time_only_where_the_drive_file_says_so() {
    let mut levelling = drive(BackgroundOperations { wear_leveling: true, ..BackgroundOperations::default() });
    levelling.ftl.wear_leveling =
        PolicyChoice { name: "static".into(), parameters: [("threshold".to_owned(), 5.into())].into_iter().collect() };
    let mut drive = build(&levelling);
    fill(&mut drive);
    let mut random = Random::new(6);
    // The first 40 erase units' worth lies still.
    (0..150_000).for_each(|_| drive.write(40 * ERASE_UNIT + random.below(10 * ERASE_UNIT), 1));
    assert_eq!(drive.ledger().programmed_units.wear_leveling, 0);
    let (min, max) = drive.least_and_most_erased();
    assert!(max - min > 10, "{min} to {max}");
    drive.idle(1);
    let (min_after, max_after) = drive.least_and_most_erased();
    assert!(drive.ledger().programmed_units.wear_leveling > 0);
    assert!(max_after - min_after <= 7, "{min_after} to {max_after}");
}
