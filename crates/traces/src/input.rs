//! A window of fixed size over a source: data that has been read and not yet consumed. It makes memory constant.

use std::io::{self, Read};

/// Fits the second-level cache; no line or record may be longer.
pub(crate) const WINDOW_BYTES: usize = 256 * 1024;

pub(crate) struct Input {
    source: Box<dyn Read + Send>,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    at_end: bool,
}

impl Input {
    pub fn new(source: Box<dyn Read + Send>) -> Self {
        Input { source, buffer: vec![0; WINDOW_BYTES].into_boxed_slice(), start: 0, end: 0, at_end: false }
    }

    #[inline]
    pub fn window(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The window contains all that is left of the source.
    #[inline]
    pub fn at_end(&self) -> bool {
        self.at_end
    }

    /// The window cannot grow: a piece that does not fit it is too long.
    pub fn is_full(&self) -> bool {
        self.end - self.start == self.buffer.len()
    }

    #[inline]
    pub fn take(&mut self, bytes: usize) {
        debug_assert!(bytes <= self.end - self.start);
        self.start += bytes;
    }

    /// Reads once more into the window. Does nothing when the window is full or the source has ended.
    pub fn refill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.at_end || self.end == self.buffer.len() {
            return Ok(());
        }
        let read = loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        self.end += read;
        self.at_end = read == 0;
        Ok(())
    }

    /// Fills the window up to `bytes`, or to the end of the source.
    pub fn fill_to(&mut self, bytes: usize) -> io::Result<()> {
        while self.end - self.start < bytes.min(self.buffer.len()) && !self.at_end {
            self.refill()?;
        }
        Ok(())
    }
}
