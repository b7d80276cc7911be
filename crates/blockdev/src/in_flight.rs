//! The requests of a front that a queue executes, each with who waits for it until it completes.

use crate::device::DeviceError;
use crate::queue::{Asked, Completed, Queue};
use std::time::{Duration, Instant};

/// Buffers that are kept for the next reads.
const SPARE_MAX: usize = 64;

/// `W` is who waits.
pub struct InFlight<W> {
    queue: Box<dyn Queue>,
    /// By their tags, with the data of reads.
    places: Vec<Option<(W, Vec<u8>)>>,
    free: Vec<usize>,
    completed: Vec<Completed>,
    spare: Vec<Vec<u8>>,
    /// Data of reads.
    pub held_bytes: usize,
}

impl<W> InFlight<W> {
    pub fn new(queue: Box<dyn Queue>) -> Self {
        let (places, free, completed, spare) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { queue, places, free, completed, spare, held_bytes: 0 }
    }

    /// Has the queue execute a read.
    pub fn read(&mut self, waits: W, offset_bytes: u64, length_bytes: usize) {
        let mut into = self.spare.pop().unwrap_or_default();
        into.resize(length_bytes, 0);
        self.held_bytes += length_bytes;
        let place = self.place();
        self.queue.submit(place as u64, Asked::Read { offset_bytes, into: &mut into });
        self.places[place] = Some((waits, into));
    }

    /// Has the queue execute a request that reads nothing.
    pub fn submit(&mut self, waits: W, asked: Asked<'_>) {
        let place = self.place();
        self.queue.submit(place as u64, asked);
        self.places[place] = Some((waits, Vec::new()));
    }

    fn place(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        })
    }

    /// Whether something may have completed by the device's time.
    pub fn is_due(&self) -> bool {
        self.queue.is_due()
    }

    /// Whether something may have completed by a moment.
    pub fn is_due_by(&self, moment: Instant) -> bool {
        self.queue.is_due_by(moment)
    }

    /// How long to sleep until something may have completed; None if nothing is in flight.
    pub fn until_next(&self) -> Option<Duration> {
        self.queue.until_next()
    }

    /// Passes on what has completed, all of it. Returns the first error of `answer`.
    pub fn complete<E>(
        &mut self,
        mut answer: impl FnMut(W, &[u8], Result<u64, DeviceError>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut completed = std::mem::take(&mut self.completed);
        self.queue.completed(&mut completed);
        let mut answered = Ok(());
        for (tag, outcome) in completed.drain(..) {
            let place = tag as usize;
            let Some((waits, mut data)) = self.places[place].take() else { continue };
            self.free.push(place);
            self.held_bytes -= data.len();
            answered = answered.and_then(|()| answer(waits, &data, outcome));
            if data.capacity() > 0 && self.spare.len() < SPARE_MAX {
                data.clear();
                self.spare.push(data);
            }
        }
        self.completed = completed;
        answered
    }
}
