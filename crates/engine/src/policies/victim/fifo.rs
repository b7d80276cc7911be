//! Collects erase units in the order in which they were filled.
//!
//! No gain in write amplification, but it needs no counts and wears all erase units equally; many log-structured stores
//! and host-managed drives use it. Costs a queue.

use super::closed_queue::ClosedQueue;
use super::{Closing, Pool, VictimPolicy, View};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use crate::random::Random;
use crate::units::{EraseUnit, StreamId};
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}

pub struct Fifo {
    queue: ClosedQueue,
}

impl Named for Fifo {
    const NAME: &'static str = "fifo";
    const SUMMARY: &'static str = "the erase unit that was filled first";
    const SOURCE: &'static str = "Desnoyers 2012 (there called LRU)";
    type Config = Config;
}

impl VictimPolicy for Fifo {
    fn new(_config: Config, erase_units: u32) -> Result<Self, SpecificationError> {
        Ok(Self { queue: ClosedQueue::new(erase_units) })
    }

    fn closed(&mut self, closing: &Closing<'_>) {
        self.queue.push(closing.erase_unit, closing.stream, closing.number);
    }

    fn taken(&mut self, erase_unit: EraseUnit, stream: StreamId) {
        self.queue.remove(erase_unit, stream);
    }

    fn choose(&self, view: &View<'_>, pool: Pool, _random: &mut Random) -> Option<EraseUnit> {
        self.queue.oldest(view, pool)
    }

    fn state(&self) -> serde_json::Value {
        serde_json::json!(self.queue)
    }

    fn restore(&mut self, state: serde_json::Value, _times: u32) -> Result<(), serde_json::Error> {
        self.queue.restore(state)
    }
}
