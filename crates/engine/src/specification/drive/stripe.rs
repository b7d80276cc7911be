//! Several devices as one drive: consecutive chunks of its bytes are on them in turn. Field names are the keys of the
//! drive file, whose other tables then describe one device, except for `ftl.user_bytes`, which is the capacity of the
//! whole.

use super::Drive;
use super::namespaces::namespace_ends;
use super::reclaim_groups::check_goes_with_groups;
use crate::chunks::Chunks;
use crate::error::SpecificationError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Several devices as one drive (RAID-0). The other tables except `[market]` then describe one of them, and
/// `ftl.user_bytes` is the capacity of all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Stripe {
    /// number of devices; each has its own flash, garbage collection, buffer and link
    #[schemars(range(min = 1, max = 1024), example = 2, extend("unit" = "devices"))]
    pub devices: u32,
    /// consecutive bytes on one device before the next
    #[schemars(
        range(min = 512, max = 1_099_511_627_776_u64),
        example = 65_536,
        extend("unit" = "B", "acts" = "with stripe.devices above 1")
    )]
    pub chunk_bytes: u64,
}

impl Default for Stripe {
    fn default() -> Self {
        Self { devices: 1, chunk_bytes: 64 * 1024 }
    }
}

impl Stripe {
    /// Whether the drive has several devices.
    pub fn is_on(&self) -> bool {
        self.devices != 1
    }

    /// Where the drive's bytes lie.
    pub fn chunks(&self) -> Chunks {
        Chunks::new(self.devices, self.chunk_bytes)
    }
}

/// The devices of a drive, each as a separate drive; without a stripe the drive itself. Errors name the key.
pub fn devices_of(drive: &Drive) -> Result<Vec<Drive>, SpecificationError> {
    let Stripe { devices, chunk_bytes } = drive.stripe;
    if !drive.stripe.is_on() {
        return Ok(vec![drive.clone()]);
    }
    if devices == 0 {
        return Err(SpecificationError::new("stripe.devices", 0, "1 or more"));
    }
    let unit_bytes = u64::from(drive.ftl.mapping_unit_bytes.max(1));
    if chunk_bytes == 0 || !chunk_bytes.is_multiple_of(unit_bytes) {
        let allowed = format!("a multiple of ftl.mapping_unit_bytes, {unit_bytes}");
        return Err(SpecificationError::new("stripe.chunk_bytes", chunk_bytes, allowed));
    }
    let user_bytes = drive.ftl.user_bytes;
    if u64::from(devices - 1).checked_mul(chunk_bytes).is_none_or(|before_last| before_last >= user_bytes) {
        let allowed = format!("so small that each of {devices} devices has one of the {user_bytes} bytes of the drive");
        return Err(SpecificationError::new("stripe.chunk_bytes", chunk_bytes, allowed));
    }
    check_is_never_idle(drive)?;
    namespace_ends(drive)?;
    check_goes_with_groups(drive)?;
    let chunks = drive.stripe.chunks();
    let device = |index| {
        let mut device = Drive { stripe: Stripe::default(), ..drive.clone() };
        device.ftl.user_bytes = chunks.bytes_on(index, user_bytes);
        device
    };
    Ok((0..devices as usize).map(device).collect())
}

/// A device does not know when the host will next use it, and so not how long it may work in the background.
fn check_is_never_idle(drive: &Drive) -> Result<(), SpecificationError> {
    let background = &drive.background;
    let idle_work = [
        ("slc_cache.static_bytes", drive.slc_cache.static_bytes > 0),
        ("slc_cache.dynamic_bytes_max", drive.slc_cache.dynamic_bytes_max > 0),
        ("background.erased_pool_bytes", background.erased_pool_bytes > 0),
        ("background.defragment", background.defragment),
        ("background.wear_leveling", background.wear_leveling),
        ("background.read_disturb_reads", background.read_disturb_reads > 0),
        ("background.retention_days", background.retention_days > 0.0),
    ];
    match idle_work.into_iter().find(|(_, is_on)| *is_on) {
        None => Ok(()),
        Some((key, _)) => {
            let allowed = format!("1 with {key}: a device of a stripe does nothing in idle time");
            Err(SpecificationError::new("stripe.devices", drive.stripe.devices, allowed))
        }
    }
}
