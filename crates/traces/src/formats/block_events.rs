//! Events of the kernel's block layer as text: `trace-cmd report`, `perf script`, and ftrace's own `trace` file.
//!
//! `fio-4092 [001] 10245.000488: block_rq_issue: 259,0 R 32768 () 26682264 + 64 [fio]`: whatever comes before, seconds,
//! the event, device, RWBS, bytes and command of those that have them, sector + sectors. Lines without such an event are
//! passed over. Source: `include/trace/events/block.h` in Linux.

use super::rwbs::Rwbs;
use super::stage::Stage;
use super::{Decode, Event, sectors_to_bytes};
use crate::cursor::{Cursor, NS_PER_S};
use crate::recognition::lines;
use crate::volumes::Volumes;
use memchr::memmem;

#[derive(Default)]
pub struct BlockEvents {
    stage: Stage,
}

impl Decode for BlockEvents {
    const NO_REQUESTS_HINT: &'static str =
        "were block_bio_queue, block_rq_issue or block_rq_complete recorded?";

    fn prepare(&mut self, head: &[u8]) {
        self.stage = Stage::earliest(lines(head, true).filter_map(split).map(|(_, stage, _)| stage));
    }

    fn note(&self) -> Option<&'static str> {
        self.stage.note()
    }

    #[inline]
    fn decode(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        match split(line) {
            Some((before, stage, behind)) if stage == self.stage || before.is_empty() => {
                decode_event(before, stage, behind, volumes)
            }
            _ => Ok(Event::NotARequest),
        }
    }
}

/// What comes before the event's name, which event it is, and what it says.
#[inline]
fn split(line: &[u8]) -> Option<(&[u8], Stage, &[u8])> {
    let at = memmem::find(line, b"block_")?;
    let (name, behind) = line[at..].split_at(memchr::memchr(b':', &line[at..])?);
    let stage = match name {
        b"block_bio_queue" => Stage::Queue,
        b"block_rq_insert" => Stage::Insert,
        b"block_rq_issue" => Stage::Issue,
        b"block_rq_complete" => Stage::Complete,
        _ => return None,
    };
    Some((&line[..at], stage, &behind[1..]))
}

fn decode_event(before: &[u8], stage: Stage, behind: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
    let time_ns = time_before(before).ok_or("a time in seconds before the event's name")?;
    let mut cursor = Cursor::new(behind);
    cursor.spaces();
    let from = cursor.rest();
    cursor.number().filter(|_| cursor.byte(b',')).ok_or("a device as major,minor")?;
    cursor.number().ok_or("a device as major,minor")?;
    let device = &from[..from.len() - cursor.rest().len()];
    cursor.spaces();
    let rwbs = Rwbs::read(cursor.word())?.at(stage);
    cursor.spaces();
    let first = cursor.number();
    cursor.spaces();
    let sector = if cursor.byte(b'(') {
        // The bytes were before it; behind it is the command, empty but for one that was passed through.
        cursor.until(b')').ok_or("the end of the command, )")?;
        cursor.spaces();
        cursor.number()
    } else {
        first
    };
    let sector = sector.ok_or("a sector")?;
    cursor.spaces();
    if !cursor.byte(b'+') {
        return Err("+ between sector and sectors");
    }
    cursor.spaces();
    let sectors = cursor.number().ok_or("a number of sectors")?;
    // A flush without an extent has the sector 2^64 - 1.
    let offset_bytes = if sectors == 0 { 0 } else { sectors_to_bytes(sector)? };
    rwbs.event(time_ns, offset_bytes, sectors_to_bytes(sectors)?, || volumes.intern(device))
}

/// The time that ends the text before an event: `... 10245.000488: ` or `... 3399.000488: block:`.
pub(super) fn time_before(before: &[u8]) -> Option<u64> {
    let before = before.trim_ascii_end();
    let before = before.strip_suffix(b"block:").unwrap_or(before).trim_ascii_end().strip_suffix(b":")?;
    let from = memchr::memrchr2(b' ', b'\t', before).map_or(0, |at| at + 1);
    let mut cursor = Cursor::new(&before[from..]);
    cursor.decimal_ns(NS_PER_S).filter(|_| cursor.is_done())
}
