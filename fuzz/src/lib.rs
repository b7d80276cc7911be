//! What the targets have in common, which the tests of the readers have too.

#[path = "../../crates/traces/tests/fuzz/checks.rs"]
mod checks;

pub use checks::{check, chosen, read};
