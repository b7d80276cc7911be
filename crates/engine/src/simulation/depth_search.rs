//! Searches the largest number of outstanding requests with which a job meets a latency target, as fio 3.33 does
//! (`io_u.c`).
//!
//! The job begins with one request at a time. After a window in which enough of its requests met the target the depth
//! doubles, or, once a depth has failed, moves half of the way there; after a failed window it moves half of the way
//! back. The search ends at a depth that follows itself: outstanding requests complete, and the job resets its counts
//! for a last window at this depth. If every request must meet the target, the first late one ends its window.
//!
//! Unlike in fio, requests that complete after their window are not counted, and the largest depth counts as failed
//! once it has failed.

use crate::specification::job::LatencyTarget;
use schemars::JsonSchema;
use serde::Serialize;

/// Windows at the depth just below the least failed one before that one is tried again.
const STEADY_WINDOWS: u32 = 3;

/// The result of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DepthFound {
    /// The depth found.
    pub depth: u32,
    /// Whether the last window was at this depth and met the target.
    pub is_final: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    GoesOn,
    Done,
    /// Even a single request took too long.
    TooLate {
        allowed_ns: u64,
        found_ns: u64,
    },
}

#[derive(Clone, Debug)]
pub struct DepthSearch {
    target: LatencyTarget,
    depth_max: u32,
    depth: u32,
    /// The last depth that met the target.
    low: u32,
    /// The last depth that did not.
    too_deep: Option<u32>,
    steady_windows: u32,
    window: Window,
    /// Nothing is issued until the outstanding requests have completed.
    quiesces: bool,
    is_final: bool,
    is_done: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    since_ns: u64,
    ios: u64,
    late: u64,
}

impl DepthSearch {
    pub fn new(target: LatencyTarget, depth_max: u32) -> Self {
        Self {
            target,
            depth_max,
            depth: 1,
            low: 1,
            too_deep: None,
            steady_windows: 0,
            window: Window::default(),
            quiesces: false,
            is_final: false,
            is_done: false,
        }
    }

    /// Starts a window.
    pub fn start(&mut self, now_ns: u64) {
        self.window = Window { since_ns: now_ns, ..Window::default() };
    }

    pub fn found(&self) -> DepthFound {
        DepthFound { depth: self.depth, is_final: self.is_done }
    }

    /// Whether the job may issue one more request while the others are outstanding.
    pub fn may_issue(&self, outstanding: u32) -> bool {
        !self.quiesces && outstanding < self.depth
    }

    /// Nothing is outstanding. Returns whether the job resets its counts, for its last window.
    pub fn rest(&mut self, now_ns: u64) -> bool {
        if !std::mem::replace(&mut self.quiesces, false) {
            return false;
        }
        self.start(now_ns);
        self.is_final
    }

    /// A request has completed with this latency.
    pub fn add(&mut self, latency_ns: u64, now_ns: u64) -> Verdict {
        if self.quiesces {
            return Verdict::GoesOn;
        }
        self.window.ios += 1;
        self.window.late += u64::from(latency_ns > self.target.latency_ns);
        let is_spoilt = self.window.late > 0 && self.target.percent >= 100.0;
        if is_spoilt && self.depth == 1 {
            return Verdict::TooLate { allowed_ns: self.target.latency_ns, found_ns: latency_ns };
        }
        if !is_spoilt && now_ns - self.window.since_ns < self.target.window_ns {
            return Verdict::GoesOn;
        }
        let in_time = (self.window.ios - self.window.late) as f64 / self.window.ios as f64;
        if 100.0 * in_time >= self.target.percent {
            return self.deepen(now_ns);
        }
        self.go_back(now_ns);
        Verdict::GoesOn
    }

    fn deepen(&mut self, now_ns: u64) -> Verdict {
        let before = self.depth;
        self.low = before;
        self.start(now_ns);
        // A failed depth may meet the target later: a drive changes.
        if self.too_deep == Some(before + 1) {
            self.steady_windows += 1;
            if self.steady_windows >= STEADY_WINDOWS {
                self.too_deep = Some(before + 2);
                self.steady_windows = 0;
            }
        }
        let next = self.too_deep.map_or(before.saturating_mul(2), |too_deep| before.midpoint(too_deep));
        self.depth = next.min(self.depth_max);
        if self.target.goes_on || self.depth != before {
            return Verdict::GoesOn;
        }
        if self.is_final {
            self.is_done = true;
            return Verdict::Done;
        }
        (self.is_final, self.quiesces) = (true, true);
        Verdict::GoesOn
    }

    fn go_back(&mut self, now_ns: u64) {
        self.start(now_ns);
        if self.depth == 1 {
            return;
        }
        self.too_deep = Some(self.depth);
        self.low = self.low.min(self.depth - 1);
        self.depth = self.depth.midpoint(self.low);
        self.steady_windows = 0;
        self.quiesces = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: LatencyTarget = LatencyTarget { latency_ns: 450, window_ns: 10_000, percent: 100.0, goes_on: false };

    /// Simulates a device whose requests at a depth all take `latency_ns`; returns the depths tried, and the result.
    fn tried(target: LatencyTarget, depth_max: u32, latency_ns: impl Fn(u32, u64) -> u64) -> (Vec<u32>, Verdict) {
        let mut search = DepthSearch::new(target, depth_max);
        let (mut now_ns, mut depths) = (0, vec![1]);
        search.start(now_ns);
        for request in 0..5000 {
            if search.quiesces {
                search.rest(now_ns);
            }
            assert!(search.may_issue(search.depth - 1) && !search.may_issue(search.depth));
            let latency_ns = latency_ns(search.depth, request);
            now_ns += latency_ns / u64::from(search.depth);
            let depth = search.depth;
            let verdict = search.add(latency_ns, now_ns);
            if search.depth != depth {
                depths.push(search.depth);
            }
            if verdict != Verdict::GoesOn {
                return (depths, verdict);
            }
        }
        (depths, Verdict::GoesOn)
    }

    #[test]
    fn the_depth_doubles_until_it_is_too_deep_and_is_halved_in_between() {
        let queue = |depth: u32, _: u64| 100 * u64::from(depth);
        assert_eq!(tried(TARGET, 32, queue), (vec![1, 2, 4, 8, 6, 5, 4], Verdict::Done));
        assert_eq!(tried(TARGET, 3, queue), (vec![1, 2, 3], Verdict::Done), "as deep as it may be");
        assert_eq!(tried(TARGET, 5, queue), (vec![1, 2, 4, 5, 4], Verdict::Done), "the largest is too deep");
        assert_eq!(tried(TARGET, 1, queue), (vec![1], Verdict::Done));
    }

    #[test]
    fn a_request_that_is_late_alone_ends_the_search() {
        let verdict = Verdict::TooLate { allowed_ns: 450, found_ns: 451 };
        assert_eq!(tried(TARGET, 8, |_, request| if request == 7 { 451 } else { 100 }).1, verdict);
    }

    #[test]
    fn a_share_of_the_requests_may_be_late() {
        // Every tenth takes twice as long.
        let queue = |depth: u32, request: u64| u64::from(depth) * if request % 10 == 9 { 200 } else { 100 };
        let share = |percent: f64| tried(LatencyTarget { percent, ..TARGET }, 32, queue).0.pop();
        assert_eq!((share(85.0), share(95.0)), (Some(4), Some(2)));
        let (depths, verdict) = tried(LatencyTarget { percent: 95.0, latency_ns: 50, ..TARGET }, 8, queue);
        assert_eq!((depths, verdict), (vec![1], Verdict::GoesOn), "it goes on, though it is never in time");
    }

    #[test]
    fn one_that_goes_on_follows_the_drive() {
        let changing = |depth: u32, request: u64| u64::from(depth) * if request < 2000 { 100 } else { 50 };
        let (depths, verdict) = tried(LatencyTarget { goes_on: true, ..TARGET }, 32, changing);
        assert_eq!(verdict, Verdict::GoesOn);
        // Three windows at 4 let it try 5 again, which is too deep until the drive is faster.
        assert_eq!(depths[..8], [1, 2, 4, 8, 6, 5, 4, 5]);
        assert!(*depths.last().unwrap() >= 8, "{depths:?}");
    }
}
