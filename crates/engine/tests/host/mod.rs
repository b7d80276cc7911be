//! What sits between jobs and flash, against closed forms from the drive file's own numbers and the laws of queues:
//! pacing, flushes, link, arrivals.

mod arrivals;
mod breakdown;
mod buffering;
mod depth;
pub mod drives;
mod flushing;
mod idle;
mod laws;
mod limits;
mod link;
mod map_cache;
mod pacing;
mod power_limit;
mod reading;
mod slots;
mod throttling;
mod waiting;
