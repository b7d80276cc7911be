//! Drives that keep what is written to them, for real programs.
//!
//! `device` is the one narrow trait. Behind it are the simulated drive (`drive`), whose contents lie by physical place
//! in a simulated flash array (`nand`), and a device that does nothing (`null`); `adapters` wrap any of them; front
//! ends (FUSE, NBD, ublk) know the trait only.

pub mod adapters;
pub mod device;
pub mod drive;
pub mod fuse;
pub mod nand;
pub mod nbd;
pub mod null;
pub mod ublk;
