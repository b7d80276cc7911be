//! Recent events for an observer: collected erase units, and moves from one erase unit to another.
//!
//! Recorded only by a drive that is observed. It receives runs of units and erases, never a single unit of the host,
//! and stores only the latest.

use crate::units::EraseUnit;
use std::collections::VecDeque;

/// A viewer cannot follow more between two frames.
const LATEST_MAX: usize = 256;

/// Units moved from one erase unit to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    pub from: EraseUnit,
    pub to: EraseUnit,
    pub units: u32,
}

#[derive(Clone, Debug, Default)]
pub struct Observed {
    victims: VecDeque<EraseUnit>,
    moves: VecDeque<Move>,
}

impl Observed {
    /// An erase unit was erased, after its live units were moved.
    pub fn erased(&mut self, erase_unit: EraseUnit) {
        if self.victims.len() == LATEST_MAX {
            self.victims.pop_front();
        }
        self.victims.push_back(erase_unit);
    }

    pub fn moved(&mut self, from: EraseUnit, to: EraseUnit, units: u32) {
        if let Some(last) = self.moves.back_mut().filter(|last| (last.from, last.to) == (from, to)) {
            last.units += units;
            return;
        }
        if self.moves.len() == LATEST_MAX {
            self.moves.pop_front();
        }
        self.moves.push_back(Move { from, to, units });
    }

    /// The events since the last call, oldest first.
    pub fn take(&mut self) -> (Vec<EraseUnit>, Vec<Move>) {
        (self.victims.drain(..).collect(), self.moves.drain(..).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_kept_and_a_pair_is_one_move() {
        let mut observed = Observed::default();
        for erase_unit in 0..1000 {
            observed.moved(EraseUnit(erase_unit), EraseUnit(7), 3);
            observed.moved(EraseUnit(erase_unit), EraseUnit(7), 4);
            observed.erased(EraseUnit(erase_unit));
        }
        let (victims, moves) = observed.take();
        assert_eq!((victims.len(), victims[0], victims[255]), (256, EraseUnit(744), EraseUnit(999)));
        assert_eq!((moves.len(), moves[255]), (256, Move { from: EraseUnit(999), to: EraseUnit(7), units: 7 }));
        assert_eq!(observed.take(), (Vec::new(), Vec::new()));
    }
}
