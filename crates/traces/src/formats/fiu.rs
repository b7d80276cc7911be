//! FIU: `89966001955 4892 syslogd 904265560 8 W 6 0 531e779302aa2a8e`: timestamp, process id, process, lba, size,
//! direction, major, minor, md5 of the content.
//!
//! Time is nanoseconds, lba and size are 512-byte sectors. The columns are counted from the end, since a process name
//! may hold spaces. A row without the md5 is read too, as some copies of the set dropped it. Source: the README of
//! "FIU IODedup" in the SNIA IOTTA repository (Koller and Rangaswami, FAST '10).

use super::{Decode, Event, is_blank_or_header, request, sectors_to_bytes};
use crate::cursor::Cursor;
use crate::record::Operation;
use crate::volumes::Volumes;

/// lba, size, direction, major, minor, md5.
const COLUMNS_AFTER_PROCESS: usize = 6;

#[derive(Default)]
pub struct Fiu;

impl Decode for Fiu {
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
    let time_ns = cursor.number().filter(|_| cursor.spaces()).ok_or("a timestamp in ns (column 1 of 9)")?;
    cursor.number().filter(|_| cursor.spaces()).ok_or("a process id (column 2 of 9)")?;
    let mut last = [&b""[..]; COLUMNS_AFTER_PROCESS];
    let mut rest = cursor.rest();
    for column in last.iter_mut().rev() {
        (rest, *column) = split_last_word(rest);
    }
    let is_direction = |column: &[u8]| matches!(column, b"R" | b"W" | b"r" | b"w");
    // With an md5 the direction is the third of the last six, without it the fourth.
    let direction_at = if is_direction(last[2]) { 2 } else { 3 };
    if direction_at == 2 && rest.is_empty() {
        return Err("a process name (column 3 of 9)");
    }
    let operation = match last[direction_at] {
        b"R" | b"r" => Operation::Read,
        b"W" | b"w" => Operation::Write,
        _ => return Err("R or W (column 6 of 9)"),
    };
    let lba = whole_number(last[direction_at - 2]).ok_or("an lba in sectors (column 4 of 9)")?;
    let size = whole_number(last[direction_at - 1]).ok_or("a size in sectors (column 5 of 9)")?;
    let (major, minor) = (last[direction_at + 1], last[direction_at + 2]);
    whole_number(major).ok_or("a major device number (column 7 of 9)")?;
    whole_number(minor).ok_or("a minor device number (column 8 of 9)")?;
    let (offset_bytes, length_bytes) = (sectors_to_bytes(lba)?, sectors_to_bytes(size)?);
    // Both numbers lie in the line with one gap between them, which is part of the key as it stands.
    let major_from = major.as_ptr() as usize - line.as_ptr() as usize;
    let minor_to = minor.as_ptr() as usize - line.as_ptr() as usize + minor.len();
    let name = || format!("{},{}", String::from_utf8_lossy(major), String::from_utf8_lossy(minor));
    let key = &line[major_from..minor_to];
    request(time_ns, operation, offset_bytes, length_bytes, || volumes.intern_named(key, name))
}

#[inline]
fn split_last_word(bytes: &[u8]) -> (&[u8], &[u8]) {
    let bytes = bytes.trim_ascii_end();
    let from = bytes.iter().rposition(|&byte| byte == b' ' || byte == b'\t').map_or(0, |at| at + 1);
    (&bytes[..from], &bytes[from..])
}

#[inline]
fn whole_number(word: &[u8]) -> Option<u64> {
    let mut cursor = Cursor::new(word);
    cursor.number().filter(|_| cursor.is_done())
}
