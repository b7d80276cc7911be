//! The number of live units of each erase unit, whether it is free, open or closed, and which closed one has the
//! fewest.
//!
//! Every write makes a unit stale, so that the count of some erase unit decreases by one. A sorted list of erase units
//! would cost five memory accesses each time; here a decrease costs two: the count, and the minimum of its group.
//! Groups of groups keep the search for the minimum short on drives with a million erase units.

use crate::units::EraseUnit;
use std::cell::Cell;
use std::ops::Range;

/// Erase units in a group, and groups in a group of groups.
const GROUP_SHIFT: u32 = 6;
const GROUP: usize = 1 << GROUP_SHIFT;

/// A key is the live count with the state in its upper bits, so that closed erase units sort before all others.
const OPEN: u32 = 1 << 30;
const FREE: u32 = 1 << 31;
const RETIRED: u32 = FREE | OPEN;
const COUNT: u32 = OPEN - 1;

/// The state of an erase unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Erased.
    Free,
    /// Being written, or being collected.
    Open,
    /// Full, and a candidate for garbage collection.
    Closed,
    /// Out of use.
    Retired,
}

/// The erase units of each die in separate groups, for drives that collect garbage die by die.
struct ByDie {
    /// By erase unit.
    group_of: Vec<u32>,
    /// By group, in order.
    members: Vec<Vec<u32>>,
    /// By group, as `group_least`.
    least: Vec<Cell<u32>>,
    /// By die, its groups.
    groups: Vec<Range<usize>>,
}

impl ByDie {
    fn new(die_of: &[u16]) -> Self {
        let dies = die_of.iter().max().map_or(0, |&die| usize::from(die) + 1);
        let mut on_die = vec![Vec::new(); dies];
        for (erase_unit, &die) in (0..).zip(die_of) {
            on_die[usize::from(die)].push(erase_unit);
        }
        let mut by_die = Self { group_of: vec![0; die_of.len()], members: vec![], least: vec![], groups: vec![] };
        for erase_units in on_die {
            let first = by_die.members.len();
            for members in erase_units.chunks(GROUP) {
                for &erase_unit in members {
                    by_die.group_of[erase_unit as usize] = by_die.members.len() as u32;
                }
                by_die.members.push(members.to_vec());
            }
            by_die.groups.push(first..by_die.members.len());
        }
        // Lower bounds; corrected by the first search.
        by_die.least = vec![Cell::new(0); by_die.members.len()];
        by_die
    }

    #[inline(always)]
    fn lower_bound(&self, erase_unit: EraseUnit, key: u32) {
        let least = &self.least[self.group_of[erase_unit.index()] as usize];
        if key < least.get() {
            least.set(key);
        }
    }
}

/// Live units and states of all erase units.
pub struct Occupancy {
    keys: Vec<u32>,
    /// A lower bound of the keys of each group; it may be too low, never too high, until `least` searches the group and
    /// stores the minimum.
    group_least: Vec<Cell<u32>>,
    /// The same for groups of groups.
    region_least: Vec<Cell<u32>>,
    erase_units: u32,
    by_die: Option<ByDie>,
}

impl Occupancy {
    /// All erase units are free.
    pub fn new(erase_units: u32) -> Self {
        let padded = (erase_units as usize).next_multiple_of(GROUP * GROUP);
        let mut keys = vec![FREE; padded];
        keys[erase_units as usize..].fill(RETIRED);
        let bounds = |count: usize| vec![Cell::new(FREE); count];
        let (group_least, region_least) = (bounds(padded / GROUP), bounds(padded / GROUP / GROUP));
        Self { keys, group_least, region_least, erase_units, by_die: None }
    }

    /// Prepares for `least_on`; `die_of` lists the die of each erase unit, or is empty.
    pub fn with_dies(self, die_of: &[u16]) -> Self {
        Self { by_die: (!die_of.is_empty()).then(|| ByDie::new(die_of)), ..self }
    }

    /// The live units of an erase unit.
    #[inline(always)]
    pub fn live_units(&self, erase_unit: EraseUnit) -> u32 {
        self.keys[erase_unit.index()] & COUNT
    }

    /// The state of an erase unit.
    pub fn state(&self, erase_unit: EraseUnit) -> State {
        match self.keys[erase_unit.index()] & !COUNT {
            FREE => State::Free,
            OPEN => State::Open,
            RETIRED => State::Retired,
            _ => State::Closed,
        }
    }

    /// All units of an opened erase unit count as live; stale ones are subtracted individually.
    pub fn open(&mut self, erase_unit: EraseUnit, data_units: u32) {
        debug_assert_eq!(self.state(erase_unit), State::Free);
        self.set(erase_unit, OPEN | data_units);
    }

    /// The erase unit is full and becomes a candidate.
    pub fn close(&mut self, erase_unit: EraseUnit) {
        debug_assert_eq!(self.state(erase_unit), State::Open);
        self.set(erase_unit, self.live_units(erase_unit));
    }

    /// Excludes a victim, which is being collected, from the choice.
    pub fn start_emptying(&mut self, erase_unit: EraseUnit) {
        debug_assert_eq!(self.state(erase_unit), State::Closed);
        self.set(erase_unit, OPEN | self.live_units(erase_unit));
    }

    /// The erase unit is erased.
    pub fn free(&mut self, erase_unit: EraseUnit) {
        self.set(erase_unit, FREE);
    }

    /// Sets the state of an erase unit, for restoring.
    pub fn put(&mut self, erase_unit: EraseUnit, state: State, live_units: u32) {
        let key = match state {
            State::Free => FREE,
            State::Open => OPEN | live_units,
            State::Closed => live_units,
            State::Retired => RETIRED,
        };
        self.set(erase_unit, key);
    }

    /// The erase unit is out of use.
    pub fn retire(&mut self, erase_unit: EraseUnit) {
        self.set(erase_unit, RETIRED);
    }

    /// One of its units becomes stale.
    #[inline(always)]
    pub fn lose_one(&mut self, erase_unit: EraseUnit) {
        self.lose(erase_unit, 1);
    }

    /// `units` of its units become stale.
    #[inline(always)]
    pub fn lose(&mut self, erase_unit: EraseUnit, units: u32) {
        let key = &mut self.keys[erase_unit.index()];
        debug_assert!(*key & COUNT >= units);
        *key -= units;
        let key = *key;
        self.lower_bounds(erase_unit, key);
    }

    /// Counts unwritten slots as live again, in an erase unit restored after a loss of power.
    pub fn gain(&mut self, erase_unit: EraseUnit, units: u32) {
        debug_assert_eq!(self.state(erase_unit), State::Open);
        self.keys[erase_unit.index()] += units;
    }

    /// Nearly always the group has a key as low already, so that the test costs less than a store.
    #[inline(always)]
    fn lower_bounds(&mut self, erase_unit: EraseUnit, key: u32) {
        let group = erase_unit.index() >> GROUP_SHIFT;
        if key < self.group_least[group].get() {
            self.group_least[group].set(key);
            let region = &self.region_least[group >> GROUP_SHIFT];
            region.set(region.get().min(key));
        }
        if let Some(by_die) = &self.by_die {
            by_die.lower_bound(erase_unit, key);
        }
    }

    /// Prefetches the count of an erase unit.
    #[inline(always)]
    pub fn prefetch(&self, erase_unit: EraseUnit) {
        crate::table::prefetch_in(&self.keys, erase_unit.index());
    }

    /// The closed erase unit with the fewest live units; among equals, the lowest number.
    pub fn least(&self) -> Option<EraseUnit> {
        loop {
            let (region, believed) = least_of(&self.region_least, 0..self.region_least.len(), Cell::get);
            let (group, group_believed) = least_of(&self.group_least, members(region), Cell::get);
            if group_believed != believed {
                self.region_least[region].set(group_believed);
                continue;
            }
            let (erase_unit, truly) = least_of(&self.keys, members(group), |&key| key);
            if truly == group_believed {
                return (truly < OPEN).then_some(EraseUnit(erase_unit as u32));
            }
            self.group_least[group].set(truly);
        }
    }

    /// The same on one die; only after `with_dies`.
    pub fn least_on(&self, die: u32) -> Option<EraseUnit> {
        let by_die = self.by_die.as_ref().expect("the die of each erase unit is known");
        let groups = by_die.groups[die as usize].clone();
        loop {
            let (group, believed) = least_of(&by_die.least, groups.clone(), Cell::get);
            let members = &by_die.members[group];
            let key_of = |&member: &u32| self.keys[member as usize];
            let truly = members.iter().map(key_of).min().expect("a group has members");
            if truly == believed {
                let first = members.iter().find(|member| key_of(member) == truly);
                return first.filter(|_| truly < OPEN).map(|&member| EraseUnit(member));
            }
            by_die.least[group].set(truly);
        }
    }

    /// All erase units, including retired ones.
    pub fn erase_units(&self) -> u32 {
        self.erase_units
    }

    fn set(&mut self, erase_unit: EraseUnit, key: u32) {
        self.keys[erase_unit.index()] = key;
        self.lower_bounds(erase_unit, key);
    }
}

fn members(group: usize) -> Range<usize> {
    group << GROUP_SHIFT..(group + 1) << GROUP_SHIFT
}

/// The position and the value of the minimum of `words[range]`. Two passes: the only dependency of the first is the
/// minimum, so that the compiler vectorises it.
fn least_of<T>(words: &[T], range: Range<usize>, value: impl Fn(&T) -> u32) -> (usize, u32) {
    let start = range.start;
    let members = &words[range];
    let least = members.iter().map(&value).min().expect("a group has members");
    let slot = members.iter().position(|word| value(word) == least).expect("the least is a member");
    (start + slot, least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Open(u32),
        Close(u32),
        Free(u32),
        Lose(u32),
    }

    fn step() -> impl Strategy<Value = Step> {
        let unit = 0u32..150;
        prop_oneof![
            unit.clone().prop_map(Step::Open),
            unit.clone().prop_map(Step::Close),
            unit.clone().prop_map(Step::Free),
            unit.prop_map(Step::Lose),
        ]
    }

    proptest! {
        #[test]
        fn least_agrees_with_a_full_scan(steps in proptest::collection::vec(step(), 1..800)) {
            let die_of: Vec<u16> = (0..150).map(|unit| unit % 7 % 2).collect();
            let mut clever = Occupancy::new(150).with_dies(&die_of);
            let mut obvious = vec![(State::Free, 0u32); 150];
            for step in steps {
                match step {
                    Step::Open(unit) if obvious[unit as usize].0 == State::Free => {
                        clever.open(EraseUnit(unit), 9);
                        obvious[unit as usize] = (State::Open, 9);
                    }
                    Step::Close(unit) if obvious[unit as usize].0 == State::Open => {
                        clever.close(EraseUnit(unit));
                        obvious[unit as usize].0 = State::Closed;
                    }
                    Step::Free(unit) => {
                        clever.free(EraseUnit(unit));
                        obvious[unit as usize] = (State::Free, 0);
                    }
                    Step::Lose(unit) if obvious[unit as usize].1 > 0 => {
                        clever.lose_one(EraseUnit(unit));
                        obvious[unit as usize].1 -= 1;
                    }
                    _ => {}
                }
                let closed = |unit: &u32| obvious[*unit as usize].0 == State::Closed;
                let live_units = |unit: &u32| obvious[*unit as usize].1;
                prop_assert_eq!(clever.least(), (0..150).filter(closed).min_by_key(live_units).map(EraseUnit));
                for die in 0..2 {
                    let on_die = (0..150).filter(closed).filter(|&unit| die_of[unit as usize] == die);
                    prop_assert_eq!(clever.least_on(u32::from(die)), on_die.min_by_key(live_units).map(EraseUnit));
                }
                for (unit, &(state, count)) in obvious.iter().enumerate() {
                    prop_assert_eq!(clever.state(EraseUnit(unit as u32)), state);
                    prop_assert_eq!(clever.live_units(EraseUnit(unit as u32)), count);
                }
            }
        }
    }
}
