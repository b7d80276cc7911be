//! Decompresses a source that is in gzip, bzip2 or zstd, recognised by their magic bytes; anything else passes
//! unchanged.

use std::io::{self, Cursor, Read};

const MAGIC_BYTES_MAX: usize = 4;

/// Files of several members or frames, as parallel compressors and `cat` make them, are read to their end.
pub(crate) fn decompressed(mut source: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut head = Vec::with_capacity(MAGIC_BYTES_MAX);
    source.by_ref().take(MAGIC_BYTES_MAX as u64).read_to_end(&mut head)?;
    let is_gzip = head.starts_with(&[0x1f, 0x8b]);
    // The fourth byte is bzip2's block size digit; without it a text beginning "BZh" would be taken for it.
    let is_bzip2 = head.starts_with(b"BZh") && head.get(3).is_some_and(|digit| (b'1'..=b'9').contains(digit));
    let is_zstd = head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
    let whole = Cursor::new(head).chain(source);
    Ok(if is_gzip {
        Box::new(flate2::read::MultiGzDecoder::new(whole))
    } else if is_bzip2 {
        Box::new(bzip2::read::MultiBzDecoder::new(whole))
    } else if is_zstd {
        Box::new(zstd::Decoder::new(whole)?)
    } else {
        Box::new(whole)
    })
}
