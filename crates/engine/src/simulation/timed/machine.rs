//! A drive and its host: one of each, as most are, or several devices behind one host. Which it is is asked once in many
//! events.

use super::super::drive::{SimulatedDrive, TimedSimulatedDrive, build_timed};
use super::super::stripe::Stripe;
use crate::error::{ReadOnly, SpecificationError};
use crate::specification::Drive;
use crate::specification::stripe::devices_of;
use crate::timing::flash::Flash;
use crate::timing::host::{Client, FrontEnd, Host, Plan, Reading, StripedHost};
use crate::timing::read_counts::ReadCounts;

pub(in crate::simulation) enum Machine {
    Single { drive: Box<dyn TimedSimulatedDrive>, host: Box<Host> },
    Striped { drive: Stripe<dyn TimedSimulatedDrive>, host: Box<StripedHost> },
}

/// The host's side of a translation layer, with all that stands between them.
fn host_of(drive: &Drive, layer: &dyn TimedSimulatedDrive) -> Result<Host, SpecificationError> {
    let mapping_unit_bytes = drive.ftl.mapping_unit_bytes;
    let flash = Flash::new(&drive.nand, mapping_unit_bytes, drive.ftl.erase_unit)
        .with_slc_cache(&drive.nand, &drive.slc_cache)
        .with_power_loss_protection(drive.write_buffer.power_loss_protection)
        .below(layer);
    let front_end = FrontEnd {
        command_ns: (drive.controller.command_us * 1000.0).round() as u64,
        commands_per_second_max: drive.controller.commands_per_second_max,
        link: drive.host_link.rate()?,
        buffer_units: drive.write_buffer.bytes / u64::from(mapping_unit_bytes),
        is_volatile: !drive.write_buffer.power_loss_protection,
    };
    Ok(Host::with_front_end(flash, &front_end).with_reading(Reading::new(drive)?))
}

impl Machine {
    pub fn new(drive: &Drive, seed: u64) -> Result<Self, SpecificationError> {
        if drive.stripe.is_on() {
            return Self::striped(drive, seed);
        }
        let layer = build_timed(drive, seed)?;
        let host = Box::new(host_of(drive, &*layer)?);
        Ok(Self::Single { drive: layer, host })
    }

    pub fn striped(drive: &Drive, seed: u64) -> Result<Self, SpecificationError> {
        let stripe = Stripe::build_timed(drive, seed)?;
        let devices = devices_of(drive)?.into_iter().zip(stripe.devices());
        let hosts = devices.map(|(device, layer)| host_of(&device, &**layer)).collect::<Result<_, _>>()?;
        let flash = Flash::new(&drive.nand, drive.ftl.mapping_unit_bytes, drive.ftl.erase_unit);
        let host = Box::new(StripedHost::new(Host::new(flash, 0, 0), hosts, stripe.chunks()));
        Ok(Self::Striped { drive: stripe, host })
    }

    pub fn drive(&self) -> &dyn SimulatedDrive {
        match self {
            Self::Single { drive, .. } => &**drive,
            Self::Striped { drive, .. } => drive,
        }
    }

    pub fn drive_mut(&mut self) -> &mut dyn SimulatedDrive {
        match self {
            Self::Single { drive, .. } => &mut **drive,
            Self::Striped { drive, .. } => drive,
        }
    }

    pub fn start_all(&mut self, first: u32, plans: Vec<Plan>, client: &mut dyn Client) -> Result<(), ReadOnly> {
        match self {
            Self::Single { drive, host } => host.start_all(first, plans, &mut **drive, client),
            Self::Striped { drive, host } => {
                let started = host.start_all(first, plans, drive, client);
                drive.note();
                started
            }
        }
    }

    pub fn advance(&mut self, events: u64, client: &mut dyn Client) -> Result<bool, ReadOnly> {
        match self {
            Self::Single { drive, host } => host.advance(events, &mut **drive, client),
            Self::Striped { drive, host } => {
                let goes_on = host.advance(events, drive, client);
                drive.note();
                goes_on
            }
        }
    }

    pub fn end_stage(&mut self) {
        match self {
            Self::Single { host, .. } => host.end_stage(),
            Self::Striped { host, .. } => host.end_stage(),
        }
    }

    pub fn now_ns(&self) -> u64 {
        match self {
            Self::Single { host, .. } => host.now_ns(),
            Self::Striped { host, .. } => host.now_ns(),
        }
    }

    /// The share of the time since the beginning in which the dies were at work, on average.
    pub fn die_utilization(&self) -> f64 {
        match self {
            Self::Single { host, .. } => host.flash().utilization(host.now_ns()),
            Self::Striped { host, .. } => host.utilization(host.now_ns()),
        }
    }

    pub fn units_in_memory(&self) -> u64 {
        match self {
            Self::Single { host, .. } => host.units_in_memory(),
            Self::Striped { host, .. } => host.units_in_memory(),
        }
    }

    pub fn read_counts(&self) -> Option<ReadCounts> {
        match self {
            Self::Single { host, .. } => host.read_counts(),
            Self::Striped { host, .. } => host.read_counts(),
        }
    }

    pub fn take_read_counts(&mut self) -> Option<ReadCounts> {
        match self {
            Self::Single { host, .. } => host.take_read_counts(),
            Self::Striped { host, .. } => host.take_read_counts(),
        }
    }

    /// Requests that a job has drawn and not yet issued.
    pub fn upcoming(&self, job: u32) -> u64 {
        match self {
            Self::Single { host, .. } => host.upcoming(job),
            Self::Striped { host, .. } => host.front().upcoming(job),
        }
    }

    /// As `Host::keep_upcoming`.
    pub fn keep_upcoming(&mut self, job: u32, count_max: u64) -> (u64, u64) {
        match self {
            Self::Single { host, .. } => host.keep_upcoming(job, count_max),
            Self::Striped { host, .. } => host.front_mut().keep_upcoming(job, count_max),
        }
    }
}
