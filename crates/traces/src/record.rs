//! The record into which every format is read.

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Reads data.
    Read,
    /// Writes data.
    Write,
    /// Deallocates data.
    Trim,
    /// A cache flush: it has no extent, so its offset and length are 0.
    Flush,
}

impl Operation {
    /// All operations, in the order of their indices.
    pub const ALL: [Operation; 4] = [Operation::Read, Operation::Write, Operation::Trim, Operation::Flush];

    /// The operation's index in [`Operation::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Trim => "trim",
            Operation::Flush => "flush",
        }
    }
}

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// Nanoseconds since the trace's first record. A record stamped earlier than the first one has 0; otherwise the
    /// trace's own order and jitter are kept, so a time may be smaller than the one before it.
    pub arrival_ns: u64,
    /// Index into [`crate::Reader::volumes`].
    pub volume: u32,
    /// What the request does.
    pub operation: Operation,
    /// Whether it is a write that completes only when its data is on the medium (FUA).
    pub is_through: bool,
    /// `offset_bytes + length_bytes` never overflows.
    pub offset_bytes: u64,
    /// Length of the request.
    pub length_bytes: u32,
}
