//! Suspension of programs and erases for reads of the host, and its cost.
//!
//! A read that arrives while its die programs or erases suspends the operation, unless the operation would end before
//! the die could read. Then all waiting reads are served, and the operation continues with its remainder plus
//! `resume_ns`. A program also repeats what the suspend interrupted, at most `repeats_ns`: unlike `resume_ns` this time
//! is in the array and can be suspended again, so it costs throughput and delays no read. A transfer of data to the die
//! is not interrupted. Only one operation of a die is in progress, which is the first of its queue.

use super::dies::{Die, Dies, Phase};
use super::operation::{Array, Operation};
use super::service::Ended;
use crate::random::Random;
use crate::specification::drive::Nand;

#[derive(Clone, Debug)]
pub(super) struct Suspension {
    program_suspend_ns: u64,
    erase_suspend_ns: u64,
    /// The maximum additional time for both; 0: none.
    spread_ns: u64,
    random: Random,
    resume_ns: u64,
    /// The maximum time in the array that a suspended program loses.
    repeats_ns: u64,
    /// Nothing is suspended for now.
    is_held: bool,
    /// 0: no limit.
    per_operation_max: u32,
    dies: Vec<OfDie>,
}

/// A die's suspended operation.
#[derive(Clone, Copy, Debug, Default)]
struct OfDie {
    /// The remaining time in the array at the last suspension.
    rest_ns: u64,
    suspends: u32,
}

impl Suspension {
    /// None for flash without suspension.
    pub fn new(nand: &Nand) -> Option<Box<Self>> {
        let nanoseconds = |microseconds: f64| (microseconds * 1000.0).round() as u64;
        nand.suspend.then(|| {
            Box::new(Self {
                program_suspend_ns: nanoseconds(nand.program_suspend_us),
                erase_suspend_ns: nanoseconds(nand.erase_suspend_us),
                spread_ns: nanoseconds(nand.suspend_spread_us),
                random: Random::new(0x7375_7370),
                is_held: false,
                resume_ns: nanoseconds(nand.resume_us),
                repeats_ns: nanoseconds(nand.suspend_repeats_us),
                per_operation_max: nand.suspends_per_operation_max,
                dies: vec![OfDie::default(); (nand.channels * nand.dies_per_channel) as usize],
            })
        })
    }

    fn more_ns(&mut self) -> u64 {
        if self.spread_ns == 0 { 0 } else { self.random.below(self.spread_ns + 1) }
    }

    /// What remains in the array after a suspend that leaves `left_ns` of `array_ns`.
    fn rest_after_ns(&self, array: Array, array_ns: u64, left_ns: u64) -> u64 {
        match array {
            Array::Program => left_ns + self.repeats_ns.min(array_ns - left_ns),
            _ => left_ns,
        }
    }

    /// The remaining time of a die's suspended operation.
    pub fn rest_ns(&self, index: usize) -> u64 {
        self.resume_ns + self.dies[index].rest_ns
    }
}

impl Die {
    fn is_suspended_of_host(&self) -> bool {
        Operation::from_word(self.others.get(0)).is_of_host()
    }

    /// How long a die that has suspended or resumed an operation has worked for the drive itself until now.
    #[cold]
    pub(super) fn own_work_suspended_ns(&self, now: u64) -> u64 {
        let until_ns = match self.phase {
            _ if self.is_suspended_of_host() => self.started_ns,
            Phase::ReadingWhileSuspended | Phase::LastPartWhileSuspended => self.read_started_ns,
            _ => now,
        };
        self.busy_ns - self.host_ns + until_ns - self.started_ns
    }

    /// Counts a read that has just ended during a suspension, and the suspended operation's time before it.
    #[cold]
    pub(super) fn end_of_read_between(&mut self, now: u64, index: usize) -> Ended {
        let host_from_ns = if self.is_suspended_of_host() { self.started_ns } else { self.read_started_ns };
        self.host_ns += now - host_from_ns;
        self.busy_ns += now - self.started_ns;
        let Self { current, read_started_ns, own_work_then_ns, .. } = *self;
        (self.started_ns, self.read_started_ns) = (now, now);
        Ended { operation: current, die: index, started_ns: read_started_ns, own_work_then_ns }
    }
}

impl Dies {
    pub(super) fn with_suspension(mut self, suspension: Option<Box<Suspension>>) -> Self {
        self.suspension = suspension;
        self
    }

    pub(super) fn hold_suspends(&mut self, is_held: bool) {
        if let Some(suspension) = &mut self.suspension {
            suspension.is_held = is_held;
        }
    }

    /// A read has arrived at a die: suspends its operation, if that helps.
    pub(super) fn suspend(&mut self, now: u64, index: usize) {
        let (Some(suspension), die) = (&mut self.suspension, &mut self.dies[index]) else { return };
        if suspension.is_held || die.chained != 1 || !matches!(die.phase, Phase::LastPart | Phase::Resumed) {
            return;
        }
        let of_die = suspension.dies[index];
        let array_ns = match die.phase {
            Phase::Resumed => of_die.rest_ns,
            _ => self.costs.array_ns(die.current),
        };
        let least_ns = match die.current.array() {
            Array::Program => suspension.program_suspend_ns,
            Array::Erase => suspension.erase_suspend_ns,
            Array::Nothing | Array::Read => return,
        };
        let suspend_ns = least_ns + suspension.more_ns();
        // Before the array operation begins, its data is in transfer, or it is being resumed.
        let from_ns = now.max(die.end_ns - array_ns);
        let is_worn = suspension.per_operation_max > 0 && of_die.suspends == suspension.per_operation_max;
        if is_worn || from_ns + suspend_ns >= die.end_ns {
            return;
        }
        let rest_ns = suspension.rest_after_ns(die.current.array(), array_ns, die.end_ns - from_ns);
        suspension.dies[index] = OfDie { rest_ns, suspends: of_die.suspends + 1 };
        (die.phase, die.end_ns) = (Phase::Suspending, u64::MAX);
        self.events.set(index, from_ns + suspend_ns);
    }

    /// `take_event` for a die that has suspended or resumed an operation.
    #[cold]
    pub(super) fn take_event_of_suspended(&mut self, now: u64, index: usize) -> Option<Operation> {
        match self.dies[index].phase {
            Phase::Suspending => {
                self.read_or_resume(now, index);
                None
            }
            Phase::ReadingWhileSuspended => {
                let end = self.use_channel(now, index, self.dies[index].current);
                self.dies[index].phase = Phase::LastPartWhileSuspended;
                self.events.set(index, end);
                None
            }
            Phase::LastPartWhileSuspended => {
                self.dies[index].phase = Phase::Suspended;
                Some(self.dies[index].current)
            }
            _ => {
                self.suspension.as_mut().expect("it was resumed").dies[index] = OfDie::default();
                self.dies[index].finish(now);
                Some(self.dies[index].current)
            }
        }
    }

    /// Starts the next read of a die with a suspended operation, or resumes the operation.
    #[cold]
    pub(super) fn read_or_resume(&mut self, now: u64, index: usize) {
        let die = &mut self.dies[index];
        if let Some(word) = die.reads.pop() {
            die.current = Operation::from_word(word);
            die.own_work_then_ns = die.reads.pop().expect("each read has its reading");
            die.read_started_ns = now;
            self.note_begun(index, Operation::from_word(word));
            self.start_current(now, index);
            let die = &mut self.dies[index];
            die.end_ns = u64::MAX;
            die.phase = match die.phase {
                Phase::ReadingArray => Phase::ReadingWhileSuspended,
                _ => Phase::LastPartWhileSuspended,
            };
            return;
        }
        die.current = Operation::from_word(die.others.get(0));
        die.phase = Phase::Resumed;
        die.end_ns = now + self.suspension.as_ref().expect("it was suspended").rest_ns(index);
        self.events.set(index, die.end_ns);
    }
}
