//! What a host asks of a drive: the one currency between request streams, traces and the flash translation layer.

/// The kind of a request. Three kinds are all that a block device knows of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Operation {
    Read,
    Write,
    Trim,
}

/// One request of the host: a byte range of the drive's logical space. Never empty, never past the end of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub offset_bytes: u64,
    pub length_bytes: u32,
    pub operation: Operation,
}
