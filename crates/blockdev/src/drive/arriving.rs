//! Host data that the drive has received and not yet decided on: requests that wait for the link or for space in the
//! buffer. Reads in the meantime are served from here.

use crate::device::DeviceError;
use crate::nand::Transfer;
use std::collections::VecDeque;
use std::ops::Range;

#[derive(Debug)]
pub enum Data {
    Bytes(Vec<u8>),
    Zeroes,
    /// Only whole units are trimmed.
    Trimmed {
        unit_bytes: u64,
    },
}

#[derive(Debug)]
pub struct Arrival {
    /// The request's tag, under which the front has the drive decide on it.
    tag: u32,
    tag_of_part: u32,
    range: Range<u64>,
    data: Data,
    /// Whether the request was reported to the host as complete.
    is_answered: bool,
}

impl Arrival {
    pub fn transfer(&self) -> Transfer<'_> {
        let Range { start: offset_bytes, end } = self.range;
        match &self.data {
            Data::Bytes(data) => Transfer::Write { offset_bytes, data },
            Data::Zeroes | Data::Trimmed { .. } => Transfer::Zero { offset_bytes, length_bytes: end - offset_bytes },
        }
    }

    fn take_beginning(&mut self, end_bytes: u64) -> Self {
        let range = self.range.start..end_bytes;
        let data = match &mut self.data {
            Data::Bytes(data) => Data::Bytes(data.drain(..(range.end - range.start) as usize).collect()),
            Data::Zeroes => Data::Zeroes,
            Data::Trimmed { unit_bytes } => Data::Trimmed { unit_bytes: *unit_bytes },
        };
        self.range.start = end_bytes;
        Self { range, data, ..*self }
    }

    fn overlaps(&self, range: &Range<u64>) -> bool {
        !range.is_empty() && self.range.start < range.end && range.start < self.range.end
    }

    /// The part of a read of `into`, which begins at `offset_bytes`, that it provides.
    fn lay_over(&self, offset_bytes: u64, into: &mut [u8]) {
        let changed = match self.data {
            Data::Trimmed { unit_bytes } => {
                self.range.start.next_multiple_of(unit_bytes)..self.range.end / unit_bytes * unit_bytes
            }
            _ => self.range.clone(),
        };
        let from = changed.start.max(offset_bytes);
        let to = changed.end.min(offset_bytes + into.len() as u64);
        if from >= to {
            return;
        }
        let part = &mut into[(from - offset_bytes) as usize..(to - offset_bytes) as usize];
        match &self.data {
            Data::Bytes(data) => {
                let at = (from - self.range.start) as usize;
                part.copy_from_slice(&data[at..at + part.len()]);
            }
            Data::Zeroes | Data::Trimmed { .. } => part.fill(0),
        }
    }
}

#[derive(Debug, Default)]
pub struct Arriving {
    /// In the order of arrival.
    arrivals: VecDeque<Arrival>,
    /// Requests that failed after they were reported as complete: their data is in memory only.
    stranded: Vec<Arrival>,
    /// Errors of requests that wait for their answer, and of those that have it.
    failed: Vec<(u32, DeviceError)>,
    failed_late: Option<DeviceError>,
}

impl Arriving {
    pub fn is_empty(&self) -> bool {
        self.arrivals.is_empty()
    }

    pub fn push(&mut self, tag: u32, tag_of_part: u32, range: Range<u64>, data: Data) {
        self.arrivals.push_back(Arrival { tag, tag_of_part, range, data, is_answered: false });
    }

    /// Removes a request that is now decided on, up to `end_bytes`: the front has the drive decide on the parts of a
    /// large write one after another.
    pub fn take(&mut self, tag_of_part: u32, end_bytes: u64) -> Option<Arrival> {
        let slot = self.arrivals.iter().position(|arrival| arrival.tag_of_part == tag_of_part)?;
        let arrival = &mut self.arrivals[slot];
        if end_bytes < arrival.range.end { Some(arrival.take_beginning(end_bytes)) } else { self.arrivals.remove(slot) }
    }

    /// A request was decided on; if it failed, its data remains here if the host relies on it.
    pub fn note_outcome(&mut self, arrival: Arrival, outcome: Result<(), DeviceError>) {
        let Err(error) = outcome else { return };
        if arrival.is_answered {
            self.stranded.push(arrival);
            self.failed_late.get_or_insert(error);
        } else {
            // Of the parts of a request the first that fails tells.
            if self.failed.iter().all(|&(failed, _)| failed != arrival.tag) {
                self.failed.push((arrival.tag, error));
            }
        }
    }

    /// The result of a request that was decided on.
    pub fn outcome(&mut self, tag: u32) -> Result<(), DeviceError> {
        match self.failed.iter().position(|&(failed, _)| failed == tag) {
            Some(slot) => Err(self.failed.swap_remove(slot).1),
            None => Ok(()),
        }
    }

    /// Errors of requests that had been answered, since the last call.
    pub fn take_late_failure(&mut self) -> Result<(), DeviceError> {
        self.failed_late.take().map_or(Ok(()), Err)
    }

    pub fn is_here(&self, tag: u32) -> bool {
        self.arrivals.iter().any(|arrival| arrival.tag == tag)
    }

    /// The request is reported to the host as complete.
    pub fn answer(&mut self, tag: u32) {
        if let Some(arrival) = self.arrivals.iter_mut().find(|arrival| arrival.tag == tag) {
            arrival.is_answered = true;
        }
    }

    /// Whether a pending write or trim overlaps the range.
    pub fn overlaps(&self, range: &Range<u64>) -> bool {
        self.arrivals.iter().any(|arrival| arrival.overlaps(range))
    }

    /// Whether anything in the range is stored here: pending, or kept because it failed.
    pub fn holds(&self, range: &Range<u64>) -> bool {
        self.stranded.iter().chain(&self.arrivals).any(|arrival| arrival.overlaps(range))
    }

    /// Overlays data read from flash with what is stored here.
    pub fn lay_over(&self, offset_bytes: u64, into: &mut [u8]) {
        for arrival in self.stranded.iter().chain(&self.arrivals) {
            arrival.lay_over(offset_bytes, into);
        }
    }

    /// A loss of power: everything here is lost.
    pub fn lose(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_its_way_lies_over_what_is_in_flash_in_the_order_in_which_it_came() {
        let mut arriving = Arriving::default();
        arriving.push(1, 7, 2..6, Data::Bytes(vec![1, 2, 3, 4]));
        arriving.push(2, 8, 5..7, Data::Zeroes);
        arriving.push(3, 9, 7..13, Data::Trimmed { unit_bytes: 4 });
        let read = |arriving: &Arriving, offset_bytes| {
            let mut into = [9; 6];
            arriving.lay_over(offset_bytes, &mut into);
            into
        };
        assert_eq!(read(&arriving, 0), [9, 9, 1, 2, 3, 0]);
        assert_eq!(read(&arriving, 4), [3, 0, 0, 9, 0, 0]);
        assert!(arriving.overlaps(&(12..20)) && !arriving.overlaps(&(13..20)));
        assert!(arriving.is_here(2) && arriving.take(2, 7).is_none());
        assert!(arriving.take(8, 7).is_some() && arriving.take(8, 7).is_none() && !arriving.is_here(2));
        assert_eq!(read(&arriving, 0), [9, 9, 1, 2, 3, 4]);
    }

    #[test]
    fn what_fails_after_its_answer_stays_readable_and_is_told_later() {
        let mut arriving = Arriving::default();
        arriving.push(1, 1, 0..2, Data::Bytes(vec![1, 2]));
        arriving.push(2, 2, 2..4, Data::Bytes(vec![3, 4]));
        arriving.answer(1);
        for tag in [1, 2] {
            let beginning = arriving.take(tag, u64::from(tag) * 2 - 1).unwrap();
            arriving.note_outcome(beginning, Err(DeviceError::Injected));
            let rest = arriving.take(tag, u64::from(tag) * 2).unwrap();
            arriving.note_outcome(rest, Err(DeviceError::Injected));
        }
        let mut into = [0; 4];
        arriving.lay_over(0, &mut into);
        assert_eq!(into, [1, 2, 0, 0]);
        assert!(arriving.outcome(1).is_ok() && arriving.outcome(2).is_err());
        assert!(arriving.take_late_failure().is_err() && arriving.take_late_failure().is_ok());
    }
}
