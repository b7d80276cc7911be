//! What a target presents: the drive's names, sizes and figures.

use super::Health;
use crate::device::Capabilities;
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

/// The drive of a target.
pub struct Subject {
    pub identity: Identity,
    pub capabilities: Capabilities,
    pub health: Box<dyn Fn() -> Result<Health, String> + Send>,
}

impl Subject {
    pub fn block_bytes(&self) -> u64 {
        let unit_bytes = self.capabilities.unit_bytes;
        u64::from(if unit_bytes.is_multiple_of(BLOCK_BYTES) { BLOCK_BYTES } else { BLOCK_BYTES_MIN })
    }

    pub fn are_whole_units(&self, range: &Range<u64>) -> bool {
        let unit_bytes = u64::from(self.capabilities.unit_bytes);
        self.capabilities.trims && range.start.is_multiple_of(unit_bytes) && range.end.is_multiple_of(unit_bytes)
    }

    pub fn blocks(&self) -> u64 {
        self.capabilities.size_bytes / self.block_bytes()
    }
}
