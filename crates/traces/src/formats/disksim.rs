//! DiskSim ASCII: `13.191135 30 576560 6 1`: arrival time, device, block, size, flags.
//!
//! Time is *milliseconds* with a fraction, block and size are 512-byte blocks, flags are hexadecimal, and the lowest
//! bit is set for a read. It looks like MQSim's format but for the point in the time: a trace with whole milliseconds
//! must be named. Source: the DiskSim 4.0 reference manual (CMU-PDL-08-101) and its `disksim_iotrace.c`.

use super::{Decode, Event, request, sectors_to_bytes};
use crate::cursor::{Cursor, NS_PER_MS};
use crate::recognition::{Likeness, lines, readable_lines};
use crate::record::Operation;
use crate::volumes::Volumes;

const FLAG_READ: u64 = 1;

#[derive(Default)]
pub struct Disksim;

impl Decode for Disksim {
    #[inline]
    fn decode(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        if line.is_empty() {
            return Ok(Event::NotARequest);
        }
        let mut cursor = Cursor::new(line);
        cursor.spaces();
        let time_ns =
            cursor.decimal_ns(NS_PER_MS).filter(|_| cursor.spaces()).ok_or("a time in milliseconds (column 1 of 5)")?;
        let device_from = cursor.rest();
        cursor.number().ok_or("a device number (column 2 of 5)")?;
        let device = &device_from[..device_from.len() - cursor.rest().len()];
        cursor.spaces();
        let block = cursor.number().filter(|_| cursor.spaces()).ok_or("a block number (column 3 of 5)")?;
        let size = cursor.number().filter(|_| cursor.spaces()).ok_or("a size in blocks (column 4 of 5)")?;
        let flags = cursor
            .hexadecimal()
            .filter(|_| cursor.is_done())
            .ok_or("flags in hexadecimal, and nothing after them (column 5 of 5)")?;
        let operation = if flags & FLAG_READ != 0 { Operation::Read } else { Operation::Write };
        let (offset_bytes, length_bytes) = (sectors_to_bytes(block)?, sectors_to_bytes(size)?);
        request(time_ns, operation, offset_bytes, length_bytes, || volumes.intern(device))
    }

    fn likeness(head: &[u8], is_whole: bool) -> Likeness {
        let has_point = |line: &[u8]| Cursor::new(line.trim_ascii_start()).word().contains(&b'.');
        if lines(head, is_whole).any(has_point) { readable_lines::<Self>(head, is_whole) } else { Likeness::NONE }
    }
}
