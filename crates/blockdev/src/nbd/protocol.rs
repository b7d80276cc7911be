//! Constants and messages of the NBD protocol (github.com/NetworkBlockDevice/nbd, doc/proto.md): fixed newstyle
//! negotiation, simple and structured replies, the metadata context `base:allocation`.

use std::fmt;

pub const MAGIC: u64 = 0x4e42_444d_4147_4943; // "NBDMAGIC"
pub const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054; // "IHAVEOPT"
pub const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
pub const REQUEST_MAGIC: u32 = 0x2560_9513;
pub const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
pub const STRUCTURED_REPLY_MAGIC: u32 = 0x668e_33ef;

pub const FLAG_FIXED_NEWSTYLE: u16 = 1;
pub const FLAG_NO_ZEROES: u16 = 2;

pub mod option {
    pub const EXPORT_NAME: u32 = 1;
    pub const ABORT: u32 = 2;
    pub const LIST: u32 = 3;
    pub const INFO: u32 = 6;
    pub const GO: u32 = 7;
    pub const STRUCTURED_REPLY: u32 = 8;
    pub const LIST_META_CONTEXT: u32 = 9;
    pub const SET_META_CONTEXT: u32 = 10;
}

pub mod reply {
    pub const ACK: u32 = 1;
    pub const SERVER: u32 = 2;
    pub const INFO: u32 = 3;
    pub const META_CONTEXT: u32 = 4;
    pub const UNSUPPORTED: u32 = 0x8000_0001;
    pub const INVALID: u32 = 0x8000_0003;
    pub const UNKNOWN: u32 = 0x8000_0006;
}

pub mod info {
    pub const EXPORT: u16 = 0;
    pub const BLOCK_SIZE: u16 = 3;
}

/// What the export can do.
pub mod transmission {
    pub const HAS_FLAGS: u16 = 1;
    pub const SEND_FLUSH: u16 = 1 << 2;
    pub const SEND_FUA: u16 = 1 << 3;
    pub const SEND_TRIM: u16 = 1 << 5;
    pub const SEND_WRITE_ZEROES: u16 = 1 << 6;
    pub const CAN_MULTI_CONNECT: u16 = 1 << 8;
}

pub mod command {
    pub const READ: u16 = 0;
    pub const WRITE: u16 = 1;
    pub const DISCONNECT: u16 = 2;
    pub const FLUSH: u16 = 3;
    pub const TRIM: u16 = 4;
    pub const WRITE_ZEROES: u16 = 6;
    pub const BLOCK_STATUS: u16 = 7;
}

pub mod command_flag {
    pub const FUA: u16 = 1;
    pub const NO_HOLE: u16 = 1 << 1;
    pub const REQUEST_ONE: u16 = 1 << 3;
}

/// Kinds of chunks of a structured reply.
pub mod chunk {
    pub const NONE: u16 = 0;
    pub const OFFSET_DATA: u16 = 1;
    pub const OFFSET_HOLE: u16 = 2;
    pub const BLOCK_STATUS: u16 = 5;
    pub const ERROR: u16 = 1 << 15 | 1;
}

/// NBD's error numbers, which equal those of Linux.
pub mod error {
    pub const PERMISSION: u32 = 1;
    pub const IO: u32 = 5;
    pub const INVALID: u32 = 22;
    pub const NO_SPACE: u32 = 28;
}

/// The metadata context for allocation, and its number in replies.
pub const ALLOCATION: &str = "base:allocation";
pub const ALLOCATION_ID: u32 = 1;
/// In `base:allocation`: nothing is stored, and reads return zeroes.
pub const STATE_HOLE_AND_ZERO: u32 = 3;

/// The largest request; clients send no larger ones unless the server allows it.
pub const REQUEST_BYTES_MAX: u32 = 32 << 20;

/// A request of the transmission phase, 28 bytes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub flags: u16,
    pub command: u16,
    pub cookie: u64,
    pub offset_bytes: u64,
    pub length_bytes: u32,
}

pub const REQUEST_BYTES: usize = 28;

impl Request {
    /// None if the bytes are not a request.
    pub fn parse(bytes: &[u8; REQUEST_BYTES]) -> Option<Self> {
        let number =
            |from: usize, to: usize| bytes[from..to].iter().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
        (number(0, 4) == u64::from(REQUEST_MAGIC)).then(|| Self {
            flags: number(4, 6) as u16,
            command: number(6, 8) as u16,
            cookie: number(8, 16),
            offset_bytes: number(16, 24),
            length_bytes: number(24, 28) as u32,
        })
    }

    pub fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// Whether all flags of the command are defined. Clients set FUA on any command.
    pub fn has_known_flags(&self) -> bool {
        let own = match self.command {
            command::WRITE_ZEROES => command_flag::NO_HOLE,
            command::BLOCK_STATUS => command_flag::REQUEST_ONE,
            _ => 0,
        };
        self.flags & !(own | command_flag::FUA) == 0
    }
}

/// Why a request is not executed, as reported to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// One of the numbers in `error`.
    pub number: u32,
    /// For people; only in structured replies.
    pub message: String,
}

impl Refusal {
    pub fn invalid(message: impl fmt::Display) -> Self {
        Self { number: error::INVALID, message: message.to_string() }
    }
}

/// The head of a simple reply; data follows if the request was a successful read.
pub fn simple_reply(cookie: u64, error: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&SIMPLE_REPLY_MAGIC.to_be_bytes());
    bytes[4..8].copy_from_slice(&error.to_be_bytes());
    bytes[8..].copy_from_slice(&cookie.to_be_bytes());
    bytes
}

pub const CHUNK_HEAD_BYTES: usize = 20;

/// The head of a chunk of a structured reply, followed by this many bytes.
pub fn chunk_head(cookie: u64, kind: u16, is_last: bool, payload_bytes: u32) -> [u8; CHUNK_HEAD_BYTES] {
    let mut bytes = [0; CHUNK_HEAD_BYTES];
    bytes[..4].copy_from_slice(&STRUCTURED_REPLY_MAGIC.to_be_bytes());
    bytes[4..6].copy_from_slice(&u16::from(is_last).to_be_bytes());
    bytes[6..8].copy_from_slice(&kind.to_be_bytes());
    bytes[8..16].copy_from_slice(&cookie.to_be_bytes());
    bytes[16..].copy_from_slice(&payload_bytes.to_be_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_as_it_is_on_the_wire() {
        let mut bytes = [0; REQUEST_BYTES];
        bytes[..4].copy_from_slice(&[0x25, 0x60, 0x95, 0x13]);
        (bytes[5], bytes[7], bytes[15], bytes[22], bytes[26]) = (1, 4, 9, 0x10, 0x20);
        let expected = Request { flags: 1, command: 4, cookie: 9, offset_bytes: 0x1000, length_bytes: 0x2000 };
        assert_eq!(Request::parse(&bytes), Some(expected));
        bytes[0] = 0;
        assert_eq!(Request::parse(&bytes), None);
        assert_eq!(simple_reply(9, 5)[..8], [0x67, 0x44, 0x66, 0x98, 0, 0, 0, 5]);
        assert_eq!(chunk_head(9, 5, true, 12)[..8], [0x66, 0x8e, 0x33, 0xef, 0, 1, 0, 5]);
        assert_eq!(chunk_head(9, 5, true, 12)[15..], [9, 0, 0, 0, 12]);
    }
}
