//! The erase unit that garbage collection takes next.
//!
//! The engine calls `closed` when an erase unit has been filled, `choose` when space must be reclaimed, and `taken`
//! when an erase unit is about to be collected, for whatever reason. `choose` must return a closed erase unit of the
//! given pool, or None if the pool has none. It may return one without any stale unit (first-in-first-out does); the
//! engine then moves all of it and asks again. `choose` changes nothing: `closed` and `taken` maintain the policy's
//! state, and random numbers come from the engine's generator.

mod closed_queue;
mod cost_benefit;
mod cost_benefit_by_loss;
mod d_choices;
mod fifo;
mod greedy;
mod random;
mod windowed_greedy;

use super::registry::{self, Description};
use crate::error::SpecificationError;
use crate::nand::occupancy::{Occupancy, State};
use crate::random::Random as Generator;
use crate::specification::drive::PolicyChoice;
use crate::units::{EraseUnit, StreamId};
use serde_json::Value;

/// What a victim policy decides by.
pub struct View<'a> {
    /// Live units and states of all erase units.
    pub occupancy: &'a Occupancy,
    /// By erase unit: host units written, since the drive was new, when it was closed.
    pub closed_at: &'a [u64],
    /// By erase unit: the stream that filled it.
    pub streams: &'a [StreamId],
    /// The die from which the victim is to be taken, where blocks are opened by die; None: any.
    pub die: Option<u32>,
    /// Its erase units, in order.
    pub on_die: Option<&'a [EraseUnit]>,
    /// Host units written since the drive was new.
    pub now: u64,
    /// The number of erase units.
    pub erase_units: u32,
    /// Data slots of an erase unit.
    pub data_units_per_erase_unit: u32,
}

/// An erase unit was filled and becomes a candidate.
pub struct Closing<'a> {
    /// Which one.
    pub erase_unit: EraseUnit,
    /// The stream that filled it.
    pub stream: StreamId,
    /// The number of this closing on the drive, so that two closings of one erase unit differ.
    pub number: u64,
    /// Host units written since the drive was new.
    pub now: u64,
    /// Live units and states of all erase units at this moment.
    pub occupancy: &'a Occupancy,
}

/// The erase units that may be collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// All erase units.
    All,
    /// Those filled by the stream.
    Only(StreamId),
}

impl View<'_> {
    /// Whether it is closed and in the pool, on any die.
    pub fn is_closed_in(&self, erase_unit: EraseUnit, pool: Pool) -> bool {
        let in_pool = match pool {
            Pool::All => true,
            Pool::Only(stream) => self.streams[erase_unit.index()] == stream,
        };
        in_pool && self.occupancy.state(erase_unit) == State::Closed
    }

    /// Whether the erase unit is closed, in the pool, and on the wanted die.
    pub fn may_collect(&self, erase_unit: EraseUnit, pool: Pool) -> bool {
        self.is_on_die(erase_unit) && self.is_closed_in(erase_unit, pool)
    }

    /// Whether the erase unit is on the wanted die.
    pub fn is_on_die(&self, erase_unit: EraseUnit) -> bool {
        self.on_die.is_none_or(|on_die| on_die.binary_search(&erase_unit).is_ok())
    }

    /// The erase units that may be collected.
    pub fn candidates(&self, pool: Pool) -> impl Iterator<Item = EraseUnit> + '_ {
        let count = self.on_die.map_or(self.erase_units, |on_die| on_die.len() as u32);
        let each = (0..count).map(move |index| self.on_die.map_or(EraseUnit(index), |on_die| on_die[index as usize]));
        each.filter(move |&erase_unit| self.is_closed_in(erase_unit, pool))
    }
}

/// The interface of a victim policy.
pub trait VictimPolicy: registry::Named + Sized {
    /// Errors name the key of the drive file.
    fn new(config: Self::Config, erase_units: u32) -> Result<Self, SpecificationError>;
    /// An erase unit was filled.
    fn closed(&mut self, _closing: &Closing<'_>) {}
    /// An erase unit is about to be collected.
    fn taken(&mut self, _erase_unit: EraseUnit, _stream: StreamId) {}
    /// The erase unit to collect; None if the pool has no closed one.
    fn choose(&self, view: &View<'_>, pool: Pool, random: &mut Generator) -> Option<EraseUnit>;
    /// The policy's state for saving; null for none.
    fn state(&self) -> Value {
        Value::Null
    }
    /// Restores what `state` returned; see `Victim::restore`.
    fn restore(&mut self, _state: Value, _times: u32) -> Result<(), serde_json::Error> {
        Ok(())
    }
}

macro_rules! victim_policies {
    ($($policy:ident in $file:ident),+ $(,)?) => {
        /// The policy of a drive: chosen once, called once an erase.
        #[allow(missing_docs, reason = "the files of the policies describe them")]
        pub enum Victim { $($policy($file::$policy)),+ }

        impl Victim {
            /// Errors name the key of the drive file.
            pub fn new(choice: &PolicyChoice, erase_units: u32) -> Result<Self, SpecificationError> {
                use registry::Named;
                $(if choice.name == $file::$policy::NAME {
                    let config = registry::config::<$file::$policy>("victim", choice)?;
                    return Ok(Self::$policy($file::$policy::new(config, erase_units)?));
                })+
                Err(registry::unknown("victim", choice, &descriptions()))
            }

            /// An erase unit was filled.
            pub fn closed(&mut self, closing: &Closing<'_>) {
                match self { $(Self::$policy(policy) => policy.closed(closing)),+ }
            }

            /// An erase unit filled by the stream is about to be collected.
            pub fn taken(&mut self, erase_unit: EraseUnit, stream: StreamId) {
                match self { $(Self::$policy(policy) => policy.taken(erase_unit, stream)),+ }
            }

            /// The erase unit to collect; None if the pool has no closed one.
            pub fn choose(&self, view: &View<'_>, pool: Pool, random: &mut Generator) -> Option<EraseUnit> {
                match self { $(Self::$policy(policy) => policy.choose(view, pool, random)),+ }
            }

            /// The policy's state for saving.
            pub fn state(&self) -> Value {
                match self { $(Self::$policy(policy) => policy.state()),+ }
            }

            /// Restores what `state` returned, on a drive whose erase units have `times` as many units.
            pub fn restore(&mut self, state: Value, times: u32) -> Result<(), serde_json::Error> {
                match self { $(Self::$policy(policy) => policy.restore(state, times)),+ }
            }
        }

        /// All victim policies, in the order of the list.
        pub fn descriptions() -> Vec<Description> {
            vec![$(registry::describe::<$file::$policy>("victim")),+]
        }
    };
}

victim_policies! {
    Greedy in greedy,
    Fifo in fifo,
    DChoices in d_choices,
    WindowedGreedy in windowed_greedy,
    CostBenefit in cost_benefit,
    CostBenefitByLoss in cost_benefit_by_loss,
    Random in random,
}
