//! The laws of queues, and the closed forms that follow from the drive file's own numbers.

use super::experiment::*;
use ssdlab_engine::request::Operation;

#[test]
fn an_unloaded_read_takes_the_array_and_one_transfer() {
    let measured = measure(Experiment {
        drive: drive(SMALL),
        operation: Operation::Read,
        length_units: 1,
        is_sequential: false,
        depth: 1,
        warm_up: 10,
        requests: 2000,
        buffer_units: 0,
    });
    // 60 us in the array, 4 KiB at 800 MB/s.
    near(measured.mean_latency_ns, 60_000.0 + 5_120.0, 0.01);
}

#[test]
fn an_unloaded_write_of_4_kib_takes_one_transfer_and_one_program() {
    let measured = measure(Experiment {
        drive: drive(Shape { page_bytes: 4096, planes: 1, ..SMALL }),
        operation: Operation::Write,
        length_units: 1,
        is_sequential: true,
        depth: 1,
        warm_up: 10,
        requests: 500,
        buffer_units: 0,
    });
    near(measured.median_ns as f64, 5_120.0 + 700_000.0, 0.01);
}

#[test]
fn an_unloaded_write_takes_the_transfer_of_its_group_and_one_program() {
    let measured = measure(Experiment {
        drive: drive(SMALL),
        operation: Operation::Write,
        length_units: 8,
        is_sequential: true,
        depth: 1,
        warm_up: 10,
        requests: 500,
        buffer_units: 0,
    });
    near(measured.min_latency_ns as f64, 8.0 * 5_120.0 + 700_000.0, 0.01);
}

#[test]
fn sequential_reads_reach_the_channels_or_the_arrays() {
    let measured = measure(Experiment {
        drive: drive(SMALL),
        operation: Operation::Read,
        length_units: 32,
        is_sequential: true,
        depth: 64,
        warm_up: 500,
        requests: 20_000,
        buffer_units: 0,
    });
    // A page takes 60 us and 4 transfers of 5.12 us; two dies share a channel, so that the array is hidden in part
    // only.
    let page_ns = 60_000.0 + 4.0 * 5_120.0;
    let bound = 4.0 * 1e9 / (4.0 * 5_120.0_f64).max(page_ns / 2.0) * 4.0 / 32.0;
    near(measured.iops, bound, 0.01);
}

#[test]
fn random_reads_reach_the_rate_of_the_dies() {
    let measured = measure(Experiment {
        drive: drive(SMALL),
        operation: Operation::Read,
        length_units: 1,
        is_sequential: false,
        depth: 4096,
        warm_up: 10_000,
        requests: 1_000_000,
        buffer_units: 0,
    });
    // So deep that no die runs out of requests: of D dies and N requests that lie at random, one is idle for about
    // (D - 1) / 2N of the time, where each takes as long; and so many that the die with the most has few more. Dies
    // that share a channel fall into step and do not meet on it.
    near(measured.iops, 8.0 * 1e9 / 65_120.0, 0.01);
}

#[test]
fn iops_times_latency_is_the_depth() {
    for depth in [1, 4, 32, 200] {
        for operation in [Operation::Read, Operation::Write] {
            let measured = measure(Experiment {
                drive: drive(SMALL),
                operation,
                length_units: 1,
                is_sequential: false,
                depth,
                warm_up: 20_000,
                requests: 60_000,
                buffer_units: 0,
            });
            near(measured.iops * measured.mean_latency_ns / 1e9, f64::from(measured.depth), 0.005);
        }
    }
}

#[test]
fn steady_throughput_is_what_the_work_of_write_amplification_leaves() {
    let shape = Shape { page_bytes: 4096, planes: 1, pages: 64, dies_per_channel: 1, blocks: 512, ..SMALL };
    for over_provisioning in [0.1, 0.3] {
        let drive = drive(Shape { over_provisioning, ..shape });
        let user_units = drive.ftl.user_bytes / UNIT;
        let measured = measure(Experiment {
            drive,
            operation: Operation::Write,
            length_units: 1,
            is_sequential: false,
            depth: 64,
            warm_up: user_units * 5,
            requests: user_units * 3,
            buffer_units: 0,
        });
        let waf = measured.waf;
        let (read, program) = (60_000.0 + 5_120.0, 700_000.0 + 5_120.0);
        let unit_ns = program + (waf - 1.0) * (read + program) + waf * 5_000_000.0 / 64.0;
        near(measured.iops, 4.0 * 1e9 / unit_ns, 0.03);
        assert!(measured.erases > 0 && measured.seconds > 0.0 && measured.percentile_99_ns > 0);
    }
}

#[test]
fn deeper_and_wider_is_never_slower() {
    let iops = |shape: Shape, depth: u32| {
        measure(Experiment {
            drive: drive(shape),
            operation: Operation::Write,
            length_units: 1,
            is_sequential: false,
            depth,
            warm_up: 60_000,
            requests: 60_000,
            buffer_units: 0,
        })
        .iops
    };
    let by_depth = [8, 16, 32, 64, 128].map(|depth| iops(SMALL, depth));
    assert!(by_depth.is_sorted_by(|less, more| *more >= less * 0.995), "{by_depth:?}");
    let wide = iops(Shape { channels: 8, blocks: 64, ..SMALL }, 128);
    assert!(wide >= by_depth[4], "{wide} against {}", by_depth[4]);
}

#[test]
fn sequential_writes_reach_the_rate_of_the_dies() {
    let measured = measure(Experiment {
        drive: drive(SMALL),
        operation: Operation::Write,
        length_units: 32,
        is_sequential: true,
        depth: 64,
        warm_up: 3000,
        requests: 20_000,
        buffer_units: 0,
    });
    // A die takes a group of 8 units at a time, and an erase for every 16 of them.
    let group_ns = 8.0 * 5_120.0 + 700_000.0 + 5_000_000.0 / 16.0;
    near(measured.iops, 8.0 * 8.0 * 1e9 / group_ns / 32.0, 0.01);
    assert_eq!(measured.waf, 1.0);
}

#[test]
fn a_one_shot_program_fills_its_pages_together() {
    let mut drive = drive(Shape { pages: 18, ..SMALL });
    drive.nand.pages_per_program = 3;
    let unloaded = Experiment {
        drive: drive.clone(),
        operation: Operation::Write,
        length_units: 24,
        is_sequential: true,
        depth: 1,
        warm_up: 10,
        requests: 300,
        buffer_units: 0,
    };
    // Three pages of two planes, 4 units each, and one program for all.
    near(measure(unloaded).min_latency_ns as f64, 24.0 * 5_120.0 + 700_000.0, 0.001);
    let loaded = Experiment {
        drive,
        operation: Operation::Write,
        length_units: 24,
        is_sequential: true,
        depth: 64,
        warm_up: 3000,
        requests: 20_000,
        buffer_units: 0,
    };
    let group_ns = 24.0 * 5_120.0 + 700_000.0 + 5_000_000.0 / 6.0;
    near(measure(loaded).iops, 8.0 * 1e9 / group_ns, 0.01);
}

#[test]
fn a_program_that_does_not_divide_a_block_is_refused() {
    let mut drive = drive(SMALL);
    drive.nand.pages_per_program = 3;
    let error = ssdlab_engine::simulation::build(&drive, 1).err().expect("16 pages in threes");
    assert!(error.to_string().contains("nand.pages_per_program"), "{error}");
}
