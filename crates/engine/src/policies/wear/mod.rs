//! How erases are spread over the flash.
//!
//! The engine asks `prefers_least_worn` once, when the drive is built, and `erase_unit_to_level` after every erase. What
//! is returned must be closed; its live data is moved, and counted as wear levelling.

mod dynamic;
mod none;
mod r#static;

use super::registry::{self, Description};
use crate::error::SpecificationError;
use crate::ftl::numbers::EraseUnit;
use crate::ftl::occupancy::{Occupancy, State};
use crate::specification::drive::PolicyChoice;
use serde_json::Value;

/// How many erase units a policy looks at when it is asked: the whole drive once in a sixty-fourth of a full cycle.
pub const LOOKED_AT: u32 = 64;

/// What a wear policy may look at.
pub struct View<'a> {
    pub occupancy: &'a Occupancy,
    pub erase_counts: &'a [u32],
    pub erase_count_max: u32,
}

impl View<'_> {
    pub fn erase_units(&self) -> u32 {
        self.erase_counts.len() as u32
    }

    pub fn is_closed(&self, erase_unit: EraseUnit) -> bool {
        self.occupancy.state(erase_unit) == State::Closed
    }
}

/// The contract of a wear policy.
pub trait WearPolicy: registry::Named + Sized {
    fn new(config: Self::Config) -> Result<Self, SpecificationError>;
    /// Whether the free erase unit with the fewest erases is opened next, or the one that has been free longest.
    fn prefers_least_worn(&self) -> bool;
    fn erase_unit_to_level(&mut self, _view: &View<'_>) -> Option<EraseUnit> {
        None
    }
    /// What the policy remembers, for a state that is written out; null for nothing.
    fn state(&self) -> Value {
        Value::Null
    }
    /// Takes up what `state` gave.
    fn restore(&mut self, _state: Value) -> Result<(), serde_json::Error> {
        Ok(())
    }
}

macro_rules! wear_policies {
    ($($policy:ident in $file:ident),+ $(,)?) => {
        /// The policy of a drive: chosen once, called once an erase.
        pub enum WearLeveling { $($policy($file::$policy)),+ }

        impl WearLeveling {
            pub fn new(choice: &PolicyChoice) -> Result<Self, SpecificationError> {
                use registry::Named;
                $(if choice.name == $file::$policy::NAME {
                    let config = registry::config::<$file::$policy>("wear_leveling", choice)?;
                    return Ok(Self::$policy($file::$policy::new(config)?));
                })+
                Err(registry::unknown("wear_leveling", choice, &descriptions()))
            }

            pub fn prefers_least_worn(&self) -> bool {
                match self { $(Self::$policy(policy) => policy.prefers_least_worn()),+ }
            }

            pub fn erase_unit_to_level(&mut self, view: &View<'_>) -> Option<EraseUnit> {
                match self { $(Self::$policy(policy) => policy.erase_unit_to_level(view)),+ }
            }

            pub fn state(&self) -> Value {
                match self { $(Self::$policy(policy) => policy.state()),+ }
            }

            pub fn restore(&mut self, state: Value) -> Result<(), serde_json::Error> {
                match self { $(Self::$policy(policy) => policy.restore(state)),+ }
            }
        }

        pub fn descriptions() -> Vec<Description> {
            vec![$(registry::describe::<$file::$policy>("wear_leveling")),+]
        }
    };
}

wear_policies! {
    NoLeveling in none,
    Dynamic in dynamic,
    Static in r#static,
}
