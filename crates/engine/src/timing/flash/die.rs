//! One die: its queues, the operation in progress or the chain of them, and the time that it has worked.

use super::operation::{Costs, Operation};
use super::ring::Ring;
use super::service::Ended;

/// The state of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) enum Phase {
    Idle,
    /// A chain that nobody waits for; its end may have passed.
    Quiet,
    ReadingArray,
    /// Waiting for and using its channel after the array operation, or any other operation that ends with an event.
    LastPart,
    /// Suspending an operation for reads of the host.
    Suspending,
    Suspended,
    ReadingWhileSuspended,
    LastPartWhileSuspended,
    /// The remainder of a suspended operation.
    Resumed,
}

/// As large as two cache lines, so that each die has its own and its address is a shift.
#[derive(Clone, Debug)]
#[repr(align(128))]
pub(super) struct Die {
    pub(super) reads: Ring,
    /// Operations in progress remain in the queue until they are done.
    pub(super) others: Ring,
    /// The duration of all queued operations that have not begun, without waits for the channel; maintained only where
    /// it is used.
    pub(super) queued_ns: u64,
    /// How many of `others` are in progress or done, one after another.
    pub(super) chained: u32,
    pub(super) phase: Phase,
    pub(super) channel: u32,
    /// The operation that ends with the die's event.
    pub(super) current: Operation,
    /// When the current operation, or the first of a chain, started.
    pub(super) started_ns: u64,
    /// When the last operation of the chain ends.
    pub(super) end_ns: u64,
    pub(super) busy_ns: u64,
    /// The part of the busy time spent for the host; the rest was for the drive itself.
    pub(super) host_ns: u64,
    /// The time spent for the drive itself until the current read was queued.
    pub(super) own_work_then_ns: u64,
    /// The start of the read performed during a suspension, and the end of the last one.
    pub(super) read_started_ns: u64,
}

impl Die {
    pub(super) fn new(channel: u32) -> Self {
        Self {
            reads: Ring::default(),
            others: Ring::default(),
            queued_ns: 0,
            chained: 0,
            phase: Phase::Idle,
            channel,
            current: Operation::from_word(0),
            started_ns: 0,
            end_ns: 0,
            busy_ns: 0,
            host_ns: 0,
            own_work_then_ns: 0,
            read_started_ns: u64::MAX,
        }
    }

    /// The operation that ended at `end_ns` is done.
    #[inline(always)]
    pub(super) fn finish(&mut self, end_ns: u64) {
        self.others.forget(self.chained);
        self.chained = 0;
        self.busy_ns += end_ns - self.started_ns;
        self.phase = Phase::Idle;
    }

    /// Extends the chain by queued operations, up to one that somebody waits for. Returns whether there is one.
    #[inline(always)]
    pub(super) fn lengthen(&mut self, costs: &Costs, keeps_load: bool) -> bool {
        while self.chained < self.others.len() {
            if self.lengthen_by(Operation::from_word(self.others.get(self.chained)), costs, keeps_load) {
                return true;
            }
        }
        self.phase = Phase::Quiet;
        false
    }

    /// Extends the chain by the next queued operation. Returns whether somebody waits for it.
    #[inline(always)]
    pub(super) fn lengthen_by(&mut self, operation: Operation, costs: &Costs, keeps_load: bool) -> bool {
        let duration_ns = costs.duration_ns(operation);
        self.chained += 1;
        self.end_ns += duration_ns;
        if keeps_load {
            self.queued_ns -= duration_ns;
        }
        let is_waited_for = !operation.is_quiet();
        if is_waited_for {
            self.current = operation;
            self.phase = Phase::LastPart;
        }
        is_waited_for
    }

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
