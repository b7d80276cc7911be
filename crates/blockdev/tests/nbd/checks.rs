//! What must hold of an NBD connection whatever bytes come in: the server does not break, what it says is made of whole
//! replies that the protocol has, each to the client's next option or request, and how the bytes come does not change
//! them. Also the part of the target in `fuzz/`.

use ssdlab_blockdev::device::{Capabilities, Device, DeviceError, Durability, Extent};
use ssdlab_blockdev::nbd::converse;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};

pub const UNIT_BYTES: u64 = 4096;
pub const SIZE_BYTES: u64 = 1 << 20;
/// Reading this unit fails.
pub const UNREADABLE_UNIT: u64 = 200;
/// As many as may be, so that a request of more than 64 KiB is carried out in pieces.
const CONNECTIONS: u32 = 1024;

/// Units in memory, by their number; what is not there is a hole.
#[derive(Default)]
pub struct Memory(Mutex<BTreeMap<u64, Vec<u8>>>);

impl Memory {
    fn put(&self, offset_bytes: u64, length_bytes: u64, byte_at: impl Fn(usize) -> u8) -> Result<(), DeviceError> {
        self.capabilities().check_range(offset_bytes, length_bytes)?;
        let mut units = self.0.lock().unwrap();
        for at in 0..length_bytes {
            let place = offset_bytes + at;
            let unit = units.entry(place / UNIT_BYTES).or_insert_with(|| vec![0; UNIT_BYTES as usize]);
            unit[(place % UNIT_BYTES) as usize] = byte_at(at as usize);
        }
        Ok(())
    }
}

impl Device for Memory {
    fn capabilities(&self) -> Capabilities {
        Capabilities { size_bytes: SIZE_BYTES, unit_bytes: UNIT_BYTES as u32, trims: true, has_volatile_cache: false }
    }

    fn read(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        self.capabilities().check_range(offset_bytes, into.len() as u64)?;
        let units = self.0.lock().unwrap();
        for (place, byte) in (offset_bytes..).zip(into) {
            if place / UNIT_BYTES == UNREADABLE_UNIT {
                return Err(DeviceError::Unreadable { offset_bytes: place });
            }
            *byte = units.get(&(place / UNIT_BYTES)).map_or(0, |unit| unit[(place % UNIT_BYTES) as usize]);
        }
        Ok(())
    }

    fn write(&self, offset_bytes: u64, data: &[u8], _durability: Durability) -> Result<(), DeviceError> {
        self.put(offset_bytes, data.len() as u64, |at| data[at])
    }

    fn trim(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), DeviceError> {
        self.capabilities().check_range(offset_bytes, length_bytes)?;
        let whole = offset_bytes.div_ceil(UNIT_BYTES)..(offset_bytes + length_bytes) / UNIT_BYTES;
        self.0.lock().unwrap().retain(|unit, _| !whole.contains(unit));
        Ok(())
    }

    fn zero(&self, offset_bytes: u64, length_bytes: u64, _durability: Durability) -> Result<(), DeviceError> {
        self.put(offset_bytes, length_bytes, |_| 0)
    }

    fn flush(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    fn extents(&self, offset_bytes: u64, length_bytes: u64, extents_max: usize) -> Result<Vec<Extent>, DeviceError> {
        self.capabilities().check_range(offset_bytes, length_bytes)?;
        let units = self.0.lock().unwrap();
        let mut extents: Vec<Extent> = Vec::new();
        for place in offset_bytes..offset_bytes + length_bytes {
            let is_hole = !units.contains_key(&(place / UNIT_BYTES));
            match extents.last_mut().filter(|last| last.is_hole == is_hole) {
                Some(last) => last.length_bytes += 1,
                None => extents.push(Extent { length_bytes: 1, is_hole }),
            }
        }
        extents.truncate(extents_max);
        Ok(extents)
    }
}

/// Hands its bytes out so many at a time.
struct Dribble<'a> {
    bytes: &'a [u8],
    at_once: usize,
}

impl Read for Dribble<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = out.len().min(self.at_once);
        self.bytes.read(&mut out[..count])
    }
}

/// What a server of an empty device says to a client that says all this.
pub fn heard(says: &[u8], at_once: usize) -> Vec<u8> {
    let mut hears = Vec::new();
    let device: Arc<dyn Device> = Arc::new(Memory::default());
    // How it ends is an error or not; what was said counts.
    let _ = converse(Dribble { bytes: says, at_once }, &mut hears, &device, CONNECTIONS);
    hears
}

/// A request as the client has sent it.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub flags: u16,
    pub command: u16,
    pub cookie: u64,
    pub offset_bytes: u64,
    pub length_bytes: u32,
}

/// The answer to a request, whichever form it has.
#[derive(Debug, Default, PartialEq)]
pub struct Answer {
    pub error: u32,
    /// What was read, holes filled in.
    pub data: Vec<u8>,
    pub hole_bytes: u64,
    /// Lengths and states.
    pub extents: Vec<(u32, u32)>,
}

/// Takes numbers and bytes off the front; nothing when there are not enough.
pub struct Words<'a>(pub &'a [u8]);

impl<'a> Words<'a> {
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub fn number(&mut self, bytes: usize) -> Option<u64> {
        Some(self.bytes(bytes)?.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
    }
}

/// The answer to `asked`, which comes next; nothing at the end of what was heard, which is between replies, but for a
/// simple reply to a read whose later pieces fail. Panics at what the protocol does not allow.
pub fn answer(hears: &mut Words<'_>, asked: &Asked) -> Option<Answer> {
    let mut answer = Answer::default();
    let mut read_to = asked.offset_bytes;
    loop {
        if hears.0.is_empty() {
            return None;
        }
        let magic = hears.number(4).expect("a whole reply");
        if magic == 0x6744_6698 {
            answer.error = hears.number(4).expect("a whole reply") as u32;
            assert_eq!(hears.number(8), Some(asked.cookie));
            if asked.command == 0 && answer.error == 0 {
                let Some(data) = hears.bytes(asked.length_bytes as usize) else {
                    hears.0 = &[];
                    return None;
                };
                answer.data = data.to_vec();
            }
            return Some(answer);
        }
        assert_eq!(magic, 0x668e_33ef, "neither kind of reply");
        let flags = hears.number(2).expect("a whole chunk");
        let kind = hears.number(2).expect("a whole chunk");
        assert_eq!(hears.number(8), Some(asked.cookie));
        let length = hears.number(4).expect("a whole chunk");
        let mut payload = Words(hears.bytes(length as usize).expect("a whole chunk"));
        match (kind, asked.command) {
            (0, _) => assert_eq!((length, flags), (0, 1)),
            (1, 0) => {
                assert!(length > 8);
                assert_eq!(payload.number(8), Some(read_to), "chunks come in order, without gaps");
                read_to += length - 8;
                answer.data.extend_from_slice(payload.0);
            }
            (2, 0) => {
                assert_eq!((length, payload.number(8)), (12, Some(read_to)));
                let hole_bytes = payload.number(4).filter(|&bytes| bytes > 0).expect("a length");
                read_to += hole_bytes;
                answer.hole_bytes += hole_bytes;
                answer.data.resize(answer.data.len() + hole_bytes as usize, 0);
            }
            (5, 7) => {
                assert!(length > 4 && length % 8 == 4);
                assert_eq!(payload.number(4), Some(1));
                while let Some(length) = payload.number(4) {
                    answer.extents.push((length as u32, payload.number(4).expect("a state") as u32));
                }
                let sum: u64 = answer.extents.iter().map(|&(length, _)| u64::from(length)).sum();
                assert!(sum <= u64::from(asked.length_bytes) && answer.extents.iter().all(|&(length, _)| length > 0));
                assert!(asked.flags & 8 == 0 || answer.extents.len() == 1, "one was asked for");
            }
            (0x8001, _) => {
                answer.error = payload.number(4).filter(|&error| error > 0).expect("an error") as u32;
                assert_eq!(payload.number(2), Some(length - 6));
                assert!(std::str::from_utf8(payload.0).is_ok());
            }
            _ => panic!("chunk {kind} in the answer to command {}", asked.command),
        }
        if flags == 1 {
            let is_whole = answer.error != 0 || asked.command != 0 || answer.data.len() == asked.length_bytes as usize;
            assert!(is_whole, "less than was asked for");
            return Some(answer);
        }
    }
}

/// Goes through the options that a client sends and the replies that it gets. What is left are requests and their
/// answers, unless nothing comes of it.
pub fn through_options(says: &mut Words<'_>, hears: &mut Words<'_>) -> Option<()> {
    assert_eq!(hears.bytes(18), Some(&b"NBDMAGICIHAVEOPT\0\x03"[..]));
    let has_no_zeroes = says.number(4)? & 2 != 0;
    loop {
        says.number(8)?;
        let number = says.number(4)?;
        let length = says.number(4)?;
        says.bytes(length as usize)?;
        if number == 1 {
            return hears.bytes(if has_no_zeroes { 10 } else { 134 }).map(|_| ());
        }
        let last = loop {
            if hears.0.is_empty() {
                return None;
            }
            assert_eq!(hears.number(8), Some(0x0003_e889_0455_65a9));
            assert_eq!(hears.number(4), Some(number));
            let kind = hears.number(4).expect("a whole reply");
            let length = hears.number(4).expect("a whole reply");
            hears.bytes(length as usize).expect("a whole reply");
            if kind == 1 || kind >> 31 == 1 {
                break kind;
            }
        };
        match (number, last) {
            (2, _) => return None,
            (7, 1) => return Some(()),
            _ => {}
        }
    }
}

/// The next request, with a write's data taken away.
pub fn request(says: &mut Words<'_>) -> Option<Asked> {
    says.number(4)?;
    let asked = Asked {
        flags: says.number(2)? as u16,
        command: says.number(2)? as u16,
        cookie: says.number(8)?,
        offset_bytes: says.number(8)?,
        length_bytes: says.number(4)? as u32,
    };
    if asked.command == 1 {
        says.bytes(asked.length_bytes as usize)?;
    }
    Some(asked)
}

/// Any bytes as what a client says.
pub fn check(says: &[u8]) {
    let hears = heard(says, usize::MAX);
    assert!(heard(says, 7) == hears, "how the bytes come changes the answers");
    let (mut says, mut hears) = (Words(says), Words(&hears));
    if through_options(&mut says, &mut hears).is_some() {
        while let Some(asked) = request(&mut says) {
            if answer(&mut hears, &asked).is_none() {
                break;
            }
        }
    }
    assert!(hears.0.is_empty(), "an answer that nothing was asked for");
}
