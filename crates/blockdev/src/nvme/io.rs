//! Commands of the NVM command set, as requests to the drive. NVM Command Set Specification 1.0, section 3.

use super::fields::{u32_at, u64_at};
use super::identify::{EVERY_NAMESPACE, NAMESPACE};
use super::limits;
use super::pdu::Command;
use super::status::Status;
use super::subject::Subject;
use crate::device::Durability;
use crate::queue::REQUEST_BYTES_MAX;
use std::ops::Range;

mod opcode {
    pub const FLUSH: u8 = 0x00;
    pub const WRITE: u8 = 0x01;
    pub const READ: u8 = 0x02;
    pub const WRITE_ZEROES: u8 = 0x08;
    pub const DATASET_MANAGEMENT: u8 = 0x09;
}

/// The commands, and whether they change contents.
pub const COMMANDS: [(u8, bool); 5] = [
    (opcode::FLUSH, false),
    (opcode::WRITE, true),
    (opcode::READ, false),
    (opcode::WRITE_ZEROES, true),
    (opcode::DATASET_MANAGEMENT, true),
];

/// A range of a dataset.
const RANGE_BYTES: usize = 16;

/// A request in bytes of the drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    Flush,
    Read(Range<u64>),
    Write(Range<u64>, Durability),
    Zero(Range<u64>, Durability),
    /// Of whole units, which then read zeroes.
    Deallocate(Range<u64>),
    /// The data describes ranges, so many.
    Ranges(usize),
    Nothing,
}

impl Request {
    /// Data that the host sends with it.
    pub fn data_bytes(&self) -> usize {
        match self {
            Self::Write(range, _) => (range.end - range.start) as usize,
            Self::Ranges(count) => count * RANGE_BYTES,
            _ => 0,
        }
    }
}

/// The request of a command.
pub fn request(command: &Command, subject: &Subject, writes_through: bool) -> Result<Request, Status> {
    if COMMANDS.iter().all(|&(opcode, _)| opcode != command.opcode()) {
        return Err(Status::INVALID_OPCODE);
    }
    let is_flush_of_all = command.opcode() == opcode::FLUSH && command.namespace() == EVERY_NAMESPACE;
    if command.namespace() != NAMESPACE && !is_flush_of_all {
        return Err(Status::INVALID_NAMESPACE);
    }
    match command.opcode() {
        opcode::FLUSH => return Ok(Request::Flush),
        opcode::DATASET_MANAGEMENT => {
            let is_deallocation = command.dword(11) & 1 << 2 != 0;
            // Hints of how data is used have no effect.
            let count = usize::from(command.byte(40)) + 1;
            return Ok(if is_deallocation { Request::Ranges(count) } else { Request::Nothing });
        }
        _ => {}
    }
    let block_bytes = subject.block_bytes();
    let (first, count) = (command.dwords(10), u64::from(command.number_at(48)) + 1);
    let range = bytes_of(first, count, subject)?;
    let durability =
        if command.dword(12) & 1 << 30 != 0 || writes_through { Durability::Durable } else { Durability::Cached };
    // Protection information needs metadata, which the namespace has not.
    if command.opcode() != opcode::WRITE_ZEROES && count * block_bytes > limits::TRANSFER_BYTES as u64 {
        return Err(Status::INVALID_FIELD);
    }
    Ok(match command.opcode() {
        opcode::READ => Request::Read(range),
        opcode::WRITE => Request::Write(range, durability),
        _ if command.dword(12) & 1 << 25 != 0 && subject.are_whole_units(&range) => Request::Deallocate(range),
        _ => Request::Zero(range, durability),
    })
}

fn bytes_of(first: u64, count: u64, subject: &Subject) -> Result<Range<u64>, Status> {
    let end = first.checked_add(count).filter(|&end| end <= subject.blocks()).ok_or(Status::LBA_OUT_OF_RANGE)?;
    Ok(first * subject.block_bytes()..end * subject.block_bytes())
}

/// The ranges to deallocate that the data of a command describes, in parts that the drive takes as one.
pub fn ranges(data: &[u8], subject: &Subject) -> Result<Vec<Range<u64>>, Status> {
    let mut found = Vec::new();
    for range in data.chunks_exact(RANGE_BYTES) {
        found.extend(pieces(bytes_of(u64_at(range, 8), u64::from(u32_at(range, 4)), subject)?));
    }
    Ok(found)
}

/// The parts of a range that the drive takes as one request.
pub fn pieces(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let end = range.end;
    range.step_by(REQUEST_BYTES_MAX as usize).map(move |from| from..end.min(from + REQUEST_BYTES_MAX))
}

/// The first block of a command, for the error log.
pub fn first_block(command: &Command) -> u64 {
    match command.opcode() {
        opcode::READ | opcode::WRITE | opcode::WRITE_ZEROES => command.dwords(10),
        _ => 0,
    }
}
