//! Finds data stored in another order than its addresses, so that background operations can rewrite it.
//!
//! It examines what the host's writes filled since the last examination, and nothing twice: its cost does not grow with
//! the drive. Addresses are judged in segments. A unit is in order after its neighbour if it is in the next data slot,
//! or if one ends a page and the other begins one.

use super::map::Map;
use super::space::Layout;
use crate::units::{EraseUnit, Lpn, Ppn};
use std::collections::VecDeque;

/// Addresses judged and rewritten together: 256 KiB of units of 4 KiB.
const SEGMENT: u32 = 64;
/// Discontinuities allowed in a segment in order, where one erase unit ended and the next began.
const BREAKS: u32 = 1;

pub struct Order {
    /// Erase units to examine, each with the slot from which to continue.
    to_look_at: VecDeque<(EraseUnit, u32)>,
    is_listed: Vec<bool>,
    found: Vec<(Lpn, Ppn)>,
    /// Whether an erase unit opened now is opened by background operations.
    pub is_at_work: bool,
}

impl Order {
    pub fn new(erase_units: u32) -> Self {
        Self {
            to_look_at: VecDeque::new(),
            is_listed: vec![false; erase_units as usize],
            found: Vec::new(),
            is_at_work: false,
        }
    }

    /// An erase unit was opened for the host's writes, or for garbage collection on their behalf.
    pub fn opened(&mut self, erase_unit: EraseUnit) {
        if self.is_at_work {
            return;
        }
        if !std::mem::replace(&mut self.is_listed[erase_unit.index()], true) {
            self.to_look_at.push_back((erase_unit, 0));
        } else if let Some(listed) = self.to_look_at.iter_mut().find(|(listed, _)| *listed == erase_unit) {
            listed.1 = 0;
        }
    }

    /// The units found by `next_out_of_order`, in address order.
    pub fn segment(&self) -> &[(Lpn, Ppn)] {
        &self.found
    }

    /// Searches for a segment out of order; `written` gives the number of written slots of an erase unit.
    pub fn next_out_of_order(
        &mut self,
        layout: &Layout,
        map: &Map,
        units_per_page: u32,
        written: impl Fn(EraseUnit) -> u32,
    ) -> bool {
        for _ in 0..self.to_look_at.len() {
            let (erase_unit, from) = self.to_look_at.pop_front().expect("the list has entries");
            let first = layout.first(erase_unit);
            let end = written(erase_unit);
            for slot in from..end {
                let ppn = Ppn(first + slot);
                if map.is_live(ppn) && self.is_out_of_order(map.logical(ppn), layout, map, units_per_page) {
                    self.to_look_at.push_front((erase_unit, slot + 1));
                    return true;
                }
            }
            // An open erase unit is examined again when more of it is written.
            if end > 0 && end < layout.units_per_erase_unit() {
                self.to_look_at.push_back((erase_unit, end));
            } else {
                self.is_listed[erase_unit.index()] = false;
            }
        }
        false
    }

    fn is_out_of_order(&mut self, lpn: Lpn, layout: &Layout, map: &Map, units_per_page: u32) -> bool {
        let start = lpn.0 / SEGMENT * SEGMENT;
        self.found.clear();
        let addresses = (start..(start + SEGMENT).min(map.user_units())).map(Lpn);
        let mapped = addresses.map(|lpn| (lpn, map.physical(lpn))).filter(|&(_, ppn)| ppn != Ppn::UNMAPPED);
        self.found.extend(mapped);
        let breaks = self.found.windows(2).filter(|pair| {
            let [(left, from), (right, to)] = pair else { return false };
            right.0 == left.0 + 1 && !follows(*from, *to, layout, units_per_page)
        });
        breaks.count() as u32 > BREAKS
    }
}

/// Whether `to` is the position at which a drive that writes in order puts the unit after `from`.
fn follows(from: Ppn, to: Ppn, layout: &Layout, units_per_page: u32) -> bool {
    let page_of = |ppn: u32| ppn / units_per_page;
    let next_data = |ppn: u32| {
        let slot = ppn - layout.first(layout.erase_unit_of(Ppn(ppn)));
        ppn + u32::from(layout.is_parity(slot))
    };
    let after = next_data(from.0 + 1);
    let page_start = next_data(page_of(to.0) * units_per_page);
    to.0 == after || (page_of(after) != page_of(from.0) && page_start == to.0)
}
