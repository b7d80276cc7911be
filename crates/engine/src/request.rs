//! Requests of a host, as request streams and traces produce them and the flash translation layer executes them.

/// The operation of a request, as a block device knows it. A flush applies to the whole drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Operation {
    /// Reads data.
    Read,
    /// Writes data.
    Write,
    /// Deallocates a range, which then reads zeroes.
    Trim,
    /// Data written earlier must survive a loss of power.
    Flush,
}

impl Operation {
    /// The number of operations.
    pub const COUNT: usize = 4;
}

/// One request of the host: a byte range of the drive's logical address space. Only a flush is empty; no request
/// extends past the end of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Start of the range.
    pub offset_bytes: u64,
    /// Length of the range.
    pub length_bytes: u32,
    /// What to do with it.
    pub operation: Operation,
    /// Whether it is a write that completes only when its data would survive a loss of power (FUA).
    pub is_through: bool,
    /// The contents of a write, as far as they matter for data reduction and placement.
    pub content: Content,
}

/// Properties of the written data. The data itself is not simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Content {
    /// The share of the data that compression removes, 0 (random data) to 100: fio's `buffer_compress_percentage`.
    pub compress_percent: u8,
    /// The probability that the data equals earlier data, 0 to 100: fio's `dedupe_percentage`.
    pub dedupe_percent: u8,
    /// The placement identifier given by the host; 0 for none.
    pub identifier: u8,
}

impl Request {
    /// A request with incompressible, unique data.
    #[inline(always)]
    pub fn new(operation: Operation, offset_bytes: u64, length_bytes: u32) -> Self {
        Self { offset_bytes, length_bytes, operation, is_through: false, content: Content::default() }
    }
}
