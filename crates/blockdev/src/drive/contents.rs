//! How a drive is to be opened: where its contents lie, which faults its flash has, how time is taken.

use crate::nand::FlashFaults;
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    pub seed: u64,
    pub contents: Contents,
    pub faults: FlashFaults,
    /// Whether the drive's memory outlives a loss of power; nothing: as the drive file has it, where it has a buffer.
    pub power_loss_protection: Option<bool>,
    /// Requests that stand in the queue in simulated time; nothing: as many as callers are seen to wait for.
    pub queue_depth: Option<u32>,
    pub pace: Pace,
    /// Trims that are noted before a checkpoint is made.
    pub journal_trims: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 0,
            contents: Contents::Memory,
            faults: FlashFaults::default(),
            power_loss_protection: None,
            queue_depth: None,
            pace: Pace::Virtual,
            journal_trims: 1 << 16,
        }
    }
}

/// When a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pace {
    /// As soon as this machine can; simulated time goes its own way.
    Virtual,
    /// When the simulated drive would have it.
    Real,
}

/// Where the contents of the flash lie.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contents {
    /// Gone with the process.
    #[default]
    Memory,
    /// A sparse file, which outlives it.
    File(PathBuf),
}
