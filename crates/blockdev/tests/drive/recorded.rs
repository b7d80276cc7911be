//! Is a drive that is asked again what another was asked in the same state as that one, and does one with more flash
//! move less?

use crate::tiny::{SlcCache, Tiny, UNIT};
use ssdlab_blockdev::device::{Device, Durability};
use ssdlab_blockdev::drive::{Command, Options, Pace, SimulatedDevice, SimulatedQueue};
use ssdlab_blockdev::queue::{Asked, Queue};
use ssdlab_engine::random::Random;
use ssdlab_engine::simulation::Outcome;
use ssdlab_engine::specification::Drive;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

const USER_UNITS: u64 = 320;

fn recording_device(drive: &Drive, options: &Options, name: &str) -> Arc<SimulatedDevice> {
    let place: PathBuf = std::env::temp_dir().join(format!("ssdlab-recorded-{}-{name}", std::process::id()));
    let file = File::options().create(true).truncate(true).read(true).write(true).open(&place).unwrap();
    std::fs::remove_file(place).unwrap();
    let device = SimulatedDevice::new(drive, options).unwrap();
    device.core().record(file);
    Arc::new(device)
}

/// Overwrites at random with everything else that a host and a user do.
fn ask(device: &SimulatedDevice, random: &mut Random, requests: u64) {
    for count in 0..requests {
        let unit = random.below(USER_UNITS - 4);
        let length_bytes = (1 + random.below(4)) * UNIT - random.below(2) * 100;
        let mut data = vec![3; length_bytes as usize];
        // A tiny drive refuses what it has no room for; so does the other.
        let _ = match random.below(40) {
            0 => device.flush(),
            1 => device.trim(unit * UNIT, length_bytes),
            2 => device.write(unit * UNIT, &data, Durability::Durable),
            3..8 => device.read(unit * UNIT, &mut data),
            8 => device.zero(unit * UNIT, length_bytes, Durability::Cached),
            _ => device.write(unit * UNIT, &data, Durability::Cached),
        };
        let command = match count % 500 {
            100 => Command::Mark(format!("phase {count}")),
            200 => Command::Idle { duration_ns: 50_000_000 },
            300 => Command::CutPower,
            400 if count < 500 => Command::Reset,
            450 => {
                device.outcome();
                continue;
            }
            _ => continue,
        };
        device.carry_out(&command).unwrap();
    }
}

fn asked_again(device: &SimulatedDevice, drive: &Drive, options: &Options) -> Outcome {
    let recording = device.core().take_recording().unwrap().unwrap();
    let mut looks = 0;
    let again = recording.replay(drive, options, &mut || {
        looks += 1;
        ControlFlow::Continue(())
    });
    let outcome = again.unwrap().outcome();
    assert!(looks > 0, "a long replay can be ended");
    outcome
}

fn text(outcome: &Outcome) -> String {
    serde_json::to_string(outcome).unwrap()
}

#[test]
fn the_same_drive_comes_to_the_same_outcome() {
    let drives = [
        Tiny::default(),
        Tiny { units_per_stripe: 8, ..Tiny::default() },
        Tiny::with_slc_cache(SlcCache::Direct),
        Tiny { map_cache: Some("page"), ..Tiny::default() },
        Tiny::striped(),
    ];
    for (index, tiny) in drives.iter().enumerate() {
        for queue_depth in [None, Some(4)] {
            let options = Options { seed: 5, queue_depth, ..Options::default() };
            let device = recording_device(&tiny.drive(), &options, &format!("same-{index}-{queue_depth:?}"));
            ask(&device, &mut Random::new(index as u64), 5000);
            let served = device.outcome();
            assert!(served.ledger.host_written_bytes > 10 * USER_UNITS * UNIT);
            let again = asked_again(&device, &tiny.drive(), &options);
            assert_eq!(text(&again), text(&served), "{tiny:?}, depth {queue_depth:?}");
        }
    }
}

/// A queue answers when it is asked what has completed; the requests between two such calls are in flight at once.
#[test]
fn requests_are_made_at_the_depth_at_which_the_host_made_them() {
    let (drive, options) = (Tiny::default().drive(), Options::default());
    let device = recording_device(&drive, &options, "depth");
    let mut queue = SimulatedQueue::new(device.clone());
    let (mut random, mut completed, data) = (Random::new(1), Vec::new(), [1; UNIT as usize]);
    for tag in 0..5000 {
        let offset_bytes = random.below(USER_UNITS) * UNIT;
        queue.submit(tag, Asked::Write { offset_bytes, data: &data, durability: Durability::Cached, identifier: 0 });
        if random.below(8) == 0 {
            queue.completed(&mut completed);
        }
    }
    let served = device.outcome();
    assert_eq!(text(&asked_again(&device, &drive, &options)), text(&served));
}

#[test]
fn at_real_pace_requests_keep_their_times() {
    let (drive, options) = (Tiny::default().drive(), Options { pace: Pace::Real, ..Options::default() });
    let device = recording_device(&drive, &options, "pace");
    let mut random = Random::new(2);
    // Each takes its time on this machine too.
    for _ in 0..5000 {
        device.write(random.below(USER_UNITS) * UNIT, &[1; UNIT as usize], Durability::Cached).unwrap();
    }
    let served = device.outcome();
    let again = asked_again(&device, &drive, &options);
    assert_eq!(again.ledger, served.ledger);
    let latencies = |outcome: &Outcome| serde_json::to_value(&outcome.jobs[0]).unwrap()["timing"]["write"].clone();
    assert_eq!(latencies(&again), latencies(&served));
}

#[test]
fn a_drive_with_more_flash_moves_less() {
    let (tiny, options) = (Tiny::default(), Options::default());
    let device = recording_device(&tiny.drive(), &options, "more");
    ask(&device, &mut Random::new(3), 5000);
    let served = device.outcome();
    let larger = Tiny { blocks_per_plane: 14, ..tiny }.drive();
    let again = asked_again(&device, &larger, &options);
    assert_eq!(again.ledger.host_written_bytes, served.ledger.host_written_bytes);
    let written = |outcome: &Outcome| outcome.ledger.programmed_units.total();
    assert!(written(&again) < written(&served) * 8 / 10, "{} and {}", written(&again), written(&served));
}
