//! How the time of an operation of the host was spent, from its queueing at the die to its end.

use super::operation::Operation;

/// The rest of the time since `queued_ns` was spent on other operations of the host on the die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// For a read 0: it is queued as soon as anybody waits for it.
    pub queued_ns: u64,
    /// Whether the last units that a program waited for were moved by garbage collection.
    pub is_held_by_copies: bool,
    /// When the operation ended.
    pub ended_ns: u64,
    /// In the array, for the operation itself.
    pub array_ns: u64,
    /// Waiting for its channel and using it.
    pub channel_ns: u64,
    /// Waiting while the die worked for the drive itself.
    pub gc_ns: u64,
}

/// When a group of units that the host waits for was ready to be programmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queued {
    /// The time.
    pub at_ns: u64,
    /// How long the die had worked for the drive itself by then.
    pub own_work_ns: u64,
    /// See `Service::is_held_by_copies`.
    pub is_held_by_copies: bool,
}

/// The raw record of an operation at its end; it is evaluated only if somebody waits for the operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// The operation.
    pub operation: Operation,
    /// Its die.
    pub die: usize,
    /// When it started.
    pub started_ns: u64,
    /// For a read: how long the die had worked for the drive itself when it was queued.
    pub own_work_then_ns: u64,
}
