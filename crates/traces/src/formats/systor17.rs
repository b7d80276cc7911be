//! SYSTOR '17: a header `Timestamp,Response,IOType,LUN,Offset,Size`, then rows like
//! `1455591601.000072000,0.000264000,R,0,8192,4096`.
//!
//! Times are seconds with a fraction (exact to the microsecond), offset and size bytes. The type is `R`, `W` or blank;
//! a blank one means that the request's direction was not recorded, and such requests are left out and counted
//! (`Reader::without_direction`). The response may be blank too. Source: the README of "Systor '17 Traces" in the SNIA
//! IOTTA repository (Lee et al., SYSTOR '17).

use super::{Decode, Event, is_blank_or_header, request};
use crate::cursor::{Cursor, NS_PER_S};
use crate::record::Operation;
use crate::volumes::Volumes;

#[derive(Default)]
pub struct Systor17;

impl Decode for Systor17 {
    #[inline]
    fn decode(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        match decode_row(line, volumes) {
            Err(_) if is_blank_or_header(line, b"timestamp,response") => Ok(Event::NotARequest),
            result => result,
        }
    }
}

#[inline]
fn decode_row(line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
    let mut cursor = Cursor::new(line);
    let time_ns =
        cursor.decimal_ns(NS_PER_S).filter(|_| cursor.byte(b',')).ok_or("a timestamp in seconds (column 1 of 6)")?;
    cursor
        .until(b',')
        .filter(|field| field.iter().all(|byte| byte.is_ascii_digit() || b".-+eE ".contains(byte)))
        .ok_or("a response time in seconds or nothing (column 2 of 6)")?;
    let operation = match cursor.until(b',').map(<[u8]>::trim_ascii) {
        Some(b"R" | b"r") => Some(Operation::Read),
        Some(b"W" | b"w") => Some(Operation::Write),
        Some(b"") => None,
        _ => return Err("R, W or nothing (column 3 of 6)"),
    };
    let lun = cursor.until(b',').ok_or("a logical unit number (column 4 of 6)")?;
    let offset_bytes = cursor.number().filter(|_| cursor.byte(b',')).ok_or("an offset in bytes (column 5 of 6)")?;
    let length_bytes =
        cursor.number().filter(|_| cursor.is_done()).ok_or("a size in bytes, and nothing after it (column 6 of 6)")?;
    match operation {
        Some(operation) => request(time_ns, operation, offset_bytes, length_bytes, || volumes.intern(lun)),
        None => Ok(Event::WithoutDirection),
    }
}
