//! Several translation layers as one drive: the host's requests are divided among them, and their results are combined.
//! The clock of such a drive is `timing::front::StripedFront`.

#[cfg(test)]
mod tests;

use super::drive::{SimulatedDrive, TimedSimulatedDrive, build, build_timed};
use crate::chunks::Chunks;
use crate::error::{Refused, SpecificationError};
use crate::ftl::picture::{CellsBy, Close, Marks, Pictured};
use crate::ftl::{Capacity, EraseCounts, Spread, StateError, Wear};
use crate::ledger::Ledger;
use crate::request::Request;
use crate::specification::Drive;
use crate::specification::drive::devices_of;
use crate::timing::drive::TimedDrive;
use crate::timing::front::Devices;
use std::io::{Read, Write};

/// A device of a stripe: a translation layer, or something built on one.
pub trait StripeDevice: Send {
    /// The translation layer.
    fn layer(&self) -> &dyn SimulatedDrive;
    /// The translation layer, to be changed.
    fn layer_mut(&mut self) -> &mut dyn SimulatedDrive;
}

/// A device with a clock, as the front end above it uses it.
pub trait TimedStripeDevice: StripeDevice {
    /// The device with its clock.
    fn timed(&self) -> &dyn TimedDrive;
    /// The device with its clock, to be changed.
    fn timed_mut(&mut self) -> &mut dyn TimedDrive;
}

impl StripeDevice for dyn SimulatedDrive {
    fn layer(&self) -> &dyn SimulatedDrive {
        self
    }

    fn layer_mut(&mut self) -> &mut dyn SimulatedDrive {
        self
    }
}

impl StripeDevice for dyn TimedSimulatedDrive {
    fn layer(&self) -> &dyn SimulatedDrive {
        self
    }

    fn layer_mut(&mut self) -> &mut dyn SimulatedDrive {
        self
    }
}

impl TimedStripeDevice for dyn TimedSimulatedDrive {
    fn timed(&self) -> &dyn TimedDrive {
        self
    }

    fn timed_mut(&mut self) -> &mut dyn TimedDrive {
        self
    }
}

/// A drive of one or more devices.
pub struct Stripe<D: ?Sized> {
    devices: Vec<Box<D>>,
    chunks: Chunks,
    ledger: Ledger,
}

/// Each device has its own seed; the first has that of the drive, as a single one would.
pub fn seed_of(device: usize, seed: u64) -> u64 {
    seed.wrapping_add(device as u64)
}

impl Stripe<dyn SimulatedDrive> {
    /// Errors name the key of the drive file.
    pub fn build(drive: &Drive, seed: u64) -> Result<Self, SpecificationError> {
        Self::of(drive, |index, device| build(device, seed_of(index, seed)))
    }
}

/// For a drive without a stripe, of its one device.
impl Stripe<dyn TimedSimulatedDrive> {
    /// Errors name the key of the drive file.
    pub fn build_timed(drive: &Drive, seed: u64) -> Result<Self, SpecificationError> {
        Self::of(drive, |index, device| build_timed(device, seed_of(index, seed)))
    }
}

impl<D: TimedStripeDevice + ?Sized> Devices for Stripe<D> {
    fn device(&self, index: usize) -> &dyn TimedDrive {
        self.devices[index].timed()
    }

    fn device_mut(&mut self, index: usize) -> &mut dyn TimedDrive {
        self.devices[index].timed_mut()
    }
}

fn sum<D: StripeDevice + ?Sized>(devices: &[Box<D>]) -> Ledger {
    let mut whole = Ledger::default();
    devices.iter().for_each(|device| whole += *device.layer().ledger());
    whole
}

impl<D: StripeDevice + ?Sized> Stripe<D> {
    /// Combines devices that were built before.
    pub fn new(devices: Vec<Box<D>>, chunks: Chunks) -> Self {
        let ledger = sum(&devices);
        Self { devices, chunks, ledger }
    }

    fn of(
        drive: &Drive,
        build: impl Fn(usize, &Drive) -> Result<Box<D>, SpecificationError>,
    ) -> Result<Self, SpecificationError> {
        let of_device = |(index, device): (usize, Drive)| {
            build(index, &device).map_err(|error| match drive.stripe.devices {
                1 => error,
                devices => SpecificationError {
                    allowed: format!("{} (in each of the {devices} devices of the stripe)", error.allowed),
                    ..error
                },
            })
        };
        let devices = devices_of(drive)?.into_iter().enumerate().map(of_device).collect::<Result<_, _>>()?;
        Ok(Self::new(devices, drive.stripe.chunks()))
    }

    /// The devices, in order.
    pub fn devices(&self) -> &[Box<D>] {
        &self.devices
    }

    /// The devices, to be changed.
    pub fn devices_mut(&mut self) -> &mut [Box<D>] {
        &mut self.devices
    }

    /// The devices, separated again.
    pub fn into_devices(self) -> Vec<Box<D>> {
        self.devices
    }

    /// The layout of the stripe.
    pub fn chunks(&self) -> Chunks {
        self.chunks
    }

    /// Some devices have executed requests.
    pub fn note(&mut self) {
        self.ledger = sum(&self.devices);
    }

    fn each(&self) -> impl Iterator<Item = &dyn SimulatedDrive> {
        self.devices.iter().map(|device| device.layer())
    }

    fn each_mut(&mut self) -> impl Iterator<Item = &mut dyn SimulatedDrive> {
        self.devices.iter_mut().map(|device| device.layer_mut())
    }

    /// The device of an erase unit of the whole, and its number there: those of the first device come first.
    fn slot_of(&self, erase_unit: u32) -> Option<(usize, u32)> {
        let firsts = self.first_erase_units().enumerate().take_while(|&(_, first)| first <= erase_unit);
        firsts.last().map(|(index, first)| (index, erase_unit - first))
    }

    fn first_erase_units(&self) -> impl Iterator<Item = u32> {
        self.each().scan(0, |next, device| {
            let first = *next;
            *next += device.erase_units();
            Some(first)
        })
    }
}

impl<D: StripeDevice + ?Sized> SimulatedDrive for Stripe<D> {
    /// Executes request by request, so that all devices have executed the same ones when one refuses.
    fn execute(&mut self, requests: &[Request]) -> Result<(), Refused> {
        for (executed, request) in requests.iter().enumerate() {
            for (index, device) in self.devices.iter_mut().enumerate() {
                let Some(part) = self.chunks.part(request, index) else { continue };
                let device = device.layer_mut();
                let before = *device.ledger();
                let refused = device.execute(&[part]);
                self.ledger += *device.ledger() - before;
                refused.map_err(|Refused { reason, .. }| Refused { executed, reason })?;
            }
        }
        Ok(())
    }

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn capacity(&self) -> Capacity {
        let (room, live) = self.room_and_live();
        let capacities = self.each().map(SimulatedDrive::capacity);
        let whole = capacities.reduce(|whole, device| Capacity {
            physical_units: whole.physical_units + device.physical_units,
            user_units: whole.user_units + device.user_units,
            erase_units: whole.erase_units + device.erase_units,
            live_units: whole.live_units + device.live_units,
            ..whole
        });
        let effective_over_provisioning = (live > 0.0).then(|| room / live);
        Capacity { effective_over_provisioning, ..whole.expect("a stripe has devices") }
    }

    fn wear(&self) -> Wear {
        let bad_blocks = self
            .each()
            .map(super::drive::SimulatedDrive::wear)
            .fold((0, 0), |(factory, grown), wear| (factory + wear.bad_blocks_factory, grown + wear.bad_blocks_grown));
        Wear::of(&self.erase_counts(), bad_blocks.0, bad_blocks.1)
    }

    fn erase_counts(&self) -> EraseCounts {
        self.each().map(SimulatedDrive::erase_counts).fold(EraseCounts::default(), |mut all, device| {
            all.rated.extend(device.rated);
            all.slc_mode.extend(device.slc_mode);
            all
        })
    }

    fn erase_units(&self) -> u32 {
        self.each().map(SimulatedDrive::erase_units).sum()
    }

    fn free_erase_units(&self) -> u32 {
        self.each().map(SimulatedDrive::free_erase_units).sum()
    }

    fn room_and_live(&self) -> (f64, f64) {
        let devices = self.each().map(SimulatedDrive::room_and_live);
        devices.fold((0.0, 0.0), |(rooms, lives), (room, live)| (rooms + room, lives + live))
    }

    fn memory_bytes(&self) -> usize {
        self.each().map(SimulatedDrive::memory_bytes).sum()
    }

    /// Checks the identities of each device, and that the whole is their sum.
    fn check_accounts(&self) -> Result<(), String> {
        for (index, device) in self.each().enumerate() {
            device.check_accounts().map_err(|broken| format!("device {index} of the stripe: {broken}"))?;
        }
        let devices = sum(&self.devices);
        if self.ledger == devices {
            return Ok(());
        }
        Err(format!("the stripe has counted {:?}, and its devices {devices:?}", self.ledger))
    }

    /// One device after another.
    fn save_state(&mut self, out: &mut dyn Write) -> Result<(), StateError> {
        self.each_mut().try_for_each(|device| device.save_state(out))
    }

    /// Chunks do not grow with the drive, so the devices of a smaller drive correspond to none of a larger one.
    fn load_state(&mut self, input: &mut dyn Read, times: u32) -> Result<(), StateError> {
        if times > 1 {
            return Err(StateError::Unsaved("stripe.devices"));
        }
        self.each_mut().try_for_each(|device| device.load_state(input, times))?;
        self.ledger = sum(&self.devices);
        Ok(())
    }

    fn check_map(&self) -> Result<(), String> {
        self.each().try_for_each(SimulatedDrive::check_map)
    }
}

/// Erase units are numbered device by device. The relative scales of a picture are within a device.
impl<D: StripeDevice + ?Sized> Pictured for Stripe<D> {
    fn observe(&mut self) {
        self.each_mut().for_each(Pictured::observe);
    }

    fn cells(&self, by: CellsBy, out: &mut Vec<u8>) {
        out.clear();
        let mut of_device = Vec::new();
        for device in self.each() {
            device.cells(by, &mut of_device);
            out.extend_from_slice(&of_device);
        }
    }

    fn marks(&mut self) -> Marks {
        let firsts: Vec<u32> = self.first_erase_units().collect();
        let mut all = Marks::default();
        for (device, first) in self.each_mut().zip(firsts) {
            let marks = device.marks();
            all.open.extend(marks.open.into_iter().map(|(erase_unit, stream)| (erase_unit + first, stream)));
            all.emptying.extend(marks.emptying.into_iter().map(|erase_unit| erase_unit + first));
            all.victims.extend(marks.victims.into_iter().map(|erase_unit| erase_unit + first));
            all.moves.extend(marks.moves.into_iter().map(|(from, to, units)| (from + first, to + first, units)));
        }
        all
    }

    fn close_up(&self, erase_unit: u32) -> Option<Close> {
        let (index, own) = self.slot_of(erase_unit)?;
        self.devices[index].layer().close_up(own)
    }

    fn erase_count(&self) -> Spread {
        let spreads: Vec<(Spread, f64)> =
            self.each().map(|device| (device.erase_count(), f64::from(device.capacity().erase_units))).collect();
        let count: f64 = spreads.iter().map(|(_, count)| count).sum();
        let mean = spreads.iter().map(|(spread, count)| spread.mean * count).sum::<f64>() / count;
        let square = |(spread, count): &(Spread, f64)| (spread.stddev.powi(2) + (spread.mean - mean).powi(2)) * count;
        Spread {
            min: spreads.iter().map(|(spread, _)| spread.min).min().unwrap_or(0),
            mean,
            max: spreads.iter().map(|(spread, _)| spread.max).max().unwrap_or(0),
            stddev: (spreads.iter().map(square).sum::<f64>() / count).sqrt(),
        }
    }
}
