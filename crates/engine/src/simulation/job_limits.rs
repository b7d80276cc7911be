//! The limits of one job, on the drive's clock, under which it fails as in fio 3.33 (`backend.c`, `io_u.c`).
//!
//! Two seconds after its start the job's windows begin, one for each direction; at the first request that completes
//! after the end of a window its rate is compared with the minimum, and the next window begins. A direction without
//! completed requests is not checked. A request that takes too long fails the job at any time, even while it ramps up.

use crate::request::Operation;
use crate::specification::job::{EndsOthers, JobLimits, PerDirection};
use crate::timing::front::Completion;
use schemars::JsonSchema;
use serde::Serialize;

const SETTLING_NS: u64 = 2_000_000_000;
const DIRECTIONS: [Operation; 3] = [Operation::Read, Operation::Write, Operation::Trim];

/// The limit that a job violated, and by how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JobFailure {
    /// The limit.
    pub limit: Limit,
    /// As fio numbers them: 0 reads, 1 writes, 2 trims.
    pub direction: u8,
    /// In bytes or requests a second, or nanoseconds.
    pub allowed: u64,
    /// The rate or latency found.
    pub found: u64,
    /// The request that completed at that moment.
    pub offset_bytes: u64,
    /// Length of that request.
    pub length_bytes: u32,
}

impl JobFailure {
    /// A violation at a completion.
    pub fn at(limit: Limit, direction: Operation, allowed: u64, found: u64, completion: &Completion) -> Self {
        let Completion { offset_bytes, length_bytes, .. } = *completion;
        Self { limit, direction: direction as u8, allowed, found, offset_bytes, length_bytes }
    }
}

/// The limits of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Least bytes a second.
    BytesPerSecondMin,
    /// Least requests a second.
    IopsMin,
    /// Longest latency.
    LatencyNsMax,
}

#[derive(Clone, Debug)]
pub struct LimitedJob {
    limits: JobLimits,
    latency_ns_max: [u64; DIRECTIONS.len()],
    windows: [Window; DIRECTIONS.len()],
    /// The earliest end of a window.
    next_ns: u64,
    failure: Option<JobFailure>,
}

/// Completed requests of a direction.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    /// None before the first.
    since_ns: Option<u64>,
    ios: u64,
    bytes: u64,
}

impl LimitedJob {
    pub fn new(limits: JobLimits) -> Self {
        let longest = |direction| *of(&limits.latency_ns_max, direction);
        Self {
            latency_ns_max: DIRECTIONS.map(|direction| longest(direction).unwrap_or(u64::MAX)),
            windows: Default::default(),
            next_ns: u64::MAX,
            failure: None,
            limits,
        }
    }

    pub fn failure(&self) -> Option<JobFailure> {
        self.failure
    }

    /// Which others the job ends when it fails.
    pub fn ends_others(&self) -> EndsOthers {
        self.limits.ends_others
    }

    /// The same limits, of a job that begins now.
    pub fn restarted(self) -> Self {
        Self::new(self.limits)
    }

    /// A request of the job has completed; `time_ns` is None before the time that counts. Returns whether the job has
    /// failed.
    pub fn add(&mut self, completion: &Completion, time_ns: Option<u64>) -> bool {
        let direction = completion.operation as usize;
        if direction >= DIRECTIONS.len() || self.failure.is_some() {
            return self.failure.is_some();
        }
        let latency_ns = completion.completed_ns - completion.issued_ns;
        if latency_ns > self.latency_ns_max[direction] {
            let allowed = self.latency_ns_max[direction];
            self.fail(Limit::LatencyNsMax, completion.operation, allowed, latency_ns, completion);
        } else if let Some(time_ns) = time_ns {
            let window = &mut self.windows[direction];
            window.ios += 1;
            window.bytes += u64::from(completion.length_bytes);
            let is_first = window.since_ns.is_none() && time_ns >= SETTLING_NS;
            if is_first || time_ns >= self.next_ns {
                self.end_windows(time_ns, completion);
            }
        }
        self.failure.is_some()
    }

    fn end_windows(&mut self, time_ns: u64, completion: &Completion) {
        for direction in DIRECTIONS {
            let window = &mut self.windows[direction as usize];
            let goes_on = window.since_ns.is_some_and(|since_ns| time_ns - since_ns < self.limits.window_ns);
            if goes_on || (window.since_ns.is_none() && window.ios == 0) {
                continue;
            }
            let ended = std::mem::replace(window, Window { since_ns: Some(time_ns), ..Window::default() });
            if let Some(since_ns) = ended.since_ns {
                self.judge(direction, ended, time_ns - since_ns, completion);
            }
        }
        let begun = self.windows.iter().filter_map(|window| window.since_ns);
        self.next_ns = begun.map(|since_ns| since_ns + self.limits.window_ns).min().unwrap_or(u64::MAX);
    }

    fn judge(&mut self, direction: Operation, window: Window, length_ns: u64, completion: &Completion) {
        let rate = |count: u64| (u128::from(count) * 1_000_000_000 / u128::from(length_ns.max(1))) as u64;
        let (limit, allowed, found) = match *of(&self.limits.bytes_per_second_min, direction) {
            Some(allowed) => (Limit::BytesPerSecondMin, allowed, rate(window.bytes)),
            None => (Limit::IopsMin, of(&self.limits.iops_min, direction).unwrap_or(0), rate(window.ios)),
        };
        if found < allowed {
            self.fail(limit, direction, allowed, found, completion);
        }
    }

    fn fail(&mut self, limit: Limit, direction: Operation, allowed: u64, found: u64, completion: &Completion) {
        self.failure.get_or_insert(JobFailure::at(limit, direction, allowed, found, completion));
    }
}

fn of<T>(values: &PerDirection<T>, direction: Operation) -> &T {
    match direction {
        Operation::Write => &values.write,
        Operation::Trim => &values.trim,
        Operation::Read | Operation::Flush => &values.read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn none() -> PerDirection<Option<u64>> {
        PerDirection { read: None, write: None, trim: None }
    }

    fn limits() -> JobLimits {
        JobLimits {
            bytes_per_second_min: none(),
            iops_min: none(),
            window_ns: SECOND_NS,
            latency_ns_max: none(),
            ends_others: EndsOthers::None,
        }
    }

    fn done(operation: Operation, time_ns: u64, latency_ns: u64) -> Completion {
        // The job starts at one second of the host's time.
        let completed_ns = SECOND_NS + time_ns;
        let issued_ns = completed_ns - latency_ns;
        Completion {
            tag: 0,
            operation,
            is_through: false,
            length_bytes: 1000,
            offset_bytes: 7,
            issued_ns,
            completed_ns,
        }
    }

    /// This many requests evenly over each second, and the first of the next; returns when and why the job failed.
    fn failure_of(limits: JobLimits, operation: Operation, each_second: &[u64]) -> Option<(u64, JobFailure)> {
        let mut limited = LimitedJob::new(limits);
        let counted = each_second.iter().enumerate();
        let times = counted.flat_map(|(second, &ios)| {
            (0..ios).map(move |request| second as u64 * SECOND_NS + request * SECOND_NS / ios)
        });
        for time_ns in times.chain([each_second.len() as u64 * SECOND_NS]) {
            if limited.add(&done(operation, time_ns, 500), Some(time_ns)) {
                return limited.failure().map(|failure| (time_ns, failure));
            }
        }
        None
    }

    #[test]
    fn each_window_after_two_seconds_has_to_reach_the_least() {
        let least = JobLimits { iops_min: PerDirection { write: Some(80), ..none() }, ..limits() };
        let (at_ns, failure) = failure_of(least.clone(), Operation::Write, &[1, 5, 80, 100, 79, 100]).unwrap();
        assert_eq!((at_ns, failure.limit), (5 * SECOND_NS, Limit::IopsMin));
        assert_eq!((failure.direction, failure.allowed, failure.found), (1, 80, 79));
        assert_eq!(
            failure_of(least.clone(), Operation::Write, &[1, 5, 80, 100, 80, 79]).map(|(at, _)| at),
            Some(6 * SECOND_NS)
        );
        assert_eq!(failure_of(least.clone(), Operation::Write, &[1, 5, 80, 100, 80]), None);
        assert_eq!(failure_of(least, Operation::Read, &[1; 9]), None, "of another direction");
    }

    #[test]
    fn a_window_ends_with_the_first_request_after_it() {
        let window = JobLimits { bytes_per_second_min: PerDirection { read: Some(2000), ..none() }, ..limits() };
        // One request every 1.5 s: the first window begins at 3 s and ends at 4.5 s, with 1000 bytes in it.
        let mut limited = LimitedJob::new(window);
        let fails = |limited: &mut LimitedJob, time_ns| limited.add(&done(Operation::Read, time_ns, 9), Some(time_ns));
        assert!((1..3).all(|number| !fails(&mut limited, number * SECOND_NS * 3 / 2)));
        assert!(fails(&mut limited, SECOND_NS * 9 / 2));
        let failure = limited.failure().unwrap();
        assert_eq!((failure.limit, failure.allowed, failure.found), (Limit::BytesPerSecondMin, 2000, 666));
    }

    #[test]
    fn a_direction_that_comes_late_has_windows_of_its_own() {
        let both = JobLimits { iops_min: PerDirection { read: Some(1), write: Some(10), trim: None }, ..limits() };
        let mut limited = LimitedJob::new(both);
        for tenth in 0..60 {
            let time_ns = tenth * SECOND_NS / 10;
            assert!(!limited.add(&done(Operation::Read, time_ns, 9), Some(time_ns)));
        }
        // The first write begins its window, which is over a second later, with one more in it.
        let mut write = |time_ns| limited.add(&done(Operation::Write, time_ns, 9), Some(time_ns));
        assert!(!write(6 * SECOND_NS - 1));
        assert!(write(7 * SECOND_NS - 1));
        assert_eq!(limited.failure().map(|failure| (failure.direction, failure.found)), Some((1, 1)));
    }

    #[test]
    fn a_request_may_take_as_long_as_the_limit_and_no_longer_whenever_it_comes() {
        let longest = JobLimits { latency_ns_max: PerDirection { trim: Some(500), ..none() }, ..limits() };
        let mut limited = LimitedJob::new(longest);
        assert!(!limited.add(&done(Operation::Trim, 0, 500), None));
        assert!(!limited.add(&done(Operation::Write, 0, 900), None));
        assert!(!limited.add(&done(Operation::Flush, 0, 900), None));
        assert!(limited.add(&done(Operation::Trim, 0, 501), None));
        let expected = JobFailure {
            limit: Limit::LatencyNsMax,
            direction: 2,
            allowed: 500,
            found: 501,
            offset_bytes: 7,
            length_bytes: 1000,
        };
        assert_eq!(limited.failure(), Some(expected));
        // The first failure is reported.
        assert!(limited.add(&done(Operation::Trim, 0, 900), None));
        assert_eq!(limited.failure(), Some(expected));
    }
}
