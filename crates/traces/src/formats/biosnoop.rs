//! biosnoop of bcc and of libbpf-tools: `0.000488  postgres  400  nvme0n1  R 26682264  32768  0.91`, below a header `TIME(s)
//! COMM PID DISK T SECTOR BYTES LAT(ms)`, or with `-Q` one more column, QUE(ms), before the last, and with `-P` one before
//! these, P, a letter that ends a number of bytes of seven digits without a blank.
//!
//! Time is the time at which the request completed, in seconds; latency and time in the queue are milliseconds before
//! it, -1 for a request that was in none. The name of a process may have blanks, so that a line is read from its end. A
//! request that began before the recording has the process `?`, no disk and no sector: it is passed over. Source:
//! `tools/biosnoop.py` and `libbpf-tools/biosnoop.c` of bcc.

use super::{Decode, Event, sectors_to_bytes};
use super::rwbs::Rwbs;
use crate::cursor::{Cursor, NS_PER_MS, NS_PER_S};
use crate::volumes::Volumes;

/// Times are relative to the first completion, which came after the first arrival; this keeps them above 0.
const START_NS: u64 = 1_000_000 * NS_PER_S;

#[derive(Default)]
pub struct Biosnoop;

impl Decode for Biosnoop {
    #[inline]
    fn decode(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        if line.is_empty() || line.starts_with(b"TIME(s)") || line.starts_with(b"Tracing ") {
            return Ok(Event::NotARequest);
        }
        let mut cursor = Cursor::new(line);
        let ended_ns = cursor.decimal_ns(NS_PER_S).filter(|_| cursor.spaces()).ok_or("a time in seconds (TIME(s))")?;
        let mut words = words_from_the_end(cursor.rest());
        let mut next = || words.next().unwrap_or_default();
        let mut before_ns = milliseconds(next()).ok_or("a latency in milliseconds (LAT(ms))")?;
        let mut word = next();
        if word.contains(&b'.') {
            let in_queue_ns = if word.starts_with(b"-1.") { Some(0) } else { milliseconds(word) };
            before_ns += in_queue_ns.ok_or("a time in the queue in milliseconds (QUE(ms))")?;
            word = next();
        }
        if let [bytes @ .., b'S' | b'R' | b'?'] = word {
            word = if bytes.is_empty() { next() } else { bytes };
        }
        let length_bytes = whole(word).ok_or("a number of bytes (BYTES)")?;
        let sector = next();
        let (rwbs, disk) = (Rwbs::read(next())?, next());
        let process = next();
        if process == b"?" || (disk == b"<unknown>" && next() == b"?") {
            return Ok(Event::NotARequest);
        }
        if disk.is_empty() || whole(process).is_none() {
            return Err("a disk (DISK) behind the number of a process (PID)");
        }
        let offset_bytes = if length_bytes == 0 { 0 } else { sectors_to_bytes(whole(sector).ok_or("a sector (SECTOR)")?)? };
        let time_ns = START_NS.checked_add(ended_ns).and_then(|ns| ns.checked_sub(before_ns)).ok_or("a time")?;
        rwbs.event(time_ns, offset_bytes, length_bytes, || volumes.intern(disk))
    }
}

/// The words of a line, the last first.
pub(super) fn words_from_the_end(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.rsplit(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

pub(super) fn whole(word: &[u8]) -> Option<u64> {
    let mut cursor = Cursor::new(word);
    cursor.number().filter(|_| cursor.is_done())
}

/// A time with a fraction, which no whole number is.
pub(super) fn milliseconds(word: &[u8]) -> Option<u64> {
    let mut cursor = Cursor::new(word);
    cursor.decimal_ns(NS_PER_MS).filter(|_| cursor.is_done() && word.contains(&b'.'))
}
