//! iosnoop of perf-tools: `5982800.000488  supervise  1800  R  202,1  26682264  32768  0.50`, below a header `STARTs COMM
//! PID TYPE DEV BLOCK BYTES LATms`.
//!
//! STARTs, of option `-s`, is the time at which the request was issued, in seconds; with `-t` ENDs follows it. Without
//! them there are no times, and all requests arrive at once. The block is a sector of 512 bytes. Source: `iosnoop` of
//! perf-tools.

use super::biosnoop::{milliseconds, whole, words_from_the_end};
use super::rwbs::Rwbs;
use super::{Decode, Event, sectors_to_bytes};
use crate::cursor::{Cursor, NS_PER_S};
use crate::volumes::Volumes;

#[derive(Default)]
pub struct Iosnoop;

impl Decode for Iosnoop {
    #[inline]
    fn decode(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        const OTHERS: [&[u8]; 4] = [b"Tracing ", b"STARTs", b"COMM", b"Ending "];
        if line.is_empty() || OTHERS.iter().any(|other| line.starts_with(other)) {
            return Ok(Event::NotARequest);
        }
        let first = Cursor::new(line.trim_ascii_start()).word();
        let mut cursor = Cursor::new(first);
        let time_ns = cursor.decimal_ns(NS_PER_S).filter(|_| cursor.is_done() && first.contains(&b'.')).unwrap_or(0);
        let mut words = words_from_the_end(line);
        let mut next = || words.next().unwrap_or_default();
        milliseconds(next()).ok_or("a latency in milliseconds (LATms)")?;
        let length_bytes = whole(next()).ok_or("a number of bytes (BYTES)")?;
        let block = next();
        let device = next();
        let mut cursor = Cursor::new(device);
        let is_device = cursor.number().is_some() && cursor.byte(b',') && cursor.number().is_some() && cursor.is_done();
        if !is_device {
            return Err("a device as major,minor (DEV)");
        }
        let rwbs = Rwbs::read(next())?;
        let offset_bytes = if length_bytes == 0 { 0 } else { sectors_to_bytes(whole(block).ok_or("a sector (BLOCK)")?)? };
        rwbs.event(time_ns, offset_bytes, length_bytes, || volumes.intern(device))
    }
}
