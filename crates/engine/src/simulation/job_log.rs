//! A job's log, as fio's `write_*_log` options request it: completions, individually or averaged over windows, and
//! histograms of latency over windows. Times count from the start of the job.
//!
//! A log of individual requests grows with the run, as in fio; so it has a limit and counts what it omits.

use crate::specification::job::LogPlan;
use crate::timing::front::Completion;
use crate::timing::histogram::{BINS, bin_of};
use schemars::JsonSchema;
use serde::Serialize;

/// The most individual requests in a job's log; some 40 MB.
const ENTRIES_MAX: usize = 1 << 20;
const DIRECTIONS: usize = 3;

/// One row an entry: a request, or all requests of a direction within a window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct LogColumns {
    /// When the request completed or the window ended.
    pub time_ns: Vec<u64>,
    /// As fio numbers them: 0 reads, 1 writes, 2 trims.
    pub direction: Vec<u8>,
    pub ios: Vec<u64>,
    pub bytes: Vec<u64>,
    /// For a window, the mean.
    pub latency_ns: Vec<u64>,
    /// 0 for a window.
    pub offset_bytes: Vec<u64>,
    /// Requests omitted because the log was full.
    pub lost: u64,
    pub histograms: Vec<HistogramRow>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HistogramRow {
    pub time_ns: u64,
    pub direction: u8,
    /// The length of the last request in it.
    pub length_bytes: u32,
    /// Pairs of fio's bin and its count, ascending.
    pub bins: Vec<(u32, u64)>,
}

#[derive(Clone, Debug)]
pub struct JobLog {
    plan: LogPlan,
    columns: LogColumns,
    window: Window<Sums>,
    histogram_window: Window<Bins>,
}

/// Accumulates over a window, by direction, and the end of the window.
#[derive(Clone, Debug)]
struct Window<T> {
    end_ns: u64,
    gathered: [T; DIRECTIONS],
}

#[derive(Clone, Debug, Default)]
struct Sums {
    ios: u64,
    bytes: u64,
    latency_ns: u128,
}

#[derive(Clone, Debug)]
struct Bins {
    counts: Vec<u64>,
    last_length_bytes: u32,
}

impl Default for Bins {
    fn default() -> Self {
        Self { counts: vec![0; BINS], last_length_bytes: 0 }
    }
}

impl JobLog {
    pub fn new(plan: LogPlan) -> Self {
        Self {
            window: Window { end_ns: plan.average_ns.unwrap_or(u64::MAX), gathered: Default::default() },
            histogram_window: Window {
                end_ns: plan.histogram_ns.unwrap_or(u64::MAX),
                gathered: if plan.histogram_ns.is_some() {
                    Default::default()
                } else {
                    std::array::from_fn(|_| Bins { counts: Vec::new(), last_length_bytes: 0 })
                },
            },
            plan,
            columns: LogColumns::default(),
        }
    }

    /// An empty log of the same plan.
    pub fn restarted(self) -> Self {
        Self::new(self.plan)
    }

    /// `start_ns` is the start of the job.
    pub fn add(&mut self, completion: &Completion, start_ns: u64) {
        let time_ns = completion.completed_ns.saturating_sub(start_ns);
        // fio's numbers equal ours; it logs reads, writes and trims.
        let direction = completion.operation as usize;
        if direction >= DIRECTIONS {
            return;
        }
        let latency_ns = completion.completed_ns - completion.issued_ns;
        if self.plan.average_ns.is_some() {
            self.end_window(time_ns);
            let sums = &mut self.window.gathered[direction];
            sums.ios += 1;
            sums.bytes += u64::from(completion.length_bytes);
            sums.latency_ns += u128::from(latency_ns);
        } else if self.columns.time_ns.len() < ENTRIES_MAX {
            let bytes = u64::from(completion.length_bytes);
            self.columns.push(time_ns, direction, 1, bytes, latency_ns, completion.offset_bytes);
        } else {
            self.columns.lost += 1;
        }
        if self.plan.histogram_ns.is_some() {
            self.end_histogram(time_ns);
            let bins = &mut self.histogram_window.gathered[direction];
            bins.counts[bin_of(latency_ns)] += 1;
            bins.last_length_bytes = completion.length_bytes;
        }
    }

    /// The columns, including the windows that were open at the end of the job.
    pub fn into_columns(mut self, end_ns: u64) -> LogColumns {
        if self.plan.average_ns.is_some() {
            self.end_window(end_ns);
            self.flush(end_ns);
        }
        if self.plan.histogram_ns.is_some() {
            self.end_histogram(end_ns);
            self.flush_histogram(end_ns);
        }
        self.columns
    }

    fn end_window(&mut self, time_ns: u64) {
        if time_ns >= self.window.end_ns {
            let length_ns = self.plan.average_ns.expect("windows end where there are any");
            self.flush(self.window.end_ns);
            self.window.end_ns = (time_ns / length_ns + 1) * length_ns;
        }
    }

    fn flush(&mut self, end_ns: u64) {
        for direction in 0..DIRECTIONS {
            let Sums { ios, bytes, latency_ns } = std::mem::take(&mut self.window.gathered[direction]);
            if ios > 0 {
                let mean_ns = ((latency_ns + u128::from(ios) / 2) / u128::from(ios)) as u64;
                self.columns.push(end_ns, direction, ios, bytes, mean_ns, 0);
            }
        }
    }

    fn end_histogram(&mut self, time_ns: u64) {
        if time_ns >= self.histogram_window.end_ns {
            let length_ns = self.plan.histogram_ns.expect("windows end where there are any");
            self.flush_histogram(self.histogram_window.end_ns);
            self.histogram_window.end_ns = (time_ns / length_ns + 1) * length_ns;
        }
    }

    fn flush_histogram(&mut self, end_ns: u64) {
        for (direction, gathered) in self.histogram_window.gathered.iter_mut().enumerate() {
            let counts = gathered.counts.iter_mut().enumerate();
            let bins: Vec<_> = counts
                .filter(|(_, count)| **count > 0)
                .map(|(bin, count)| (bin as u32, std::mem::take(count)))
                .collect();
            if !bins.is_empty() {
                self.columns.histograms.push(HistogramRow {
                    time_ns: end_ns,
                    direction: direction as u8,
                    length_bytes: gathered.last_length_bytes,
                    bins,
                });
            }
        }
    }
}

impl LogColumns {
    fn push(&mut self, time_ns: u64, direction: usize, ios: u64, bytes: u64, latency_ns: u64, offset_bytes: u64) {
        self.time_ns.push(time_ns);
        self.direction.push(direction as u8);
        self.ios.push(ios);
        self.bytes.push(bytes);
        self.latency_ns.push(latency_ns);
        self.offset_bytes.push(offset_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Operation;

    fn completion(operation: Operation, issued_ns: u64, completed_ns: u64) -> Completion {
        Completion {
            tag: 0,
            operation,
            is_through: false,
            length_bytes: 4096,
            offset_bytes: 8192,
            issued_ns,
            completed_ns,
        }
    }

    #[test]
    fn windows_hold_the_mean_of_each_direction_and_empty_ones_are_left_out() {
        let mut log = JobLog::new(LogPlan { average_ns: Some(100), histogram_ns: Some(1000) });
        for (operation, issued_ns, completed_ns) in [
            (Operation::Read, 1000, 1010),
            (Operation::Read, 1000, 1031),
            (Operation::Write, 1020, 1099),
            (Operation::Read, 1100, 1390),
        ] {
            log.add(&completion(operation, issued_ns, completed_ns), 1000);
        }
        let columns = log.into_columns(450);
        assert_eq!(columns.time_ns, [100, 100, 400]);
        assert_eq!(columns.direction, [0, 1, 0]);
        assert_eq!(columns.ios, [2, 1, 1]);
        assert_eq!(columns.bytes, [8192, 4096, 4096]);
        assert_eq!(columns.latency_ns, [21, 79, 290]);
        let histograms: Vec<_> =
            columns.histograms.iter().map(|row| (row.time_ns, row.direction, row.bins.len())).collect();
        assert_eq!(histograms, [(450, 0, 3), (450, 1, 1)]);
    }

    #[test]
    fn without_a_window_every_request_is_an_entry_up_to_the_limit() {
        let mut log = JobLog::new(LogPlan { average_ns: None, histogram_ns: None });
        for _ in 0..ENTRIES_MAX + 5 {
            log.add(&completion(Operation::Trim, 10, 15), 10);
        }
        let columns = log.into_columns(20);
        assert_eq!((columns.time_ns.len(), columns.lost), (ENTRIES_MAX, 5));
        assert_eq!((columns.time_ns[0], columns.direction[0], columns.latency_ns[0]), (5, 2, 5));
        assert_eq!((columns.offset_bytes[0], columns.bytes[0], columns.ios[0]), (8192, 4096, 1));
    }
}
