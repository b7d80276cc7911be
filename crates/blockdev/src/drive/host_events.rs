//! What the host itself causes on a drive with placement handles: reclaim units that it leaves early, identifiers that do
//! not exist. NVM Express 2.1, 5.1.12.1.31; the controller's events are the engine's (`ftl/placement_log.rs`).

use super::SimulatedDevice;
use super::core::{Core, first_error};
use super::fronts::Devices;
use super::recording::Event;
use crate::device::DeviceError;
use crate::placement::{EventType, Named, Placement};
use serde::Serialize;
use ssdlab_engine::ftl::PlacementEventKind;
use ssdlab_engine::specification::drive::{Handles, handles_of};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// As many as the controller's log holds: a page of 4 KiB with its header.
const EVENTS_MAX: usize = 63;

/// An event of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostEventKind {
    /// A handle left its reclaim unit before that was full.
    NotFullyWritten,
    /// A write named an identifier that its namespace does not have.
    InvalidIdentifier,
}

/// An event of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HostEvent {
    /// What happened.
    pub kind: HostEventKind,
    /// The namespace, counted from 1.
    pub namespace: u32,
    /// The placement identifier as the host gave it.
    pub identifier: u16,
    /// The handle that left its reclaim unit; None if the identifier does not exist.
    pub handle: Option<u8>,
    /// What the host had written since the drive was new.
    pub host_written_bytes: u64,
}

/// The latest events of the host since the drive was opened, the oldest first.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HostEvents {
    events: VecDeque<HostEvent>,
    /// Older events, of which nothing else is known.
    lost: u64,
    /// Of both logs: what the host has disabled, by handle.
    #[serde(skip)]
    disabled: BTreeSet<(u8, EventType)>,
}

impl HostEvents {
    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    fn note(&mut self, kind: EventType, handle: u8, event: HostEvent) {
        if self.disabled.contains(&(handle, kind)) {
            return;
        }
        if self.events.len() == EVENTS_MAX {
            self.events.pop_front();
            self.lost += 1;
        }
        self.events.push_back(event);
    }

    /// A new translation layer records everything until it is told otherwise.
    pub(super) fn tell(&self, devices: &mut Devices) {
        for &(handle, event_type) in &self.disabled {
            tell(devices, handle, event_type, false);
        }
    }
}

fn tell(devices: &mut Devices, handle: u8, event_type: EventType, is_enabled: bool) {
    let Some(kind) = of_controller(event_type) else { return };
    for device in devices.devices_mut() {
        device.ftl.enable_placement_events(handle, kind, is_enabled);
    }
}

/// The kind of a type of the controller's events; None for those of the host.
fn of_controller(event_type: EventType) -> Option<PlacementEventKind> {
    match event_type {
        EventType::MediaReallocated => Some(PlacementEventKind::MediaReallocated),
        EventType::ImplicitlyModifiedHandle => Some(PlacementEventKind::ImplicitlyModifiedHandle),
        EventType::NotFullyWritten | EventType::InvalidIdentifier => None,
    }
}

impl Core {
    /// The events of the host.
    pub fn host_events(&self) -> HostEvents {
        self.host_events.clone()
    }

    /// The placement handles; None for a drive without, and for a stripe, whose devices each have their own.
    pub fn handles(&self) -> Option<Handles> {
        match self.devices.devices() {
            [device] => handles_of(&device.drive.ftl.placement),
            _ => None,
        }
    }

    fn leave_reclaim_unit(&mut self, identifier: u8, named: Named) -> Result<(), DeviceError> {
        let (has_left, done) = self.leave_own_reclaim_unit(identifier);
        if has_left {
            self.note_host_event(EventType::NotFullyWritten, HostEventKind::NotFullyWritten, named, Some(named.handle));
        }
        done
    }

    /// Returns whether one was left that was not fully written.
    pub(super) fn leave_own_reclaim_unit(&mut self, identifier: u8) -> (bool, Result<(), DeviceError>) {
        self.note_asked(Event::LeaveReclaimUnit { identifier });
        // What was written before is for the old one.
        self.bring_in_answered();
        let mut has_left = false;
        let done = first_error(self.each_mut().map(|device| {
            let left = device.ftl.leave_reclaim_unit(identifier);
            has_left |= left.is_ok_and(|units| units.is_some());
            let padded = device.carry_out_decided(left.map(|_| ()));
            padded.and(device.attend_to_flash())
        }));
        let devices = self.devices.devices_mut().iter_mut();
        devices.enumerate().for_each(|(index, device)| self.front.carry_out(index, device));
        (has_left, done)
    }

    fn note_host_event(&mut self, event_type: EventType, kind: HostEventKind, named: Named, handle: Option<u8>) {
        let Named { namespace, identifier, .. } = named;
        let host_written_bytes = self.ledger().host_written_bytes;
        let event = HostEvent { kind, namespace, identifier, handle, host_written_bytes };
        self.host_events.note(event_type, named.handle, event);
    }

    fn enable_event(&mut self, handle: u8, event_type: EventType, is_enabled: bool) {
        let disabled = &mut self.host_events.disabled;
        if is_enabled {
            disabled.remove(&(handle, event_type));
        } else {
            disabled.insert((handle, event_type));
        }
        tell(&mut self.devices, handle, event_type, is_enabled);
    }
}

impl Placement for Arc<SimulatedDevice> {
    fn handles(&self) -> Handles {
        self.core().handles().expect("only a drive with handles is asked")
    }

    fn leave_reclaim_unit(&self, named: Named, group: u8) -> Result<(), DeviceError> {
        let mut core = self.core();
        if let Some(real_pace) = &self.real_pace {
            core.advance_to(real_pace.now_ns());
        }
        let groups = core.handles().map_or(1, |handles| handles.reclaim_groups);
        core.leave_reclaim_unit(named.handle * groups + group, named)
    }

    fn note_invalid_identifier(&self, named: Named) {
        self.core().note_host_event(EventType::InvalidIdentifier, HostEventKind::InvalidIdentifier, named, None);
    }

    fn is_event_enabled(&self, handle: u8, event_type: EventType) -> bool {
        !self.core().host_events.disabled.contains(&(handle, event_type))
    }

    fn enable_event(&self, handle: u8, event_type: EventType, is_enabled: bool) {
        self.core().enable_event(handle, event_type, is_enabled);
    }
}
