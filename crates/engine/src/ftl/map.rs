//! The page-level map in both directions, and which physical units are live.
//!
//! Four bytes a logical unit, four bytes and one bit a physical one, and nothing more: the bit map is small enough to
//! stay in the cache where the other two tables do not.

use super::layout::Layout;
use super::numbers::{EraseUnit, Lpn, Ppn};
use crate::table::Table;
use std::io;

pub struct Map {
    layout: Layout,
    physical: Table<u32>,
    logical: Table<u32>,
    live: Table<u64>,
    user_units: u32,
}

impl Map {
    /// `map_pages` more units lie behind those of the host.
    pub fn new(layout: Layout, erase_units: u32, user_units: u32, map_pages: u32) -> io::Result<Self> {
        let physical_units = erase_units as usize * layout.units_per_erase_unit() as usize;
        Ok(Self {
            layout,
            physical: Table::filled((user_units + map_pages) as usize, Ppn::UNMAPPED.0)?,
            logical: Table::zeroed(physical_units)?,
            live: Table::zeroed(physical_units.div_ceil(64))?,
            user_units,
        })
    }

    pub fn user_units(&self) -> u32 {
        self.user_units
    }

    /// All units that may lie in flash: the host's and the map pages.
    pub fn units(&self) -> u32 {
        self.physical.len() as u32
    }

    #[inline(always)]
    pub fn physical(&self, lpn: Lpn) -> Ppn {
        Ppn(self.physical.get(lpn.index()))
    }

    #[inline(always)]
    pub fn logical(&self, ppn: Ppn) -> Lpn {
        Lpn(self.logical.get(ppn.index()))
    }

    /// Points both directions at each other. The live bit of `ppn` was set when its erase unit was opened.
    #[inline(always)]
    pub fn link(&mut self, lpn: Lpn, ppn: Ppn) {
        self.physical.set(lpn.index(), ppn.0);
        self.logical.set(ppn.index(), lpn.0);
    }

    /// Lets one more address point at what another has stored.
    pub fn point(&mut self, lpn: Lpn, ppn: Ppn) {
        self.physical.set(lpn.index(), ppn.0);
    }

    /// Points one direction only: what must never happen, for tests that must notice.
    pub fn misplace(&mut self, lpn: Lpn, ppn: Ppn) {
        self.physical.set(lpn.index(), ppn.0);
    }

    pub fn unmap(&mut self, lpn: Lpn) {
        self.physical.set(lpn.index(), Ppn::UNMAPPED.0);
    }

    #[inline(always)]
    pub fn mark_stale(&mut self, ppn: Ppn) {
        let word = ppn.index() / 64;
        self.live.set(word, self.live.get(word) & !(1 << (ppn.index() % 64)));
    }

    pub fn mark_live(&mut self, ppn: Ppn) {
        let word = ppn.index() / 64;
        self.live.set(word, self.live.get(word) | 1 << (ppn.index() % 64));
    }

    pub fn is_live(&self, ppn: Ppn) -> bool {
        self.live.get(ppn.index() / 64) >> (ppn.index() % 64) & 1 == 1
    }

    #[inline(always)]
    pub fn prefetch_physical(&self, lpn: Lpn) {
        self.physical.prefetch(lpn.index());
    }

    #[inline(always)]
    pub fn prefetch_live(&self, ppn: Ppn) {
        self.live.prefetch(ppn.index() / 64);
    }

    /// Marks all data places of an erase unit live before any is written: so the bit is set once for a whole erase
    /// unit instead of once for each unit. Places not yet written are known by the frontier.
    /// `places` is where they lie in it.
    pub fn mark_all_live(&mut self, erase_unit: EraseUnit, places: &Layout) {
        let first = self.layout.first(erase_unit);
        let units = places.units_per_erase_unit();
        self.write_bits(first, units, true);
        let mut parity = places.next_parity(0);
        while parity < units {
            self.mark_stale(Ppn(first + parity));
            parity = if parity + 1 < units { places.next_parity(parity + 1) } else { units };
        }
    }

    pub fn mark_all_stale(&mut self, erase_unit: EraseUnit) {
        self.write_bits(self.layout.first(erase_unit), self.layout.units_per_erase_unit(), false);
    }

    fn write_bits(&mut self, first: u32, units: u32, live: bool) {
        let first = first as usize;
        let end = first + units as usize;
        let words = self.live.as_mut_slice();
        let mut at = first;
        while at < end {
            let word_end = (at / 64 + 1) * 64;
            let bits = end.min(word_end) - at;
            let mask = (u64::MAX >> (64 - bits)) << (at % 64);
            let word = &mut words[at / 64];
            *word = if live { *word | mask } else { *word & !mask };
            at += bits;
        }
    }

    /// Appends the logical numbers of the live units among the places `from..` of an erase unit, in order, until `out`
    /// holds about `count_max` of them, prefetching their map entries. Returns the place to go on from.
    pub fn gather_live(&self, erase_unit: EraseUnit, from: u32, count_max: usize, out: &mut Vec<(Lpn, Ppn)>) -> u32 {
        let first = self.layout.first(erase_unit) as usize;
        let end = first + self.layout.units_per_erase_unit() as usize;
        let mut at = first + from as usize;
        while at < end && out.len() + 64 <= count_max.max(64) {
            let word_end = ((at / 64 + 1) * 64).min(end);
            let mask = (u64::MAX >> (64 - (word_end - at))) << (at % 64);
            let mut bits = self.live.get(at / 64) & mask;
            while bits != 0 {
                let ppn = Ppn((at / 64 * 64) as u32 + bits.trailing_zeros());
                let lpn = self.logical(ppn);
                self.prefetch_physical(lpn);
                out.push((lpn, ppn));
                bits &= bits - 1;
            }
            at = word_end;
        }
        (at - first) as u32
    }

    /// Addresses to places, places to addresses, and which places are live.
    pub fn tables(&mut self) -> (&mut Table<u32>, &mut Table<u32>, &mut Table<u64>) {
        (&mut self.physical, &mut self.logical, &mut self.live)
    }

    pub fn bytes(&self) -> usize {
        self.physical.bytes() + self.logical.bytes() + self.live.bytes()
    }
}
