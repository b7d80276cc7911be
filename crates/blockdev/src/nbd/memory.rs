//! What memory all clients together may take, and the share that one of them has.

use super::protocol;

/// For the buffers of all connections. The sockets' own are the kernel's.
const BUDGET_BYTES: usize = 160 << 20;
/// Pieces of requests are multiples of it, as most mapping units are it, or divide it.
pub const BLOCK_BYTES: usize = 4096;
/// More than this lets no system call bring more.
const BUFFER_BYTES_MAX: usize = 256 << 10;

/// The memory of one connection, in bytes. It takes what it needs of it, as data come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// For requests that a client sends without waiting, so that a system call brings many.
    pub in_bytes: usize,
    /// Answers that are gathered before they are sent, while there are requests left to look at.
    pub out_bytes: usize,
    /// What is carried out at once of a request, in each direction.
    pub piece_bytes: usize,
}

impl Share {
    /// An even part of the budget. With 64 connections the pieces have a mebibyte.
    pub fn of(connections_max: u32) -> Self {
        let share_bytes = BUDGET_BYTES / connections_max as usize;
        let buffer_bytes = (share_bytes / 10).min(BUFFER_BYTES_MAX);
        // What data comes in, and what data goes out.
        let piece_bytes = (share_bytes - 2 * buffer_bytes) / 2;
        Self {
            in_bytes: buffer_bytes,
            out_bytes: buffer_bytes,
            piece_bytes: piece_bytes.min(protocol::REQUEST_BYTES_MAX as usize) / BLOCK_BYTES * BLOCK_BYTES,
        }
    }
}
