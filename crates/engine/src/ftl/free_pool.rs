//! Erased erase units that wait to be opened.

use super::numbers::EraseUnit;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

pub enum FreePool {
    /// The one that has been free longest comes first.
    InOrder(VecDeque<EraseUnit>),
    /// The one with the fewest erases comes first; of several, the lowest number.
    LeastWorn(BinaryHeap<Reverse<(u32, EraseUnit)>>),
}

impl FreePool {
    pub fn new(prefers_least_worn: bool) -> Self {
        if prefers_least_worn { Self::LeastWorn(BinaryHeap::new()) } else { Self::InOrder(VecDeque::new()) }
    }

    pub fn put(&mut self, erase_unit: EraseUnit, erase_count: u32) {
        match self {
            Self::InOrder(queue) => queue.push_back(erase_unit),
            Self::LeastWorn(heap) => heap.push(Reverse((erase_count, erase_unit))),
        }
    }

    pub fn take(&mut self) -> Option<EraseUnit> {
        match self {
            Self::InOrder(queue) => queue.pop_front(),
            Self::LeastWorn(heap) => heap.pop().map(|Reverse((_, erase_unit))| erase_unit),
        }
    }

    pub fn len(&self) -> u32 {
        match self {
            Self::InOrder(queue) => queue.len() as u32,
            Self::LeastWorn(heap) => heap.len() as u32,
        }
    }
}
