//! What must hold of the NVMe target whatever bytes a host sends: their connection ends, what it said is made of whole
//! units that the protocol has, and another host is served as before. Also the part of the target in `fuzz/`.

use crate::initiator::{Entry, Host, connect_data, connecting, opening, unit};
use crate::tiny::{Tiny, UNIT};
use ssdlab_blockdev::drive::{Options, SimulatedDevice, SimulatedQueue};
use ssdlab_blockdev::nvme::{Health, Identity, Namespace, Presented, Server, serve};
use ssdlab_blockdev::placement::Placement;
use ssdlab_blockdev::zones::Zones;
use ssdlab_engine::specification::Drive;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// The target ends a connection at once; a busy machine may take its time.
const PATIENCE: Duration = Duration::from_secs(20);

pub const ZONES: u64 = 6;
/// A zone fills one and a half erase units.
pub const ZONE_UNITS: u64 = 128;
pub const CAPACITY_UNITS: u64 = 96;
pub const OPEN_MAX: usize = 2;
pub const ACTIVE_MAX: usize = 3;

/// A drive with three handles, and room for their open erase units.
pub fn with_handles(persistently_isolated: bool) -> Drive {
    let mut drive = Tiny { blocks_per_plane: 15, ..Tiny::default() }.drive();
    let placement = serde_json::json!({
        "name": "host-streams", "identifiers": 3, "persistently_isolated": persistently_isolated
    });
    drive.ftl.placement = serde_json::from_value(placement).expect("plain settings");
    drive
}

pub fn with_zones() -> Drive {
    let tiny = Tiny { user_units: ZONES * ZONE_UNITS, placement: "single", blocks_per_plane: 20, ..Tiny::default() };
    let mut drive = tiny.drive();
    drive.zones = serde_json::from_value(serde_json::json!({
        "zone_bytes": ZONE_UNITS * UNIT, "capacity_bytes": CAPACITY_UNITS * UNIT,
        "open_max": OPEN_MAX, "active_max": ACTIVE_MAX,
    }))
    .expect("plain settings");
    drive
}

/// A drive that is served, and a host that has it attached.
struct Attached {
    server: Server,
    honest: Mutex<Host>,
}

impl Attached {
    fn new(drive: &Drive) -> Self {
        let options = Options { power_loss_protection: Some(true), ..Options::default() };
        let device = Arc::new(SimulatedDevice::new(drive, &options).map_err(|error| format!("{error:?}")).unwrap());
        let capabilities = device.core().capabilities();
        let has_handles = device.core().handles().is_some();
        let presented = Presented {
            identity: Identity { model: "tiny".to_owned(), unique: [7; 16] },
            namespaces: Namespace::all_of(drive, &capabilities),
            placement: has_handles.then(|| Box::new(device.clone()) as Box<dyn Placement>),
            zones: drive.zones.is_on().then(|| Box::new(device.clone()) as Box<dyn Zones>),
            figures: Box::new(|| Ok(Health::default())),
        };
        let server = serve(Box::new(SimulatedQueue::new(device)), presented, ("127.0.0.1", 0)).unwrap();
        let honest = Mutex::new(Host::admin(&server, 0).unwrap());
        Self { server, honest }
    }
}

/// The bytes of a connection. The first byte chooses the drive, and how far the connection has come before the others:
/// nowhere, opened, an admin queue, an I/O queue.
pub fn check(says: &[u8]) {
    static DRIVES: OnceLock<[Attached; 2]> = OnceLock::new();
    let drives = DRIVES.get_or_init(|| [Attached::new(&with_handles(false)), Attached::new(&with_zones())]);
    let Some((&choice, says)) = says.split_first() else { return };
    let Attached { server, honest } = &drives[usize::from(choice & 1)];
    let mut honest = honest.lock().unwrap();
    let mut bytes = Vec::new();
    if choice & 6 != 0 {
        bytes.extend(opening(0));
    }
    if choice & 4 != 0 {
        let (queue, controller) = if choice & 2 != 0 { (1, honest.controller) } else { (0, 0xffff) };
        let mut entry = connecting(queue, 32, 0).0;
        entry[39] = 1;
        entry[32..36].copy_from_slice(&1024u32.to_le_bytes());
        bytes.extend(unit(4, 0, &entry, &connect_data(server.nqn(), controller), 0));
    }
    bytes.extend(says);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    // The target may have closed it.
    let _ = stream.write_all(&bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut said = Vec::new();
    let ended = stream.read_to_end(&mut said);
    let is_silent = |error: &io::Error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
    assert!(!ended.as_ref().is_err_and(is_silent), "the connection was not closed");
    take_apart(&said);
    let answer = honest.round(Entry::new(6, 0).dword(10, 1), &[], 4096).unwrap();
    assert_eq!(answer.status, 0);
}

/// The last unit may be cut off by the end of the connection.
fn take_apart(mut said: &[u8]) {
    while said.len() >= 8 {
        let (kind, header) = (said[0], usize::from(said[2]));
        let length = u32::from_le_bytes(said[4..8].try_into().unwrap()) as usize;
        let expected = match kind {
            1 => 128,
            3 | 5 | 7 | 9 => 24,
            _ => panic!("a target sends no unit of kind {kind}"),
        };
        assert!(header == expected && length >= header, "{:?}", &said[..8]);
        said = &said[length.min(said.len())..];
    }
}
