//! blktrace binary, as `blktrace` records and `blkparse -d` merges it: 48-byte records and their payloads.
//!
//! Queue events are requests: they say what was asked for, before merging and splitting. In a recording without them
//! issue events are, and in one with neither completions. A discard is a write with
//! the discard bit. A flush without an extent is a flush; with one it comes before the request and becomes a record of
//! its own. The format does not mark a write-zeroes: it looks like a write, often a huge one. A requeue, a message or a
//! passed-through SCSI command is not a request. Both byte orders are read. The files of the single processors that
//! `blktrace` leaves must be merged by time first (`blkparse -i NAME -d MERGED -O`). Source: the struct
//! `blk_io_trace` and its constants in Linux, `include/uapi/linux/blktrace_api.h`.

use super::stage::Stage;
use super::{Cut, Decode, Event, checked, sectors_to_bytes};
use crate::error::PieceKind;
use crate::recognition::Likeness;
use crate::record::{Operation, Record};
use crate::volumes::Volumes;

const HEADER_BYTES: usize = 48;
const MAGIC: u32 = 0x6561_7407;
/// The magic without the version, which is its last byte.
const MAGIC_MASK: u32 = 0xffff_ff00;
const EXPECTED: &str = "a record of version 7, magic 0x65617407";

const ACTION_QUEUE: u32 = 1;
const ACTION_ISSUE: u32 = 7;
const ACTION_COMPLETE: u32 = 8;
const CATEGORY_WRITE: u32 = 1 << 17;
const CATEGORY_FLUSH: u32 = 1 << 18;
const CATEGORY_PASSED_THROUGH: u32 = 1 << 25;
const CATEGORY_NOTIFY: u32 = 1 << 26;
const CATEGORY_DISCARD: u32 = 1 << 29;
const CATEGORY_FUA: u32 = 1 << 31;

#[derive(Default)]
pub struct Blktrace {
    /// The last record was cut as bad: what follows up to the next magic belongs to it.
    is_lost: bool,
    stage: Stage,
}

#[derive(Clone, Copy)]
enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    #[inline]
    fn of(record: &[u8]) -> Option<Self> {
        let magic: [u8; 4] = record.get(..4)?.try_into().ok()?;
        if u32::from_le_bytes(magic) == MAGIC {
            Some(ByteOrder::Little)
        } else if u32::from_be_bytes(magic) == MAGIC {
            Some(ByteOrder::Big)
        } else {
            None
        }
    }

    /// The number of `N` bytes at `from`.
    #[inline]
    fn number<const N: usize>(self, record: &[u8], from: usize) -> u64 {
        let mut bytes = [0; 8];
        match self {
            ByteOrder::Little => {
                bytes[..N].copy_from_slice(&record[from..from + N]);
                u64::from_le_bytes(bytes)
            }
            ByteOrder::Big => {
                bytes[8 - N..].copy_from_slice(&record[from..from + N]);
                u64::from_be_bytes(bytes)
            }
        }
    }
}

impl Decode for Blktrace {
    const KIND: PieceKind = PieceKind::Record;
    const NO_REQUESTS_HINT: &'static str = "were queue, issue or completion events recorded?";

    fn prepare(&mut self, head: &[u8]) {
        self.stage = Stage::earliest(stages(head));
    }

    fn note(&self) -> Option<&'static str> {
        self.stage.note()
    }

    #[inline]
    fn cut(&mut self, window: &[u8], at_end: bool) -> Cut {
        let missing = match (at_end, window.is_empty()) {
            (true, false) => {
                Cut::Bad { taken_bytes: window.len(), expected: "the rest of the last record", continued: self.is_lost }
            }
            _ => Cut::More,
        };
        if window.len() < HEADER_BYTES {
            return missing;
        }
        let Some(order) = ByteOrder::of(window) else {
            let continued = std::mem::replace(&mut self.is_lost, true);
            return Cut::Bad { taken_bytes: bytes_to_magic(window), expected: EXPECTED, continued };
        };
        let record_bytes = HEADER_BYTES + order.number::<2>(window, 46) as usize;
        if window.len() < record_bytes {
            return missing;
        }
        self.is_lost = false;
        Cut::Piece { piece_bytes: record_bytes, taken_bytes: record_bytes }
    }

    #[inline]
    fn decode(&mut self, record: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        let order = ByteOrder::of(record).filter(|_| record.len() >= HEADER_BYTES).ok_or(EXPECTED)?;
        let action = order.number::<4>(record, 28) as u32;
        if stage_of(action) != Some(self.stage) || action & (CATEGORY_NOTIFY | CATEGORY_PASSED_THROUGH) != 0 {
            return Ok(Event::NotARequest);
        }
        let time_ns = order.number::<8>(record, 8);
        let sector = order.number::<8>(record, 16);
        let length_bytes = order.number::<4>(record, 24);
        let device = order.number::<4>(record, 36) as u32;
        let has_flush = action & CATEGORY_FLUSH != 0;
        if length_bytes == 0 && !has_flush {
            return Ok(Event::NotARequest);
        }
        let operation = if length_bytes == 0 {
            Operation::Flush
        } else if action & CATEGORY_DISCARD != 0 {
            Operation::Trim
        } else if action & CATEGORY_WRITE != 0 {
            Operation::Write
        } else {
            Operation::Read
        };
        let offset_bytes = if length_bytes == 0 { 0 } else { sectors_to_bytes(sector)? };
        // The kernel's device number: 20 bits of minor under 12 of major.
        let name = || format!("{},{}", device >> 20, device & 0xf_ffff);
        let volume = || volumes.intern_named(&device.to_le_bytes(), name);
        let plain = checked(time_ns, operation, offset_bytes, length_bytes, volume)?;
        let record = Record { is_through: action & CATEGORY_FUA != 0 && operation == Operation::Write, ..plain };
        Ok(if has_flush && length_bytes > 0 { Event::FlushThenRequest(record) } else { Event::Request(record) })
    }

    fn likeness(head: &[u8], _is_whole: bool) -> Likeness {
        // Other versions too, so that the error names the version and not the format.
        let is_ours = |magic: u32| magic & MAGIC_MASK == MAGIC & MAGIC_MASK;
        match head.first_chunk::<4>() {
            Some(&magic) if is_ours(u32::from_le_bytes(magic)) || is_ours(u32::from_be_bytes(magic)) => {
                Likeness::CERTAIN
            }
            _ => Likeness::NONE,
        }
    }
}

fn stage_of(action: u32) -> Option<Stage> {
    match action & 0xffff {
        ACTION_QUEUE => Some(Stage::Queue),
        ACTION_ISSUE => Some(Stage::Issue),
        ACTION_COMPLETE => Some(Stage::Complete),
        _ => None,
    }
}

/// The kinds of events at the beginning of a recording, up to the first damage.
fn stages(head: &[u8]) -> impl Iterator<Item = Stage> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let record = head.get(at..at + HEADER_BYTES)?;
        let order = ByteOrder::of(record)?;
        at += HEADER_BYTES + order.number::<2>(record, 46) as usize;
        let action = order.number::<4>(record, 28) as u32;
        let is_other = action & (CATEGORY_NOTIFY | CATEGORY_PASSED_THROUGH) != 0;
        Some(stage_of(action).filter(|_| !is_other))
    })
    .flatten()
}

/// How far the next record can be: the next magic in either byte order, or so much that no magic is cut in two.
#[cold]
fn bytes_to_magic(window: &[u8]) -> usize {
    let find = |magic: [u8; 4]| memchr::memmem::find(&window[1..], &magic).map(|at| at + 1);
    let next = [find(MAGIC.to_le_bytes()), find(MAGIC.to_be_bytes())].into_iter().flatten().min();
    next.unwrap_or(window.len() - 3)
}
