//! Refuses requests at random, from a seed: for testing users of a device. Faults of the flash are part of the
//! simulated drive (`nand`).

use crate::device::{Capabilities, Device, DeviceError, Durability, Extent};
use ssdlab_engine::random::Random;
use std::sync::Mutex;

/// The share of requests that fail, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FaultRates {
    /// Of reads.
    pub read: f64,
    /// Of writes, trims and zeroing.
    pub write: f64,
    /// Of flushes.
    pub flush: f64,
}

/// A device whose requests fail at random.
pub struct Faults<D> {
    inner: D,
    rates: FaultRates,
    random: Mutex<Random>,
}

impl<D: Device> Faults<D> {
    /// The same seed gives the same failures.
    pub fn new(inner: D, rates: FaultRates, seed: u64) -> Self {
        Self { inner, rates, random: Mutex::new(Random::new(seed)) }
    }

    fn pass(&self, rate: f64) -> Result<(), DeviceError> {
        let mut random = self.random.lock().expect("no request panics while it draws");
        if rate > 0.0 && random.unit() < rate { Err(DeviceError::Injected) } else { Ok(()) }
    }
}

impl<D: Device> Device for Faults<D> {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn read(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        self.pass(self.rates.read)?;
        self.inner.read(offset_bytes, into)
    }

    fn write(&self, offset_bytes: u64, data: &[u8], durability: Durability) -> Result<(), DeviceError> {
        self.pass(self.rates.write)?;
        self.inner.write(offset_bytes, data, durability)
    }

    fn trim(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), DeviceError> {
        self.pass(self.rates.write)?;
        self.inner.trim(offset_bytes, length_bytes)
    }

    fn zero(&self, offset_bytes: u64, length_bytes: u64, durability: Durability) -> Result<(), DeviceError> {
        self.pass(self.rates.write)?;
        self.inner.zero(offset_bytes, length_bytes, durability)
    }

    fn flush(&self) -> Result<(), DeviceError> {
        self.pass(self.rates.flush)?;
        self.inner.flush()
    }

    fn extents(&self, offset_bytes: u64, length_bytes: u64, extents_max: usize) -> Result<Vec<Extent>, DeviceError> {
        self.inner.extents(offset_bytes, length_bytes, extents_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::null::Null;

    #[test]
    fn about_the_share_that_was_asked_for_fails_and_the_same_seed_fails_alike() {
        let failures = |seed| {
            let rates = FaultRates { read: 0.25, ..FaultRates::default() };
            let device = Faults::new(Null::new(4096, 4096), rates, seed);
            assert!((0..1000).all(|_| device.flush().is_ok()));
            (0..4000).map(|_| device.read(0, &mut []).is_err()).collect::<Vec<_>>()
        };
        let first = failures(7);
        let count = first.iter().filter(|&&failed| failed).count();
        assert!((850..1150).contains(&count), "{count}");
        assert_eq!(first, failures(7));
        assert_ne!(first, failures(8));
    }
}
