//! The interface in a build without ublk.

use crate::device::Device;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// There is none.
pub enum BlockDevice {}

/// Always fails, with the reason.
pub fn attach(_device: Arc<dyn Device>) -> io::Result<BlockDevice> {
    let message = "this build has no ublk: it is compiled in with the cargo feature `ublk`";
    Err(io::Error::new(io::ErrorKind::Unsupported, message))
}

impl BlockDevice {
    /// The path of the device.
    pub fn path(&self) -> &Path {
        match *self {}
    }

    /// Removes the device.
    pub fn stop(&mut self) -> io::Result<()> {
        match *self {}
    }
}
