//! How the time of an operation of the host was spent, from when it was queued at its die until its end.

use super::operation::Operation;

/// What is left of the time since `queued_ns` went to other operations of the host on the die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// Of a read 0: it is queued as soon as anybody waits for it.
    pub queued_ns: u64,
    /// Whether the last that a program waited for before were units that garbage collection moves.
    pub is_held_by_copies: bool,
    pub ended_ns: u64,
    /// In the array, for itself.
    pub array_ns: u64,
    /// Waiting for its channel and using it.
    pub channel_ns: u64,
    /// Waiting while the die was at the drive's own work.
    pub gc_ns: u64,
}

/// When a group of units that the host waits for was ready to be programmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queued {
    pub at_ns: u64,
    /// How long the die had been at the drive's own work by then.
    pub own_work_ns: u64,
    pub is_held_by_copies: bool,
}

/// What is known of an operation at its end; what it means is found out only where somebody waits for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    pub operation: Operation,
    pub die: usize,
    pub started_ns: u64,
    /// Of a read, how long the die had been at the drive's own work when it was queued.
    pub own_work_then_ns: u64,
}
