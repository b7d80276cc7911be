//! What a target presents: the drive's names, sizes and figures.

use super::Health;
use super::status::Status;
use super::zones;
use crate::device::Capabilities;
use crate::placement::Placement;
use crate::zones::Zones;
use ssdlab_engine::specification::Drive;
use ssdlab_engine::specification::drive::handles_of;
use std::ops::Range;

/// A block of Linux is at most a page, and every drive of the catalogue has units of 4 KiB or multiples of it.
const BLOCK_BYTES: u32 = 4096;
/// The smallest block that NVMe allows.
const BLOCK_BYTES_MIN: u32 = 512;

/// A drive's names: they differ between drives, and stay with a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The name of the drive.
    pub model: String,
    /// A random number that the drive keeps.
    pub unique: [u8; 16],
}

impl Identity {
    /// The name of a namespace, counted from 1. The first has the drive's number.
    pub(super) fn of_namespace(&self, id: u32) -> Self {
        let mut identity = self.clone();
        for (byte, other) in identity.unique[12..].iter_mut().zip((id - 1).to_be_bytes()) {
            *byte ^= other;
        }
        identity
    }

    /// The name of the subsystem, from its UUID.
    pub fn nqn(&self) -> String {
        format!("nqn.2014-08.org.nvmexpress:uuid:{}", self.uuid_text())
    }

    /// The number as a random UUID (RFC 9562, version 4).
    pub(super) fn uuid(&self) -> [u8; 16] {
        let mut uuid = self.unique;
        uuid[6] = uuid[6] & 0x0f | 0x40;
        uuid[8] = uuid[8] & 0x3f | 0x80;
        uuid
    }

    fn uuid_text(&self) -> String {
        let hex = hex(&self.uuid());
        let part = |from: usize, to: usize| &hex[from..to];
        format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
    }

    /// A serial number.
    pub(super) fn serial(&self) -> String {
        hex(&self.unique[..10])
    }

    /// A random number in place of one that a manufacturer would have registered.
    pub(super) fn eui64(&self) -> [u8; 8] {
        self.unique[8..].try_into().expect("half of the number")
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A range of the drive that hosts see as a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Its beginning on the drive.
    pub start_bytes: u64,
    /// Its size.
    pub size_bytes: u64,
    /// The drive's handle for each of its placement identifiers; empty on a drive without handles.
    pub handles: Vec<u8>,
}

impl Namespace {
    /// The only namespace of a drive without a list of them.
    pub fn whole(capabilities: &Capabilities) -> Self {
        Self { start_bytes: 0, size_bytes: capabilities.size_bytes, handles: Vec::new() }
    }

    /// The namespaces of a drive, or the whole of it as one.
    pub fn all_of(drive: &Drive, capabilities: &Capabilities) -> Vec<Self> {
        let every_handle = 0..handles_of(&drive.ftl.placement).map_or(0, |handles| handles.handles);
        let handles = |given: &[u8]| if given.is_empty() { every_handle.clone().collect() } else { given.to_vec() };
        if drive.namespaces.is_empty() {
            return vec![Self { handles: handles(&[]), ..Self::whole(capabilities) }];
        }
        let mut start_bytes = 0;
        let placed = drive.namespaces.iter().map(|namespace| {
            let size_bytes = namespace.size_bytes;
            let placed = Self { start_bytes, size_bytes, handles: handles(&namespace.placement_handles) };
            start_bytes += size_bytes;
            placed
        });
        placed.collect()
    }
}

/// The drive of a target.
pub struct Subject {
    pub identity: Identity,
    pub capabilities: Capabilities,
    /// Numbered from 1.
    pub namespaces: Vec<Namespace>,
    pub placement: Option<Box<dyn Placement>>,
    pub zones: Option<Box<dyn Zones>>,
    pub health: Box<dyn Fn() -> Result<Health, String> + Send>,
}

/// All namespaces.
pub const EVERY_NAMESPACE: u32 = u32::MAX;

impl Subject {
    pub fn block_bytes(&self) -> u64 {
        let unit_bytes = self.capabilities.unit_bytes;
        u64::from(if unit_bytes.is_multiple_of(BLOCK_BYTES) { BLOCK_BYTES } else { BLOCK_BYTES_MIN })
    }

    /// The command set of the namespaces.
    pub fn command_set(&self) -> u8 {
        if self.zones.is_some() { zones::COMMAND_SET } else { 0 }
    }

    pub fn are_whole_units(&self, range: &Range<u64>) -> bool {
        let unit_bytes = u64::from(self.capabilities.unit_bytes);
        self.capabilities.trims && range.start.is_multiple_of(unit_bytes) && range.end.is_multiple_of(unit_bytes)
    }

    pub fn blocks_per_unit(&self) -> u64 {
        (u64::from(self.capabilities.unit_bytes) / self.block_bytes()).max(1)
    }

    pub fn blocks(&self, namespace: &Namespace) -> u64 {
        namespace.size_bytes / self.block_bytes()
    }

    /// A namespace that is there.
    pub fn namespace(&self, id: u32) -> Result<&Namespace, Status> {
        let index = (id as usize).checked_sub(1).ok_or(Status::INVALID_NAMESPACE)?;
        self.namespaces.get(index).ok_or(Status::INVALID_NAMESPACE)
    }

    /// The bytes of a namespace, or of all.
    pub fn extent(&self, id: u32) -> Result<Range<u64>, Status> {
        let of = |namespace: &Namespace| namespace.start_bytes..namespace.start_bytes + namespace.size_bytes;
        match id {
            EVERY_NAMESPACE => Ok(0..self.namespaces.last().map_or(0, |last| of(last).end)),
            _ => self.namespace(id).map(of),
        }
    }
}
