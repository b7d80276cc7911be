//! The formats that are records of fixed layout.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab_traces::Format;

fuzz_target!(|input: &[u8]| {
    ssdlab_fuzz::check(input, |format| matches!(format, Format::Blktrace | Format::Vscsi));
});
