//! The list `[[namespace]]`: several namespaces on one drive. Field names are the keys of the drive file.

use super::{Drive, Handles, handles_of};
use crate::error::SpecificationError;
use crate::units::Lpn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The maximum of a drive; NVMe drives offer up to 128.
pub const NAMESPACES_MAX: usize = 128;
const HANDLES_EXAMPLE: [u8; 2] = [0, 1];

/// A namespace as in NVMe: a range of the drive's addresses that the host sees as a device. Namespaces follow each
/// other in the order of the file; the rest of `ftl.user_bytes` is not allocated and is spare area. They share spare
/// area, open erase units, dies and channels. A job's `filename` chooses one: `/dev/nvme0n1` is the first,
/// `/dev/nvme0n2` the second and so on, or the name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Namespace {
    /// name, unique on the drive
    #[schemars(length(min = 1), example = &"database", extend("allowed" = "a word of letters, digits, '-', '_' and '.'"))]
    pub name: String,
    /// capacity of the namespace; the sum of all is at most `ftl.user_bytes`
    #[schemars(
        range(min = 1),
        example = 240_000_000_000_u64,
        extend("unit" = "B", "allowed" = "a multiple of ftl.mapping_unit_bytes, above 0")
    )]
    pub size_bytes: u64,
    /// reclaim unit handles (NVMe TP4146) that the namespace's writes use: placement identifier 0 of a job is the first
    /// of the list, 1 the second and so on, with reclaim groups each handle in all groups; writes without an identifier
    /// use the first. Empty: all of the drive's, in order
    #[serde(default)]
    #[schemars(
        example = HANDLES_EXAMPLE,
        extend("allowed" = "different numbers below ftl.placement.identifiers, on a drive with ftl.placement host-streams")
    )]
    pub placement_handles: Vec<u8>,
}

impl Namespace {
    /// A namespace whose writes can use all handles of the drive.
    pub fn new(name: impl Into<String>, size_bytes: u64) -> Self {
        Self { name: name.into(), size_bytes, placement_handles: Vec::new() }
    }
}

/// The first address after each namespace; empty for a drive without namespaces. Errors name the key.
pub fn namespace_ends(drive: &Drive) -> Result<Vec<Lpn>, SpecificationError> {
    let namespaces = &drive.namespaces;
    if namespaces.is_empty() {
        return Ok(Vec::new());
    }
    check_goes_with_namespaces(drive)?;
    if namespaces.len() > NAMESPACES_MAX {
        let allowed = format!("at most {NAMESPACES_MAX} namespaces");
        return Err(SpecificationError::new("namespace", namespaces.len(), allowed));
    }
    let unit_bytes = u64::from(drive.ftl.mapping_unit_bytes.max(1));
    let mut left_bytes = drive.ftl.user_bytes;
    let mut end = 0;
    let mut ends = Vec::with_capacity(namespaces.len());
    for (index, namespace) in namespaces.iter().enumerate() {
        let key = |name: &str| format!("namespace.{}.{name}", index + 1);
        let (name, size_bytes) = (&namespace.name, namespace.size_bytes);
        if !is_word(name) {
            let allowed = "a word of letters, digits, '-', '_' and '.'";
            return Err(SpecificationError::new(key("name"), name, allowed));
        }
        if namespaces[..index].iter().any(|earlier| earlier.name == *name) {
            return Err(SpecificationError::new(key("name"), name, "a name that no other namespace has"));
        }
        if size_bytes == 0 || !size_bytes.is_multiple_of(unit_bytes) {
            let allowed = format!("a multiple of ftl.mapping_unit_bytes, {unit_bytes}, above 0");
            return Err(SpecificationError::new(key("size_bytes"), size_bytes, allowed));
        }
        if size_bytes > left_bytes {
            let allowed = format!(
                "at most {left_bytes}: what the namespaces before it leave of ftl.user_bytes, {}",
                drive.ftl.user_bytes
            );
            return Err(SpecificationError::new(key("size_bytes"), size_bytes, allowed));
        }
        check_handles(drive, &namespace.placement_handles, &key("placement_handles"))?;
        left_bytes -= size_bytes;
        end += size_bytes / unit_bytes;
        // A size that is too large is refused with `ftl.user_bytes`.
        ends.push(Lpn(u32::try_from(end).unwrap_or(u32::MAX)));
    }
    Ok(ends)
}

/// The bytes allocated to namespaces, at the start of the addresses; all of a drive without namespaces.
pub fn allocated_bytes(drive: &Drive) -> u64 {
    match &drive.namespaces[..] {
        [] => drive.ftl.user_bytes,
        namespaces => namespaces.iter().fold(0, |sum, namespace| sum.saturating_add(namespace.size_bytes)),
    }
}

fn check_handles(drive: &Drive, handles: &[u8], key: &str) -> Result<(), SpecificationError> {
    if handles.is_empty() {
        return Ok(());
    }
    let refuse = |allowed: String| Err(SpecificationError::new(key, format!("{handles:?}"), allowed));
    let Some(identifiers) = handles_of(&drive.ftl.placement).map(|of_drive| of_drive.handles) else {
        return refuse("no list on a drive whose ftl.placement is not host-streams".into());
    };
    let is_repeated = |(index, handle): (usize, &u8)| handles[..index].contains(handle);
    if handles.iter().any(|&handle| handle >= identifiers) || handles.iter().enumerate().any(is_repeated) {
        return refuse(format!("different numbers below ftl.placement.identifiers, {identifiers}"));
    }
    Ok(())
}

/// The number of placement identifiers that a job with these addresses can use; None if the drive ignores them. A job
/// over several namespaces can use those that all of them have.
pub fn identifiers_for(drive: &Drive, addresses_bytes: Range<u64>) -> Option<u8> {
    let of_drive = handles_of(&drive.ftl.placement)?;
    let mut start_bytes = 0_u64;
    let mut least = of_drive.handles;
    for namespace in &drive.namespaces {
        let end_bytes = start_bytes.saturating_add(namespace.size_bytes);
        let is_touched = start_bytes < addresses_bytes.end && addresses_bytes.start < end_bytes;
        if is_touched && !namespace.placement_handles.is_empty() {
            least = least.min(u8::try_from(namespace.placement_handles.len()).unwrap_or(u8::MAX));
        }
        start_bytes = end_bytes;
    }
    Some(Handles { handles: least, ..of_drive }.identifiers())
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter))
}

/// Refuses features whose translation layer does not count by namespace.
fn check_goes_with_namespaces(drive: &Drive) -> Result<(), SpecificationError> {
    let features = [
        ("zones.zone_bytes", drive.zones.is_on(), "0"),
        ("map_cache.bytes", drive.map_cache.bytes > 0, "0"),
        ("data_reduction.compression", drive.data_reduction.compression, "false"),
        ("data_reduction.deduplication", drive.data_reduction.deduplication, "false"),
        ("stripe.devices", drive.stripe.is_on(), "1"),
    ];
    match features.into_iter().find(|(_, is_on, _)| *is_on) {
        Some((key, _, off)) => {
            let allowed = format!("{off} on a drive with [[namespace]]: this feature is not counted by namespace");
            Err(SpecificationError::new(key, "on", allowed))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::specification::drive::{Stripe, Zones};

    fn with_sizes(units: &[u64]) -> Drive {
        let namespaces = units.iter().enumerate();
        let namespaces = namespaces.map(|(index, units)| Namespace::new(format!("n{index}"), units * 4096));
        Drive { namespaces: namespaces.collect(), ..Drive::textbook() }
    }

    #[test]
    fn namespaces_lie_one_behind_another() {
        let drive = with_sizes(&[100, 1, 300]);
        assert_eq!(namespace_ends(&drive), Ok(vec![Lpn(100), Lpn(101), Lpn(401)]));
        assert_eq!(allocated_bytes(&drive), 401 * 4096);
        assert_eq!(namespace_ends(&Drive::textbook()), Ok(Vec::new()));
        assert_eq!(allocated_bytes(&Drive::textbook()), 768 * 4096);
        assert_eq!(namespace_ends(&with_sizes(&[768])).map(|ends| ends.len()), Ok(1));
    }

    fn with_handles(lists: &[&[u8]]) -> Drive {
        let mut drive = with_sizes(&vec![100; lists.len()]);
        drive.ftl.placement =
            serde_json::from_value(serde_json::json!({ "name": "host-streams", "identifiers": 4 })).unwrap();
        for (namespace, list) in drive.namespaces.iter_mut().zip(lists) {
            namespace.placement_handles = list.to_vec();
        }
        drive
    }

    #[test]
    fn a_job_can_use_the_identifiers_of_the_namespaces_that_it_touches() {
        let drive = with_handles(&[&[3], &[], &[0, 2]]);
        assert!(namespace_ends(&drive).is_ok());
        let identifiers = |start: u64, end: u64| identifiers_for(&drive, start * 4096..end * 4096);
        assert_eq!(identifiers(0, 100), Some(1));
        assert_eq!(identifiers(100, 200), Some(4));
        assert_eq!(identifiers(100, 300), Some(2));
        assert_eq!(identifiers(0, 300), Some(1));
        assert_eq!(identifiers_for(&with_sizes(&[100]), 0..4096), None);
    }

    #[test]
    fn what_cannot_be_is_named() {
        let renamed = |name: &str| {
            let mut drive = with_sizes(&[10, 10]);
            drive.namespaces[1].name = name.into();
            drive
        };
        let mut odd = with_sizes(&[10]);
        odd.namespaces[0].size_bytes += 1;
        let mut cached = with_sizes(&[10]);
        cached.map_cache.bytes = 8192;
        let unaware = Drive { ftl: Drive::textbook().ftl, ..with_handles(&[&[0]]) };
        let mut reduced = with_sizes(&[10]);
        reduced.data_reduction.deduplication = true;
        let cases = [
            (with_sizes(&[700, 69]), "namespace.2.size_bytes"),
            (with_sizes(&[0]), "namespace.1.size_bytes"),
            (odd, "namespace.1.size_bytes"),
            (renamed("n0"), "namespace.2.name"),
            (renamed(""), "namespace.2.name"),
            (renamed("a:b"), "namespace.2.name"),
            (with_sizes(&[1; NAMESPACES_MAX + 1]), "namespace"),
            (with_handles(&[&[0], &[4]]), "namespace.2.placement_handles"),
            (with_handles(&[&[1, 0, 1]]), "namespace.1.placement_handles"),
            (unaware, "namespace.1.placement_handles"),
            (cached, "map_cache.bytes"),
            (reduced, "data_reduction.deduplication"),
            (Drive { stripe: Stripe { devices: 2, ..Stripe::default() }, ..with_sizes(&[10]) }, "stripe.devices"),
            (Drive { zones: Zones { zone_bytes: 4096, ..Zones::default() }, ..with_sizes(&[10]) }, "zones.zone_bytes"),
        ];
        for (drive, key) in cases {
            assert_eq!(namespace_ends(&drive).expect_err(key).key, key);
        }
    }
}
