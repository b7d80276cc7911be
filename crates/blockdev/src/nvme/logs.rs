//! Log pages. NVM Express Base Specification 2.0, section 5.16.1; OCP Datacenter NVMe SSD Specification 2.0, section
//! 4.8.6, for C0h. The figures of 02h and C0h are those of the drive's statistics.

use super::controller::{Controller, HEALTH_EVENT, Kind};
use super::discovery;
use super::fields::Page;
use super::health::Health;
use super::limits;
use super::pdu::Command;
use super::placement;
use super::status::Status;
use super::subject::Subject;
use std::collections::VecDeque;
use std::net::SocketAddr;

/// Entries of the error log.
pub const ERRORS_KEPT: usize = 64;
/// The drive has no temperature, and nvme-cli shows 0 as -273 degrees: 25 degrees Celsius, in kelvin.
const TEMPERATURE_KELVIN: u16 = 298;

/// A command that failed.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    pub queue: u16,
    pub command: u16,
    pub status: Status,
    pub namespace: u32,
    pub block: u64,
}

/// The last failures.
#[derive(Default)]
pub struct Errors {
    count: u64,
    kept: VecDeque<Failure>,
}

impl Errors {
    pub fn note(&mut self, failure: Failure) {
        self.count += 1;
        self.kept.truncate(ERRORS_KEPT - 1);
        self.kept.push_front(failure);
    }

    /// The last failure comes first.
    fn log(&self) -> Vec<u8> {
        let mut page = Page::new(64 * ERRORS_KEPT);
        for (index, failure) in self.kept.iter().enumerate() {
            let at = 64 * index;
            page.u64(at, self.count - index as u64);
            page.u16(at + 8, failure.queue);
            page.u16(at + 10, failure.command);
            page.u16(at + 12, failure.status.field());
            // No place in the command is to blame.
            page.u16(at + 14, u16::MAX);
            page.u64(at + 16, failure.block);
            page.u32(at + 24, failure.namespace);
            page.u8(at + 29, 3);
        }
        page.into_bytes()
    }
}

mod log {
    pub const SUPPORTED: u8 = 0x00;
    pub const ERRORS: u8 = 0x01;
    pub const HEALTH: u8 = 0x02;
    pub const FIRMWARE: u8 = 0x03;
    pub const CHANGED_NAMESPACES: u8 = 0x04;
    pub const EFFECTS: u8 = 0x05;
    pub const ENDURANCE_GROUP: u8 = 0x09;
    pub const DISCOVERY: u8 = 0x70;
    pub const OCP: u8 = 0xc0;
}

const OF_DRIVES: [u8; 7] =
    [log::SUPPORTED, log::ERRORS, log::HEALTH, log::FIRMWARE, log::CHANGED_NAMESPACES, log::EFFECTS, log::OCP];
const OF_DISCOVERY: [u8; 2] = [log::SUPPORTED, log::DISCOVERY];

/// The part of a log that a command asks for. Reading a log lets events of its kind be reported again.
pub fn read(
    command: &Command,
    controller: &mut Controller,
    subject: &Subject,
    errors: &Errors,
    reached: SocketAddr,
) -> Result<Vec<u8>, Status> {
    let number = command.dword(10) as u8;
    let words = u64::from(command.number_at(42)) | u64::from(command.dword(11) as u16) << 16;
    let length = ((words + 1) * 4) as usize;
    let offset = command.dwords(12);
    if !offset.is_multiple_of(4) || length > limits::TRANSFER_BYTES {
        return Err(Status::INVALID_FIELD);
    }
    let page = whole(command, controller.kind, subject, errors, reached)?;
    let is_kept = command.dword(10) >> 15 & 1 != 0;
    if number == log::HEALTH && !is_kept {
        controller.events.clear(HEALTH_EVENT);
    }
    let from = usize::try_from(offset).unwrap_or(usize::MAX);
    // Behind the end of a log there are zeroes.
    if from > page.len() {
        return Err(Status::INVALID_FIELD);
    }
    let mut part = page[from..page.len().min(from + length)].to_vec();
    part.resize(length, 0);
    Ok(part)
}

fn whole(
    command: &Command,
    kind: Kind,
    subject: &Subject,
    errors: &Errors,
    reached: SocketAddr,
) -> Result<Vec<u8>, Status> {
    let number = command.dword(10) as u8;
    let mut listed = if kind == Kind::Discovery { OF_DISCOVERY.to_vec() } else { OF_DRIVES.to_vec() };
    if kind == Kind::Drive && subject.placement.is_some() {
        listed.push(log::ENDURANCE_GROUP);
        listed.extend(placement::log::ALL);
    }
    if !listed.contains(&number) {
        return Err(Status::INVALID_LOG);
    }
    let health = || (subject.health)().map_err(|_| Status::INTERNAL);
    Ok(match number {
        log::SUPPORTED => supported(&listed),
        log::ERRORS => errors.log(),
        log::HEALTH => of_health(&health()?),
        log::FIRMWARE => of_firmware(),
        log::CHANGED_NAMESPACES => vec![0; 4096],
        log::EFFECTS => of_effects(subject),
        log::ENDURANCE_GROUP if command.number_at(46) != placement::GROUP => return Err(Status::INVALID_FIELD),
        log::ENDURANCE_GROUP => of_endurance_group(&health()?, subject),
        number if placement::log::ALL.contains(&number) => placement::whole_log(command, subject)?,
        log::DISCOVERY => discovery::log(&subject.identity, reached),
        _ => of_ocp(&health()?),
    })
}

fn supported(listed: &[u8]) -> Vec<u8> {
    let mut page = Page::new(1024);
    for &number in listed {
        page.u32(4 * usize::from(number), 1);
    }
    page.into_bytes()
}

fn of_health(health: &Health) -> Vec<u8> {
    let smart = &health.smart;
    let mut page = Page::new(512);
    page.u8(0, smart.critical_warning);
    page.u16(1, TEMPERATURE_KELVIN);
    page.u8(3, smart.available_spare.unwrap_or(100));
    page.u8(4, smart.available_spare_threshold);
    page.u8(5, smart.percentage_used);
    page.u128(32, smart.data_units_read);
    page.u128(48, smart.data_units_written);
    page.u128(64, smart.host_reads);
    page.u128(80, smart.host_writes);
    page.u128(112, smart.power_cycles.unwrap_or(0));
    page.u128(128, smart.power_on_hours);
    page.u128(144, smart.unsafe_shutdowns.unwrap_or(0));
    page.u128(160, smart.media_errors.unwrap_or(0));
    page.u128(176, smart.num_err_log_entries.unwrap_or(0));
    page.into_bytes()
}

fn of_firmware() -> Vec<u8> {
    let mut page = Page::new(512);
    page.u8(0, 1);
    page.text(8, 8, env!("CARGO_PKG_VERSION"), b' ');
    page.into_bytes()
}

/// The drive as its only endurance group. Bytes are counted in thousands of millions, rounded up.
fn of_endurance_group(health: &Health, subject: &Subject) -> Vec<u8> {
    let billions = |bytes: u64| bytes.div_ceil(1_000_000_000);
    let smart = &health.smart;
    let mut page = Page::new(512);
    page.u8(0, smart.critical_warning & (1 | 1 << 3));
    page.u8(3, smart.available_spare.unwrap_or(100));
    page.u8(4, smart.available_spare_threshold);
    page.u8(5, smart.percentage_used);
    page.u128(48, billions(health.host.read_bytes));
    page.u128(64, billions(health.host.written_bytes));
    page.u128(80, billions(health.ocp.physical_media_units_written_bytes));
    page.u128(96, smart.host_reads);
    page.u128(112, smart.host_writes);
    page.u128(128, smart.media_errors.unwrap_or(0));
    page.u128(144, smart.num_err_log_entries.unwrap_or(0));
    // The capacity, and what of it no namespace has.
    let size_bytes = subject.capabilities.size_bytes;
    page.u128(160, size_bytes);
    page.u128(176, size_bytes - subject.namespaces.iter().map(|namespace| namespace.size_bytes).sum::<u64>());
    page.into_bytes()
}

/// Commands that are supported, and those that change contents.
fn of_effects(subject: &Subject) -> Vec<u8> {
    const SUPPORTED: u32 = 1;
    const CHANGES_DATA: u32 = 1 << 1;
    let mut page = Page::new(4096);
    for opcode in super::session::admin_commands(subject) {
        page.u32(4 * usize::from(opcode), SUPPORTED);
    }
    page.u32(4 * usize::from(super::session::FORMAT), SUPPORTED | CHANGES_DATA);
    for (opcode, changes) in super::io::commands(subject) {
        page.u32(1024 + 4 * usize::from(opcode), SUPPORTED | if changes { CHANGES_DATA } else { 0 });
    }
    page.into_bytes()
}

/// The GUID of the log, in the order of its bytes.
const OCP_GUID: [u8; 16] =
    [0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4, 0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5, 0xaf];

fn of_ocp(health: &Health) -> Vec<u8> {
    let ocp = &health.ocp;
    let mut page = Page::new(512);
    page.u128(0, ocp.physical_media_units_written_bytes);
    page.u128(16, ocp.physical_media_units_read_bytes);
    // Six bytes; the two behind them are the normalized value.
    page.u64(32, ocp.bad_user_nand_blocks.raw);
    page.u16(38, ocp.bad_user_nand_blocks.normalized.unwrap_or(100));
    page.u16(46, 100);
    page.u64(48, ocp.xor_recovery_count.unwrap_or(0));
    page.u64(56, ocp.uncorrectable_read_error_count.unwrap_or(0));
    page.u8(80, ocp.system_data_percent_used);
    page.u32(88, ocp.user_data_erase_counts.max);
    page.u32(92, ocp.user_data_erase_counts.min);
    // Version 2.0 of the specification.
    page.u8(103, 2);
    page.u64(112, ocp.incomplete_shutdowns.unwrap_or(0));
    page.u8(120, ocp.percent_free_blocks.unwrap_or(0));
    page.u16(128, 100);
    page.u64(152, ocp.total_nuse);
    page.u16(494, 3);
    page.put(496, &OCP_GUID);
    page.into_bytes()
}
