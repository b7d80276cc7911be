//! VMware vSCSI version 1: 32-byte little-endian records: serial u32, length u32, segments u32, command u16, version
//! u16, lbn u64, timestamp u64.
//!
//! Time is microseconds, the length bytes, the logical block number counts 512-byte blocks. Commands are SCSI's: reads
//! and writes of 6, 10, 12 and 16 bytes, write-and-verify, and the cache synchronisations. Other commands ask nothing
//! of the flash or, as unmap and write-same, do not say here which blocks they concern: they are not requests. The file
//! names no volume: there is one. Source: the CloudPhysics layout as read by libCacheSim (`vscsi.h`); T10 SBC for the
//! commands.

use super::{Cut, Decode, Event, request, sectors_to_bytes};
use crate::cursor::NS_PER_US;
use crate::error::PieceKind;
use crate::recognition::Likeness;
use crate::record::Operation;
use crate::volumes::Volumes;

const RECORD_BYTES: usize = 32;
const EXPECTED_VERSION: &str = "a record of version 1";

#[derive(Default)]
pub struct Vscsi;

impl Decode for Vscsi {
    const KIND: PieceKind = PieceKind::Record;
    const NO_REQUESTS_HINT: &'static str = "none of its commands reads or writes";

    #[inline]
    fn cut(&mut self, window: &[u8], at_end: bool) -> Cut {
        if window.len() >= RECORD_BYTES {
            Cut::Piece { piece_bytes: RECORD_BYTES, taken_bytes: RECORD_BYTES }
        } else if at_end && !window.is_empty() {
            Cut::Bad { taken_bytes: window.len(), expected: "a last record of 32 bytes", continued: false }
        } else {
            Cut::More
        }
    }

    #[inline]
    fn decode(&mut self, record: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        let record: &[u8; RECORD_BYTES] = record.try_into().map_err(|_| "a record of 32 bytes")?;
        let [command, command_high] = [record[12], record[13]];
        if record[15] != 1 || command_high != 0 {
            return Err(EXPECTED_VERSION);
        }
        let operation = match command {
            0x08 | 0x28 | 0xa8 | 0x88 => Operation::Read,
            0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e => Operation::Write,
            0x35 | 0x91 => Operation::Flush,
            _ => return Ok(Event::NotARequest),
        };
        let number = |from: usize| u64::from_le_bytes(std::array::from_fn(|byte| record[from + byte]));
        let time_ns = number(24).checked_mul(NS_PER_US).ok_or("a timestamp in microseconds before the year 2554")?;
        let length_bytes = u32::from_le_bytes(std::array::from_fn(|byte| record[4 + byte]));
        let (offset_bytes, length_bytes) = match operation {
            Operation::Flush => (0, 0),
            _ => (sectors_to_bytes(number(16))?, u64::from(length_bytes)),
        };
        request(time_ns, operation, offset_bytes, length_bytes, || volumes.intern(b"vscsi"))
    }

    fn likeness(head: &[u8], _is_whole: bool) -> Likeness {
        const RECORDS_MAX: usize = 64;
        let records = || head.chunks_exact(RECORD_BYTES).take(RECORDS_MAX);
        // No text holds these two bytes, so most records are enough; the others may be damaged.
        let ours = records().filter(|record| record[15] == 1 && record[13] == 0).count();
        if ours * 2 > records().count() { Likeness::CERTAIN } else { Likeness::NONE }
    }
}
