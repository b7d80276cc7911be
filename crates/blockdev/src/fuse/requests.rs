//! The requests of programs to the drive: the kernel's calls pass them to one thread, which has the drive's queue execute
//! them as they come, and answers each when it completes.

use crate::device::{DeviceError, Durability};
use crate::in_flight::InFlight;
use crate::queue::{Asked, Queue, sleep_exactly};
use fuser::{Errno, ReplyData, ReplyEmpty, ReplyWrite};
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A request, and what its program waits for.
pub enum Call {
    Read { offset_bytes: u64, length_bytes: usize, reply: ReplyData },
    Write { offset_bytes: u64, data: Vec<u8>, durability: Durability, reply: ReplyWrite },
    Flush { reply: ReplyEmpty },
}

enum Reply {
    Data(ReplyData),
    Written(ReplyWrite, u32),
    Done(ReplyEmpty),
}

/// The thread, until it is dropped.
pub struct Requests {
    calls: Option<Sender<Call>>,
    serving: Option<JoinHandle<()>>,
}

impl Requests {
    pub fn start(queue: Box<dyn Queue>) -> io::Result<Self> {
        let (calls, received) = channel();
        let serving = thread::Builder::new().name("fuse".to_owned()).spawn(move || serve(queue, &received))?;
        Ok(Self { calls: Some(calls), serving: Some(serving) })
    }

    /// The thread answers it.
    pub fn pass(&self, call: Call) {
        let calls = self.calls.as_ref().expect("it is there until it is dropped");
        // The kernel hears of an error if the thread is gone: a reply that is dropped says so.
        let _ = calls.send(call);
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        self.calls = None;
        if let Some(serving) = self.serving.take() {
            let _ = serving.join();
        }
    }
}

fn serve(queue: Box<dyn Queue>, calls: &Receiver<Call>) {
    sleep_exactly();
    let mut in_flight = InFlight::new(queue);
    let mut is_over = false;
    loop {
        let next = match in_flight.until_next() {
            None if is_over => return,
            None => calls.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(left) if is_over => {
                thread::sleep(left);
                Err(RecvTimeoutError::Timeout)
            }
            Some(Duration::ZERO) => calls.try_recv().map_err(|error| match error {
                TryRecvError::Empty => RecvTimeoutError::Timeout,
                TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            }),
            Some(left) => calls.recv_timeout(left),
        };
        is_over |= matches!(next, Err(RecvTimeoutError::Disconnected));
        // All that has come is submitted before anything is answered: together it is the host's depth.
        let mut call = next.ok();
        while let Some(one) = call {
            submit(&mut in_flight, one);
            if in_flight.is_due() {
                complete(&mut in_flight);
            }
            call = calls.try_recv().ok();
        }
        complete(&mut in_flight);
    }
}

fn submit(in_flight: &mut InFlight<Reply>, call: Call) {
    match call {
        Call::Read { offset_bytes, length_bytes, reply } => {
            in_flight.read(Reply::Data(reply), offset_bytes, length_bytes);
        }
        Call::Write { offset_bytes, data, durability, reply } => {
            let asked = Asked::Write { offset_bytes, data: &data, durability, identifier: 0 };
            in_flight.submit(Reply::Written(reply, data.len() as u32), asked);
        }
        Call::Flush { reply } => in_flight.submit(Reply::Done(reply), Asked::Flush),
    }
}

fn complete(in_flight: &mut InFlight<Reply>) {
    let _: Result<(), ()> = in_flight.complete(|reply, data, outcome| {
        match (reply, outcome) {
            (Reply::Data(reply), Ok(_)) => reply.data(data),
            (Reply::Data(reply), Err(error)) => reply.error(number(&error)),
            (Reply::Written(reply, length_bytes), Ok(_)) => reply.written(length_bytes),
            // Writing past the end of a device fails with "no space left", as on a full file system.
            (Reply::Written(reply, _), Err(DeviceError::PastTheEnd { .. })) => reply.error(Errno::ENOSPC),
            (Reply::Written(reply, _), Err(error)) => reply.error(number(&error)),
            (Reply::Done(reply), Ok(_)) => reply.ok(),
            (Reply::Done(reply), Err(error)) => reply.error(number(&error)),
        }
        Ok(())
    });
}

pub fn number(error: &DeviceError) -> Errno {
    Errno::from_i32(error.errno())
}
