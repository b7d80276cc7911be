//! Does a run say of a loss of power what a drive with contents finds when it happens?

use crate::tiny::{Tiny, UNIT};
use ssdlab_blockdev::device::{Device, Durability};
use ssdlab_blockdev::drive::{Options, SimulatedDevice};
use ssdlab_engine::simulation::live::power::PowerLoss;

/// Before the first checkpoint every page that holds anything is looked at, and one of each erased erase unit.
#[test]
fn a_scan_costs_what_a_run_says() {
    for units in [1, 3, 64, 100, 150] {
        let tiny = Tiny { buffer_units: 0, ..Tiny::default() };
        let drive = tiny.drive();
        let device = SimulatedDevice::new(&drive, &Options::default()).unwrap();
        // At once, so that only the last program is filled up with padding.
        device.write(0, &vec![7; (units * UNIT) as usize], Durability::Cached).unwrap();
        device.flush().unwrap();
        let said = {
            let mut core = device.core();
            PowerLoss::of(&drive, &core.ftl().capacity(), core.ftl().ledger(), 0)
        };
        device.core().cut_power();
        let found = device.core().recovery().expect("the power came back");
        assert_eq!(
            (said.scanned_pages, said.duration_ns, said.checkpoint_units, said.torn_units),
            (found.scanned_pages, found.duration_ns, found.checkpoint_units, found.torn_units),
            "{units} units"
        );
    }
}

/// With a checkpoint only what was programmed since is looked at, and the map is read. The run's checkpoint falls where
/// a quarter of the flash, 160 units, has been programmed.
#[test]
fn a_checkpoint_makes_the_scan_shorter_as_a_run_says() {
    let drive = Tiny { buffer_units: 0, ..Tiny::default() }.drive();
    let device = SimulatedDevice::new(&drive, &Options::default()).unwrap();
    let write = |first: u64, units: u64| {
        device.write(first * UNIT, &vec![7; (units * UNIT) as usize], Durability::Cached).unwrap();
        device.flush().unwrap();
    };
    write(0, 160);
    device.core().checkpoint().unwrap();
    write(160, 96);
    let said = {
        let mut core = device.core();
        PowerLoss::of(&drive, &core.ftl().capacity(), core.ftl().ledger(), 0)
    };
    device.core().cut_power();
    let found = device.core().recovery().expect("the power came back");
    // The erase unit that was half full at the checkpoint is looked at in its other half.
    assert_eq!((said.scanned_pages, said.duration_ns), (found.scanned_pages, found.duration_ns));
    // Those since are in the run's number, as it does not keep the one of the checkpoint.
    assert_eq!((said.checkpoint_units, found.checkpoint_units), (256, 160));
}
