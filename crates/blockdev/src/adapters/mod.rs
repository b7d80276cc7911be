//! Devices that wrap devices: each adds one function and passes everything else on.

mod delay;
mod faults;
mod statistics;

pub use delay::Delay;
pub use faults::{FaultRates, Faults};
pub use statistics::{Counts, Statistics};
