//! Requests in flight: a queue beside the synchronous device. Whoever serves it submits as the host sends, and gets
//! what has completed; one thread is enough for any depth.

use crate::device::{Capabilities, Device, DeviceError, Durability};
use ssdlab_engine::error::ZoneStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A request. Its data is not kept: a write's is taken, and a read's is filled in, at submission.
#[derive(Debug)]
#[allow(missing_docs, reason = "as the methods of `Device`")]
pub enum Asked<'a> {
    Read {
        offset_bytes: u64,
        into: &'a mut [u8],
    },
    /// `identifier` is the drive's placement identifier; 0 for none.
    Write {
        offset_bytes: u64,
        data: &'a [u8],
        durability: Durability,
        identifier: u8,
    },
    Trim {
        offset_bytes: u64,
        length_bytes: u64,
    },
    Zero {
        offset_bytes: u64,
        length_bytes: u64,
        durability: Durability,
    },
    Flush,
    /// A write at the write pointer of the zone that begins at `zone_bytes`. Its result says where it was.
    Append {
        zone_bytes: u64,
        data: &'a [u8],
        durability: Durability,
    },
    /// Makes a zone empty; only on a drive with zones.
    Reset {
        zone: u32,
    },
}

/// The longest trim, and the longest range of zeroes, of one request.
pub const REQUEST_BYTES_MAX: u64 = 1 << 30;

/// A completed request: the tag of its submission, and its result. Of an append that is the address of its data; of other
/// requests it is 0.
pub type Completed = (u64, Result<u64, DeviceError>);

/// A device with requests in flight.
pub trait Queue: Send {
    /// Its properties, which never change.
    fn capabilities(&self) -> Capabilities;
    /// Makes a request. A range that exceeds the device, or `REQUEST_BYTES_MAX`, is refused as `PastTheEnd`.
    fn submit(&mut self, tag: u64, asked: Asked<'_>);
    /// Appends what has completed since the last call, in order of completion.
    fn completed(&mut self, into: &mut Vec<Completed>);
    /// When something that was submitted may complete next, or completed without being reported; None if nothing is in
    /// flight.
    fn next_event(&self) -> Option<Instant>;
    /// The number of times that power returned. Requests in flight at a loss of power complete as `PoweredOff`.
    fn power_cycles(&self) -> u64;
}

impl dyn Queue {
    /// Whether something may have completed by now.
    pub fn is_due(&self) -> bool {
        self.is_due_by(Instant::now())
    }

    /// Whether something may have completed by a moment.
    pub fn is_due_by(&self, moment: Instant) -> bool {
        self.next_event().is_some_and(|next| next <= moment)
    }

    /// How long to sleep until something may complete, less the time that is spun; None if nothing is in flight.
    pub fn until_next(&self) -> Option<Duration> {
        self.next_event().map(|moment| moment.saturating_duration_since(Instant::now()).saturating_sub(SPUN))
    }
}

/// Sleeping is not accurate below this, even in a thread that called `sleep_exactly`.
pub const SPUN: Duration = Duration::from_micros(40);

/// What completes within this time of another is answered together with it: sending an answer takes longer, and what
/// completes meanwhile waits for that.
pub const GATHERED: Duration = Duration::from_micros(10);

/// Has the sleeps of this thread end when they should. By default Linux lets them be 50 us late (`prctl(2)`,
/// `PR_SET_TIMERSLACK`).
pub fn sleep_exactly() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_timerslack(1);
}

/// A queue of any device: every request is executed when it is submitted.
pub struct Immediate {
    device: Arc<dyn Device>,
    completed: Vec<Completed>,
}

impl Immediate {
    /// A queue of this device.
    pub fn new(device: Arc<dyn Device>) -> Self {
        Self { device, completed: Vec::new() }
    }
}

impl Queue for Immediate {
    fn capabilities(&self) -> Capabilities {
        self.device.capabilities()
    }

    fn submit(&mut self, tag: u64, asked: Asked<'_>) {
        let done = match asked {
            Asked::Read { offset_bytes, into } => self.device.read(offset_bytes, into),
            Asked::Write { offset_bytes, data, durability, .. } => self.device.write(offset_bytes, data, durability),
            Asked::Trim { offset_bytes, length_bytes } => self.device.trim(offset_bytes, length_bytes),
            Asked::Zero { offset_bytes, length_bytes, durability } => {
                self.device.zero(offset_bytes, length_bytes, durability)
            }
            Asked::Flush => self.device.flush(),
            Asked::Append { .. } | Asked::Reset { .. } => {
                Err(DeviceError::Zone(ZoneStatus::InvalidZoneOperationRequest))
            }
        };
        self.completed.push((tag, done.map(|()| 0)));
    }

    fn completed(&mut self, into: &mut Vec<Completed>) {
        into.append(&mut self.completed);
    }

    fn next_event(&self) -> Option<Instant> {
        None
    }

    fn power_cycles(&self) -> u64 {
        0
    }
}
