//! Makes every request take at least a given time. The simulated drive's own times come from its clock.

use crate::device::{Capabilities, Device, DeviceError, Durability, Extent};
use std::thread;
use std::time::Duration;

/// A device that delays its requests.
pub struct Delay<D> {
    inner: D,
    delay: Duration,
}

impl<D: Device> Delay<D> {
    /// `delay` is the least time of a request.
    pub fn new(inner: D, delay: Duration) -> Self {
        Self { inner, delay }
    }

    fn after<T>(&self, answer: T) -> T {
        thread::sleep(self.delay);
        answer
    }
}

impl<D: Device> Device for Delay<D> {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn read(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        self.after(self.inner.read(offset_bytes, into))
    }

    fn write(&self, offset_bytes: u64, data: &[u8], durability: Durability) -> Result<(), DeviceError> {
        self.after(self.inner.write(offset_bytes, data, durability))
    }

    fn trim(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), DeviceError> {
        self.after(self.inner.trim(offset_bytes, length_bytes))
    }

    fn zero(&self, offset_bytes: u64, length_bytes: u64, durability: Durability) -> Result<(), DeviceError> {
        self.after(self.inner.zero(offset_bytes, length_bytes, durability))
    }

    fn flush(&self) -> Result<(), DeviceError> {
        self.after(self.inner.flush())
    }

    fn extents(&self, offset_bytes: u64, length_bytes: u64, extents_max: usize) -> Result<Vec<Extent>, DeviceError> {
        self.inner.extents(offset_bytes, length_bytes, extents_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::null::Null;
    use std::time::Instant;

    #[test]
    fn every_request_takes_at_least_the_delay() {
        let delay = Duration::from_millis(3);
        let device = Delay::new(Null::new(8192, 4096), delay);
        let started = Instant::now();
        device.read(0, &mut [0; 4096]).unwrap();
        device.flush().unwrap();
        assert!(started.elapsed() >= 2 * delay);
    }
}
