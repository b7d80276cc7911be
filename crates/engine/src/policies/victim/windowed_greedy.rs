//! Greedy among the erase units that were filled longest ago.
//!
//! Slightly better than greedy under skew, since a newly filled erase unit has time to become stale; a window of one is
//! first-in-first-out, one of all erase units is greedy. Costs a scan of the window.

use super::closed_queue::ClosedQueue;
use super::{Closing, Pool, VictimPolicy, View};
use crate::error::SpecificationError;
use crate::policies::registry::Named;
use crate::random::Random;
use crate::units::{EraseUnit, StreamId};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The window as a share of all erase units, above 0 and up to 1.
    pub window: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { window: 0.25 }
    }
}

pub struct WindowedGreedy {
    queue: ClosedQueue,
    window: usize,
}

impl Named for WindowedGreedy {
    const NAME: &'static str = "windowed-greedy";
    const SUMMARY: &'static str = "the one with the fewest live units among those filled longest ago";
    const SOURCE: &'static str = "Hu, Eleftheriou, Haas, Iliadis and Pletka 2009";
    type Config = Config;
}

impl VictimPolicy for WindowedGreedy {
    fn new(config: Config, erase_units: u32) -> Result<Self, SpecificationError> {
        if !(config.window > 0.0 && config.window <= 1.0) {
            let allowed = "a share of the erase units, above 0 and up to 1";
            return Err(SpecificationError::new("ftl.victim.window", config.window, allowed));
        }
        let window = (f64::from(erase_units) * config.window).ceil() as usize;
        Ok(Self { queue: ClosedQueue::new(erase_units), window })
    }

    fn closed(&mut self, closing: &Closing<'_>) {
        self.queue.push(closing.erase_unit, closing.stream, closing.number);
    }

    fn taken(&mut self, erase_unit: EraseUnit, stream: StreamId) {
        self.queue.remove(erase_unit, stream);
    }

    fn choose(&self, view: &View<'_>, pool: Pool, _random: &mut Random) -> Option<EraseUnit> {
        self.queue.least_of_oldest(view, pool, self.window)
    }

    fn state(&self) -> serde_json::Value {
        serde_json::json!(self.queue)
    }

    fn restore(&mut self, state: serde_json::Value, _times: u32) -> Result<(), serde_json::Error> {
        self.queue.restore(state)
    }
}
