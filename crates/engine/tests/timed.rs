//! Does the timed drive keep the laws of queues and the closed forms that follow from the drive file's own numbers?

use ssdlab_engine::ftl::Ftl;
use ssdlab_engine::policies::placement::{PlacementPolicy, WithPlacement, with_placement};
use ssdlab_engine::random::Random;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::specification::drive::*;
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::timing::histogram::Histogram;
use ssdlab_engine::timing::host::{Client, Completion, Host};
use ssdlab_engine::timing::recorder::Recorder;

const UNIT: u64 = 4096;

#[derive(Clone, Copy)]
struct Shape {
    channels: u32,
    dies_per_channel: u32,
    planes: u32,
    blocks: u32,
    pages: u32,
    page_bytes: u32,
    over_provisioning: f64,
}

fn drive(shape: Shape) -> Drive {
    let choice = |name: &str| PolicyChoice { name: name.into(), parameters: Default::default() };
    let physical = u64::from(shape.channels * shape.dies_per_channel * shape.planes)
        * u64::from(shape.blocks)
        * u64::from(shape.pages)
        * u64::from(shape.page_bytes);
    Drive {
        name: "timed".into(),
        nand: Nand {
            cell: Cell::Tlc,
            channels: shape.channels,
            dies_per_channel: shape.dies_per_channel,
            planes_per_die: shape.planes,
            blocks_per_plane: shape.blocks,
            pages_per_block: shape.pages,
            page_bytes: shape.page_bytes,
            read_us: 60.0,
            program_us: 700.0,
            erase_us: 5000.0,
            channel_mb_s: 800.0,
            endurance_cycles: 3000,
        },
        ftl: Ftl_ {
            user_bytes: (physical as f64 / (1.0 + shape.over_provisioning)) as u64 / UNIT * UNIT,
            mapping_unit_bytes: UNIT as u32,
            erase_unit: EraseUnitKind::Superblock,
            victim: choice("greedy"),
            placement: choice("host-gc-split"),
            wear_leveling: choice("none"),
            reserve_erase_units: 1,
            spare_area: SpareArea::Dynamic,
        },
        parity: Parity { units_per_stripe: 0 },
        faults: Faults { factory_bad_blocks: 0.0, wear_out: false, endurance_spread: 0.0 },
        write_buffer: WriteBuffer { bytes: 0 },
        controller: Controller { command_us: 5.0 },
    }
}
use ssdlab_engine::specification::drive::Ftl as Ftl_;

/// A closed loop of one kind of request, with everything that is needed to check it.
struct Loop {
    random: Random,
    user_units: u64,
    operation: Operation,
    length_units: u64,
    sequential_at: Option<u64>,
    left: u64,
    issued: u64,
    completed: u64,
    latency: Histogram,
    last_ns: std::cell::Cell<u64>,
}

impl Client for Loop {
    fn draw(&mut self, _job: u32, out: &mut Vec<Request>, count_max: usize) {
        let blocks = self.user_units / self.length_units;
        let count = self.left.min(count_max as u64);
        self.left -= count;
        self.issued += count;
        for _ in 0..count {
            let block = match &mut self.sequential_at {
                Some(at) => {
                    *at = (*at + 1) % blocks;
                    *at
                }
                None => self.random.below(blocks),
            };
            out.push(Request {
                offset_bytes: block * self.length_units * UNIT,
                length_bytes: (self.length_units * UNIT) as u32,
                operation: self.operation,
            });
        }
    }

    fn is_over(&self, _job: u32, now_ns: u64) -> bool {
        assert!(now_ns >= self.last_ns.get(), "time never runs back");
        self.last_ns.set(now_ns);
        false
    }

    fn completed(&mut self, completion: Completion) {
        self.completed += 1;
        self.latency.add(completion.completed_ns - completion.issued_ns);
    }
}

#[derive(Debug)]
struct Measured {
    iops: f64,
    mean_latency_ns: f64,
    min_latency_ns: u64,
    percentile_99_ns: u64,
    waf: f64,
    erases: u64,
    seconds: f64,
    depth: u32,
}

struct Experiment {
    drive: Drive,
    operation: Operation,
    length_units: u64,
    is_sequential: bool,
    depth: u32,
    warm_up: u64,
    requests: u64,
    buffer_units: u32,
}

impl WithPlacement for Experiment {
    type Output = Measured;

    fn with<P: PlacementPolicy + Send + 'static>(self, policy: P) -> Measured {
        let mut ftl = Ftl::new(&self.drive, policy, Recorder::default(), 1).unwrap();
        let user_units = self.drive.ftl.user_bytes / UNIT;
        let flash = Flash::new(&self.drive.nand, UNIT as u32, self.drive.ftl.erase_unit);
        let mut host = Host::new(flash, 5_000, self.buffer_units);
        let mut client = Loop {
            random: Random::new(7),
            user_units,
            operation: Operation::Write,
            length_units: 32.min(user_units),
            sequential_at: Some(u64::MAX - 1),
            left: user_units / 32,
            issued: 0,
            completed: 0,
            latency: Histogram::default(),
            last_ns: Default::default(),
        };
        client.sequential_at = Some(user_units / 32 - 1);
        let mut run = |client: &mut Loop, depth: u32| {
            host.start(0, depth, &mut ftl, client).unwrap();
            while host.advance(1000, &mut ftl, client).unwrap() {}
            host.end_stage();
            assert_eq!(client.issued, client.completed, "serviced = generated");
            (host.now_ns(), *ftl.ledger())
        };
        run(&mut client, 8);
        client.operation = self.operation;
        client.length_units = self.length_units;
        client.sequential_at = self.is_sequential.then_some(user_units / self.length_units - 1);
        client.left = self.warm_up;
        let (start_ns, before) = run(&mut client, self.depth);
        client.left = self.requests;
        client.latency = Histogram::default();
        let (end_ns, after) = run(&mut client, self.depth);
        let seconds = (end_ns - start_ns) as f64 / 1e9;
        let delta = after - before;
        let latency = client.latency.latency();
        ftl.check_accounts().unwrap();
        ftl.check_map().unwrap();
        Measured {
            iops: self.requests as f64 / seconds,
            mean_latency_ns: latency.mean_ns.unwrap(),
            min_latency_ns: latency.min_ns.unwrap(),
            percentile_99_ns: client.latency.percentile(0.99).unwrap(),
            waf: delta.programmed_units.total() as f64 / delta.programmed_units.host.max(1) as f64,
            erases: delta.erased_erase_units,
            seconds,
            depth: self.depth,
        }
    }
}

fn measure(experiment: Experiment) -> Measured {
    let placement = experiment.drive.ftl.placement.clone();
    let user_units = (experiment.drive.ftl.user_bytes / UNIT) as u32;
    let measured = with_placement(&placement, user_units, experiment).unwrap();
    println!("{measured:?}");
    measured
}

const SMALL: Shape = Shape {
    channels: 4,
    dies_per_channel: 2,
    planes: 2,
    blocks: 128,
    pages: 16,
    page_bytes: 16384,
    over_provisioning: 0.2,
};

fn near(actual: f64, expected: f64, allowed: f64) {
    assert!((actual / expected - 1.0).abs() <= allowed, "{actual} instead of {expected}");
}

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
    // A page takes 60 us and 4 transfers of 5.12 us; two dies share a channel, so that the array is hidden in part only.
    let page_ns = 60_000.0 + 4.0 * 5_120.0;
    let bound = 4.0 * 1e9 / (4.0 * 5_120.0_f64).max(page_ns / 2.0) * 4.0 / 32.0;
    near(measured.iops, bound, 0.05);
}

#[test]
fn random_reads_reach_the_rate_of_the_dies() {
    let measured = measure(Experiment {
        drive: drive(SMALL),
        operation: Operation::Read,
        length_units: 1,
        is_sequential: false,
        depth: 512,
        warm_up: 2000,
        requests: 100_000,
        buffer_units: 0,
    });
    near(measured.iops, 8.0 * 1e9 / 65_120.0, 0.03);
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
