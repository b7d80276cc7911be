//! A drive and its host: one of each, as most are, a plain one, whose times take less work, or several devices behind
//! one host. Which it is is asked once in many events.

use super::super::drive::{SimulatedDrive, TimedSimulatedDrive, build_timed};
use super::super::stripe::Stripe;
use crate::error::{ReadOnly, SpecificationError};
use crate::specification::Drive;
use crate::specification::drive::devices_of;
use crate::timing::front::read_counts::ReadCounts;
use crate::timing::front::{Front, StripedFront};
use crate::timing::host::{Client, Halt, Host, Plan};
use crate::timing::plain::PlainFront;

pub(in crate::simulation) enum Machine {
    Single { drive: Box<dyn TimedSimulatedDrive>, host: Box<Host<Front>> },
    Plain { drive: Box<dyn TimedSimulatedDrive>, host: Box<Host<PlainFront>> },
    Striped { drive: Stripe<dyn TimedSimulatedDrive>, host: Box<Host<StripedFront>> },
}

impl Machine {
    pub fn new(drive: &Drive, seed: u64) -> Result<Self, SpecificationError> {
        if drive.stripe.is_on() {
            return Self::striped(drive, seed);
        }
        let layer = build_timed(drive, seed)?;
        let front = Front::of(drive, &*layer)?;
        match PlainFront::of(&front).filter(|_| !drive.data_reduction.is_on()) {
            Some(plain) => Ok(Self::Plain { drive: layer, host: Box::new(Host::before(plain)) }),
            None => Ok(Self::Single { drive: layer, host: Box::new(Host::before(front)) }),
        }
    }

    pub fn striped(drive: &Drive, seed: u64) -> Result<Self, SpecificationError> {
        let stripe = Stripe::build_timed(drive, seed)?;
        let devices = devices_of(drive)?.into_iter().zip(stripe.devices());
        let fronts = devices.map(|(device, layer)| Front::of(&device, &**layer)).collect::<Result<_, _>>()?;
        let host = Box::new(Host::before(StripedFront::new(fronts, stripe.chunks())));
        Ok(Self::Striped { drive: stripe, host })
    }

    pub fn drive(&self) -> &dyn SimulatedDrive {
        match self {
            Self::Single { drive, .. } | Self::Plain { drive, .. } => &**drive,
            Self::Striped { drive, .. } => drive,
        }
    }

    pub fn drive_mut(&mut self) -> &mut dyn SimulatedDrive {
        match self {
            Self::Single { drive, .. } | Self::Plain { drive, .. } => &mut **drive,
            Self::Striped { drive, .. } => drive,
        }
    }

    pub fn start_all(&mut self, first: u32, plans: Vec<Plan>, client: &mut dyn Client) -> Result<(), ReadOnly> {
        match self {
            Self::Single { drive, host } => host.start_all(first, plans, &mut **drive, client),
            Self::Plain { drive, host } => host.start_all(first, plans, &mut **drive, client),
            Self::Striped { drive, host } => {
                let started = host.start_all(first, plans, drive, client);
                drive.note();
                started
            }
        }
    }

    pub fn advance(&mut self, events: u64, client: &mut dyn Client) -> Result<bool, Halt> {
        match self {
            Self::Single { drive, host } => host.advance(events, &mut **drive, client),
            Self::Plain { drive, host } => host.advance(events, &mut **drive, client),
            Self::Striped { drive, host } => {
                let goes_on = host.advance(events, drive, client);
                drive.note();
                goes_on
            }
        }
    }

    pub fn end_stage(&mut self) {
        match self {
            Self::Single { host, .. } => host.end_stage(),
            Self::Plain { host, .. } => host.end_stage(),
            Self::Striped { host, .. } => host.end_stage(),
        }
    }

    pub fn now_ns(&self) -> u64 {
        match self {
            Self::Single { host, .. } => host.now_ns(),
            Self::Plain { host, .. } => host.now_ns(),
            Self::Striped { host, .. } => host.now_ns(),
        }
    }

    /// The share of the time since the beginning in which the dies were at work, on average.
    pub fn die_utilization(&self) -> f64 {
        match self {
            Self::Single { host, .. } => host.front().flash().utilization(host.now_ns()),
            Self::Plain { host, .. } => host.front().utilization(host.now_ns()),
            Self::Striped { host, .. } => host.front().utilization(host.now_ns()),
        }
    }

    pub fn units_in_memory(&self) -> u64 {
        match self {
            Self::Single { host, .. } => host.front().units_in_memory(),
            // Each of its units is a program group, which is never partly filled.
            Self::Plain { .. } => 0,
            Self::Striped { host, .. } => host.front().units_in_memory(),
        }
    }

    /// Whether reads may need retries, which depend on times and counts that a saved state does not hold.
    pub fn has_read_retries(&self) -> bool {
        match self {
            Self::Single { host, .. } => host.front().flash().has_retries(),
            Self::Plain { .. } | Self::Striped { .. } => false,
        }
    }

    pub fn read_counts(&self) -> Option<ReadCounts> {
        match self {
            Self::Single { host, .. } => host.front().read_counts(),
            Self::Plain { .. } => None,
            Self::Striped { host, .. } => host.front().read_counts(),
        }
    }

    pub fn take_read_counts(&mut self) -> Option<ReadCounts> {
        match self {
            Self::Single { host, .. } => host.front_mut().take_read_counts(),
            Self::Plain { .. } => None,
            Self::Striped { host, .. } => host.front_mut().take_read_counts(),
        }
    }

    /// Requests that a job has drawn and not yet issued.
    pub fn upcoming(&self, job: u32) -> u64 {
        match self {
            Self::Single { host, .. } => host.upcoming(job),
            Self::Plain { host, .. } => host.upcoming(job),
            Self::Striped { host, .. } => host.upcoming(job),
        }
    }

    /// As `Host::keep_upcoming`.
    pub fn keep_upcoming(&mut self, job: u32, count_max: u64) -> (u64, u64) {
        match self {
            Self::Single { host, .. } => host.keep_upcoming(job, count_max),
            Self::Plain { host, .. } => host.keep_upcoming(job, count_max),
            Self::Striped { host, .. } => host.keep_upcoming(job, count_max),
        }
    }
}
