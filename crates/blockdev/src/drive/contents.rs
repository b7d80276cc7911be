//! How a drive is opened: where its contents are stored, the faults of its flash, the passing of time.

use crate::nand::FlashFaults;
use serde::Deserialize;
use std::path::PathBuf;

/// Options of opening a drive.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Of the drive's random numbers.
    pub seed: u64,
    /// Where the contents are stored.
    pub contents: Contents,
    /// Faults of the flash.
    pub faults: FlashFaults,
    /// Whether the drive's memory survives a loss of power; None: as in the drive file, where it has a buffer.
    pub power_loss_protection: Option<bool>,
    /// The queue depth in simulated time; None: the number of callers that are waiting.
    pub queue_depth: Option<u32>,
    /// Whether simulated time follows real time.
    pub pace: Pace,
    /// Trims recorded before a checkpoint is made.
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
    /// As soon as this machine can; simulated time passes independently.
    Virtual,
    /// When the simulated drive would have answered.
    Real,
}

/// Where the contents of the flash are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contents {
    /// In memory, lost with the process.
    #[default]
    Memory,
    /// In a sparse file, which remains.
    File(PathBuf),
}
