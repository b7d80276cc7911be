//! The profile against hand-counted traces, and against a slow twin that keeps every unit in plain maps.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

fn record(operation: Operation, volume: u32, offset_bytes: u64, length_bytes: u32) -> Record {
    Record { arrival_ns: 0, volume, operation, is_through: false, offset_bytes, length_bytes }
}

fn profile_of(records: &[Record]) -> ProfileReport {
    let mut profile = Profile::new();
    profile.add(records);
    profile.report()
}

#[test]
fn a_hand_counted_trace() {
    let report = profile_of(&[
        record(Operation::Write, 0, 0, 8192),
        record(Operation::Write, 0, 8192, 4096),
        record(Operation::Write, 0, 0, 512),
        record(Operation::Read, 0, 4096, 16384),
        record(Operation::Trim, 0, 0, 8192),
        record(Operation::Read, 0, 0, 4096),
        record(Operation::Flush, 0, 0, 0),
        record(Operation::Write, 1, 100 * 4096, 4096),
    ]);
    let writes = report.operation(Operation::Write);
    assert_eq!((writes.requests, writes.bytes), (4, 8192 + 4096 + 512 + 4096));
    assert_eq!((writes.sequential_requests, writes.sequential_bytes), (1, 4096));
    assert_eq!(writes.sequential_share(), Some(0.25));
    assert_eq!(writes.aligned_requests, 3);
    assert_eq!(report.operation(Operation::Flush).requests, 1);
    assert_eq!(report.requests(), 8);
    assert_eq!(report.volumes, 2);
    assert_eq!(report.span_bytes, 20480 + 101 * 4096);
    assert_eq!(
        report.units,
        UnitTotals {
            unique: 6,
            unique_read: 5,
            unique_written: 4,
            unique_trimmed: 2,
            read: 5,
            read_of_written: 2,
            written: 5,
            overwritten: 1,
            trimmed_of_written: 2,
        }
    );
    assert_eq!(report.read_of_written_share(), Some(0.4));
    assert_eq!(report.updates.histogram, [(1, 3), (2, 1)]);
    // The hottest quarter is one unit with two of the five writes.
    assert_eq!(report.updates.writes_share(0.25), Some(0.4));
    assert_eq!(report.updates.writes_share(0.5), Some(0.6));
    assert_eq!(report.updates.curve.last().unwrap().writes_share, 1.0);
}

#[test]
fn the_hottest_come_first_and_ties_together() {
    let mut profile = Profile::new();
    let writes = |unit: u64, times: usize| vec![record(Operation::Write, 0, unit * UNIT_BYTES, 100); times];
    [(70, 5), (3, 2), (4, 2), (9, 9), (1, 1)].iter().for_each(|&(unit, times)| profile.add(&writes(unit, times)));
    let hottest = |units_per_region: u64, regions_max: usize| profile.hottest(units_per_region, regions_max).listed;
    assert_eq!(hottest(1, 2), [(9, 9), (70, 5)]);
    assert_eq!(hottest(1, 3), [(9, 9), (70, 5)], "one of the two that tie is none");
    assert_eq!(hottest(1, 4), [(9, 9), (70, 5), (3, 2), (4, 2)]);
    // Of pairs and of tens of units.
    assert_eq!(hottest(2, 9), [(4, 9), (35, 5), (1, 2), (2, 2), (0, 1)]);
    assert_eq!(hottest(2, 3), [(4, 9), (35, 5)]);
    assert_eq!(hottest(10, 9), [(0, 14), (7, 5)]);
    assert_eq!([1, 2, 10].map(|units| profile.hottest(units, 1).written), [5, 5, 2]);
    assert_eq!(Profile::new().hottest(1, 4), HottestRegions::default());
}

#[test]
fn an_empty_profile_invents_nothing() {
    let report = profile_of(&[]);
    assert_eq!(report.requests(), 0);
    assert_eq!(report.read_of_written_share(), None);
    assert_eq!(report.operation(Operation::Read).sequential_share(), None);
    assert!(report.updates.curve.is_empty());
}

#[test]
fn the_largest_extent_there_is() {
    let report = profile_of(&[record(Operation::Write, 0, u64::MAX - u64::from(u32::MAX), u32::MAX)]);
    assert_eq!(report.units.unique_written, 1 << 20);
    assert_eq!(report.span_bytes, u64::MAX);
}

/// One unit after another, in maps from (volume, unit).
fn slow_units(records: &[Record]) -> (UnitTotals, Vec<(u32, u64)>) {
    type Units = BTreeSet<(u32, u64)>;
    let (mut read, mut written, mut trimmed, mut live) = (Units::new(), Units::new(), Units::new(), Units::new());
    let mut counts: BTreeMap<(u32, u64), u32> = BTreeMap::new();
    let mut totals = UnitTotals::default();
    for record in records {
        let end_bytes = record.offset_bytes + u64::from(record.length_bytes);
        let mut unit = record.offset_bytes / UNIT_BYTES;
        while record.length_bytes > 0 && unit * UNIT_BYTES < end_bytes {
            let key = (record.volume, unit);
            match record.operation {
                Operation::Read => {
                    totals.read += 1;
                    totals.read_of_written += u64::from(live.contains(&key));
                    read.insert(key);
                }
                Operation::Write => {
                    totals.written += 1;
                    totals.overwritten += u64::from(!live.insert(key));
                    written.insert(key);
                    *counts.entry(key).or_default() += 1;
                }
                Operation::Trim => {
                    totals.trimmed_of_written += u64::from(live.remove(&key));
                    trimmed.insert(key);
                }
                Operation::Flush => {}
            }
            unit += 1;
        }
    }
    totals.unique = read.union(&written).copied().collect::<Units>().union(&trimmed).count() as u64;
    totals.unique_read = read.len() as u64;
    totals.unique_written = written.len() as u64;
    totals.unique_trimmed = trimmed.len() as u64;
    let mut histogram: BTreeMap<u32, u64> = BTreeMap::new();
    counts.values().for_each(|count| *histogram.entry(*count).or_default() += 1);
    (totals, histogram.into_iter().collect())
}

fn any_record() -> impl Strategy<Value = Record> {
    let operation = prop::sample::select(&Operation::ALL[..3]);
    (operation, 0..3_u32, 0..400_u64, 0..700_u32)
        .prop_map(|(operation, volume, sector, sectors)| record(operation, volume, sector * 3 * 512, sectors * 512))
}

proptest! {
    #[test]
    fn agrees_with_the_slow_twin(records in prop::collection::vec(any_record(), 0..60)) {
        let report = profile_of(&records);
        let (units, histogram) = slow_units(&records);
        prop_assert_eq!(report.units, units);
        prop_assert_eq!(report.updates.units_written(), units.unique_written);
        prop_assert_eq!(report.updates.writes(), u128::from(units.written));
        prop_assert_eq!(report.updates.histogram, histogram);
        let shares: Vec<f64> = report.updates.curve.iter().map(|point| point.writes_share).collect();
        prop_assert!(shares.is_sorted());
    }
}
