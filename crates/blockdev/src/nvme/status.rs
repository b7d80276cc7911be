//! Status codes, and which of them an error of the device is. NVM Express Base Specification 2.0, figures 93 to 99; of zones
//! Zoned Namespace Command Set Specification 1.1, section 3.1.

use crate::device::DeviceError;
use ssdlab_engine::error::ZoneStatus;

/// The status field of a completion, without the phase bit: code, its type, and whether a repetition would fail again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(u16);

const DO_NOT_RETRY: u16 = 1 << 14;

impl Status {
    pub const SUCCESS: Self = Self(0);
    pub const INVALID_OPCODE: Self = Self::lasting(0, 0x01);
    pub const INVALID_FIELD: Self = Self::lasting(0, 0x02);
    pub const INTERNAL: Self = Self::lasting(0, 0x06);
    /// Hosts send the command again.
    pub const ABORTED_BY_POWER_LOSS: Self = Self(0x05);
    pub const INVALID_NAMESPACE: Self = Self::lasting(0, 0x0b);
    pub const COMMAND_SEQUENCE: Self = Self::lasting(0, 0x0c);
    pub const INVALID_SGL_LENGTH: Self = Self::lasting(0, 0x0f);
    pub const INVALID_SGL_TYPE: Self = Self::lasting(0, 0x11);
    pub const INVALID_SGL_OFFSET: Self = Self::lasting(0, 0x16);
    pub const WRITE_PROTECTED: Self = Self::lasting(0, 0x20);
    /// Of the transfer: hosts send the command again.
    pub const TRANSIENT_TRANSPORT: Self = Self(0x22);
    pub const LBA_OUT_OF_RANGE: Self = Self::lasting(0, 0x80);
    pub const CAPACITY_EXCEEDED: Self = Self::lasting(0, 0x81);
    pub const EVENT_LIMIT: Self = Self::lasting(1, 0x05);
    pub const INVALID_LOG: Self = Self::lasting(1, 0x09);
    pub const INVALID_FORMAT: Self = Self::lasting(1, 0x0a);
    pub const NOT_SAVEABLE: Self = Self::lasting(1, 0x0d);
    pub const CONNECT_FORMAT: Self = Self::lasting(1, 0x80);
    pub const CONNECT_BUSY: Self = Self(1 << 8 | 0x81);
    pub const CONNECT_INVALID: Self = Self::lasting(1, 0x82);
    pub const INVALID_ZONE_OPERATION: Self = Self::lasting(1, 0xb6);
    pub const ZONE_BOUNDARY: Self = Self::lasting(1, 0xb8);
    pub const ZONE_IS_FULL: Self = Self::lasting(1, 0xb9);
    pub const ZONE_INVALID_WRITE: Self = Self::lasting(1, 0xbc);
    pub const TOO_MANY_ACTIVE_ZONES: Self = Self::lasting(1, 0xbd);
    pub const TOO_MANY_OPEN_ZONES: Self = Self::lasting(1, 0xbe);
    pub const INVALID_ZONE_TRANSITION: Self = Self::lasting(1, 0xbf);
    pub const WRITE_FAULT: Self = Self::lasting(2, 0x80);
    pub const UNREADABLE: Self = Self::lasting(2, 0x81);

    const fn lasting(kind: u16, code: u16) -> Self {
        Self(DO_NOT_RETRY | kind << 8 | code)
    }

    /// As in a completion.
    pub fn field(self) -> u16 {
        self.0 << 1
    }

    pub fn is_success(self) -> bool {
        self.0 == 0
    }

    fn of_zone(status: ZoneStatus) -> Self {
        match status {
            ZoneStatus::ZoneBoundaryError => Self::ZONE_BOUNDARY,
            ZoneStatus::ZoneIsFull => Self::ZONE_IS_FULL,
            ZoneStatus::ZoneInvalidWrite => Self::ZONE_INVALID_WRITE,
            ZoneStatus::TooManyActiveZones => Self::TOO_MANY_ACTIVE_ZONES,
            ZoneStatus::TooManyOpenZones => Self::TOO_MANY_OPEN_ZONES,
            ZoneStatus::InvalidZoneStateTransition => Self::INVALID_ZONE_TRANSITION,
            ZoneStatus::InvalidZoneOperationRequest => Self::INVALID_ZONE_OPERATION,
            ZoneStatus::InvalidFieldInCommand => Self::INVALID_FIELD,
        }
    }

    /// The status of a read or another request that failed.
    pub fn of(error: &DeviceError, is_read: bool) -> Self {
        match error {
            DeviceError::PastTheEnd { .. } => Self::LBA_OUT_OF_RANGE,
            DeviceError::ReadOnly(_) => Self::WRITE_PROTECTED,
            DeviceError::Unreadable { .. } => Self::UNREADABLE,
            DeviceError::Injected if is_read => Self::UNREADABLE,
            DeviceError::Injected => Self::WRITE_FAULT,
            DeviceError::Store(error) if error.raw_os_error() == Some(libc::ENOSPC) => Self::CAPACITY_EXCEEDED,
            DeviceError::PoweredOff => Self::ABORTED_BY_POWER_LOSS,
            DeviceError::Zone(status) => Self::of_zone(*status),
            DeviceError::Misplaced { .. } | DeviceError::Stalled | DeviceError::Store(_) => Self::INTERNAL,
        }
    }
}
