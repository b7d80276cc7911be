//! Does a drive without room for its map find its map pages again after a loss of power? In addition to `model` and
//! `durability`, which know only of the host's data, this one looks at what the drive fetches for it.

use crate::tiny::{Tiny, UNIT};
use ssdlab_blockdev::device::{Device, Durability};
use ssdlab_blockdev::drive::{Options, SimulatedDevice};
use ssdlab_engine::ledger::Ledger;

/// Those that a map page names.
const ENTRIES: u64 = 16;
const UNITS: u64 = 320;

fn drive(form: &'static str, power_loss_protection: bool) -> SimulatedDevice {
    let options = Options { power_loss_protection: Some(power_loss_protection), ..Options::default() };
    SimulatedDevice::new(&Tiny { map_cache: Some(form), ..Tiny::default() }.drive(), &options).unwrap()
}

fn write(device: &SimulatedDevice, units: impl Iterator<Item = u64>) {
    for number in units {
        device.write(number * UNIT, &unit(number), Durability::Cached).unwrap();
    }
    device.flush().unwrap();
}

fn unit(number: u64) -> Vec<u8> {
    vec![number as u8 | 1; UNIT as usize]
}

fn read(device: &SimulatedDevice, number: u64) -> Vec<u8> {
    let mut read = vec![0xee; UNIT as usize];
    device.read(number * UNIT, &mut read).unwrap();
    read
}

fn check(device: &SimulatedDevice) {
    let mut core = device.core();
    core.ftl().check_accounts().unwrap();
    core.ftl().check_map().unwrap();
}

fn ledger(device: &SimulatedDevice) -> Ledger {
    *device.core().ftl().ledger()
}

/// A unit that holds nothing reads zeroes, although fetching the map page that says so takes flash operations. They
/// were once taken for the unit's own, and whatever stood in the host's buffer was left there.
#[test]
fn what_was_trimmed_reads_zeroes_though_its_map_page_is_fetched() {
    let device = drive("page", true);
    write(&device, 0..UNITS);
    device.trim(5 * UNIT, UNIT).unwrap();
    write(&device, 100..UNITS);
    let before = ledger(&device).read_units;
    assert_eq!(read(&device, 5), vec![0; UNIT as usize]);
    let after = ledger(&device).read_units;
    assert_eq!((after.metadata - before.metadata, after.host - before.host), (1, 0));
}

#[test]
fn map_pages_are_found_again_and_fetched_when_they_are_needed() {
    for power_loss_protection in [true, false] {
        let device = drive("page", power_loss_protection);
        // All twenty map pages were in use, and all but the four of the cache were written back.
        write(&device, 0..UNITS);
        for has_checkpoint in [false, true] {
            if has_checkpoint {
                device.core().checkpoint().unwrap();
            }
            device.core().cut_power();
            check(&device);
            let before = ledger(&device);
            for number in 0..UNITS {
                assert_eq!(read(&device, number), unit(number), "unit {number}");
            }
            check(&device);
            let after = ledger(&device);
            assert_eq!(after.map_page_lookups - before.map_page_lookups, UNITS);
            let fetched = after.read_units.metadata - before.read_units.metadata;
            // The last four were never evicted, and so never in flash: the scan alone knows what they said.
            assert_eq!(fetched, UNITS / ENTRIES - 4);
            // What the scan has found is in memory alone until the map page that lacks it is written back.
            let written_back = after.programmed_units.metadata - before.programmed_units.metadata;
            assert_eq!(written_back, UNITS / ENTRIES - 4);
        }
    }
}

#[test]
fn what_was_written_in_order_needs_no_map_page_after_a_loss_of_power_either() {
    for power_loss_protection in [true, false] {
        let device = drive("extent", power_loss_protection);
        write(&device, 0..UNITS);
        // One of a segment is rewritten, and so the segment is no longer one run.
        write(&device, [3 * ENTRIES + 5].into_iter());
        device.core().cut_power();
        check(&device);
        let before = ledger(&device);
        for number in 0..UNITS {
            assert_eq!(read(&device, number), unit(number), "unit {number}");
        }
        assert_eq!(ledger(&device).map_page_lookups - before.map_page_lookups, ENTRIES);
        // Written in order again, it is one again.
        write(&device, 3 * ENTRIES..4 * ENTRIES);
        let before = ledger(&device);
        (0..UNITS).for_each(|number| assert_eq!(read(&device, number), unit(number), "unit {number}"));
        assert_eq!(ledger(&device).map_page_lookups, before.map_page_lookups);
        check(&device);
    }
}
