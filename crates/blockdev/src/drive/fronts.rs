//! The engine's front end of the served drive, with one device or several.

use super::served::Served;
use super::stored::Stored;
use ssdlab_engine::error::{ReadOnly, SpecificationError};
use ssdlab_engine::simulation::Stripe;
use ssdlab_engine::timing::front::read_counts::ReadCounts;
use ssdlab_engine::timing::front::{Front, Intake, Stepped, StripedFront, Submission};

/// The devices of a drive; most have one.
pub type Devices = Stripe<Stored>;

pub enum ServedFront {
    Single(Box<Front>),
    Striped(Box<StripedFront>),
}

impl ServedFront {
    /// Errors name the key of the drive, its value and what is allowed.
    pub fn above(devices: &Devices) -> Result<Self, SpecificationError> {
        let of_device = |device: &Stored| Front::of(&device.drive, &*device.ftl);
        if let [device] = devices.devices() {
            return Ok(Self::Single(Box::new(of_device(device)?)));
        }
        let fronts = devices.devices().iter().map(|device| of_device(device)).collect::<Result<_, _>>()?;
        Ok(Self::Striped(Box::new(StripedFront::new(fronts, devices.chunks()))))
    }

    /// Starts at a given time.
    pub fn since(self, now_ns: u64) -> Self {
        match self {
            Self::Single(front) => Self::Single(Box::new(front.since(now_ns))),
            Self::Striped(front) => Self::Striped(Box::new(front.since(now_ns))),
        }
    }

    /// The tag that the devices receive for their parts of the next request, which has this tag.
    pub fn tag_of_parts(&self, tag: u32) -> u32 {
        match self {
            Self::Single(_) => tag,
            Self::Striped(front) => front.next_tag_of_parts(),
        }
    }

    pub fn submit(
        &mut self,
        submission: Submission,
        devices: &mut Devices,
        served: &mut Served,
    ) -> Result<(), ReadOnly> {
        match self {
            Self::Single(front) => front.submit(submission, &mut *devices.devices_mut()[0], served),
            Self::Striped(front) => {
                front.submit(submission, devices, served)?;
                front.settle(devices, served)
            }
        }
    }

    /// Processes the next event, unless it is at `until_ns` or later.
    pub fn step(&mut self, until_ns: u64, devices: &mut Devices, served: &mut Served) -> Result<Stepped, ReadOnly> {
        match self {
            Self::Single(front) => front.step(until_ns, 1, &mut *devices.devices_mut()[0], served),
            Self::Striped(front) => front.step(until_ns, 1, devices, served),
        }
    }

    /// Performs operations that a device decided on by itself, for which no request waits.
    pub fn carry_out(&mut self, device: usize, stored: &mut Stored) {
        let decisions = std::mem::take(&mut stored.decided);
        match self {
            Self::Single(front) => front.carry_out(&decisions),
            Self::Striped(front) => front.carry_out(device, &decisions),
        }
    }

    pub fn come_to(&mut self, now_ns: u64) {
        match self {
            Self::Single(front) => front.come_to(now_ns),
            Self::Striped(front) => front.come_to(now_ns),
        }
    }

    pub fn now_ns(&self) -> u64 {
        match self {
            Self::Single(front) => front.now_ns(),
            Self::Striped(front) => front.now_ns(),
        }
    }

    /// When the next event happens, if any is pending.
    pub fn next_event_ns(&self) -> Option<u64> {
        match self {
            Self::Single(front) => front.next_event_ns(),
            Self::Striped(front) => front.next_event_ns(),
        }
    }

    pub fn outstanding(&self) -> u32 {
        match self {
            Self::Single(front) => front.outstanding(),
            Self::Striped(front) => front.outstanding(),
        }
    }

    /// The mean share of the time since the start in which the dies were busy.
    pub fn die_utilization(&self) -> f64 {
        match self {
            Self::Single(front) => front.flash().utilization(front.now_ns()),
            Self::Striped(front) => front.utilization(front.now_ns()),
        }
    }

    pub fn read_counts(&self) -> Option<ReadCounts> {
        match self {
            Self::Single(front) => front.read_counts(),
            Self::Striped(front) => front.read_counts(),
        }
    }

    pub fn take_read_counts(&mut self) -> Option<ReadCounts> {
        match self {
            Self::Single(front) => front.take_read_counts(),
            Self::Striped(front) => front.take_read_counts(),
        }
    }
}
