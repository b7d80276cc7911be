//! Placement handles as a host sees them: which there are, whose events it hears of, and what it has them do. Writes name
//! a handle by the identifier in their request (`queue`).

use crate::device::DeviceError;
use ssdlab_engine::specification::drive::Handles;

/// The types of events, each with its number (NVM Express 2.1, 5.1.12.1.31).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventType {
    /// Of the host: a handle left its reclaim unit before that was full.
    NotFullyWritten = 0x00,
    /// Of the host: a write named an identifier that its namespace does not have.
    InvalidIdentifier = 0x03,
    /// Of the controller: data was moved to another reclaim unit.
    MediaReallocated = 0x80,
    /// Of the controller: it made a handle refer to another reclaim unit.
    ImplicitlyModifiedHandle = 0x81,
}

/// All types.
pub const EVENT_TYPES: [EventType; 4] = [
    EventType::NotFullyWritten,
    EventType::InvalidIdentifier,
    EventType::MediaReallocated,
    EventType::ImplicitlyModifiedHandle,
];

/// What a host named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// The namespace, counted from 1.
    pub namespace: u32,
    /// The placement identifier, as the host gave it.
    pub identifier: u16,
    /// The drive's handle that it stands for, or that is used in its place.
    pub handle: u8,
}

/// A drive with placement handles.
pub trait Placement: Send {
    /// The handles.
    fn handles(&self) -> Handles;
    /// A handle leaves the reclaim unit of a group to which it writes.
    fn leave_reclaim_unit(&self, named: Named, group: u8) -> Result<(), DeviceError>;
    /// A write named an identifier that does not exist.
    fn note_invalid_identifier(&self, named: Named);
    /// Whether events of a type are recorded for a handle; at first all are.
    fn is_event_enabled(&self, handle: u8, event_type: EventType) -> bool;
    /// Has events of a type recorded for a handle, or no longer.
    fn enable_event(&self, handle: u8, event_type: EventType, is_enabled: bool);
}
