//! The requests of a client that the device executes, each until it completes.

use super::protocol::{Request, command};
use crate::device::{DeviceError, Durability};
use crate::queue::{Asked, Completed, Queue};
use std::io;
use std::time::{Duration, Instant};

/// Buffers that are kept for the next reads.
const SPARE_MAX: usize = 64;

pub struct InFlight {
    queue: Box<dyn Queue>,
    /// By their tags, with the data of reads.
    places: Vec<Option<(Request, Vec<u8>)>>,
    free: Vec<usize>,
    completed: Vec<Completed>,
    spare: Vec<Vec<u8>>,
    /// Data of reads.
    pub held_bytes: usize,
}

impl InFlight {
    pub fn new(queue: Box<dyn Queue>) -> Self {
        let (places, free, completed, spare) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { queue, places, free, completed, spare, held_bytes: 0 }
    }

    /// Has the queue execute a request that is within the device: a read, a write with its data, a trim or a flush.
    pub fn submit(&mut self, request: &Request, durability: Durability, data: &[u8]) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        });
        let mut held = Vec::new();
        if request.command == command::READ {
            held = self.spare.pop().unwrap_or_default();
            held.resize(request.length_bytes as usize, 0);
            self.held_bytes += held.len();
        }
        let offset_bytes = request.offset_bytes;
        let asked = match request.command {
            command::READ => Asked::Read { offset_bytes, into: &mut held },
            command::WRITE => Asked::Write { offset_bytes, data, durability, identifier: 0 },
            command::TRIM => Asked::Trim { offset_bytes, length_bytes: u64::from(request.length_bytes) },
            _ => Asked::Flush,
        };
        self.queue.submit(place as u64, asked);
        self.places[place] = Some((*request, held));
    }

    /// Whether something may have completed by the device's time.
    pub fn is_due(&self) -> bool {
        self.queue.next_event().is_some_and(|moment| moment <= Instant::now())
    }

    /// The time until something may have completed; None if nothing is in flight.
    pub fn until_next(&self) -> Option<Duration> {
        self.queue.next_event().map(|moment| moment.saturating_duration_since(Instant::now()))
    }

    /// Passes on what has completed. Errors are those of `answer`.
    pub fn complete(
        &mut self,
        mut answer: impl FnMut(&Request, &[u8], Result<u64, DeviceError>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut completed = std::mem::take(&mut self.completed);
        self.queue.completed(&mut completed);
        let mut answered = Ok(());
        for (tag, outcome) in completed.drain(..) {
            let place = tag as usize;
            let Some((request, mut data)) = self.places[place].take() else { continue };
            self.free.push(place);
            self.held_bytes -= data.len();
            answered = answered.and_then(|()| answer(&request, &data, outcome));
            if data.capacity() > 0 && self.spare.len() < SPARE_MAX {
                data.clear();
                self.spare.push(data);
            }
        }
        self.completed = completed;
        answered
    }
}
