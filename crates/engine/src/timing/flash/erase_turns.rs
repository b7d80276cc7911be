//! Which erases take time, and when the planes of a die are erased.
//!
//! All erases take time, but on a drive made smaller with smaller blocks only one in so many, for the full time of an
//! erase: a read that waits for an erase waits as long as on the full drive, and as rarely.
//!
//! The planes of a die erase their blocks of a superblock together; or one plane after another, at equal intervals until
//! about the next superblock is erased. Time is measured in requests, since the last superblock was erased.

use super::operation::Operation;
use crate::specification::drive::Nand;

#[derive(Clone, Debug)]
pub struct EraseTurns {
    at_once: u32,
    /// By die: erases since the last that took time.
    since: Vec<u32>,
    by_plane: Option<ByPlane>,
}

#[derive(Clone, Debug)]
struct ByPlane {
    planes: u32,
    /// Of the superblock erased last.
    erase: Operation,
    /// Planes whose blocks are still to be erased.
    planes_left: u32,
    requests: u64,
    next_at: u64,
    interval: u64,
}

impl EraseTurns {
    /// The first turn of a die comes after half a round, and those of the dies one after another.
    pub fn new(nand: &Nand) -> Self {
        let (dies, at_once) = (nand.channels * nand.dies_per_channel, nand.erases_at_once);
        let first = |die| (u64::from(at_once) / 2 + u64::from(at_once) * die / u64::from(dies)) % u64::from(at_once);
        let by_plane = nand.erase_by_plane.then(|| ByPlane {
            planes: nand.planes_per_die,
            erase: Operation::from_word(0),
            planes_left: 0,
            requests: 0,
            next_at: 0,
            interval: 0,
        });
        Self { at_once, since: (0..u64::from(dies)).map(|die| first(die) as u32).collect(), by_plane }
    }

    /// Whether the next erase on a die takes time.
    #[inline]
    pub fn takes_time(&mut self, die: usize) -> bool {
        let since = &mut self.since[die];
        *since += 1;
        let takes_time = *since >= self.at_once;
        if takes_time {
            *since = 0;
        }
        takes_time
    }

    /// A superblock is erased. Returns how many of its planes are erased now: those that are not are left for later, with
    /// the ones left of the superblock before.
    pub fn erase(&mut self, erase: Operation) -> u32 {
        let Some(turns) = &mut self.by_plane else { return 1 };
        let overdue = std::mem::replace(&mut turns.planes_left, turns.planes - 1);
        turns.erase = erase;
        turns.interval = turns.requests / u64::from(turns.planes);
        turns.next_at = turns.interval;
        turns.requests = 0;
        1 + overdue
    }

    /// A request is carried out. Returns the erase of the next plane if it is due.
    #[inline(always)]
    pub fn next_plane(&mut self) -> Option<Operation> {
        let turns = self.by_plane.as_mut()?;
        turns.requests += 1;
        if turns.planes_left == 0 || turns.requests < turns.next_at {
            return None;
        }
        turns.planes_left -= 1;
        turns.next_at += turns.interval;
        Some(turns.erase)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::specification::Drive;
    use crate::timing::flash::operation::{Array, Work};

    #[test]
    fn one_erase_of_so_many_takes_time_on_every_die() {
        let drive = Drive::textbook();
        let dies = (drive.nand.channels * drive.nand.dies_per_channel) as usize;
        for at_once in [1, 2, 7, 64] {
            let mut turns = EraseTurns::new(&Nand { erases_at_once: at_once, ..drive.nand.clone() });
            for die in 0..dies {
                let count = (0..3 * at_once).filter(|_| turns.takes_time(die)).count();
                assert_eq!(count, 3, "die {die}, {at_once} at once");
            }
        }
    }

    #[test]
    fn planes_are_erased_at_equal_intervals_and_none_is_left_out() {
        let nand = Nand { planes_per_die: 4, erase_by_plane: true, ..Drive::textbook().nand };
        let mut turns = EraseTurns::new(&nand);
        let erase = Operation::new(Array::Erase, Work::Quiet, 0, 0);
        let mut erased = Vec::new();
        for request in 0..4000_u32 {
            if request % 1000 == 0 {
                erased.extend(std::iter::repeat_n(request, turns.erase(erase) as usize));
            }
            if turns.next_plane().is_some() {
                erased.push(request);
            }
        }
        assert_eq!(erased[4..], [1000, 1249, 1499, 1749, 2000, 2249, 2499, 2749, 3000, 3249, 3499, 3749]);
    }
}
