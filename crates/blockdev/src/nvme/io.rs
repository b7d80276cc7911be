//! Commands of the NVM command set, as requests to the drive. NVM Command Set Specification 1.0, section 3.

use super::fields::{u32_at, u64_at};
use super::limits;
use super::pdu::Command;
use super::placement;
use super::status::Status;
use super::subject::{EVERY_NAMESPACE, Namespace, Subject};
use super::zones;
use crate::device::Durability;
use crate::queue::REQUEST_BYTES_MAX;
use std::ops::Range;

mod opcode {
    pub const FLUSH: u8 = 0x00;
    pub const WRITE: u8 = 0x01;
    pub const READ: u8 = 0x02;
    pub const WRITE_ZEROES: u8 = 0x08;
    pub const DATASET_MANAGEMENT: u8 = 0x09;
    pub const MANAGEMENT_RECEIVE: u8 = 0x12;
    pub const MANAGEMENT_SEND: u8 = 0x1d;
}

/// The commands, and whether they change contents; without those of drives with placement handles.
const COMMANDS: [(u8, bool); 5] = [
    (opcode::FLUSH, false),
    (opcode::WRITE, true),
    (opcode::READ, false),
    (opcode::WRITE_ZEROES, true),
    (opcode::DATASET_MANAGEMENT, true),
];

/// Those of drives with placement handles.
const OF_PLACEMENT: [(u8, bool); 2] = [(opcode::MANAGEMENT_RECEIVE, false), (opcode::MANAGEMENT_SEND, false)];

/// The commands that a drive knows, and whether they change contents. A zone is written in order, so that no part of it
/// can be deallocated.
pub fn commands(subject: &Subject) -> impl Iterator<Item = (u8, bool)> + '_ {
    let has_zones = subject.zones.is_some();
    let plain = COMMANDS.iter().filter(move |(opcode, _)| !has_zones || *opcode != opcode::DATASET_MANAGEMENT);
    let of_placement = OF_PLACEMENT.iter().filter(|_| subject.placement.is_some());
    let of_zones = zones::opcode::ALL.iter().filter(move |_| has_zones);
    plain.chain(of_placement).chain(of_zones).copied()
}

/// A range of a dataset.
const RANGE_BYTES: usize = 16;

/// A request in bytes of the drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    Flush,
    Read(Range<u64>),
    /// With the placement identifier.
    Write(Range<u64>, Durability, u8),
    Zero(Range<u64>, Durability),
    /// Of whole units, which then read zeroes.
    Deallocate(Range<u64>),
    /// The data describes ranges, so many.
    Ranges(usize),
    /// The status of the placement handles.
    Handles,
    /// The data lists identifiers, so many, whose handles leave their reclaim units.
    LeaveReclaimUnits(usize),
    /// A report of zones.
    Report,
    /// A write of this many bytes, from the beginning of the range on, at the write pointer of the zone that begins there.
    Append(Range<u64>, Durability),
    Manage(zones::Action, Vec<u32>),
    Nothing,
}

impl Request {
    /// Data that the host sends with it.
    pub fn data_bytes(&self) -> usize {
        match self {
            Self::Write(range, ..) | Self::Append(range, _) => (range.end - range.start) as usize,
            Self::Ranges(count) => count * RANGE_BYTES,
            Self::LeaveReclaimUnits(count) => count * 2,
            _ => 0,
        }
    }
}

/// The request of a command.
pub fn request(command: &Command, subject: &Subject, writes_through: bool) -> Result<Request, Status> {
    if commands(subject).all(|(opcode, _)| opcode != command.opcode()) {
        return Err(Status::INVALID_OPCODE);
    }
    if command.opcode() == opcode::FLUSH && command.namespace() == EVERY_NAMESPACE {
        return Ok(Request::Flush);
    }
    let namespace = subject.namespace(command.namespace())?;
    match command.opcode() {
        opcode::FLUSH => return Ok(Request::Flush),
        opcode::MANAGEMENT_RECEIVE => return Ok(Request::Handles),
        opcode::MANAGEMENT_SEND => return Ok(Request::LeaveReclaimUnits(placement::updates(command, subject)?)),
        zones::opcode::MANAGEMENT_RECEIVE => return Ok(Request::Report),
        zones::opcode::MANAGEMENT_SEND => {
            let (action, zones) = zones::action(command, namespace, subject)?;
            return Ok(Request::Manage(action, zones));
        }
        opcode::DATASET_MANAGEMENT => {
            let is_deallocation = command.dword(11) & 1 << 2 != 0;
            // Hints of how data is used have no effect.
            let count = usize::from(command.byte(40)) + 1;
            return Ok(if is_deallocation { Request::Ranges(count) } else { Request::Nothing });
        }
        _ => {}
    }
    let durability =
        if command.dword(12) & 1 << 30 != 0 || writes_through { Durability::Durable } else { Durability::Cached };
    if command.opcode() == zones::opcode::APPEND {
        return Ok(Request::Append(zones::append(command, namespace, subject)?, durability));
    }
    let block_bytes = subject.block_bytes();
    let (first, count) = (command.dwords(10), u64::from(command.number_at(48)) + 1);
    let range = bytes_of(first, count, namespace, subject)?;
    // Protection information needs metadata, which the namespace has not.
    if command.opcode() != opcode::WRITE_ZEROES && count * block_bytes > limits::TRANSFER_BYTES as u64 {
        return Err(Status::INVALID_FIELD);
    }
    Ok(match command.opcode() {
        opcode::READ => Request::Read(range),
        opcode::WRITE => Request::Write(range, durability, placement::of_write(command, namespace, subject)?),
        _ if command.dword(12) & 1 << 25 != 0 && subject.zones.is_none() && subject.are_whole_units(&range) => {
            Request::Deallocate(range)
        }
        _ => Request::Zero(range, durability),
    })
}

/// On the drive.
fn bytes_of(first: u64, count: u64, namespace: &Namespace, subject: &Subject) -> Result<Range<u64>, Status> {
    let blocks = subject.blocks(namespace);
    let end = first.checked_add(count).filter(|&end| end <= blocks).ok_or(Status::LBA_OUT_OF_RANGE)?;
    let bytes = |block: u64| namespace.start_bytes + block * subject.block_bytes();
    Ok(bytes(first)..bytes(end))
}

/// The ranges to deallocate that the data of a command describes, in parts that the drive takes as one.
pub fn ranges(command: &Command, data: &[u8], subject: &Subject) -> Result<Vec<Range<u64>>, Status> {
    let namespace = subject.namespace(command.namespace())?;
    let mut found = Vec::new();
    for range in data.chunks_exact(RANGE_BYTES) {
        found.extend(pieces(bytes_of(u64_at(range, 8), u64::from(u32_at(range, 4)), namespace, subject)?));
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
        opcode::READ
        | opcode::WRITE
        | opcode::WRITE_ZEROES
        | zones::opcode::APPEND
        | zones::opcode::MANAGEMENT_SEND
        | zones::opcode::MANAGEMENT_RECEIVE => command.dwords(10),
        _ => 0,
    }
}
