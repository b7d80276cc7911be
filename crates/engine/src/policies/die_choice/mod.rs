//! The die that receives the next program group of the host or of garbage collection, for drives whose erase units are
//! single blocks (`ftl.erase_unit = "block"`): each open stream then has an open block on every die.
//!
//! The engine calls `choose` for a stream when its last group is full, or, if the policy goes by addresses, when the next
//! unit belongs to another die. The result must be a die with space; random numbers come from the engine's generator. A
//! superblock has a fixed order of dies and no such choice.

mod by_address;
mod least_loaded;
mod one_block;
mod random;
mod round_robin;

use super::registry::{self, Description};
use crate::error::SpecificationError;
use crate::random::Random as Generator;
use crate::specification::drive::PolicyChoice;

/// What a die choice decides by.
#[derive(Clone, Copy, Debug)]
pub struct View<'a, R> {
    /// The die that took the stream's last group.
    pub last: u32,
    /// The die on which the next unit would lie if all addresses had been written in order; only for policies that go by
    /// addresses, and 0 otherwise.
    pub home: u32,
    /// The number of dies.
    pub dies: u32,
    /// Whether a die has an open block for the stream, or an erased one to open. At least one die has.
    pub has_room: R,
    /// By die: when its queued work ends, in nanoseconds; only for policies that read it, and 0 without a clock.
    pub free_at_ns: &'a [u64],
}

impl<R: Fn(u32) -> bool> View<'_, R> {
    /// The dies with space, starting after the last.
    #[inline(always)]
    pub fn in_turn(&self) -> impl Iterator<Item = u32> + '_ {
        (self.last + 1..self.dies).chain(0..=self.last).filter(|&die| (self.has_room)(die))
    }
}

/// The interface of a die choice.
pub trait DieChoicePolicy: registry::Named + Sized {
    /// Whether a stream has one open block at a time, on any die, instead of one on every die; then `choose` is never
    /// called.
    const KEEPS_ONE_BLOCK: bool = false;
    /// Whether `choose` reads `free_at_ns`.
    const USES_LOAD: bool = false;
    /// Whether `choose` reads `home`; then the turn may pass after each unit, and the groups of several dies may be half
    /// full.
    const GOES_BY_ADDRESS: bool = false;
    /// Whether `choose` always returns the next die with space; then it need not be called.
    const TAKES_TURNS: bool = false;

    /// Errors name the key of the drive file.
    fn new(config: Self::Config) -> Result<Self, SpecificationError>;
    /// The die of the next program group.
    fn choose<R: Fn(u32) -> bool>(&self, view: &View<R>, random: &mut Generator) -> u32;
}

macro_rules! die_choices {
    ($($policy:ident in $file:ident),+ $(,)?) => {
        /// The policy of a drive: chosen once, called at most once a unit.
        #[allow(missing_docs, reason = "the files of the policies describe them")]
        pub enum DieChoice { $($policy($file::$policy)),+ }

        impl DieChoice {
            /// Errors name the key of the drive file.
            pub fn new(choice: &PolicyChoice) -> Result<Self, SpecificationError> {
                use registry::Named;
                $(if choice.name == $file::$policy::NAME {
                    let config = registry::config::<$file::$policy>("die_choice", choice)?;
                    return Ok(Self::$policy($file::$policy::new(config)?));
                })+
                Err(registry::unknown("die_choice", choice, &descriptions()))
            }

            /// See `DieChoicePolicy::KEEPS_ONE_BLOCK`.
            pub fn keeps_one_block(&self) -> bool {
                match self { $(Self::$policy(_) => $file::$policy::KEEPS_ONE_BLOCK),+ }
            }

            /// See `DieChoicePolicy::USES_LOAD`.
            pub fn uses_load(&self) -> bool {
                match self { $(Self::$policy(_) => $file::$policy::USES_LOAD),+ }
            }

            /// See `DieChoicePolicy::GOES_BY_ADDRESS`.
            pub fn goes_by_address(&self) -> bool {
                match self { $(Self::$policy(_) => $file::$policy::GOES_BY_ADDRESS),+ }
            }

            /// See `DieChoicePolicy::TAKES_TURNS`.
            pub fn takes_turns(&self) -> bool {
                match self { $(Self::$policy(_) => $file::$policy::TAKES_TURNS),+ }
            }

            /// The die of the next program group.
            #[inline]
            pub fn choose<R: Fn(u32) -> bool>(&self, view: &View<R>, random: &mut Generator) -> u32 {
                match self { $(Self::$policy(policy) => policy.choose(view, random)),+ }
            }
        }

        /// All die choices, in the order of the list.
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
    ByAddress in by_address,
}
