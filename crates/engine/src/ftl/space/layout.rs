//! The layout of an erase unit: the erase unit and the slot of a PPN, and which slots hold parity.

use crate::divisor::Divisor;
use crate::units::{EraseUnit, Ppn};

/// All numbers are slots. A slot holds a mapping unit, or with data reduction a part of one.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    units_per_erase_unit: Divisor,
    /// The last mapping unit of each parity stripe of this many slots holds parity; 0: no parity.
    units_per_stripe: u32,
    slots_per_unit: u32,
}

impl Layout {
    /// The layout for an erase unit and a parity stripe of these numbers of mapping units.
    pub fn new(units_per_erase_unit: u32, units_per_stripe: u32, slots_per_unit: u32) -> Self {
        assert!(units_per_erase_unit > 1, "an erase unit holds at least two mapping units");
        assert!(units_per_stripe != 1, "a stripe of parity alone holds no data");
        Self {
            units_per_erase_unit: Divisor::new(units_per_erase_unit * slots_per_unit),
            units_per_stripe: units_per_stripe * slots_per_unit,
            slots_per_unit,
        }
    }

    pub fn units_per_erase_unit(&self) -> u32 {
        self.units_per_erase_unit.get()
    }

    /// 1 without data reduction.
    pub fn slots_per_unit(&self) -> u32 {
        self.slots_per_unit
    }

    /// The largest number of runs of data slots between parity.
    pub fn runs_per_erase_unit(&self) -> u32 {
        (self.parity_units_per_erase_unit() / self.slots_per_unit).max(1)
    }

    /// Slots of an erase unit for host data.
    pub fn data_units_per_erase_unit(&self) -> u32 {
        self.units_per_erase_unit() - self.parity_units_per_erase_unit()
    }

    pub fn parity_units_per_erase_unit(&self) -> u32 {
        // A last stripe that is cut short is protected too: its last unit holds parity.
        match self.units_per_stripe {
            0 => 0,
            stripe => self.units_per_erase_unit().div_ceil(stripe) * self.slots_per_unit,
        }
    }

    /// Data slots at or after `slot`.
    pub fn data_units_from(&self, slot: u32) -> u32 {
        let parity_before = slot.checked_div(self.units_per_stripe).unwrap_or(0) * self.slots_per_unit;
        let parity_after = self.parity_units_per_erase_unit() - parity_before;
        (self.units_per_erase_unit() - slot).saturating_sub(parity_after)
    }

    /// The start of the first parity unit at or after `slot`, or the end of the erase unit.
    pub fn next_parity(&self, slot: u32) -> u32 {
        match self.units_per_stripe {
            0 => self.units_per_erase_unit(),
            stripe => ((slot / stripe + 1) * stripe).min(self.units_per_erase_unit()) - self.slots_per_unit,
        }
    }

    pub fn is_parity(&self, slot: u32) -> bool {
        self.units_per_stripe != 0 && self.next_parity(slot) == slot
    }

    /// The same layout for an erase unit of `units` mapping units; None if there can be none.
    pub fn of_units(&self, units: u32) -> Option<Self> {
        (units > 1).then(|| Self::new(units, self.units_per_stripe / self.slots_per_unit, self.slots_per_unit))
    }

    /// Data slots before `slot`: the index of a data slot among them.
    pub fn data_units_before(&self, slot: u32) -> u32 {
        self.data_units_per_erase_unit() - self.data_units_from(slot)
    }

    /// The data slot with this index, on a drive without data reduction.
    #[inline]
    pub fn slot_of_data(&self, number: u32) -> u32 {
        match self.units_per_stripe {
            0 => number,
            stripe => number + number / (stripe - 1),
        }
    }

    /// The position that corresponds to `slot` of an erase unit with data slots fewer by the factor `times`: the same
    /// share of data lies before it, and parity is due at the same point.
    pub fn magnified(&self, smaller: &Self, slot: u32, times: u32) -> u32 {
        let before = smaller.data_units_before(slot) * times;
        if slot == smaller.units_per_erase_unit() {
            self.units_per_erase_unit()
        } else if smaller.is_parity(slot) {
            self.slot_of_data(before - 1) + 1
        } else {
            self.slot_of_data(before)
        }
    }

    #[inline(always)]
    pub fn erase_unit_of(&self, ppn: Ppn) -> EraseUnit {
        EraseUnit(self.units_per_erase_unit.quotient(ppn.0))
    }

    pub fn first(&self, erase_unit: EraseUnit) -> u32 {
        erase_unit.0 * self.units_per_erase_unit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parity_slots_are_the_last_of_each_stripe(units in 2u32..600, stripe in 2u32..40) {
            let layout = Layout::new(units, stripe, 1);
            let parity: Vec<u32> = (0..units).filter(|&slot| layout.is_parity(slot)).collect();
            let obvious: Vec<u32> = (0..units).filter(|&slot| (slot + 1) % stripe == 0 || slot + 1 == units).collect();
            prop_assert_eq!(&parity, &obvious);
            prop_assert_eq!(parity.len() as u32, layout.parity_units_per_erase_unit());
            for slot in 0..units {
                let data = (slot..units).filter(|&slot| !layout.is_parity(slot)).count();
                prop_assert_eq!(layout.data_units_from(slot), data as u32);
            }
        }

        #[test]
        fn an_erase_unit_that_is_larger_goes_on_where_the_smaller_one_stands(
            stripes in 1u32..20, stripe in 2u32..40, times in 1u32..10
        ) {
            let (smaller, larger) = (Layout::new(stripes * stripe, stripe, 1), Layout::new(stripes * stripe * times, stripe, 1));
            for slot in 0..=smaller.units_per_erase_unit() {
                let to = larger.magnified(&smaller, slot, times);
                prop_assert_eq!(larger.data_units_before(to), times * smaller.data_units_before(slot));
                prop_assert_eq!(larger.is_parity(to), smaller.is_parity(slot));
            }
            for (number, slot) in (0..larger.units_per_erase_unit()).filter(|&slot| !larger.is_parity(slot)).enumerate() {
                prop_assert_eq!(larger.slot_of_data(number as u32), slot);
            }
        }

        #[test]
        fn finer_slots_lie_as_mapping_units_do(units in 2u32..600, stripe in 2u32..40, shift in 1u32..4) {
            let (coarse, fine) = (Layout::new(units, stripe, 1), Layout::new(units, stripe, 1 << shift));
            prop_assert_eq!(fine.data_units_per_erase_unit(), coarse.data_units_per_erase_unit() << shift);
            for slot in 0..units {
                prop_assert_eq!(fine.is_parity(slot << shift), coarse.is_parity(slot));
                prop_assert_eq!(fine.next_parity(slot << shift), coarse.next_parity(slot) << shift);
                prop_assert_eq!(fine.data_units_from(slot << shift), coarse.data_units_from(slot) << shift);
            }
        }
    }
}
