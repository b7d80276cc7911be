//! A file that counts the bytes read, for the progress of a run.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub struct Counted<R> {
    pub source: R,
    pub bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.source.read(buffer)?;
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}
