//! Devices around devices: each adds one thing and passes the rest on.

mod delay;
mod faults;
mod statistics;

pub use delay::Delay;
pub use faults::{FaultRates, Faults};
pub use statistics::{Counts, Statistics};
