//! A request on its way into a front, and out of it.

use crate::request::{Operation, Request};

/// A request as submitted to a front.
#[derive(Clone, Copy, Debug)]
pub struct Submission {
    /// The request.
    pub request: Request,
    /// Now, or earlier: the time since then counts as latency.
    pub issued_ns: u64,
    /// The caller's identifier: a job, or an index into a list.
    pub tag: u32,
    /// The host's own time before the drive has the command.
    pub host_ns: u32,
}

/// A completed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The tag of its submission.
    pub tag: u32,
    /// Its operation.
    pub operation: Operation,
    /// Whether it is a write that completed only when its data would survive a loss of power.
    pub is_through: bool,
    /// Its length.
    pub length_bytes: u32,
    /// Its start.
    pub offset_bytes: u64,
    /// When it was issued.
    pub issued_ns: u64,
    /// When it completed.
    pub completed_ns: u64,
}

impl Completion {
    /// Its latency.
    #[inline]
    pub fn latency_ns(&self) -> u64 {
        self.completed_ns - self.issued_ns
    }
}
