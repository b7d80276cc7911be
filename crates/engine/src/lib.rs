//! The simulated drive. A pure library: no input or output, no system clock, no environment variables, no Python.

pub mod chunks;
pub mod description;
mod divisor;
pub mod error;
pub mod ftl;
pub mod ledger;
pub mod nand;
pub mod policies;
pub mod random;
mod recency;
pub mod request;
pub mod settled;
pub mod simulation;
pub mod specification;
pub mod steady_state;
pub mod table;
pub mod timing;
pub mod units;
pub mod workload;
