//! Which die a program group of the host or of cleaning goes to, for drives whose erase units are single blocks
//! (`ftl.erase_unit = "block"`): each open stream then has an open block on every die.
//!
//! The engine calls `choose` for a stream when the group that it last wrote is full. What is returned must be a die that
//! has room. A superblock has its order of dies from its stripe, and nobody is asked.

mod least_loaded;
mod one_block;
mod random;
mod round_robin;

use super::registry::{self, Description};
use crate::error::SpecificationError;
use crate::specification::drive::PolicyChoice;
use serde_json::Value;

/// What a die choice may look at.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The die that took the stream's last group.
    pub last: u32,
    /// By die: whether it has a block open for the stream, or one that can be opened. At least one has.
    pub has_room: &'a [bool],
    /// By die: when it will have done what is queued, in nanoseconds; kept only for policies that heed it, and
    /// 0 without a clock.
    pub free_at_ns: &'a [u64],
}

impl View<'_> {
    /// The dies with room, beginning behind the last.
    pub fn in_turn(&self) -> impl Iterator<Item = u32> + '_ {
        let dies = self.has_room.len() as u32;
        (1..=dies).map(move |step| (self.last + step) % dies).filter(|&die| self.has_room[die as usize])
    }
}

/// The contract of a die choice.
pub trait DieChoicePolicy: registry::Named + Sized {
    /// Whether a stream keeps one block open at a time, on whatever die, instead of one on every die; then `choose` is
    /// never called.
    const KEEPS_ONE_BLOCK: bool = false;
    /// Whether `choose` looks at what is queued.
    const HEEDS_LOAD: bool = false;

    fn new(config: Self::Config, seed: u64) -> Result<Self, SpecificationError>;
    fn choose(&mut self, view: &View) -> u32;
    /// What the policy remembers, for a state that is written out; null for nothing.
    fn state(&self) -> Value {
        Value::Null
    }
    /// Takes up what `state` gave.
    fn restore(&mut self, _state: Value) -> Result<(), serde_json::Error> {
        Ok(())
    }
}

macro_rules! die_choices {
    ($($policy:ident in $file:ident),+ $(,)?) => {
        /// The policy of a drive: chosen once, called once a program group.
        pub enum DieChoice { $($policy($file::$policy)),+ }

        impl DieChoice {
            pub fn new(choice: &PolicyChoice, seed: u64) -> Result<Self, SpecificationError> {
                use registry::Named;
                $(if choice.name == $file::$policy::NAME {
                    let config = registry::config::<$file::$policy>("die_choice", choice)?;
                    return Ok(Self::$policy($file::$policy::new(config, seed)?));
                })+
                Err(registry::unknown("die_choice", choice, &descriptions()))
            }

            pub fn keeps_one_block(&self) -> bool {
                match self { $(Self::$policy(_) => $file::$policy::KEEPS_ONE_BLOCK),+ }
            }

            pub fn heeds_load(&self) -> bool {
                match self { $(Self::$policy(_) => $file::$policy::HEEDS_LOAD),+ }
            }

            #[inline]
            pub fn choose(&mut self, view: &View) -> u32 {
                match self { $(Self::$policy(policy) => policy.choose(view)),+ }
            }

            pub fn state(&self) -> Value {
                match self { $(Self::$policy(policy) => policy.state()),+ }
            }

            pub fn restore(&mut self, state: Value) -> Result<(), serde_json::Error> {
                match self { $(Self::$policy(policy) => policy.restore(state)),+ }
            }
        }

        pub fn descriptions() -> Vec<Description> {
            vec![$(registry::describe::<$file::$policy>("die_choice")),+]
        }
    };
}

die_choices! {
    RoundRobin in round_robin,
    LeastLoaded in least_loaded,
    Random in random,
    OneBlock in one_block,
}
