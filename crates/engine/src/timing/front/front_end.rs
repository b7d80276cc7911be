//! What a drive has between the host and its flash.

use crate::error::SpecificationError;
use crate::policies::gc_throttling::GcThrottling;
use crate::specification::Drive;
use crate::specification::drive::{Rate, WriteBuffer};

/// Parameters of the stages between host and flash.
#[derive(Clone, Debug, Default)]
pub struct FrontEnd {
    /// The time of a request that waits for no flash: a buffered write, a trim, a read of unwritten addresses.
    pub command_ns: u64,
    /// The share of commands without flash that take longer, and their mean additional time.
    pub delays: (f64, f64),
    /// When commands enter the drive.
    pub admission: AdmissionTimes,
    /// 0: no limit.
    pub command_slots: u32,
    /// Whether requests of different tags take turns for them.
    pub slots_in_turn: bool,
    /// None: transfers take no time.
    pub link: Option<Rate>,
    /// Whether it is on SATA: then a flush is alone in the drive, and a write that must survive a loss of power is
    /// followed by one.
    pub is_sata: bool,
    /// The write buffer.
    pub buffer: Buffering,
    /// Whether garbage collection asks if the dies have a backlog of its operations.
    pub tells_backlog: bool,
}

/// When commands enter a drive.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdmissionTimes {
    /// 0: no limit.
    pub commands_per_second_max: u64,
    /// The time of the controller on a trim, during which no other command enters.
    pub trim_ns: f64,
    /// The same for each byte of its range.
    pub trim_ns_per_byte: f64,
}

/// Parameters of a write buffer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Buffering {
    /// 0: no buffer.
    pub units: u64,
    /// The fill at which a buffer that was full opens again; 0: as soon as there is space.
    pub resume_units: u64,
    /// The fill beyond which it closes; 0: its size.
    pub close_units: u64,
    /// Writes a second admitted while it is closed.
    pub closed_per_second: u64,
    /// Whether reads suspend nothing while writes wait for space in the buffer.
    pub holds_suspends: bool,
    /// Whether a write replaces units that wait in the buffer for their program.
    pub coalesces: bool,
    /// Whether units release their space when their program begins.
    pub frees_at_program: bool,
    /// Whether buffered data is lost with the power.
    pub is_volatile: bool,
    /// The share of the arriving units that the buffer admits while garbage collection has operations pending; 0: all.
    pub gc_admission_share: f64,
    /// Whether waiting writes are admitted at the mean rate at which the buffer is emptied.
    pub is_paced: bool,
}

impl FrontEnd {
    /// Errors name the key of the drive, its value and what is allowed.
    pub fn of(drive: &Drive) -> Result<Self, SpecificationError> {
        let controller = &drive.controller;
        Ok(Self {
            command_ns: (controller.command_us * 1000.0).round() as u64,
            delays: (controller.delayed_share, controller.delay_us * 1000.0),
            admission: AdmissionTimes {
                commands_per_second_max: controller.commands_per_second_max,
                trim_ns: controller.trim_us * 1000.0,
                trim_ns_per_byte: controller.trim_us_per_mib * 1000.0 / f64::from(1 << 20),
            },
            command_slots: controller.command_slots,
            slots_in_turn: controller.slots_in_turn,
            link: drive.host_link.rate()?,
            // Linux does not use FUA on SATA drives (libata.fua, off by default: kernel-parameters.txt).
            is_sata: drive.host_link.is_sata(),
            buffer: Buffering::of(&drive.write_buffer, drive.ftl.mapping_unit_bytes),
            tells_backlog: GcThrottling::new(&drive.ftl.gc_throttling)?.piece_units().is_some(),
        })
    }
}

impl Buffering {
    /// That of a drive with this mapping unit.
    pub fn of(buffer: &WriteBuffer, mapping_unit_bytes: u32) -> Self {
        let units = |bytes: u64| bytes / u64::from(mapping_unit_bytes);
        Self {
            units: units(buffer.bytes),
            resume_units: units(buffer.resume_bytes),
            close_units: units(buffer.close_bytes),
            closed_per_second: buffer.closed_per_second,
            holds_suspends: buffer.programs_first,
            coalesces: buffer.coalesce,
            frees_at_program: buffer.free_at_program,
            is_volatile: !buffer.power_loss_protection,
            gc_admission_share: buffer.gc_admission_share,
            is_paced: buffer.paced,
        }
    }

    /// Whether there is a buffer.
    pub fn exists(&self) -> bool {
        self.units > 0
    }

    pub(super) fn units_until_closed(&self) -> u64 {
        if self.close_units > 0 { self.close_units.min(self.units) } else { self.units }
    }
}
