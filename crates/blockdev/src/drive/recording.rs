//! What a host asked of a drive, written down so that another drive, of the same capacity, can be asked the same.
//!
//! Without the data. At virtual pace an entry has the depth at which the request was made, and a replay makes it when as
//! few are outstanding: a closed loop. At real pace it has the time, which a replay keeps.

use super::core::{Core, Manner};
use super::{OpenError, Options, SimulatedDevice};
use crate::device::DeviceError;
use crate::nand::Transfer;
use ssdlab_engine::request::Operation;
use ssdlab_engine::specification::Drive;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::ops::ControlFlow;

const ENTRY_BYTES: usize = 32;
/// Entries between two looks at whether a replay is to end.
const ENTRIES_AT_ONCE: u64 = 1 << 12;

/// What a host asks for, other than the marks' names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Request {
        operation: Operation,
        offset_bytes: u64,
        length_bytes: u32,
        depth: u32,
        manner: Manner,
    },
    Flush,
    /// At real pace: a flush, or a write that had to be safe, was answered.
    Settled,
    Idle {
        duration_ns: u64,
    },
    Mark,
    Reset,
    /// Someone asked for the outcome so far, for which the drive finished what it had answered.
    Looked,
    PowerCut,
    LeaveReclaimUnit {
        identifier: u8,
    },
}

pub(super) struct Recorder {
    file: BufWriter<File>,
    names: Vec<String>,
    /// An entry could not be written; the rest is not recorded.
    failed: Option<io::Error>,
}

impl Recorder {
    pub fn in_file(file: File) -> Self {
        Self { file: BufWriter::new(file), names: Vec::new(), failed: None }
    }

    fn note(&mut self, now_ns: u64, event: Event) {
        if self.failed.is_none() {
            self.failed = self.file.write_all(&bytes_of(now_ns, event)).err();
        }
    }
}

/// Everything that was asked since the recording began.
pub struct Recording {
    file: File,
    names: Vec<String>,
    answers_late: bool,
}

impl Recording {
    /// Asks a new drive the same. `goes_on` is called from time to time; the replay ends early when it breaks.
    ///
    /// What is refused, because the drive has worn out, is refused as it would have been.
    pub fn replay(
        &self,
        drive: &Drive,
        options: &Options,
        goes_on: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<SimulatedDevice, OpenError> {
        let device = SimulatedDevice::new(drive, options)?;
        let mut file = &self.file;
        file.rewind()?;
        let (mut entries, mut entry) = (BufReader::new(file), [0; ENTRY_BYTES]);
        let (mut names, mut into) = (self.names.iter(), Vec::new());
        let mut core = device.core();
        core.answers_late = self.answers_late;
        for count in 1.. {
            match entries.read_exact(&mut entry) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
                read => read?,
            }
            let (now_ns, event) = event_of(&entry);
            core.ask_again(now_ns, event, &mut names, &mut into);
            if count % ENTRIES_AT_ONCE == 0 && goes_on().is_break() {
                break;
            }
        }
        drop(core);
        Ok(device)
    }
}

impl Core {
    /// Writes down what is asked from now on. The file is the recording's own, and empty.
    pub fn record(&mut self, file: File) {
        self.recorder = Some(Recorder::in_file(file));
    }

    /// Ends the recording; None if there is none. The error is the first of the file.
    pub fn take_recording(&mut self) -> Option<io::Result<Recording>> {
        let Recorder { file, names, failed } = self.recorder.take()?;
        let answers_late = self.answers_late;
        let written =
            failed.map_or(Ok(()), Err).and_then(|()| file.into_inner().map_err(io::IntoInnerError::into_error));
        Some(written.map(|file| Recording { file, names, answers_late }))
    }

    #[inline]
    pub(super) fn note_asked(&mut self, event: Event) {
        let now_ns = self.now_ns();
        if let Some(recorder) = &mut self.recorder {
            recorder.note(now_ns, event);
        }
    }

    pub(super) fn note_marked(&mut self, name: &str) {
        self.note_asked(Event::Mark);
        if let Some(recorder) = &mut self.recorder {
            recorder.names.push(name.to_owned());
        }
    }

    fn ask_again<'a>(
        &mut self,
        now_ns: u64,
        event: Event,
        names: &mut impl Iterator<Item = &'a String>,
        into: &mut Vec<u8>,
    ) {
        if self.is_real_pace {
            self.advance_to(now_ns);
        }
        // An error was the host's to see.
        let _: Result<(), DeviceError> = match event {
            Event::Request { operation, offset_bytes, length_bytes, depth, manner } => {
                let transfer = if operation == Operation::Read {
                    into.resize(length_bytes as usize, 0);
                    Transfer::Read { offset_bytes, into }
                } else {
                    Transfer::Zero { offset_bytes, length_bytes: u64::from(length_bytes) }
                };
                self.execute(operation, transfer, length_bytes, depth, manner)
            }
            Event::Flush => self.flush(),
            Event::Settled => self.settle_durable(),
            Event::Idle { duration_ns } => self.idle(duration_ns),
            Event::Mark => names.next().map_or(Ok(()), |name| {
                self.mark(name);
                Ok(())
            }),
            Event::Reset => {
                self.reset();
                Ok(())
            }
            Event::Looked => {
                self.bring_in_answered();
                Ok(())
            }
            Event::PowerCut => {
                self.cut_power();
                Ok(())
            }
            Event::LeaveReclaimUnit { identifier } => self.leave_own_reclaim_unit(identifier).1,
        };
        // Nobody waits for its answer.
        self.served.forget_awaited();
    }
}

const REQUESTS: [Operation; 3] = [Operation::Read, Operation::Write, Operation::Trim];

fn bytes_of(now_ns: u64, event: Event) -> [u8; ENTRY_BYTES] {
    let (mut value, mut length, mut depth, mut rest) = (0, 0, 0, [0; 3]);
    let kind = match event {
        Event::Request { operation, offset_bytes, length_bytes, depth: at, manner } => {
            (value, length, depth) = (offset_bytes, length_bytes, at);
            rest = [u8::from(manner.is_through), manner.identifier, u8::from(manner.is_granted)];
            REQUESTS.iter().position(|&one| one == operation).expect("a flush is an event of its own") as u8
        }
        Event::Flush => 3,
        Event::Settled => 4,
        Event::Idle { duration_ns } => {
            value = duration_ns;
            5
        }
        Event::Mark => 6,
        Event::Reset => 7,
        Event::PowerCut => 8,
        Event::LeaveReclaimUnit { identifier } => {
            rest[1] = identifier;
            9
        }
        Event::Looked => 10,
    };
    let mut bytes = [0; ENTRY_BYTES];
    bytes[..8].copy_from_slice(&now_ns.to_le_bytes());
    bytes[8..16].copy_from_slice(&u64::to_le_bytes(value));
    bytes[16..20].copy_from_slice(&u32::to_le_bytes(length));
    bytes[20..24].copy_from_slice(&u32::to_le_bytes(depth));
    bytes[24] = kind;
    bytes[25..28].copy_from_slice(&rest);
    bytes
}

fn event_of(bytes: &[u8; ENTRY_BYTES]) -> (u64, Event) {
    let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let event = match bytes[24] {
        kind @ 0..3 => Event::Request {
            operation: REQUESTS[usize::from(kind)],
            offset_bytes: u64_at(8),
            length_bytes: u32_at(16),
            depth: u32_at(20),
            manner: Manner { is_through: bytes[25] != 0, identifier: bytes[26], is_granted: bytes[27] != 0 },
        },
        3 => Event::Flush,
        4 => Event::Settled,
        5 => Event::Idle { duration_ns: u64_at(8) },
        6 => Event::Mark,
        7 => Event::Reset,
        8 => Event::PowerCut,
        9 => Event::LeaveReclaimUnit { identifier: bytes[26] },
        10 => Event::Looked,
        kind => unreachable!("no entry of kind {kind} is written"),
    };
    (u64_at(0), event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_as_they_were() {
        let manner = Manner { is_through: true, identifier: 3, is_granted: false };
        let request =
            |operation| Event::Request { operation, offset_bytes: 1 << 40, length_bytes: 9, depth: 7, manner };
        let others = [
            Event::Flush,
            Event::Settled,
            Event::Idle { duration_ns: 5 },
            Event::Mark,
            Event::Reset,
            Event::Looked,
            Event::PowerCut,
            Event::LeaveReclaimUnit { identifier: 2 },
        ];
        for event in REQUESTS.map(request).into_iter().chain(others) {
            assert_eq!(event_of(&bytes_of(1 << 50, event)), (1 << 50, event));
        }
    }
}
