//! A connection to an NVMe target: what a host sends, from its opening or from a queue on.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/blockdev/tests/nvme/checks.rs"]
mod checks;
#[allow(dead_code, reason = "part of a host is enough here")]
#[path = "../../crates/blockdev/tests/nvme/initiator.rs"]
mod initiator;
#[allow(dead_code, reason = "only two of the drives are served here")]
#[path = "../../crates/blockdev/tests/tiny/mod.rs"]
mod tiny;

fuzz_target!(|says: &[u8]| checks::check(says));
