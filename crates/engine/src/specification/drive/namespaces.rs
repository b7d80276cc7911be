//! The list `[[namespace]]`: several namespaces on one drive. Field names are the keys of the drive file.

use super::Drive;
use crate::error::SpecificationError;
use crate::units::Lpn;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The maximum of a drive; NVMe drives offer up to 128.
pub const NAMESPACES_MAX: usize = 128;

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
        let namespaces =
            namespaces.map(|(index, units)| Namespace { name: format!("n{index}"), size_bytes: units * 4096 });
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
