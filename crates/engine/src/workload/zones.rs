//! Jobs that move from zone to zone of their part of the drive: fio's `zonemode=strided`. All zones have the positions
//! of the first, shifted; the last may be cut by the end of the part.

use super::place::{Extent, Place};
use super::sizes::Sizes;
use crate::random::Random;

#[derive(Clone, Debug)]
pub struct Zones<P> {
    /// For the first zone.
    places: P,
    /// For a last zone that is shorter, relative to the first.
    last: Option<P>,
    whole_zones: u64,
    step_bytes: u64,
    /// Bytes transferred in a zone before the next one's turn.
    transfer_bytes: u64,
    zone: u64,
    bytes_left: u64,
}

impl<P: Place> Zones<P> {
    pub fn new(places: P, last: Option<P>, whole_zones: u64, step_bytes: u64, transfer_bytes: u64) -> Self {
        Self { places, last, whole_zones, step_bytes, transfer_bytes, zone: 0, bytes_left: transfer_bytes }
    }

    /// The end of zones that begin at `start_bytes`.
    pub fn end_bytes_max(&self, start_bytes: u64, range_bytes: u64, last_bytes: u64) -> u64 {
        let end_of_whole = start_bytes + (self.whole_zones - 1) * self.step_bytes + range_bytes;
        match self.last {
            Some(_) => end_of_whole.max(start_bytes + self.whole_zones * self.step_bytes + last_bytes),
            None => end_of_whole,
        }
    }

    fn places(&mut self) -> &mut P {
        match &mut self.last {
            Some(last) if self.zone == self.whole_zones => last,
            _ => &mut self.places,
        }
    }

    fn enter(&mut self, zone: u64, random: &mut Random) {
        self.zone = zone;
        self.bytes_left = self.transfer_bytes;
        // Each visit of a zone begins like the first: sequentially from its start, or without visited blocks.
        self.places().start_over(random);
    }
}

impl<P: Place> Place for Zones<P> {
    fn next<S: Sizes>(&mut self, job_class: usize, sizes: &S, random: &mut Random) -> Extent {
        if self.bytes_left == 0 {
            let zones = self.whole_zones + u64::from(self.last.is_some());
            self.enter(if self.zone + 1 < zones { self.zone + 1 } else { 0 }, random);
        }
        let shift_bytes = self.zone * self.step_bytes;
        let extent = self.places().next(job_class, sizes, random);
        self.bytes_left = self.bytes_left.saturating_sub(u64::from(extent.length_bytes));
        Extent { offset_bytes: extent.offset_bytes + shift_bytes, ..extent }
    }

    fn start_over(&mut self, random: &mut Random) {
        self.enter(0, random);
    }
}
