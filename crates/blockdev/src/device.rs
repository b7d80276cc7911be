//! The one narrow device trait: implemented by everything that stores blocks, and used by every front end.
//!
//! Addresses are bytes, and any range within the device is allowed: only the device knows the cost of a partial write
//! of a mapping unit. Ranges of whole units are the fastest.

use ssdlab_engine::error::ZoneStatus;
use std::fmt;
use std::io;

/// Properties of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The device's capacity.
    pub size_bytes: u64,
    /// The mapping unit: whole units are written, trimmed and read at the least cost.
    pub unit_bytes: u32,
    /// Whether a trimmed unit is deallocated and reads zeroes; without it a trim does nothing.
    pub trims: bool,
    /// Whether a write may be lost with the power until a flush.
    pub has_volatile_cache: bool,
}

/// When a write may be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// As soon as the device has taken it.
    Cached,
    /// When it would survive a loss of power (force unit access).
    Durable,
}

/// A part of a device with uniform allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The extent's length.
    pub length_bytes: u64,
    /// Whether nothing is stored for it, because it was never written, or was trimmed. A hole reads zeroes.
    pub is_hole: bool,
}

/// A block device.
pub trait Device: Send + Sync {
    /// Its properties, which never change.
    fn capabilities(&self) -> Capabilities;
    /// Reads `into.len()` bytes.
    fn read(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), DeviceError>;
    /// Writes `data`.
    fn write(&self, offset_bytes: u64, data: &[u8], durability: Durability) -> Result<(), DeviceError>;
    /// Deallocates the whole units of the range, which then read zeroes. Parts of units at both ends remain; `punch`
    /// zeroes them too.
    fn trim(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), DeviceError>;
    /// Writes zeroes without a transfer of data.
    fn zero(&self, offset_bytes: u64, length_bytes: u64, durability: Durability) -> Result<(), DeviceError>;
    /// Ensures that everything answered before survives a loss of power.
    fn flush(&self) -> Result<(), DeviceError>;
    /// The extents of the range, in order: at least one unless the range is empty, at most `extents_max`, and none past
    /// the end of the range. They may end before it; ask again for the rest. This is not a request: it takes no time of
    /// the device and is not counted.
    fn extents(&self, offset_bytes: u64, length_bytes: u64, extents_max: usize) -> Result<Vec<Extent>, DeviceError> {
        let _ = extents_max;
        self.capabilities().check_range(offset_bytes, length_bytes)?;
        Ok(vec![Extent { length_bytes, is_hole: false }])
    }
}

/// Why a request failed. The device continues to work otherwise.
#[derive(Debug)]
pub enum DeviceError {
    /// The range exceeds the device.
    PastTheEnd {
        /// Start of the range.
        offset_bytes: u64,
        /// Length of the range.
        length_bytes: u64,
        /// The device's capacity.
        size_bytes: u64,
    },
    /// Writes and trims are refused from now on; reads work.
    ReadOnly(String),
    /// The flash has lost the data of the address, and parity could not rebuild it.
    Unreadable {
        /// Start of the mapping unit.
        offset_bytes: u64,
    },
    /// Refused on purpose, by an adapter that injects faults.
    Injected,
    /// The drive found data of another address: an error of the simulation; the data is not returned.
    Misplaced {
        /// Start of the mapping unit.
        offset_bytes: u64,
    },
    /// The file that holds the flash failed.
    Store(io::Error),
    /// The drive became idle before the request completed: an error of the simulation. Its data may be lost with the
    /// power.
    Stalled,
    /// The power is off.
    PoweredOff,
    /// The rules of zones forbid the request, which has changed nothing.
    Zone(ZoneStatus),
}

impl DeviceError {
    /// The errno value.
    pub fn errno(&self) -> i32 {
        match self {
            Self::PastTheEnd { .. } | Self::Zone(_) => libc::EINVAL,
            Self::ReadOnly(_) => libc::EROFS,
            Self::Unreadable { .. } | Self::Misplaced { .. } | Self::Injected | Self::Stalled | Self::PoweredOff => {
                libc::EIO
            }
            Self::Store(error) => error.raw_os_error().unwrap_or(libc::EIO),
        }
    }
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PastTheEnd { offset_bytes, length_bytes, size_bytes } => {
                write!(f, "{length_bytes} bytes at {offset_bytes} lie past the end of the device at {size_bytes}")
            }
            Self::ReadOnly(reason) => f.write_str(reason),
            Self::Unreadable { offset_bytes } => write!(f, "uncorrectable read error at byte {offset_bytes}"),
            Self::Injected => f.write_str("an injected fault"),
            Self::Misplaced { offset_bytes } => {
                write!(f, "the place that the map names for byte {offset_bytes} holds something else")
            }
            Self::Store(error) => write!(f, "the file that holds the flash: {error}"),
            Self::Stalled => f.write_str("the drive came to rest before the request was complete"),
            Self::PoweredOff => f.write_str("the power is off"),
            Self::Zone(status) => write!(f, "{status}"),
        }
    }
}

impl std::error::Error for DeviceError {}

impl Capabilities {
    /// Fails with `PastTheEnd` if the range exceeds the device.
    pub fn check_range(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), DeviceError> {
        if offset_bytes.checked_add(length_bytes).is_some_and(|end| end <= self.size_bytes) {
            return Ok(());
        }
        Err(DeviceError::PastTheEnd { offset_bytes, length_bytes, size_bytes: self.size_bytes })
    }
}

/// Makes every byte of the range read zero: whole units are trimmed, the parts at both ends overwritten. The semantics
/// of a hole in a file.
pub fn punch(device: &dyn Device, offset_bytes: u64, length_bytes: u64) -> Result<(), DeviceError> {
    let Capabilities { unit_bytes, trims, .. } = device.capabilities();
    device.capabilities().check_range(offset_bytes, length_bytes)?;
    if !trims {
        return device.zero(offset_bytes, length_bytes, Durability::Cached);
    }
    let unit_bytes = u64::from(unit_bytes);
    let end = offset_bytes + length_bytes;
    let first_whole = offset_bytes.next_multiple_of(unit_bytes).min(end);
    let end_whole = (end / unit_bytes * unit_bytes).max(first_whole);
    for (from, to) in [(offset_bytes, first_whole), (end_whole, end)] {
        if to > from {
            device.zero(from, to - from, Durability::Cached)?;
        }
    }
    if end_whole > first_whole { device.trim(first_whole, end_whole - first_whole) } else { Ok(()) }
}
