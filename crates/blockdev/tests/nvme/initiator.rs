//! A host that is as small as can be: one connection is one queue. It shares no code with the target.

use ssdlab_blockdev::nvme::Server;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Every wait ends, so that a target that does not answer fails the test instead of stopping it.
const PATIENCE: Duration = Duration::from_secs(20);
const IN_CAPSULE_MAX: usize = 8192;
pub const DISCOVERY: &str = "nqn.2014-08.org.nvmexpress.discovery";

/// A command, field by field.
#[derive(Clone, Copy)]
pub struct Entry(pub [u8; 64]);

impl Entry {
    pub fn new(opcode: u8, namespace: u32) -> Self {
        let mut bytes = [0; 64];
        bytes[0] = opcode;
        bytes[1] = 0x40;
        bytes[4..8].copy_from_slice(&namespace.to_le_bytes());
        Self(bytes)
    }

    pub fn dword(mut self, number: usize, value: u32) -> Self {
        self.0[4 * number..4 * number + 4].copy_from_slice(&value.to_le_bytes());
        self
    }

    /// A read, write or write of zeroes.
    pub fn blocks(self, first: u64, count: u64) -> Self {
        self.dword(10, first as u32).dword(11, (first >> 32) as u32).dword(12, count as u32 - 1)
    }

    pub fn is(&self, opcode: u8) -> bool {
        self.0[0] == opcode
    }
}

#[derive(Debug)]
pub struct Answer {
    pub id: u16,
    /// Code and type, without the bit that asks not to repeat.
    pub status: u16,
    pub result: u64,
    pub data: Vec<u8>,
}

pub struct Host {
    pub stream: TcpStream,
    digests: u8,
    next_id: u16,
    /// Data of writes that the target will ask for.
    outgoing: BTreeMap<u16, Vec<u8>>,
    incoming: BTreeMap<u16, Vec<u8>>,
    pub controller: u16,
}

impl Host {
    pub fn open(server: &Server, digests: u8) -> io::Result<Self> {
        Self::open_at(server.address(), digests)
    }

    pub fn open_at(address: SocketAddr, digests: u8) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut host = Self {
            stream,
            digests: 0,
            next_id: 0,
            outgoing: BTreeMap::new(),
            incoming: BTreeMap::new(),
            controller: 0,
        };
        host.stream.write_all(&opening(digests))?;
        let mut opened = [0; 128];
        host.stream.read_exact(&mut opened)?;
        assert_eq!((opened[0], opened[2], opened[10], opened[11]), (1, 128, 0, digests), "{:?}", &opened[..16]);
        let data_max = u32::from_le_bytes(opened[12..16].try_into().unwrap());
        assert!(data_max >= 4096 && data_max.is_multiple_of(4));
        host.digests = digests;
        Ok(host)
    }

    /// A controller that is ready.
    pub fn admin(server: &Server, digests: u8) -> io::Result<Self> {
        let mut host = Self::open(server, digests)?;
        let answer = host.connect(server.nqn(), 0, 0xffff, 32, 0)?;
        assert_eq!(answer.status, 0);
        host.controller = answer.result as u16;
        host.set_property(0x14, 0x46_0001)?;
        assert_eq!(host.property(0x1c)? & 1, 1);
        Ok(host)
    }

    /// An I/O queue of the controller of `self`.
    pub fn queue(&self, server: &Server, number: u16, digests: u8) -> io::Result<Self> {
        let mut host = Self::open(server, digests)?;
        let answer = host.connect(server.nqn(), number, self.controller, 128, 0)?;
        assert_eq!(answer.status, 0);
        Ok(host)
    }

    pub fn connect(
        &mut self,
        nqn: &str,
        queue: u16,
        controller: u16,
        entries: u16,
        kato_ms: u32,
    ) -> io::Result<Answer> {
        self.round(connecting(queue, entries, kato_ms), &connect_data(nqn, controller), 0)
    }

    pub fn property(&mut self, offset: u32) -> io::Result<u64> {
        let mut entry = Entry::new(0x7f, 4).dword(10, u32::from(offset == 0)).dword(11, offset);
        entry.0[4] = 4;
        let answer = self.round(entry, &[], 0)?;
        assert_eq!(answer.status, 0);
        Ok(answer.result)
    }

    pub fn set_property(&mut self, offset: u32, value: u32) -> io::Result<()> {
        let answer = self.round(Entry::new(0x7f, 0).dword(11, offset).dword(12, value), &[], 0)?;
        assert_eq!(answer.status, 0);
        Ok(())
    }

    pub fn identify(&mut self, structure: u32, namespace: u32) -> io::Result<Answer> {
        self.round(Entry::new(6, namespace).dword(10, structure), &[], 4096)
    }

    pub fn log(&mut self, number: u32, length: usize, offset: u32) -> io::Result<Answer> {
        let words = length as u32 / 4 - 1;
        self.round(Entry::new(2, u32::MAX).dword(10, number | words << 16).dword(12, offset), &[], length)
    }

    /// One command and its answer.
    pub fn round(&mut self, entry: Entry, data: &[u8], room: usize) -> io::Result<Answer> {
        let id = self.send(entry, data, room)?;
        let answer = self.receive()?;
        assert_eq!(answer.id, id);
        Ok(answer)
    }

    /// Sends a command with data, or with room for the data of its answer.
    pub fn send(&mut self, entry: Entry, data: &[u8], room: usize) -> io::Result<u16> {
        let id = self.next_id;
        self.next_id = (self.next_id + 1) % 1000;
        let is_in_capsule = !data.is_empty() && data.len() <= IN_CAPSULE_MAX;
        let mut entry = entry.0;
        entry[2..4].copy_from_slice(&id.to_le_bytes());
        entry[32..36].copy_from_slice(&(data.len().max(room) as u32).to_le_bytes());
        entry[39] = if is_in_capsule { 0x01 } else { 0x5a };
        if is_in_capsule {
            self.unit(4, 0, &entry, data)?;
        } else {
            self.outgoing.insert(id, data.to_vec());
            self.unit(4, 0, &entry, &[])?;
        }
        Ok(id)
    }

    /// The next answer. Sends the data that is asked for before it.
    pub fn receive(&mut self) -> io::Result<Answer> {
        loop {
            let (head, data) = self.take_unit()?;
            let id = u16::from_le_bytes(head[8..10].try_into().unwrap());
            let number = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap()) as usize;
            match head[0] {
                5 => {
                    let id = u16::from_le_bytes(head[20..22].try_into().unwrap());
                    let field = u16::from_le_bytes(head[22..24].try_into().unwrap());
                    self.outgoing.remove(&id);
                    let data = self.incoming.remove(&id).unwrap_or_default();
                    let result = u64::from_le_bytes(head[8..16].try_into().unwrap());
                    return Ok(Answer { id, status: (field >> 1) & 0x7ff, result, data });
                }
                7 => {
                    let whole = self.incoming.entry(id).or_default();
                    assert_eq!((whole.len(), data.len()), (number(12), number(16)));
                    whole.extend_from_slice(&data);
                }
                9 => {
                    let whole = self.outgoing.get(&id).expect("data of a command").clone();
                    let part = &whole[number(12)..number(12) + number(16)];
                    for (index, piece) in part.chunks(64 << 10).enumerate() {
                        let mut rest = [0; 16];
                        rest[..4].copy_from_slice(&head[8..12]);
                        let at = number(12) + index * (64 << 10);
                        rest[4..8].copy_from_slice(&(at as u32).to_le_bytes());
                        rest[8..12].copy_from_slice(&(piece.len() as u32).to_le_bytes());
                        let is_last = at + piece.len() == whole.len();
                        self.unit(6, if is_last { 4 } else { 0 }, &rest, piece)?;
                    }
                }
                kind => return Err(io::Error::other(format!("unit {kind}: {head:?}"))),
            }
        }
    }

    fn unit(&mut self, kind: u8, flags: u8, rest: &[u8], data: &[u8]) -> io::Result<()> {
        self.stream.write_all(&unit(kind, flags, rest, data, self.digests))
    }

    fn take_unit(&mut self) -> io::Result<(Vec<u8>, Vec<u8>)> {
        let mut head = vec![0; 8];
        self.stream.read_exact(&mut head)?;
        let length = u32::from_le_bytes(head[4..8].try_into().unwrap()) as usize;
        let header = usize::from(head[2]);
        head.resize(length, 0);
        self.stream.read_exact(&mut head[8..])?;
        let has_data = head[0] == 7;
        let from = if has_data { usize::from(head[3]) } else { length };
        let has_digest = |bit: u8| head[1] & bit != 0;
        assert_eq!(has_digest(1), self.digests & 1 != 0 && head[0] != 3);
        if has_digest(1) {
            assert_eq!(head[header..header + 4], crc32c(&head[..header]).to_le_bytes());
        }
        let end = length - if has_digest(2) { 4 } else { 0 };
        if has_digest(2) {
            assert_eq!(head[end..], crc32c(&head[from..end]).to_le_bytes());
        }
        let data = if has_data { head[from..end].to_vec() } else { Vec::new() };
        Ok((head, data))
    }
}

pub fn opening(digests: u8) -> Vec<u8> {
    let mut bytes = vec![0; 128];
    bytes[2] = 128;
    bytes[4] = 128;
    bytes[11] = digests;
    bytes
}

pub fn connecting(queue: u16, entries: u16, kato_ms: u32) -> Entry {
    Entry::new(0x7f, 1).dword(10, u32::from(queue) << 16).dword(11, u32::from(entries) - 1).dword(12, kato_ms)
}

pub fn connect_data(nqn: &str, controller: u16) -> Vec<u8> {
    let mut data = vec![0; 1024];
    data[16..18].copy_from_slice(&controller.to_le_bytes());
    data[256..256 + nqn.len()].copy_from_slice(nqn.as_bytes());
    let host = b"nqn.2014-08.org.example:host";
    data[512..512 + host.len()].copy_from_slice(host);
    data
}

pub fn unit(kind: u8, flags: u8, rest: &[u8], data: &[u8], digests: u8) -> Vec<u8> {
    let header = 8 + rest.len();
    let has_data_digest = digests & 2 != 0 && !data.is_empty();
    let from = header + if digests & 1 != 0 { 4 } else { 0 };
    let length = from + data.len() + if has_data_digest { 4 } else { 0 };
    let flags = flags | (digests & 1) | if has_data_digest { 2 } else { 0 };
    let mut bytes = vec![kind, flags, header as u8, if data.is_empty() { 0 } else { from as u8 }];
    bytes.extend_from_slice(&(length as u32).to_le_bytes());
    bytes.extend_from_slice(rest);
    if digests & 1 != 0 {
        let digest = crc32c(&bytes);
        bytes.extend_from_slice(&digest.to_le_bytes());
    }
    bytes.extend_from_slice(data);
    if has_data_digest {
        bytes.extend_from_slice(&crc32c(data).to_le_bytes());
    }
    bytes
}

/// Bit by bit, as the standard describes it.
fn crc32c(data: &[u8]) -> u32 {
    !data.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 })
    })
}
