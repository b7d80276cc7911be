//! Compressed traces: damaged ones give records or an error; whole ones give what they would give as they are.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab_fuzz::{chosen, read};
use std::io::Write;

fuzz_target!(|input: &[u8]| {
    let Some((&choice, bytes)) = input.split_first() else { return };
    let (format, skip_bad_max) = chosen(choice);
    // As it is, which is a compressed trace where its first bytes say so.
    let reading = read(bytes, format, skip_bad_max, 64, usize::MAX);
    if is_compressed(bytes) {
        return;
    }
    let compressed = match choice % 3 {
        0 => {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            out.write_all(bytes).and_then(|()| out.finish())
        }
        1 => {
            let mut out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            out.write_all(bytes).and_then(|()| out.finish())
        }
        _ => zstd::stream::encode_all(bytes, 1),
    };
    let compressed = compressed.expect("memory takes all");
    assert_eq!(read(&compressed, format, skip_bad_max, 64, usize::MAX), reading, "compression changes what is read");
});

fn is_compressed(bytes: &[u8]) -> bool {
    [&b"\x1f\x8b"[..], b"BZh", b"\x28\xb5\x2f\xfd"].iter().any(|magic| bytes.starts_with(magic))
}
