//! Flexible data placement: where directed writes go, what the logs say of it, and what the host can change.

use super::checks::with_handles;
use super::initiator::{Entry, Host};
use super::{
    INVALID_FIELD, INVALID_OPCODE, READ, WRITE, agrees_with_a_model, commands, device_of, served_with, u16_at, u32_at,
    u64_at, unprotected,
};
use crate::tiny::{Tiny, UNIT};
use ssdlab_blockdev::drive::{Command, Options, Pace, SimulatedDevice};
use ssdlab_blockdev::nvme::{
    Configuration, Configurations, Event, Events, Fdp, HandleStatus, HandleStatuses, HandleType, HandleUsage, Health,
    Host as HostBytes, Server, Statistics, Usage,
};
use ssdlab_engine::specification::Drive;
use std::sync::Arc;

const RECEIVE: u8 = 0x12;
const SEND: u8 = 0x1d;
const INVALID_LOG: u16 = 0x109;
const COMMAND_SEQUENCE: u16 = 0x0c;
/// Of the tiny drive.
const UNITS_PER_ERASE_UNIT: u64 = 64;

/// The figures as the program computes them, from the same outcome.
pub fn figures(device: &Arc<SimulatedDevice>) -> Health {
    let mut core = device.core();
    let outcome = core.outcome();
    let live_units = match core.ftl().namespaces() {
        [] => vec![outcome.capacity.live_units],
        namespaces => namespaces.iter().map(|namespace| namespace.live_units).collect(),
    };
    let host_events = serde_json::to_value(core.host_events()).unwrap();
    let fdp = outcome.placement.map(|report| Fdp {
        configs: Configurations {
            configs: vec![Configuration {
                fdpa: 1 << 7,
                nrg: 1,
                nruh: report.handles.len() as u16,
                nnss: 1,
                runs: report.reclaim_unit_units * UNIT,
                erutl: 0,
                ruhs: vec![HandleType { ruht: 1 }; report.handles.len()],
            }],
        },
        usage: Usage { ruhus: vec![HandleUsage { ruha: 1 }; report.handles.len()] },
        stats: Statistics {
            hbmw: outcome.ledger.host_written_bytes,
            mbmw: outcome.ledger.programmed_units.total() * UNIT,
            mbe: outcome.ledger.erased_erase_units * UNITS_PER_ERASE_UNIT * UNIT,
        },
        status: Some(HandleStatuses {
            ruhss: report
                .handles
                .iter()
                .map(|each| HandleStatus { pid: u16::from(each.handle), ruamw: each.available_units })
                .collect(),
        }),
        events: Some(Events {
            events: report
                .events
                .iter()
                .map(|each| Event { event_type: 0x80, nlbam: Some(each.moved_units), ..Event::default() })
                .collect(),
        }),
        host_events: Some(Events {
            events: host_events["events"]
                .as_array()
                .unwrap()
                .iter()
                .map(|each| Event {
                    event_type: if each["kind"] == "invalid-identifier" { 3 } else { 0 },
                    pid: each["identifier"].as_u64().unwrap() as u16,
                    nsid: each["namespace"].as_u64().unwrap() as u32,
                    ruhid: each["handle"].as_u64().map(|handle| handle as u8),
                    ..Event::default()
                })
                .collect(),
        }),
    });
    let host =
        HostBytes { read_bytes: outcome.ledger.host_read_bytes, written_bytes: outcome.ledger.host_written_bytes };
    Health { host, live_units, fdp, ..Health::default() }
}

struct Attached {
    device: Arc<SimulatedDevice>,
    admin: Host,
    queue: Host,
    /// The last that is dropped: it waits for hosts that it has lost.
    server: Server,
}

fn attached(drive: &Drive, options: &Options) -> Attached {
    let device = device_of(drive, options);
    let server = served_with(&device, drive, figures);
    let admin = Host::admin(&server, 0).unwrap();
    let queue = admin.queue(&server, 1, 0).unwrap();
    Attached { device, admin, queue, server }
}

impl Attached {
    fn write(&mut self, namespace: u32, block: u64, directive: Option<u16>) -> u16 {
        let entry = Entry::new(WRITE, namespace).blocks(block, 1);
        let entry = match directive {
            Some(identifier) => entry.dword(12, 2 << 20).dword(13, u32::from(identifier) << 16),
            None => entry,
        };
        self.queue.round(entry, &vec![block as u8; UNIT as usize], 0).unwrap().status
    }

    /// By placement identifier: the handle, and the blocks that can still be written.
    fn status(&mut self, namespace: u32) -> Vec<(u16, u64)> {
        let entry = Entry::new(RECEIVE, namespace).dword(10, 1).dword(11, 1023);
        let data = self.queue.round(entry, &[], 4096).unwrap().data;
        let descriptor = |index: usize| &data[16 + 32 * index..][..32];
        let count = usize::from(u16_at(&data, 14));
        let of = |index: usize| {
            assert_eq!(usize::from(u16_at(descriptor(index), 0)), index);
            (u16_at(descriptor(index), 2), u64_at(descriptor(index), 8))
        };
        (0..count).map(of).collect()
    }

    fn leave(&mut self, namespace: u32, identifiers: &[u16]) -> u16 {
        let data: Vec<u8> = identifiers.iter().flat_map(|identifier| identifier.to_le_bytes()).collect();
        let entry = Entry::new(SEND, namespace).dword(10, 1 | (identifiers.len() as u32 - 1) << 16);
        self.queue.round(entry, &data, 0).unwrap().status
    }

    fn log(&mut self, number: u32, specific: u32) -> Vec<u8> {
        let entry = Entry::new(2, 0).dword(10, number | specific << 8 | 1023 << 16).dword(11, 1 << 16);
        let answer = self.admin.round(entry, &[], 4096).unwrap();
        assert_eq!(answer.status, 0);
        answer.data
    }

    /// Types and identifiers of the host's events.
    fn host_events(&mut self) -> Vec<(u8, u16)> {
        let page = self.log(0x23, 1);
        let event = |index: usize| (page[64 * index], u16_at(&page, 64 * index + 2));
        (1..=u32_at(&page, 0) as usize).map(event).collect()
    }
}

#[test]
fn directed_writes_go_to_the_handles_that_they_name() {
    let mut host = attached(&with_handles(false), &Options::default());
    let controller = host.admin.identify(1, 0).unwrap().data;
    assert_eq!(u32_at(&controller, 96) & (1 << 4 | 1 << 19), 1 << 4 | 1 << 19);
    assert_eq!((u16_at(&controller, 256) & 1 << 5, u16_at(&controller, 340)), (1 << 5, 1));
    assert_eq!(u16_at(&host.admin.identify(0, 1).unwrap().data, 102), 1);
    assert_eq!(u16_at(&host.admin.identify(8, 1).unwrap().data, 12), 1);
    assert_eq!(host.admin.identify(0x19, 0).unwrap().data[..4], [1, 0, 1, 0]);
    let whole = UNITS_PER_ERASE_UNIT;
    assert_eq!(host.status(1), [(0, whole), (1, whole), (2, whole)]);
    for block in 0..30 {
        let directive = [None, Some(1), Some(2)][(block % 3) as usize];
        assert_eq!(host.write(1, block, directive), 0);
    }
    for block in 30..35 {
        assert_eq!(host.write(1, block, Some(2)), 0);
    }
    assert_eq!(host.status(1), [(0, whole - 10), (1, whole - 10), (2, whole - 15)]);
    let configurations = host.log(0x20, 0);
    assert_eq!((u16_at(&configurations, 0), u32_at(&configurations, 4)), (0, 16 + 64 + 12));
    assert_eq!((u16_at(&configurations, 24), u16_at(&configurations, 26)), (3, 2));
    assert_eq!((u64_at(&configurations, 32), configurations[80]), (whole * UNIT, 1));
    let usage = host.log(0x21, 0);
    assert_eq!((u16_at(&usage, 0), usage[8], usage[16], usage[24]), (3, 1, 1, 1));
    let statistics = host.log(0x22, 0);
    let ledger = host.device.outcome().ledger;
    assert_eq!((u64_at(&statistics, 0), ledger.host_written_bytes), (35 * UNIT, 35 * UNIT));
    assert_eq!(u64_at(&statistics, 16), ledger.programmed_units.total() * UNIT);
    // Thousands of millions of bytes, rounded up.
    assert_eq!(u64_at(&host.log(9, 0), 64), 1);
    assert!(host.host_events().is_empty());
}

#[test]
fn an_identifier_that_does_not_exist_is_written_to_the_first_handle_and_recorded() {
    let mut host = attached(&with_handles(false), &Options::default());
    assert_eq!(host.write(1, 0, Some(3)), 0);
    assert_eq!(host.status(1)[0].1, UNITS_PER_ERASE_UNIT - 1);
    assert_eq!(host.host_events(), [(3, 3)]);
    // Which events are recorded is a feature of each handle.
    let events = |host: &mut Host| {
        let entry = Entry::new(10, 1).dword(10, 0x1e).dword(11, 4 << 16);
        let answer = host.round(entry, &[], 8).unwrap();
        (answer.status, answer.result, answer.data)
    };
    assert_eq!(events(&mut host.admin), (0, 4, vec![0, 1, 3, 1, 0x80, 1, 0x81, 1]));
    let disable = |types: &[u8]| Entry::new(9, 1).dword(10, 0x1e).dword(11, (types.len() as u32) << 16);
    assert_eq!(host.admin.round(disable(&[3, 0x80]), &[3, 0x80], 0).unwrap().status, 0);
    assert_eq!(events(&mut host.admin), (0, 4, vec![0, 1, 3, 0, 0x80, 0, 0x81, 1]));
    assert_eq!(host.admin.round(disable(&[1]), &[1], 0).unwrap().status, INVALID_FIELD);
    assert_eq!(host.write(1, 0, Some(99)), 0);
    assert_eq!(host.host_events(), [(3, 3)]);
    // Another type of directive is none that the drive has.
    let streams = Entry::new(WRITE, 1).blocks(0, 1).dword(12, 1 << 20);
    assert_eq!(host.queue.round(streams, &[0; UNIT as usize], 0).unwrap().status, INVALID_FIELD);
}

#[test]
fn a_handle_that_leaves_its_reclaim_unit_writes_to_the_next() {
    let mut host = attached(&with_handles(false), &Options::default());
    // An empty one is not left.
    assert_eq!(host.leave(1, &[1]), 0);
    assert!(host.host_events().is_empty());
    for block in 0..7 {
        assert_eq!(host.write(1, block, Some(1)), 0);
    }
    assert_eq!(host.leave(1, &[0, 1]), 0);
    assert_eq!(host.host_events(), [(0, 1)]);
    assert_eq!(host.write(1, 7, Some(1)), 0);
    assert_eq!(host.status(1)[1].1, UNITS_PER_ERASE_UNIT - 1);
    let programmed = host.device.outcome().ledger.programmed_units;
    assert_eq!((programmed.host, programmed.padding), (8, UNITS_PER_ERASE_UNIT - 7));
    // All or none.
    assert_eq!(host.leave(1, &[1, 3]), INVALID_FIELD);
    assert_eq!(host.status(1)[1].1, UNITS_PER_ERASE_UNIT - 1);
    let read = host.queue.round(Entry::new(READ, 1).blocks(0, 8), &[], 8 * UNIT as usize).unwrap().data;
    assert!(read.chunks(UNIT as usize).zip(0..).all(|(unit, block)| unit == vec![block; UNIT as usize]));
}

#[test]
fn the_configuration_is_fixed() {
    let mut host = attached(&with_handles(false), &Options::default());
    let ask = |opcode: u8, group: u32| Entry::new(opcode, 0).dword(10, 0x1d).dword(11, group).dword(12, 1);
    let answer = host.admin.round(ask(10, 1), &[], 0).unwrap();
    assert_eq!((answer.status, answer.result), (0, 1));
    assert_eq!(host.admin.round(ask(10, 2), &[], 0).unwrap().status, INVALID_FIELD);
    assert_eq!(host.admin.round(ask(9, 1), &[], 0).unwrap().status, COMMAND_SEQUENCE);
    let directives = Entry::new(0x1a, 1).dword(10, 1023).dword(11, 1);
    let page = host.admin.round(directives, &[], 4096).unwrap().data;
    assert_eq!((page[0], page[32], page[64]), (5, 5, 4));
}

#[test]
fn a_drive_without_handles_knows_nothing_of_them() {
    let mut host = attached(&Tiny::default().drive(), &Options::default());
    assert_eq!(u32_at(&host.admin.identify(1, 0).unwrap().data, 96) & (1 << 4 | 1 << 19), 0);
    assert_eq!(host.write(1, 0, Some(0)), INVALID_FIELD);
    let receive = Entry::new(RECEIVE, 1).dword(10, 1).dword(11, 3);
    assert_eq!(host.queue.round(receive, &[], 16).unwrap().status, INVALID_OPCODE);
    let log = Entry::new(2, 0).dword(10, 0x22 | 15 << 16).dword(11, 1 << 16);
    assert_eq!(host.admin.round(log, &[], 64).unwrap().status, INVALID_LOG);
    for feature in [0x1d, 0x1e] {
        let get = Entry::new(10, 1).dword(10, feature).dword(11, 1);
        assert_eq!(host.admin.round(get, &[], 0).unwrap().status, INVALID_FIELD);
    }
}

/// A new translation layer, after a loss of power, continues the handles' reclaim units, and records what it should.
#[test]
fn handles_outlive_a_loss_of_power() {
    let mut host = attached(&with_handles(false), &unprotected());
    for round in 0..3_u64 {
        for block in 0..20 {
            assert_eq!(host.write(1, 20 * round + block, Some(2)), 0);
        }
        assert_eq!(host.queue.round(Entry::new(0, 1), &[], 0).unwrap().status, 0);
        let status = host.status(1);
        assert!(status.iter().all(|&(_, left)| left <= UNITS_PER_ERASE_UNIT), "{status:?}");
        host.device.carry_out(&Command::CutPower).unwrap();
        assert!(host.queue.round(Entry::new(0, 1), &[], 0).is_err(), "the connection ends with the power");
        host.admin = Host::admin(&host.server, 0).unwrap();
        host.queue = host.admin.queue(&host.server, 1, 0).unwrap();
    }
    host.device.core().ftl().check_accounts().unwrap();
    host.device.core().ftl().check_map().unwrap();
}

#[test]
fn random_directed_commands_agree_with_a_model() {
    for (persistently_isolated, pace, options) in [
        (false, Pace::Virtual, Options::default()),
        (true, Pace::Virtual, unprotected()),
        (false, Pace::Real, Options::default()),
    ] {
        let drive = with_handles(persistently_isolated);
        let count = if pace == Pace::Real { 1_000 } else { commands(5_000) };
        agrees_with_a_model(&drive, &Options { pace, ..options }, 0, count, 6);
    }
}
