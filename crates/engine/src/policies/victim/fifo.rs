//! Cleans erase units in the order in which they were filled.
//!
//! Wins nothing in write amplification, but needs no counts and wears all erase units alike; many log-structured stores
//! and host-managed drives do it. Costs a queue.

use super::closed_queue::ClosedQueue;
use super::{Pool, VictimPolicy, View};
use crate::error::SpecificationError;
use crate::ftl::numbers::{EraseUnit, StreamId};
use crate::policies::registry::Named;
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
    fn new(_config: Config, erase_units: u32, _seed: u64) -> Result<Self, SpecificationError> {
        Ok(Self { queue: ClosedQueue::new(erase_units) })
    }

    fn closed(&mut self, erase_unit: EraseUnit, stream: StreamId, closing: u64) {
        self.queue.push(erase_unit, stream, closing);
    }

    fn choose(&mut self, view: &mut View<'_>, pool: Pool) -> Option<EraseUnit> {
        self.queue.pop_oldest(view, pool)
    }

    fn state(&self) -> serde_json::Value {
        serde_json::json!(self.queue)
    }

    fn restore(&mut self, state: serde_json::Value) -> Result<(), serde_json::Error> {
        self.queue = serde_json::from_value(state)?;
        Ok(())
    }
}
