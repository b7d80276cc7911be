//! A drive as a host of its NVMe front has it. A host that lost its connections with the power connects again, and
//! repeats the command.

use crate::initiator::{Entry, Host};
use crate::simulation::Operation;
use crate::tiny::UNIT;
use ssdlab_blockdev::device::{Capabilities, Device, DeviceError, Durability};
use ssdlab_blockdev::drive::{SimulatedDevice, SimulatedQueue};
use ssdlab_blockdev::nvme::{Health, Identity, Namespace, Presented, Server, serve};
use std::io;
use std::sync::{Arc, Mutex};

const FLUSH: u8 = 0;
const WRITE: u8 = 1;
const READ: u8 = 2;
const ZEROES: u8 = 8;
const DATASET: u8 = 9;
const WRITE_PROTECTED: u16 = 0x20;
const UNREADABLE: u16 = 0x281;
const TRIES: u32 = 10;

pub struct Through {
    /// The admin queue, and one for requests; ended before the server.
    connected: Mutex<Option<(Host, Host)>>,
    server: Server,
    capabilities: Capabilities,
}

/// Serves the drive to one host.
pub fn through(device: &Arc<SimulatedDevice>) -> Arc<dyn Device> {
    let capabilities = device.capabilities();
    let presented = Presented {
        identity: Identity { model: "tiny".to_owned(), unique: [1; 16] },
        namespaces: vec![Namespace { start_bytes: 0, size_bytes: capabilities.size_bytes, handles: Vec::new() }],
        placement: None,
        zones: None,
        figures: Box::new(|| Ok(Health::default())),
    };
    let server = serve(Box::new(SimulatedQueue::new(device.clone())), presented, ("127.0.0.1", 0)).unwrap();
    Arc::new(Through { connected: Mutex::new(None), server, capabilities })
}

/// The same with whole blocks.
pub fn in_blocks(operation: Operation) -> Operation {
    let whole =
        |from: u64, length: u64| (from / UNIT * UNIT, (from + length).next_multiple_of(UNIT) - from / UNIT * UNIT);
    match operation {
        Operation::Write { offset_bytes, length_bytes, contents, is_durable } => {
            let (offset_bytes, length_bytes) = whole(offset_bytes, length_bytes);
            Operation::Write { offset_bytes, length_bytes, contents, is_durable }
        }
        Operation::Trim { offset_bytes, length_bytes } => {
            let (offset_bytes, length_bytes) = whole(offset_bytes, length_bytes);
            Operation::Trim { offset_bytes, length_bytes }
        }
        Operation::Punch { offset_bytes, length_bytes } => {
            let (offset_bytes, length_bytes) = whole(offset_bytes, length_bytes);
            Operation::Punch { offset_bytes, length_bytes }
        }
        Operation::Read { offset_bytes, length_bytes } => {
            let (offset_bytes, length_bytes) = whole(offset_bytes, length_bytes);
            Operation::Read { offset_bytes, length_bytes }
        }
        other => other,
    }
}

impl Through {
    fn connect(&self) -> io::Result<(Host, Host)> {
        let admin = Host::admin(&self.server, 0)?;
        let queue = admin.queue(&self.server, 1, 0)?;
        Ok((admin, queue))
    }

    fn round(&self, entry: Entry, data: &[u8], room: usize, offset_bytes: u64) -> Result<Vec<u8>, DeviceError> {
        let mut connected = self.connected.lock().unwrap();
        // The target ends all connections when it sees that the power was lost, also one that is just being made.
        for _ in 0..TRIES {
            let Some((_, queue)) = connected.as_mut() else {
                *connected = self.connect().ok();
                continue;
            };
            let Ok(answer) = queue.round(entry, data, room) else {
                *connected = None;
                continue;
            };
            return match answer.status {
                0 => Ok(answer.data),
                WRITE_PROTECTED => Err(DeviceError::ReadOnly("write protected".to_owned())),
                UNREADABLE => Err(DeviceError::Unreadable { offset_bytes }),
                other => Err(DeviceError::Store(io::Error::other(format!("status {other:#x}")))),
            };
        }
        Err(DeviceError::PoweredOff)
    }

    fn of_blocks(opcode: u8, offset_bytes: u64, length_bytes: u64, durability: Durability) -> Entry {
        assert!(offset_bytes.is_multiple_of(UNIT) && length_bytes.is_multiple_of(UNIT) && length_bytes > 0);
        let through = if durability == Durability::Durable { 1 << 30 } else { 0 };
        let count = length_bytes / UNIT;
        Entry::new(opcode, 1).blocks(offset_bytes / UNIT, count).dword(12, (count as u32 - 1) | through)
    }
}

impl Device for Through {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn read(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        let entry = Self::of_blocks(READ, offset_bytes, into.len() as u64, Durability::Cached);
        into.copy_from_slice(&self.round(entry, &[], into.len(), offset_bytes)?);
        Ok(())
    }

    fn write(&self, offset_bytes: u64, data: &[u8], durability: Durability) -> Result<(), DeviceError> {
        let entry = Self::of_blocks(WRITE, offset_bytes, data.len() as u64, durability);
        self.round(entry, data, 0, offset_bytes).map(drop)
    }

    fn trim(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), DeviceError> {
        let mut range = [0; 16];
        range[4..8].copy_from_slice(&((length_bytes / UNIT) as u32).to_le_bytes());
        range[8..16].copy_from_slice(&(offset_bytes / UNIT).to_le_bytes());
        self.round(Entry::new(DATASET, 1).dword(11, 4), &range, 0, offset_bytes).map(drop)
    }

    fn zero(&self, offset_bytes: u64, length_bytes: u64, durability: Durability) -> Result<(), DeviceError> {
        self.round(Self::of_blocks(ZEROES, offset_bytes, length_bytes, durability), &[], 0, offset_bytes).map(drop)
    }

    fn flush(&self) -> Result<(), DeviceError> {
        self.round(Entry::new(FLUSH, 1), &[], 0, 0).map(drop)
    }
}
