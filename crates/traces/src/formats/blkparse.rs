//! blkparse text in its default layout: `8,0  1  42  0.000154389  27622  Q  WS 4194176 + 128 [fio]`.
//!
//! Device, processor, sequence, seconds, process id, action, RWBS, sector + sectors, process. Queue events (`Q`) are
//! requests; in a recording without them issue events (`D`) are, and in one with neither completions (`C`). `rwbs.rs`
//! has the letters of RWBS; a line without sectors and with a first `F` is a flush. A write-zeroes is not marked: it is a huge
//! `WS`. The summary that follows the events is left unread. Source: blkparse(1) and `blkparse_fmt.c` of blktrace.

use super::rwbs::Rwbs;
use super::stage::Stage;
use super::{Decode, Event, sectors_to_bytes};
use crate::cursor::{Cursor, NS_PER_S};
use crate::recognition::{Likeness, is_around, lines};
use crate::volumes::Volumes;

#[derive(Default)]
pub struct Blkparse {
    is_in_summary: bool,
    stage: Stage,
}

impl Decode for Blkparse {
    const NO_REQUESTS_HINT: &'static str = "were queue (Q), issue (D) or completion (C) events recorded and printed?";

    fn prepare(&mut self, head: &[u8]) {
        let event = |line: &[u8]| EventLine::read(&mut Cursor::new(line.trim_ascii_start())).ok()?.stage();
        self.stage = Stage::earliest(lines(head, true).filter_map(event));
    }

    fn note(&self) -> Option<&'static str> {
        self.stage.note()
    }

    #[inline]
    fn decode(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        let mut cursor = Cursor::new(line);
        cursor.spaces();
        if !cursor.rest().first().is_some_and(u8::is_ascii_digit) {
            return self.not_an_event(cursor.rest());
        }
        let event = EventLine::read(&mut cursor)?;
        self.is_in_summary = false;
        if event.stage() == Some(self.stage) { decode_event(&event, self.stage, cursor, volumes) } else { Ok(Event::NotARequest) }
    }

    fn likeness(head: &[u8], is_whole: bool) -> Likeness {
        let is_event = |line: &&[u8]| EventLine::read(&mut Cursor::new(line.trim_ascii_start())).is_ok();
        let events = lines(head, is_whole).filter(is_event).count();
        let others = lines(head, is_whole).filter(|line| !is_around(line)).count() - events;
        if events > others { Likeness::lines(events) } else { Likeness::NONE }
    }
}

impl Blkparse {
    #[cold]
    fn not_an_event(&mut self, text: &[u8]) -> Result<Event, &'static str> {
        self.is_in_summary |= text.starts_with(b"CPU") || text.starts_with(b"Total");
        if self.is_in_summary || text.is_empty() {
            Ok(Event::NotARequest)
        } else {
            Err("an event that begins with the device's major,minor")
        }
    }
}

/// What every event has.
struct EventLine<'a> {
    device: &'a [u8],
    time_ns: u64,
    action: &'a [u8],
}

impl<'a> EventLine<'a> {
    #[inline]
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, &'static str> {
        let from = cursor.rest();
        cursor.number().filter(|_| cursor.byte(b',')).ok_or("a device as major,minor (column 1)")?;
        cursor.number().ok_or("a device as major,minor (column 1)")?;
        let device = &from[..from.len() - cursor.rest().len()];
        cursor.spaces();
        cursor.number().filter(|_| cursor.spaces()).ok_or("a processor number (column 2)")?;
        cursor.number().filter(|_| cursor.spaces()).ok_or("a sequence number (column 3)")?;
        let time_ns = cursor.decimal_ns(NS_PER_S).filter(|_| cursor.spaces()).ok_or("a time in seconds (column 4)")?;
        cursor.number().filter(|_| cursor.spaces()).ok_or("a process id (column 5)")?;
        let action = cursor.word();
        // Actions have one or two letters, so a longer word is damage and not an event to pass over.
        if action.is_empty() || action.len() > 2 {
            return Err("an action of one or two letters (column 6)");
        }
        Ok(EventLine { device, time_ns, action })
    }

    #[inline]
    fn stage(&self) -> Option<Stage> {
        match self.action {
            b"Q" => Some(Stage::Queue),
            b"D" => Some(Stage::Issue),
            b"C" => Some(Stage::Complete),
            _ => None,
        }
    }
}

#[inline]
fn decode_event(
    event: &EventLine,
    stage: Stage,
    mut cursor: Cursor,
    volumes: &mut Volumes,
) -> Result<Event, &'static str> {
    cursor.spaces();
    let rwbs = Rwbs::read(cursor.word())?.at(stage);
    cursor.spaces();
    let has_extent = cursor.rest().first().is_some_and(u8::is_ascii_digit);
    if rwbs.operation.is_none() || !has_extent {
        return rwbs.event(event.time_ns, 0, 0, || volumes.intern(event.device));
    }
    let sector = cursor.number().filter(|_| cursor.spaces()).ok_or("a sector (column 8)")?;
    if cursor.rest().starts_with(b"(") {
        // The bytes of a passed-through SCSI command and its command block.
        return Ok(Event::NotARequest);
    }
    if !cursor.byte(b'+') || !cursor.spaces() {
        return Err("+ between sector and sectors (column 9)");
    }
    let sectors = cursor.number().ok_or("a number of sectors (column 10)")?;
    if !cursor.is_done() && !cursor.spaces() {
        return Err("a number of sectors (column 10)");
    }
    let (offset_bytes, length_bytes) = (sectors_to_bytes(sector)?, sectors_to_bytes(sectors)?);
    rwbs.event(event.time_ns, offset_bytes, length_bytes, || volumes.intern(event.device))
}
