//! Does the SLC cache count correctly with a clock, and is it as fast as its numbers say, until it is full?

use proptest::prelude::*;
use ssdlab_engine::ftl::Ftl;
use ssdlab_engine::ledger::{Cause, Ledger};
use ssdlab_engine::random::Random;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::simulation::build;
use ssdlab_engine::specification::drive::*;
use ssdlab_engine::specification::drive::{BackgroundOperations, SlcCache, WhenFull};
use ssdlab_engine::timing::breakdown::Parts;
use ssdlab_engine::timing::decision::Decision;
use ssdlab_engine::timing::drive::Idle;
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::timing::front::Completion;
use ssdlab_engine::timing::host::{Client, Host, Plan};
use ssdlab_engine::timing::recorder::Recorder;
use ssdlab_engine::units::EraseUnit;
use std::collections::BTreeMap;
use std::ops::Range;

const UNIT: u64 = 4096;
const MIB: u64 = 1 << 20;

/// Superblocks of 4 dies x 48 pages x 4 units: 3 MiB of TLC, 1 MiB in SLC mode.
fn drive(slc_cache: SlcCache) -> Drive {
    let textbook = Drive::textbook();
    Drive {
        name: "cached".into(),
        nand: Nand { channels: 4, pages_per_block: 48, page_bytes: 16384, ..textbook.nand },
        ftl: ssdlab_engine::specification::drive::Ftl {
            user_bytes: 40 * 3 * MIB,
            erase_unit: EraseUnitKind::Superblock,
            placement: PolicyChoice::named("host-gc-split"),
            reserve_erase_units: 2,
            ..textbook.ftl
        },
        background: BackgroundOperations { idle_after_ms: 10.0, ..Default::default() },
        slc_cache,
        ..textbook
    }
}

fn static_cache(when_full: WhenFull) -> SlcCache {
    SlcCache { static_bytes: 8 * MIB, when_full, ..TIMES }
}

const TIMES: SlcCache = SlcCache {
    static_bytes: 0,
    dynamic_bytes_max: 0,
    dynamic_free_share: 0.0,
    when_full: WhenFull::Direct,
    read_us: 25.0,
    program_us: 200.0,
    erase_us: 3000.0,
};

/// Writes in sequence, 128 KiB at a time; notes when how much was done.
struct Writer {
    at: u64,
    end: u64,
    done: Vec<(u64, u64)>,
    done_bytes: u64,
}

impl Client for Writer {
    fn draw(&mut self, _job: u32, out: &mut Vec<Request>, count_max: usize) {
        while out.len() < count_max && self.at < self.end {
            out.push(Request::new(Operation::Write, self.at, 131_072));
            self.at += 131_072;
        }
    }

    fn is_over(&self, _job: u32, _now_ns: u64) -> bool {
        false
    }

    fn completed(&mut self, completion: Completion, _parts: &Parts) {
        self.done_bytes += u64::from(completion.length_bytes);
        self.done.push((self.done_bytes, completion.completed_ns));
    }
}

/// Bytes a microsecond between two amounts written.
fn speed(done: &[(u64, u64)], from: u64, to: u64) -> f64 {
    let at = |bytes: u64| *done.iter().find(|&&(done_bytes, _)| done_bytes >= bytes).expect("so much was written");
    let ((first, start_ns), (last, end_ns)) = (at(from), at(to));
    (last - first) as f64 * 1e3 / (end_ns - start_ns) as f64
}

/// Several runs of sequential writes over the same range, each after so much idle time.
struct Runs {
    drive: Drive,
    bytes: u64,
    pauses_ns: Vec<u64>,
}

impl Runs {
    fn run(self) -> (Vec<Vec<(u64, u64)>>, Ledger) {
        let mut ftl = Ftl::new(&self.drive, Recorder::default(), 1).unwrap();
        let flash = Flash::new(&self.drive.nand, UNIT as u32, self.drive.ftl.erase_unit)
            .with_slc_cache(&self.drive.nand, &self.drive.slc_cache);
        let mut host = Host::new(flash, 5_000, 0);
        let mut runs = Vec::new();
        for start_delay_ns in self.pauses_ns {
            let mut writer = Writer { at: 0, end: self.bytes, done: Vec::new(), done_bytes: 0 };
            let plan = Plan { depth: 8, start_delay_ns, ..Plan::default() };
            host.start_all(0, vec![plan], &mut ftl, &mut writer).unwrap();
            while host.advance(1000, &mut ftl, &mut writer).unwrap() {}
            host.end_stage();
            ftl.check_accounts().unwrap();
            ftl.check_map().unwrap();
            runs.push(writer.done);
        }
        (runs, *ftl.ledger())
    }
}

fn runs(drive: Drive, bytes: u64, pauses_ns: &[u64]) -> (Vec<Vec<(u64, u64)>>, Ledger) {
    Runs { drive, bytes, pauses_ns: pauses_ns.to_vec() }.run()
}

fn near(actual: f64, expected: f64, allowed: f64) {
    assert!((actual / expected - 1.0).abs() <= allowed, "{actual} instead of {expected}");
}

/// A row of four pages takes each die a transfer and a program.
const ROW_BYTES: f64 = 65_536.0;
const TRANSFER_US: f64 = 16_384.0 / 800.0;
const IN_CACHE: f64 = ROW_BYTES / (TRANSFER_US + 200.0);
const PAST_CACHE: f64 = ROW_BYTES / (TRANSFER_US + 700.0);
/// In addition to the host's page, a page is read from the cache and programmed outside, and a block erased for each
/// 16 of them.
const FOLDING: f64 = ROW_BYTES / (2.0 * TRANSFER_US + 200.0 + TRANSFER_US + 25.0 + 700.0 + 3000.0 / 16.0);

/// Where the speed falls: the first MiB that is slower than the mean of both speeds.
fn cliff(done: &[(u64, u64)], before: f64, after: f64) -> u64 {
    let slow = (1..80).find(|&mib| speed(done, mib * MIB, (mib + 1) * MIB) < f64::midpoint(before, after));
    slow.expect("there is a cliff")
}

#[test]
fn a_full_static_cache_is_passed_by_and_idle_time_makes_it_fast_again() {
    let (runs, ledger) = runs(drive(static_cache(WhenFull::Direct)), 24 * MIB, &[0, 2_000_000_000, 0]);
    for run in &runs[..2] {
        near(speed(run, MIB, 7 * MIB), IN_CACHE, 0.03);
        near(speed(run, 10 * MIB, 20 * MIB), PAST_CACHE, 0.03);
        // What is outstanding at the cliff blurs it by up to 1 MiB.
        assert!((7..=8).contains(&cliff(run, IN_CACHE, PAST_CACHE)), "{}", cliff(run, IN_CACHE, PAST_CACHE));
    }
    // Without a pause the cache has no room; but its data was overwritten, and what is dead is erased when it is met.
    assert!(speed(&runs[2], 2 * MIB, 4 * MIB) < IN_CACHE * 0.6);
    assert_eq!(ledger.programmed_units.slc_fold, 8 * MIB / UNIT, "the pause folded what the first run left");
    assert_eq!(ledger.programmed_units.gc, 0);
}

#[test]
fn a_cache_that_is_folded_to_go_on_is_slower_than_none() {
    let (runs, ledger) = runs(drive(static_cache(WhenFull::Fold)), 40 * MIB, &[0]);
    near(speed(&runs[0], MIB, 6 * MIB), IN_CACHE, 0.03);
    near(speed(&runs[0], 14 * MIB, 36 * MIB), FOLDING, 0.05);
    assert!((6..=8).contains(&cliff(&runs[0], IN_CACHE, FOLDING)));
    assert!(ledger.programmed_units.slc_fold >= 31 * MIB / UNIT, "{ledger:?}");
}

/// Three pages in one shot of 2 ms past the cache, one page at a time in it.
#[test]
fn a_cache_before_flash_that_is_programmed_in_one_shot_is_as_fast_as_its_numbers() {
    let one_shot = |when_full| {
        let drive = drive(static_cache(when_full));
        Drive { nand: Nand { pages_per_program: 3, program_us: 2000.0.into(), ..drive.nand }, ..drive }
    };
    let rows_us = 3.0 * TRANSFER_US + 2000.0;
    let past_cache = 3.0 * ROW_BYTES / rows_us;
    let (past, ledger) = runs(one_shot(WhenFull::Direct), 24 * MIB, &[0, 2_000_000_000]);
    for run in &past {
        near(speed(run, MIB, 7 * MIB), IN_CACHE, 0.03);
        near(speed(run, 10 * MIB, 20 * MIB), past_cache, 0.03);
        assert!((7..=8).contains(&cliff(run, IN_CACHE, past_cache)), "{}", cliff(run, IN_CACHE, past_cache));
    }
    assert_eq!(ledger.programmed_units.slc_fold, 8 * MIB / UNIT);
    // The first run ends with 4096 units past the cache, 341 groups of 12 and a third of one; the second with 2048 that
    // were folded and again 4096, 512 groups.
    assert_eq!((ledger.programmed_units.gc, ledger.programmed_units.padding), (0, 8));
    // For three of the host's pages three are read from the cache and programmed outside at once.
    let folding = 3.0 * ROW_BYTES / (3.0 * (2.0 * TRANSFER_US + 200.0 + 25.0 + 3000.0 / 16.0) + rows_us);
    let (folded, _) = runs(one_shot(WhenFull::Fold), 40 * MIB, &[0]);
    near(speed(&folded[0], MIB, 6 * MIB), IN_CACHE, 0.03);
    near(speed(&folded[0], 14 * MIB, 36 * MIB), folding, 0.05);
    assert!((6..=8).contains(&cliff(&folded[0], IN_CACHE, folding)));
}

#[test]
fn a_dynamic_cache_ends_where_it_may_or_where_nothing_is_free() {
    let dynamic = |bytes: u64, share: f64| SlcCache { dynamic_bytes_max: bytes, dynamic_free_share: share, ..TIMES };
    let (largest, _) = runs(drive(dynamic(12 * MIB, 0.0)), 40 * MIB, &[0]);
    assert!((11..=12).contains(&cliff(&largest[0], IN_CACHE, PAST_CACHE)));
    // A tenth of the 120 MiB that are empty, less a tenth of what is written meanwhile: 10.9 MiB, ended at 10 or 11.
    let (share, _) = runs(drive(dynamic(100 * MIB, 0.1)), 40 * MIB, &[0]);
    assert!((10..=11).contains(&cliff(&share[0], IN_CACHE, PAST_CACHE)));
    // 64 erase units of 3 MiB hold 1 MiB each in SLC mode; four stay with the reserve and with others.
    let (all, _) = runs(drive(dynamic(100 * MIB, 0.0)), 80 * MIB, &[0]);
    assert!((59..=60).contains(&cliff(&all[0], IN_CACHE, PAST_CACHE)), "{}", cliff(&all[0], IN_CACHE, PAST_CACHE));
}

#[test]
fn without_a_cache_nothing_is_faster_at_first() {
    let (runs, _) = runs(drive(TIMES), 40 * MIB, &[0]);
    near(speed(&runs[0], MIB, 20 * MIB), PAST_CACHE, 0.03);
}

/// The program groups, from what was decided, each searched for again. Only what was decided last is in a place.
struct ObviousGroups {
    /// Units of an erase unit, and of a group with all bits a cell and in SLC mode.
    sizes: [u32; 3],
    is_slc: BTreeMap<u32, bool>,
    /// Causes by place, of erase units that were not erased since.
    programmed: BTreeMap<u32, Cause>,
}

impl ObviousGroups {
    fn new(drive: &Drive) -> Self {
        let Nand { channels, dies_per_channel, planes_per_die, pages_per_block, pages_per_program, page_bytes, .. } =
            drive.nand;
        let page = planes_per_die * page_bytes / UNIT as u32;
        let sizes = [channels * dies_per_channel * pages_per_block * page, pages_per_program * page, page];
        Self { sizes, is_slc: BTreeMap::new(), programmed: BTreeMap::new() }
    }

    fn note(&mut self, decision: Decision) {
        let [units, ..] = self.sizes;
        match decision {
            Decision::Open(erase_unit, is_slc) => drop(self.is_slc.insert(erase_unit.0, is_slc)),
            Decision::Erase(EraseUnit(number)) => self.programmed.retain(|ppn, _| ppn / units != number),
            Decision::Copy(_, ppn, cause) | Decision::Program(ppn, cause) => {
                assert_eq!(self.programmed.insert(ppn.0, cause), None);
            }
            Decision::Read(..) | Decision::ReadFromMemory(..) => {}
        }
    }

    /// Those that are not full and hold anything of the host's.
    fn waited_for(&self) -> Vec<Range<u32>> {
        let [units, all_bits, slc] = self.sizes;
        let group_of = |ppn: u32| {
            let size = if self.is_slc[&(ppn / units)] { slc } else { all_bits };
            ppn / size * size..(ppn / size + 1) * size
        };
        let of_host = self.programmed.iter().filter(|&(_, &cause)| cause == Cause::Host);
        let mut groups: Vec<_> = of_host.map(|(&ppn, _)| group_of(ppn)).collect();
        groups.dedup();
        groups.retain(|group| !group.clone().all(|ppn| self.programmed.contains_key(&ppn)));
        groups
    }
}

/// Overwritten at random, blocks of a static cache are erased most, and those of a dynamic one in turn with others; they
/// were counted as if that wore them like the rest.
#[test]
fn erases_in_slc_mode_are_counted_apart_and_wear_nothing() {
    let dynamic = SlcCache { dynamic_bytes_max: 8 * MIB, ..TIMES };
    for slc_cache in [static_cache(WhenFull::Fold), dynamic] {
        let faults = Faults { wear_out: true, ..Faults::default() };
        let mut drive = Drive { faults, ..drive(slc_cache) };
        drive.nand.endurance_cycles = 100;
        let mut ftl = build(&drive, 7).unwrap();
        let mut random = Random::new(3);
        let user_units = drive.ftl.user_bytes / UNIT;
        // Each of the eight erase units of the cache is erased some 150 times, more than the blocks endure.
        for _ in 0..10 * user_units {
            ftl.execute(&[Request::new(Operation::Write, random.below(user_units) * UNIT, UNIT as u32)]).unwrap();
        }
        let wear = ftl.wear();
        let slc_mode = wear.slc_mode.expect("the cache was used");
        let erases = |mean: f64, blocks: u32| (mean * f64::from(blocks)).round() as u64;
        let blocks: u32 = wear.histogram.iter().map(|bin| bin.blocks).sum();
        // A superblock has a block on each of four dies.
        let counted = erases(wear.erase_count.mean, blocks) + erases(slc_mode.erase_count.mean, slc_mode.blocks);
        assert_eq!(counted, 4 * ftl.ledger().erased_erase_units);
        assert_eq!(wear.bad_blocks_grown, 0);
        if drive.slc_cache.static_bytes > 0 {
            assert_eq!((slc_mode.blocks, blocks), (4 * 8, 4 * (64 - 8)));
            assert!(slc_mode.erase_count.min > drive.nand.endurance_cycles);
            assert!(wear.erase_count.max < drive.nand.endurance_cycles);
        }
    }
}

/// Random requests and idle time in turn on a drive with a clock; the counters are checked after each, and which
/// program groups the flash takes for not full.
struct Mix {
    drive: Drive,
    seed: u64,
    steps: u32,
}

impl Mix {
    fn run(self) -> Ledger {
        let mut ftl = Ftl::new(&self.drive, Recorder::default(), self.seed).unwrap();
        let mut flash = Flash::new(&self.drive.nand, UNIT as u32, self.drive.ftl.erase_unit)
            .with_slc_cache(&self.drive.nand, &self.drive.slc_cache)
            .with_power_loss_protection(self.seed.is_multiple_of(2));
        let mut groups = ObviousGroups::new(&self.drive);
        let mut random = Random::new(self.seed);
        let user_units = self.drive.ftl.user_bytes / UNIT;
        for step in 0..self.steps {
            let units = 1 + random.below(12).min(user_units - 1);
            let offset_bytes = random.below(user_units - units + 1) * UNIT;
            let length_bytes = (units * UNIT) as u32;
            let mut run = |operation| ftl.execute_one(&Request::new(operation, offset_bytes, length_bytes)).unwrap();
            match random.below(21) {
                20 => ftl.pad(&groups.waited_for()).unwrap(),
                0 => run(Operation::Trim),
                1 => run(Operation::Read),
                2 => {
                    for _ in 0..random.below(20) {
                        if ftl.run_background(u64::from(step), 0).unwrap() != Idle::Decided {
                            break;
                        }
                    }
                }
                _ => run(Operation::Write),
            }
            let decisions = std::mem::take(&mut ftl.clock_mut().decisions);
            decisions.iter().for_each(|&decision| groups.note(decision));
            flash.carry_out(flash.now_ns(), &decisions, 0);
            while flash.run(u64::MAX, 1000) > 0 {
                flash.finished().clear();
            }
            let mut waited_for = flash.groups().waited_for();
            waited_for.sort_unstable_by_key(|group| group.start);
            assert_eq!(waited_for, groups.waited_for(), "after step {step}");
            ftl.check_accounts().unwrap_or_else(|broken| panic!("after step {step}: {broken}"));
            ftl.check_map().unwrap_or_else(|broken| panic!("after step {step}: {broken}"));
        }
        *ftl.ledger()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_counters_agree_with_a_clock(
        seed in any::<u64>(),
        own in 0u64..3,
        dynamic in 0u64..6,
        free_share in prop_oneof![Just(0.0), Just(0.3)],
        folds in any::<bool>(),
        spare_erase_units in 0u64..4,
        erased_pool in 0u64..3,
        defragment in any::<bool>(),
        stripe in prop_oneof![Just(0u32), Just(5u32)],
        pages_per_program in prop_oneof![Just(1u32), Just(3u32)],
    ) {
        let mut drive = drive(SlcCache {
            // In SLC mode an erase unit of 4 dies x 6 pages x 4 units holds 2 pages of each: 32 units.
            static_bytes: own * 25 * UNIT,
            dynamic_bytes_max: (dynamic + u64::from(own == 0)) * 25 * UNIT,
            dynamic_free_share: free_share,
            when_full: if folds { WhenFull::Fold } else { WhenFull::Direct },
            ..TIMES
        });
        drive.nand.pages_per_block = 6;
        drive.nand.pages_per_program = pages_per_program;
        drive.nand.blocks_per_plane = 20;
        drive.parity.units_per_stripe = stripe;
        drive.background = BackgroundOperations { erased_pool_bytes: erased_pool * 96 * UNIT, defragment, ..Default::default() };
        let data_units = if stripe == 0 { 96 } else { 76 };
        let held_back = 2 + 4 + own;
        drive.ftl.user_bytes = (20 - held_back - spare_erase_units) * data_units * UNIT;
        let ledger = Mix { drive, seed, steps: 1500 }.run();
        prop_assert!(ledger.programmed_units.slc_fold > 0);
    }
}
