//! The zoned namespace command set: what the controller says of zones, reports, and commands to them. NVM Express Zoned
//! Namespace Command Set Specification 1.1; figures and sections here are its own. Without zone descriptor extensions,
//! random write areas, and events of zones.

use super::fields::Page;
use super::limits;
use super::pdu::Command;
use super::status::Status;
use super::subject::{Namespace, Subject};
use crate::zones::{Zone, ZoneChange, ZoneState, Zones, ZonesOfDrive};
use std::ops::Range;

/// The number of the command set.
pub const COMMAND_SET: u8 = 2;

pub mod opcode {
    pub const MANAGEMENT_SEND: u8 = 0x79;
    pub const MANAGEMENT_RECEIVE: u8 = 0x7a;
    pub const APPEND: u8 = 0x7d;
    /// And whether they change contents.
    pub const ALL: [(u8, bool); 3] = [(MANAGEMENT_SEND, true), (MANAGEMENT_RECEIVE, false), (APPEND, true)];
}

/// A descriptor of a report, and the report's head.
const DESCRIPTOR_BYTES: usize = 64;
const NEEDS_SEQUENTIAL_WRITES: u8 = 2;

/// What a command has zones do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Reset,
    Change(ZoneChange),
}

/// The drive's zones. On a drive without them everything here is an invalid opcode or field.
fn of(subject: &Subject) -> Result<&dyn Zones, Status> {
    subject.zones.as_deref().ok_or(Status::INVALID_FIELD)
}

/// Figure 49: identify a namespace, for this command set.
pub fn of_namespace(subject: &Subject) -> Result<Vec<u8>, Status> {
    let ZonesOfDrive { zone_bytes, open_max, active_max, .. } = of(subject)?.layout();
    let mut page = Page::new(4096);
    // OZCS: reads may cross the boundaries of zones.
    page.u16(2, 1);
    // MAR and MOR, counted from 0.
    page.u32(4, active_max - 1);
    page.u32(8, open_max - 1);
    // The only format: the size of a zone.
    page.u64(2816, zone_bytes / subject.block_bytes());
    Ok(page.into_bytes())
}

/// Figure 50: identify the controller, for this command set. An append is limited as other transfers are.
pub fn of_controller(subject: &Subject) -> Result<Vec<u8>, Status> {
    of(subject).map(|_| vec![0; 4096])
}

/// The zone that begins at the block that a command names.
fn zone_of(command: &Command, namespace: &Namespace, subject: &Subject) -> Result<u32, Status> {
    let layout = of(subject)?.layout();
    let zone_blocks = layout.zone_bytes / subject.block_bytes();
    let block = command.dwords(10);
    if block >= subject.blocks(namespace) {
        return Err(Status::LBA_OUT_OF_RANGE);
    }
    if block.is_multiple_of(zone_blocks) { Ok((block / zone_blocks) as u32) } else { Err(Status::INVALID_FIELD) }
}

/// Section 3.4.1: the bytes of an append, from the beginning of its zone on.
pub fn append(command: &Command, namespace: &Namespace, subject: &Subject) -> Result<Range<u64>, Status> {
    let start = u64::from(zone_of(command, namespace, subject)?) * of(subject)?.layout().zone_bytes;
    let length = (u64::from(command.number_at(48)) + 1) * subject.block_bytes();
    if length > limits::TRANSFER_BYTES as u64 {
        return Err(Status::INVALID_FIELD);
    }
    Ok(start..start + length)
}

/// Section 3.4.3: what is done, and to which zones.
pub fn action(command: &Command, namespace: &Namespace, subject: &Subject) -> Result<(Action, Vec<u32>), Status> {
    let zones = of(subject)?;
    let is_for_all = command.dword(13) >> 8 & 1 != 0;
    let (action, states): (_, &[ZoneState]) = match command.byte(52) {
        1 => (Action::Change(ZoneChange::Close), &[ZoneState::ImplicitlyOpen, ZoneState::ExplicitlyOpen]),
        2 => (
            Action::Change(ZoneChange::Finish),
            &[ZoneState::ImplicitlyOpen, ZoneState::ExplicitlyOpen, ZoneState::Closed],
        ),
        3 => (Action::Change(ZoneChange::Open), &[ZoneState::Closed]),
        4 => {
            (Action::Reset, &[ZoneState::ImplicitlyOpen, ZoneState::ExplicitlyOpen, ZoneState::Closed, ZoneState::Full])
        }
        // Offline, descriptor extensions and flushes of random write areas.
        _ => return Err(Status::INVALID_FIELD),
    };
    if !is_for_all {
        return Ok((action, vec![zone_of(command, namespace, subject)?]));
    }
    let has_state = |zone: &u32| states.contains(&zones.zone(*zone).state);
    Ok((action, (0..zones.layout().count).filter(has_state).collect()))
}

/// Changes the states of zones, up to the first that is refused.
pub fn change(zones: &[u32], change: ZoneChange, subject: &Subject) -> Result<(), Status> {
    let drive = of(subject)?;
    zones.iter().try_for_each(|&zone| drive.change(zone, change).map_err(|error| Status::of(&error, false)))
}

/// Every zone.
pub fn all(subject: &Subject) -> Option<Range<u32>> {
    subject.zones.as_ref().map(|zones| 0..zones.layout().count)
}

/// Section 3.4.2: the zones from a block on, of one state or of any.
pub fn report(command: &Command, namespace: &Namespace, subject: &Subject) -> Result<Vec<u8>, Status> {
    let drive = of(subject)?;
    let layout = drive.layout();
    let length = (command.dword(12) as usize).saturating_add(1).saturating_mul(4);
    let block = command.dwords(10);
    if block >= subject.blocks(namespace) {
        return Err(Status::LBA_OUT_OF_RANGE);
    }
    let is_reported: fn(ZoneState) -> bool = match command.byte(53) {
        0 => |_| true,
        1 => |state| state == ZoneState::Empty,
        2 => |state| state == ZoneState::ImplicitlyOpen,
        3 => |state| state == ZoneState::ExplicitlyOpen,
        4 => |state| state == ZoneState::Closed,
        5 => |state| state == ZoneState::Full,
        // No zone is ever read-only or offline.
        6 | 7 => |_| false,
        _ => return Err(Status::INVALID_FIELD),
    };
    if command.byte(52) != 0 || !(DESCRIPTOR_BYTES..=limits::TRANSFER_BYTES).contains(&length) {
        return Err(Status::INVALID_FIELD);
    }
    let first = (block * subject.block_bytes() / layout.zone_bytes) as u32;
    let zones = (first..layout.count).map(|number| (number, drive.zone(number)));
    let mut matching = zones.filter(|(_, zone)| is_reported(zone.state));
    let room = length / DESCRIPTOR_BYTES - 1;
    let mut page = Page::new(length);
    let mut count = 0;
    for (number, zone) in matching.by_ref().take(room) {
        count += 1;
        describe(&mut page, DESCRIPTOR_BYTES * count, number, zone, &layout, subject);
    }
    let is_partial = command.byte(54) & 1 != 0;
    page.u64(0, (count + if is_partial { 0 } else { matching.count() }) as u64);
    Ok(page.into_bytes())
}

fn describe(page: &mut Page, at: usize, number: u32, zone: Zone, layout: &ZonesOfDrive, subject: &Subject) {
    let block_bytes = subject.block_bytes();
    let start = u64::from(number) * layout.zone_bytes / block_bytes;
    let state = match zone.state {
        ZoneState::Empty => 0x1,
        ZoneState::ImplicitlyOpen => 0x2,
        ZoneState::ExplicitlyOpen => 0x3,
        ZoneState::Closed => 0x4,
        ZoneState::Full => 0xe,
    };
    page.u8(at, NEEDS_SEQUENTIAL_WRITES);
    page.u8(at + 1, state << 4);
    page.u64(at + 8, layout.capacity_bytes / block_bytes);
    page.u64(at + 16, start);
    // A full zone has no write pointer.
    let pointer = start + u64::from(zone.written) * subject.blocks_per_unit();
    page.u64(at + 24, if zone.state == ZoneState::Full { u64::MAX } else { pointer });
}
