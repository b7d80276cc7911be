//! The outcome of a run is independent of the source of its requests: a source that repeats a stream's requests gives
//! the same outcome.

use super::*;
use crate::request::{Operation, Request};
use crate::specification::Until;
use crate::specification::drive::*;
use crate::specification::job::Direction;

const UNIT: u64 = 4096;

/// 64 erase units of 16 units, a quarter of them spare.
fn drive() -> Drive {
    let textbook = Drive::textbook();
    Drive {
        name: "tiny".into(),
        nand: Nand {
            cell: Cell::Slc,
            read_us: 25.0.into(),
            program_us: 200.0.into(),
            erase_us: 1500.0,
            channel_mb_s: 200.0,
            ..textbook.nand
        },
        ftl: Ftl { user_bytes: 768 * UNIT, ..textbook.ftl },
        ..textbook
    }
}

fn job(stage: u32, sequential: bool, direction: Direction, passes: u64) -> Job {
    let sizes = |list: &[(u32, f64)]| -> Vec<serde_json::Value> {
        list.iter().map(|(bytes, percent)| serde_json::json!({ "bytes": bytes, "percent": percent })).collect()
    };
    let sizes = if sequential { sizes(&[(16384, 100.0)]) } else { sizes(&[(512, 10.0), (4096, 60.0), (16384, 30.0)]) };
    let job = serde_json::json!({
        "name": "job",
        "clone": 0,
        "stage": stage,
        "direction": direction,
        "sequential": sequential,
        "read_percent": 30.0,
        "offset_bytes": 0,
        "size_bytes": 768 * UNIT,
        "io_bytes": passes * 768 * UNIT,
        "number_ios": null,
        "loops": 1,
        "block_sizes": { "read": sizes, "write": sizes, "trim": sizes },
        "block_align_bytes": { "read": 512, "write": 512, "trim": 512 },
        "distribution": { "name": "random" },
        "random_map": false,
        "seed": 7,
        "iodepth": 1,
    });
    serde_json::from_value(job).expect("what a job says")
}

fn specification(jobs: Vec<Job>, until: Until) -> Specification {
    Specification { seed: 1, timed: false, drive: drive(), until, series_points_max: 64, interval_ns: None, jobs }
}

fn run(simulation: Result<Simulation, SpecificationError>) -> Result<Outcome, SourceError> {
    let mut simulation = simulation.expect("a good specification");
    while !simulation.advance(1000)?.is_finished {}
    Ok(simulation.finish())
}

/// Recorded requests, and how often they may be repeated.
struct Recorded {
    requests: Vec<Request>,
    at: usize,
    restarts_left: usize,
}

impl Recorded {
    fn new(requests: Vec<Request>) -> Self {
        Self { requests, at: 0, restarts_left: 0 }
    }
}

impl RequestSource for Recorded {
    fn fill(&mut self, out: &mut Vec<Request>, count_max: usize) -> Result<usize, SourceError> {
        let left = &self.requests[self.at..];
        let count = count_max.min(left.len());
        out.extend_from_slice(&left[..count]);
        self.at += count;
        Ok(count)
    }

    fn restart(&mut self) {
        if self.restarts_left > 0 {
            self.restarts_left -= 1;
            self.at = 0;
        }
    }

    fn progress(&self) -> f64 {
        self.at as f64 / self.requests.len() as f64
    }
}

fn requests(job: &Job) -> Vec<Request> {
    let mut stream = Stream::new(job).expect("a good job");
    let mut requests = Vec::new();
    while stream.fill(&mut requests, 1000) > 0 {}
    requests
}

#[test]
fn what_is_given_runs_as_the_job_would() {
    for direction in [Direction::Write, Direction::ReadWrite, Direction::TrimWrite] {
        let (fill, last) = (job(0, true, Direction::Write, 1), job(1, false, direction, 6));
        let recorded = Box::new(Recorded::new(requests(&last)));
        let given = Simulation::replaying(&specification(vec![fill.clone()], Until::Job), "job", recorded, None);
        let own = Simulation::new(&specification(vec![fill, last], Until::Job));
        let (given, own) = (run(given).unwrap(), run(own).unwrap());
        assert!(own.ledger.programmed_units.gc > 0, "so short a run would prove little");
        assert_eq!(given, own);
    }
}

#[test]
fn it_needs_no_job_before_it() {
    let recorded = Recorded::new(requests(&job(0, false, Direction::ReadWrite, 2)));
    let written: u64 = recorded
        .requests
        .iter()
        .filter(|request| request.operation == Operation::Write)
        .map(|request| u64::from(request.length_bytes))
        .sum();
    let outcome =
        run(Simulation::replaying(&specification(vec![], Until::Job), "alone", Box::new(recorded), None)).unwrap();
    assert_eq!((outcome.jobs[0].name.as_str(), outcome.jobs[0].stage), ("alone", 0));
    assert_eq!(outcome.ledger.host_written_bytes, written);
    assert!(Simulation::new(&specification(vec![], Until::Job)).is_err(), "nor is a run of nothing one");
}

#[test]
fn it_starts_over_until_the_steady_state_and_ends_when_it_is_empty_then() {
    let until = Until::SteadyState { round_bytes: 768 * UNIT, host_bytes_max: 100 * 768 * UNIT, precision: None };
    let fill = job(0, true, Direction::Write, 1);
    let start = |restarts_left| {
        let requests = requests(&job(1, false, Direction::Write, 1));
        let recorded = Box::new(Recorded { restarts_left, ..Recorded::new(requests) });
        run(Simulation::replaying(&specification(vec![fill.clone()], until.clone()), "job", recorded, None)).unwrap()
    };
    let steady = start(1000).steady_state.expect("rounds were counted");
    assert!(steady.reached && steady.round_waf.len() >= 5, "{steady:?}");
    let ended = start(2).steady_state.expect("rounds were counted");
    assert!(!ended.reached && ended.round_waf.len() <= 3, "{ended:?}");
}

#[test]
fn an_error_of_the_source_ends_the_run() {
    struct Torn;
    impl RequestSource for Torn {
        fn fill(&mut self, _: &mut Vec<Request>, _: usize) -> Result<usize, SourceError> {
            Err("torn in two".into())
        }
        fn restart(&mut self) {}
        fn progress(&self) -> f64 {
            0.0
        }
    }
    let fill = job(0, true, Direction::Write, 1);
    let error = run(Simulation::replaying(&specification(vec![fill], Until::Job), "torn", Box::new(Torn), None));
    assert_eq!(error.unwrap_err().to_string(), "torn in two");
}
