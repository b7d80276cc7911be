//! A drive as a picture: a byte for every erase unit, markers, and a single erase unit in detail.
//!
//! All of it is computed from the state of the translation layer, in one pass over the erase units. Ages are in the
//! drive's own time, units written by the host, as drive writes of the live data.

use super::gc::Gc;
use super::layer::Layer;
use super::media::Media;
use super::observed::{Move, Observed};
use super::{Ftl, Spread};
use crate::nand::occupancy::State;
use crate::timing::Clock;
use crate::units::{EraseUnit, Lpn, Ppn, StreamId};
use serde::{Deserialize, Serialize};

/// The quantity shown by the bytes of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellsBy {
    /// The share of its data slots that are live; 255 for all of them.
    Valid,
    /// Its erase count, from 0 for the least worn erase unit of the drive to 255 for the most worn.
    EraseCount,
    /// The time since it was filled: `255 a / (1 + a)` after `a` drive writes, so 128 after one. 0 while it is open or
    /// free.
    Age,
    /// The stream that filled or fills it; 255 if it is free, 254 if it is retired.
    Stream,
    /// How often its units are overwritten or trimmed: `255 r / (1 + r)`, where `r` is the rate estimated from its
    /// stale share and its age, relative to uniform writes, for which it is 1 and the byte 128. 128 just after it was
    /// filled, 0 while it is open or free.
    Temperature,
    /// 0 free, 1 open, 2 closed, 3 being collected, 4 full in SLC mode, 5 retired.
    State,
}

/// In drive writes: the weight of the prior rate of 1 against the observed age.
const AGE_THAT_TELLS: f32 = 0.125;

/// The state of an erase unit in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Standing {
    /// Erased.
    Free,
    /// Being written.
    Open,
    /// Full.
    Closed,
    /// A partly collected victim: its live units are being moved.
    Emptying,
    /// Full of data in SLC mode, waiting to be folded.
    Slc,
    /// Out of use.
    Retired,
}

/// Markers on the picture. The lists hold the latest 256 events since the last call, newest last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Marks {
    /// Open erase units and the names of their streams.
    pub open: Vec<(u32, String)>,
    /// Erase units being collected now.
    pub emptying: Vec<u32>,
    /// Erased.
    pub victims: Vec<u32>,
    /// From, to, number of units.
    pub moves: Vec<(u32, u32, u32)>,
}

/// One erase unit in detail.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Close {
    /// Its state.
    pub state: Standing,
    /// The stream that filled or fills it; None if it is free or retired.
    pub stream: Option<String>,
    /// The erase count of its most worn block, without erases in SLC mode.
    pub erase_count: u32,
    /// Its erases in SLC mode; None on a drive without an SLC cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slc_mode_erase_count: Option<u32>,
    /// The number of live slots.
    pub valid: u32,
    /// One character a slot: `v` live, `s` stale, `.` erased, `p` parity or a map page.
    pub units: String,
    /// Drive writes since it was filled; None while it is open or free.
    pub age: Option<f64>,
    /// The rate of `CellsBy::Temperature` itself.
    pub temperature: Option<f64>,
}

/// A drive that can be shown. Called for whole pictures, never for a request.
pub trait Pictured {
    /// Starts recording events for `marks`.
    fn observe(&mut self);
    /// Replaces the contents of `out` with one byte an erase unit.
    fn cells(&self, by: CellsBy, out: &mut Vec<u8>);
    /// The markers, with the events since the last call.
    fn marks(&mut self) -> Marks;
    /// None if there is no such erase unit.
    fn close_up(&self, erase_unit: u32) -> Option<Close>;
    /// The erase counts of the erase units that are not retired and not the SLC cache's own, each by its most worn block
    /// and without erases in SLC mode. There may be a hundred
    /// times as many blocks, as the outcome counts them.
    fn erase_count(&self) -> Spread;
}

impl<L: Layer, C: Clock> Pictured for Ftl<L, C> {
    fn observe(&mut self) {
        self.media.listeners.observed.get_or_insert_default();
    }

    fn cells(&self, by: CellsBy, out: &mut Vec<u8>) {
        Shown::of(self).cells(by, out);
    }

    fn marks(&mut self) -> Marks {
        let events = self.media.listeners.observed.as_deref_mut().map(Observed::take).unwrap_or_default();
        Shown::of(self).marks(events)
    }

    fn close_up(&self, erase_unit: u32) -> Option<Close> {
        Shown::of(self).close_up(erase_unit)
    }

    fn erase_count(&self) -> Spread {
        Shown::of(self).erase_count()
    }
}

/// What a picture is computed from.
struct Shown<'a, L, C> {
    media: &'a Media<C>,
    layer: &'a L,
    gc: &'a Gc,
}

impl<'a, L: Layer, C: Clock> Shown<'a, L, C> {
    fn of(ftl: &'a Ftl<L, C>) -> Self {
        Self { media: &ftl.media, layer: &ftl.layer, gc: &ftl.gc }
    }

    fn cells(&self, by: CellsBy, out: &mut Vec<u8>) {
        out.clear();
        let (space, wear) = (&self.media.space, &self.media.space.wear);
        let erase_units = space.each_erase_unit();
        match by {
            CellsBy::Valid => out.extend(erase_units.map(|unit| share_byte(self.valid_share(unit)))),
            CellsBy::EraseCount => {
                let least = self.worn_as_rated().min().unwrap_or(0);
                let scale = 1.0 / (wear.erase_count_max.saturating_sub(least)).max(1) as f32;
                let shares = wear.erase_counts.iter().map(|&count| count.saturating_sub(least) as f32 * scale);
                out.extend(shares.map(share_byte));
            }
            CellsBy::Age => {
                let scale = self.drive_writes_per_unit();
                out.extend(erase_units.map(|unit| self.age(unit, scale).map_or(0, ratio_byte)));
            }
            CellsBy::Stream => out.extend(erase_units.map(|unit| match self.media.space.occupancy.state(unit) {
                State::Free => 255,
                State::Retired => 254,
                State::Open | State::Closed => space.stream_of(unit).0,
            })),
            CellsBy::Temperature => {
                let scale = self.drive_writes_per_unit();
                // The logarithm is computed once for each number of live slots rather than for each erase unit, where
                // that is less.
                let data_units = self.media.space.layout.data_units_per_erase_unit();
                let is_less = self.media.space.slc_cache.is_none() && data_units < space.erase_units();
                let heats: Vec<f32> =
                    (0..=if is_less { data_units } else { 0 }).map(|live| heat(live, data_units)).collect();
                out.extend(erase_units.map(|unit| {
                    let temperature = if is_less {
                        let heat = heats[self.valid_slots(unit) as usize];
                        self.age(unit, scale).map(|age| heat / (AGE_THAT_TELLS + age))
                    } else {
                        self.temperature(unit, scale)
                    };
                    temperature.map_or(0, ratio_byte)
                }));
            }
            CellsBy::State => out.extend(erase_units.map(|unit| self.standing(unit) as u8)),
        }
    }

    fn marks(&self, (victims, moves): (Vec<EraseUnit>, Vec<Move>)) -> Marks {
        let open =
            self.media.space.open_frontiers().map(|(stream, erase_unit, _)| (erase_unit.0, self.stream_name(stream)));
        let folding = self.gc.folding.as_ref().map(|folding| folding.victim);
        Marks {
            open: open.collect(),
            emptying: self.gc.victims_under_way().chain(folding).map(|erase_unit| erase_unit.0).collect(),
            victims: victims.into_iter().map(|erase_unit| erase_unit.0).collect(),
            moves: moves.into_iter().map(|one| (one.from.0, one.to.0, one.units)).collect(),
        }
    }

    fn close_up(&self, erase_unit: u32) -> Option<Close> {
        let erase_unit = EraseUnit(erase_unit);
        let &stream = self.media.space.filled.streams.get(erase_unit.index())?;
        let state = self.standing(erase_unit);
        let holds_data = !matches!(state, Standing::Free | Standing::Retired);
        let scale = f64::from(self.drive_writes_per_unit());
        let since_filled =
            self.media.now().saturating_sub(self.media.space.filled.closed_at[erase_unit.index()]) as f64 * scale;
        Some(Close {
            state,
            stream: holds_data.then(|| self.stream_name(self.frontier_of(erase_unit).unwrap_or(stream))),
            erase_count: self.media.space.wear.erase_counts[erase_unit.index()],
            slc_mode_erase_count: self
                .media
                .space
                .slc_cache
                .as_ref()
                .map(|_| self.media.space.array.slc_mode_erase_count(erase_unit.0)),
            valid: self.valid_slots(erase_unit),
            units: self.units_of_erase_unit(erase_unit, holds_data),
            age: (holds_data && state != Standing::Open).then_some(since_filled),
            temperature: self.temperature(erase_unit, scale as f32).map(f64::from),
        })
    }

    fn erase_count(&self) -> Spread {
        let (mut erase_units, mut min, mut max, mut sum, mut squares) = (0u32, u32::MAX, 0, 0u64, 0.0);
        for (erase_unit, count) in (0..).map(EraseUnit).zip(self.worn_as_rated()) {
            if self.media.space.occupancy.state(erase_unit) == State::Retired {
                continue;
            }
            erase_units += 1;
            (min, max) = (count.min(min), count.max(max));
            sum += u64::from(count);
            squares += f64::from(count) * f64::from(count);
        }
        if erase_units == 0 {
            return Spread { min: 0, mean: 0.0, max: 0, stddev: 0.0 };
        }
        let mean = sum as f64 / f64::from(erase_units);
        Spread { min, mean, max, stddev: (squares / f64::from(erase_units) - mean * mean).max(0.0).sqrt() }
    }

    /// The erase counts of the erase units that do not belong to the SLC cache permanently, which are the first.
    fn worn_as_rated(&self) -> impl Iterator<Item = u32> {
        self.media.space.wear.erase_counts[..self.media.space.array.erase_units() as usize].iter().copied()
    }

    /// One unit written by the host, in drive writes of the live data.
    fn drive_writes_per_unit(&self) -> f32 {
        1.0 / self.layer.live_slots(self.media.accounts.mapped_units()).max(1) as f32
    }

    fn frontier_of(&self, erase_unit: EraseUnit) -> Option<StreamId> {
        self.media.space.open_frontiers().find(|&(_, open, _)| open == erase_unit).map(|(stream, _, _)| stream)
    }

    fn standing(&self, erase_unit: EraseUnit) -> Standing {
        match self.media.space.occupancy.state(erase_unit) {
            State::Free => Standing::Free,
            State::Retired => Standing::Retired,
            State::Closed => Standing::Closed,
            State::Open if self.frontier_of(erase_unit).is_some() => Standing::Open,
            State::Open if self.gc.is_emptying(erase_unit) => Standing::Emptying,
            State::Open if self.gc.is_folding(erase_unit) => Standing::Emptying,
            State::Open => Standing::Slc,
        }
    }

    /// Slots that are written and live. (The map counts unwritten slots of an open erase unit as live.)
    fn valid_slots(&self, erase_unit: EraseUnit) -> u32 {
        match self.media.space.occupancy.state(erase_unit) {
            State::Free | State::Retired => 0,
            State::Closed => self.media.space.occupancy.live_units(erase_unit),
            State::Open => {
                let unwritten = match self.frontier_of(erase_unit) {
                    Some(_) => self.media.space.unwritten_data_units(erase_unit),
                    None => 0,
                };
                self.media.space.occupancy.live_units(erase_unit) - unwritten
            }
        }
    }

    fn valid_share(&self, erase_unit: EraseUnit) -> f32 {
        let data_units = self.media.space.layout_of(erase_unit).data_units_per_erase_unit();
        self.valid_slots(erase_unit) as f32 / data_units as f32
    }

    /// None while the erase unit is open or free.
    fn age(&self, erase_unit: EraseUnit, scale: f32) -> Option<f32> {
        let is_full = match self.media.space.occupancy.state(erase_unit) {
            State::Closed => true,
            State::Open => self.frontier_of(erase_unit).is_none(),
            State::Free | State::Retired => false,
        };
        is_full.then(|| {
            self.media.now().saturating_sub(self.media.space.filled.closed_at[erase_unit.index()]) as f32 * scale
        })
    }

    /// Under uniform writes a share e^-a is live after `a` drive writes, so that the logarithm of the live share
    /// divided by the age is 1. A small age carries little information; the prior dominates then.
    fn temperature(&self, erase_unit: EraseUnit, scale: f32) -> Option<f32> {
        let age = self.age(erase_unit, scale)?;
        let data_units = self.media.space.layout_of(erase_unit).data_units_per_erase_unit();
        Some(heat(self.valid_slots(erase_unit), data_units) / (AGE_THAT_TELLS + age))
    }

    fn units_of_erase_unit(&self, erase_unit: EraseUnit, holds_data: bool) -> String {
        let slots = self.media.space.layout_of(erase_unit);
        let units = slots.units_per_erase_unit();
        let written = match self.frontier_of(erase_unit) {
            _ if !holds_data => 0,
            Some(_) => self.media.space.written_slots(erase_unit),
            None => units,
        };
        let first = self.media.space.layout.first(erase_unit);
        let letter = |slot: u32| match Ppn(first + slot) {
            _ if slot >= written => '.',
            _ if slots.is_parity(slot) => 'p',
            ppn if !self.media.map.is_live(ppn) => 's',
            ppn if self.media.map.logical(ppn) >= Lpn(self.media.map.user_units()) => 'p',
            _ => 'v',
        };
        if !L::IS_PACKED {
            return (0..units).map(letter).collect();
        }
        // Only the first slot of a stored unit is marked live.
        let mut left = 0;
        let slots = (0..units).map(|slot| {
            let ppn = Ppn(first + slot);
            if slot < written && self.media.map.is_live(ppn) {
                left = self.layer.slots_of(self.media.map.logical(ppn));
            }
            let is_live = left > 0;
            left -= u32::from(is_live);
            if is_live { 'v' } else { letter(slot) }
        });
        slots.collect()
    }

    /// With an SLC cache there is one more frontier, the last, which is exchanged with the host's.
    fn stream_name(&self, stream: StreamId) -> String {
        let streams = self.media.placement.streams();
        match &self.media.space.slc_cache {
            Some(cache) if stream.0 == 0 && cache.takes_host() => "SLC cache".into(),
            Some(cache) if stream.0 >= streams && cache.takes_host() => "past the SLC cache".into(),
            Some(_) if stream.0 >= streams => "SLC cache".into(),
            _ => self.media.placement.stream_name(stream),
        }
    }
}

/// The logarithm of the live share, which would be infinite for a share of 0.
fn heat(live: u32, data_units: u32) -> f32 {
    AGE_THAT_TELLS - ((live as f32).max(0.5) / data_units as f32).ln()
}

fn share_byte(share: f32) -> u8 {
    (share * 255.0 + 0.5) as u8
}

/// 0 for 0, 128 for 1, at most 255.
fn ratio_byte(ratio: f32) -> u8 {
    share_byte(ratio / (1.0 + ratio))
}
