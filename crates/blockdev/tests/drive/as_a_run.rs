//! Does a drive that is served take the time that a run says? The same requests, pushed into a device one after another
//! and drawn by a host, are complete at the same nanoseconds.
//!
//! A mounted SATA drive once read 2,727 MB/s where a run of the same job said 560: what served drives had their own
//! clock, which knew neither link nor read-ahead.

use crate::tiny::{SlcCache, Tiny};
use ssdlab_blockdev::device::{Device, Durability};
use ssdlab_blockdev::drive::{Command, Options, SimulatedDevice};
use ssdlab_engine::random::Random;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::simulation::{Stripe, build_timed};
use ssdlab_engine::specification::Drive;
use ssdlab_engine::specification::drive::devices_of;
use ssdlab_engine::timing::breakdown::Parts;
use ssdlab_engine::timing::front::{Completion, Front, Intake, StripedFront};
use ssdlab_engine::timing::host::{Client, Host};

/// What `tools/served_catalogue` prints: each as small as it can be made.
const CATALOGUE: &str = include_str!("../catalogue.jsonl");
const REQUESTS: u64 = 3000;
/// Where the requests of a large drive lie.
const AREA_BYTES: u64 = 8 << 20;

/// In order of completion: what, where, since when and until when.
type Completed = Vec<(Operation, u64, u64, u64)>;

struct List<'a> {
    requests: std::slice::Iter<'a, Request>,
    completed: Completed,
}

fn noted(completion: &Completion) -> (Operation, u64, u64, u64) {
    (completion.operation, completion.offset_bytes, completion.issued_ns, completion.completed_ns)
}

impl Client for List<'_> {
    fn draw(&mut self, _job: u32, out: &mut Vec<Request>, count_max: usize) {
        out.extend(self.requests.by_ref().take(count_max));
    }

    fn is_over(&self, _job: u32, _now_ns: u64) -> bool {
        false
    }

    fn completed(&mut self, completion: Completion, _parts: &Parts) {
        self.completed.push(noted(&completion));
    }
}

/// Writes in order, then reads in order, then both at random with trims of places that nothing else touches.
fn requests(drive: &Drive) -> Vec<Request> {
    let unit_bytes = u64::from(drive.ftl.mapping_unit_bytes);
    let area = drive.ftl.user_bytes.min(AREA_BYTES) / unit_bytes / 8 * 8;
    let of = |operation, unit: u64, units: u64| {
        Request::new(operation, unit * unit_bytes, (units.min(area - unit) * unit_bytes) as u32)
    };
    let in_order = |operation| (0..area / 8).map(move |block| (operation, block * 8, 8));
    let mut random = Random::new(7);
    let at_random = (0..REQUESTS).map(|_| match random.below(20) {
        0 => (Operation::Trim, area / 8 * 7 + random.below(area / 8), 1),
        kind @ 1.. => {
            let operation = if kind < 8 { Operation::Read } else { Operation::Write };
            (operation, random.below(area / 8 * 7 - 4), 1 + random.below(4))
        }
    });
    let at_random: Vec<_> = at_random.collect();
    let all = in_order(Operation::Write).chain(in_order(Operation::Read)).chain(at_random);
    all.map(|(operation, unit, units)| of(operation, unit, units)).collect()
}

fn run(drive: &Drive, requests: &[Request], depth: u32) -> Completed {
    if drive.stripe.is_on() {
        let mut stripe = Stripe::build_timed(drive, 0).unwrap();
        let devices = devices_of(drive).unwrap().into_iter().zip(stripe.devices());
        let fronts = devices.map(|(device, layer)| Front::of(&device, &**layer).unwrap()).collect();
        return drawn(StripedFront::new(fronts, stripe.chunks()), &mut stripe, requests, depth);
    }
    let mut layer = build_timed(drive, 0).unwrap();
    drawn(Front::of(drive, &*layer).unwrap(), &mut *layer, requests, depth)
}

fn drawn<F: Intake>(front: F, drives: &mut F::Drives<'_>, requests: &[Request], depth: u32) -> Completed {
    let mut host = Host::before(front);
    let mut client = List { requests: requests.iter(), completed: Vec::new() };
    host.start(0, depth, drives, &mut client).unwrap();
    while host.advance(1000, drives, &mut client).unwrap() {}
    client.completed
}

fn serve(drive: &Drive, requests: &[Request], depth: u32) -> Completed {
    // Where a small drive must keep the older copies of what is not yet in flash, it pads more than a run does.
    let power_loss_protection = Some(drive.write_buffer.power_loss_protection);
    let options = Options { queue_depth: Some(depth), power_loss_protection, ..Options::default() };
    let device = SimulatedDevice::new(drive, &options).unwrap_or_else(|error| panic!("{}: {error:?}", drive.name));
    assert!(device.core().take_completions().is_empty());
    for request in requests {
        let Request { operation, offset_bytes, length_bytes, .. } = *request;
        let mut data = vec![7; length_bytes as usize];
        match operation {
            Operation::Read => device.read(offset_bytes, &mut data).unwrap(),
            Operation::Trim => device.trim(offset_bytes, u64::from(length_bytes)).unwrap(),
            _ => device.write(offset_bytes, &data, Durability::Cached).unwrap(),
        }
    }
    device.carry_out(&Command::Idle { duration_ns: 0 }).unwrap();
    let completions = device.core().take_completions();
    completions.iter().map(noted).collect()
}

fn compare(drive: &Drive, what: &str) {
    let requests = requests(drive);
    for depth in [1, 16] {
        let (ran, served) = (run(drive, &requests, depth), serve(drive, &requests, depth));
        assert_eq!(ran.len(), requests.len(), "{what}");
        let different = ran.iter().zip(&served).position(|(ran, served)| ran != served);
        if let Some(first) = different {
            let same = ran.iter().filter(|completed| served.contains(completed)).count();
            panic!(
                "{what}, depth {depth}: {same} of {} alike; first {first}: {:?} in a run, {:?} served",
                ran.len(),
                ran[first],
                served[first]
            );
        }
        assert_eq!(ran.len(), served.len(), "{what}");
    }
}

#[test]
fn every_drive_of_the_catalogue() {
    let drives = CATALOGUE.lines().map(|line| serde_json::from_str::<Drive>(line).unwrap());
    // What a drive makes of data depends on the data, which a run only estimates.
    let compared: Vec<Drive> = drives.filter(|drive| !drive.data_reduction.is_on()).collect();
    assert_eq!(compared.len(), 38);
    compared.iter().for_each(|drive| compare(drive, &drive.name));
}

/// So small that garbage collection never stops.
#[test]
fn small_drives_that_clean() {
    let plain = Tiny::default();
    let tinies = [
        plain,
        Tiny { buffer_units: 0, ..plain },
        Tiny { placement: "single", victim: "fifo", ..plain },
        Tiny { units_per_stripe: 8, user_units: 280, ..plain },
        Tiny { erase_unit: "block", user_units: 480, ..plain },
        Tiny::with_slc_cache(SlcCache::Direct),
        Tiny { map_cache: Some("page"), ..plain },
        Tiny::striped(),
        Tiny { devices: 3, chunk_units: 1, user_units: 480, buffer_units: 0, ..Tiny::striped() },
    ];
    tinies.iter().for_each(|tiny| compare(&tiny.drive(), &format!("{tiny:?}")));
}
