//! What a host asks of a drive: the one currency between request streams, traces and the flash translation layer.

/// The kind of a request. Three kinds are all that a block device knows of data; a flush is about all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Operation {
    Read,
    Write,
    Trim,
    /// What was written before is to outlive a loss of power.
    Flush,
}

impl Operation {
    /// How many there are.
    pub const COUNT: usize = 4;
}

/// One request of the host: a byte range of the drive's logical space. Never empty, but for a flush, which has no
/// place; never past the end of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub offset_bytes: u64,
    pub length_bytes: u32,
    pub operation: Operation,
    /// What a write writes, as far as a drive that reduces data can tell.
    pub content: Content,
}

/// Data itself is not simulated; this is all that is known of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Content {
    /// How much of the data compression takes away, 0 (random data) to 100: fio's `buffer_compress_percentage`.
    pub compress_percent: u8,
    /// The chance that the data is the same as what was written before it, 0 to 100: fio's `dedupe_percentage`.
    pub dedupe_percent: u8,
    /// The placement identifier that the host gives with it; 0 where it gives none.
    pub identifier: u8,
}

impl Request {
    /// A request whose data no drive can reduce.
    #[inline(always)]
    pub fn new(operation: Operation, offset_bytes: u64, length_bytes: u32) -> Self {
        Self { offset_bytes, length_bytes, operation, content: Content::default() }
    }
}
