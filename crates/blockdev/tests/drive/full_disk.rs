//! What becomes of a drive in a file when the file system that holds it is full?
//!
//! The file is mapped: a page that the file system has no room for ended the process with SIGBUS. Room for the tables
//! is taken when the drive is opened; a payload that finds none is an error of its write, and harms nothing else.

use crate::tiny::{Tiny, UNIT};
use ssdlab_blockdev::device::{Device, DeviceError, Durability};
use ssdlab_blockdev::drive::{Contents, OpenError, Options, SimulatedDevice};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A file system of so many bytes, gone with the value.
struct SmallFileSystem(PathBuf);

impl SmallFileSystem {
    /// Nothing where it cannot be mounted: only root can.
    fn mounted(name: &str, kib: u64) -> Option<Self> {
        let folder = std::env::temp_dir().join(format!("ssdlab-{name}-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let size = format!("size={kib}k");
        let is_mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&folder).status();
        if is_mounted.is_ok_and(|status| status.success()) {
            return Some(Self(folder));
        }
        std::fs::remove_dir(&folder).unwrap();
        None
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for SmallFileSystem {
    fn drop(&mut self) {
        let is_gone = Command::new("umount").arg(&self.0).status();
        if is_gone.is_ok_and(|status| status.success()) {
            let _ = std::fs::remove_dir(&self.0);
        }
    }
}

/// Written to flash as it comes, so that each place is met.
fn opened(file: &Path) -> Result<SimulatedDevice, OpenError> {
    let options = Options { contents: Contents::File(file.to_owned()), ..Options::default() };
    SimulatedDevice::new(&Tiny { buffer_units: 0, ..Tiny::default() }.drive(), &options)
}

fn is_no_space(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(libc::ENOSPC)
}

#[test]
fn a_drive_whose_tables_find_no_room_is_not_opened() {
    let Some(file_system) = SmallFileSystem::mounted("tables", 80) else { return };
    let file = file_system.path("drive");
    match opened(&file) {
        Err(OpenError::Store(error)) => assert!(is_no_space(&error), "{error}"),
        _ => panic!("a file system of 80 KiB cannot hold the tables"),
    }
    // Nothing is left that would be taken for another drive.
    assert_eq!(std::fs::metadata(&file).unwrap().len(), 0);
}

#[test]
fn a_payload_that_finds_no_room_fails_alone() {
    let Some(file_system) = SmallFileSystem::mounted("payloads", 4096) else { return };
    let (file, in_the_way) = (file_system.path("drive"), file_system.path("in the way"));
    let unit = |number: u64| vec![(number % 255) as u8 + 1; UNIT as usize];
    let device = opened(&file).unwrap();
    let write = |number: u64| device.write(number * UNIT, &unit(number), Durability::Cached);
    write(0).unwrap();
    // The rest of the file system is taken; frames that were given room before are left.
    let filled = std::fs::write(&in_the_way, vec![0; 4 << 20]);
    assert!(filled.is_err_and(|error| is_no_space(&error)));
    let failed: Vec<u64> = (1..300).filter(|&number| write(number).is_err()).collect();
    assert!(!failed.is_empty() && failed.len() < 290, "{failed:?}");
    let refused = write(failed[0]).unwrap_err();
    assert!(matches!(&refused, DeviceError::Store(error) if is_no_space(error)), "{refused}");
    // With room again the drive goes on, and another process finds all of it.
    std::fs::remove_file(&in_the_way).unwrap();
    (300..310).for_each(|number| write(number).unwrap());
    device.flush().unwrap();
    let closed = device.core().close().unwrap_err();
    assert!(matches!(&closed, DeviceError::Store(error) if is_no_space(error)), "{closed}");
    drop(device);
    let device = opened(&file).unwrap();
    let mut read = vec![0; UNIT as usize];
    for number in (0..310).filter(|number| !failed.contains(number)) {
        device.read(number * UNIT, &mut read).unwrap();
        assert_eq!(read, unit(number), "unit {number}");
    }
    for number in failed {
        let wrong = device.read(number * UNIT, &mut read);
        assert!(matches!(wrong, Err(DeviceError::Unreadable { .. })), "unit {number}: {wrong:?}");
    }
}
