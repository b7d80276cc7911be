//! Moving what is stored at variable size.

use crate::error::ReadOnly;
use crate::ftl::Ftl;
use crate::ftl::numbers::{Lpn, Ppn, StreamId};
use crate::ledger::Cause;
use crate::policies::placement::PlacementPolicy;
use crate::timing::Clock;
use crate::timing::recorder::Packed;
use std::ops::Range;

impl<P: PlacementPolicy, C: Clock> Ftl<P, C> {
    /// Moves units to the stream's frontier and opens erase units as it fills up. The caller counts the programs.
    pub(in crate::ftl) fn move_stored(&mut self, units: &[(Lpn, Ppn)], stream: StreamId, born_at: u64, cause: Cause) {
        for &(lpn, from) in units {
            self.read_to_move(lpn, from, cause);
            let places = self.reduction().places_of(lpn);
            self.make_room_to_move(stream, places);
            let to = self.take_places(stream, places, cause, |place| Packed::Moved { lpn, from, place, places });
            self.map.link(lpn, to);
            self.map.mark_live(to);
            self.point_sharers(lpn, to);
            self.frontiers[stream.index()].note_moved(u64::from(places), born_at);
            self.observe_move(&[(lpn, from)], stream);
            if self.reduction().index_is_due(stream) {
                let places = self.reduction().places_per_unit();
                self.make_room_to_move(stream, places);
                self.take_index_unit(stream);
            }
        }
    }

    /// Several units may lie in one mapping unit of flash, and one in two: each mapping unit is read once in a row.
    fn read_to_move(&mut self, lpn: Lpn, from: Ppn, cause: Cause) {
        let places_per_unit = u64::from(self.reduction().places_per_unit());
        for unit in self.units_of(from, lpn) {
            if std::mem::replace(&mut self.reduction().last_read_to_move, unit) != unit {
                self.clock.read(Ppn(unit), cause);
                match cause {
                    Cause::WearLeveling => self.ledger.read_units.wear_leveling += places_per_unit,
                    _ => self.ledger.read_units.gc += places_per_unit,
                }
            }
        }
    }

    fn make_room_to_move(&mut self, stream: StreamId, places: u32) {
        while !self.has_room(stream, places) {
            self.pad_run(stream);
            if !self.go_on_behind_parity(stream) {
                self.open(stream);
            }
        }
    }

    /// All addresses with the same data follow it.
    fn point_sharers(&mut self, lpn: Lpn, to: Ppn) {
        let Some(sharing) = self.reduction.as_ref().and_then(|reduction| reduction.sharing.as_ref()) else { return };
        let mut member = sharing.next(lpn);
        while let Some(sharer) = member.filter(|&sharer| sharer != lpn) {
            self.map.point(sharer, to);
            member = sharing.next(sharer);
        }
    }

    /// Places that moving so many may take beyond them, for padding and index; none without data reduction.
    pub(in crate::ftl) fn overhead_to_move(&self, live_places: u32) -> u64 {
        let runs = u64::from(self.layout.runs_per_erase_unit());
        self.reduction.as_ref().map_or(0, |reduction| reduction.overhead_places(u64::from(live_places), runs))
    }

    /// Whether what cleaning has to move fits into what is open and free, packed less tightly than it is now.
    pub(in crate::ftl) fn has_room_to_move(&self, stream: StreamId, live_places: u64) -> bool {
        let reduction = self.reduction.as_ref().expect("only a drive that reduces data comes here");
        let open = self.places_left(stream);
        let free = u64::from(self.free.len()) * u64::from(self.layout.data_units_per_erase_unit());
        let runs = u64::from(self.layout.runs_per_erase_unit());
        u64::from(open) + free >= live_places + reduction.overhead_places(live_places, runs)
    }

    /// Fills program groups, which are given by their mapping units, up with padding.
    pub(in crate::ftl) fn pad_stored(&mut self, groups: &[Range<u32>]) -> Result<(), ReadOnly> {
        let shift = self.reduction().places_per_unit_shift;
        let groups: Vec<_> = groups.iter().map(|group| group.start << shift..group.end << shift).collect();
        for stream in (0..self.frontiers.len()).map(|stream| StreamId(stream as u8)) {
            while self.stands_within(stream, &groups) && self.go_on_behind_parity(stream) {
                // Parity may have been written up to the end of the group.
                if !self.stands_within(stream, &groups) {
                    break;
                }
                self.take_stale_places(stream, 1, Cause::Padding);
                self.ledger.programmed_units.padding += 1;
            }
        }
        if self.free.len() == 0 { self.keep_room_for_victim() } else { Ok(()) }
    }
}
