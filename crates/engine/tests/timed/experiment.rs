//! A small timed drive, a closed loop of requests on it, and what is measured of that.

use ssdlab_engine::ftl::Ftl;
use ssdlab_engine::random::Random;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::specification::drive::{Ftl as FtlTable, *};
use ssdlab_engine::timing::breakdown::Parts;
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::timing::front::Completion;
use ssdlab_engine::timing::histogram::Histogram;
use ssdlab_engine::timing::host::{Client, Host};
use ssdlab_engine::timing::recorder::Recorder;

pub const UNIT: u64 = 4096;

#[derive(Clone, Copy)]
pub struct Shape {
    pub channels: u32,
    pub dies_per_channel: u32,
    pub planes: u32,
    pub blocks: u32,
    pub pages: u32,
    pub page_bytes: u32,
    pub over_provisioning: f64,
}

pub fn drive(shape: Shape) -> Drive {
    let physical = u64::from(shape.channels * shape.dies_per_channel * shape.planes)
        * u64::from(shape.blocks)
        * u64::from(shape.pages)
        * u64::from(shape.page_bytes);
    let textbook = Drive::textbook();
    Drive {
        name: "timed".into(),
        nand: Nand {
            channels: shape.channels,
            dies_per_channel: shape.dies_per_channel,
            planes_per_die: shape.planes,
            blocks_per_plane: shape.blocks,
            pages_per_block: shape.pages,
            page_bytes: shape.page_bytes,
            ..textbook.nand
        },
        ftl: FtlTable {
            user_bytes: (physical as f64 / (1.0 + shape.over_provisioning)) as u64 / UNIT * UNIT,
            erase_unit: EraseUnitKind::Superblock,
            placement: PolicyChoice::named("host-gc-split"),
            ..textbook.ftl
        },
        ..textbook
    }
}

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
            let length_bytes = self.length_units * UNIT;
            out.push(Request::new(self.operation, block * length_bytes, length_bytes as u32));
        }
    }

    fn is_over(&self, _job: u32, now_ns: u64) -> bool {
        assert!(now_ns >= self.last_ns.get(), "time never runs back");
        self.last_ns.set(now_ns);
        false
    }

    fn completed(&mut self, completion: Completion, _parts: &Parts) {
        self.completed += 1;
        self.latency.add(completion.completed_ns - completion.issued_ns);
    }
}

#[derive(Debug)]
pub struct Measured {
    pub iops: f64,
    pub mean_latency_ns: f64,
    pub min_latency_ns: u64,
    pub median_ns: u64,
    pub percentile_99_ns: u64,
    pub percentile_999_ns: u64,
    pub waf: f64,
    pub erases: u64,
    pub seconds: f64,
    pub depth: u32,
}

pub struct Experiment {
    pub drive: Drive,
    pub operation: Operation,
    pub length_units: u64,
    pub is_sequential: bool,
    pub depth: u32,
    pub warm_up: u64,
    pub requests: u64,
    pub buffer_units: u32,
}

impl Experiment {
    fn run(self) -> Measured {
        let mut ftl = Ftl::new(&self.drive, Recorder::default(), 1).unwrap();
        let user_units = self.drive.ftl.user_bytes / UNIT;
        let flash = Flash::new(&self.drive.nand, UNIT as u32, self.drive.ftl.erase_unit)
            .with_power_loss_protection(self.drive.write_buffer.power_loss_protection)
            .below(&ftl);
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
            median_ns: client.latency.percentile(0.5).unwrap(),
            percentile_99_ns: client.latency.percentile(0.99).unwrap(),
            percentile_999_ns: client.latency.percentile(0.999).unwrap(),
            waf: delta.programmed_units.total() as f64 / delta.programmed_units.host.max(1) as f64,
            erases: delta.erased_erase_units,
            seconds,
            depth: self.depth,
        }
    }
}

pub fn measure(experiment: Experiment) -> Measured {
    let measured = experiment.run();
    println!("{measured:?}");
    measured
}

pub const SMALL: Shape = Shape {
    channels: 4,
    dies_per_channel: 2,
    planes: 2,
    blocks: 128,
    pages: 16,
    page_bytes: 16384,
    over_provisioning: 0.2,
};

pub fn near(actual: f64, expected: f64, allowed: f64) {
    assert!((actual / expected - 1.0).abs() <= allowed, "{actual} instead of {expected}");
}
