//! The memory of all clients, and the share of one of them.

use super::protocol;

/// For the buffers of all connections. Those of the sockets belong to the kernel.
const BUDGET_BYTES: usize = 160 << 20;
/// Pieces of requests are multiples of it; most mapping units equal it, or divide it.
pub const BLOCK_BYTES: usize = 4096;
/// A larger buffer does not make system calls transfer more.
const BUFFER_BYTES_MAX: usize = 256 << 10;

/// The memory of one connection, in bytes. Allocated as needed, as data arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// For requests sent without waiting, so that a system call receives many.
    pub in_bytes: usize,
    /// Answers collected before they are sent, while there are requests left to process.
    pub out_bytes: usize,
    /// The part of a request executed at once, in each direction.
    pub piece_bytes: usize,
}

impl Share {
    /// An equal part of the budget. With 64 connections the pieces have a mebibyte.
    pub fn of(connections_max: u32) -> Self {
        let share_bytes = BUDGET_BYTES / connections_max as usize;
        let buffer_bytes = (share_bytes / 10).min(BUFFER_BYTES_MAX);
        // For incoming and for outgoing data.
        let piece_bytes = (share_bytes - 2 * buffer_bytes) / 2;
        Self {
            in_bytes: buffer_bytes,
            out_bytes: buffer_bytes,
            piece_bytes: piece_bytes.min(protocol::REQUEST_BYTES_MAX as usize) / BLOCK_BYTES * BLOCK_BYTES,
        }
    }
}
