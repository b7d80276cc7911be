//! A limit in watts: the mean power of a drive under load is the limit, throughput falls as far as that asks, and a
//! drive that needs less does not notice it.

use super::drives::*;
use serde_json::{Value, json};
use ssdlab_engine::ledger::Ledger;
use ssdlab_engine::simulation::JobOutcome;
use ssdlab_engine::specification::drive::Power;

const IDLE_WATTS: f64 = 1.0;
const READ_UJ: f64 = 15.0;
const PROGRAM_UJ: f64 = 50.0;
const ERASE_UJ: f64 = 400.0;
const COMMAND_UJ: f64 = 2.0;
const BYTE_NJ: f64 = 0.3;
const DIES: u64 = 8;

fn limited(limit_watts: Option<f64>, buffer_units: u64) -> Value {
    let mut drive = drive(DIES as u32);
    drive["write_buffer"] = json!({ "bytes": buffer_units * UNIT });
    drive["power"] = json!({
        "idle_watts": IDLE_WATTS, "read_uj": READ_UJ, "program_uj": PROGRAM_UJ, "erase_uj": ERASE_UJ,
        "command_uj": COMMAND_UJ, "transfer_nj_per_byte": BYTE_NJ, "limit_watts": limit_watts,
    });
    drive
}

/// Pages of one unit, erase units of a block of each die.
fn joules(ledger: &Ledger, commands: u64) -> f64 {
    let bytes = (ledger.host_written_bytes + ledger.host_read_bytes) as f64;
    let of_operations = ledger.read_units.total() as f64 * READ_UJ
        + ledger.programmed_units.total() as f64 * PROGRAM_UJ
        + (ledger.erased_erase_units * DIES) as f64 * ERASE_UJ
        + commands as f64 * COMMAND_UJ;
    of_operations / 1e6 + bytes * BYTE_NJ / 1e9
}

/// A filled drive that is overwritten once at random, then requests that spend what it saved up meanwhile, and then as
/// many again: their mean watts and the job.
fn measured(drive: &Value, direction: &str, depth: u64) -> (f64, JobOutcome) {
    let requests = 60_000;
    let before = job(drive, "write", user_bytes(drive) / UNIT, json!({ "stage": 1, "iodepth": 32 }));
    let of_stage = |stage: u32| {
        let more = json!({ "stage": stage, "iodepth": depth, "read_percent": 50.0, "seed": stage });
        job(drive, direction, requests, more)
    };
    let outcome = run(drive, vec![fill(drive), before, of_stage(2), of_stage(3)]);
    let job = outcome.jobs.into_iter().next_back().unwrap();
    (IDLE_WATTS + joules(&job.ledger, requests) / seconds(&job), job)
}

#[test]
fn mean_power_is_the_limit_and_throughput_falls_in_proportion() {
    for (direction, buffer_units) in [("read", 0), ("write", 256), ("write", 0), ("read-write", 256)] {
        let (free_watts, free) = measured(&limited(None, buffer_units), direction, 32);
        for share in [0.75, 0.4] {
            let limit_watts = IDLE_WATTS + share * (free_watts - IDLE_WATTS);
            let (watts, slowed) = measured(&limited(Some(limit_watts), buffer_units), direction, 32);
            assert!((watts / limit_watts - 1.0).abs() < 0.02, "{direction}: {watts} W at {limit_watts} W");
            // The same requests take the same energy, with what garbage collection differs by.
            let slower = seconds(&free) / seconds(&slowed);
            assert!((slower / share - 1.0).abs() < 0.04, "{direction}: {slower} of the speed at {share}");
        }
    }
}

#[test]
fn a_drive_that_needs_less_does_not_notice_its_limit() {
    let (free_watts, free) = measured(&limited(None, 256), "read-write", 4);
    let (watts, limited) = measured(&limited(Some(1.1 * free_watts), 256), "read-write", 4);
    assert!((watts / free_watts - 1.0).abs() < 0.005, "{watts} W, {free_watts} W without a limit");
    assert!((seconds(&limited) / seconds(&free) - 1.0).abs() < 0.005);
}

#[test]
fn a_pause_saves_up_energy_for_a_tenth_of_a_second_only() {
    let drive = limited(Some(2.0), 0);
    // Of one watt beyond the power at rest, a read takes what its command, its page and its bytes need.
    let each_us = COMMAND_UJ + READ_UJ + UNIT as f64 * BYTE_NJ / 1e3;
    let burst = 20_000;
    let pause = json!({ "stage": 1, "start_delay_ns": 5_000_000_000u64, "iodepth": 64 });
    let reads = run(&drive, vec![fill(&drive), job(&drive, "read", burst, pause)]).jobs.pop().unwrap();
    let expected = burst as f64 * each_us / 1e6 - 0.1;
    assert!((seconds(&reads) / expected - 1.0).abs() < 0.02, "{} s, not {expected} s", seconds(&reads));
}

#[test]
fn a_limit_without_the_energies_or_below_the_power_at_rest_is_refused() {
    let refused = |power: Power, key: &str| assert_eq!(power.check().expect_err(key).key, format!("power.{key}"));
    let all = Power { idle_watts: Some(1.0), read_uj: Some(10.0), program_uj: Some(50.0), ..Power::default() };
    Power::default().check().unwrap();
    Power { limit_watts: Some(3.0), ..all.clone() }.check().unwrap();
    refused(Power { limit_watts: Some(1.0), ..all.clone() }, "limit_watts");
    refused(Power { limit_watts: Some(3.0), read_uj: None, ..all.clone() }, "read_uj");
    refused(Power { limit_watts: Some(3.0), idle_watts: None, ..all }, "idle_watts");
}
