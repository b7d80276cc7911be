//! fio iolog version 3: a line `fio version 3 iolog`, then `27 /dev/sdb add`, `170 /dev/sdb read 0 4096`.
//!
//! The timestamp is microseconds since the log began, offset and length are bytes. fio passes over a `wait`, which this
//! version does not have; so do we. Source: `log_io_u` and `read_iolog` in `iolog.c` of fio.

use super::fio_actions::{Action, extent, io_action, is_file_action};
use super::{Decode, Event, request};
use crate::cursor::{Cursor, NS_PER_US};
use crate::recognition::Likeness;
use crate::volumes::Volumes;

const FIRST_LINE: &[u8] = b"fio version 3 iolog";

#[derive(Default)]
pub struct FioIologV3;

impl Decode for FioIologV3 {
    #[inline]
    fn decode(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        if line.is_empty() || line == FIRST_LINE {
            return Ok(Event::NotARequest);
        }
        let mut cursor = Cursor::new(line);
        let time_us = cursor.number().filter(|_| cursor.spaces()).ok_or("a timestamp in microseconds (column 1 of 5)")?;
        let time_ns = time_us.checked_mul(NS_PER_US).ok_or("a timestamp below 2^64 ns (column 1 of 5)")?;
        let file = cursor.word();
        cursor.spaces();
        let word = cursor.word();
        if cursor.is_done() {
            return if is_file_action(word) { Ok(Event::NotARequest) } else { Err("time, file and add, open or close") };
        }
        let Action::Request(operation) =
            io_action(word).ok_or("read, write, trim, sync or datasync (column 3 of 5)")?
        else {
            return Ok(Event::NotARequest);
        };
        cursor.spaces();
        let offset_bytes = cursor.number().filter(|_| cursor.spaces()).ok_or("an offset in bytes (column 4 of 5)")?;
        let length_bytes = cursor
            .number()
            .filter(|_| cursor.is_done())
            .ok_or("a length in bytes, and nothing after it (column 5 of 5)")?;
        let (offset_bytes, length_bytes) = extent(operation, offset_bytes, length_bytes);
        request(time_ns, operation, offset_bytes, length_bytes, || volumes.intern(file))
    }

    fn likeness(head: &[u8], _is_whole: bool) -> Likeness {
        if head.starts_with(FIRST_LINE) { Likeness::CERTAIN } else { Likeness::NONE }
    }
}
