//! Block events of `LTTng` as babeltrace prints them: `[12:53:10.000487624] (+0.000004612) host block_rq_issue: { cpu_id =
//! 0 }, { dev = 271581184, sector = 26682264, nr_sector = 64, bytes = 32768, rwbs = "R", ... }`.
//!
//! Time is the time of day, or with `--clock-seconds` seconds. The device has 12 bits of major above 20 of minor. `rwbs`
//! is text, or a number with a bit for each letter. Source: `instrumentation/events/block.h` of lttng-modules.

use super::rwbs::{self, Rwbs};
use super::stage::Stage;
use super::{Decode, Event, sectors_to_bytes};
use crate::cursor::{Cursor, NS_PER_S};
use crate::recognition::lines;
use crate::record::Operation;
use crate::volumes::Volumes;
use memchr::memmem;

const DAY_NS: u64 = 24 * 3600 * NS_PER_S;
const BIT_WRITE: u64 = 1;
const BIT_DISCARD: u64 = 1 << 1;
const BIT_READ: u64 = 1 << 2;
const BIT_FUA: u64 = 1 << 9;
const BIT_FLUSH: u64 = 1 << 8 | 1 << 10;

#[derive(Default)]
pub struct Lttng {
    stage: Stage,
    last_ns: u64,
    /// Midnights that have passed.
    days: u64,
}

impl Decode for Lttng {
    const NO_REQUESTS_HINT: &'static str = "were block_bio_queue, block_rq_issue or block_rq_complete recorded?";

    fn prepare(&mut self, head: &[u8]) {
        self.stage = Stage::earliest(lines(head, true).filter_map(split).map(|(stage, _)| stage));
    }

    fn note(&self) -> Option<&'static str> {
        self.stage.note()
    }

    #[inline]
    fn decode(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        let Some((stage, fields)) = split(line) else { return Ok(Event::NotARequest) };
        if stage != self.stage {
            return Ok(Event::NotARequest);
        }
        let of_day_ns = time(line).ok_or("a time, [12:53:10.000487624] or seconds")?;
        // Seconds are not of a day.
        let is_of_day = line.get(3) == Some(&b':');
        if is_of_day && of_day_ns.saturating_add(DAY_NS / 2) < self.last_ns {
            self.days += 1;
        }
        self.last_ns = of_day_ns;
        let time_ns = self.days.checked_mul(DAY_NS).and_then(|days_ns| days_ns.checked_add(of_day_ns)).ok_or("a time")?;
        let device = number(fields, b" dev = ").ok_or("dev")?;
        let sector = number(fields, b" sector = ").ok_or("sector")?;
        let sectors = number(fields, b" nr_sector = ").ok_or("nr_sector")?;
        let offset_bytes = if sectors == 0 { 0 } else { sectors_to_bytes(sector)? };
        let name = || format!("{},{}", device >> 20, device & 0xf_ffff);
        let volume = || volumes.intern_named(&device.to_le_bytes(), name);
        operation(fields)?.at(stage).event(time_ns, offset_bytes, sectors_to_bytes(sectors)?, volume)
    }
}

fn split(line: &[u8]) -> Option<(Stage, &[u8])> {
    let at = memmem::find(line, b" block_")? + 1;
    let fields_at = memmem::find(&line[at..], b": {")?;
    let stage = match &line[at..at + fields_at] {
        b"block_bio_queue" => Stage::Queue,
        b"block_rq_insert" => Stage::Insert,
        b"block_rq_issue" => Stage::Issue,
        b"block_rq_complete" => Stage::Complete,
        _ => return None,
    };
    Some((stage, &line[at + fields_at..]))
}

fn time(line: &[u8]) -> Option<u64> {
    let mut cursor = Cursor::new(line);
    if !cursor.byte(b'[') {
        return None;
    }
    let text = cursor.until(b']')?;
    let mut parts = text.split(|&byte| byte == b':').rev();
    let mut time_ns = Cursor::new(parts.next()?).decimal_ns(NS_PER_S)?;
    for (part, seconds) in parts.zip([60, 3600]) {
        let count = Cursor::new(part).number()?;
        time_ns = time_ns.checked_add(count.checked_mul(seconds * NS_PER_S)?)?;
    }
    Some(time_ns)
}

fn number(fields: &[u8], name: &[u8]) -> Option<u64> {
    let at = memmem::find(fields, name)?;
    Cursor::new(&fields[at + name.len()..]).number()
}

fn operation(fields: &[u8]) -> Result<Rwbs, &'static str> {
    const NAME: &[u8] = b" rwbs = ";
    let at = memmem::find(fields, NAME).ok_or("rwbs")?;
    let mut cursor = Cursor::new(&fields[at + NAME.len()..]);
    if cursor.byte(b'"') {
        return Rwbs::read(cursor.until(b'"').ok_or(rwbs::EXPECTED)?);
    }
    let bits = cursor.number().ok_or(rwbs::EXPECTED)?;
    let operation = match bits {
        bits if bits & BIT_DISCARD != 0 => Some(Operation::Trim),
        bits if bits & BIT_WRITE != 0 => Some(Operation::Write),
        bits if bits & BIT_READ != 0 => Some(Operation::Read),
        _ => None,
    };
    let (has_flush, is_through) = (bits & BIT_FLUSH != 0, bits & BIT_FUA != 0);
    Ok(Rwbs { has_flush, is_through, operation, is_placed_later: false })
}
