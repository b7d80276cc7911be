//! With a clock: what is not programmed takes no time.

use super::{ON, UNIT, drive};
use ssdlab_engine::simulation::{Outcome, TimedSimulation};
use ssdlab_engine::specification::drive::{DataReduction, EraseUnitKind, WriteBuffer};
use ssdlab_engine::specification::job::{BlockSize, PerDirection};
use ssdlab_engine::specification::{Job, Specification, Until};

const USER_UNITS: u64 = 6000;

fn job(stage: u32, sequential: bool, length_bytes: u32, io_bytes: u64, compress_percent: f64) -> Job {
    let sizes = || vec![BlockSize { bytes: length_bytes, percent: 100.0 }];
    let align = u64::from(length_bytes);
    Job {
        stage,
        sequential,
        size_bytes: USER_UNITS * UNIT / align * align,
        io_bytes,
        block_sizes: PerDirection { read: sizes(), write: sizes(), trim: sizes() },
        block_align_bytes: PerDirection { read: align, write: align, trim: align },
        iodepth: 16,
        compress_percent,
        ..Job::default()
    }
}

/// Four dies of pages of four units, and a buffer so small that what is left in it at the end hardly counts; jobs one
/// after another.
fn run(data_reduction: DataReduction, jobs: Vec<Job>) -> Outcome {
    let mut drive = drive(64, 8, USER_UNITS, data_reduction);
    drive.nand.channels = 2;
    drive.nand.dies_per_channel = 2;
    drive.nand.page_bytes = 4 * UNIT as u32;
    drive.ftl.erase_unit = EraseUnitKind::Superblock;
    drive.ftl.reserve_erase_units = 2;
    drive.write_buffer = WriteBuffer { bytes: 1 << 18, ..WriteBuffer::default() };
    let specification = Specification {
        seed: 1,
        drive,
        timed: true,
        until: Until::Job,
        series_points_max: 50,
        interval_ns: None,
        jobs,
    };
    let mut simulation = TimedSimulation::new(&specification).unwrap();
    while !simulation.is_finished() {
        simulation.advance(10_000).unwrap();
    }
    simulation.finish()
}

fn seconds(outcome: &Outcome, job: usize) -> f64 {
    let timing = outcome.jobs[job].timing.as_ref().unwrap();
    (timing.end_ns - timing.start_ns) as f64 / 1e9
}

/// Programs of 900 us, transfers of 16 KiB at 40 MB/s over two channels: both halve with the data.
#[test]
fn half_as_much_data_is_written_twice_as_fast() {
    let fill = |compress_percent| job(0, true, 128 << 10, USER_UNITS * UNIT, compress_percent);
    let random = seconds(&run(ON, vec![fill(0.0)]), 0);
    let compressible = seconds(&run(ON, vec![fill(50.0)]), 0);
    assert!((random / compressible - 2.0).abs() < 0.04, "{random} s, {compressible} s");
}

/// Data that cannot be compressed takes as long as on a drive that does not try, garbage collection included.
#[test]
fn incompressible_data_takes_as_long_as_without() {
    let jobs =
        || vec![job(0, true, 128 << 10, USER_UNITS * UNIT, 0.0), job(1, false, 4096, 3 * USER_UNITS * UNIT, 0.0)];
    let (without, with) = (run(DataReduction::default(), jobs()), run(ON, jobs()));
    assert!(without.ledger.programmed_units.gc > 1000);
    for job in 0..2 {
        let (plain, reducing) = (seconds(&without, job), seconds(&with, job));
        assert!((reducing / plain - 1.0).abs() < 0.005, "{plain} s, {reducing} s");
    }
    let waf = |outcome: &Outcome| {
        let bytes = outcome.ledger.programmed_units.total() * u64::from(outcome.capacity.counted_unit_bytes);
        bytes as f64 / outcome.ledger.host_written_bytes as f64
    };
    assert!((waf(&with) / waf(&without) - 1.0).abs() < 0.005, "{} {}", waf(&without), waf(&with));
}

/// Random writes without end on units of all sizes, with garbage collection in step, repetitions, parity and no buffer:
/// the counters balance (`finish` checks them) and every request is answered.
#[test]
fn the_counters_agree_with_gc_in_step() {
    let settings = DataReduction { deduplication: true, index_bytes_per_unit: 16, ..ON };
    let mut jobs = vec![job(0, true, 128 << 10, USER_UNITS * UNIT, 10.0)];
    jobs.extend([35.0, 60.0, 0.0].map(|compress_percent| Job {
        dedupe_percent: 20.0,
        ..job(1, false, 4096, 2 * USER_UNITS * UNIT, compress_percent)
    }));
    let outcome = run(settings, jobs);
    assert_eq!(outcome.failure, None);
    let ios: u64 = outcome.jobs[1..].iter().map(|job| job.write.ios).sum();
    assert_eq!(ios, 6 * USER_UNITS);
    let share = outcome.ledger.deduplicated_units as f64 / ios as f64;
    assert!((share - 0.2).abs() < 0.02, "{share}");
    assert!(outcome.ledger.programmed_units.gc > 0 && outcome.ledger.programmed_units.metadata > 0);
}
