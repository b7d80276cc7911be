//! The figures of the health logs. They are those of the drive's statistics: nothing is computed here.

use serde::Deserialize;

/// The logs as in the drive's statistics, under the names that `smartctl` and OCP give them. What is not simulated is
/// null there, and 0 in the logs.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the names are those of the logs")]
pub struct Health {
    #[serde(rename = "nvme_smart_health_information_log")]
    pub smart: Smart,
    #[serde(rename = "ocp_smart_log")]
    pub ocp: Ocp,
}

/// Log page 02h.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the names are those of the log")]
pub struct Smart {
    pub critical_warning: u8,
    pub available_spare: Option<u8>,
    pub available_spare_threshold: u8,
    pub percentage_used: u8,
    pub data_units_read: u64,
    pub data_units_written: u64,
    pub host_reads: u64,
    pub host_writes: u64,
    pub power_cycles: Option<u64>,
    pub power_on_hours: u64,
    pub unsafe_shutdowns: Option<u64>,
    pub media_errors: Option<u64>,
    pub num_err_log_entries: Option<u64>,
}

/// Log page C0h.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the names are those of the log")]
pub struct Ocp {
    pub physical_media_units_written_bytes: u64,
    pub physical_media_units_read_bytes: u64,
    pub bad_user_nand_blocks: BadBlocks,
    pub xor_recovery_count: Option<u64>,
    pub uncorrectable_read_error_count: Option<u64>,
    pub system_data_percent_used: u8,
    pub user_data_erase_counts: EraseCounts,
    pub incomplete_shutdowns: Option<u64>,
    pub percent_free_blocks: Option<u8>,
    pub total_nuse: u64,
}

/// Blocks that failed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the names are those of the log")]
pub struct BadBlocks {
    pub raw: u64,
    pub normalized: Option<u16>,
}

/// The range of erase counts.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the names are those of the log")]
pub struct EraseCounts {
    pub min: u32,
    pub max: u32,
}
