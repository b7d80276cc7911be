//! UFS commands as ftrace prints them: `100.000488: ufshcd_command: send_req: 1d84000.ufshc: tag: 3, DB: 0x8, size:
//! 32768, IS: 0, LBA: 3335283, opcode: 0x28 (READ_10), group_id: 0x0`.
//!
//! The address is in logical blocks, which UFS has at 4096 bytes or more and phones at 4096; the size is in bytes. Only
//! what is sent is a request (`send_req`, before Linux 5.14 `send`). An UNMAP has its range in data that is not printed,
//! and is passed over. Source: `include/trace/events/ufs.h` in Linux; JEDEC JESD220 for the block size.

use super::block_events::time_before;
use super::{Decode, Event, request};
use crate::cursor::Cursor;
use crate::record::Operation;
use crate::volumes::Volumes;
use memchr::memmem;

const BLOCK_BYTES: u64 = 4096;

#[derive(Default)]
pub struct Ufs;

impl Decode for Ufs {
    const NO_REQUESTS_HINT: &'static str = "were ufshcd_command events of send_req recorded?";

    #[inline]
    fn decode(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        const NAME: &[u8] = b"ufshcd_command: ";
        let Some(at) = memmem::find(line, NAME) else { return Ok(Event::NotARequest) };
        let behind = line[at + NAME.len()..].trim_ascii_start();
        let Some(behind) = behind.strip_prefix(b"send_req: ").or_else(|| behind.strip_prefix(b"send: ")) else {
            return Ok(Event::NotARequest);
        };
        let time_ns = time_before(&line[..at]).ok_or("a time in seconds before the event's name")?;
        let device = &behind[..memchr::memchr(b':', behind).ok_or("a device")?];
        let opcode = field(behind, b"opcode: ").and_then(|mut cursor| cursor.hexadecimal()).ok_or("an opcode")?;
        let operation = match opcode {
            0x08 | 0x28 | 0x88 => Operation::Read,
            0x0a | 0x2a | 0x8a => Operation::Write,
            0x35 | 0x91 => return request(time_ns, Operation::Flush, 0, 0, || volumes.intern(device)),
            _ => return Ok(Event::NotARequest),
        };
        let size_bytes = field(behind, b"size: ").and_then(|mut cursor| cursor.number()).ok_or("a size in bytes")?;
        let block = field(behind, b"LBA: ").and_then(|mut cursor| cursor.number()).ok_or("a logical block")?;
        let offset_bytes = block.checked_mul(BLOCK_BYTES).ok_or("a place below 2^64 bytes")?;
        request(time_ns, operation, offset_bytes, size_bytes, || volumes.intern(device))
    }
}

fn field<'a>(text: &'a [u8], name: &[u8]) -> Option<Cursor<'a>> {
    memmem::find(text, name).map(|at| Cursor::new(&text[at + name.len()..]))
}
