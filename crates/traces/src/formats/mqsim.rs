//! MQSim and SSDsim ASCII: `938513000 4 264719034 16 0`: time, device, lba, size, type.
//!
//! Time is nanoseconds, lba and size are 512-byte sectors, and **0 writes, 1 reads**. Source: the README of the traces
//! of CMU-SAFARI/MQSim.

use super::{Decode, Event, request, sectors_to_bytes};
use crate::cursor::Cursor;
use crate::record::Operation;
use crate::volumes::Volumes;

#[derive(Default)]
pub struct Mqsim;

impl Decode for Mqsim {
    #[inline]
    fn decode(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        if line.is_empty() {
            return Ok(Event::NotARequest);
        }
        let mut cursor = Cursor::new(line);
        cursor.spaces();
        let time_ns = cursor.number().filter(|_| cursor.spaces()).ok_or("a time in ns (column 1 of 5)")?;
        let device_from = cursor.rest();
        cursor.number().ok_or("a device number (column 2 of 5)")?;
        let device = &device_from[..device_from.len() - cursor.rest().len()];
        cursor.spaces();
        let lba = cursor.number().filter(|_| cursor.spaces()).ok_or("an lba in sectors (column 3 of 5)")?;
        let size = cursor.number().filter(|_| cursor.spaces()).ok_or("a size in sectors (column 4 of 5)")?;
        let operation = match cursor.number().filter(|_| cursor.is_done()) {
            Some(0) => Operation::Write,
            Some(1) => Operation::Read,
            _ => return Err("0 for a write or 1 for a read, and nothing after it (column 5 of 5)"),
        };
        let (offset_bytes, length_bytes) = (sectors_to_bytes(lba)?, sectors_to_bytes(size)?);
        request(time_ns, operation, offset_bytes, length_bytes, || volumes.intern(device))
    }
}
