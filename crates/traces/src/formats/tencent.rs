//! Tencent CBS: `1538323200,12910952,128,0,1063`: timestamp, offset, size, type, volume.
//!
//! Time is whole seconds, so many requests share one; offset and size are 512-byte sectors; 0 reads, 1 writes. Source:
//! the README of "Tencent Block Storage Traces" in the SNIA IOTTA repository (Zhang et al., ATC '20). It comes as tar
//! archives, which must be unpacked first.

use super::{Decode, Event, is_blank_or_header, request, sectors_to_bytes};
use crate::cursor::{Cursor, NS_PER_S};
use crate::record::Operation;
use crate::volumes::Volumes;

#[derive(Default)]
pub struct Tencent;

impl Decode for Tencent {
    #[inline]
    fn decode(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        match decode_row(line, volumes) {
            Err(_) if is_blank_or_header(line, b"timestamp,offset") => Ok(Event::NotARequest),
            result => result,
        }
    }
}

#[inline]
fn decode_row(line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
    let mut cursor = Cursor::new(line);
    let seconds = cursor.number().filter(|_| cursor.byte(b',')).ok_or("a timestamp in seconds (column 1 of 5)")?;
    let time_ns = seconds.checked_mul(NS_PER_S).ok_or("a timestamp in seconds before the year 2554 (column 1 of 5)")?;
    let offset = cursor.number().filter(|_| cursor.byte(b',')).ok_or("an offset in sectors (column 2 of 5)")?;
    let size = cursor.number().filter(|_| cursor.byte(b',')).ok_or("a size in sectors (column 3 of 5)")?;
    let operation = match cursor.number().filter(|_| cursor.byte(b',')) {
        Some(0) => Operation::Read,
        Some(1) => Operation::Write,
        _ => return Err("0 for a read or 1 for a write (column 4 of 5)"),
    };
    let volume_key = cursor.rest();
    cursor.number().filter(|_| cursor.is_done()).ok_or("a volume number, and nothing after it (column 5 of 5)")?;
    let (offset_bytes, length_bytes) = (sectors_to_bytes(offset)?, sectors_to_bytes(size)?);
    request(time_ns, operation, offset_bytes, length_bytes, || volumes.intern(volume_key))
}
