//! What a drive with placement handles knows of its reclaim units: its latest controller events (NVMe log 23h), and what
//! each handle can still write to the reclaim unit that it refers to (reclaim unit handle status).
//!
//! A reclaim unit is the erase units that a handle opens in succession, `reclaim_unit_erase_units` of them. Garbage
//! collection does not know it: its victims are erase units. Only drives with handles have a log; it is
//! written once for an erase unit that is opened and once for a victim, never for a unit of the host.

use super::space::Space;
use crate::error::SpecificationError;
use crate::specification::drive::Handles;
use crate::units::StreamId;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::VecDeque;

/// A log page of 4 KiB, which is what nvme-cli reads, holds 63 events of 64 bytes after its header.
pub const EVENTS_MAX: usize = 63;

/// An event of the controller, as NVM Express 2.1 defines it in 5.1.12.1.31.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlacementEventKind {
    /// Data that the host wrote through an initially isolated handle was moved to another reclaim unit.
    MediaReallocated,
    /// The controller made a handle refer to another reclaim unit, other than for a write of the host.
    ImplicitlyModifiedHandle,
}

/// An event of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlacementEvent {
    /// What happened.
    pub kind: PlacementEventKind,
    /// The handle through which the data was written; None for data that was moved before, of any handle.
    pub handle: Option<u8>,
    /// The reclaim group of the handle.
    pub reclaim_group: u8,
    /// Mapping units of the host that were moved; 0 for other events.
    pub moved_units: u64,
    /// What the host had written since the drive was new.
    pub host_written_bytes: u64,
}

/// A handle in a reclaim group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HandleStatus {
    /// The handle.
    pub handle: u8,
    /// The reclaim group.
    pub reclaim_group: u8,
    /// Reclaim units that it has referred to.
    pub reclaim_units: u64,
    /// Units that can still be written to the one that it refers to.
    pub available_units: u64,
}

/// What a drive with placement handles reports besides its counters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlacementReport {
    /// Units of the host in a reclaim unit.
    pub reclaim_unit_units: u64,
    /// All groups of the first handle, then those of the second.
    pub handles: Vec<HandleStatus>,
    /// The latest events since the run began, the oldest first.
    pub events: Vec<PlacementEvent>,
    /// Older events, of which nothing else is known.
    pub lost_events: u64,
}

pub struct PlacementLog {
    handles: Handles,
    /// By identifier: erase units opened for it.
    opened: Vec<u64>,
    events: VecDeque<PlacementEvent>,
    lost_events: u64,
    /// What is not recorded, because the host disabled it.
    disabled: Vec<(u8, PlacementEventKind)>,
    /// Whether erase units are opened for data that is moved.
    is_moving: bool,
}

impl PlacementLog {
    /// For a drive with this many erase units. The error names the key.
    pub fn new(handles: Handles, erase_units: u32) -> Result<Self, SpecificationError> {
        handles.check_reclaim_unit(erase_units)?;
        Ok(Self {
            handles,
            opened: vec![0; usize::from(handles.identifiers())],
            events: VecDeque::with_capacity(EVENTS_MAX),
            lost_events: 0,
            disabled: Vec::new(),
            is_moving: false,
        })
    }

    fn erase_units_each(&self) -> u64 {
        u64::from(self.handles.reclaim_unit_erase_units)
    }

    fn handle_and_group(&self, stream: StreamId) -> (u8, u8) {
        (stream.0 / self.handles.reclaim_groups, stream.0 % self.handles.reclaim_groups)
    }

    /// Whether events of a kind are recorded for a handle. An event without a handle always is.
    pub fn set_enabled(&mut self, handle: u8, kind: PlacementEventKind, is_enabled: bool) {
        self.disabled.retain(|&disabled| disabled != (handle, kind));
        if !is_enabled {
            self.disabled.push((handle, kind));
        }
    }

    /// The rest of the stream's reclaim unit, with what is not open yet, will not be written.
    pub fn left(&mut self, stream: StreamId) {
        let erase_units_each = self.erase_units_each();
        let opened = &mut self.opened[stream.index()];
        *opened = opened.next_multiple_of(erase_units_each);
    }

    fn note(&mut self, event: PlacementEvent) {
        if event.handle.is_some_and(|handle| self.disabled.contains(&(handle, event.kind))) {
            return;
        }
        if self.events.len() == EVENTS_MAX {
            self.events.pop_front();
            self.lost_events += 1;
        }
        self.events.push_back(event);
    }

    /// A frontier opened an erase unit.
    pub fn opened(&mut self, frontier: StreamId, host_written_bytes: u64) {
        let Some(&opened) = self.opened.get(frontier.index()) else { return };
        let is_of_next_reclaim_unit = opened > 0 && opened.is_multiple_of(self.erase_units_each());
        self.opened[frontier.index()] = opened + 1;
        if self.is_moving && is_of_next_reclaim_unit {
            let (handle, reclaim_group) = self.handle_and_group(frontier);
            self.note(PlacementEvent {
                kind: PlacementEventKind::ImplicitlyModifiedHandle,
                handle: Some(handle),
                reclaim_group,
                moved_units: 0,
                host_written_bytes,
            });
        }
    }

    /// Live units of an erase unit that was filled by a stream were moved.
    pub fn moved(&mut self, stream: StreamId, moved_units: u64, host_written_bytes: u64) {
        if self.handles.persistently_isolated || moved_units == 0 {
            return;
        }
        let (handle, reclaim_group) = self.handle_and_group(stream);
        self.note(PlacementEvent {
            kind: PlacementEventKind::MediaReallocated,
            handle: (stream.index() < self.opened.len()).then_some(handle),
            reclaim_group,
            moved_units,
            host_written_bytes,
        });
    }

    /// From now on erase units are opened for data that is moved, or no longer.
    pub fn set_moving(&mut self, is_moving: bool) {
        self.is_moving = is_moving;
    }

    /// What the drive reports of its placement handles.
    pub fn report(&self, space: &Space) -> PlacementReport {
        let streams = (0..self.opened.len()).map(|identifier| StreamId(identifier as u8));
        PlacementReport {
            reclaim_unit_units: self.reclaim_unit_units(space),
            handles: streams.map(|stream| self.handle_status(space, stream)).collect(),
            events: self.events.iter().copied().collect(),
            lost_events: self.lost_events,
        }
    }

    /// Units of the host in a reclaim unit.
    fn reclaim_unit_units(&self, space: &Space) -> u64 {
        self.erase_units_each() * host_units_per_erase_unit(space)
    }

    fn handle_status(&self, space: &Space, stream: StreamId) -> HandleStatus {
        let opened = self.opened[stream.index()];
        let (handle, reclaim_group) = self.handle_and_group(stream);
        let reclaim_units = opened.div_ceil(self.erase_units_each());
        let unopened = match reclaim_units {
            0 => self.erase_units_each(),
            referred_to => referred_to * self.erase_units_each() - opened,
        };
        let left_units = u64::from(space.slots_left(stream)) / u64::from(space.layout.slots_per_unit());
        let available_units = unopened * host_units_per_erase_unit(space) + left_units;
        HandleStatus { handle, reclaim_group, reclaim_units, available_units }
    }

    /// Units that the stream leaves unwritten if it leaves its reclaim unit; None if that is empty or full.
    pub fn units_to_leave(&self, space: &Space, stream: StreamId) -> Option<u64> {
        let left_units = self.handle_status(space, stream).available_units;
        (left_units > 0 && left_units < self.reclaim_unit_units(space)).then_some(left_units)
    }
}

fn host_units_per_erase_unit(space: &Space) -> u64 {
    let layout = &space.layout;
    u64::from(layout.data_units_per_erase_unit()) / u64::from(layout.slots_per_unit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(persistently_isolated: bool) -> PlacementLog {
        let handles = Handles { handles: 2, reclaim_groups: 2, persistently_isolated, reclaim_unit_erase_units: 3 };
        PlacementLog::new(handles, 12).unwrap()
    }

    #[test]
    fn the_latest_events_are_kept_and_the_others_counted() {
        let mut log = log(false);
        for units in 1..=100 {
            log.moved(StreamId(3), units, 10 * units);
        }
        log.moved(StreamId(3), 0, 2000);
        assert_eq!((log.events.len(), log.lost_events), (EVENTS_MAX, 100 - EVENTS_MAX as u64));
        let last = log.events.back().unwrap();
        assert_eq!((last.handle, last.reclaim_group, last.moved_units), (Some(1), 1, 100));
        // The streams of garbage collection follow those of the four identifiers.
        log.moved(StreamId(4), 1, 3000);
        assert_eq!(log.events.back().unwrap().handle, None);
    }

    #[test]
    fn the_controller_changes_a_handle_only_from_one_reclaim_unit_to_the_next() {
        let mut log = log(true);
        log.moved(StreamId(0), 7, 0);
        log.is_moving = true;
        for _ in 0..7 {
            log.opened(StreamId(0), 0);
            log.opened(StreamId(4), 0);
        }
        let kinds: Vec<_> = log.events.iter().map(|event| event.kind).collect();
        assert_eq!(kinds, [PlacementEventKind::ImplicitlyModifiedHandle; 2], "the fourth and the seventh");
        log.is_moving = false;
        (0..6).for_each(|_| log.opened(StreamId(0), 0));
        assert_eq!(log.events.len(), 2);
    }

    #[test]
    fn what_the_host_disables_for_a_handle_is_not_recorded() {
        let mut log = log(false);
        log.set_enabled(1, PlacementEventKind::MediaReallocated, false);
        log.moved(StreamId(3), 7, 0);
        log.moved(StreamId(1), 7, 0);
        assert_eq!(log.events.iter().map(|event| event.handle).collect::<Vec<_>>(), [Some(0)]);
        log.set_enabled(1, PlacementEventKind::MediaReallocated, true);
        log.moved(StreamId(3), 7, 0);
        assert_eq!(log.events.len(), 2);
    }

    #[test]
    fn a_reclaim_unit_is_no_larger_than_its_group() {
        let handles = Handles { reclaim_unit_erase_units: 7, ..log(false).handles };
        assert!(PlacementLog::new(handles, 12).is_err() && PlacementLog::new(handles, 14).is_ok());
    }
}
