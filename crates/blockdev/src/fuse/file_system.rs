//! The kernel's calls. Requests to the drive bypass the page cache, and arrive as programs issue them.

use super::Panel;
use super::attributes::{CONTROL, DRIVE, FILES, ROOT, STATISTICS, attributes};
use super::requests::{Call, Requests, number};
use crate::device::{Device, DeviceError, Durability, punch};
use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig,
    LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request,
    TimeOrNow, WriteFlags,
};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// The attributes of the files never change.
const FOREVER: Duration = Duration::from_secs(1 << 30);
/// Asynchronous requests (`io_uring`, `libaio`) that the kernel passes on at a time.
const REQUESTS_AT_ONCE: u16 = 512;

pub struct FileSystem {
    device: Arc<dyn Device>,
    requests: Requests,
    panel: Panel,
    mounted_at: SystemTime,
    size_bytes: u64,
    next_handle: AtomicU64,
    /// The text of each open `stats.json`, as of its opening.
    texts: Mutex<HashMap<u64, Vec<u8>>>,
}

impl FileSystem {
    pub fn new(device: Arc<dyn Device>, requests: Requests, panel: Panel) -> Self {
        Self {
            size_bytes: device.capabilities().size_bytes,
            device,
            requests,
            panel,
            mounted_at: SystemTime::now(),
            next_handle: AtomicU64::new(1),
            texts: Mutex::new(HashMap::new()),
        }
    }

    fn attributes(&self, inode: u64) -> FileAttr {
        attributes(inode, self.size_bytes, self.mounted_at)
    }

    fn texts(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Vec<u8>>> {
        self.texts.lock().expect("no call panics while it holds the texts")
    }
}

fn answer(reply: ReplyEmpty, done: Result<(), DeviceError>) {
    match done {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(number(&error)),
    }
}

impl Filesystem for FileSystem {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Older kernels lack some; then mapping the file, or concurrent requests, are unavailable.
        for wanted in [InitFlags::FUSE_ASYNC_DIO, InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP] {
            let _ = config.add_capabilities(wanted);
        }
        let _ = config.set_max_background(REQUESTS_AT_ONCE);
        Ok(())
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match FILES.iter().find(|(_, file)| parent.0 == ROOT && name == *file) {
            Some(&(inode, _)) => reply.entry(&FOREVER, &self.attributes(inode), Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _request: &Request, inode: INodeNo, _handle: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&FOREVER, &self.attributes(inode.0));
    }

    /// The drive's size is fixed, as a device's; truncating when opening for writing changes nothing.
    fn setattr(
        &self,
        _request: &Request,
        inode: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _handle: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        match size {
            Some(size) if size != 0 && (inode.0 != DRIVE || size != self.size_bytes) => reply.error(Errno::EINVAL),
            _ => reply.attr(&FOREVER, &self.attributes(inode.0)),
        }
    }

    fn open(&self, _request: &Request, inode: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        let handle = self.next_handle.fetch_add(1, Ordering::Relaxed);
        let mut flags = FopenFlags::FOPEN_DIRECT_IO;
        match inode.0 {
            DRIVE => flags |= FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES,
            STATISTICS => {
                let text = (self.panel.statistics)();
                self.texts().insert(handle, text);
            }
            _ => {}
        }
        reply.opened(FileHandle(handle), flags);
    }

    fn release(
        &self,
        _request: &Request,
        inode: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        if inode.0 == STATISTICS {
            self.texts().remove(&handle.0);
        }
        reply.ok();
    }

    fn read(
        &self,
        _request: &Request,
        inode: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match inode.0 {
            DRIVE => {
                // A file has an end, unlike a device: a read there is short.
                let length_bytes = u64::from(size).min(self.size_bytes.saturating_sub(offset)) as usize;
                match length_bytes {
                    0 => reply.data(&[]),
                    _ => self.requests.pass(Call::Read { offset_bytes: offset, length_bytes, reply }),
                }
            }
            STATISTICS => {
                let texts = self.texts();
                let text = texts.get(&handle.0).map_or(&[][..], Vec::as_slice);
                let from = text.len().min(offset as usize);
                reply.data(&text[from..text.len().min(from + size as usize)]);
            }
            _ => reply.error(Errno::EACCES),
        }
    }

    fn write(
        &self,
        _request: &Request,
        inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let done = match inode.0 {
            DRIVE => {
                let is_synchronous = flags.0 & libc::O_DSYNC != 0;
                let durability = if is_synchronous { Durability::Durable } else { Durability::Cached };
                let data = data.to_vec();
                return self.requests.pass(Call::Write { offset_bytes: offset, data, durability, reply });
            }
            CONTROL => match std::str::from_utf8(data) {
                Ok(text) => text
                    .lines()
                    .filter(|line| !line.trim().is_empty())
                    .try_for_each(|line| (self.panel.control)(line.trim()))
                    .map_err(Errno::from_i32),
                Err(_) => Err(Errno::EINVAL),
            },
            _ => Err(Errno::EACCES),
        };
        match done {
            Ok(()) => reply.written(data.len() as u32),
            Err(number) => reply.error(number),
        }
    }

    /// Closing a file does not flush the drive.
    fn flush(&self, _request: &Request, _inode: INodeNo, _handle: FileHandle, _owner: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _request: &Request, inode: INodeNo, _handle: FileHandle, _datasync: bool, reply: ReplyEmpty) {
        if inode.0 == DRIVE { self.requests.pass(Call::Flush { reply }) } else { reply.ok() }
    }

    fn fallocate(
        &self,
        _request: &Request,
        inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        if inode.0 != DRIVE {
            return reply.error(Errno::EOPNOTSUPP);
        }
        let past_the_end = offset.checked_add(length).is_none_or(|end| end > self.size_bytes);
        match mode & !libc::FALLOC_FL_KEEP_SIZE {
            _ if past_the_end => reply.error(Errno::ENOSPC),
            // The whole drive is already allocated.
            0 => reply.ok(),
            libc::FALLOC_FL_PUNCH_HOLE => answer(reply, punch(&*self.device, offset, length)),
            libc::FALLOC_FL_ZERO_RANGE => answer(reply, self.device.zero(offset, length, Durability::Cached)),
            _ => reply.error(Errno::EOPNOTSUPP),
        }
    }

    fn readdir(&self, _request: &Request, inode: INodeNo, _handle: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        if inode.0 != ROOT {
            return reply.error(Errno::ENOTDIR);
        }
        let own = [(ROOT, FileType::Directory, "."), (ROOT, FileType::Directory, "..")];
        let files = FILES.iter().map(|&(inode, name)| (inode, FileType::RegularFile, name));
        for (index, (inode, kind, name)) in own.into_iter().chain(files).enumerate().skip(offset as usize) {
            if reply.add(INodeNo(inode), index as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }
}
