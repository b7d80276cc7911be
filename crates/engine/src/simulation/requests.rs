//! How many requests, of how many bytes.

use schemars::JsonSchema;
use serde::Serialize;

/// Counts of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Requests {
    /// Requests.
    pub ios: u64,
    /// Their bytes.
    pub bytes: u64,
}
