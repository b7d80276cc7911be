//! One client's requests: reads what has arrived, has the device's queue execute all of it, and answers together what
//! has completed. At real pace requests complete one by one, in any order, while others arrive.
//!
//! Requests longer than what is answered at once, and those that are several requests to the device, are executed
//! alone. The memory of a client is bounded by its share, whatever lengths it announces: a longer request is executed in
//! pieces, and while answers are not received no further request is read.

use super::answers::{Answers, Piece};
use super::memory::{BLOCK_BYTES, Share};
use super::negotiation::Agreed;
use super::protocol::{self, REQUEST_BYTES, Refusal, Request, command, command_flag, error};
use crate::device::{Device, DeviceError, Durability, punch};
use crate::in_flight::InFlight;
use crate::queue::{Asked, GATHERED, Queue, REQUEST_BYTES_MAX};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::iter;
use std::thread;
use std::time::{Duration, Instant};

/// Extents in one answer; for more the client asks again.
const EXTENTS_MAX: usize = 2048;
/// The initial part read of a write that is not in the buffer, before more memory is allocated for it.
const FIRST_BYTES: usize = 64 << 10;

/// Waits for a byte of the client, at most so long; whether there is one, or the end.
pub type Wait<'a> = &'a dyn Fn(Duration) -> io::Result<bool>;

/// Serves until the client disconnects. `queue` is one of the device. Returns errors of the connection, including a
/// request that is not complete within the reader's time limit; there is no limit between requests.
pub fn serve(
    reader: impl Read,
    writer: impl Write,
    (device, queue): (&dyn Device, Box<dyn Queue>),
    wait: Wait<'_>,
    agreed: Agreed,
    share: Share,
) -> io::Result<()> {
    let reader = BufReader::with_capacity(share.in_bytes, reader);
    let answers = Answers::new(agreed.structured_replies);
    let in_flight = InFlight::new(queue);
    let mut connection =
        Connection { reader, writer, device, wait, agreed, share, answers, in_flight, data: Vec::new() };
    let ended = connection.serve();
    // Requests before a violation are executed and answered.
    let sent = connection.finish_all().and_then(|()| connection.send());
    ended.and(sent)
}

struct Connection<'a, R, W> {
    reader: BufReader<R>,
    writer: W,
    device: &'a dyn Device,
    wait: Wait<'a>,
    agreed: Agreed,
    share: Share,
    answers: Answers,
    in_flight: InFlight<Request>,
    /// The data of a write. Never shrinks: its bytes need not be zeroed again.
    data: Vec<u8>,
}

impl<R: Read, W: Write> Connection<'_, R, W> {
    fn serve(&mut self) -> io::Result<()> {
        while let Some(request) = self.next_request()? {
            self.answer(&request)?;
        }
        Ok(())
    }

    /// None if the client disconnects.
    fn next_request(&mut self) -> io::Result<Option<Request>> {
        if self.in_flight.is_due() {
            // Many requests that arrive together do not hold up answers.
            self.complete()?;
            self.send()?;
        }
        // No further request has arrived that could be answered together.
        while self.reader.buffer().len() < REQUEST_BYTES {
            self.complete()?;
            self.gather()?;
            self.send()?;
            match self.in_flight.until_next() {
                Some(left) if self.reader.buffer().is_empty() && !(self.wait)(left)? => {}
                _ => break,
            }
        }
        if !self.wait()? {
            return Ok(None);
        }
        let mut head = [0; REQUEST_BYTES];
        self.reader.read_exact(&mut head)?;
        let request = Request::parse(&head).ok_or_else(|| violation("not an NBD request"))?;
        Ok((request.command != command::DISCONNECT).then_some(request))
    }

    /// Waits until a request begins; false at the end.
    fn wait(&mut self) -> io::Result<bool> {
        loop {
            match self.reader.fill_buf() {
                Ok(bytes) => return Ok(!bytes.is_empty()),
                Err(error) if is_time_limit(&error) || error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Answers what has completed.
    fn complete(&mut self) -> io::Result<()> {
        let Self { in_flight, answers, writer, share, .. } = self;
        in_flight.complete(|request, data, outcome| {
            match outcome {
                Err(failed) => answers.refused(request.cookie, &refusal(&request, &failed)),
                Ok(_) if request.command == command::READ => answers.data(whole(&request), data),
                Ok(_) => answers.done(request.cookie),
            }
            if answers.bytes().len() < share.out_bytes {
                return Ok(());
            }
            writer.write_all(answers.bytes())?;
            answers.clear();
            Ok(())
        })
    }

    /// Waits for what completes in the next moments, if there is something to be sent.
    fn gather(&mut self) -> io::Result<()> {
        let until = Instant::now() + GATHERED;
        while !self.answers.bytes().is_empty() && self.in_flight.is_due_by(until) {
            self.complete()?;
        }
        Ok(())
    }

    /// Waits until everything has completed.
    fn finish_all(&mut self) -> io::Result<()> {
        self.complete()?;
        while let Some(left) = self.in_flight.until_next() {
            thread::sleep(left);
            self.complete()?;
        }
        Ok(())
    }

    /// Whether a request is short, and one of the device.
    fn is_for_queue(&self, request: &Request) -> bool {
        let has_fua = request.has(command_flag::FUA);
        match request.command {
            command::READ | command::WRITE => (1..=self.share.out_bytes).contains(&(request.length_bytes as usize)),
            command::FLUSH => true,
            command::TRIM => {
                !has_fua && request.length_bytes > 0 && u64::from(request.length_bytes) <= REQUEST_BYTES_MAX
            }
            _ => false,
        }
    }

    /// Has the queue execute a request without data.
    fn submit(&mut self, request: &Request) -> io::Result<()> {
        let Request { offset_bytes, length_bytes, .. } = *request;
        match request.command {
            command::READ => self.in_flight.read(*request, offset_bytes, length_bytes as usize),
            command::TRIM => {
                let length_bytes = u64::from(length_bytes);
                self.in_flight.submit(*request, Asked::Trim { offset_bytes, length_bytes });
            }
            _ => self.in_flight.submit(*request, Asked::Flush),
        }
        self.bound()
    }

    /// Waits while the data of reads in flight is as much as may be.
    fn bound(&mut self) -> io::Result<()> {
        if self.in_flight.held_bytes > self.share.piece_bytes {
            self.finish_all()?;
        }
        Ok(())
    }

    fn send(&mut self) -> io::Result<()> {
        if !self.answers.bytes().is_empty() {
            self.writer.write_all(self.answers.bytes())?;
            self.answers.clear();
        }
        Ok(())
    }

    fn answer(&mut self, request: &Request) -> io::Result<()> {
        if self.is_for_queue(request) && request.command != command::WRITE && self.check(request).is_ok() {
            return self.submit(request);
        }
        if request.command != command::WRITE {
            // The answers before come first, as far as there are any.
            self.complete()?;
        }
        let refused = match request.command {
            command::READ => self.read(request)?,
            command::WRITE => self.write(request)?,
            command::BLOCK_STATUS => self.block_status(request),
            _ => self.carry_out(request),
        };
        if let Err(refusal) = refused {
            self.answers.refused(request.cookie, &refusal);
        }
        if self.answers.bytes().len() >= self.share.out_bytes { self.send() } else { Ok(()) }
    }

    fn read(&mut self, request: &Request) -> io::Result<Result<(), Refusal>> {
        if let Err(refusal) = self.check(request) {
            return Ok(Err(refusal));
        }
        if request.length_bytes == 0 {
            self.answers.nothing_read(request.cookie);
        }
        for (from, to) in self.pieces(request) {
            let piece = Piece {
                cookie: request.cookie,
                offset_bytes: request.offset_bytes + from as u64,
                length_bytes: to - from,
                is_first: from == 0,
                is_last: to == request.length_bytes as usize,
            };
            let device = self.device;
            match self.answers.data_of(piece, |into| device.read(piece.offset_bytes, into)) {
                // A simple reply has reported success before its first data; the protocol then allows only
                // disconnecting.
                Err(_) if !piece.is_first && !self.answers.is_structured() => {
                    return Err(io::Error::other("a read failed after its first piece was sent"));
                }
                Err(failed) => return Ok(Err(refusal(request, &failed))),
                Ok(()) if self.answers.bytes().len() >= self.share.out_bytes => self.send()?,
                Ok(()) => {}
            }
        }
        Ok(Ok(()))
    }

    fn write(&mut self, request: &Request) -> io::Result<Result<(), Refusal>> {
        if request.length_bytes > protocol::REQUEST_BYTES_MAX {
            return Err(violation("an NBD write is too long"));
        }
        let durability = durability(request);
        let is_whole = request.length_bytes as usize <= self.share.piece_bytes;
        let mut done = self.check(request);
        let is_for_queue = done.is_ok() && self.is_for_queue(request);
        if !is_for_queue {
            self.complete()?;
        }
        for (from, to) in self.pieces(request) {
            let count = to - from;
            let is_buffered = self.reader.buffer().len() >= count;
            if !is_buffered {
                // Answers must not wait for data that may come late.
                self.complete()?;
                self.send()?;
                receive(&mut self.reader, &mut self.data, count)?;
            }
            let data = if is_buffered { &self.reader.buffer()[..count] } else { &self.data[..count] };
            if is_for_queue {
                let offset_bytes = request.offset_bytes;
                self.in_flight.submit(*request, Asked::Write { offset_bytes, data, durability, identifier: 0 });
            } else if done.is_ok() {
                let durability = if is_whole { durability } else { Durability::Cached };
                let written = self.device.write(request.offset_bytes + from as u64, data, durability);
                done = written.map_err(|failed| refusal(request, &failed));
            }
            if is_buffered {
                self.reader.consume(count);
            }
        }
        if !is_whole {
            done = done.and_then(|()| self.make(request, durability));
        }
        if done.is_ok() && !is_for_queue {
            self.answers.done(request.cookie);
        }
        Ok(done)
    }

    fn block_status(&mut self, request: &Request) -> Result<(), Refusal> {
        self.check(request)?;
        if !self.agreed.block_status {
            return Err(Refusal::invalid("base:allocation was not selected"));
        }
        if request.length_bytes == 0 {
            return Err(Refusal::invalid("a block status of no bytes"));
        }
        let extents_max = if request.has(command_flag::REQUEST_ONE) { 1 } else { EXTENTS_MAX };
        let extents = self.device.extents(request.offset_bytes, u64::from(request.length_bytes), extents_max);
        self.answers.extents(request.cookie, &extents.map_err(|failed| refusal(request, &failed))?);
        Ok(())
    }

    /// A request without data in either direction.
    fn carry_out(&mut self, request: &Request) -> Result<(), Refusal> {
        self.check(request)?;
        let (offset, length) = (request.offset_bytes, u64::from(request.length_bytes));
        let durability = durability(request);
        let refuse = |failed: DeviceError| refusal(request, &failed);
        match request.command {
            command::TRIM => {
                self.device.trim(offset, length).map_err(refuse)?;
                self.make(request, durability)?;
            }
            // Zeroes are best stored as a hole, unless the client requests allocation.
            command::WRITE_ZEROES if !request.has(command_flag::NO_HOLE) && self.device.capabilities().trims => {
                punch(self.device, offset, length).map_err(refuse)?;
                self.make(request, durability)?;
            }
            command::WRITE_ZEROES => self.device.zero(offset, length, durability).map_err(refuse)?,
            command::FLUSH => self.device.flush().map_err(refuse)?,
            unknown => return Err(Refusal::invalid(format!("command {unknown} is unknown"))),
        }
        self.answers.done(request.cookie);
        Ok(())
    }

    /// Checks a request before any of it is executed.
    fn check(&self, request: &Request) -> Result<(), Refusal> {
        if !request.has_known_flags() {
            return Err(Refusal::invalid(format!("flags {:#x} of command {}", request.flags, request.command)));
        }
        if request.command == command::READ && request.length_bytes > protocol::REQUEST_BYTES_MAX {
            return Err(Refusal::invalid(format!("a read of more than {} bytes", protocol::REQUEST_BYTES_MAX)));
        }
        let range = self.device.capabilities().check_range(request.offset_bytes, u64::from(request.length_bytes));
        range.map_err(|failed| refusal(request, &failed))
    }

    fn make(&self, request: &Request, durability: Durability) -> Result<(), Refusal> {
        match durability {
            Durability::Durable => self.device.flush().map_err(|failed| refusal(request, &failed)),
            Durability::Cached => Ok(()),
        }
    }

    /// The pieces of a request's data, as ranges, divided at whole units of the device.
    fn pieces(&self, request: &Request) -> impl Iterator<Item = (usize, usize)> + use<R, W> {
        let (length, piece) = (request.length_bytes as usize, self.share.piece_bytes);
        let before = (request.offset_bytes % BLOCK_BYTES as u64) as usize;
        let end_of = move |from: usize| length.min((before + from) / BLOCK_BYTES * BLOCK_BYTES + piece - before);
        iter::successors(Some((0, end_of(0))), move |&(_, to)| Some((to, end_of(to))))
            .take_while(|(from, to)| from < to)
    }
}

/// A read that is answered at once.
fn whole(request: &Request) -> Piece {
    let Request { cookie, offset_bytes, length_bytes, .. } = *request;
    Piece { cookie, offset_bytes, length_bytes: length_bytes as usize, is_first: true, is_last: true }
}

/// Reads `count` bytes to the start of `data`, which grows as they arrive.
fn receive(reader: &mut impl Read, data: &mut Vec<u8>, count: usize) -> io::Result<()> {
    let mut at = 0;
    while at < count {
        if data.len() == at {
            let length = (2 * at).clamp(FIRST_BYTES, count.max(FIRST_BYTES));
            data.reserve_exact(length - at);
            data.resize(length, 0);
        }
        let end = data.len().min(count);
        reader.read_exact(&mut data[at..end])?;
        at = end;
    }
    Ok(())
}

fn durability(request: &Request) -> Durability {
    if request.has(command_flag::FUA) { Durability::Durable } else { Durability::Cached }
}

fn refusal(request: &Request, failed: &DeviceError) -> Refusal {
    let number = match failed {
        DeviceError::PastTheEnd { .. } if matches!(request.command, command::WRITE | command::WRITE_ZEROES) => {
            error::NO_SPACE
        }
        DeviceError::PastTheEnd { .. } => error::INVALID,
        DeviceError::ReadOnly(_) => error::PERMISSION,
        DeviceError::Store(failed) if failed.raw_os_error() == Some(libc::ENOSPC) => error::NO_SPACE,
        _ => error::IO,
    };
    Refusal { number, message: failed.to_string() }
}

fn violation(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

fn is_time_limit(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
