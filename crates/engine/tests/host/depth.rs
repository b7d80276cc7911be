//! Does a job that looks for the depth that suits a latency find the one that the drive's own times say?

use super::drives::*;
use serde_json::{Value, json};
use ssdlab_engine::simulation::{DepthFound, JobOutcome, Limit};

const WINDOW_NS: u64 = 20_000_000;

/// Reads of one die, which serves one after the other, so that so many outstanding take as many times one.
fn looking(latency_ns: u64, more: Value) -> JobOutcome {
    let drive = drive(1);
    let target = json!({ "latency_ns": latency_ns, "window_ns": WINDOW_NS, "percent": 100.0, "goes_on": false });
    let mut job = job(&drive, "read", 1_000_000, json!({ "iodepth": 64, "latency_target": target }));
    change(&mut job, &more);
    run_one(&drive, job)
}

#[test]
fn the_depth_is_as_many_as_are_served_in_the_time() {
    for depth in [1u64, 3, 4, 7, 16] {
        let measured = looking(depth * READ_NS + READ_NS / 2, json!({}));
        let found = measured.timing.as_ref().unwrap().depth;
        assert_eq!(found, Some(DepthFound { depth: depth as u32, is_final: true }));
        // Counted is the last window alone: the reads until it ends, and those that are outstanding then.
        let last = WINDOW_NS.div_ceil(READ_NS);
        assert_eq!((measured.read.ios, took_ns(&measured)), (last + depth - 1, (last + depth - 1) * READ_NS));
        assert_eq!(reads(&measured).max_ns, Some(depth * READ_NS));
    }
}

#[test]
fn it_looks_no_deeper_than_it_may() {
    let measured = looking(READ_NS * 100, json!({ "iodepth": 5 }));
    assert_eq!(measured.timing.unwrap().depth, Some(DepthFound { depth: 5, is_final: true }));
}

#[test]
fn one_that_is_late_alone_fails() {
    let measured = looking(READ_NS - 1, json!({}));
    let timing = measured.timing.as_ref().unwrap();
    let failure = timing.failure.unwrap();
    assert_eq!((failure.limit, failure.allowed, failure.found), (Limit::LatencyNsMax, READ_NS - 1, READ_NS));
    assert_eq!((measured.read.ios, timing.depth.map(|found| found.is_final)), (1, Some(false)));
}

#[test]
fn its_time_and_its_amount_go_on_through_the_search() {
    let target = json!({ "latency_ns": READ_NS * 3, "window_ns": WINDOW_NS, "percent": 100.0, "goes_on": true });
    let more = json!({ "latency_target": target, "runtime_ns": 30 * WINDOW_NS, "ramp_ns": WINDOW_NS });
    let measured = looking(0, more);
    near(took_ns(&measured) as f64, 30.0 * WINDOW_NS as f64, 0.001);
    assert!(measured.read.ios * READ_NS <= 30 * WINDOW_NS + READ_NS * 64);
    let measured = looking(READ_NS * 9 / 2, json!({ "number_ios": 100 }));
    assert_eq!((measured.read.ios, measured.timing.unwrap().depth.unwrap().is_final), (100, false));
}
