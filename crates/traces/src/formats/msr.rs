//! MSR Cambridge: `128166372003061629,hm,1,Read,383496192,32768,413`.
//!
//! Time is Windows file time, counted in 100 ns; offset and size are bytes; host and disk name the volume. Source: the
//! README of "MSR Cambridge Traces" in the SNIA IOTTA repository (Narayanan et al., FAST '08). The response time is
//! read and left: a simulated drive has its own. Some copies have blanks behind the commas.

use super::{Decode, Event, is_blank_or_header, request};
use crate::cursor::Cursor;
use crate::record::Operation;
use crate::volumes::Volumes;

const NS_PER_TICK: u64 = 100;

#[derive(Default)]
pub struct Msr;

impl Decode for Msr {
    #[inline]
    fn decode(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        match decode_row(line, volumes) {
            Err(_) if is_blank_or_header(line, b"timestamp") => Ok(Event::NotARequest),
            result => result,
        }
    }
}

#[inline]
fn decode_row(line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
    let mut cursor = Cursor::new(line);
    let ticks = cursor.number().filter(|_| cursor.comma()).ok_or("a timestamp in 100 ns (column 1 of 7)")?;
    let time_ns = ticks.checked_mul(NS_PER_TICK).ok_or("a timestamp in 100 ns before the year 2185 (column 1 of 7)")?;
    let names = cursor.rest();
    let host = cursor.until(b',').ok_or("a host name (column 2 of 7)")?;
    cursor.spaces();
    let disk = cursor.until(b',').ok_or("a disk number (column 3 of 7)")?;
    let volume_key = &names[..names.len() - cursor.rest().len() - 1];
    let operation = match cursor.until(b',').map(<[u8]>::trim_ascii) {
        Some(word) if word.eq_ignore_ascii_case(b"read") => Operation::Read,
        Some(word) if word.eq_ignore_ascii_case(b"write") => Operation::Write,
        _ => return Err("Read or Write (column 4 of 7)"),
    };
    cursor.spaces();
    let offset_bytes = cursor.number().filter(|_| cursor.comma()).ok_or("an offset in bytes (column 5 of 7)")?;
    let length_bytes = cursor.number().filter(|_| cursor.comma()).ok_or("a size in bytes (column 6 of 7)")?;
    cursor.byte(b'-');
    cursor.number().filter(|_| cursor.is_done()).ok_or("a response time, and nothing after it (column 7 of 7)")?;
    let name = || format!("{}_{}", String::from_utf8_lossy(host), String::from_utf8_lossy(disk));
    request(time_ns, operation, offset_bytes, length_bytes, || volumes.intern_named(volume_key, name))
}
