//! One connection: the bytes that have arrived and those that are to be sent, without blocking.

use super::limits;
use super::pdu::{Agreed, UNIT_BYTES_MAX};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

/// Read at once: many commands of a busy host.
const INPUT_BYTES: usize = 2 * UNIT_BYTES_MAX;
/// A buffer that a large answer has made larger is released.
const OUTPUT_KEPT_BYTES: usize = 256 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    New,
    /// Both sides have said what they support; Connect comes next.
    Opened,
    /// The connection is a queue of a controller.
    Queue {
        controller: u16,
        queue: u16,
    },
}

pub struct Connection {
    stream: TcpStream,
    /// Differs from those of all other connections.
    pub serial: u64,
    pub state: State,
    pub agreed: Agreed,
    /// Of its submission queue.
    pub entries: u16,
    pub head: u16,
    /// Commands without an answer, except those for events.
    pub in_progress: usize,
    /// Nothing more is read; it is closed when everything is sent.
    pub is_ending: bool,
    pub since: Instant,
    pub reached: SocketAddr,
    pub output: Vec<u8>,
    sent: usize,
    /// When the host last took a part of the answers.
    pub taken: Instant,
    input: Vec<u8>,
    input_from: usize,
    input_to: usize,
}

impl Connection {
    pub fn new(stream: TcpStream, serial: u64, now: Instant) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            reached: stream.local_addr()?,
            stream,
            serial,
            state: State::New,
            agreed: Agreed::default(),
            entries: limits::QUEUE_ENTRIES,
            head: 0,
            in_progress: 0,
            is_ending: false,
            since: now,
            output: Vec::new(),
            sent: 0,
            taken: now,
            input: Vec::new(),
            input_from: 0,
            input_to: 0,
        })
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    pub fn unsent_bytes(&self) -> usize {
        self.output.len() - self.sent
    }

    /// Whether more of it may be read: a host that does not take its answers waits.
    pub fn may_read(&self) -> bool {
        !self.is_ending && self.unsent_bytes() < limits::ANSWER_BYTES
    }

    /// Reads what has arrived, as far as there is room. Returns whether the host is still there.
    pub fn receive(&mut self) -> bool {
        if self.input.is_empty() {
            self.input = vec![0; INPUT_BYTES];
        }
        if self.input_from > 0 {
            self.input.copy_within(self.input_from..self.input_to, 0);
            self.input_to -= self.input_from;
            self.input_from = 0;
        }
        match self.stream.read(&mut self.input[self.input_to..]) {
            Ok(0) => false,
            Ok(count) => {
                self.input_to += count;
                true
            }
            Err(error) => is_for_later(&error),
        }
    }

    /// The buffer with what has arrived and was not used, for the time in which its units are handled.
    pub fn take_input(&mut self) -> (Vec<u8>, usize, usize) {
        (std::mem::take(&mut self.input), self.input_from, self.input_to)
    }

    /// Gives it back, used up to `from`.
    pub fn return_input(&mut self, input: Vec<u8>, from: usize) {
        self.input = input;
        self.input_from = from;
    }

    /// Sends what the host takes. Returns whether it is still there.
    pub fn send(&mut self, now: Instant) -> bool {
        while self.unsent_bytes() > 0 {
            match self.stream.write(&self.output[self.sent..]) {
                Ok(0) => return false,
                Ok(count) => {
                    self.sent += count;
                    self.taken = now;
                }
                Err(error) => return is_for_later(&error),
            }
        }
        self.sent = 0;
        self.output.clear();
        self.output.shrink_to(OUTPUT_KEPT_BYTES);
        self.taken = now;
        true
    }
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
