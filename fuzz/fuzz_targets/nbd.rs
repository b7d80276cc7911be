//! A whole NBD connection: what a client says, from its flags to its last request.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/blockdev/tests/nbd/checks.rs"]
mod checks;

fuzz_target!(|says: &[u8]| checks::check(says));
