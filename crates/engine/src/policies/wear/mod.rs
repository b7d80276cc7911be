//! The distribution of erases over the flash.
//!
//! The engine calls `prefers_least_worn` once, when the drive is built. After every erase it examines at most the next
//! `LOOKED_AT` erase units in turn, and moves the data out of the first closed one whose erase count is more than
//! `threshold` below that of the most worn one; these moves count as wear levelling.

mod dynamic;
mod none;
mod r#static;

use super::registry::{self, Description};
use crate::error::SpecificationError;
use crate::specification::drive::PolicyChoice;

/// Erase units examined after an erase: the whole drive once in a sixty-fourth of a full cycle.
pub const LOOKED_AT: u32 = 64;

/// The interface of a wear policy.
pub trait WearPolicy: registry::Named + Sized {
    /// Errors name the key of the drive file.
    fn new(config: Self::Config) -> Result<Self, SpecificationError>;
    /// Whether the free erase unit with the fewest erases is opened next, or the one erased longest ago.
    fn prefers_least_worn(&self) -> bool;
    /// The difference in erases from the most worn erase unit above which data is moved out of an erase unit; None:
    /// never.
    fn threshold(&self) -> Option<u32> {
        None
    }
}

macro_rules! wear_policies {
    ($($policy:ident in $file:ident),+ $(,)?) => {
        /// The policy of a drive: chosen once, called once an erase.
        #[allow(missing_docs, reason = "the files of the policies describe them")]
        pub enum WearLeveling { $($policy($file::$policy)),+ }

        impl WearLeveling {
            /// Errors name the key of the drive file.
            pub fn new(choice: &PolicyChoice) -> Result<Self, SpecificationError> {
                use registry::Named;
                $(if choice.name == $file::$policy::NAME {
                    let config = registry::config::<$file::$policy>("wear_leveling", choice)?;
                    return Ok(Self::$policy($file::$policy::new(config)?));
                })+
                Err(registry::unknown("wear_leveling", choice, &descriptions()))
            }

            /// Whether the free erase unit with the fewest erases is opened next.
            pub fn prefers_least_worn(&self) -> bool {
                match self { $(Self::$policy(policy) => policy.prefers_least_worn()),+ }
            }

            /// The allowed difference in erases from the most worn erase unit; None: any.
            pub fn threshold(&self) -> Option<u32> {
                match self { $(Self::$policy(policy) => policy.threshold()),+ }
            }
        }

        /// All wear levelling policies, in the order of the list.
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
