//! Simulation testing for as long as it is let: `cargo run --release -p ssdlab-blockdev --example durability -- HOURS
//! [FIRST-SEED [nvme]]`. Prints the seed and the shortest sequence of the first failure. With `nvme` the requests are
//! those of a host that has the drive attached over NVMe/TCP, and that connects again after every loss of power. With
//! `CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true` an error in the map is found where it happens; without, it is missed if
//! the unit is overwritten before it is read.

#[expect(dead_code, reason = "the host does what the drive's tests need")]
#[path = "../tests/nvme/initiator.rs"]
mod initiator;
#[path = "../tests/tiny/durability.rs"]
mod simulation;
#[path = "../tests/nvme/through.rs"]
mod through;
#[path = "../tests/tiny/mod.rs"]
mod tiny;

use simulation::{Front, Scenario, itself, operations, run_caught, shrink};
use std::time::{Duration, Instant};

const OPERATIONS: u64 = 20_000;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let hours: f64 = arguments.next().map_or(1.0, |text| text.parse().expect("HOURS is a number"));
    let mut seed: u64 = arguments.next().map_or(0, |text| text.parse().expect("FIRST-SEED is a whole number"));
    let is_through_nvme = match arguments.next().as_deref() {
        None => false,
        Some("nvme") => true,
        Some(other) => panic!("{other}: nvme, or nothing"),
    };
    let front: Front = if is_through_nvme { through::through } else { itself };
    let started = Instant::now();
    let (mut executed, mut erased, mut power_cycles, mut torn_units, mut lost_units, mut read_only) =
        (0, 0, 0, 0, 0, 0);
    while started.elapsed() < Duration::from_secs_f64(hours * 3600.0) {
        let scenario = Scenario::of_seed(seed);
        let mut steps = operations(&scenario, OPERATIONS);
        if is_through_nvme {
            steps = steps.into_iter().map(through::in_blocks).collect();
        }
        match run_caught(&scenario, &steps, front) {
            Ok(summary) => {
                executed += summary.executed;
                erased += summary.erased;
                power_cycles += summary.power_cycles;
                torn_units += summary.torn_units;
                lost_units += summary.events.lost_units;
                read_only += u64::from(summary.is_read_only);
            }
            Err(wrong) => {
                let shortest = shrink(&scenario, &steps, front, 120);
                println!("seed {seed}: {wrong}\n{scenario:?}\n{} operations: {shortest:#?}", shortest.len());
                std::process::exit(1);
            }
        }
        seed += 1;
        if is_through_nvme || seed.is_multiple_of(50) {
            let seconds = started.elapsed().as_secs_f64();
            println!(
                "{executed} operations in {seconds:.0} s, up to seed {seed}: {power_cycles} losses of power, {erased} erases, \
                 {torn_units} torn units, {lost_units} lost, {read_only} drives worn out"
            );
        }
    }
}
