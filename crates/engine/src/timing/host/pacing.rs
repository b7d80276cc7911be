//! When a job may issue its next request: at once, as most do, or according to its rate, its pauses, its flushes or the
//! arrival times of its recording.

use crate::random::Random;
use crate::random::power::log2;
use crate::request::{Operation, Request};
use crate::specification::job::{Direction, Job, PerDirection, RateProcess};
use std::f64::consts::LN_2;

/// How a job starts and continues.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Requests outstanding at a time.
    pub depth: u32,
    /// The delay after the start of the stage.
    pub start_delay_ns: u64,
    /// Jobs of the same stage that must end first.
    pub waits_for: Vec<u32>,
    /// Whether its writes complete only when their data would survive a loss of power.
    pub has_sync_writes: bool,
    /// Whether a flush follows its last request.
    pub flushes_at_end: bool,
    /// The host's own time for a command.
    pub host_ns: u32,
    /// Whether its requests have arrival times; one that finds no free slot waits, which counts as latency.
    pub has_arrivals: bool,
    /// Whether the client limits the number of outstanding requests, up to the depth.
    pub seeks_depth: bool,
    /// Whether a trim waits for all outstanding requests of the job, and later requests for the trim: a zone is reset
    /// between its last write and its next.
    pub has_trims_alone: bool,
    /// Whether other jobs of the stage write the same zones of the drive: a trim then waits for their requests too.
    pub shares_zones: bool,
    /// None for a job that issues as soon as it has a free slot.
    pub pacing: Option<Pacing>,
}

/// What delays a job. Times are those of the host.
#[derive(Clone, Debug)]
pub struct Pacing {
    think: Option<Think>,
    /// By direction: read, write, trim.
    rates: [Option<Rate>; 3],
    /// A flush follows after this many writes; 0: never.
    flush_every_writes: u32,
    writes_since_flush: u32,
    /// When the job's time ends, so that later delays are not waited for.
    runtime_ns: Option<u64>,
    ends_ns: u64,
    hold: Hold,
    refill: Option<Refill>,
    mix: Option<Mix>,
}

/// For a job that reads and writes at rates: the direction that is behind its rate goes first, whatever the mix, as in
/// fio's function `rate_ddir`.
#[derive(Clone, Debug)]
struct Mix {
    /// A read is drawn if 64 random bits are below this.
    reads_below: u64,
    random: Random,
    /// The direction drawn from the mix for the next request.
    drawn: Option<Operation>,
}

#[derive(Clone, Debug)]
struct Think {
    time_ns: u64,
    blocks: u32,
    counts_issued: bool,
    counted: u32,
    /// A pause also follows after this much working time; 0: it does not.
    after_ns: u64,
    works_since_ns: u64,
    rates_leave_it: bool,
}

impl Think {
    fn count(&mut self, operation: Operation) {
        self.counted = self.counted.saturating_add(u32::from(operation != Operation::Flush));
    }

    /// The pause begins: outstanding requests are waited for and count for the next one, as in fio's `handle_thinktime`.
    fn begin(&mut self) -> Hold {
        self.counted = 0;
        Hold::Quiesce
    }

    fn is_due(&self, now: u64) -> bool {
        self.counted >= self.blocks || (self.after_ns > 0 && now >= self.works_since_ns + self.after_ns)
    }
}

/// For a job that lets its queue drain before it refills it.
#[derive(Clone, Debug)]
struct Refill {
    depth: u32,
    at: u32,
    outstanding: u32,
    runs_down: bool,
}

#[derive(Clone, Debug)]
struct Rate {
    bytes_per_second: u64,
    due_ns: u64,
    process: Process,
}

#[derive(Clone, Debug)]
enum Process {
    /// Bytes issued since the job's start, at this time.
    Linear { start_ns: u64, issued_bytes: u128 },
    /// The mean time between two requests.
    Poisson { gap_ns: f64, random: Random },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    None,
    /// Until the flush has completed.
    Flush,
    /// Until the outstanding requests have completed; then the job pauses.
    Quiesce,
    Until(u64),
}

/// Whether a request may be issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Now,
    /// A flush must come first.
    FlushFirst,
    /// Not before this time.
    At(u64),
    /// Not before an outstanding request has completed.
    AfterCompletion,
}

impl Pacing {
    /// None for a job that is never delayed.
    pub fn of(job: &Job) -> Option<Self> {
        let think = (job.think_time_ns.max(job.think_time_spin_ns) > 0).then(|| Think {
            // The spin is a part of the think time, as in fio, or all of it if it is longer.
            time_ns: job.think_time_ns.max(job.think_time_spin_ns),
            blocks: job.think_time_blocks,
            counts_issued: job.think_time_counts_issued,
            counted: 0,
            after_ns: job.think_time_after_ns,
            works_since_ns: 0,
            rates_leave_it: job.rate_leaves_think_time,
        });
        let depth = job.iodepth.max(1);
        let refill = job.refill_at.filter(|&at| at < depth - 1);
        let refill = refill.map(|at| Refill { depth, at, outstanding: 0, runs_down: false });
        let rates = rates_of(job);
        let is_held = think.is_some() || refill.is_some() || job.flush_every_writes > 0;
        let has_rates = rates.iter().any(Option::is_some);
        if !is_held && !has_rates {
            return None;
        }
        Some(Self {
            think,
            rates,
            flush_every_writes: job.flush_every_writes,
            writes_since_flush: 0,
            runtime_ns: job.runtime_ns.map(|runtime_ns| job.ramp_ns + runtime_ns),
            ends_ns: u64::MAX,
            hold: Hold::None,
            refill,
            mix: has_rates.then(|| Mix::of(job)).flatten(),
        })
    }

    /// The job starts now.
    pub fn start(&mut self, now: u64) {
        self.ends_ns = self.runtime_ns.map_or(u64::MAX, |runtime_ns| now + runtime_ns);
        if let Some(think) = &mut self.think {
            think.works_since_ns = now;
        }
        for rate in self.rates.iter_mut().flatten() {
            rate.due_ns = now;
            if let Process::Linear { start_ns, .. } = &mut rate.process {
                *start_ns = now;
            }
        }
    }

    /// The direction of the next request of a job that reads and writes at rates, if it is issued now; None where the
    /// requests have their own. A direction without a rate is always behind it.
    pub fn direction(&mut self, now: u64) -> Option<Operation> {
        let mix = self.mix.as_mut()?;
        let random = &mut mix.random;
        let is_read = || if random.bits() < mix.reads_below { Operation::Read } else { Operation::Write };
        let drawn = *mix.drawn.get_or_insert_with(is_read);
        let other = if drawn == Operation::Read { Operation::Write } else { Operation::Read };
        let due_ns = |direction: Operation| self.rates[direction as usize].as_ref().map_or(0, |rate| rate.due_ns);
        let goes_first = due_ns(drawn) <= now || (due_ns(other) > now && due_ns(drawn) <= due_ns(other));
        Some(if goes_first { drawn } else { other })
    }

    /// Whether the job may issue its next request, with this operation.
    pub fn turn(&mut self, operation: Operation, now: u64) -> Turn {
        if self.refill.as_ref().is_some_and(|refill| refill.runs_down) {
            return Turn::AfterCompletion;
        }
        let due_ns = match self.hold {
            Hold::Quiesce | Hold::Flush => return Turn::AfterCompletion,
            Hold::Until(at_ns) if now < at_ns => at_ns,
            _ => {
                self.hold = Hold::None;
                if self.flush_every_writes > 0 && self.writes_since_flush >= self.flush_every_writes {
                    return Turn::FlushFirst;
                }
                self.rates.get(operation as usize).and_then(Option::as_ref).map_or(0, |rate| rate.due_ns)
            }
        };
        if due_ns <= now { Turn::Now } else { Turn::At(self.at_last(due_ns, now)) }
    }

    /// When a job without further requests may end: it pauses after its last one too, as in fio.
    pub fn turn_to_end(&self, now: u64) -> Turn {
        match self.hold {
            Hold::Quiesce => Turn::AfterCompletion,
            Hold::Until(at_ns) if now < at_ns => Turn::At(self.at_last(at_ns, now)),
            Hold::None | Hold::Flush | Hold::Until(_) => Turn::Now,
        }
    }

    /// Nothing is waited for beyond the end of the job's time.
    fn at_last(&self, due_ns: u64, now: u64) -> u64 {
        due_ns.min(self.ends_ns.max(now + 1))
    }

    /// The job has issued a request.
    pub fn issued(&mut self, request: &Request) {
        match request.operation {
            Operation::Flush => (self.hold, self.writes_since_flush) = (Hold::Flush, 0),
            Operation::Write => self.writes_since_flush = self.writes_since_flush.saturating_add(1),
            Operation::Read | Operation::Trim => {}
        }
        if let Some(rate) = self.rates.get_mut(request.operation as usize).and_then(Option::as_mut) {
            rate.issued(request.length_bytes);
        }
        if let Some(mix) = self.mix.as_mut().filter(|_| request.operation != Operation::Flush) {
            mix.drawn = None;
        }
        if let Some(think) = &mut self.think {
            if think.counts_issued {
                think.count(request.operation);
            }
            // More requests may have completed before the last pause than it takes for the next.
            if think.counted >= think.blocks && !matches!(self.hold, Hold::Flush | Hold::Quiesce) {
                self.hold = think.begin();
            }
        }
        if let Some(refill) = &mut self.refill {
            refill.outstanding += 1;
            refill.runs_down |= refill.outstanding == refill.depth;
        }
    }

    /// Returns when the job continues, if it now pauses, or has drained its queue.
    pub fn completed(&mut self, operation: Operation, now: u64, outstanding: u32) -> Option<u64> {
        if operation == Operation::Flush && self.hold == Hold::Flush {
            self.hold = Hold::None;
        }
        let mut goes_on_ns = None;
        // The flush at a job's end was not issued here.
        if let Some(refill) = self.refill.as_mut().filter(|refill| refill.outstanding > 0) {
            refill.outstanding -= 1;
            if refill.runs_down && refill.outstanding <= refill.at {
                refill.runs_down = false;
                goes_on_ns = Some(now);
            }
        }
        let Some(think) = &mut self.think else { return goes_on_ns };
        if !think.counts_issued {
            think.count(operation);
        }
        if think.is_due(now) && !matches!(self.hold, Hold::Flush | Hold::Quiesce) {
            self.hold = think.begin();
        }
        if self.hold != Hold::Quiesce || outstanding > 0 {
            return goes_on_ns;
        }
        let until_ns = now + think.time_ns;
        think.works_since_ns = until_ns;
        if think.rates_leave_it {
            self.rates.iter_mut().flatten().for_each(|rate| rate.leave_out(think.time_ns));
        }
        self.hold = Hold::Until(until_ns);
        Some(self.at_last(until_ns, now))
    }
}

impl Mix {
    fn of(job: &Job) -> Option<Self> {
        let is_mixed = job.direction == Direction::ReadWrite && job.read_percent > 0.0 && job.read_percent < 100.0;
        is_mixed.then(|| Self {
            reads_below: (job.read_percent / 100.0 * 2f64.powi(64)) as u64,
            random: Random::new(job.seed ^ 0x6d69_7865_645f_7277),
            drawn: None,
        })
    }
}

impl Rate {
    /// What was not issued during a pause is not caught up.
    fn leave_out(&mut self, pause_ns: u64) {
        self.due_ns += pause_ns;
        if let Process::Linear { start_ns, .. } = &mut self.process {
            *start_ns += pause_ns;
        }
    }

    fn issued(&mut self, length_bytes: u32) {
        match &mut self.process {
            Process::Linear { start_ns, issued_bytes } => {
                *issued_bytes += u128::from(length_bytes);
                let after_ns = *issued_bytes * 1_000_000_000 / u128::from(self.bytes_per_second);
                self.due_ns = *start_ns + u64::try_from(after_ns).unwrap_or(u64::MAX / 2).min(u64::MAX / 2);
            }
            Process::Poisson { gap_ns, random } => {
                self.due_ns += (-log2(random.unit()) * LN_2 * *gap_ns).round() as u64;
            }
        }
    }
}

/// As in fio: a rate in requests stands for that many of the smallest size of the direction, and a rate in bytes takes
/// precedence; the requests of a Poisson process are assumed to have that size.
fn rates_of(job: &Job) -> [Option<Rate>; 3] {
    fn by_direction<T: Copy>(given: Option<&PerDirection<Option<T>>>) -> [Option<T>; 3] {
        given.map_or([None; 3], |given| [given.read, given.write, given.trim])
    }
    let bytes = by_direction(job.rate_bytes_per_second.as_ref());
    let iops = by_direction(job.rate_iops.as_ref());
    let sizes = [&job.block_sizes.read, &job.block_sizes.write, &job.block_sizes.trim];
    std::array::from_fn(|direction| {
        let size_bytes = sizes[direction].iter().map(|size| u64::from(size.bytes)).min().unwrap_or(1).max(1);
        let bytes_per_second = bytes[direction].or(iops[direction].map(|iops| iops.saturating_mul(size_bytes)))?;
        let process = match job.rate_process {
            RateProcess::Linear => Process::Linear { start_ns: 0, issued_bytes: 0 },
            RateProcess::Poisson => Process::Poisson {
                gap_ns: size_bytes as f64 * 1e9 / bytes_per_second as f64,
                // Another random stream than that of the requests.
                random: Random::new(job.seed ^ (0x7061_6365 + direction as u64)),
            },
        };
        Some(Rate { bytes_per_second, due_ns: 0, process })
    })
}
