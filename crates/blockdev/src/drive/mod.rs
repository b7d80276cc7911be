//! The simulated drive as a device: the engine's translation layer over flash that stores data, in simulated time.

mod arriving;
mod commands;
mod contents;
mod core;
mod extents;
mod fronts;
mod host_events;
mod memory;
mod opening;
mod pace;
mod packed;
mod phases;
mod queue;
mod recording;
mod served;
mod stored;
mod watching;
mod zoned;

pub use commands::{Command, SYNTAX};
pub use contents::{Contents, Options, Pace};
pub use core::{Core, Manner};
pub use host_events::{HostEvent, HostEventKind, HostEvents};
pub use memory::memory_of;
pub use pace::Achieved;
pub use queue::SimulatedQueue;
pub use recording::Recording;

use crate::device::{Capabilities, Device, DeviceError, Durability, Extent};
use crate::nand::Transfer;
use pace::RealPace;
use ssdlab_engine::error::SpecificationError;
use ssdlab_engine::request::Operation;
use ssdlab_engine::simulation::Outcome;
use ssdlab_engine::specification::Drive;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard};

/// The largest part of a request executed at once; longer ones (trims of a whole drive) are split.
const PIECE_BYTES_MAX: u64 = 1 << 30;

/// A simulated drive that stores data, for several callers at a time.
pub struct SimulatedDevice {
    core: Mutex<Core>,
    capabilities: Capabilities,
    /// Requests that callers wait for, and those that queues have not answered: the queue depth in simulated time.
    outstanding: AtomicU32,
    /// The number of queues so far.
    queues: AtomicU32,
    depth_given: Option<u32>,
    real_pace: Option<RealPace>,
}

impl SimulatedDevice {
    /// Opens a drive, new or from the file in `options`.
    pub fn new(drive: &Drive, options: &Options) -> Result<Self, OpenError> {
        let core = Core::new(drive, options)?;
        Ok(Self {
            capabilities: core.capabilities(),
            real_pace: (options.pace == Pace::Real).then(|| RealPace::new(core.now_ns())),
            core: Mutex::new(core),
            outstanding: AtomicU32::new(0),
            queues: AtomicU32::new(0),
            depth_given: options.queue_depth,
        })
    }

    /// For inspection and commands. No request is executed in the meantime.
    pub fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().expect("no request panics while it holds the drive")
    }

    /// The outcome of a run that ended now: phases are its jobs.
    pub fn outcome(&self) -> Outcome {
        self.core().outcome()
    }

    /// The result of real pace; None at virtual pace.
    pub fn achieved(&self) -> Option<Achieved> {
        self.real_pace.as_ref().map(RealPace::achieved)
    }

    /// Executes one request, in parts if necessary, at the observed or the given depth.
    fn execute(
        &self,
        operation: Operation,
        transfer: Transfer<'_>,
        length_bytes: u64,
        durability: Durability,
    ) -> Result<(), DeviceError> {
        let is_through = durability == Durability::Durable && self.capabilities.has_volatile_cache;
        let manner = Manner { is_through, ..Manner::default() };
        self.capabilities.check_range(transfer.offset_bytes(), length_bytes)?;
        if length_bytes == 0 {
            return Ok(());
        }
        if let Some(real_pace) = &self.real_pace {
            return real_pace.carry_out(&self.core, is_through, |core| {
                core.execute(operation, transfer, length_bytes as u32, u32::MAX, manner)
            });
        }
        let seen = self.outstanding.fetch_add(1, Ordering::Relaxed) + 1;
        let depth = self.depth_given.unwrap_or(seen);
        let answer = self.core().execute(operation, transfer, length_bytes as u32, depth, manner);
        self.outstanding.fetch_sub(1, Ordering::Relaxed);
        answer
    }
}

/// Why a drive cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// The drive is impossible.
    Specification(SpecificationError),
    /// Its file cannot be used.
    Store(std::io::Error),
}

impl From<SpecificationError> for OpenError {
    fn from(error: SpecificationError) -> Self {
        Self::Specification(error)
    }
}

impl From<std::io::Error> for OpenError {
    fn from(error: std::io::Error) -> Self {
        Self::Store(error)
    }
}

fn pieces(offset_bytes: u64, length_bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let end = offset_bytes + length_bytes;
    (offset_bytes..end).step_by(PIECE_BYTES_MAX as usize).map(move |from| (from, (end - from).min(PIECE_BYTES_MAX)))
}

impl Device for SimulatedDevice {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn read(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        let length_bytes = into.len() as u64;
        self.execute(Operation::Read, Transfer::Read { offset_bytes, into }, length_bytes, Durability::Cached)
    }

    fn write(&self, offset_bytes: u64, data: &[u8], durability: Durability) -> Result<(), DeviceError> {
        self.execute(Operation::Write, Transfer::Write { offset_bytes, data }, data.len() as u64, durability)
    }

    fn trim(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), DeviceError> {
        self.capabilities.check_range(offset_bytes, length_bytes)?;
        for (offset_bytes, length_bytes) in pieces(offset_bytes, length_bytes) {
            let zeroes = Transfer::Zero { offset_bytes, length_bytes };
            self.execute(Operation::Trim, zeroes, length_bytes, Durability::Cached)?;
        }
        Ok(())
    }

    fn zero(&self, offset_bytes: u64, length_bytes: u64, durability: Durability) -> Result<(), DeviceError> {
        self.capabilities.check_range(offset_bytes, length_bytes)?;
        for (offset_bytes, length_bytes) in pieces(offset_bytes, length_bytes) {
            let zeroes = Transfer::Zero { offset_bytes, length_bytes };
            self.execute(Operation::Write, zeroes, length_bytes, durability)?;
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), DeviceError> {
        match &self.real_pace {
            Some(real_pace) => real_pace.carry_out(&self.core, true, Core::flush),
            None => self.core().flush(),
        }
    }

    fn extents(&self, offset_bytes: u64, length_bytes: u64, extents_max: usize) -> Result<Vec<Extent>, DeviceError> {
        self.capabilities.check_range(offset_bytes, length_bytes)?;
        Ok(extents::of(&mut self.core(), offset_bytes, length_bytes, extents_max))
    }
}
