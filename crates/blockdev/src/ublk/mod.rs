//! The drive as a block device of the kernel's own, `/dev/ublkbN`: requests come through `io_uring` (ublk, Linux 6.0).
//!
//! Only with the cargo feature `ublk`; without it the same calls say so. What is done with a request is tested, but the
//! kernels at hand have no ublk, so that no request has come through one yet.

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
