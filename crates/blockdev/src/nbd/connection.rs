//! One client's requests, in order: reads what has come, answers all of it at once.

use super::protocol::{self, COMMAND_FLAG_FUA, COMMAND_FLAG_NO_HOLE, REQUEST_BYTES, Request, command, error};
use crate::device::{Device, DeviceError, Durability, punch};
use std::io::{self, BufReader, Read, Write};

/// Holds the requests that a client sends without waiting, so that a system call brings many.
const IN_BYTES: usize = 1 << 18;
/// Answers that are gathered before they are sent, while there are requests left to look at.
const OUT_BYTES: usize = 1 << 18;

/// Serves until the client leaves. An error is one of the connection.
pub fn serve(reader: impl Read, mut writer: impl Write, device: &dyn Device) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(IN_BYTES, reader);
    let mut answers: Vec<u8> = Vec::with_capacity(OUT_BYTES);
    let mut data = Vec::new();
    loop {
        // Nothing more has come that could be answered in the same breath.
        if reader.buffer().len() < REQUEST_BYTES || answers.len() >= OUT_BYTES {
            writer.write_all(&answers)?;
            answers.clear();
        }
        let mut head = [0; REQUEST_BYTES];
        match reader.read_exact(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            other => other?,
        }
        let Some(request) = Request::parse(&head) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not an NBD request"));
        };
        if request.command == command::DISCONNECT {
            return writer.write_all(&answers);
        }
        if request.command == command::WRITE {
            if request.length_bytes > protocol::REQUEST_BYTES_MAX {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "an NBD write is too long"));
            }
            data.resize(request.length_bytes as usize, 0);
            // What was answered must not wait for data that may come late.
            if reader.buffer().len() < data.len() {
                writer.write_all(&answers)?;
                answers.clear();
            }
            reader.read_exact(&mut data)?;
        }
        answer(&request, &data, device, &mut answers);
    }
}

fn answer(request: &Request, data: &[u8], device: &dyn Device, answers: &mut Vec<u8>) {
    let durability = if request.flags & COMMAND_FLAG_FUA != 0 { Durability::Durable } else { Durability::Cached };
    let (offset, length) = (request.offset_bytes, u64::from(request.length_bytes));
    let head_at = answers.len();
    answers.extend_from_slice(&protocol::simple_reply(request.cookie, 0));
    let done = match request.command {
        command::READ if request.length_bytes > protocol::REQUEST_BYTES_MAX => Err(error::INVALID),
        command::READ => {
            let data_at = answers.len();
            answers.resize(data_at + length as usize, 0);
            device.read(offset, &mut answers[data_at..]).map_err(|failed| number(&failed, error::INVALID))
        }
        command::WRITE => written(device.write(offset, data, durability)),
        command::TRIM => written(device.trim(offset, length)).and_then(|()| made(device, durability)),
        // A hole is what zeroes are kept in best, unless the client wants the space to be taken.
        command::WRITE_ZEROES if request.flags & COMMAND_FLAG_NO_HOLE == 0 && device.capabilities().trims => {
            written(punch(device, offset, length)).and_then(|()| made(device, durability))
        }
        command::WRITE_ZEROES => written(device.zero(offset, length, durability)),
        command::FLUSH => written(device.flush()),
        _ => Err(error::NOT_SUPPORTED),
    };
    if let Err(number) = done {
        answers.truncate(head_at);
        answers.extend_from_slice(&protocol::simple_reply(request.cookie, number));
    }
}

fn made(device: &dyn Device, durability: Durability) -> Result<(), u32> {
    match durability {
        Durability::Durable => written(device.flush()),
        Durability::Cached => Ok(()),
    }
}

fn written(done: Result<(), DeviceError>) -> Result<(), u32> {
    done.map_err(|failed| number(&failed, error::NO_SPACE))
}

fn number(failed: &DeviceError, past_the_end: u32) -> u32 {
    match failed {
        DeviceError::PastTheEnd { .. } => past_the_end,
        DeviceError::ReadOnly(_) => error::PERMISSION,
        DeviceError::Store(failed) if failed.raw_os_error() == Some(libc::ENOSPC) => error::NO_SPACE,
        _ => error::IO,
    }
}
