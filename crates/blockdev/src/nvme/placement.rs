//! Flexible data placement: handles named by directives, their logs (20h to 23h), features (1Dh, 1Eh) and commands (I/O
//! management), as in the NVM Express Base Specification 2.1. The drive is the only endurance group, with one configuration.
//!
//! The figures are those of the drive's statistics.

use super::fields::{Page, u16_at};
use super::health::{Event, Events, Fdp};
use super::pdu::Command;
use super::status::Status;
use super::subject::{Namespace, Subject};
use crate::placement::{EVENT_TYPES, EventType, Named, Placement};
use ssdlab_engine::specification::drive::Handles;

/// The endurance group.
pub const GROUP: u16 = 1;
/// The type of directives with a placement identifier.
const DIRECTIVE: u32 = 2;
/// The operation of both I/O management commands.
const OF_HANDLES: u8 = 1;
/// The feature with the configuration, and the one with the events.
pub const CONFIGURATION_FEATURE: u8 = 0x1d;
pub const EVENTS_FEATURE: u8 = 0x1e;
const IDENTIFIER_BITS: u32 = 16;

/// The drive's handles. On a drive without them everything here is an invalid field.
pub fn of(subject: &Subject) -> Result<&dyn Placement, Status> {
    subject.placement.as_deref().ok_or(Status::INVALID_FIELD)
}

/// Bits of an identifier that name the group, the upper ones.
fn group_bits(handles: Handles) -> u32 {
    u32::from(handles.reclaim_groups).next_power_of_two().trailing_zeros()
}

/// A placement identifier of a namespace: a place in its list of handles, and a group.
fn split(identifier: u16, handles: Handles) -> (u16, u8) {
    let shift = IDENTIFIER_BITS - group_bits(handles);
    let group = u32::from(identifier) >> shift;
    ((u32::from(identifier) & ((1 << shift) - 1)) as u16, group as u8)
}

fn joined(place: u16, group: u8, handles: Handles) -> u16 {
    (u32::from(group) << (IDENTIFIER_BITS - group_bits(handles))) as u16 | place
}

/// Place and group of an identifier that the namespace has; otherwise what an event reports of it.
fn find(identifier: u16, id: u32, namespace: &Namespace, handles: Handles) -> Result<(u16, u8), Named> {
    let (place, group) = split(identifier, handles);
    if usize::from(place) < namespace.handles.len() && group < handles.reclaim_groups {
        return Ok((place, group));
    }
    // Such a write uses the first handle.
    Err(Named { namespace: id, identifier, handle: namespace.handles[0] })
}

/// The identifier that the drive has for a write: those of its namespace count all groups of a handle together.
pub fn of_write(command: &Command, namespace: &Namespace, subject: &Subject) -> Result<u8, Status> {
    match command.dword(12) >> 20 & 0xf {
        0 => return Ok(0),
        DIRECTIVE => {}
        _ => return Err(Status::INVALID_FIELD),
    }
    let placement = of(subject)?;
    let handles = placement.handles();
    match find((command.dword(13) >> 16) as u16, command.namespace(), namespace, handles) {
        Ok((place, group)) => Ok(place as u8 * handles.reclaim_groups + group),
        Err(named) => {
            placement.note_invalid_identifier(named);
            Ok(0)
        }
    }
}

/// I/O Management Receive: the status of a namespace's handles.
pub fn status(command: &Command, namespace: &Namespace, subject: &Subject) -> Result<Vec<u8>, Status> {
    let handles = of(subject)?.handles();
    let length = (command.dword(11) as usize).saturating_add(1).saturating_mul(4);
    if command.byte(40) == 0 {
        return Ok(Vec::new());
    }
    if command.byte(40) != OF_HANDLES || length > super::limits::TRANSFER_BYTES {
        return Err(Status::INVALID_FIELD);
    }
    let fdp = figures(subject)?;
    let found = fdp.status.ok_or(Status::INTERNAL)?.ruhss;
    let groups = handles.reclaim_groups;
    let mut page = Page::new(16 + 32 * namespace.handles.len() * usize::from(groups));
    let mut at = 16;
    for (place, &handle) in (0..).zip(&namespace.handles) {
        for group in 0..groups {
            let of_drive = joined(u16::from(handle), group, handles);
            let left_units = found.iter().find(|each| each.pid == of_drive).map_or(0, |each| each.ruamw);
            page.u16(at, joined(place, group, handles));
            page.u16(at + 2, u16::from(handle));
            page.u64(at + 8, left_units * subject.blocks_per_unit());
            at += 32;
        }
    }
    page.u16(14, ((at - 16) / 32) as u16);
    let mut bytes = page.into_bytes();
    bytes.truncate(length);
    Ok(bytes)
}

/// I/O Management Send: the number of identifiers in its data, whose handles leave their reclaim units.
pub fn updates(command: &Command, subject: &Subject) -> Result<usize, Status> {
    of(subject)?;
    match command.byte(40) {
        0 => Ok(0),
        OF_HANDLES => Ok(usize::from(command.number_at(42)) + 1),
        _ => Err(Status::INVALID_FIELD),
    }
}

/// Has the handles leave their reclaim units; none does if one of the identifiers does not exist.
pub fn update(id: u32, data: &[u8], namespace: &Namespace, subject: &Subject) -> Result<(), Status> {
    let placement = of(subject)?;
    let handles = placement.handles();
    let named = data.chunks_exact(2).map(|bytes| {
        let identifier = u16_at(bytes, 0);
        let (place, group) = find(identifier, id, namespace, handles).map_err(|_| Status::INVALID_FIELD)?;
        Ok((Named { namespace: id, identifier, handle: namespace.handles[usize::from(place)] }, group))
    });
    for (named, group) in named.collect::<Result<Vec<_>, _>>()? {
        placement.leave_reclaim_unit(named, group).map_err(|error| Status::of(&error, false))?;
    }
    Ok(())
}

/// Get Features: value and data.
pub fn feature(command: &Command, subject: &Subject) -> Result<(u32, Vec<u8>), Status> {
    let placement = of(subject)?;
    let selected = command.dword(10) >> 8 & 7;
    if selected > 3 {
        return Err(Status::INVALID_FIELD);
    }
    if command.dword(10) as u8 == CONFIGURATION_FEATURE {
        // Neither changeable nor saved; enabled, with the only configuration.
        return if selected == 3 { Ok((0, Vec::new())) } else { of_group(command).map(|()| (1, Vec::new())) };
    }
    if selected == 3 {
        // Of a namespace, changeable, not saved.
        return Ok((1 << 1 | 1 << 2, Vec::new()));
    }
    let handle = handle_of_feature(command, subject)?;
    let is_default = selected != 0;
    let shown = EVENT_TYPES.iter().take(usize::from(command.byte(46)));
    let bytes = shown.flat_map(|&event_type| {
        [event_type as u8, u8::from(is_default || placement.is_event_enabled(handle, event_type))]
    });
    Ok((EVENT_TYPES.len() as u32, bytes.collect()))
}

/// The length of the data of Set Features. The configuration cannot change while there are namespaces.
pub fn feature_bytes(command: &Command, subject: &Subject) -> Result<usize, Status> {
    of(subject)?;
    if command.dword(10) as u8 == CONFIGURATION_FEATURE {
        return Err(Status::COMMAND_SEQUENCE);
    }
    match command.byte(46) {
        0 => Err(Status::INVALID_FIELD),
        types => Ok(usize::from(types)),
    }
}

/// Set Features for the events: the data lists types.
pub fn set_feature(command: &Command, data: &[u8], subject: &Subject) -> Result<(), Status> {
    let placement = of(subject)?;
    if command.dword(10) >> 31 != 0 {
        return Err(Status::NOT_SAVEABLE);
    }
    let handle = handle_of_feature(command, subject)?;
    let type_of = |&number: &u8| EVENT_TYPES.into_iter().find(|&event_type| event_type as u8 == number);
    let types: Option<Vec<EventType>> = data.iter().map(type_of).collect();
    for event_type in types.ok_or(Status::INVALID_FIELD)? {
        placement.enable_event(handle, event_type, command.dword(12) & 1 != 0);
    }
    Ok(())
}

fn handle_of_feature(command: &Command, subject: &Subject) -> Result<u8, Status> {
    let namespace = subject.namespace(command.namespace())?;
    namespace.handles.get(usize::from(command.number_at(44))).copied().ok_or(Status::INVALID_FIELD)
}

fn of_group(command: &Command) -> Result<(), Status> {
    if command.number_at(44) == GROUP { Ok(()) } else { Err(Status::INVALID_FIELD) }
}

/// The identify directive: which directives there are. All are always enabled.
pub fn directives(command: &Command, subject: &Subject) -> Result<Vec<u8>, Status> {
    of(subject)?;
    let (operation, kind) = (command.byte(44), command.byte(45));
    let length = (command.dword(10) as usize).saturating_add(1).saturating_mul(4);
    if (operation, kind) != (1, 0) || length > super::limits::TRANSFER_BYTES {
        return Err(Status::INVALID_FIELD);
    }
    let mut page = Page::new(4096);
    // Supported, enabled, and unchanged by a reset: identify and data placement; identify has no state.
    page.u8(0, 1 | 1 << DIRECTIVE);
    page.u8(32, 1 | 1 << DIRECTIVE);
    page.u8(64, 1 << DIRECTIVE);
    let mut bytes = page.into_bytes();
    bytes.truncate(length);
    Ok(bytes)
}

/// The logs of an endurance group.
pub mod log {
    pub const CONFIGURATIONS: u8 = 0x20;
    pub const USAGE: u8 = 0x21;
    pub const STATISTICS: u8 = 0x22;
    pub const EVENTS: u8 = 0x23;
    pub const ALL: [u8; 4] = [CONFIGURATIONS, USAGE, STATISTICS, EVENTS];
}

/// A log of the group.
pub fn whole_log(command: &Command, subject: &Subject) -> Result<Vec<u8>, Status> {
    let handles = of(subject)?.handles();
    if command.number_at(46) != GROUP {
        return Err(Status::INVALID_FIELD);
    }
    let fdp = figures(subject)?;
    match command.dword(10) as u8 {
        log::CONFIGURATIONS => configurations(&fdp, handles),
        log::USAGE => Ok(usage(&fdp)),
        log::STATISTICS => Ok(statistics(&fdp)),
        _ if command.dword(10) >> 8 & 1 != 0 => events(fdp.host_events, subject),
        _ => events(fdp.events, subject),
    }
}

fn figures(subject: &Subject) -> Result<Fdp, Status> {
    (subject.health)().ok().and_then(|health| health.fdp).ok_or(Status::INTERNAL)
}

fn configurations(fdp: &Fdp, handles: Handles) -> Result<Vec<u8>, Status> {
    let [only] = &fdp.configs.configs[..] else { return Err(Status::INTERNAL) };
    let size = 64 + 4 * only.ruhs.len();
    let mut page = Page::new(16 + size);
    // One configuration, counted from 0, of this log's first version.
    page.u32(4, 16 + size as u32);
    page.u16(16, size as u16);
    page.u8(18, only.fdpa);
    page.u32(20, only.nrg);
    page.u16(24, only.nruh);
    // MAXPIDS, counted from 0.
    page.u16(26, u16::from(handles.identifiers()) - 1);
    page.u32(28, only.nnss);
    page.u64(32, only.runs);
    page.u32(40, only.erutl);
    for (index, handle) in only.ruhs.iter().enumerate() {
        page.u8(80 + 4 * index, handle.ruht);
    }
    Ok(page.into_bytes())
}

fn usage(fdp: &Fdp) -> Vec<u8> {
    let handles = &fdp.usage.ruhus;
    let mut page = Page::new(8 + 8 * handles.len());
    page.u16(0, handles.len() as u16);
    for (index, handle) in handles.iter().enumerate() {
        page.u8(8 + 8 * index, handle.ruha);
    }
    page.into_bytes()
}

fn statistics(fdp: &Fdp) -> Vec<u8> {
    let mut page = Page::new(64);
    page.u128(0, fdp.stats.hbmw);
    page.u128(16, fdp.stats.mbmw);
    page.u128(32, fdp.stats.mbe);
    page.into_bytes()
}

fn events(events: Option<Events>, subject: &Subject) -> Result<Vec<u8>, Status> {
    const EVENT_BYTES: usize = 64;
    let events = events.ok_or(Status::INTERNAL)?.events;
    let mut page = Page::new(EVENT_BYTES * (1 + events.len()));
    page.u32(0, events.len() as u32);
    for (index, event) in events.iter().enumerate() {
        let at = EVENT_BYTES * (1 + index);
        let Event { event_type, fdpef, pid, nsid, nlbam, rgid, ruhid } = *event;
        page.u8(at, event_type);
        page.u8(at + 1, fdpef);
        page.u16(at + 2, pid);
        page.u32(at + 12, nsid);
        let blocks = nlbam.unwrap_or(0) * subject.blocks_per_unit();
        page.u16(at + 18, blocks.min(u64::from(u16::MAX)) as u16);
        page.u16(at + 32, rgid.unwrap_or(0));
        page.u8(at + 34, ruhid.unwrap_or(0));
    }
    Ok(page.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_has_the_group_in_its_upper_bits() {
        let one = Handles { handles: 8, ..Handles::default() };
        assert_eq!((split(7, one), joined(7, 0, one)), ((7, 0), 7));
        let three = Handles { reclaim_groups: 3, ..one };
        assert_eq!((split(0x8005, three), joined(5, 2, three)), ((5, 2), 0x8005));
        let namespace = Namespace { start_bytes: 0, size_bytes: 4096, handles: vec![4, 2] };
        assert_eq!(find(0x8001, 1, &namespace, three), Ok((1, 2)));
        for missing in [0x8002, 0xc000] {
            assert_eq!(
                find(missing, 1, &namespace, three),
                Err(Named { namespace: 1, identifier: missing, handle: 4 })
            );
        }
    }
}
