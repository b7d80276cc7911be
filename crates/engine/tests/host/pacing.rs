//! Is a job as slow as its options ask, and not slower?

use super::drives::*;
use serde_json::json;

#[test]
fn a_job_thinks_after_so_many_requests() {
    let drive = drive(1);
    for (blocks, depth, ios) in [(1u64, 1u64, 400), (5, 1, 400), (8, 4, 396), (8, 4, 400), (10, 10, 400)] {
        let think_ns = 1_000_000;
        let more = json!({ "think_time_ns": think_ns, "think_time_blocks": blocks, "iodepth": depth });
        let measured = run_one(&drive, job(&drive, "read", ios, more));
        // One die serves the reads of a round one after another; at depth 4 three more are outstanding when the eighth
        // is complete, and count for the next round. fio 3.33 with libaio, depth 10 and 10 blocks: 299 reads in 30
        // rounds. After the last round the job thinks once more, as in fio, but not after a round that is not full.
        let rounds = ios / blocks;
        assert_eq!(took_ns(&measured), ios * READ_NS + rounds * think_ns, "{blocks} blocks at depth {depth}");
    }
}

#[test]
fn a_linear_rate_is_kept_to_the_request() {
    let drive = drive(2);
    let bytes = json!({ "rate_bytes_per_second": { "read": 4_096_000, "write": null, "trim": null }, "iodepth": 8 });
    let ios = json!({ "rate_iops": { "read": 1000, "write": null, "trim": null }, "iodepth": 8 });
    for more in [bytes, ios] {
        let measured = run_one(&drive, job(&drive, "read", 2000, more));
        // The last of 2000 is issued 1999 ms after the first.
        near(seconds(&measured), 1.999 + READ_NS as f64 / 1e9, 1e-9);
        assert_eq!(reads(&measured).max_ns, Some(READ_NS));
    }
    // A rate that the drive cannot keep leaves the job as fast as the drive.
    let more = json!({ "rate_iops": { "read": 10_000_000, "write": null, "trim": null }, "iodepth": 8 });
    let fast = run_one(&drive, job(&drive, "read", 2000, more));
    let free = run_one(&drive, job(&drive, "read", 2000, json!({ "iodepth": 8 })));
    near(seconds(&fast), seconds(&free), 0.01);
}

/// Pollaczek and Khinchine: with random arrivals at a share r of what one server of fixed service time S can do, a
/// request takes S + S r / (2 (1 - r)) on average.
#[test]
fn a_poisson_rate_makes_the_queue_that_theory_expects() {
    let drive = drive(1);
    for load in [0.3, 0.6, 0.8] {
        let iops = (load * 1e9 / READ_NS as f64) as u64;
        let rate = json!({ "read": iops, "write": null, "trim": null });
        let more = json!({ "rate_iops": rate, "rate_process": "poisson", "iodepth": 1000 });
        let measured = run_one(&drive, job(&drive, "read", 300_000, more));
        near(300_000.0 / seconds(&measured), iops as f64, 0.01);
        let expected = READ_NS as f64 * (1.0 + load / (2.0 * (1.0 - load)));
        near(reads(&measured).mean_ns.unwrap(), expected, 0.03);
    }
}

#[test]
fn each_direction_has_its_own_rate() {
    let drive = drive(4);
    let rate = json!({ "read": 3000, "write": 1000, "trim": null });
    let more = json!({ "rate_iops": rate, "read_percent": 75.0, "iodepth": 16, "runtime_ns": 500_000_000u64 });
    let measured = run_one(&drive, job(&drive, "read-write", u64::MAX, more));
    near(measured.read.ios as f64, 1500.0, 0.03);
    near(measured.write.ios as f64, 500.0, 0.03);
}

#[test]
fn jobs_start_when_they_are_told_to() {
    let drive = drive(4);
    let first = job(&drive, "read", 100, json!({ "name": "first", "start_delay_ns": 2_000_000 }));
    let after = json!({ "name": "after", "wait_for": "first" });
    let late = json!({ "name": "late", "wait_for": "first", "start_delay_ns": 50_000_000 });
    let jobs = [first, job(&drive, "read", 100, after), job(&drive, "read", 100, late)];
    let jobs = jobs.map(|mut job| {
        job["stage"] = json!(1);
        job
    });
    let outcome = run(&drive, std::iter::once(fill(&drive)).chain(jobs).collect());
    let times: Vec<(u64, u64)> = outcome
        .jobs
        .iter()
        .map(|job| job.timing.as_ref().unwrap())
        .map(|timing| (timing.start_ns, timing.end_ns))
        .collect();
    let [fill, first, after, late] = times[..] else { panic!("four jobs") };
    let took_ns = 100 * READ_NS;
    assert_eq!(first, (fill.1 + 2_000_000, fill.1 + 2_000_000 + took_ns));
    assert_eq!(after, (first.1, first.1 + took_ns));
    assert_eq!(late, (fill.1 + 50_000_000, fill.1 + 50_000_000 + took_ns));
}

#[test]
fn what_completes_while_a_job_ramps_up_is_not_counted() {
    let drive = drive(4);
    let more = json!({ "ramp_ns": 5_000_000, "runtime_ns": 20_000_000, "time_based": true });
    let measured = run_one(&drive, job(&drive, "read", 1000, more));
    near(seconds(&measured), 0.02, 0.005);
    near(measured.read.ios as f64, 20_000_000.0 / READ_NS as f64, 0.01);
    assert_eq!(reads(&measured).count, measured.read.ios);
    assert!(measured.ledger.read_units.host.abs_diff(measured.read.ios) <= 1);
}

#[test]
fn a_job_that_thinks_past_its_end_ends_in_time() {
    let drive = drive(1);
    let more = json!({ "think_time_ns": 3_600_000_000_000u64, "runtime_ns": 1_000_000 });
    let measured = run_one(&drive, job(&drive, "read", 1000, more));
    assert_eq!(measured.read.ios, 1);
    near(seconds(&measured), 0.001, 1e-6);
}

#[test]
fn a_job_thinks_after_what_it_issued_or_after_a_time() {
    let drive = drive(1);
    let think_ns = 1_000_000;
    // Issued ones are counted: at depth 4 no more than eight are served between two pauses.
    let issued = json!({
        "think_time_ns": think_ns, "think_time_blocks": 8, "think_time_counts_issued": true, "iodepth": 4,
    });
    let measured = run_one(&drive, job(&drive, "read", 400, issued));
    assert_eq!(took_ns(&measured), 400 * READ_NS + 50 * think_ns);
    // Ten reads one after the other pass the time of nine and a half.
    let timed = json!({
        "think_time_ns": think_ns, "think_time_blocks": u32::MAX, "think_time_after_ns": READ_NS * 19 / 2,
    });
    let measured = run_one(&drive, job(&drive, "read", 400, timed));
    assert_eq!(took_ns(&measured), 400 * READ_NS + 40 * think_ns);
}

#[test]
fn a_rate_makes_up_for_pauses_or_leaves_them_out() {
    let drive = drive(1);
    let (gap_ns, think_ns) = (1_000_000, 20_000_000);
    let paced = |leaves: bool| {
        let rate = json!({ "read": 1000, "write": null, "trim": null });
        let more = json!({
            "rate_iops": rate, "think_time_ns": think_ns, "think_time_blocks": 10, "rate_leaves_think_time": leaves,
        });
        took_ns(&run_one(&drive, job(&drive, "read", 1000, more)))
    };
    // A hundred pauses as long as 20 requests of the rate: made up for, the rate holds in the first round only, and
    // later requests follow one another. Left out, every request but the first is a gap later than the one before.
    assert_eq!(paced(false), 9 * gap_ns + READ_NS + 99 * 10 * READ_NS + 100 * think_ns);
    assert_eq!(paced(true), 999 * gap_ns + READ_NS + 100 * think_ns);
}

#[test]
fn a_queue_that_runs_down_first_is_filled_all_at_once() {
    // One die serves one read after the other, so that four that come together wait for one, two, three and four.
    let drive = drive(1);
    let measured = run_one(&drive, job(&drive, "read", 400, json!({ "iodepth": 4, "refill_at": 0 })));
    near(reads(&measured).mean_ns.unwrap(), 2.5 * READ_NS as f64, 0.05);
    let full = run_one(&drive, job(&drive, "read", 400, json!({ "iodepth": 4 })));
    near(reads(&full).mean_ns.unwrap(), 4.0 * READ_NS as f64, 0.05);
    // Down to two, then two more: an average between both.
    let half = run_one(&drive, job(&drive, "read", 400, json!({ "iodepth": 4, "refill_at": 2 })));
    near(reads(&half).mean_ns.unwrap(), 3.5 * READ_NS as f64, 0.05);
}
