//! A device that does nothing: it measures the cost of a front end alone.

use crate::device::{Capabilities, Device, DeviceError, Durability};

/// A device that does nothing; reads return zeroes.
pub struct Null {
    capabilities: Capabilities,
}

impl Null {
    /// A device of this capacity and mapping unit.
    pub fn new(size_bytes: u64, unit_bytes: u32) -> Self {
        Self { capabilities: Capabilities { size_bytes, unit_bytes, trims: true, has_volatile_cache: false } }
    }
}

impl Device for Null {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn read(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        self.capabilities.check_range(offset_bytes, into.len() as u64)?;
        into.fill(0);
        Ok(())
    }

    fn write(&self, offset_bytes: u64, data: &[u8], _durability: Durability) -> Result<(), DeviceError> {
        self.capabilities.check_range(offset_bytes, data.len() as u64)
    }

    fn trim(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), DeviceError> {
        self.capabilities.check_range(offset_bytes, length_bytes)
    }

    fn zero(&self, offset_bytes: u64, length_bytes: u64, _durability: Durability) -> Result<(), DeviceError> {
        self.capabilities.check_range(offset_bytes, length_bytes)
    }

    fn flush(&self) -> Result<(), DeviceError> {
        Ok(())
    }
}
