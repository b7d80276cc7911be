//! Drives that store data, for real programs.
//!
//! `device` is the one narrow trait. It is implemented by the simulated drive (`drive`), whose contents are stored by
//! physical slot in a simulated flash array (`nand`), and by a device that does nothing (`null`); `adapters` wrap any
//! of them; front ends (NVMe, NBD, FUSE) ask through a `queue`, so that the drive sees the depth of the host.

pub mod adapters;
pub mod device;
pub mod drive;
pub mod fuse;
mod in_flight;
pub mod nand;
pub mod nbd;
pub mod null;
pub mod nvme;
pub mod placement;
pub mod queue;
pub mod zones;
