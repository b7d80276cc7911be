//! Counts requests, bytes and their time on this machine's clock.

use crate::device::{Capabilities, Device, DeviceError, Durability, Extent};
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Counts of one kind of request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Requests, including failed ones.
    pub requests: u64,
    /// Bytes of successful requests.
    pub bytes: u64,
    /// Failed requests.
    pub failed: u64,
    /// The sum over all requests, which may exceed the elapsed time.
    pub busy_ns: u64,
}

#[derive(Default)]
struct Counter {
    requests: AtomicU64,
    bytes: AtomicU64,
    failed: AtomicU64,
    busy_ns: AtomicU64,
}

impl Counter {
    fn around(&self, bytes: u64, request: impl FnOnce() -> Result<(), DeviceError>) -> Result<(), DeviceError> {
        let started = Instant::now();
        let answer = request();
        self.busy_ns.fetch_add(started.elapsed().as_nanos() as u64, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.failed.fetch_add(u64::from(answer.is_err()), Ordering::Relaxed);
        answer
    }

    fn counts(&self) -> Counts {
        Counts {
            requests: self.requests.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            busy_ns: self.busy_ns.load(Ordering::Relaxed),
        }
    }
}

/// A device that counts its requests.
pub struct Statistics<D> {
    inner: D,
    read: Counter,
    write: Counter,
    trim: Counter,
    zero: Counter,
    flush: Counter,
}

impl<D: Device> Statistics<D> {
    /// All counts start from 0.
    pub fn new(inner: D) -> Self {
        let [read, write, trim, zero, flush] = std::array::from_fn(|_| Counter::default());
        Self { inner, read, write, trim, zero, flush }
    }

    /// The device whose requests are counted.
    pub fn inner(&self) -> &D {
        &self.inner
    }

    /// By operation, in the order of the trait: read, write, trim, zero, flush.
    pub fn counts(&self) -> [Counts; 5] {
        [&self.read, &self.write, &self.trim, &self.zero, &self.flush].map(Counter::counts)
    }
}

impl<D: Device> Device for Statistics<D> {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn read(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        self.read.around(into.len() as u64, || self.inner.read(offset_bytes, into))
    }

    fn write(&self, offset_bytes: u64, data: &[u8], durability: Durability) -> Result<(), DeviceError> {
        self.write.around(data.len() as u64, || self.inner.write(offset_bytes, data, durability))
    }

    fn trim(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), DeviceError> {
        self.trim.around(length_bytes, || self.inner.trim(offset_bytes, length_bytes))
    }

    fn zero(&self, offset_bytes: u64, length_bytes: u64, durability: Durability) -> Result<(), DeviceError> {
        self.zero.around(length_bytes, || self.inner.zero(offset_bytes, length_bytes, durability))
    }

    fn flush(&self) -> Result<(), DeviceError> {
        self.flush.around(0, || self.inner.flush())
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
    fn each_kind_is_counted_for_itself() {
        let device = Statistics::new(Null::new(1 << 20, 4096));
        device.read(0, &mut [0; 512]).unwrap();
        device.write(4096, &[1; 1024], Durability::Cached).unwrap();
        assert!(device.write(1 << 20, &[1; 1024], Durability::Cached).is_err());
        device.trim(0, 8192).unwrap();
        let [read, write, trim, zero, flush] = device.counts();
        assert_eq!((read.requests, read.bytes, read.failed), (1, 512, 0));
        assert_eq!((write.requests, write.bytes, write.failed), (2, 2048, 1));
        assert_eq!((trim.requests, trim.bytes), (1, 8192));
        assert_eq!((zero.requests, flush.requests), (0, 0));
    }
}
