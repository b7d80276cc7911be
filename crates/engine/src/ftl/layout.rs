//! Where physical numbers lie: erase unit and place of a PPN, and which places hold parity.

use super::numbers::{EraseUnit, Ppn};

#[derive(Clone, Copy, Debug)]
pub struct Layout {
    units_per_erase_unit: u32,
    /// One place in so many holds parity, the last of each stripe; 0: none.
    units_per_stripe: u32,
    /// floor(2^64 / units) + 1: turns the division by a number known only at run time into one multiplication.
    reciprocal: u64,
}

impl Layout {
    pub fn new(units_per_erase_unit: u32, units_per_stripe: u32) -> Self {
        assert!(units_per_erase_unit > 1, "an erase unit holds at least two mapping units");
        assert!(units_per_stripe != 1, "a stripe of parity alone holds no data");
        let reciprocal = u64::MAX / u64::from(units_per_erase_unit) + 1;
        Self { units_per_erase_unit, units_per_stripe, reciprocal }
    }

    pub fn units_per_erase_unit(&self) -> u32 {
        self.units_per_erase_unit
    }

    /// Places of an erase unit that can hold host data.
    pub fn data_units_per_erase_unit(&self) -> u32 {
        self.units_per_erase_unit - self.parity_units_per_erase_unit()
    }

    pub fn parity_units_per_erase_unit(&self) -> u32 {
        // A last stripe that is cut short is protected as well: its last place holds parity.
        match self.units_per_stripe {
            0 => 0,
            stripe => self.units_per_erase_unit.div_ceil(stripe),
        }
    }

    /// Places for host data at or after `place`.
    pub fn data_units_from(&self, place: u32) -> u32 {
        let parity_before = place.checked_div(self.units_per_stripe).unwrap_or(0);
        let parity_after = self.parity_units_per_erase_unit() - parity_before;
        (self.units_per_erase_unit - place).saturating_sub(parity_after)
    }

    /// The first parity place at or after `place`, or the end of the erase unit.
    pub fn next_parity(&self, place: u32) -> u32 {
        match self.units_per_stripe {
            0 => self.units_per_erase_unit,
            stripe => ((place / stripe + 1) * stripe - 1).min(self.units_per_erase_unit - 1),
        }
    }

    pub fn is_parity(&self, place: u32) -> bool {
        self.units_per_stripe != 0 && self.next_parity(place) == place
    }

    /// Exact for all 32-bit numbers (Granlund and Montgomery 1994: the error of the reciprocal times the dividend stays
    /// below 2^64).
    #[inline(always)]
    pub fn erase_unit_of(&self, ppn: Ppn) -> EraseUnit {
        EraseUnit(((u128::from(ppn.0) * u128::from(self.reciprocal)) >> 64) as u32)
    }

    pub fn first(&self, erase_unit: EraseUnit) -> u32 {
        erase_unit.0 * self.units_per_erase_unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn division_by_reciprocal_is_exact(ppn in any::<u32>(), units in 2u32..=u32::MAX) {
            prop_assert_eq!(Layout::new(units, 0).erase_unit_of(Ppn(ppn)).0, ppn / units);
        }

        #[test]
        fn parity_places_are_the_last_of_each_stripe(units in 2u32..600, stripe in 2u32..40) {
            let layout = Layout::new(units, stripe);
            let parity: Vec<u32> = (0..units).filter(|&place| layout.is_parity(place)).collect();
            let obvious: Vec<u32> = (0..units).filter(|&place| (place + 1) % stripe == 0 || place + 1 == units).collect();
            prop_assert_eq!(&parity, &obvious);
            prop_assert_eq!(parity.len() as u32, layout.parity_units_per_erase_unit());
            for place in 0..units {
                let data = (place..units).filter(|&place| !layout.is_parity(place)).count();
                prop_assert_eq!(layout.data_units_from(place), data as u32);
            }
        }
    }
}
