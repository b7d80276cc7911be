//! fio iolog version 2: a line `fio version 2 iolog`, then `/dev/sdb add`, `/dev/sdb write 0 4096`, `/dev/sdb wait 20
//! 0`.
//!
//! Offset and length are bytes. Requests carry no time; `wait` does, and what it means is what fio does with it: it
//! waits until so many *milliseconds* after its start, so a wait is a time and not a pause, and one that is past does
//! nothing (`read_iolog_get` in `iolog.c`; fio 3.33 replays requests after `wait 1000` and `wait 1500` half a second
//! apart). fio's manual has it as microseconds since the last wait.

use super::fio_actions::{Action, extent, io_action, is_file_action};
use super::{Decode, Event, request};
use crate::cursor::{Cursor, NS_PER_MS};
use crate::recognition::Likeness;
use crate::volumes::Volumes;

const FIRST_LINE: &[u8] = b"fio version 2 iolog";

#[derive(Default)]
pub struct FioIologV2 {
    time_ns: u64,
}

impl Decode for FioIologV2 {
    #[inline]
    fn decode(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        if line.is_empty() || line == FIRST_LINE {
            return Ok(Event::NotARequest);
        }
        let mut cursor = Cursor::new(line);
        let file = cursor.word();
        cursor.spaces();
        let word = cursor.word();
        if cursor.is_done() {
            return if is_file_action(word) { Ok(Event::NotARequest) } else { Err("file and add, open or close") };
        }
        let action = io_action(word).ok_or("read, write, trim, sync, datasync or wait (column 2 of 4)")?;
        cursor.spaces();
        let offset = cursor.number().filter(|_| cursor.spaces()).ok_or("an offset in bytes (column 3 of 4)")?;
        let length_bytes = cursor
            .number()
            .filter(|_| cursor.is_done())
            .ok_or("a length in bytes, and nothing after it (column 4 of 4)")?;
        match action {
            Action::Wait => {
                let until_ns = offset.checked_mul(NS_PER_MS).ok_or("a wait below 2^64 ns (column 3 of 4)")?;
                self.time_ns = self.time_ns.max(until_ns);
                Ok(Event::NotARequest)
            }
            Action::Request(operation) => {
                let (offset_bytes, length_bytes) = extent(operation, offset, length_bytes);
                request(self.time_ns, operation, offset_bytes, length_bytes, || volumes.intern(file))
            }
        }
    }

    fn likeness(head: &[u8], _is_whole: bool) -> Likeness {
        if head.starts_with(FIRST_LINE) { Likeness::CERTAIN } else { Likeness::NONE }
    }
}
