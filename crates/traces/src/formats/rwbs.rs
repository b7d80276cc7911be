//! The kernel's RWBS: `F` for a flush before, the operation, then flags, of which `F` is "force unit access".
//!
//! The operation is `D` discard, `W` write, `R` read, `N` none, or `Z` and a letter for an operation on a zone. A zone's
//! reset empties the zone, as a trim of all of it does; opening, closing and finishing move no data. A zone append does
//! not say where it writes before it completes: only then the drive has told (`nvme_end_req_zoned` in Linux,
//! `drivers/nvme/host/core.c`). Source: `blk_fill_rwbs` in Linux, `kernel/trace/blktrace.c`.

use super::stage::Stage;
use super::{Event, checked, request};
use crate::record::{Operation, Record};

/// What an RWBS says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rwbs {
    /// The cache is flushed before.
    pub has_flush: bool,
    /// The request completes when its data is on the medium.
    pub is_through: bool,
    /// `None`: nothing is transferred.
    pub operation: Option<Operation>,
    /// The request writes where the drive chooses, which is not known yet.
    pub is_placed_later: bool,
}

pub(super) const PLACED_LATER: &str = "no zone append, which says where it writes only when it completes: a recording of \
                                     completions alone has it (blktrace -a complete, block_rq_complete)";
pub(super) const EXPECTED: &str = "RWBS, of F, D, W, R, N or Z and flags";

impl Rwbs {
    pub fn of(operation: Operation) -> Self {
        Rwbs { has_flush: false, is_through: false, operation: Some(operation), is_placed_later: false }
    }

    /// A flush alone.
    pub fn flush() -> Self {
        Rwbs { has_flush: true, is_through: false, operation: None, is_placed_later: false }
    }

    /// The same of an event of this stage.
    pub fn at(self, stage: Stage) -> Self {
        Rwbs { is_placed_later: self.is_placed_later && stage != Stage::Complete, ..self }
    }

    #[inline]
    pub fn read(word: &[u8]) -> Result<Self, &'static str> {
        let has_flush = word.first() == Some(&b'F');
        let word_behind = &word[usize::from(has_flush)..];
        let (operation, flags) = match word_behind {
            [b'W', flags @ ..] | [b'Z', b'A', flags @ ..] => (Some(Operation::Write), flags),
            [b'R', flags @ ..] => (Some(Operation::Read), flags),
            [b'D', flags @ ..] | [b'Z', b'R', flags @ ..] => (Some(Operation::Trim), flags),
            [b'N', flags @ ..] | [b'Z', _, flags @ ..] => (None, flags),
            [] | [b'F', ..] if has_flush => (None, word_behind),
            _ => return Err(EXPECTED),
        };
        if !flags.iter().all(u8::is_ascii_uppercase) {
            return Err(EXPECTED);
        }
        let is_placed_later = word_behind.starts_with(b"ZA");
        Ok(Rwbs { has_flush, is_through: flags.contains(&b'F'), operation, is_placed_later })
    }

    /// The request with this extent; without one, what the cache is flushed for first is a flush alone.
    #[inline]
    pub fn event(
        self,
        time_ns: u64,
        offset_bytes: u64,
        length_bytes: u64,
        volume: impl FnOnce() -> Result<u32, &'static str>,
    ) -> Result<Event, &'static str> {
        if self.is_placed_later {
            return Err(PLACED_LATER);
        }
        match self.operation {
            Some(operation) if length_bytes > 0 || !self.has_flush => {
                let plain = checked(time_ns, operation, offset_bytes, length_bytes, volume)?;
                let record = Record { is_through: self.is_through && operation == Operation::Write, ..plain };
                Ok(if self.has_flush { Event::FlushThenRequest(record) } else { Event::Request(record) })
            }
            _ if self.has_flush => request(time_ns, Operation::Flush, 0, 0, volume),
            _ => Ok(Event::NotARequest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letters_in_their_order() {
        let read =
            |text: &str| Rwbs::read(text.as_bytes()).map(|found| (found.has_flush, found.operation, found.is_through));
        assert_eq!(read("WFS"), Ok((false, Some(Operation::Write), true)));
        assert_eq!(read("FWFS"), Ok((true, Some(Operation::Write), true)));
        assert_eq!(read("FWS"), Ok((true, Some(Operation::Write), false)));
        assert_eq!(read("F"), Ok((true, None, false)));
        assert_eq!(read("FF"), Ok((true, None, true)));
        assert_eq!(read("FN"), Ok((true, None, false)));
        assert_eq!(read("DS"), Ok((false, Some(Operation::Trim), false)));
        assert_eq!(read("ZRS"), Ok((false, Some(Operation::Trim), false)));
        assert_eq!(read("ZFS"), Ok((false, None, false)));
        assert!(read("X").is_err() && read("Wx").is_err() && read("").is_err());
    }
}
