//! Recognises a trace's format by its first bytes.

use crate::error::{PieceKind, TraceError, shown};
use crate::formats::{Decode, Event, Format};
use crate::volumes::Volumes;

/// Bytes of a trace that are examined.
pub(crate) const HEAD_BYTES: usize = 64 * 1024;
/// Lines of these that are examined.
const LINES_MAX: usize = 64;

/// How certain a format is that a trace is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Likeness(u32);

impl Likeness {
    pub const NONE: Likeness = Likeness(0);
    /// A magic number or a first line that no other format has.
    pub const CERTAIN: Likeness = Likeness(u32::MAX);

    pub(crate) fn lines(count: usize) -> Self {
        Likeness(count as u32)
    }
}

/// The format whose likeness is the greatest; the first in the list among equals.
pub(crate) fn recognised(head: &[u8], is_whole: bool) -> Result<Format, TraceError> {
    if head.is_empty() {
        return Err(TraceError::Empty);
    }
    let mut best = (Likeness::NONE, None);
    for &format in Format::ALL {
        let likeness = format.likeness(head, is_whole);
        if likeness > best.0 {
            best = (likeness, Some(format));
        }
    }
    const TAR_MAGIC_AT: usize = 257;
    match best.1 {
        Some(format) => Ok(format),
        None if head.get(TAR_MAGIC_AT..).is_some_and(|bytes| bytes.starts_with(b"ustar")) => Err(TraceError::Archive),
        None => {
            let first_line = lines(head, true).next().unwrap_or(head);
            Err(TraceError::Unrecognised { found: shown(PieceKind::Line, first_line) })
        }
    }
}

/// The non-empty lines of the first bytes; a last line without its end only if nothing follows it.
pub(crate) fn lines(head: &[u8], is_whole: bool) -> impl Iterator<Item = &[u8]> {
    let complete = if is_whole { head.len() } else { memchr::memrchr(b'\n', head).map_or(0, |at| at + 1) };
    head[..complete]
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii_end)
        .filter(|line| !line.is_empty())
        .take(LINES_MAX)
}

/// The likeness of a text format: how many of the first lines it can read, if they are at least half.
pub(crate) fn readable_lines<D: Decode>(head: &[u8], is_whole: bool) -> Likeness {
    let mut decoder = D::default();
    let mut volumes = Volumes::default();
    let (mut readable, mut malformed) = (0, 0);
    for line in lines(head, is_whole) {
        match decoder.decode(line, &mut volumes) {
            Ok(Event::NotARequest) => {}
            Ok(_) => readable += 1,
            Err(_) => malformed += 1,
        }
    }
    if readable >= malformed { Likeness::lines(readable) } else { Likeness::NONE }
}
