//! SPC, the format of the UMass repository: `0,20941264,8192,W,0.551706`: application storage unit, lba, size, opcode,
//! timestamp.
//!
//! The lba counts 512-byte sectors, but the size is in bytes; time is seconds. Opcodes come in either case, and
//! some copies have blanks behind the commas. The format allows further columns after these, which are left unread. Source: Storage Performance Council, "SPC Trace
//! File Format Specification", revision 1.0.1.

use super::{Decode, Event, is_blank_or_header, request, sectors_to_bytes};
use crate::cursor::{Cursor, NS_PER_S};
use crate::record::Operation;
use crate::volumes::Volumes;

#[derive(Default)]
pub struct Spc;

impl Decode for Spc {
    #[inline]
    fn decode(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        match decode_row(line, volumes) {
            Err(_) if is_blank_or_header(line, b"asu") => Ok(Event::NotARequest),
            result => result,
        }
    }
}

#[inline]
fn decode_row(line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
    let mut cursor = Cursor::new(line);
    cursor.spaces();
    let line = cursor.rest();
    let unit_bytes = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    cursor.number().filter(|_| cursor.comma()).ok_or("an application storage unit (column 1 of 5)")?;
    let lba = cursor.number().filter(|_| cursor.comma()).ok_or("an lba in sectors (column 2 of 5)")?;
    let length_bytes = cursor.number().filter(|_| cursor.comma()).ok_or("a size in bytes (column 3 of 5)")?;
    let operation = match cursor.until(b',').map(<[u8]>::trim_ascii) {
        Some(b"R" | b"r") => Operation::Read,
        Some(b"W" | b"w") => Operation::Write,
        _ => return Err("R or W (column 4 of 5)"),
    };
    cursor.spaces();
    let time_ns = cursor.decimal_ns(NS_PER_S).ok_or("a timestamp in seconds (column 5 of 5)")?;
    if !cursor.is_done() && !cursor.byte(b',') {
        return Err("nothing but further columns after the timestamp (column 5 of 5)");
    }
    let offset_bytes = sectors_to_bytes(lba)?;
    request(time_ns, operation, offset_bytes, length_bytes, || volumes.intern(&line[..unit_bytes]))
}
