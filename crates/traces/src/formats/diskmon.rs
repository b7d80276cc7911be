//! `DiskMon` of Sysinternals, as it saves: number, time, duration, disk, Read or Write, sector, length, with tabs between.
//!
//! Time is seconds since the start, with the decimal sign of its Windows (its menu can show the time of day instead,
//! which is refused), sector and length count 512 bytes. Source: the columns of its window.

use super::{Decode, Event, request, sectors_to_bytes};
use crate::cursor::{Cursor, NS_PER_S};
use crate::recognition::{Likeness, lines};
use crate::record::Operation;
use crate::volumes::Volumes;

#[derive(Default)]
pub struct Diskmon;

impl Decode for Diskmon {
    #[inline]
    fn decode(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        if line.is_empty() || line.starts_with(b"#") {
            return Ok(Event::NotARequest);
        }
        let mut fields = line.split(|&byte| byte == b'\t').map(<[u8]>::trim_ascii);
        let mut next = || Cursor::new(fields.next().unwrap_or_default());
        next().number().ok_or("a number (column 1 of 7)")?;
        let seconds = next().rest().iter().map(|&byte| if byte == b',' { b'.' } else { byte }).collect::<Vec<_>>();
        let mut time = Cursor::new(&seconds);
        let time_ns = time.decimal_ns(NS_PER_S).filter(|_| time.is_done());
        let time_ns = time_ns.ok_or(
            "seconds since the start, not the time of day (column 2 of 7): its menu Options, Clock Time, changes that",
        )?;
        next();
        let disk = next().rest();
        let operation = match next().rest() {
            b"Read" => Operation::Read,
            b"Write" => Operation::Write,
            _ => return Err("Read or Write (column 5 of 7)"),
        };
        let sector = next().number().ok_or("a sector (column 6 of 7)")?;
        let mut length = next();
        let sectors = length.number().filter(|_| length.is_done()).ok_or("a number of sectors (column 7 of 7)")?;
        request(time_ns, operation, sectors_to_bytes(sector)?, sectors_to_bytes(sectors)?, || volumes.intern(disk))
    }

    /// By the columns alone: a table that cannot be read for its times should be refused for these.
    fn likeness(head: &[u8], is_whole: bool) -> Likeness {
        let is_row = |line: &&[u8]| {
            let fields: Vec<_> = line.split(|&byte| byte == b'\t').map(<[u8]>::trim_ascii).collect();
            fields.len() == 7 && matches!(fields[4], b"Read" | b"Write")
        };
        Likeness::lines(lines(head, is_whole).filter(is_row).count())
    }
}
