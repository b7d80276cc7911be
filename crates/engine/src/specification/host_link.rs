//! The link between host and drive, and what its name means in MB/s.

use crate::error::SpecificationError;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostLink {
    /// `none`, which takes no time, `sata-3g`, `sata-6g`, or a generation and lanes such as `pcie3x4`.
    pub interface: String,
    /// The rate of data; null: that of the interface.
    pub mb_s: Option<f64>,
    /// Null: that of the interface; full where only a rate is given.
    pub duplex: Option<Duplex>,
    /// What each command occupies the link for beside its data.
    pub command_us: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Duplex {
    /// Both directions take turns.
    Half,
    Full,
}

impl Default for HostLink {
    fn default() -> Self {
        Self { interface: "none".into(), mb_s: None, duplex: None, command_us: 0.0 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    pub mb_s: f64,
    pub is_half_duplex: bool,
    pub command_us: f64,
}

/// What drives reach at most. The lines carry 300 and 600 MB/s (8b/10b); frames of 8 KiB and their handshakes leave what
/// the fastest datasheets name for sequential reads: 285 MB/s (OCZ Vertex 2) and 560 MB/s (Samsung 860 EVO).
const SATA: [(&str, f64); 2] = [("sata-3g", 285.0), ("sata-6g", 560.0)];

/// MB/s of a lane by generation, from 1: the line rate less its coding (8b/10b, 128b/130b; from generation 6 on flits of
/// 242 in 256 bytes).
const PCIE_LANE: [f64; 6] = [
    250.0,
    500.0,
    8000.0 / 8.0 * 128.0 / 130.0,
    2000.0 * 128.0 / 130.0,
    4000.0 * 128.0 / 130.0,
    8000.0 * 242.0 / 256.0,
];
const LANES: [u32; 5] = [1, 2, 4, 8, 16];
/// A packet of 256 B of data, the usual most, has 24 B around it: header 16, sequence and framing 4, check sum 4.
const PCIE_DATA_SHARE: f64 = 256.0 / 280.0;

impl HostLink {
    /// Nothing for a link that takes no time. The error names the key.
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

    /// Nothing where the name is unknown; within it, nothing for no link.
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
