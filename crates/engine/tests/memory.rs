//! What a run needs is known before it is allocated: the sum of the tables that are made.

use ssdlab_engine::simulation::{build, memory_of};
use ssdlab_engine::specification::{Drive, Specification};

fn specification(change: impl FnOnce(&mut Drive)) -> Specification {
    let mut drive = Drive::textbook();
    change(&mut drive);
    serde_json::from_value(serde_json::json!({
        "seed": 1, "drive": drive, "timed": false, "until": {"kind": "job"}, "series_points_max": 1, "jobs": [],
    }))
    .unwrap()
}

/// The sum of the tables that a drive reports.
fn made(specification: &Specification) -> u64 {
    build(&specification.drive, 1).unwrap().memory_bytes() as u64
}

#[test]
fn the_tables_by_unit_are_those_that_are_made() {
    let plain = specification(|_| {});
    let reduced = specification(|drive| {
        drive.data_reduction.compression = true;
        drive.data_reduction.deduplication = true;
        drive.ftl.reserve_erase_units = 2;
        drive.ftl.user_bytes /= 2;
    });
    for specification in [plain, reduced] {
        let counted = memory_of(&specification).unwrap().of_units_bytes;
        assert_eq!(counted, made(&specification));
    }
}

#[test]
fn a_stripe_takes_what_its_devices_take() {
    let one = memory_of(&specification(|_| {})).unwrap();
    let four = memory_of(&specification(|drive| {
        drive.stripe.devices = 4;
        drive.stripe.chunk_bytes = 4096;
        drive.ftl.user_bytes *= 4;
    }))
    .unwrap();
    assert_eq!(four.of_units_bytes, 4 * one.of_units_bytes);
}

#[test]
fn a_drive_that_cannot_be_names_its_key() {
    let error = memory_of(&specification(|drive| drive.nand.channels = 0)).unwrap_err();
    assert_eq!(error.key, "nand.channels");
}
