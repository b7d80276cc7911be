//! The twin: each device alone, under a host of its own, with its parts of the requests at the same times. A device of
//! a stripe must complete each of them when that one does.

use super::{UNIT, tiny};
use serde_json::{Value, json};
use ssdlab_engine::ledger::Ledger;
use ssdlab_engine::random::Random;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::simulation::{TimedSimulatedDrive, build_timed};
use ssdlab_engine::specification::Drive;
use ssdlab_engine::specification::drive::devices_of;
use ssdlab_engine::timing::breakdown::Parts;
use ssdlab_engine::timing::drive::TimedDrive;
use ssdlab_engine::timing::flash::Flash;
use ssdlab_engine::timing::front::{Completion, Devices, Front, FrontEnd, StripedFront};
use ssdlab_engine::timing::host::{Client, Host, Plan};

/// Requests that arrive at times of their own: nothing that a device does changes what the others are asked for.
struct Arrivals {
    left: Vec<(u64, Request)>,
    completed_ns: Vec<(u64, u64)>,
}

impl Client for Arrivals {
    fn draw(&mut self, _job: u32, _out: &mut Vec<Request>, _count_max: usize) {
        unreachable!("requests arrive");
    }

    fn draw_arrivals(&mut self, _job: u32, out: &mut Vec<Request>, arrivals_ns: &mut Vec<u64>, count_max: usize) {
        for (arrival_ns, request) in self.left.drain(..count_max.min(self.left.len())) {
            out.push(request);
            arrivals_ns.push(arrival_ns);
        }
    }

    fn is_over(&self, _job: u32, _now_ns: u64) -> bool {
        false
    }

    fn completed(&mut self, completion: Completion, _parts: &Parts) {
        self.completed_ns.push((completion.issued_ns, completion.completed_ns));
    }
}

struct Layers(Vec<Box<dyn TimedSimulatedDrive>>);

impl Devices for Layers {
    fn device(&self, index: usize) -> &dyn TimedDrive {
        &*self.0[index]
    }

    fn device_mut(&mut self, index: usize) -> &mut dyn TimedDrive {
        &mut *self.0[index]
    }
}

fn front_of(drive: &Drive, layer: &dyn TimedSimulatedDrive) -> Front {
    let flash = Flash::new(&drive.nand, UNIT as u32, drive.ftl.erase_unit)
        .with_power_loss_protection(drive.write_buffer.power_loss_protection)
        .below(layer);
    let front_end = FrontEnd {
        controller: drive.controller.clone(),
        buffer: drive.write_buffer.clone(),
        link: drive.host_link.rate().unwrap(),
        ..FrontEnd::default()
    };
    Front::new(flash, &front_end)
}

fn arriving(requests: usize) -> (Arrivals, Vec<Plan>) {
    let plan = Plan { depth: requests as u32, has_arrivals: true, ..Plan::default() };
    (Arrivals { left: Vec::new(), completed_ns: Vec::new() }, vec![plan])
}

/// When each request is complete, by arrival, and what was counted.
fn striped(drive: &Drive, requests: &[(u64, Request)]) -> (Vec<(u64, u64)>, Ledger) {
    let members = devices_of(drive).unwrap();
    let layers = (0..).zip(&members).map(|(seed, member)| build_timed(member, seed).unwrap());
    let mut layers = Layers(layers.collect());
    let fronts = members.iter().zip(&layers.0).map(|(member, layer)| front_of(member, &**layer)).collect();
    let mut host = Host::before(StripedFront::new(fronts, drive.stripe.chunks()));
    let (mut client, plans) = arriving(requests.len());
    client.left = requests.to_vec();
    host.start_all(0, plans, &mut layers, &mut client).unwrap();
    let mut now_ns = 0;
    while host.advance(3, &mut layers, &mut client).unwrap() {
        assert!(host.now_ns() >= now_ns, "time ran back");
        now_ns = host.now_ns();
    }
    let mut ledger = Ledger::default();
    for layer in &layers.0 {
        layer.check_accounts().unwrap();
        layer.check_map().unwrap();
        ledger += *TimedDrive::ledger(&**layer);
    }
    assert!(client.completed_ns.is_sorted_by_key(|&(_, completed_ns)| completed_ns));
    client.completed_ns.sort_unstable();
    (client.completed_ns, ledger)
}

/// The twin: each device alone, with its parts at their times; a request is complete with the last of its parts.
fn one_by_one(drive: &Drive, requests: &[(u64, Request)]) -> (Vec<(u64, u64)>, Ledger) {
    let chunks = drive.stripe.chunks();
    let mut completed: Vec<(u64, u64)> = requests.iter().map(|&(arrival_ns, _)| (arrival_ns, 0)).collect();
    let mut ledger = Ledger::default();
    for (index, member) in devices_of(drive).unwrap().iter().enumerate() {
        let mut layer = build_timed(member, index as u64).unwrap();
        let part = |&(arrival_ns, request): &(u64, Request)| Some((arrival_ns, chunks.part(&request, index)?));
        let mut host = Host::before(front_of(member, &*layer));
        let (mut client, plans) = arriving(requests.len());
        client.left = requests.iter().filter_map(part).collect();
        host.start_all(0, plans, &mut *layer, &mut client).unwrap();
        while host.advance(1000, &mut *layer, &mut client).unwrap() {}
        for (arrival_ns, completed_ns) in client.completed_ns {
            let request = completed.binary_search_by_key(&arrival_ns, |&(arrival_ns, _)| arrival_ns).unwrap();
            completed[request].1 = completed[request].1.max(completed_ns);
        }
        ledger += *TimedDrive::ledger(&*layer);
    }
    (completed, ledger)
}

/// Each at a time of its own.
fn random_requests(drive: &Drive, seed: u64, count: usize, gap_ns: u64) -> Vec<(u64, Request)> {
    let mut random = Random::new(seed);
    let units = drive.ftl.user_bytes / UNIT;
    let mut arrival_ns = 0;
    let request = |_| {
        arrival_ns += 1 + random.below(gap_ns);
        let operation = match random.below(20) {
            0 => Operation::Flush,
            1 => Operation::Trim,
            2..=6 => Operation::Read,
            _ => Operation::Write,
        };
        let length = 1 + random.below(12).min(random.below(12));
        let first = random.below(units - length);
        let is_flush = operation == Operation::Flush;
        let (offset, bytes) = if is_flush { (0, 0) } else { (first * UNIT, (length * UNIT) as u32) };
        (arrival_ns, Request::new(operation, offset, bytes))
    };
    (0..count).map(request).collect()
}

#[test]
fn every_device_completes_its_parts_when_it_would_alone() {
    let buffer = ("write_buffer", "bytes", json!(6 * UNIT));
    let volatile = ("write_buffer", "power_loss_protection", json!(false));
    let planes = [("nand", "planes_per_die", json!(2)), ("nand", "blocks_per_plane", json!(14))];
    let cases: [&[(&str, &str, Value)]; 6] = [
        &[],
        std::slice::from_ref(&buffer),
        &[buffer.clone(), volatile, ("host_link", "interface", json!("sata-3g"))],
        &planes,
        &[buffer.clone(), ("controller", "commands_per_second_max", json!(9_000)), ("nand", "suspend", json!(true))],
        &[
            ("stripe", "chunk_bytes", json!(7 * UNIT)),
            ("nand", "channels", json!(2)),
            ("nand", "blocks_per_plane", json!(14)),
        ],
    ];
    for (case, changes) in cases.into_iter().enumerate() {
        for devices in [1, 2, 3] {
            let drive = tiny(devices, changes);
            let seed = 100 * case as u64 + u64::from(devices);
            let requests = random_requests(&drive, seed, 3000, 2_000_000 / u64::from(devices));
            let (whole, counted) = striped(&drive, &requests);
            let (twin, counted_by_twin) = one_by_one(&drive, &requests);
            assert_eq!(whole, twin, "case {case}, {devices} devices, seed {seed}");
            assert_eq!(counted, counted_by_twin, "case {case}, {devices} devices, seed {seed}");
            assert!(counted.programmed_units.gc > 0, "case {case}, {devices} devices: garbage collection is at work");
        }
    }
}
