//! The units of NVMe over TCP: parsed into types, and written. NVM Express TCP Transport Specification 1.0, section 3.

use super::fields::{Page, array_at, u16_at, u32_at, u64_at};
use super::status::Status;

/// Of every unit.
pub const HEAD_BYTES: usize = 8;
/// The header of a command.
pub const COMMAND_HEAD_BYTES: usize = 72;
/// The header of units that carry data, or ask for it.
pub const DATA_HEAD_BYTES: usize = 24;
const OPENING_BYTES: usize = 128;
const DIGEST_BYTES: usize = 4;
/// The most data that a host puts into one unit.
pub const DATA_BYTES_MAX: usize = 64 << 10;
/// The longest unit that is accepted: a command or data, with its header, both digests and padding.
pub const UNIT_BYTES_MAX: usize = DATA_BYTES_MAX + COMMAND_HEAD_BYTES + 2 * DIGEST_BYTES + 128;

mod kind {
    pub const OPENING: u8 = 0x00;
    pub const OPENED: u8 = 0x01;
    pub const HOST_ENDS: u8 = 0x02;
    pub const CONTROLLER_ENDS: u8 = 0x03;
    pub const COMMAND: u8 = 0x04;
    pub const RESPONSE: u8 = 0x05;
    pub const HOST_DATA: u8 = 0x06;
    pub const CONTROLLER_DATA: u8 = 0x07;
    pub const READY_FOR_DATA: u8 = 0x09;
}

mod flag {
    pub const HEADER_DIGEST: u8 = 1;
    pub const DATA_DIGEST: u8 = 2;
    pub const LAST: u8 = 4;
}

/// Why a connection ends: the fatal error status of the unit that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    InvalidHeader = 1,
    Sequence = 2,
    HeaderDigest = 3,
    DataRange = 4,
    TooMuchData = 5,
}

/// What both sides agreed on when the connection was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    pub header_digest: bool,
    pub data_digest: bool,
    /// What the beginning of data sent to the host is a multiple of.
    pub alignment: usize,
}

/// A unit from the host. Data is a part of the unit's bytes.
#[derive(Debug, PartialEq, Eq)]
pub enum Unit<'a> {
    Opening(Opening),
    /// Its 64 bytes, and data in the capsule; None if the digest of that is wrong.
    Command(Command, Option<&'a [u8]>),
    /// Data that was asked for; None if its digest is wrong.
    Data {
        command: u16,
        transfer: u16,
        offset: usize,
        data: Option<&'a [u8]>,
        length: usize,
        is_last: bool,
    },
    HostEnds,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    pub version: u16,
    pub alignment: u8,
    pub digests: u8,
}

/// A submission queue entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    bytes: [u8; 64],
}

/// Where a command's data is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    InCapsule { offset: u64, length: usize },
    Host { length: usize },
}

impl Command {
    pub fn opcode(&self) -> u8 {
        self.bytes[0]
    }

    pub fn id(&self) -> u16 {
        u16_at(&self.bytes, 2)
    }

    pub fn namespace(&self) -> u32 {
        u32_at(&self.bytes, 4)
    }

    /// A command dword, 10 to 15.
    pub fn dword(&self, number: usize) -> u32 {
        u32_at(&self.bytes, 4 * number)
    }

    pub fn dwords(&self, number: usize) -> u64 {
        u64_at(&self.bytes, 4 * number)
    }

    pub fn byte(&self, at: usize) -> u8 {
        self.bytes[at]
    }

    pub fn number_at(&self, at: usize) -> u16 {
        u16_at(&self.bytes, at)
    }

    /// None for a description that this transport does not have.
    pub fn place(&self) -> Option<Place> {
        let length = u32_at(&self.bytes, 32) as usize;
        match self.bytes[39] {
            0x01 => Some(Place::InCapsule { offset: u64_at(&self.bytes, 24), length }),
            0x5a => Some(Place::Host { length }),
            _ => None,
        }
    }
}

/// The length of the first unit of `bytes`, once its beginning is there.
pub fn length(bytes: &[u8]) -> Result<Option<usize>, Violation> {
    if bytes.len() < HEAD_BYTES {
        return Ok(None);
    }
    let (header, length) = (usize::from(bytes[2]), u32_at(bytes, 4) as usize);
    let expected = match bytes[0] {
        kind::OPENING => OPENING_BYTES,
        kind::COMMAND => COMMAND_HEAD_BYTES,
        kind::HOST_DATA | kind::HOST_ENDS => DATA_HEAD_BYTES,
        _ => return Err(Violation::InvalidHeader),
    };
    if header != expected || length < header || (bytes[0] == kind::OPENING && length != OPENING_BYTES) {
        return Err(Violation::InvalidHeader);
    }
    if length > UNIT_BYTES_MAX { Err(Violation::TooMuchData) } else { Ok(Some(length)) }
}

/// Parses a whole unit, of the length that `length` gave.
pub fn parse<'a>(bytes: &'a [u8], agreed: &Agreed) -> Result<Unit<'a>, Violation> {
    match bytes[0] {
        kind::OPENING => {
            Ok(Unit::Opening(Opening { version: u16_at(bytes, 8), alignment: bytes[10], digests: bytes[11] }))
        }
        kind::COMMAND => {
            let data = data_of(bytes, COMMAND_HEAD_BYTES, agreed)?;
            Ok(Unit::Command(Command { bytes: array_at(bytes, HEAD_BYTES) }, data))
        }
        kind::HOST_DATA => {
            let data = data_of(bytes, DATA_HEAD_BYTES, agreed)?;
            let length = u32_at(bytes, 16) as usize;
            if data.is_some_and(|data| data.len() != length) {
                return Err(Violation::DataRange);
            }
            Ok(Unit::Data {
                command: u16_at(bytes, 8),
                transfer: u16_at(bytes, 10),
                offset: u32_at(bytes, 12) as usize,
                data,
                length,
                is_last: bytes[1] & flag::LAST != 0,
            })
        }
        _ => Ok(Unit::HostEnds),
    }
}

/// The data of a unit; None if its digest is wrong.
fn data_of<'a>(bytes: &'a [u8], header: usize, agreed: &Agreed) -> Result<Option<&'a [u8]>, Violation> {
    let digests = (if agreed.header_digest { flag::HEADER_DIGEST } else { 0 })
        | (if agreed.data_digest { flag::DATA_DIGEST } else { 0 });
    let mut after = header;
    if agreed.header_digest {
        let Some(digest) = bytes.get(header..header + DIGEST_BYTES) else { return Err(Violation::InvalidHeader) };
        if digest != crc32c(&bytes[..header]).to_le_bytes() {
            return Err(Violation::HeaderDigest);
        }
        after += DIGEST_BYTES;
    }
    if bytes.len() == after {
        return Ok(Some(&[]));
    }
    // A data digest is there only with data.
    if bytes[1] & flag::HEADER_DIGEST != digests & flag::HEADER_DIGEST {
        return Err(Violation::InvalidHeader);
    }
    let end = bytes.len() - if agreed.data_digest { DIGEST_BYTES } else { 0 };
    let from = usize::from(bytes[3]);
    if from < after || from > end {
        return Err(Violation::InvalidHeader);
    }
    let data = &bytes[from..end];
    let is_right = !agreed.data_digest || crc32c(data).to_le_bytes() == bytes[end..];
    Ok(is_right.then_some(data))
}

/// The answer to an opening. The capsule of a command begins with its data, without padding.
pub fn opened(out: &mut Vec<u8>, digests: u8) {
    let mut unit = Page::new(OPENING_BYTES);
    unit.put(0, &[kind::OPENED, 0, OPENING_BYTES as u8, 0]);
    unit.u32(4, OPENING_BYTES as u32);
    unit.u8(11, digests);
    unit.u32(12, DATA_BYTES_MAX as u32);
    out.extend_from_slice(&unit.into_bytes());
}

/// Tells the host why its connection ends, with the beginning of the unit that broke the rules.
pub fn ends(out: &mut Vec<u8>, violation: Violation, unit: &[u8]) {
    let shown = &unit[..unit.len().min(COMMAND_HEAD_BYTES)];
    head(out, kind::CONTROLLER_ENDS, 0, DATA_HEAD_BYTES, 0, DATA_HEAD_BYTES + shown.len());
    out.extend_from_slice(&(violation as u16).to_le_bytes());
    out.extend_from_slice(&[0; 14]);
    out.extend_from_slice(shown);
}

/// A completion queue entry.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    pub result: u64,
    pub queue_head: u16,
    pub queue: u16,
    pub command: u16,
    pub status: Status,
}

pub fn response(out: &mut Vec<u8>, completion: &Completion, agreed: &Agreed) {
    let from = out.len();
    head(out, kind::RESPONSE, header_flag(agreed), DATA_HEAD_BYTES, 0, DATA_HEAD_BYTES + digest_bytes(agreed));
    out.extend_from_slice(&completion.result.to_le_bytes());
    for field in [completion.queue_head, completion.queue, completion.command, completion.status.field()] {
        out.extend_from_slice(&field.to_le_bytes());
    }
    seal_header(out, from, agreed);
}

/// Asks for the data of a command.
pub fn ready(out: &mut Vec<u8>, command: u16, transfer: u16, offset: usize, length: usize, agreed: &Agreed) {
    let from = out.len();
    head(out, kind::READY_FOR_DATA, header_flag(agreed), DATA_HEAD_BYTES, 0, DATA_HEAD_BYTES + digest_bytes(agreed));
    out.extend_from_slice(&command.to_le_bytes());
    out.extend_from_slice(&transfer.to_le_bytes());
    out.extend_from_slice(&(offset as u32).to_le_bytes());
    out.extend_from_slice(&(length as u32).to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    seal_header(out, from, agreed);
}

/// All data that a command returns. The response follows in a unit of its own.
pub fn data(out: &mut Vec<u8>, command: u16, data: &[u8], agreed: &Agreed) {
    if data.is_empty() {
        return;
    }
    let from = out.len();
    let padded = (DATA_HEAD_BYTES + digest_bytes(agreed)).next_multiple_of(agreed.alignment.max(1));
    let data_flag = if agreed.data_digest { flag::DATA_DIGEST } else { 0 };
    let length = padded + data.len() + if agreed.data_digest { DIGEST_BYTES } else { 0 };
    let flags = header_flag(agreed) | data_flag | flag::LAST;
    head(out, kind::CONTROLLER_DATA, flags, DATA_HEAD_BYTES, padded, length);
    out.extend_from_slice(&command.to_le_bytes());
    out.extend_from_slice(&[0; 6]);
    out.extend_from_slice(&(data.len() as u32).to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    seal_header(out, from, agreed);
    out.resize(from + padded, 0);
    out.extend_from_slice(data);
    if agreed.data_digest {
        out.extend_from_slice(&crc32c(data).to_le_bytes());
    }
}

fn head(out: &mut Vec<u8>, kind: u8, flags: u8, header: usize, data_at: usize, length: usize) {
    out.extend_from_slice(&[kind, flags, header as u8, data_at as u8]);
    out.extend_from_slice(&(length as u32).to_le_bytes());
}

fn header_flag(agreed: &Agreed) -> u8 {
    if agreed.header_digest { flag::HEADER_DIGEST } else { 0 }
}

fn digest_bytes(agreed: &Agreed) -> usize {
    if agreed.header_digest { DIGEST_BYTES } else { 0 }
}

fn seal_header(out: &mut Vec<u8>, from: usize, agreed: &Agreed) {
    if agreed.header_digest {
        let digest = crc32c(&out[from..]);
        out.extend_from_slice(&digest.to_le_bytes());
    }
}

/// The reflected polynomial of CRC32C (RFC 3720, appendix B.4).
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// For eight bytes at a time: what each of them contributes.
const CONTRIBUTIONS: [[u32; 256]; 8] = contributions();

const fn contributions() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            remainder = (remainder >> 1) ^ (POLYNOMIAL * (remainder & 1));
            bit += 1;
        }
        tables[0][byte] = remainder;
        byte += 1;
    }
    let mut behind = 1;
    while behind < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[behind - 1][byte];
            tables[behind][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        behind += 1;
    }
    tables
}

/// The digest of both headers and data.
pub fn crc32c(data: &[u8]) -> u32 {
    let mut remainder = u32::MAX;
    let mut eights = data.chunks_exact(8);
    for eight in &mut eights {
        let word = u64_at(eight, 0) ^ u64::from(remainder);
        remainder = (0..8).fold(0, |sum, at| sum ^ CONTRIBUTIONS[7 - at][(word >> (8 * at)) as usize & 0xff]);
    }
    for &byte in eights.remainder() {
        remainder = remainder >> 8 ^ CONTRIBUTIONS[0][((remainder ^ u32::from(byte)) & 0xff) as usize];
    }
    !remainder
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 3720, appendix B.4.
    #[test]
    fn the_digest_is_that_of_the_standard() {
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        let rising: Vec<u8> = (0..32).collect();
        assert_eq!(crc32c(&rising), 0x46dd_794e);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn a_changed_digest_is_found_and_ends_the_connection_or_fails_the_command() {
        let agreed = Agreed { header_digest: true, data_digest: true, alignment: 4 };
        let mut unit = Vec::new();
        data(&mut unit, 7, &[1, 2, 3, 4], &agreed);
        // What the target sends has the form of what a host sends, but for the kind.
        unit[0] = kind::HOST_DATA;
        unit[8..16].copy_from_slice(&[7, 0, 9, 0, 0, 0, 0, 0]);
        let digest = crc32c(&unit[..24]).to_le_bytes();
        unit[24..28].copy_from_slice(&digest);
        assert_eq!(length(&unit), Ok(Some(unit.len())));
        let parsed = parse(&unit, &agreed).unwrap();
        let data = Some(&[1, 2, 3, 4][..]);
        assert_eq!(parsed, Unit::Data { command: 7, transfer: 9, offset: 0, data, length: 4, is_last: true });
        *unit.last_mut().unwrap() ^= 1;
        assert!(matches!(parse(&unit, &agreed), Ok(Unit::Data { data: None, .. })));
        unit[9] ^= 1;
        assert_eq!(parse(&unit, &agreed), Err(Violation::HeaderDigest));
    }

    #[test]
    fn lengths_that_no_unit_has_are_refused() {
        let head = |kind: u8, header: u8, length: u32| {
            let mut bytes = vec![kind, 0, header, 0];
            bytes.extend_from_slice(&length.to_le_bytes());
            super::length(&bytes)
        };
        assert_eq!(head(0, 128, 128), Ok(Some(128)));
        assert_eq!(head(0, 128, 132), Err(Violation::InvalidHeader));
        assert_eq!(head(4, 72, 71), Err(Violation::InvalidHeader));
        assert_eq!(head(4, 64, 80), Err(Violation::InvalidHeader));
        assert_eq!(head(6, 24, u32::MAX), Err(Violation::TooMuchData));
        assert_eq!(head(5, 24, 24), Err(Violation::InvalidHeader));
        assert_eq!(super::length(&[0; 7]), Ok(None));
    }
}
