//! Answers to a client that are not sent yet, in the agreed form.

use super::memory::BLOCK_BYTES;
use super::protocol::{ALLOCATION_ID, CHUNK_HEAD_BYTES, Refusal, STATE_HOLE_AND_ZERO, chunk, chunk_head, simple_reply};
use crate::device::{DeviceError, Extent};

/// Blocks of zeroes are omitted from structured replies.
const ZEROES: [u8; BLOCK_BYTES] = [0; BLOCK_BYTES];
/// Bytes before the data of a chunk: its head and the offset.
const DATA_HEAD_BYTES: usize = CHUNK_HEAD_BYTES + 8;

pub struct Answers {
    bytes: Vec<u8>,
    is_structured: bool,
}

/// A part of the data of a read. All parts but the last are sent before another answer.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub cookie: u64,
    pub offset_bytes: u64,
    pub length_bytes: usize,
    pub is_first: bool,
    pub is_last: bool,
}

impl Answers {
    pub fn new(is_structured: bool) -> Self {
        Self { bytes: Vec::new(), is_structured }
    }

    pub fn is_structured(&self) -> bool {
        self.is_structured
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// A request other than a read was executed; both forms of a reply can report it.
    pub fn done(&mut self, cookie: u64) {
        self.bytes.extend_from_slice(&simple_reply(cookie, 0));
    }

    pub fn refused(&mut self, cookie: u64, refusal: &Refusal) {
        if !self.is_structured {
            self.bytes.extend_from_slice(&simple_reply(cookie, refusal.number));
            return;
        }
        let message = refusal.message.as_bytes();
        self.bytes.extend_from_slice(&chunk_head(cookie, chunk::ERROR, true, 6 + message.len() as u32));
        self.bytes.extend_from_slice(&refusal.number.to_be_bytes());
        self.bytes.extend_from_slice(&(message.len() as u16).to_be_bytes());
        self.bytes.extend_from_slice(message);
    }

    /// One chunk for the only metadata context.
    pub fn extents(&mut self, cookie: u64, extents: &[Extent]) {
        let payload_bytes = 4 + 8 * extents.len() as u32;
        self.bytes.extend_from_slice(&chunk_head(cookie, chunk::BLOCK_STATUS, true, payload_bytes));
        self.bytes.extend_from_slice(&ALLOCATION_ID.to_be_bytes());
        for extent in extents {
            let state = if extent.is_hole { STATE_HOLE_AND_ZERO } else { 0 };
            self.bytes.extend_from_slice(&(extent.length_bytes as u32).to_be_bytes());
            self.bytes.extend_from_slice(&state.to_be_bytes());
        }
    }

    /// The answer to a read of no bytes.
    pub fn nothing_read(&mut self, cookie: u64) {
        if self.is_structured {
            self.bytes.extend_from_slice(&chunk_head(cookie, chunk::NONE, true, 0));
        } else {
            self.done(cookie);
        }
    }

    /// Data that is there.
    pub fn data(&mut self, piece: Piece, data: &[u8]) {
        let copied = self.data_of(piece, |into| {
            into.copy_from_slice(data);
            Ok(())
        });
        debug_assert!(copied.is_ok(), "copying does not fail");
    }

    /// The data is filled in by `read`. If that fails nothing is answered.
    pub fn data_of(
        &mut self,
        piece: Piece,
        read: impl FnOnce(&mut [u8]) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let head_at = self.bytes.len();
        let data_at = head_at
            + match self.is_structured {
                true => DATA_HEAD_BYTES,
                false if piece.is_first => simple_reply(0, 0).len(),
                false => 0,
            };
        let end = data_at + piece.length_bytes;
        // No more than needed: many connections have a buffer.
        self.bytes.reserve_exact(end - head_at);
        self.bytes.resize(end, 0);
        if let Err(failed) = read(&mut self.bytes[data_at..]) {
            self.bytes.truncate(head_at);
            return Err(failed);
        }
        if self.is_structured {
            self.chunks(piece, head_at);
        } else if piece.is_first {
            self.bytes[head_at..data_at].copy_from_slice(&simple_reply(piece.cookie, 0));
        }
        Ok(())
    }

    /// Divides the data after the space for one head into chunks: blocks of zeroes become holes. In place: a hole needs
    /// less space than its zeroes, so that writing never overtakes reading.
    fn chunks(&mut self, piece: Piece, head_at: usize) {
        let (mut to, mut from) = (head_at, head_at + DATA_HEAD_BYTES);
        let mut offset_bytes = piece.offset_bytes;
        while from < self.bytes.len() {
            let (length, is_zero) = run(&self.bytes[from..], offset_bytes);
            let is_last = piece.is_last && from + length == self.bytes.len();
            let offset = offset_bytes.to_be_bytes();
            if is_zero {
                self.put(&mut to, &chunk_head(piece.cookie, chunk::OFFSET_HOLE, is_last, 12));
                self.put(&mut to, &offset);
                self.put(&mut to, &(length as u32).to_be_bytes());
            } else {
                self.bytes.copy_within(from..from + length, to + DATA_HEAD_BYTES);
                self.put(&mut to, &chunk_head(piece.cookie, chunk::OFFSET_DATA, is_last, 8 + length as u32));
                self.put(&mut to, &offset);
                to += length;
            }
            from += length;
            offset_bytes += length as u64;
        }
        self.bytes.truncate(to);
    }

    fn put(&mut self, to: &mut usize, part: &[u8]) {
        self.bytes[*to..*to + part.len()].copy_from_slice(part);
        *to += part.len();
    }
}

/// The length of a run of equal kind at the start of the data, and whether it is of blocks of zeroes.
fn run(data: &[u8], offset_bytes: u64) -> (usize, bool) {
    let block_at = |at: usize| {
        let rest = BLOCK_BYTES - (offset_bytes as usize + at) % BLOCK_BYTES;
        &data[at..data.len().min(at + rest)]
    };
    let is_zero = block_at(0) == ZEROES;
    let mut end = block_at(0).len();
    while end < data.len() && (block_at(end) == ZEROES) == is_zero {
        end += block_at(end).len();
    }
    (end, is_zero)
}
