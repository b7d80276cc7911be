//! Suspension of programs and erases for reads of the host, and its cost.
//!
//! A read that arrives while its die programs or erases suspends the operation, unless the operation would end before
//! the die could read. Then all waiting reads are served, and the operation continues with its remainder plus
//! `resume_ns`. A program also repeats what the suspend interrupted, at most `repeats_ns`: unlike `resume_ns` this time
//! is in the array and can be suspended again, so it costs throughput and delays no read. A transfer of data to the die
//! is not interrupted. Only one operation of a die is in progress, which is the first of its queue.

use super::die::{Die, Phase};
use super::operation::{Array, Costs};
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

    /// Sets whether nothing is suspended for now.
    pub fn hold(&mut self, is_held: bool) {
        self.is_held = is_held;
    }

    /// A read has arrived at a die: suspends its operation, if that helps. Returns when the die can read.
    pub fn suspend(&mut self, now: u64, index: usize, die: &mut Die, costs: &Costs) -> Option<u64> {
        if self.is_held || die.chained != 1 || !matches!(die.phase, Phase::LastPart | Phase::Resumed) {
            return None;
        }
        let of_die = self.dies[index];
        let array_ns = match die.phase {
            Phase::Resumed => of_die.rest_ns,
            _ => costs.array_ns(die.current),
        };
        let least_ns = match die.current.array() {
            Array::Program => self.program_suspend_ns,
            Array::Erase => self.erase_suspend_ns,
            Array::Nothing | Array::Read => return None,
        };
        let suspend_ns = least_ns + self.more_ns();
        // Before the array operation begins, its data is in transfer, or it is being resumed.
        let from_ns = now.max(die.end_ns - array_ns);
        let is_worn = self.per_operation_max > 0 && of_die.suspends == self.per_operation_max;
        if is_worn || from_ns + suspend_ns >= die.end_ns {
            return None;
        }
        let rest_ns = self.rest_after_ns(die.current.array(), array_ns, die.end_ns - from_ns);
        self.dies[index] = OfDie { rest_ns, suspends: of_die.suspends + 1 };
        (die.phase, die.end_ns) = (Phase::Suspending, u64::MAX);
        Some(from_ns + suspend_ns)
    }

    /// The operation of a die that was suspended is done.
    pub fn end(&mut self, index: usize) {
        self.dies[index] = OfDie::default();
    }
}
