//! The page-level map in both directions, and which physical units are live.
//!
//! It takes four bytes a logical unit, and four bytes and one bit a physical one: the bit map is small enough to stay
//! in the processor's cache where the other two tables do not.

use super::space::Layout;
use crate::table::Table;
use crate::units::{EraseUnit, Lpn, Ppn};
use std::io;

pub struct Map {
    layout: Layout,
    physical: Table<u32>,
    logical: Table<u32>,
    live: Table<u64>,
    user_units: u32,
    unit_bytes_shift: u32,
    /// Whether a unit is live from its write on, and not from the opening of its erase unit on.
    is_packed: bool,
}

impl Map {
    /// `map_pages` additional units follow those of the host.
    pub fn new(
        layout: Layout,
        erase_units: u32,
        (user_units, map_pages): (u32, u32),
        unit_bytes: u32,
        is_packed: bool,
    ) -> io::Result<Self> {
        let physical_units = erase_units as usize * layout.units_per_erase_unit() as usize;
        Ok(Self {
            layout,
            physical: Table::filled((user_units + map_pages) as usize, Ppn::UNMAPPED.0)?,
            logical: Table::zeroed(physical_units)?,
            live: Table::zeroed(physical_units.div_ceil(64))?,
            user_units,
            unit_bytes_shift: unit_bytes.trailing_zeros(),
            is_packed,
        })
    }

    pub fn is_packed(&self) -> bool {
        self.is_packed
    }

    #[inline(always)]
    pub fn unit_bytes(&self) -> u64 {
        1 << self.unit_bytes_shift
    }

    /// The unit of the host at an offset.
    #[inline(always)]
    pub fn lpn_of(&self, offset_bytes: u64) -> Lpn {
        Lpn((offset_bytes >> self.unit_bytes_shift) as u32)
    }

    /// The units of which a range has a part.
    pub fn touched(&self, offset_bytes: u64, length_bytes: u32) -> impl Iterator<Item = Lpn> + use<> {
        let last = self.lpn_of(offset_bytes + u64::from(length_bytes) - 1);
        (self.lpn_of(offset_bytes).0..=last.0).map(Lpn)
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

    /// Links a logical and a physical unit. The live bit of `ppn` was set when its erase unit was opened.
    #[inline(always)]
    pub fn link(&mut self, lpn: Lpn, ppn: Ppn) {
        self.physical.set(lpn.index(), ppn.0);
        self.logical.set(ppn.index(), lpn.0);
    }

    /// Links an address with a slot, and returns the previous slot of the address.
    #[inline(always)]
    pub fn relink(&mut self, lpn: Lpn, ppn: Ppn) -> Ppn {
        self.logical.set(ppn.index(), lpn.0);
        Ppn(std::mem::replace(self.physical.word(lpn.index()), ppn.0))
    }

    /// Links moved units with consecutive slots, starting at `to`. The tables are looked up once for the run, and the
    /// loop handles four units at a time, which saves a fifth of its instructions.
    #[inline(always)]
    pub fn link_run(&mut self, units: &[(Lpn, Ppn)], to: Ppn) {
        let physical = self.physical.as_mut_slice();
        let logical = &mut self.logical.as_mut_slice()[to.index()..][..units.len()];
        let (fours, rest) = units.as_chunks::<4>();
        let (logical_fours, logical_rest) = logical.as_chunks_mut::<4>();
        let mut link = |lpn: Lpn, logical: &mut u32, to: u32| {
            physical[lpn.index()] = to;
            *logical = lpn.0;
        };
        let mut to = to.0;
        for (four, logical) in fours.iter().zip(logical_fours) {
            link(four[0].0, &mut logical[0], to);
            link(four[1].0, &mut logical[1], to + 1);
            link(four[2].0, &mut logical[2], to + 2);
            link(four[3].0, &mut logical[3], to + 3);
            to += 4;
        }
        for ((&(lpn, _), logical), to) in rest.iter().zip(logical_rest).zip(to..) {
            link(lpn, logical, to);
        }
    }

    /// Maps one more address to a slot that another address uses.
    pub fn point(&mut self, lpn: Lpn, ppn: Ppn) {
        self.physical.set(lpn.index(), ppn.0);
    }

    /// Changes one direction only, which must never happen: for tests that must detect it.
    pub fn misplace(&mut self, lpn: Lpn, ppn: Ppn) {
        self.physical.set(lpn.index(), ppn.0);
    }

    pub fn unmap(&mut self, lpn: Lpn) {
        self.physical.set(lpn.index(), Ppn::UNMAPPED.0);
    }

    #[inline(always)]
    pub fn mark_stale(&mut self, ppn: Ppn) {
        *self.live.word(ppn.index() / 64) &= !(1 << (ppn.index() % 64));
    }

    pub fn mark_live(&mut self, ppn: Ppn) {
        *self.live.word(ppn.index() / 64) |= 1 << (ppn.index() % 64);
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

    /// Marks all data slots of an erase unit as live before any is written, so that the bits are set once an erase unit
    /// instead of once a unit; not where units are packed. The frontier knows which slots are not yet written. `slots`
    /// is the unit's layout.
    pub fn opened(&mut self, erase_unit: EraseUnit, slots: &Layout) {
        if self.is_packed {
            return;
        }
        let first = self.layout.first(erase_unit);
        let units = slots.units_per_erase_unit();
        self.write_bits(first, units, true);
        let mut parity = slots.next_parity(0);
        while parity < units {
            self.mark_stale(Ppn(first + parity));
            parity = if parity + 1 < units { slots.next_parity(parity + 1) } else { units };
        }
    }

    pub fn mark_all_stale(&mut self, erase_unit: EraseUnit) {
        self.write_bits(self.layout.first(erase_unit), self.layout.units_per_erase_unit(), false);
    }

    /// Marks the slots from `first` to `last` of one erase unit, both included, as stale.
    pub fn mark_range_stale(&mut self, first: Ppn, last: Ppn) {
        if first == last {
            return self.mark_stale(first);
        }
        self.write_bits(first.0, last.0 - first.0 + 1, false);
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

    /// Appends the logical numbers of the live units among the slots `from..` of an erase unit, in order, until `out`
    /// holds about `count_max` of them, and prefetches their map entries. Returns the slot to continue from.
    pub fn gather_live(&self, erase_unit: EraseUnit, from: u32, count_max: usize, out: &mut Vec<(Lpn, Ppn)>) -> u32 {
        let first = self.layout.first(erase_unit) as usize;
        let end = first + self.layout.units_per_erase_unit() as usize;
        let mut at = first + from as usize;
        while at < end && out.len() + 64 <= count_max.max(64) {
            let word = at / 64;
            let word_end = ((word + 1) * 64).min(end);
            let mask = (u64::MAX >> (64 - (word_end - at))) << (at % 64);
            self.gather_word(word, self.live.get(word) & mask, out);
            at = word_end;
        }
        (at - first) as u32
    }

    /// The units whose bits are set in a word of live bits. An array of the word's size needs no bounds check of each
    /// slot.
    #[inline(always)]
    fn gather_word(&self, word: usize, mut bits: u64, out: &mut Vec<(Lpn, Ppn)>) {
        let first = word * 64;
        let rest = &self.logical.as_slice()[first..];
        let last;
        let logical = match rest.first_chunk::<64>() {
            Some(logical) => logical,
            None => {
                last = padded(rest);
                &last
            }
        };
        out.reserve(64);
        while bits != 0 {
            let slot = bits.trailing_zeros() % 64;
            let lpn = Lpn(logical[slot as usize]);
            self.prefetch_physical(lpn);
            out.push((lpn, Ppn(first as u32 + slot)));
            bits &= bits - 1;
        }
    }

    /// The map, the reverse map, and the live bits.
    pub fn tables(&mut self) -> (&mut Table<u32>, &mut Table<u32>, &mut Table<u64>) {
        (&mut self.physical, &mut self.logical, &mut self.live)
    }

    pub fn bytes(&self) -> usize {
        self.physical.bytes() + self.logical.bytes() + self.live.bytes()
    }
}

/// The last words of a table, padded.
#[cold]
fn padded(words: &[u32]) -> [u32; 64] {
    let mut padded = [0; 64];
    padded[..words.len()].copy_from_slice(words);
    padded
}
