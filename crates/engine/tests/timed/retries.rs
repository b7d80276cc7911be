//! Reads that are repeated: how many retries a page needs after so many reads, so long a time, so many erases, and that
//! an erase makes it fast again; every end by hand.

use super::by_hand::UNIT_NS;
use crate::host::drives::*;
use serde_json::{Value, json};
use ssdlab_engine::ledger::Cause;
use ssdlab_engine::nand::Geometry;
use ssdlab_engine::specification::Drive;
use ssdlab_engine::specification::drive::{EraseUnitKind, Nand, ReadRetries, SlcCache};
use ssdlab_engine::timing::decision::Decision::{self, Copy, Erase, Open, Program, Read};
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::units::{EraseUnit, Ppn};

const READ_NS: u64 = 60_000 + UNIT_NS;
/// What a read with 0 to 3 retries takes.
const TIMES_NS: [u64; 4] = [READ_NS, READ_NS + 100_000, READ_NS + 300_000, READ_NS + 1_300_000];
const SECOND_NS: u64 = 1_000_000_000;
const HOUR_NS: u64 = 3600 * SECOND_NS;

/// Pages that are nearly alike: their limits are from 0.93 to 1.02 of the mean.
fn alike() -> ReadRetries {
    ReadRetries {
        retry_us: vec![100.0, 200.0, 1000.0],
        severities: vec![1.0, 2.0, 3.0],
        spread: 200.0,
        reads_exponent: 1.0,
        days_exponent: 1.0,
        cycles_exponent: 1.0,
        ..ReadRetries::default()
    }
}

/// A die whose operations follow each other with a second in between.
struct Slow {
    flash: Flash,
    now_ns: u64,
}

impl Slow {
    fn new(said: ReadRetries) -> Self {
        let nand = Drive::textbook().nand;
        let geometry = Geometry::new(&nand, 4096, EraseUnitKind::Block).unwrap();
        let flash = Flash::new(&nand, 4096, EraseUnitKind::Block).with_retries(&said, &geometry);
        Self { flash, now_ns: 0 }
    }

    /// How long it takes until the host has heard of its last unit, and a second more.
    fn take(&mut self, decisions: &[Decision]) -> u64 {
        let begins_ns = self.now_ns;
        self.flash.carry_out(begins_ns, decisions, 0);
        while self.flash.next_event_ns().is_some() {
            self.flash.run(u64::MAX, u64::MAX);
            if !self.flash.finished().is_empty() {
                self.now_ns = self.flash.now_ns();
                self.flash.finished().clear();
            }
        }
        let took_ns = self.now_ns - begins_ns;
        self.now_ns += SECOND_NS;
        took_ns
    }

    fn read(&mut self, page: u32) -> u64 {
        self.take(&[Read(Ppn(page), Cause::Host)])
    }

    fn retries(&mut self, page: u32) -> usize {
        let took_ns = self.read(page);
        TIMES_NS.iter().position(|&time_ns| time_ns == took_ns).expect("the time of so many retries")
    }
}

#[test]
fn reads_of_a_block_make_all_of_its_pages_slow_and_no_others() {
    let mut die = Slow::new(ReadRetries { reads: 100.0, ..alike() });
    for read in 0..350 {
        // The pages of the first block in turn.
        let retries = die.retries(read % 16);
        match read {
            0..90 => assert_eq!(retries, 0, "read {read}"),
            103..180 => assert_eq!(retries, 1, "read {read}"),
            205..270 => assert_eq!(retries, 2, "read {read}"),
            308.. => assert_eq!(retries, 3, "read {read}"),
            _ => {}
        }
    }
    assert_eq!(die.retries(16), 0, "the second block was never read");
    die.take(&[Erase(EraseUnit(0)), Program(Ppn(0), Cause::Host)]);
    assert_eq!(die.retries(0), 0, "what has been erased is fast");
}

#[test]
fn reads_of_garbage_collection_disturb_and_are_repeated_too() {
    let mut die = Slow::new(ReadRetries { reads: 100.0, ..alike() });
    // Another page each time: what is in the register is not read again.
    for copy in 0..103 {
        die.take(&[Copy(Ppn(copy % 2), Ppn(32 + copy % 16), Cause::Gc), Read(Ppn(500), Cause::Host)]);
    }
    assert_eq!(die.retries(0), 1);
    // A read of the host waits for the page that is copied, which is read twice.
    let copy = [Copy(Ppn(1), Ppn(300), Cause::Gc)];
    die.flash.carry_out(die.now_ns, &copy, 0);
    assert_eq!(die.read(200), TIMES_NS[1] + READ_NS);
}

#[test]
fn age_counts_from_the_first_program_after_an_erase() {
    let mut die = Slow::new(ReadRetries { days: 10.0 / 24.0, ..alike() });
    die.take(&[Program(Ppn(0), Cause::Host)]);
    die.now_ns = 9 * HOUR_NS;
    assert_eq!(die.retries(0), 0);
    // Younger pages of a block are as old as its first.
    die.take(&[Program(Ppn(1), Cause::Host)]);
    for (hours, retries) in [(11, 1), (22, 2), (33, 3)] {
        die.now_ns = hours * HOUR_NS;
        assert_eq!([die.retries(0), die.retries(1), die.retries(16)], [retries, retries, 0], "{hours} hours");
    }
    die.take(&[Erase(EraseUnit(0)), Program(Ppn(0), Cause::Host)]);
    assert_eq!(die.retries(0), 0);
    die.now_ns += 11 * HOUR_NS;
    assert_eq!(die.retries(0), 1);
}

#[test]
fn erases_count_with_those_before_the_run_and_remain() {
    let mut die = Slow::new(ReadRetries { cycles: 100.0, cycles_before: 90, ..alike() });
    assert_eq!(die.retries(0), 0);
    for _ in 0..13 {
        die.take(&[Erase(EraseUnit(0)), Program(Ppn(0), Cause::Host)]);
    }
    assert_eq!([die.retries(0), die.retries(16)], [1, 0]);
}

#[test]
fn blocks_in_slc_mode_need_no_retries() {
    let nand = Drive::textbook().nand;
    let geometry = Geometry::new(&nand, 4096, EraseUnitKind::Block).unwrap();
    let cache = SlcCache { read_us: 60.0, static_bytes: 4096, ..SlcCache::default() };
    let said = ReadRetries { reads: 1.0, ..alike() };
    let flash = Flash::new(&nand, 4096, EraseUnitKind::Block).with_slc_cache(&nand, &cache);
    let mut die = Slow { flash: flash.with_retries(&said, &geometry), now_ns: 0 };
    die.flash.carry_out(0, &[Open(EraseUnit(0), true)], 0);
    assert_eq!((0..20).map(|_| die.retries(0)).max(), Some(0));
    assert_eq!((0..20).map(|_| die.retries(16)).max(), Some(3));
}

#[test]
fn the_blocks_of_a_superblock_count_their_own_reads() {
    let nand = Nand { channels: 2, planes_per_die: 2, ..Drive::textbook().nand };
    let geometry = Geometry::new(&nand, 4096, EraseUnitKind::Superblock).unwrap();
    let said = ReadRetries { reads: 100.0, ..alike() };
    let flash = Flash::new(&nand, 4096, EraseUnitKind::Superblock).with_retries(&said, &geometry);
    let mut die = Slow { flash, now_ns: 0 };
    // Places 0, 4, 8 and so on are pages of the first of four blocks.
    for read in 0..110 {
        die.retries(read % 16 * 4);
    }
    assert_eq!([0, 4, 1, 2, 3, 64].map(|page| die.retries(page)), [1, 1, 0, 0, 0, 0]);
}

/// A drive of four dies that is filled, read as a whole `passes` times at an even rate, and then measured.
fn measured(changes: &[(&str, Value)], passes: u64) -> f64 {
    let mut drive = drive_of(json!({
        "cell": "tlc", "channels": 2, "dies_per_channel": 2, "planes_per_die": 1, "blocks_per_plane": 24,
        "pages_per_block": 16, "page_bytes": UNIT, "read_us": 60.0, "program_us": 700.0, "erase_us": 5000.0,
        "channel_mb_s": 800.0, "endurance_cycles": 3000,
    }));
    drive["read_retries"] = json!({
        "retry_us": [100.0, 200.0, 1000.0], "severities": [1.0, 2.0, 3.0], "spread": 2.0, "reads": 320.0,
        "reads_exponent": 1.0,
    });
    for (table, values) in changes {
        drive[table] = values.clone();
    }
    let units = user_bytes(&drive) / UNIT;
    let pause = json!({ "think_time_ns": 50_000_000, "think_time_blocks": 64, "iodepth": 1 });
    let mut reads = vec![fill(&drive)];
    for (stage, count) in [(1, passes * units), (2, units)] {
        let more = json!({ "name": "reads", "stage": stage, "sequential": true });
        let mut reading = job(&drive, "read", count, more);
        pause.as_object().unwrap().iter().for_each(|(key, value)| reading[key] = value.clone());
        reads.push(reading);
    }
    let last = run(&drive, reads).jobs.pop().unwrap();
    last.timing.as_ref().unwrap().read.mean_ns.unwrap()
}

#[test]
fn refresh_makes_reads_fast_again() {
    let off = ("read_retries", json!({}));
    let refresh = ("background", json!({ "read_disturb_reads": 160 }));
    // 40 passes over 16 pages are 640 reads of a block: twice the reads that make the severity 1.
    let [never, refreshed] = [&[][..], &[refresh]].map(|changes| measured(changes, 40));
    let fast = measured(&[off], 40);
    // At a severity of 2: a retry in 1 - exp(-4) of reads, two in 1 - exp(-1), three in 1 - exp(-4 / 9).
    let expected = 100e3 * (1.0 - (-4f64).exp()) + 200e3 * (1.0 - (-1f64).exp()) + 1e6 * (1.0 - (-4.0f64 / 9.0).exp());
    assert!(((never - fast) / expected - 1.0).abs() < 0.06, "{never} - {fast}, not {expected}");
    // Refreshed after 160 reads, blocks have at most a severity of 0.5.
    assert!((refreshed - fast) < 0.1 * expected, "{refreshed} - {fast}");
}

#[test]
fn what_cannot_be_is_refused_by_its_key() {
    let refused = |change: fn(&mut ReadRetries), key: &str| {
        let mut said = ReadRetries { reads: 100.0, ..alike() };
        change(&mut said);
        assert_eq!(said.check().expect_err(key).key, format!("read_retries.{key}"));
    };
    ReadRetries::default().check().unwrap();
    ReadRetries { reads: 100.0, ..alike() }.check().unwrap();
    refused(|said| said.retry_us = vec![1.0; 4], "retry_us");
    refused(|said| said.retry_us[0] = -1.0, "retry_us");
    refused(|said| said.severities = vec![1.0], "severities");
    refused(|said| said.severities = vec![1.0, 3.0, 2.0], "severities");
    refused(|said| said.severities[0] = 0.0, "severities");
    refused(|said| said.spread = 0.0, "spread");
    refused(|said| said.days_exponent = 2000.0, "days_exponent");
    refused(|said| said.cycles = -1.0, "cycles");
    refused(|said| said.reads = 0.0, "reads");
}
