//! The completed amount of a job: bytes, requests and loops.

use crate::specification::Job;

/// A loop ends with the request that brings its bytes to `io_bytes` or above, or with request `number_ios` of the loop.
///
/// A trim and write pair counts once, by its trim, as fio's manual says for `trimwrite`.
#[derive(Clone, Debug)]
pub struct Amount {
    bytes_target: u64,
    ios_target: u64,
    loops_target: u32,
    length_bytes_max: u32,
    bytes: u64,
    ios: u64,
    loops: u32,
}

impl Amount {
    /// For a job whose requests have at most this length.
    pub fn new(job: &Job, length_bytes_max: u32) -> Amount {
        let mut amount = Amount {
            bytes_target: job.io_bytes,
            ios_target: job.number_ios.unwrap_or(u64::MAX),
            loops_target: job.loops,
            length_bytes_max,
            bytes: 0,
            ios: 0,
            loops: 0,
        };
        amount.restart();
        amount
    }

    /// The number of requests that the current loop will issue whatever their sizes, so that a batch of them needs no
    /// checks. At least one until the job is done, then zero.
    pub fn certain(&self) -> u64 {
        if self.loops == self.loops_target {
            return 0;
        }
        let bytes_left = self.bytes_target - self.bytes;
        bytes_left.div_ceil(u64::from(self.length_bytes_max)).min(self.ios_target - self.ios)
    }

    /// Counts a batch of at most `certain` requests. True when a loop has ended.
    pub fn add(&mut self, ios: u64, bytes: u64) -> bool {
        self.ios += ios;
        self.bytes += bytes;
        let ended = self.ios >= self.ios_target || self.bytes >= self.bytes_target;
        if ended {
            self.loops += 1;
            (self.bytes, self.ios) = (0, 0);
        }
        ended
    }

    /// Starts again, with all loops.
    pub fn restart(&mut self) {
        (self.bytes, self.ios) = (0, 0);
        // An empty loop is over before it starts, and so are all.
        self.loops = if self.bytes_target == 0 || self.ios_target == 0 { self.loops_target } else { 0 };
    }

    /// The completed share, from 0 to 1.
    pub fn progress(&self) -> f64 {
        if self.loops == self.loops_target {
            return 1.0;
        }
        let share = self.bytes as f64 / self.bytes_target as f64;
        let share = share.max(self.ios as f64 / self.ios_target as f64);
        (f64::from(self.loops) + share) / f64::from(self.loops_target)
    }
}
