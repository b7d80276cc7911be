//! NVMe commands as the kernel's event `nvme_setup_cmd` has them, printed by perf script, trace-cmd or ftrace.
//!
//! `fio-7 [003] 9904.831153: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=4, cmdid=25169, nsid=1, flags=0x0, meta=0x0,
//! cmd=(nvme_cmd_write slba=498455480, len=7, ctrl=0x0, dsmgmt=0, reftag=0)`. `len` is one less than the number of
//! blocks, and bit 14 of `ctrl` is "force unit access". The event does not say how large a block is, nor which ranges
//! `nvme_cmd_dsm` deallocates. Lines without such a command are passed over. Source: `drivers/nvme/host/trace.h` and
//! `trace.c` in Linux; NVM Command Set Specification 1.0, figure 82 and following.

use super::block_events::time_before;
use super::rwbs::{PLACED_LATER, Rwbs};
use super::{Decode, Event, SECTOR_BYTES};
use crate::cursor::Cursor;
use crate::record::Operation;
use crate::volumes::Volumes;
use memchr::memmem;

const FORCE_UNIT_ACCESS: u64 = 1 << 14;

#[derive(Default)]
pub struct NvmeCommands;

impl Decode for NvmeCommands {
    const NO_REQUESTS_HINT: &'static str = "has it commands such as nvme_cmd_write, with slba and len?";

    fn note(&self) -> Option<&'static str> {
        Some(
            "its blocks are counted as 512 bytes each, because its events do not say how large they are, and its trims \
             are left out, because the events have no ranges",
        )
    }

    #[inline]
    fn decode(&mut self, line: &[u8], volumes: &mut Volumes) -> Result<Event, &'static str> {
        // Linux 4.17 and 4.18 have an event of their own for commands to a namespace, without the controller.
        let names = [&b"nvme_setup_cmd:"[..], b"nvme_setup_nvm_cmd:"];
        let found = names.iter().find_map(|name| memmem::find(line, name));
        let Some(at) = found else { return Ok(Event::NotARequest) };
        let (before, event) = (&line[..at], &line[at..]);
        let Some(from) = memmem::find(event, b"cmd=(nvme_cmd_") else { return Ok(Event::NotARequest) };
        let (head, command) = event.split_at(from);
        let mut cursor = Cursor::new(&command[b"cmd=(nvme_cmd_".len()..]);
        let (has_flush, operation) = match cursor.word() {
            b"read" => (false, Some(Operation::Read)),
            b"write" | b"write_zeroes" => (false, Some(Operation::Write)),
            b"flush" => (true, None),
            b"zone_append" => return Err(PLACED_LATER),
            _ => return Ok(Event::NotARequest),
        };
        // In perf's output the name of the event's group stands before it.
        let before = before.strip_suffix(b"nvme:").unwrap_or(before);
        let time_ns = time_before(before).ok_or("a time in seconds before the event's name")?;
        let (mut offset_bytes, mut length_bytes, mut is_through) = (0, 0, false);
        if operation.is_some() {
            let blocks = field(command, b"len=").ok_or("a number of blocks (len=)")? + 1;
            let first = field(command, b"slba=").ok_or("a first block (slba=)")?;
            offset_bytes = first.checked_mul(SECTOR_BYTES).ok_or("a place below 2^64 bytes")?;
            length_bytes = blocks * SECTOR_BYTES;
            is_through = field(command, b"ctrl=").is_some_and(|control| control & FORCE_UNIT_ACCESS != 0);
        }
        let rwbs = Rwbs { has_flush, is_through, operation, is_placed_later: false };
        rwbs.event(time_ns, offset_bytes, length_bytes, || volume(head, volumes))
    }
}

/// The number behind a name, decimal or with `0x`. A block count is below 2^32, so that callers can add and multiply.
fn field(text: &[u8], name: &[u8]) -> Option<u64> {
    let from = memmem::find(text, name)? + name.len();
    let mut cursor = Cursor::new(&text[from..]);
    let value = if text[from..].starts_with(b"0x") { cursor.hexadecimal() } else { cursor.number() }?;
    (name != b"len=" || value < u64::from(u32::MAX)).then_some(value)
}

/// The disk, or where the kernel printed none the controller and the namespace.
fn volume(head: &[u8], volumes: &mut Volumes) -> Result<u32, &'static str> {
    if let Some(at) = memmem::find(head, b"disk=") {
        let name = &head[at + b"disk=".len()..];
        return volumes.intern(&name[..memchr::memchr(b',', name).unwrap_or(name.len())]);
    }
    let behind_name = head.split(|&byte| byte == b':').nth(1).unwrap_or_default().trim_ascii();
    let controller = if behind_name.contains(&b'=') { b"nvme" } else { behind_name };
    let namespace = field(head, b"nsid=").ok_or("a disk (disk=) or a namespace (nsid=)")?;
    let mut name = controller.to_vec();
    name.extend_from_slice(format!("n{namespace}").as_bytes());
    volumes.intern(&name)
}
