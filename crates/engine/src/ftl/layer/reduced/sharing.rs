//! Addresses with the same data: a ring of addresses for each stored unit with more than one address.

use crate::table::Table;
use crate::units::Lpn;
use std::io;

pub struct Sharing {
    /// The neighbour's number plus one; 0 for an address without neighbours.
    next: Table<u32>,
    previous: Table<u32>,
}

impl Sharing {
    pub fn new(user_units: u32) -> io::Result<Self> {
        Ok(Self { next: Table::zeroed(user_units as usize)?, previous: Table::zeroed(user_units as usize)? })
    }

    pub fn next(&self, lpn: Lpn) -> Option<Lpn> {
        self.next.get(lpn.index()).checked_sub(1).map(Lpn)
    }

    fn previous(&self, lpn: Lpn) -> Option<Lpn> {
        self.previous.get(lpn.index()).checked_sub(1).map(Lpn)
    }

    /// Inserts `lpn`, which is in no ring, after `member`.
    pub fn join(&mut self, lpn: Lpn, member: Lpn) {
        debug_assert!(self.next(lpn).is_none() && lpn != member);
        let after = self.next(member).unwrap_or(member);
        self.tie(member, lpn);
        self.tie(lpn, after);
    }

    /// Removes `lpn` from its ring. Returns a remaining member, if there is one.
    pub fn leave(&mut self, lpn: Lpn) -> Option<Lpn> {
        let (next, previous) = (self.next(lpn)?, self.previous(lpn)?);
        self.next.set(lpn.index(), 0);
        self.previous.set(lpn.index(), 0);
        if next == previous {
            // Of a ring of two, the other address remains alone.
            self.next.set(next.index(), 0);
            self.previous.set(next.index(), 0);
        } else {
            self.tie(previous, next);
        }
        Some(next)
    }

    /// Whether every ring is closed.
    pub fn is_closed(&self) -> bool {
        let units = (0..self.next.len() as u32).map(Lpn);
        let follows = |lpn: Lpn| self.next(lpn).is_none_or(|next| self.previous(next) == Some(lpn));
        let leads = |lpn: Lpn| self.previous(lpn).is_none_or(|previous| self.next(previous) == Some(lpn));
        units.into_iter().all(|lpn| follows(lpn) && leads(lpn))
    }

    pub fn tables(&mut self) -> [&mut Table<u32>; 2] {
        [&mut self.next, &mut self.previous]
    }

    pub fn bytes(&self) -> usize {
        self.next.bytes() + self.previous.bytes()
    }

    fn tie(&mut self, first: Lpn, second: Lpn) {
        self.next.set(first.index(), second.0 + 1);
        self.previous.set(second.index(), first.0 + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ring(sharing: &Sharing, lpn: Lpn) -> Vec<u32> {
        let others = std::iter::successors(sharing.next(lpn), |&at| sharing.next(at)).take_while(|&at| at != lpn);
        let mut members: Vec<u32> = std::iter::once(lpn).chain(others).map(|lpn| lpn.0).collect();
        members.sort_unstable();
        members
    }

    proptest! {
        #[test]
        fn rings_agree_with_sets(steps in proptest::collection::vec((any::<bool>(), 0u32..12, 0u32..12), 1..300)) {
            let mut sharing = Sharing::new(12).unwrap();
            let mut sets: Vec<Vec<u32>> = (0..12).map(|lpn| vec![lpn]).collect();
            for (joins, lpn, other) in steps {
                let from = sets.iter().position(|set| set.contains(&lpn)).unwrap();
                if joins && lpn != other && sets[from].len() == 1 {
                    sharing.join(Lpn(lpn), Lpn(other));
                    sets.swap_remove(from);
                    sets.iter_mut().find(|set| set.contains(&other)).unwrap().push(lpn);
                } else if !joins {
                    let stays = sharing.leave(Lpn(lpn));
                    sets[from].retain(|&member| member != lpn);
                    prop_assert_eq!(stays.is_some(), !sets[from].is_empty());
                    prop_assert!(stays.is_none_or(|stays| sets[from].contains(&stays.0)));
                    if sets[from].is_empty() {
                        sets.swap_remove(from);
                    }
                    sets.push(vec![lpn]);
                }
                for set in &mut sets {
                    set.sort_unstable();
                    prop_assert_eq!(ring(&sharing, Lpn(set[0])), set.clone());
                }
            }
        }
    }
}
