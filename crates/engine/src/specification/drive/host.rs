//! The tables that describe what is between host and flash: `[write_buffer]`, `[controller]`, `[host_link]` with the
//! rate of each interface in MB/s, `[read_ahead]`.

use crate::error::SpecificationError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The controller's buffer for writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WriteBuffer {
    /// size in DRAM: a write completes when it is in the buffer; 0: none
    #[schemars(range(max = 4_294_967_295_u32), example = 4_194_304, extend("unit" = "B", "acts" = "with a clock"))]
    pub bytes: u64,
    /// whether its contents survive a loss of power; otherwise flushes and sync writes wait for flash
    #[schemars(example = false, extend("acts" = "with write_buffer.bytes above 0"))]
    pub power_loss_protection: bool,
    /// after a write has found it full, it admits none until it holds no more than this; 0: it admits what fits
    #[schemars(range(max = 4_294_967_295_u32), example = 2_097_152, extend("unit" = "B", "acts" = "with write_buffer.bytes above 0"))]
    pub resume_bytes: u64,
    /// a write that would fill it beyond this closes it; 0: it closes only when it is full
    #[schemars(range(max = 4_294_967_295_u32), example = 3_145_728, extend("unit" = "B", "acts" = "with write_buffer.resume_bytes"))]
    pub close_bytes: u64,
    /// writes a second admitted while it is closed and has space; 0: none
    #[schemars(range(max = 1_000_000_000), example = 60_000, extend("unit" = "1/s", "acts" = "with write_buffer.resume_bytes"))]
    pub closed_per_second: u64,
    /// whether reads suspend nothing while writes wait for space in it
    #[schemars(example = true, extend("acts" = "with nand.suspend and write_buffer.bytes above 0"))]
    pub programs_first: bool,
    /// whether a write to units that wait in it for their program replaces them there, without another program
    #[schemars(example = true, extend("acts" = "with write_buffer.bytes above 0"))]
    pub coalesce: bool,
    /// whether units release their space when their program begins, not when it ends
    #[schemars(example = true, extend("acts" = "with write_buffer.bytes above 0"))]
    pub free_at_program: bool,
    /// the share of the arrival rate of writes that it admits while more operations of garbage collection are queued
    /// than there are dies, for a drive that collects in large batches; 0: all
    #[schemars(range(min = 0, max = 1), example = 0.94, extend("acts" = "with write_buffer.bytes above 0"))]
    pub gc_admission_share: f64,
    /// whether writes that wait, once one has found no space, are admitted evenly, at the mean rate at which as many
    /// units as it holds left it, and faster the emptier it is; otherwise as soon as there is space
    #[schemars(example = true, extend("acts" = "with write_buffer.bytes above 0"))]
    pub paced: bool,
}

impl Default for WriteBuffer {
    fn default() -> Self {
        Self {
            bytes: 0,
            power_loss_protection: true,
            resume_bytes: 0,
            close_bytes: 0,
            closed_per_second: 0,
            programs_first: false,
            coalesce: false,
            free_at_program: false,
            gc_admission_share: 0.0,
            paced: false,
        }
    }
}

/// The controller's processing times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Controller {
    /// time to answer a command that needs no flash, or to admit a write to the buffer
    #[schemars(range(min = 0.001), example = 5.0, extend("unit" = "us", "acts" = "with a clock"))]
    pub command_us: f64,
    /// maximum commands a second; 0: no limit
    #[schemars(range(max = 4_294_967_295_u32), example = 100_000, extend("unit" = "1/s", "acts" = "with a clock"))]
    pub commands_per_second_max: u64,
    /// time of the controller on a trim, during which every later command waits; 0: trims hold up nothing
    #[schemars(range(min = 0), example = 50.0, extend("unit" = "us", "acts" = "with a clock"))]
    pub trim_us: f64,
    /// the same for each MiB that it covers, whatever is there; 0: trims of any length take equally long
    #[schemars(range(min = 0), example = 1000.0, extend("unit" = "us/MiB", "acts" = "with a clock"))]
    pub trim_us_per_mib: f64,
    /// maximum commands inside the drive, reads and writes together; others wait in the order of their arrival; 0: no
    /// limit
    #[schemars(example = 64, extend("unit" = "commands", "acts" = "with a clock"))]
    pub command_slots: u32,
    /// whether the jobs' queues take turns for free slots; otherwise the command that came first is next
    #[schemars(example = true, extend("acts" = "with controller.command_slots"))]
    pub slots_in_turn: bool,
    /// time to pass a program to the flash, the host's or garbage collection's, during which no write is admitted to
    /// the buffer
    #[schemars(range(min = 0), example = 30.0, extend("unit" = "us", "acts" = "with write_buffer.bytes above 0"))]
    pub program_us: f64,
    /// share of the commands that need no flash that it answers later than usual
    #[schemars(range(min = 0, max = 1), example = 0.03, extend("acts" = "with controller.delay_us"))]
    pub delayed_share: f64,
    /// mean additional time of these, exponentially distributed; 0: none
    #[schemars(range(min = 0), example = 2.0, extend("unit" = "us", "acts" = "with controller.delayed_share"))]
    pub delay_us: f64,
}

impl Default for Controller {
    fn default() -> Self {
        Self {
            command_us: 5.0,
            commands_per_second_max: 0,
            trim_us: 0.0,
            trim_us_per_mib: 0.0,
            command_slots: 0,
            slots_in_turn: false,
            program_us: 0.0,
            delayed_share: 0.0,
            delay_us: 0.0,
        }
    }
}

/// Read-ahead of sequential reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadAhead {
    /// maximum of a sequential stream in flight or in the read buffer; 0: no read-ahead
    #[schemars(range(max = 4_294_967_295_u32), example = 1_048_576, extend("unit" = "B", "acts" = "with a clock"))]
    pub window_bytes: u64,
    /// bytes of a sequential stream translated and fetched at a time
    #[schemars(
        range(min = 1, max = 4_294_967_295_u32),
        example = 131_072,
        extend("unit" = "B", "acts" = "with read_ahead.window_bytes above 0")
    )]
    pub segment_bytes: u64,
}

impl Default for ReadAhead {
    fn default() -> Self {
        Self { window_bytes: 0, segment_bytes: 131_072 }
    }
}

/// The link between host and drive. SATA transfers in one direction at a time, PCIe in both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostLink {
    /// name of the interface: none (takes no time); sata-3g, sata-6g; generation and lanes, as in pcie3x4
    #[schemars(
        example = &"sata-6g",
        extend(
            "acts" = "with a clock",
            "allowed" = "none, sata-3g, sata-6g, or pcieGxL with G from 1 to 6 and L one of 1, 2, 4, 8, 16"
        )
    )]
    pub interface: String,
    /// data rate, instead of that of the interface
    #[schemars(range(min = 1, max = 1_000_000), example = 550.0, extend("unit" = "MB/s", "acts" = "with a clock"))]
    pub mb_s: Option<f64>,
    /// whether only one direction transfers at a time, instead of that of the interface
    #[schemars(example = &"half", extend("acts" = "with a link"))]
    pub duplex: Option<Duplex>,
    /// time for which a command occupies the link in addition to its data
    #[schemars(range(min = 0, max = 1_000_000), example = 2.0, extend("unit" = "us", "acts" = "with a link"))]
    pub command_us: f64,
}

/// Whether a link transfers in both directions at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Duplex {
    /// One direction at a time.
    Half,
    /// Both directions at a time.
    Full,
}

impl Default for HostLink {
    fn default() -> Self {
        Self { interface: "none".into(), mb_s: None, duplex: None, command_us: 0.0 }
    }
}

/// The rate of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Data, in 10^6 bytes a second.
    pub mb_s: f64,
    /// Whether only one direction transfers at a time.
    pub is_half_duplex: bool,
    /// Time of a command on the link, in addition to its data.
    pub command_us: f64,
}

/// The highest rates of drives. The lines carry 300 and 600 MB/s (8b/10b); with frames of 8 KiB and their handshakes
/// the fastest datasheets state for sequential reads 285 MB/s (OCZ Vertex 2) and 560 MB/s (Samsung 860 EVO).
const SATA: [(&str, f64); 2] = [("sata-3g", 285.0), ("sata-6g", 560.0)];

/// MB/s of a lane by generation, from 1: the line rate minus its coding (8b/10b, 128b/130b; from generation 6 on flits
/// of 242 in 256 bytes).
const PCIE_LANE: [f64; 6] = [
    250.0,
    500.0,
    8000.0 / 8.0 * 128.0 / 130.0,
    2000.0 * 128.0 / 130.0,
    4000.0 * 128.0 / 130.0,
    8000.0 * 242.0 / 256.0,
];
const LANES: [u32; 5] = [1, 2, 4, 8, 16];
/// A packet of 256 B of data, the usual maximum, has 24 B of overhead: header 16, sequence and framing 4, checksum 4.
const PCIE_DATA_SHARE: f64 = 256.0 / 280.0;

impl HostLink {
    /// Whether the drive is on SATA.
    pub fn is_sata(&self) -> bool {
        SATA.iter().any(|(name, _)| *name == self.interface)
    }

    /// None for a link that takes no time. The error names the key.
    pub fn rate(&self) -> Result<Option<Rate>, SpecificationError> {
        let refuse = |key: &str, value: String, allowed: &str| {
            Err(SpecificationError::new(format!("host_link.{key}"), value, allowed))
        };
        let Some(of_interface) = self.of_interface() else {
            let allowed = "none, sata-3g, sata-6g, or pcieGxL with G from 1 to 6 and L one of 1, 2, 4, 8, 16";
            return refuse("interface", self.interface.clone(), allowed);
        };
        if let Some(mb_s) = self.mb_s.filter(|mb_s| !(*mb_s >= 1.0 && *mb_s <= 1e6)) {
            return refuse("mb_s", mb_s.to_string(), "1 to 10^6 MB/s");
        }
        if !(0.0..=1e6).contains(&self.command_us) {
            return refuse("command_us", self.command_us.to_string(), "microseconds from 0 to 10^6");
        }
        let (named_mb_s, named_duplex) =
            of_interface.map_or((None, Duplex::Full), |(mb_s, duplex)| (Some(mb_s), duplex));
        let Some(mb_s) = self.mb_s.or(named_mb_s) else {
            if self.command_us > 0.0 || self.duplex.is_some() {
                let key = if self.command_us > 0.0 { "command_us" } else { "duplex" };
                return refuse(key, "set".into(), "a link: host_link.interface or host_link.mb_s");
            }
            return Ok(None);
        };
        let is_half_duplex = self.duplex.unwrap_or(named_duplex) == Duplex::Half;
        Ok(Some(Rate { mb_s, is_half_duplex, command_us: self.command_us }))
    }

    /// None if the name is unknown; Some(None) for no link.
    fn of_interface(&self) -> Option<Option<(f64, Duplex)>> {
        if self.interface == "none" {
            return Some(None);
        }
        if let Some(&(_, mb_s)) = SATA.iter().find(|(name, _)| *name == self.interface) {
            return Some(Some((mb_s, Duplex::Half)));
        }
        let (generation, lanes) = self.interface.strip_prefix("pcie")?.split_once('x')?;
        let generation: usize = generation.parse().ok()?;
        let lanes = LANES.iter().find(|count| count.to_string() == lanes)?;
        let lane_mb_s = PCIE_LANE.get(generation.checked_sub(1)?)?;
        Some(Some((lane_mb_s * f64::from(*lanes) * PCIE_DATA_SHARE, Duplex::Full)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(interface: &str) -> HostLink {
        HostLink { interface: interface.into(), ..HostLink::default() }
    }

    #[test]
    fn names_mean_what_such_links_carry() {
        assert_eq!(link("none").rate(), Ok(None));
        let sata = link("sata-6g").rate().unwrap().unwrap();
        assert_eq!((sata.mb_s, sata.is_half_duplex), (560.0, true));
        let pcie = link("pcie3x4").rate().unwrap().unwrap();
        // 8 GT/s x 4 lanes x 128/130 / 8 bits = 3938.5 MB/s, of which 256/280 is data.
        assert!((pcie.mb_s - 3600.9).abs() < 0.1 && !pcie.is_half_duplex, "{pcie:?}");
        let own = HostLink { mb_s: Some(250.0), duplex: Some(Duplex::Half), ..HostLink::default() };
        assert_eq!(own.rate(), Ok(Some(Rate { mb_s: 250.0, is_half_duplex: true, command_us: 0.0 })));
    }

    #[test]
    fn what_is_no_link_is_refused() {
        for name in ["sata", "pcie3", "pcie0x1", "pcie7x1", "pcie3x3", "pcie3x04", "pciex4", ""] {
            assert_eq!(link(name).rate().unwrap_err().key, "host_link.interface", "{name}");
        }
        for mb_s in [0.0, -5.0, f64::NAN, 1e9] {
            assert_eq!(HostLink { mb_s: Some(mb_s), ..link("none") }.rate().unwrap_err().key, "host_link.mb_s");
        }
        assert_eq!(HostLink { command_us: 1.0, ..link("none") }.rate().unwrap_err().key, "host_link.command_us");
    }
}
