//! What `xperf -i TRACE.etl -a dumper` prints of disk requests: `DiskRead, 577, System (4), 8, 0xffff, 0x32e44b000,
//! 0x00008000, 90, 0, ...`.
//!
//! Columns: event, time, process, thread, IRP, byte offset, size, elapsed time, disk; more follow. A `DiskFlush` has
//! neither offset nor size. Time is that of the completion, and both times are microseconds. Other events are passed over. Source: the header that the dumper prints.

use super::{Decode, Event, request};
use crate::cursor::{Cursor, NS_PER_US};
use crate::record::Operation;
use crate::volumes::Volumes;

#[derive(Default)]
pub struct Xperf;

impl Decode for Xperf {
    const NO_REQUESTS_HINT: &'static str = "does it have DiskRead and DiskWrite events?";

    #[inline]
    fn decode(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        let mut fields = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
        let operation = match fields.next() {
            Some(b"DiskRead") => Operation::Read,
            Some(b"DiskWrite") => Operation::Write,
            Some(b"DiskFlush") => Operation::Flush,
            _ => return Ok(Event::NotARequest),
        };
        let mut next = || Cursor::new(fields.next().unwrap_or_default());
        let time = next();
        if time.rest() == b"TimeStamp" {
            return Ok(Event::NotARequest);
        }
        let ended_us = number(time).ok_or("a time in microseconds (TimeStamp)")?;
        for _of in ["process", "thread", "IRP"] {
            next();
        }
        let (mut offset_bytes, mut length_bytes) = (0, 0);
        if operation != Operation::Flush {
            offset_bytes = number(next()).ok_or("an offset in bytes (ByteOffset)")?;
            length_bytes = number(next()).ok_or("a size in bytes (IOSize)")?;
        }
        let elapsed_us = number(next()).ok_or("a time in microseconds (ElapsedTime)")?;
        let disk = next().rest();
        let time_ns = ended_us.saturating_sub(elapsed_us).checked_mul(NS_PER_US).ok_or("a time below 2^64 ns")?;
        request(time_ns, operation, offset_bytes, length_bytes, || volumes.intern(disk))
    }
}

/// A number, hexadecimal behind `0x`.
fn number(mut cursor: Cursor) -> Option<u64> {
    let is_hexadecimal = cursor.rest().starts_with(b"0x");
    let value = if is_hexadecimal { cursor.hexadecimal() } else { cursor.number() };
    value.filter(|_| cursor.is_done())
}
