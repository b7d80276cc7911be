//! What a translation layer may decide. A policy sees a read-only view and returns a plain value; the engine acts.
//!
//! A new policy is one file and one line in the list of its kind. That line gives it its name in drive files, on the
//! command line and in reports, and its place in the contract tests and benchmarks that walk the list.

pub mod die_choice;
pub mod pacing;
pub mod placement;
mod registry;
pub mod victim;
pub mod wear;

pub use registry::Description;

/// Every policy of every kind, in the order of the lists.
pub fn descriptions() -> Vec<Description> {
    let kinds = [
        victim::descriptions(),
        placement::descriptions(),
        wear::descriptions(),
        pacing::descriptions(),
        die_choice::descriptions(),
    ];
    kinds.into_iter().flatten().collect()
}
