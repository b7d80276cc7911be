//! Cleaning in step with the host, for drives with a clock.
//!
//! A victim with L live units of N gives back N - L. So L / (N - L) units are moved for each unit that the host writes,
//! and the victim is empty just when what it gives back is needed: the host is slowed evenly and never stopped.

use super::Ftl;
use super::numbers::{EraseUnit, Ppn, StreamId};
use crate::error::ReadOnly;
use crate::ledger::Cause;
use crate::policies::placement::PlacementPolicy;
use crate::policies::victim::Pool;
use crate::timing::Clock;

/// Erase units in hand beyond the reserve below which cleaning runs; one, so that the host's next opening is covered.
pub(super) const IN_HAND: u32 = 1;

pub struct InProgress {
    victim: EraseUnit,
    stream: StreamId,
    born_at: u64,
    /// Where gathering goes on, and how many of the gathered units are done.
    place: u32,
    moved_of_gathered: usize,
    live_units: u64,
    gained_units: u64,
    /// Fractions of a unit owed, in units times `gained_units`.
    debt: u64,
}

impl<P: PlacementPolicy, C: Clock> Ftl<P, C> {
    pub(super) fn in_progress_victim(&self) -> Option<EraseUnit> {
        self.in_progress.as_ref().map(|in_progress| in_progress.victim)
    }

    /// Called for each unit that the host writes.
    #[inline]
    pub(super) fn pace_cleaning(&mut self) -> Result<(), ReadOnly> {
        let floor = self.reserve_erase_units + IN_HAND;
        if self.in_progress.is_none() {
            if self.free.len() > floor + self.set_aside_erase_units() {
                return Ok(());
            }
            let pool = self.pool_to_clean();
            if !self.start_cleaning(pool)? {
                return Ok(());
            }
        }
        let is_behind = self.free.len() < floor;
        let in_progress = self.in_progress.as_mut().expect("a victim was just chosen");
        // A quarter more while the erased units in hand have fallen short, so that they are made up for.
        in_progress.debt += in_progress.live_units + if is_behind { in_progress.live_units / 4 } else { 0 };
        let units = in_progress.debt / in_progress.gained_units;
        in_progress.debt %= in_progress.gained_units;
        self.go_on_cleaning(units)?;
        if self.free.len() == 0 { self.keep_room_for_victim() } else { Ok(()) }
    }

    /// With no erased unit left, the open one must take the rest of the victim. Where the host writes to it as well, the
    /// victim is finished before the host has taken that room.
    fn keep_room_for_victim(&mut self) -> Result<(), ReadOnly> {
        let Some(in_progress) = &self.in_progress else { return Ok(()) };
        let frontier = &self.frontiers[in_progress.stream.index()];
        let room = frontier
            .erase_unit
            .map_or(0, |open| self.layout.data_units_from(frontier.next().0 - self.layout.first(open)));
        if room > self.occupancy.live_units(in_progress.victim) { Ok(()) } else { self.finish_cleaning() }
    }

    /// Empties the victim in progress at once.
    pub(super) fn finish_cleaning(&mut self) -> Result<(), ReadOnly> {
        self.go_on_cleaning(u64::MAX)
    }

    fn start_cleaning(&mut self, pool: Pool) -> Result<bool, ReadOnly> {
        let victim = self.choose(pool).or_else(|| self.choose(Pool::All));
        let Some(victim) = victim else { return Ok(false) };
        let live_units = u64::from(self.occupancy.live_units(victim));
        let stream = self.placement.cleaning_stream(self.resident(victim));
        self.check_room_to_move(stream, live_units)?;
        self.occupancy.start_cleaning(victim);
        self.moving.clear();
        self.in_progress = Some(InProgress {
            victim,
            stream,
            born_at: self.born_at[victim.index()],
            place: 0,
            moved_of_gathered: 0,
            live_units,
            // A full victim, which first-in-first-out may choose, gives nothing back; it is moved with the next write.
            gained_units: (u64::from(self.layout.data_units_per_erase_unit()) - live_units).max(1),
            debt: 0,
        });
        Ok(true)
    }

    /// Moves so many live units of the victim in progress, and erases it when none is left.
    fn go_on_cleaning(&mut self, mut units: u64) -> Result<(), ReadOnly> {
        let Some(mut in_progress) = self.in_progress.take() else { return Ok(()) };
        let mut moving = std::mem::take(&mut self.moving);
        let is_empty = loop {
            if in_progress.moved_of_gathered == moving.len() {
                if in_progress.place == self.layout.units_per_erase_unit() {
                    break true;
                }
                moving.clear();
                in_progress.moved_of_gathered = 0;
                in_progress.place = self.map.gather_live(in_progress.victim, in_progress.place, 64, &mut moving);
                continue;
            }
            if units == 0 {
                break false;
            }
            let (lpn, from) = moving[in_progress.moved_of_gathered];
            in_progress.moved_of_gathered += 1;
            // The host may have overwritten or trimmed the unit since it was gathered.
            if self.map.physical(lpn) != from {
                continue;
            }
            self.move_units(&[(lpn, from)], in_progress.stream, in_progress.born_at, Cause::Gc);
            self.map.mark_stale(from);
            self.occupancy.lose_one(in_progress.victim);
            self.ledger.programmed_units.gc += 1;
            self.ledger.read_units.gc += 1;
            if P::POOLED {
                let left = self.streams[in_progress.victim.index()];
                self.pools[left.index()].live_units -= 1;
                self.pools[in_progress.stream.index()].live_units += 1;
            }
            units -= 1;
        };
        self.moving = moving;
        if !is_empty {
            self.in_progress = Some(in_progress);
            return Ok(());
        }
        self.moving.clear();
        self.erase(in_progress.victim)?;
        self.level_wear()
    }

    /// Fills the program groups that begin at the given places up with padding, so that what waits in them can be
    /// programmed. A group is `group_units` places.
    pub fn pad(&mut self, groups: &[Ppn], group_units: u32) -> Result<(), ReadOnly> {
        for stream in (0..self.frontiers.len()).map(|stream| StreamId(stream as u8)) {
            while self.stands_within(stream, groups, group_units) && self.go_on_behind_parity(stream) {
                // Parity may have been written up to the end of the group.
                if !self.stands_within(stream, groups, group_units) {
                    break;
                }
                let erase_unit = self.frontiers[stream.index()].erase_unit.expect("the frontier is open");
                let ppn = self.frontiers[stream.index()].take();
                self.map.mark_stale(ppn);
                self.occupancy.lose_one(erase_unit);
                self.ledger.programmed_units.padding += 1;
                self.clock.program(ppn, Cause::Padding);
            }
        }
        if self.free.len() == 0 { self.keep_room_for_victim() } else { Ok(()) }
    }

    /// Whether the next place of the stream's frontier lies inside one of the groups, not at its beginning.
    fn stands_within(&self, stream: StreamId, groups: &[Ppn], group_units: u32) -> bool {
        let next = self.frontiers[stream.index()].next().0;
        self.frontiers[stream.index()].erase_unit.is_some()
            && groups.iter().any(|group| next > group.0 && next < group.0 + group_units)
    }
}
