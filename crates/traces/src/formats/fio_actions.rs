//! The words that both versions of fio's iolog share. Source: `iolog.c` of fio.

use crate::record::Operation;

/// What an action with an offset and a length does.
pub(super) enum Action {
    Request(Operation),
    /// Version 2 only.
    Wait,
}

pub(super) fn io_action(word: &[u8]) -> Option<Action> {
    match word {
        b"read" => Some(Action::Request(Operation::Read)),
        b"write" => Some(Action::Request(Operation::Write)),
        b"trim" => Some(Action::Request(Operation::Trim)),
        b"sync" | b"datasync" | b"sync_file_range" => Some(Action::Request(Operation::Flush)),
        b"wait" => Some(Action::Wait),
        _ => None,
    }
}

/// Whether this manages a file and requests nothing of a drive.
pub(super) fn is_file_action(word: &[u8]) -> bool {
    matches!(word, b"add" | b"open" | b"close" | b"unlink")
}

/// A flush has no extent, even if fio wrote one into its line.
pub(super) fn extent(operation: Operation, offset_bytes: u64, length_bytes: u64) -> (u64, u64) {
    if operation == Operation::Flush { (0, 0) } else { (offset_bytes, length_bytes) }
}
