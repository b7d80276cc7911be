//! The drive as a block device of the kernel, `/dev/ublkbN`: requests come through `io_uring` (ublk, Linux 6.0).
//!
//! Only with the cargo feature `ublk`; without it the same calls return an error. The execution of requests is tested,
//! but the available kernels have no ublk, so that no request has come through one yet.

#[cfg(not(feature = "ublk"))]
mod absent;
#[cfg(feature = "ublk")]
mod block_device;
#[cfg(feature = "ublk")]
mod requests;

#[cfg(not(feature = "ublk"))]
pub use absent::{BlockDevice, attach};
#[cfg(feature = "ublk")]
pub use block_device::{BlockDevice, attach};
