//! A FUSE file system with the drive as a file, its statistics as another, and one that accepts commands.

mod attributes;
mod file_system;
mod requests;

use crate::device::Device;
use crate::queue::Queue;
use file_system::FileSystem;
use fuser::{BackgroundSession, Config, MountOption, Session, SessionACL};
use requests::Requests;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Generates a text on request.
pub type Text = Box<dyn Fn() -> Vec<u8> + Send + Sync>;
/// Executes a line; the error is an errno value.
pub type Control = Box<dyn Fn(&str) -> Result<(), i32> + Send + Sync>;

/// The other files in the drive's folder.
pub struct Panel {
    /// The current text of `stats.json`.
    pub statistics: Text,
    /// Executes a line written to `control`.
    pub control: Control,
}

/// A folder with the drive in it, until it is unmounted or dropped.
pub struct Mount {
    session: Option<BackgroundSession>,
}

/// Mounts the device at a folder. `queue` is one of the device; `threads` take requests from the kernel.
pub fn mount(
    (device, queue): (Arc<dyn Device>, Box<dyn Queue>),
    panel: Panel,
    folder: &Path,
    threads: usize,
) -> io::Result<Mount> {
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::FSName("ssdlab".to_owned()),
        MountOption::Subtype("ssdlab".to_owned()),
        MountOption::DefaultPermissions,
        MountOption::NoAtime,
    ];
    // The kernel lets root open a mount to other users, and others only by configuration. Servers that run as another
    // user access the drive through a loop device, so only root needs it.
    config.acl = if attributes::is_root() { SessionACL::All } else { SessionACL::Owner };
    config.n_threads = Some(threads);
    config.clone_fd = true;
    let requests = Requests::start(queue)?;
    let session = Session::new(FileSystem::new(device, requests, panel), folder, &config)?;
    Ok(Mount { session: Some(session.spawn()?) })
}

impl Mount {
    /// Whether it was unmounted from outside.
    pub fn is_over(&self) -> bool {
        self.session.as_ref().is_none_or(|session| session.guard.is_finished())
    }

    /// Unmounts. Fails while a program has one of its files open.
    pub fn unmount(&mut self) -> io::Result<()> {
        match self.session.take() {
            Some(session) if session.guard.is_finished() => {
                let _ = session.join();
                Ok(())
            }
            Some(session) => session.umount_and_join(),
            None => Ok(()),
        }
    }
}
