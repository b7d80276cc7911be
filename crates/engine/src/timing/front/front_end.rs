//! What a drive has between the host and its flash.

use crate::error::SpecificationError;
use crate::policies::gc_throttling::GcThrottling;
use crate::specification::Drive;
use crate::specification::drive::{Controller, Rate, WriteBuffer};

/// The stages between host and flash.
#[derive(Clone, Debug, Default)]
pub struct FrontEnd {
    /// The processing of commands, and their limits.
    pub controller: Controller,
    /// The write buffer.
    pub buffer: WriteBuffer,
    /// None: transfers take no time.
    pub link: Option<Rate>,
    /// Whether it is on SATA: then a flush is alone in the drive, and a write that must survive a loss of power is
    /// followed by one.
    pub is_sata: bool,
    /// Whether garbage collection asks if the dies have a backlog of its operations.
    pub tells_backlog: bool,
}

impl FrontEnd {
    /// Errors name the key of the drive, its value and what is allowed.
    pub fn of(drive: &Drive) -> Result<Self, SpecificationError> {
        Ok(Self {
            controller: drive.controller.clone(),
            buffer: drive.write_buffer.clone(),
            link: drive.host_link.rate()?,
            // Linux does not use FUA on SATA drives (libata.fua, off by default: kernel-parameters.txt).
            is_sata: drive.host_link.is_sata(),
            tells_backlog: GcThrottling::new(&drive.ftl.gc_throttling)?.piece_units().is_some(),
        })
    }
}
