//! The files of the folder: their numbers, names and attributes.

use fuser::{FileAttr, FileType, INodeNo};
use nix::unistd::{getegid, geteuid};
use std::time::SystemTime;

pub const ROOT: u64 = 1;
pub const DRIVE: u64 = 2;
pub const STATISTICS: u64 = 3;
pub const CONTROL: u64 = 4;

/// In the order of a listing.
pub const FILES: [(u64, &str); 3] = [(DRIVE, "drive"), (STATISTICS, "stats.json"), (CONTROL, "control")];

pub fn is_root() -> bool {
    geteuid().is_root()
}

/// Only the drive has a size: the contents of the others are generated when they are opened.
pub fn attributes(inode: u64, drive_bytes: u64, mounted_at: SystemTime) -> FileAttr {
    let (kind, perm, nlink) = match inode {
        ROOT => (FileType::Directory, 0o755, 2),
        STATISTICS => (FileType::RegularFile, 0o444, 1),
        CONTROL => (FileType::RegularFile, 0o200, 1),
        _ => (FileType::RegularFile, 0o600, 1),
    };
    let size = if inode == DRIVE { drive_bytes } else { 0 };
    let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
    FileAttr {
        ino: INodeNo(inode),
        size,
        blocks: size / 512,
        atime: mounted_at,
        mtime: mounted_at,
        ctime: mounted_at,
        crtime: mounted_at,
        kind,
        perm,
        nlink,
        uid,
        gid,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}
