//! Recovery of packed data after a loss of power.
//!
//! Each write has a number, which identifies its data: moves do not change it, and a duplicate's address refers to it
//! too. So the contents of an address follow from numbers alone (the checkpoint, and later claims to the address), and
//! their location from another search: wherever a whole entry with this number is. Data referred to by a duplicate may
//! have been lost with the power before it was programmed; the address then has its previous contents, which still
//! exist, since no erase overtakes earlier decisions.

use super::directory::Entry;
use crate::nand::medium::PageState;
use crate::nand::{Nand, Recovery};
use ssdlab_engine::ftl::recovery::{Found, FoundUnit};
use ssdlab_engine::units::{Lpn, Ppn};

/// Data found by the scan, in the order of preference: of two copies a readable one comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Copy {
    version: u64,
    is_lost: bool,
    slot: u32,
    lpn: u32,
    slots: u32,
}

/// A claim to the contents of an address: the number of a write, or 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Claim {
    version: u64,
    contents: u64,
}

impl Nand {
    pub(in crate::nand) fn recover_packed(&mut self, undone: &[u32], torn_units: u64) -> (Found, Recovery) {
        let shape = *self.medium.shape();
        let mut recovery = Recovery { torn_units, ..Recovery::default() };
        let checkpoint_version = self.journal.checkpoint_version(&self.medium);
        let mut claims = vec![Claim::default(); shape.logical_units as usize];
        let mut copies = Vec::new();
        let checkpoint = self.journal.checkpoint_map(&self.medium).zip(self.journal.checkpoint_contents(&self.medium));
        for (claim, (slot, contents)) in claims.iter_mut().zip(checkpoint) {
            claim.version = checkpoint_version;
            if slot < shape.physical_units() * shape.slots_per_unit {
                recovery.checkpoint_units += 1;
                claim.contents = contents;
                copies.extend(self.copy_at(slot).filter(|copy| copy.version == contents));
            }
        }
        let mut begun_units = Vec::new();
        let erase_units = self.scan_all(undone, &mut recovery, |_, unit, _| begun_units.push(unit));
        let mut version = checkpoint_version;
        for unit in begun_units {
            for slot in unit * shape.slots_per_unit..(unit + 1) * shape.slots_per_unit {
                // Numbers of torn data are not reused: a duplicate may refer to them.
                version = version.max(self.medium.entry(slot).map_or(0, |entry| entry.version));
                copies.extend(self.copy_at(slot));
            }
        }
        copies.sort_unstable();
        let copy_of = |contents: u64| {
            let at = copies.partition_point(|copy| copy.version < contents);
            copies.get(at).filter(|copy| copy.version == contents)
        };
        let shares = self.journal.shares(&self.medium);
        let trims = self.journal.trims(&self.medium);
        let of_copies = copies.iter().map(|copy| (copy.lpn..copy.lpn + 1, copy.version, copy.version));
        let of_shares = shares.iter().map(|share| (share.lpn..share.lpn + 1, share.version, share.contents));
        let of_trims = trims.iter().map(|trim| (trim.first..trim.first + trim.units, trim.version, 0));
        for (lpns, claimed_at, contents) in of_copies.chain(of_shares).chain(of_trims) {
            version = version.max(claimed_at);
            if contents > 0 && copy_of(contents).is_none() {
                continue;
            }
            for claim in &mut claims[lpns.start as usize..lpns.end as usize] {
                if claim.version < claimed_at {
                    *claim = Claim { version: claimed_at, contents };
                }
            }
        }
        let units: Vec<FoundUnit> = (0..)
            .map(Lpn)
            .zip(&claims)
            .filter_map(|(lpn, claim)| copy_of(claim.contents).map(|copy| (lpn, claim, copy)))
            .map(|(lpn, claim, copy)| FoundUnit { lpn, ppn: Ppn(copy.slot), slots: copy.slots, version: claim.version })
            .collect();
        self.version = version;
        self.take_up_contents(&claims, &units);
        let padding_units = std::mem::take(&mut self.padding_units) * u64::from(shape.slots_per_unit);
        (Found { units, erase_units, padding_units }, recovery)
    }

    /// The unit that begins at a slot, if all of it was programmed.
    fn copy_at(&self, slot: u32) -> Option<Copy> {
        let entry = self.medium.entry(slot)?;
        let state = self.medium.spare(slot / self.medium.shape().slots_per_unit).state;
        if matches!(state, PageState::Erased | PageState::Torn) || !self.is_there(slot, &entry) {
            return None;
        }
        let Entry { lpn, length_bytes, version, .. } = entry;
        let is_lost = entry.is_lost
            || self.pieces(slot, length_bytes).any(|(unit, _)| self.medium.spare(unit).state == PageState::Lost);
        let slots = self.packing.as_ref()?.codec.slots(length_bytes as usize);
        Some(Copy { version, is_lost, slot, lpn, slots })
    }

    /// Restores the drive's record of contents.
    fn take_up_contents(&mut self, claims: &[Claim], units: &[FoundUnit]) {
        let packing = self.packing.as_mut().expect("only a drive that reduces data comes here");
        packing.contents.clear();
        packing.contents.extend(claims.iter().map(|claim| claim.contents));
        let Some(mut known) = packing.known.take() else { return };
        known.clear();
        for unit in units {
            if let Some(stored) = self.stored_at(unit.ppn.0) {
                known.note(&stored, unit.ppn.0, |_| true);
            }
        }
        self.packing().known = Some(known);
    }

    /// The stored bytes at a slot.
    fn stored_at(&self, slot: u32) -> Option<Vec<u8>> {
        let entry = self.medium.entry(slot).filter(|entry| !entry.is_lost)?;
        let pieces = self.pieces(slot, entry.length_bytes).map(|(unit, bytes)| &self.medium.data(unit)[bytes]);
        Some(pieces.collect::<Vec<_>>().concat())
    }
}
