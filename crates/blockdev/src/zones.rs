//! Zones as a host sees them: how many and how large, the state of each, and what it has them do. Resets and appends take
//! the drive's time, and are requests (`queue`).

use crate::device::DeviceError;
pub use ssdlab_engine::ftl::zoned::{Zone, ZoneChange, ZoneState};
pub use ssdlab_engine::specification::drive::ZonesOfDrive;

/// A drive with zones.
pub trait Zones: Send {
    /// Their number, sizes and limits.
    fn layout(&self) -> ZonesOfDrive;
    /// The state of a zone, counted from 0; `written` is in mapping units.
    fn zone(&self, zone: u32) -> Zone;
    /// Changes the state of a zone. A zone that is finished is padded, which takes the time of the flash, but not the
    /// host's.
    fn change(&self, zone: u32, change: ZoneChange) -> Result<(), DeviceError>;
}
