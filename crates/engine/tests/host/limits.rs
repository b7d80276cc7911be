//! Does a job fail by its limits, at the time that the drive's own speed says, and only then?

use super::drives::*;
use serde_json::{Value, json};
use ssdlab_engine::simulation::{JobFailure, Limit};

fn limits(more: Value) -> Value {
    let none = json!({ "read": null, "write": null, "trim": null });
    let mut limits = json!({
        "bytes_per_second_min": none, "iops_min": none, "latency_ns_max": none, "window_ns": 500_000_000u64,
        "ends_others": "none",
    });
    change(&mut limits, &more);
    limits
}

/// Of reads one after the other on one die: how many were made, after which time, and what they failed by.
fn reads_under(more: Value) -> (u64, u64, Option<JobFailure>) {
    let drive = drive(1);
    let job = job(&drive, "read", u64::MAX, json!({ "runtime_ns": 4_000_000_000u64, "limits": limits(more) }));
    let measured = run_one(&drive, job);
    (measured.read.ios, took_ns(&measured), measured.timing.unwrap().failure)
}

#[test]
fn a_least_rate_is_asked_for_after_two_seconds_and_a_window() {
    let rate = 1_000_000_000 / READ_NS;
    let least = |iops: u64| json!({ "iops_min": { "read": iops, "write": null, "trim": null } });
    assert_eq!(reads_under(least(rate)).2, None);
    let (ios, took_ns, failure) = reads_under(least(rate + 1));
    // The window begins with the first read after two seconds and ends with the first after half a second more.
    let first = 2_000_000_000u64.div_ceil(READ_NS);
    let last = (first * READ_NS + 500_000_000).div_ceil(READ_NS);
    assert_eq!((ios, took_ns), (last, last * READ_NS));
    let failure = failure.unwrap();
    assert_eq!((failure.limit, failure.allowed, failure.found), (Limit::IopsMin, rate + 1, rate));
    let bytes = json!({ "bytes_per_second_min": { "read": (rate + 1) * UNIT, "write": 1, "trim": 1 } });
    assert_eq!(reads_under(bytes).2.map(|failure| failure.limit), Some(Limit::BytesPerSecondMin));
}

#[test]
fn a_longest_latency_is_met_to_the_nanosecond() {
    let longest = |ns: u64| json!({ "latency_ns_max": { "read": ns, "write": null, "trim": null } });
    assert_eq!(reads_under(longest(READ_NS)).2, None);
    let (ios, took_ns, failure) = reads_under(longest(READ_NS - 1));
    assert_eq!((ios, took_ns), (1, READ_NS));
    assert_eq!(failure.map(|failure| (failure.limit, failure.found)), Some((Limit::LatencyNsMax, READ_NS)));
}

#[test]
fn a_job_that_fails_ends_others_where_it_is_told_to() {
    let drive = drive(4);
    let ends = |others: &str| {
        let more = json!({ "latency_ns_max": { "read": 1, "write": null, "trim": null }, "ends_others": others });
        let failing = job(&drive, "read", 1000, json!({ "stage": 1, "limits": limits(more) }));
        let same_stage = job(&drive, "read", 1000, json!({ "stage": 1 }));
        let after = job(&drive, "read", 1000, json!({ "stage": 2 }));
        let outcome = run(&drive, vec![fill(&drive), failing, same_stage, after]);
        outcome.jobs[1..].iter().map(|job| job.read.ios).collect::<Vec<_>>()
    };
    assert_eq!(ends("none"), [1, 1000, 1000]);
    let [failed, same_stage, after] = ends("stage")[..] else { panic!("three jobs") };
    assert!(failed == 1 && same_stage < 10 && after == 1000);
    assert_eq!(ends("all")[2], 0);
}
