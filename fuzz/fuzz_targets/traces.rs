//! The reader of one format, which the environment names, or, without one, the recognition of formats.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab_traces::Format;
use std::sync::LazyLock;

static FORMAT: LazyLock<Option<Format>> = LazyLock::new(|| {
    let name = std::env::var("SSDLAB_FUZZ_FORMAT").ok()?;
    Some(name.parse().expect("SSDLAB_FUZZ_FORMAT names a format"))
});

fuzz_target!(|input: &[u8]| {
    ssdlab_fuzz::check(input, *FORMAT);
});
