//! What some drives keep beside the map, in a saved state: an SLC cache, cached map pages, reduced data, a victim that is
//! half emptied. The map does not tell all of it, so such a drive's tables are written whole.

use super::Ftl;
use super::map_cache::MapCache;
use super::numbers::{EraseUnit, Lpn, Ppn};
use super::occupancy::State;
use super::pacing::InProgress;
use super::reduction::Books;
use super::slc_cache::Holding;
use super::state::StateError;
use crate::policies::placement::PlacementPolicy;
use crate::table::{Table, Word};
use crate::timing::Clock;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};

/// Words of a table that are written or read at a time.
const AT_ONCE: usize = 1 << 14;

#[derive(Serialize, Deserialize)]
pub(super) struct Beside {
    live_units: Vec<u32>,
    in_progress: Option<InProgress>,
    moving: Vec<(Lpn, Ppn)>,
    slc_cache: Option<Holding>,
    map_cache: Option<MapCache>,
    books: Option<Books>,
    /// Of idle housekeeping.
    level_at_erases: Option<u64>,
}

/// A word of a table as it is written: little-endian.
trait Bytes: Word {
    const SIZE: usize;
    fn put(self, out: &mut Vec<u8>);
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! bytes {
    ($($word:ty),*) => {
        $(impl Bytes for $word {
            const SIZE: usize = size_of::<$word>();

            fn put(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn get(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("as many bytes as the word has"))
            }
        })*
    };
}

bytes!(u8, u32, u64);

fn write_table<T: Bytes>(table: &Table<T>, out: &mut dyn Write) -> Result<(), StateError> {
    let mut bytes = Vec::with_capacity(AT_ONCE * T::SIZE);
    for words in table.as_slice().chunks(AT_ONCE) {
        bytes.clear();
        words.iter().for_each(|word| word.put(&mut bytes));
        out.write_all(&bytes)?;
    }
    Ok(())
}

fn read_table<T: Bytes>(
    table: &mut Table<T>,
    input: &mut dyn Read,
    is_possible: impl Fn(T) -> bool,
) -> Result<(), StateError> {
    let mut bytes = vec![0; AT_ONCE * T::SIZE];
    for words in table.as_mut_slice().chunks_mut(AT_ONCE) {
        let part = &mut bytes[..words.len() * T::SIZE];
        input.read_exact(part)?;
        for (word, its_bytes) in words.iter_mut().zip(part.chunks_exact(T::SIZE)) {
            *word = T::get(its_bytes);
            if !is_possible(*word) {
                return Err(StateError::Damaged("a table names what is not there".into()));
            }
        }
    }
    Ok(())
}

impl<P: PlacementPolicy, C: Clock> Ftl<P, C> {
    /// What is to be written beside the map; nothing for a drive that keeps nothing there. The error names what cannot be
    /// kept: times run by a clock that begins anew.
    pub(super) fn beside(&mut self) -> Result<Option<Box<Beside>>, StateError> {
        let remembers_times = self.upkeep.as_ref().is_some_and(|upkeep| upkeep.remembers());
        if remembers_times {
            return Err(StateError::Unsaved("housekeeping.retention_days, .read_disturb_reads or .defragment"));
        }
        let is_plain = self.map_cache.is_none()
            && self.reduction.is_none()
            && self.slc_cache.is_none()
            && self.upkeep.is_none()
            && self.in_progress.is_none();
        if is_plain {
            return Ok(None);
        }
        Ok(Some(Box::new(Beside {
            live_units: (0..self.streams.len() as u32)
                .map(|erase_unit| self.occupancy.live_units(EraseUnit(erase_unit)))
                .collect(),
            in_progress: self.in_progress.clone(),
            moving: if self.in_progress.is_some() { self.moving.clone() } else { Vec::new() },
            slc_cache: self.slc_cache.as_ref().map(|cache| cache.holding()),
            map_cache: self.map_cache.as_deref().cloned(),
            books: self.reduction.as_ref().map(|reduction| reduction.books()),
            level_at_erases: self.upkeep.as_mut().map(|upkeep| *upkeep.memory()),
        })))
    }

    pub(super) fn write_tables(&mut self, out: &mut dyn Write) -> Result<(), StateError> {
        let (physical, logical, live) = self.map.tables();
        write_table(physical, out)?;
        write_table(logical, out)?;
        write_table(live, out)?;
        if let Some(reduction) = &mut self.reduction {
            let (places, sharing) = reduction.tables();
            write_table(places, out)?;
            for table in sharing.into_iter().flatten() {
                write_table(table, out)?;
            }
        }
        Ok(())
    }

    /// Takes up the tables and what was kept beside them; `states` are those of the erase units.
    pub(super) fn take_up_beside(
        &mut self,
        input: &mut dyn Read,
        beside: Beside,
        states: &[State],
    ) -> Result<(), StateError> {
        let other = || StateError::OtherDrive("it keeps other things beside its map".into());
        let (units, places) =
            (self.map.units(), self.streams.len() as u64 * u64::from(self.layout.units_per_erase_unit()));
        let is_alike = beside.slc_cache.is_some() == self.slc_cache.is_some()
            && beside.map_cache.is_some() == self.map_cache.is_some()
            && beside.books.is_some() == self.reduction.is_some()
            && beside.live_units.len() == states.len();
        if !is_alike {
            return Err(other());
        }
        let (physical, logical, live) = self.map.tables();
        read_table(physical, input, |place| Ppn(place) == Ppn::UNMAPPED || u64::from(place) < places)?;
        read_table(logical, input, |unit| unit < units)?;
        read_table(live, input, |_| true)?;
        if let Some(reduction) = &mut self.reduction {
            let (places, sharing) = reduction.tables();
            read_table(places, input, |_| true)?;
            for table in sharing.into_iter().flatten() {
                read_table(table, input, |one_more| one_more <= units)?;
            }
        }
        for (index, (&state, &live_units)) in states.iter().zip(&beside.live_units).enumerate() {
            self.occupancy.put(EraseUnit(index as u32), state, live_units.min(self.layout.units_per_erase_unit()));
        }
        let fits = self.slc_cache.as_mut().zip(beside.slc_cache).is_none_or(|(cache, held)| cache.hold(held))
            && self.map_cache.as_mut().zip(beside.map_cache).is_none_or(|(cache, saved)| cache.restore(saved))
            && self.reduction.as_mut().zip(beside.books).is_none_or(|(reduction, books)| reduction.take_up(books));
        if !fits {
            return Err(other());
        }
        if let (Some(upkeep), Some(erases)) = (&mut self.upkeep, beside.level_at_erases) {
            *upkeep.memory() = erases;
        }
        self.moving = beside.moving;
        self.in_progress = beside.in_progress;
        if self.in_progress_victim().is_some_and(|victim| victim.index() >= states.len()) {
            return Err(other());
        }
        Ok(())
    }
}
