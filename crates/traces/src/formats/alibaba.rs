//! Alibaba block: `419,W,8792731648,16384,1577808000000046`: device, opcode, offset, length, timestamp.
//!
//! Offset and length are bytes, time is microseconds. Source: the README of the alibaba/block-traces repository
//! (Li et al., IISWC '20).

use super::{Decode, Event, is_blank_or_header, request};
use crate::cursor::{Cursor, NS_PER_US};
use crate::record::Operation;
use crate::volumes::Volumes;

#[derive(Default)]
pub struct Alibaba;

impl Decode for Alibaba {
    #[inline]
    fn decode(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        match decode_row(line, volumes) {
            Err(_) if is_blank_or_header(line, b"device") => Ok(Event::NotARequest),
            result => result,
        }
    }
}

#[inline]
fn decode_row(line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
    let mut cursor = Cursor::new(line);
    let device_bytes = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    cursor.number().filter(|_| cursor.byte(b',')).ok_or("a device number (column 1 of 5)")?;
    let operation = match cursor.until(b',') {
        Some(b"R" | b"r") => Operation::Read,
        Some(b"W" | b"w") => Operation::Write,
        _ => return Err("R or W (column 2 of 5)"),
    };
    let offset_bytes = cursor.number().filter(|_| cursor.byte(b',')).ok_or("an offset in bytes (column 3 of 5)")?;
    let length_bytes = cursor.number().filter(|_| cursor.byte(b',')).ok_or("a length in bytes (column 4 of 5)")?;
    let time_us = cursor
        .number()
        .filter(|_| cursor.is_done())
        .ok_or("a timestamp in microseconds, and nothing after it (column 5 of 5)")?;
    let time_ns = time_us.checked_mul(NS_PER_US).ok_or("a timestamp in microseconds before the year 2554")?;
    request(time_ns, operation, offset_bytes, length_bytes, || volumes.intern(&line[..device_bytes]))
}
