//! Figures that can be computed on paper.

use super::{ON, UNIT, drive};
use ssdlab_engine::random::Random;
use ssdlab_engine::request::{Content, Operation, Request};
use ssdlab_engine::simulation::{SimulatedDrive, build};
use ssdlab_engine::specification::drive::{DataReduction, PolicyChoice};

fn write(unit: u64, compress_percent: u8, dedupe_percent: u8) -> Request {
    let content = Content { compress_percent, dedupe_percent, ..Content::default() };
    Request { content, ..Request::new(Operation::Write, unit * UNIT, UNIT as u32) }
}

fn programmed_bytes(drive: &dyn SimulatedDrive) -> u64 {
    drive.ledger().programmed_units.total() * u64::from(drive.capacity().counted_unit_bytes)
}

/// 1024 units of 4096 bytes that compress to one half program 2 MiB of data, and 1024 entries of 16 bytes of index:
/// 16 KiB, or four mapping units of index.
#[test]
fn half_compressible_data_halves_what_is_programmed_but_for_the_index() {
    let settings = DataReduction { index_bytes_per_unit: 16, ..ON };
    let mut drive = build(&drive(64, 64, 2048, settings), 1).unwrap();
    (0..1024).for_each(|unit| drive.execute(&[write(unit, 50, 0)]).unwrap());
    let programmed = drive.ledger().programmed_units;
    assert_eq!(programmed.host * 512, 2 << 20);
    assert_eq!(programmed.metadata * 512, 16 << 10);
    assert_eq!(programmed_bytes(&*drive), (2 << 20) + (16 << 10));
    assert_eq!(drive.ledger().host_written_bytes, 4 << 20);
    drive.check_accounts().unwrap();
}

/// Five places into runs of 16: three units fit, and the one place that is left is padded.
#[test]
fn a_run_that_is_too_short_is_padded() {
    let mut settings = drive(64, 3, 100, ON);
    settings.parity.units_per_stripe = 3;
    let mut drive = build(&settings, 1).unwrap();
    (0..4).for_each(|unit| drive.execute(&[write(unit, 38, 0)]).unwrap());
    let programmed = drive.ledger().programmed_units;
    assert_eq!((programmed.host, programmed.padding, programmed.parity), (20, 1, 8));
}

/// Two units of five places lie in the two mapping units that hold places 0 to 9.
#[test]
fn small_units_share_what_is_read() {
    let mut drive = build(&drive(64, 64, 2048, ON), 1).unwrap();
    (0..2).for_each(|unit| drive.execute(&[write(unit, 38, 0)]).unwrap());
    let read_units = |drive: &mut Box<dyn SimulatedDrive>, units: u32| {
        let before = drive.ledger().read_units.host;
        drive.execute(&[Request::new(Operation::Read, 0, units * UNIT as u32)]).unwrap();
        (drive.ledger().read_units.host - before) / 8
    };
    assert_eq!(read_units(&mut drive, 1), 1);
    assert_eq!(read_units(&mut drive, 2), 2);
}

/// A repetition programs nothing, costs its index entry, is read where the original lies, and outlives it.
#[test]
fn repeated_data_is_stored_once() {
    let settings = DataReduction { deduplication: true, compression: false, index_bytes_per_unit: 0, ..ON };
    let mut drive = build(&drive(64, 64, 2048, settings), 1).unwrap();
    (0..100).for_each(|unit| drive.execute(&[write(unit, 0, 100)]).unwrap());
    assert_eq!(drive.ledger().programmed_units.total(), 8, "the first is new, the others repeat it");
    assert_eq!(drive.ledger().deduplicated_units, 99);
    assert_eq!(drive.capacity().live_units, 100);
    drive.check_map().unwrap();
    drive.execute(&[Request::new(Operation::Trim, 0, 60 * UNIT as u32), write(60, 0, 0)]).unwrap();
    drive.execute(&[Request::new(Operation::Read, 99 * UNIT, UNIT as u32)]).unwrap();
    assert_eq!(drive.ledger().read_units.host, 8, "it is still there");
    drive.check_accounts().unwrap();
    drive.check_map().unwrap();
}

/// Half of the requests repeat what was written before: half of the data is programmed.
#[test]
fn repetitions_come_as_often_as_they_should() {
    let settings = DataReduction { deduplication: true, ..ON };
    let mut drive = build(&drive(64, 256, 12_000, settings), 1).unwrap();
    (0..12_000).for_each(|unit| drive.execute(&[write(unit, 0, 50)]).unwrap());
    let share = programmed_bytes(&*drive) as f64 / drive.ledger().host_written_bytes as f64;
    assert!((share - 0.5).abs() < 0.02, "{share}");
}

/// First in, first out under uniform writes: A = 1 / (1 - exp(-alpha / A)) with alpha = T / (U x stored share),
/// whatever the size of an erase unit (Desnoyers 2012); and the host's part of it is the stored share.
#[test]
fn write_amplification_is_that_of_the_spare_area_which_compression_makes() {
    let (blocks, pages, user_units) = (1024u32, 32u32, 30_000u64);
    for (compress_percent, slots) in [(0, 8), (25, 6), (50, 4)] {
        let stored_share = f64::from(slots) / 8.0;
        // 42 units of 6 places leave 4 of the 256 of an erase unit over, which are padded.
        let units_per_erase_unit = pages * 8 / slots;
        let mut specification = drive(blocks, pages, user_units, ON);
        specification.ftl.victim = PolicyChoice::named("fifo");
        let mut drive = build(&specification, 1).unwrap();
        let mut random = Random::new(5);
        (0..user_units).for_each(|unit| drive.execute(&[write(unit, compress_percent, 0)]).unwrap());
        let mut writes = |drive: &mut Box<dyn SimulatedDrive>, count: u64| {
            for _ in 0..count / 100 {
                let batch: Vec<_> = (0..100).map(|_| write(random.below(user_units), compress_percent, 0)).collect();
                drive.execute(&batch).unwrap();
            }
        };
        writes(&mut drive, 20 * user_units);
        let before = *drive.ledger();
        writes(&mut drive, 20 * user_units);
        let done = *drive.ledger() - before;
        let waf = done.programmed_units.total() as f64 * 512.0 / done.host_written_bytes as f64;
        // The reserve and half of the open erase unit hold nothing.
        let usable = (f64::from(blocks) - 2.5) * f64::from(units_per_erase_unit);
        let alpha = usable / user_units as f64;
        let amplification = (0..200).fold(2.0f64, |a, _| 1.0 / (1.0 - (-alpha / a).exp()));
        let expected = amplification * f64::from(pages) / f64::from(units_per_erase_unit);
        println!("{compress_percent} %: {waf:.4}, closed form {expected:.4}");
        assert!(done.programmed_units.gc > 0);
        assert!((waf / expected - 1.0).abs() < 0.01, "{compress_percent} %: {waf} against {expected}");
        assert_eq!(done.programmed_units.host as f64 * 512.0 / done.host_written_bytes as f64, stored_share);
    }
}
