//! How fast a victim is collected while the host continues writing. Only drives with a clock use it: without time the
//! pace has no effect.
//!
//! The engine calls `pace` for every write of the host while there are too few erased units, after a victim is chosen.
//! A policy that returns too little is never dangerous: when the host needs an erase unit and the reserve is reached,
//! the engine completes the victim first.

mod at_once;
mod in_batches;
mod proportional;

use super::registry::{self, Description};
use crate::error::SpecificationError;
use crate::specification::drive::PolicyChoice;

/// What a gc throttling policy decides by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Erased erase units.
    pub free_erase_units: u32,
    /// How many should be erased.
    pub floor_erase_units: u32,
    /// The victim's live units when it was chosen, and the units that its erase frees, at least 1.
    pub live_units: u64,
    /// Units freed by the erase of the victim.
    pub gained_units: u64,
    /// Units just written by the host.
    pub written_units: u64,
}

/// How much of the victim to move now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Fractions of a unit, of which `gained_units` make one; they accumulate until the next call.
    Parts(u64),
    /// All remaining units.
    Whole,
}

/// The interface of a gc throttling policy.
pub trait GcThrottlingPolicy: registry::Named + Sized {
    /// Errors name the key of the drive file.
    fn new(config: Self::Config) -> Result<Self, SpecificationError>;
    /// How much of the victim to move for this write.
    fn pace(&self, view: &View) -> Pace;
    /// Units are moved in batches of this size.
    fn batch_units(&self) -> u64 {
        1
    }
    /// As many units of a batch are moved at a time, the next when the dies have performed most of those before; None:
    /// all at once.
    fn piece_units(&self) -> Option<u64> {
        None
    }
}

macro_rules! gc_throttling_policies {
    ($($policy:ident in $file:ident),+ $(,)?) => {
        /// The policy of a drive: chosen once.
        #[allow(missing_docs, reason = "the files of the policies describe them")]
        pub enum GcThrottling { $($policy($file::$policy)),+ }

        impl GcThrottling {
            /// Errors name the key of the drive file.
            pub fn new(choice: &PolicyChoice) -> Result<Self, SpecificationError> {
                use registry::Named;
                $(if choice.name == $file::$policy::NAME {
                    let config = registry::config::<$file::$policy>("gc_throttling", choice)?;
                    return Ok(Self::$policy($file::$policy::new(config)?));
                })+
                Err(registry::unknown("gc_throttling", choice, &descriptions()))
            }

            /// How much of the victim to move for this write.
            #[inline]
            pub fn pace(&self, view: &View) -> Pace {
                match self { $(Self::$policy(policy) => policy.pace(view)),+ }
            }

            /// The batch in which units are moved.
            #[inline]
            pub fn batch_units(&self) -> u64 {
                match self { $(Self::$policy(policy) => policy.batch_units()),+ }
            }

            /// How many units of a batch are moved at a time; None: all at once.
            #[inline]
            pub fn piece_units(&self) -> Option<u64> {
                match self { $(Self::$policy(policy) => policy.piece_units()),+ }
            }
        }

        /// All gc throttling policies, in the order of the list.
        pub fn descriptions() -> Vec<Description> {
            vec![$(registry::describe::<$file::$policy>("gc_throttling")),+]
        }
    };
}

gc_throttling_policies! {
    Proportional in proportional,
    AtOnce in at_once,
    InBatches in in_batches,
}
