//! Erased erase units, by die.

use crate::units::EraseUnit;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

pub struct FreePool {
    /// A single one for drives that open erase units in one order over all dies.
    dies: Vec<Pool>,
    /// By erase unit; empty with a single pool.
    die_of: Vec<u16>,
    len: u32,
}

enum Pool {
    /// The one erased longest ago is taken first.
    InOrder(VecDeque<EraseUnit>),
    /// The one with the fewest erases is taken first; among equals, the lowest number.
    LeastWorn(BinaryHeap<Reverse<(u32, EraseUnit)>>),
}

impl FreePool {
    /// A pool for each die in `die_of`, which lists the die of each erase unit, or a single pool if it is empty.
    pub fn new(prefers_least_worn: bool, dies: u32, die_of: Vec<u16>) -> Self {
        let pools = if die_of.is_empty() { 1 } else { dies };
        Self { dies: (0..pools).map(|_| Pool::new(prefers_least_worn)).collect(), die_of, len: 0 }
    }

    fn die_of(&self, erase_unit: EraseUnit) -> usize {
        self.die_of.get(erase_unit.index()).map_or(0, |&die| usize::from(die))
    }

    pub fn put(&mut self, erase_unit: EraseUnit, erase_count: u32) {
        self.len += 1;
        let die = self.die_of(erase_unit);
        self.dies[die].put(erase_unit, erase_count);
    }

    pub fn take(&mut self) -> Option<EraseUnit> {
        self.take_on(0)
    }

    pub fn take_on(&mut self, die: u32) -> Option<EraseUnit> {
        let taken = self.dies[die as usize].take();
        self.len -= u32::from(taken.is_some());
        taken
    }

    /// Removes an erase unit that is retired.
    pub fn remove(&mut self, erase_unit: EraseUnit) {
        let die = self.die_of(erase_unit);
        let before = self.dies[die].len();
        self.dies[die].remove(erase_unit);
        self.len -= before - self.dies[die].len();
    }

    /// All of them, die by die, in the order in which they will be taken.
    pub fn in_order(&self) -> Vec<EraseUnit> {
        self.dies.iter().flat_map(Pool::in_order).collect()
    }

    pub fn clear(&mut self) {
        self.dies.iter_mut().for_each(Pool::clear);
        self.len = 0;
    }

    pub fn len(&self) -> u32 {
        self.len
    }

    pub fn len_on(&self, die: u32) -> u32 {
        self.dies[die as usize].len()
    }
}

impl Pool {
    fn new(prefers_least_worn: bool) -> Self {
        if prefers_least_worn { Self::LeastWorn(BinaryHeap::new()) } else { Self::InOrder(VecDeque::new()) }
    }

    fn put(&mut self, erase_unit: EraseUnit, erase_count: u32) {
        match self {
            Self::InOrder(queue) => queue.push_back(erase_unit),
            Self::LeastWorn(heap) => heap.push(Reverse((erase_count, erase_unit))),
        }
    }

    fn take(&mut self) -> Option<EraseUnit> {
        match self {
            Self::InOrder(queue) => queue.pop_front(),
            Self::LeastWorn(heap) => heap.pop().map(|Reverse((_, erase_unit))| erase_unit),
        }
    }

    fn remove(&mut self, erase_unit: EraseUnit) {
        match self {
            Self::InOrder(queue) => queue.retain(|&free| free != erase_unit),
            Self::LeastWorn(heap) => heap.retain(|Reverse((_, free))| *free != erase_unit),
        }
    }

    fn in_order(&self) -> Vec<EraseUnit> {
        match self {
            Self::InOrder(queue) => queue.iter().copied().collect(),
            Self::LeastWorn(heap) => {
                let mut sorted: Vec<_> = heap.iter().map(|&Reverse(entry)| entry).collect();
                sorted.sort_unstable();
                sorted.into_iter().map(|(_, erase_unit)| erase_unit).collect()
            }
        }
    }

    fn clear(&mut self) {
        match self {
            Self::InOrder(queue) => queue.clear(),
            Self::LeastWorn(heap) => heap.clear(),
        }
    }

    fn len(&self) -> u32 {
        match self {
            Self::InOrder(queue) => queue.len() as u32,
            Self::LeastWorn(heap) => heap.len() as u32,
        }
    }
}
