//! The commands in progress, in numbered places: the number is the tag of their requests to the drive, and of the
//! transfers that the host is asked for.

use super::io::Request;
use super::pdu::Command;
use super::status::Status;
use std::ops::Range;
use std::time::Instant;

#[derive(Clone, Debug)]
pub enum What {
    Io(Request),
    /// A feature that has data.
    Feature,
    /// Deallocates a namespace, or all.
    Format(Range<u64>),
}

/// A command in progress.
pub struct Work {
    pub connection: usize,
    /// Of the connection: another may have its place by now.
    pub serial: u64,
    pub command: Command,
    pub what: What,
    /// Requests to the drive that have not completed.
    pub parts: u32,
    /// The first that failed.
    pub status: Status,
    /// Of the completion.
    pub result: u64,
    pub data: Vec<u8>,
    /// The bytes that the host sends.
    pub needed: usize,
    /// Of the data that the host was asked for.
    pub received: usize,
    pub asked: Option<Instant>,
}

/// Buffers that are kept for the next commands.
const SPARE_MAX: usize = 256;
const SPARE_BYTES_MAX: usize = 64 << 10;

#[derive(Default)]
pub struct Works {
    places: Vec<Option<Work>>,
    free: Vec<usize>,
    spare: Vec<Vec<u8>>,
    /// Of all data.
    pub held_bytes: usize,
}

impl Works {
    pub fn add(&mut self, work: Work) -> usize {
        match self.free.pop() {
            Some(place) => {
                self.places[place] = Some(work);
                place
            }
            None => {
                self.places.push(Some(work));
                self.places.len() - 1
            }
        }
    }

    pub fn get(&self, place: usize) -> Option<&Work> {
        self.places.get(place)?.as_ref()
    }

    pub fn get_mut(&mut self, place: usize) -> Option<&mut Work> {
        self.places.get_mut(place)?.as_mut()
    }

    /// Gives the command memory for its data.
    pub fn hold(&mut self, place: usize, length: usize) {
        let mut data = self.spare.pop().unwrap_or_default();
        data.resize(length, 0);
        self.held_bytes += length;
        if let Some(work) = self.get_mut(place) {
            work.data = data;
        }
    }

    /// Ends the command; its memory is given back with `release`.
    pub fn take(&mut self, place: usize) -> Option<Work> {
        let work = self.places.get_mut(place)?.take()?;
        self.free.push(place);
        self.held_bytes -= work.data.len();
        Some(work)
    }

    pub fn release(&mut self, mut data: Vec<u8>) {
        if data.capacity() > 0 && data.capacity() <= SPARE_BYTES_MAX && self.spare.len() < SPARE_MAX {
            data.clear();
            self.spare.push(data);
        }
    }

    pub fn each(&self) -> impl Iterator<Item = (usize, &Work)> {
        self.places.iter().enumerate().filter_map(|(place, work)| Some((place, work.as_ref()?)))
    }
}
