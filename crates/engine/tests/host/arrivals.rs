//! Requests that arrive at times of their own: what they wait counts, and idle gaps pass.

use super::drives::*;
use serde_json::json;
use ssdlab_engine::request::{Operation, Request};
use ssdlab_engine::simulation::{Arrival, Outcome, RequestSource, SourceError, TimedSimulation};
use ssdlab_engine::specification::{Specification, Until};

/// Reads of the first units at such times.
struct Reads {
    times_ns: Vec<u64>,
    at: usize,
    fails_at: usize,
}

impl RequestSource for Reads {
    fn fill(&mut self, _out: &mut Vec<Request>, _count_max: usize) -> Result<usize, SourceError> {
        unreachable!("it has times")
    }
    fn fill_arrivals(
        &mut self,
        out: &mut Vec<Request>,
        arrivals_ns: &mut Vec<u64>,
        count_max: usize,
    ) -> Result<usize, SourceError> {
        if self.at >= self.fails_at {
            return Err("line 5 is no request".into());
        }
        let end = self.times_ns.len().min(self.at + count_max);
        let times_ns = &self.times_ns[self.at..end];
        self.at = end;
        arrivals_ns.extend(times_ns);
        out.extend((0..times_ns.len() as u64).map(|unit| Request::new(Operation::Read, unit * UNIT, UNIT as u32)));
        Ok(times_ns.len())
    }
    fn restart(&mut self) {
        self.at = 0;
    }
    fn progress(&self) -> f64 {
        self.at as f64 / self.times_ns.len() as f64
    }
}

/// On a filled drive with one die, at most so many outstanding.
fn replay(times_ns: Vec<u64>, depth: u32, fails_at: usize) -> Result<Outcome, SourceError> {
    let drive = drive(1);
    let specification = Specification {
        seed: 1,
        drive: serde_json::from_value(drive.clone()).unwrap(),
        timed: true,
        until: Until::Job,
        series_points_max: 64,
        interval_ns: None,
        jobs: vec![serde_json::from_value(fill(&drive)).unwrap()],
    };
    let source = Box::new(Reads { times_ns, at: 0, fails_at });
    let arrival = Arrival { depth, has_times: true };
    let mut simulation = TimedSimulation::replaying(&specification, "replay", source, arrival, None).unwrap();
    while !simulation.advance(1000)?.is_finished {}
    Ok(simulation.finish())
}

#[test]
fn a_request_that_finds_the_drive_busy_waits_and_that_counts() {
    let hour_ns = 3_600_000_000_000;
    for depth in [1, 2, 64] {
        // Three together, one while they are served, one after an hour.
        let outcome = replay(vec![0, 0, 0, 100_000, hour_ns], depth, usize::MAX).unwrap();
        let replayed = &outcome.jobs[1];
        let mut expected = [READ_NS, 2 * READ_NS, 3 * READ_NS, 4 * READ_NS - 100_000, READ_NS];
        expected.sort_unstable();
        let latency = reads(replayed);
        assert_eq!((latency.count, latency.min_ns, latency.max_ns), (5, Some(READ_NS), Some(3 * READ_NS)));
        near(latency.mean_ns.unwrap(), expected.iter().sum::<u64>() as f64 / 5.0, 1e-9);
        near(seconds(replayed), (hour_ns + READ_NS) as f64 / 1e9, 1e-12);
    }
}

/// A server that takes S and is asked every A: nobody waits while A is above S, and the n-th waits n (S - A) when not.
#[test]
fn a_drive_that_is_too_slow_falls_behind_for_as_long_as_it_is_asked() {
    let every = |gap_ns: u64| (0..1000).map(|number| number * gap_ns).collect::<Vec<u64>>();
    let easy = replay(every(READ_NS + 10), 256, usize::MAX).unwrap();
    assert_eq!(reads(&easy.jobs[1]).max_ns, Some(READ_NS));
    let hard = replay(every(READ_NS - 10_000), 256, usize::MAX).unwrap();
    assert_eq!(reads(&hard.jobs[1]).max_ns, Some(READ_NS + 999 * 10_000));
    near(seconds(&hard.jobs[1]), 1000.0 * READ_NS as f64 / 1e9, 1e-9);
}

#[test]
fn the_error_of_a_source_ends_the_run() {
    let failed = replay((0..1000).collect(), 8, 200).unwrap_err();
    assert_eq!(failed.to_string(), "line 5 is no request");
    let json = json!(replay(vec![0; 10], 8, usize::MAX).unwrap());
    assert_eq!(json["jobs"][1]["read"]["ios"], 10);
}
