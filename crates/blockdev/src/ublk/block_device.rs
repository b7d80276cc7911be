//! Creates the block device, serves its queues, and removes it.

use super::requests::{carry_out, parameters};
use crate::device::Device;
use libublk::ctrl::{UblkCtrl, UblkCtrlBuilder};
use libublk::io::{BufDescList, UblkDev, UblkQueue};
use libublk::{BufDesc, UblkError, UblkFlags, UblkIORes};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const CONTROL: &str = "/dev/ublk-control";
/// The drive serves one request at a time; a second queue lets the kernel prepare further ones.
const QUEUES: u16 = 2;
const REQUESTS_AT_ONCE: u16 = 128;
const REQUEST_BYTES_MAX: u32 = 1 << 19;
/// The kernel waits indefinitely for a queue whose setup failed.
const STARTS_WITHIN: Duration = Duration::from_secs(60);

/// A block device, until it is stopped or dropped.
pub struct BlockDevice {
    id: u32,
    path: PathBuf,
    serving: Option<JoinHandle<Result<(), UblkError>>>,
}

/// The created device.
struct Started {
    id: u32,
    path: PathBuf,
}

/// Creates a block device. Needs root, and the module `ublk_drv`.
pub fn attach(device: Arc<dyn Device>) -> io::Result<BlockDevice> {
    if !Path::new(CONTROL).exists() {
        let message =
            format!("{CONTROL} is missing: `modprobe ublk_drv` loads it, where the kernel (Linux 6.0 or newer) has it");
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    }
    let (started, starts) = mpsc::channel();
    let serving = thread::Builder::new().name("ublk".to_owned()).spawn(move || serve(device, started))?;
    match starts.recv_timeout(STARTS_WITHIN) {
        Ok(Started { id, path }) => Ok(BlockDevice { id, path, serving: Some(serving) }),
        Err(RecvTimeoutError::Timeout) => Err(io::Error::other("the kernel did not start the block device")),
        // The other end is gone, and so is the thread.
        Err(RecvTimeoutError::Disconnected) => Err(match ended(serving) {
            Err(error) => error,
            Ok(()) => io::Error::other("the block device went as soon as it came"),
        }),
    }
}

fn serve(device: Arc<dyn Device>, started: Sender<Started>) -> Result<(), UblkError> {
    let control = UblkCtrlBuilder::default()
        .name("ssdlab")
        .nr_queues(QUEUES)
        .depth(REQUESTS_AT_ONCE)
        .io_buf_bytes(REQUEST_BYTES_MAX)
        .dev_flags(UblkFlags::UBLK_DEV_F_ADD_DEV)
        .build()?;
    let capabilities = device.capabilities();
    let describe = move |target: &mut UblkDev| {
        target.set_default_params(capabilities.size_bytes);
        target.tgt.params = parameters(&capabilities, REQUEST_BYTES_MAX);
        Ok(())
    };
    let tell = move |control: &UblkCtrl| {
        let path = PathBuf::from(control.get_bdev_path());
        // The receiver may have given up.
        let _ = started.send(Started { id: control.dev_info().dev_id, path });
    };
    control.run_target(describe, move |queue, target| serve_queue(queue, target, &*device), tell)?;
    Ok(())
}

/// Until the block device is stopped.
fn serve_queue(number: u16, target: &UblkDev, device: &dyn Device) {
    let mut buffers = target.alloc_queue_io_bufs();
    let Ok(queue) = UblkQueue::new(number, target)
        .and_then(|queue| queue.submit_fetch_commands_unified(BufDescList::Slices(Some(&buffers))))
    else {
        return;
    };
    queue.wait_and_handle_io(|queue, tag, _| {
        let buffer = &mut buffers[usize::from(tag)];
        let result = carry_out(queue.get_iod(tag), buffer.as_mut_slice(), device);
        // Only a queue being shut down refuses an answer, and then nobody waits for it.
        let _ = queue.complete_io_cmd_unified(tag, BufDesc::Slice(buffer.as_slice()), Ok(UblkIORes::Result(result)));
    });
}

fn ended(serving: JoinHandle<Result<(), UblkError>>) -> io::Result<()> {
    match serving.join() {
        Ok(served) => served.map_err(in_words_of_the_system),
        Err(_) => Err(io::Error::other("the thread that served the block device panicked")),
    }
}

fn in_words_of_the_system(error: UblkError) -> io::Error {
    match error {
        UblkError::UringIOError(number) | UblkError::OtherError(number) if number < 0 => {
            io::Error::from_raw_os_error(-number)
        }
        UblkError::IOError(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

impl BlockDevice {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the block device, even if it is in use.
    pub fn stop(&mut self) -> io::Result<()> {
        let Some(serving) = self.serving.take() else { return Ok(()) };
        UblkCtrl::new_simple(self.id as i32).and_then(|control| control.kill_dev()).map_err(in_words_of_the_system)?;
        ended(serving)
    }
}

impl Drop for BlockDevice {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}
