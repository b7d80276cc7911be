//! What the controller and its namespace say of themselves: the structures of Identify. NVM Express Base Specification
//! 2.0, section 5.17; NVM Command Set Specification 1.0, section 4.1.5.

use super::controller::{Controller, Kind};
use super::fields::Page;
use super::limits;
use super::logs;
use super::pdu::Command;
use super::placement::GROUP;
use super::status::Status;
use super::subject::{EVERY_NAMESPACE, Subject};
use super::zones;

const PAGE_BYTES: usize = 4096;
/// Version 2.0 of the base specification.
pub const VERSION: u32 = 2 << 16;

/// The structure that a command asks for.
pub fn identify(command: &Command, controller: &Controller, subject: &Subject) -> Result<Vec<u8>, Status> {
    let (structure, command_set) = (command.byte(40), command.byte(47));
    let namespace = command.namespace();
    if controller.kind == Kind::Discovery {
        return if structure == 0x01 { Ok(of_controller(controller, subject)) } else { Err(Status::INVALID_FIELD) };
    }
    let is_ours = subject.namespace(namespace).is_ok();
    match structure {
        0x00 | 0x03 | 0x05 | 0x08 if namespace == 0 || namespace == EVERY_NAMESPACE => Err(Status::INVALID_NAMESPACE),
        // A namespace that is not there is all zeroes.
        0x00 | 0x08 if !is_ours => Ok(vec![0; PAGE_BYTES]),
        0x03 | 0x05 if !is_ours => Err(Status::INVALID_NAMESPACE),
        0x00 => of_namespace(subject, namespace),
        0x01 => Ok(of_controller(controller, subject)),
        0x02 | 0x10 => Ok(namespaces_after(namespace, subject)),
        0x07 if command_set == subject.command_set() => Ok(namespaces_after(namespace, subject)),
        0x03 => Ok(names(subject, namespace)),
        0x05 | 0x07 if command_set == 0 => Ok(vec![0; PAGE_BYTES]),
        0x05 if command_set == zones::COMMAND_SET => zones::of_namespace(subject),
        0x06 if command_set == zones::COMMAND_SET => zones::of_controller(subject),
        0x06 if command_set == 0 => Ok(limits_of_commands()),
        0x08 => Ok(independent_of_command_set(subject)),
        0x13 => Ok(controllers(controller, command.number_at(42))),
        0x19 => Ok(endurance_groups(command.number_at(44), subject)),
        0x1c => Ok(command_sets(subject)),
        _ => Err(Status::INVALID_FIELD),
    }
}

fn of_controller(controller: &Controller, subject: &Subject) -> Vec<u8> {
    let mut page = Page::new(PAGE_BYTES);
    page.text(4, 20, &subject.identity.serial(), b' ');
    page.text(24, 40, &format!("ssdlab {}", subject.identity.model), b' ');
    page.text(64, 8, env!("CARGO_PKG_VERSION"), b' ');
    // CMIC: several controllers.
    page.u8(76, u8::from(may_share(subject)) << 1);
    page.u8(77, limits::TRANSFER_POWER);
    page.u16(78, controller.id);
    page.u32(80, VERSION);
    // RTD3 resume and entry, in microseconds.
    page.u32(84, 1_000_000);
    page.u32(88, 1_000_000);
    let is_discovery = controller.kind == Kind::Discovery;
    let has_handles = !is_discovery && subject.placement.is_some();
    // CTRATT: identifiers of hosts with 128 bits; any command counts as a sign of life; with handles, endurance groups
    // and flexible data placement.
    page.u32(96, 1 | 1 << 6 | if has_handles { 1 << 4 | 1 << 19 } else { 0 });
    if has_handles {
        // ENDGIDMAX.
        page.u16(340, GROUP);
    }
    page.u16(320, limits::KEEP_ALIVE_STEP);
    page.u16(514, limits::QUEUE_ENTRIES);
    // SGLS: data in capsules at an offset, and the descriptors of the transport.
    page.u32(536, 1 | 1 << 20);
    page.u8(111, if is_discovery { 2 } else { 1 });
    // LPA: effects of commands, offsets in logs.
    page.u8(261, if is_discovery { 1 << 2 } else { 1 << 1 | 1 << 2 });
    page.text(768, 256, controller.subsystem(&subject.identity).as_str(), 0);
    page.u32(1796, 1);
    page.u32(1792, 4);
    // One descriptor a command.
    page.u8(1803, 1);
    if is_discovery {
        return page.into_bytes();
    }
    // OAES: a namespace changed.
    page.u32(92, 1 << 8);
    // OACS: Format; with handles, directives.
    page.u16(256, 1 << 1 | if has_handles { 1 << 5 } else { 0 });
    page.u8(258, 3);
    page.u8(259, limits::EVENTS - 1);
    // One slot of firmware, which is read-only.
    page.u8(260, 1 << 1 | 1);
    page.u8(262, logs::ERRORS_KEPT as u8 - 1);
    // Kelvin; the drive has no temperature.
    page.u16(266, 343);
    page.u16(268, 353);
    page.u8(512, 0x66);
    page.u8(513, 0x44);
    page.u32(516, subject.namespaces.len() as u32);
    // ONCS: Dataset Management, which zones have not, Write Zeroes, timestamps.
    page.u16(520, if subject.zones.is_some() { 0 } else { 1 << 2 } | 1 << 3 | 1 << 6);
    // VWC: a flush of all namespaces is supported; bit 0 if there is a cache that loses data.
    page.u8(525, 0b110 | u8::from(subject.capabilities.has_volatile_cache));
    page.u32(540, subject.namespaces.len() as u32);
    page.u32(1792, limits::COMMAND_BYTES / 16);
    // The only power state, in hundredths of a watt.
    page.u16(2048, 500);
    page.into_bytes()
}

fn of_namespace(subject: &Subject, id: u32) -> Result<Vec<u8>, Status> {
    let mut page = Page::new(PAGE_BYTES);
    let blocks = subject.blocks(subject.namespace(id)?);
    page.u64(0, blocks);
    page.u64(8, blocks);
    let live_units = (subject.health)().ok().and_then(|health| health.live_units.get(id as usize - 1).copied());
    page.u64(16, live_units.map_or(blocks, |units| (units * subject.blocks_per_unit()).min(blocks)));
    // NSFEAT: preferred sizes are given.
    page.u8(24, 1 << 4);
    // NMIC: several controllers may attach it.
    page.u8(30, u8::from(may_share(subject)));
    // DLFEAT: deallocated blocks read zero, and Write Zeroes may deallocate, but not in zones.
    page.u8(33, 1 | if subject.zones.is_some() { 0 } else { 1 << 3 });
    let unit_blocks = subject.blocks_per_unit() as u16 - 1;
    // NPWG, NPWA, NPDG, NPDA.
    for at in [64, 66, 68, 70] {
        page.u16(at, unit_blocks);
    }
    page.u16(102, group_of(subject));
    let identity = subject.identity.of_namespace(id);
    page.put(104, &identity.unique);
    page.put(120, &identity.eui64());
    // The only format: no metadata, the block's power of two.
    page.u8(130, subject.block_bytes().trailing_zeros() as u8);
    Ok(page.into_bytes())
}

/// Whether several controllers may have the drive at a time. Linux then puts a device with several paths above it, for
/// which 6.1 shows no limits of zones, and whose appends tell btrfs the path instead of the device: a zoned btrfs does
/// not find the block group, and the kernel stops (`btrfs_rmap_block` compares them).
fn may_share(subject: &Subject) -> bool {
    subject.zones.is_none()
}

/// The endurance group of the namespaces; there is one for the sake of placement handles.
fn group_of(subject: &Subject) -> u16 {
    if subject.placement.is_some() { GROUP } else { 0 }
}

/// Descriptors: type, length, and the name.
fn names(subject: &Subject, id: u32) -> Vec<u8> {
    let mut page = Page::new(PAGE_BYTES);
    let identity = subject.identity.of_namespace(id);
    let mut at = 0;
    let command_set = [subject.command_set()];
    let entries: [(u8, &[u8]); 4] =
        [(1, &identity.eui64()), (2, &identity.unique), (3, &identity.uuid()), (4, &command_set)];
    for (kind, name) in entries {
        page.put(at, &[kind, name.len() as u8]);
        page.put(at + 4, name);
        at += 4 + name.len();
    }
    page.into_bytes()
}

fn namespaces_after(namespace: u32, subject: &Subject) -> Vec<u8> {
    let mut page = Page::new(PAGE_BYTES);
    let ids = (1..=subject.namespaces.len() as u32).filter(|&id| id > namespace);
    ids.enumerate().for_each(|(index, id)| page.u32(4 * index, id));
    page.into_bytes()
}

/// Those from a number on.
fn endurance_groups(from: u16, subject: &Subject) -> Vec<u8> {
    let mut page = Page::new(PAGE_BYTES);
    let group = group_of(subject);
    if group > 0 && group >= from {
        page.u16(0, 1);
        page.u16(2, group);
    }
    page.into_bytes()
}

/// The limits of the NVM command set.
fn limits_of_commands() -> Vec<u8> {
    let mut page = Page::new(PAGE_BYTES);
    // WZSL: 4 KiB times a power of two.
    page.u8(1, limits::ZEROES_POWER);
    // DMRL, DMRSL, DMSL: ranges, blocks of a range (no limit), blocks in all (no limit).
    page.u8(3, 255);
    page.into_bytes()
}

fn independent_of_command_set(subject: &Subject) -> Vec<u8> {
    let mut page = Page::new(PAGE_BYTES);
    page.u8(0, 1 << 4);
    page.u8(1, 1);
    page.u16(12, group_of(subject));
    // NSTAT: ready.
    page.u8(14, 1);
    page.into_bytes()
}

fn controllers(controller: &Controller, from: u16) -> Vec<u8> {
    let mut page = Page::new(PAGE_BYTES);
    if controller.id >= from {
        page.u16(0, 1);
        page.u16(2, controller.id);
    }
    page.into_bytes()
}

/// Combinations of I/O command sets: only NVM, or with the one of zones.
fn command_sets(subject: &Subject) -> Vec<u8> {
    let mut page = Page::new(PAGE_BYTES);
    page.u64(0, 1 | 1 << subject.command_set());
    page.into_bytes()
}
