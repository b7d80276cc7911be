//! Errors in a job that the layers above should have rejected.

use std::fmt;

/// A value of a job from which no stream can be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamError {
    /// The field of the job, as in the specification: `block_sizes.write`.
    pub key: String,
    /// The value, as text.
    pub value: String,
    /// What is allowed; completes "should be".
    pub allowed: String,
}

impl StreamError {
    pub(super) fn new(key: &str, value: impl fmt::Display, allowed: impl Into<String>) -> StreamError {
        StreamError { key: key.into(), value: value.to_string(), allowed: allowed.into() }
    }
}

impl fmt::Display for StreamError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} = {}: allowed is {}", self.key, self.value, self.allowed)
    }
}

impl std::error::Error for StreamError {}
