//! The figures of the logs. They are those of the drive's statistics: nothing is computed here.

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
    /// Bytes of the host's requests.
    pub host: Host,
    /// Units that hold data, by namespace.
    pub live_units: Vec<u64>,
    /// None on a drive without placement handles.
    pub fdp: Option<Fdp>,
}

/// What the host has read and written.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Host {
    pub read_bytes: u64,
    pub written_bytes: u64,
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

/// Logs 20h to 23h and the status of handles, with nvme-cli's names.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the names are those of the logs")]
pub struct Fdp {
    pub configs: Configurations,
    pub usage: Usage,
    pub stats: Statistics,
    pub status: Option<HandleStatuses>,
    pub events: Option<Events>,
    pub host_events: Option<Events>,
}

/// Log page 20h.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the names are those of the log")]
pub struct Configurations {
    pub configs: Vec<Configuration>,
}

/// A configuration.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the names are those of the log")]
pub struct Configuration {
    pub fdpa: u8,
    pub nrg: u32,
    pub nruh: u16,
    pub nnss: u32,
    pub runs: u64,
    pub erutl: u32,
    pub ruhs: Vec<HandleType>,
}

/// A handle of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the names are those of the log")]
pub struct HandleType {
    pub ruht: u8,
}

/// Log page 21h.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the names are those of the log")]
pub struct Usage {
    pub ruhus: Vec<HandleUsage>,
}

/// Whether a handle is used.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the names are those of the log")]
pub struct HandleUsage {
    pub ruha: u8,
}

/// Log page 22h.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the names are those of the log")]
pub struct Statistics {
    pub hbmw: u64,
    pub mbmw: u64,
    pub mbe: u64,
}

/// The status of all handles of the drive.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the names are those of the command's data")]
pub struct HandleStatuses {
    pub ruhss: Vec<HandleStatus>,
}

/// The status of a handle in a group; what is left is in mapping units.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the names are those of the command's data")]
pub struct HandleStatus {
    pub pid: u16,
    pub ruamw: u64,
}

/// Log page 23h.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the names are those of the log")]
pub struct Events {
    pub events: Vec<Event>,
}

/// An event; what was moved is in mapping units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[allow(missing_docs, reason = "the names are those of the log")]
pub struct Event {
    #[serde(rename = "type")]
    pub event_type: u8,
    pub fdpef: u8,
    pub pid: u16,
    pub nsid: u32,
    pub nlbam: Option<u64>,
    pub rgid: Option<u16>,
    pub ruhid: Option<u8>,
}
