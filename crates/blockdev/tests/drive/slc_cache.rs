//! Are data where they belong while an SLC cache fills and is folded? In addition to `model` and `durability`, which
//! know nothing of the cache, this one sees to it that it was in use when the power went.

use crate::tiny::{SlcCache, Tiny, UNIT};
use ssdlab_blockdev::device::{Device, Durability};
use ssdlab_blockdev::drive::{Command, Options, Pace, SimulatedDevice};
use std::thread::sleep;
use std::time::{Duration, Instant};

const SECOND_NS: u64 = 1_000_000_000;

/// With power-loss protection and without, programmed page by page and in one shot.
fn drives(slc_cache: SlcCache) -> impl Iterator<Item = SimulatedDevice> {
    [(true, 1), (false, 1), (true, 4), (false, 4)].into_iter().map(move |(power_loss_protection, pages_per_program)| {
        let options = Options { power_loss_protection: Some(power_loss_protection), ..Options::default() };
        let tiny = Tiny { pages_per_program, ..Tiny::with_slc_cache(slc_cache) };
        SimulatedDevice::new(&tiny.drive(), &options).unwrap()
    })
}

fn unit(number: u64) -> Vec<u8> {
    vec![number as u8 + 1; UNIT as usize]
}

fn write(device: &SimulatedDevice, units: u64) {
    for number in 0..units {
        device.write(number * UNIT, &unit(number), Durability::Cached).unwrap();
    }
    device.flush().unwrap();
}

fn check(device: &SimulatedDevice, units: u64) {
    let mut read = vec![0; UNIT as usize];
    for number in 0..units {
        device.read(number * UNIT, &mut read).unwrap();
        assert_eq!(read, unit(number), "unit {number}");
    }
    let mut core = device.core();
    core.ftl().check_accounts().unwrap();
    core.ftl().check_map().unwrap();
}

fn folded_units(device: &SimulatedDevice) -> u64 {
    device.core().ftl().ledger().programmed_units.slc_fold
}

#[test]
fn idle_time_folds_the_cache_and_data_stay_as_they_are() {
    for device in drives(SlcCache::Direct) {
        write(&device, 60);
        assert_eq!(folded_units(&device), 0);
        device.carry_out(&Command::Idle { duration_ns: 10 * SECOND_NS }).unwrap();
        // Four are full; the one that is open stays.
        assert!(folded_units(&device) >= 40, "{}", folded_units(&device));
        assert!(device.core().now_ns() >= 10 * SECOND_NS);
        check(&device, 60);
        device.core().cut_power();
        check(&device, 60);
    }
}

#[test]
fn a_loss_of_power_leaves_the_cache_as_it_was() {
    for device in drives(SlcCache::Direct) {
        write(&device, 60);
        for _ in 0..3 {
            device.core().cut_power();
            check(&device, 60);
        }
        // What was found in SLC mode is folded as if nothing had happened.
        device.carry_out(&Command::Idle { duration_ns: 10 * SECOND_NS }).unwrap();
        assert!(folded_units(&device) >= 40, "{}", folded_units(&device));
        check(&device, 60);
    }
}

#[test]
fn the_power_goes_in_the_middle_of_folding() {
    for device in drives(SlcCache::Fold) {
        // More than the cache holds: what is written later waits for what is folded.
        write(&device, 200);
        let before = folded_units(&device);
        assert!(before > 0);
        device.core().cut_power();
        check(&device, 200);
        write(&device, 200);
        assert!(folded_units(&device) > before);
        check(&device, 200);
    }
}

/// Nobody says that time passes: it does.
#[test]
fn a_drive_at_real_pace_uses_the_time_between_requests() {
    let options = Options { power_loss_protection: Some(true), pace: Pace::Real, ..Options::default() };
    let device = SimulatedDevice::new(&Tiny::with_slc_cache(SlcCache::Direct).drive(), &options).unwrap();
    write(&device, 60);
    let until = Instant::now() + Duration::from_secs(60);
    while folded_units(&device) < 40 {
        assert!(Instant::now() < until, "{} units folded", folded_units(&device));
        // Longer than the drive waits before it takes itself to be idle.
        sleep(Duration::from_millis(200));
        device.read(0, &mut [0; UNIT as usize]).unwrap();
    }
    check(&device, 60);
}
