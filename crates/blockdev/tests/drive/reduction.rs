//! Drives that reduce data, with real contents: what lz4 and hashes make of them is what a simulated run of the same
//! sizes comes to, and none of it is lost.

use crate::tiny::{Model, Reduction, Tiny, UNIT, contents};
use ssdlab_blockdev::device::{Device, Durability};
use ssdlab_blockdev::drive::{Contents, Options, SimulatedDevice};
use ssdlab_engine::ledger::Ledger;
use ssdlab_engine::random::Random;
use ssdlab_engine::request::{Content, Operation, Request};
use ssdlab_engine::simulation::build_timed;

/// With its memory safe nothing is programmed before it must be, as in a run without losses of power.
fn device(tiny: &Tiny) -> SimulatedDevice {
    let options = Options { power_loss_protection: Some(true), ..Options::default() };
    SimulatedDevice::new(&tiny.drive(), &options).map_err(|error| format!("{error:?}")).unwrap()
}

/// So many bytes that lz4 can do nothing with, and zeroes.
fn unit(random: &mut Random, random_bytes: u64) -> Vec<u8> {
    let mut data = contents(random, UNIT);
    data[random_bytes as usize..].fill(0);
    data
}

fn offsets(tiny: &Tiny) -> impl Iterator<Item = u64> {
    let units = tiny.user_units;
    let mut random = Random::new(3);
    (0..units).chain((0..12_000).map(move |_| random.below(units))).map(|unit| unit * UNIT)
}

/// What the engine counts for the same writes of data of which compression takes so much away.
fn simulated(tiny: &Tiny, compress_percent: u8) -> Ledger {
    let mut drive = build_timed(&tiny.drive(), 0).unwrap();
    for offset_bytes in offsets(tiny) {
        let content = Content { compress_percent, ..Content::default() };
        let request = Request { content, ..Request::new(Operation::Write, offset_bytes, UNIT as u32) };
        drive.decide(0, &request).unwrap();
    }
    *ssdlab_engine::simulation::SimulatedDrive::ledger(&*drive)
}

fn waf(ledger: &Ledger, slots_per_unit: u64) -> f64 {
    (ledger.programmed_units.total() * UNIT / slots_per_unit) as f64 / ledger.host_written_bytes as f64
}

/// Of 512 bytes lz4 leaves 8 places of 64, 5 and 1: as many as the engine is configured to take for 0, 40 and 100 %.
#[test]
fn real_data_costs_what_a_run_says_of_data_of_its_size() {
    let mut wafs = Vec::new();
    for (random_bytes, compress_percent) in [(UNIT, 0), (300, 40), (0, 100)] {
        let tiny = Tiny::reducing(Reduction::Compresses);
        let device = device(&tiny);
        let mut random = Random::new(1);
        for offset_bytes in offsets(&tiny) {
            device.write(offset_bytes, &unit(&mut random, random_bytes), Durability::Cached).unwrap();
        }
        let ledger = device.outcome().ledger;
        assert_eq!(ledger, simulated(&tiny, compress_percent), "{random_bytes} random bytes");
        wafs.push(waf(&ledger, 8));
    }
    let plain = Tiny { reduction: Reduction::None, ..Tiny::reducing(Reduction::Compresses) };
    let without = waf(&simulated(&plain, 0), 1);
    assert!((wafs[0] / without - 1.0).abs() < 0.02 && wafs[0] > 1.3, "{wafs:?}, without {without}");
    assert!(wafs[1] < 1.0 && wafs[2] < 0.2, "{wafs:?}");
}

/// No spare area but what a drive cannot do without.
#[test]
fn what_is_read_is_what_was_written_with_little_to_spare() {
    for (kind, random_bytes) in [("compressible", 1..200), ("incompressible", UNIT..UNIT + 1), ("mixed", 1..UNIT + 1)] {
        let tiny = Tiny { user_units: 384, ..Tiny::reducing(Reduction::Compresses) };
        let device = device(&tiny);
        let (mut random, mut model) = (Random::new(1), Model::default());
        for offset_bytes in offsets(&tiny) {
            let bytes = random_bytes.start + random.below(random_bytes.end - random_bytes.start);
            let data = unit(&mut random, bytes);
            device.write(offset_bytes, &data, Durability::Cached).unwrap();
            model.write(offset_bytes, &data);
        }
        let mut read = vec![0; (tiny.user_units * UNIT) as usize];
        device.read(0, &mut read).unwrap();
        assert_eq!(read, model.read(0, tiny.user_units * UNIT), "{kind}");
        let mut core = device.core();
        assert!(core.ftl().ledger().erased_erase_units > 50, "{kind}: garbage collection ran");
        core.ftl().check_accounts().unwrap();
        core.ftl().check_map().unwrap();
    }
}

/// A hundred addresses with the data of one, which is then overwritten, moved by garbage collection and left without
/// its power.
#[test]
fn repeated_data_is_stored_once_for_as_long_as_anybody_has_it() {
    let tiny = Tiny::reducing(Reduction::Both);
    let device = device(&tiny);
    let mut random = Random::new(5);
    let repeated = contents(&mut random, UNIT);
    device.write(0, &repeated.repeat(100), Durability::Cached).unwrap();
    assert_eq!(device.core().ftl().ledger().deduplicated_units, 99);
    let programmed = device.core().ftl().ledger().programmed_units;
    assert_eq!((programmed.host, programmed.gc), (8, 0));
    device.write(0, &contents(&mut random, UNIT), Durability::Cached).unwrap();
    for _ in 0..5000 {
        let other = 100 + random.below(tiny.user_units - 100);
        device.write(other * UNIT, &contents(&mut random, UNIT), Durability::Cached).unwrap();
    }
    device.trim(UNIT, UNIT).unwrap();
    device.core().cut_power();
    let mut read = vec![0; 98 * UNIT as usize];
    device.read(2 * UNIT, &mut read).unwrap();
    assert!(read == repeated.repeat(98));
    device.read(UNIT, &mut read[..UNIT as usize]).unwrap();
    assert_eq!(read[..UNIT as usize], [0; UNIT as usize]);
    let before = device.core().ftl().ledger().deduplicated_units;
    device.write(0, &repeated, Durability::Cached).unwrap();
    assert_eq!(device.core().ftl().ledger().deduplicated_units, before + 1, "it is known again");
    device.core().ftl().check_map().unwrap();
}

/// What was repeated since the last flush falls back to what it was, if what it repeats is lost with the power.
#[test]
fn a_repetition_of_what_is_lost_is_lost_too() {
    let tiny = Tiny { buffer_units: 0, ..Tiny::reducing(Reduction::Both) };
    let options = Options { power_loss_protection: Some(false), ..Options::default() };
    let device = SimulatedDevice::new(&tiny.drive(), &options).map_err(|error| format!("{error:?}")).unwrap();
    let [old, new] = [7, 8].map(|seed| contents(&mut Random::new(seed), UNIT));
    device.write(9 * UNIT, &old, Durability::Durable).unwrap();
    device.write(0, &new, Durability::Cached).unwrap();
    device.write(9 * UNIT, &new, Durability::Cached).unwrap();
    device.core().cut_power();
    let mut read = vec![1; UNIT as usize];
    device.read(9 * UNIT, &mut read).unwrap();
    assert!(read == old, "neither lost nor wrong");
    // The number of the lost write is not given to another, which would then be taken for it.
    device.write(20 * UNIT, &contents(&mut Random::new(9), UNIT), Durability::Durable).unwrap();
    device.core().cut_power();
    device.read(9 * UNIT, &mut read).unwrap();
    assert!(read == old);
}

/// The file is opened again by another process, or after this one: everything is found, and so are repetitions.
#[test]
fn a_file_holds_the_drive() {
    let path = std::env::temp_dir().join(format!("ssdlab-reduction-{}", std::process::id()));
    let tiny = Tiny::reducing(Reduction::Both);
    let open = || {
        let options = Options { contents: Contents::File(path.clone()), ..Options::default() };
        SimulatedDevice::new(&tiny.drive(), &options).map_err(|error| format!("{error:?}")).unwrap()
    };
    let (mut random, mut model) = (Random::new(2), Model::default());
    let device = open();
    for offset_bytes in offsets(&tiny).take(3000) {
        let data = tiny.contents(&mut random, UNIT);
        device.write(offset_bytes, &data, Durability::Cached).unwrap();
        model.write(offset_bytes, &data);
    }
    device.core().close().unwrap();
    let before = *device.core().ftl().ledger();
    drop(device);
    let device = open();
    let mut read = vec![0; (tiny.user_units * UNIT) as usize];
    device.read(0, &mut read).unwrap();
    assert_eq!(read, model.read(0, tiny.user_units * UNIT));
    assert_eq!(device.core().ftl().ledger().programmed_units, before.programmed_units);
    device.core().ftl().check_accounts().unwrap();
    device.core().ftl().check_map().unwrap();
    drop(device);
    std::fs::remove_file(path).unwrap();
}
