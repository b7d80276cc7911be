//! Planned requests, each with its cause, and how pieces of files are split into them.

use super::space::Piece;
use crate::request::{Operation, Request};

/// The unit of allocation of files.
pub(super) const BLOCK_BYTES: u64 = 4096;

/// A request with its cause, and the number of its bytes that the user of the database wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    pub request: Request,
    pub cause: Cause,
    pub user_bytes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Log,
    /// A level of an LSM tree, 0 for flushed memtables; 0 for the pages of a B+ tree and for new chunks.
    Level(u8),
    /// A table, index or chunk that was there before.
    Rebuilt,
    Deleted,
    Read,
}

/// The ordered lists of requests of an interval, which are written concurrently.
pub(super) struct Interval {
    pub lists: Vec<Vec<Planned>>,
    /// For each list: the share of the interval over which it is written.
    pub spread: Vec<f64>,
}

/// Splits pieces of files into requests.
#[derive(Clone, Debug)]
pub(super) struct Requests {
    pub bytes_max: u64,
    pub identifiers: Vec<u8>,
}

impl Requests {
    /// The identifier of the log (`index` 0) or of level `index - 1`.
    pub fn identifier(&self, index: usize) -> u8 {
        let last = self.identifiers.len().saturating_sub(1);
        self.identifiers.get(index.min(last)).copied().unwrap_or(0)
    }

    pub fn write(&self, out: &mut Vec<Planned>, pieces: &[Piece], cause: Cause) {
        let identifier = self.identifier(match cause {
            Cause::Log => 0,
            Cause::Level(level) => 1 + usize::from(level),
            Cause::Rebuilt | Cause::Deleted | Cause::Read => 1,
        });
        for &piece in pieces {
            self.split(out, piece, Operation::Write, cause, identifier);
        }
    }

    pub fn split(&self, out: &mut Vec<Planned>, piece: Piece, operation: Operation, cause: Cause, identifier: u8) {
        let mut at = 0;
        while at < piece.length_bytes {
            let length = self.bytes_max.min(piece.length_bytes - at);
            let mut request = Request::new(operation, piece.offset_bytes + at, length as u32);
            request.content.identifier = identifier;
            out.push(Planned { request, cause, user_bytes: 0 });
            at += length;
        }
    }

    pub fn delete(&self, out: &mut Vec<Planned>, pieces: &[Piece]) {
        // The length of a request has 32 bits.
        const TRIM_BYTES_MAX: u64 = 1 << 30;
        for &Piece { offset_bytes, length_bytes } in pieces {
            for at in (0..length_bytes).step_by(TRIM_BYTES_MAX as usize) {
                let length = TRIM_BYTES_MAX.min(length_bytes - at);
                let request = Request::new(Operation::Trim, offset_bytes + at, length as u32);
                out.push(Planned { request, cause: Cause::Deleted, user_bytes: 0 });
            }
        }
    }
}
