//! The payloads of the medium's slots. Each is in a frame; a copy within the flash shares the frame of its source.

use super::frames::{Frames, ZEROES};
use super::medium::{EraseUnitRecord, FRAME_BYTES, Medium, PageState, u32_at};
use std::io;
use std::ops::Range;
use std::sync::atomic::{Ordering, compiler_fence};

/// Frames for which space in the file is reserved at a time.
const FRAMES_RESERVED: u32 = 256;

impl Medium {
    /// Restores which slot uses which frame after another process. One that was killed may have left frames assigned to
    /// erased slots.
    pub(super) fn find_frames(&mut self) {
        let slots = self.shape.physical_units();
        for ppn in 0..slots {
            if self.spare(ppn).state == PageState::Erased {
                self.set_frame(ppn, ZEROES);
            }
        }
        self.frames = Frames::of_slots(slots, (0..slots).map(|ppn| self.frame_of(ppn)));
        self.frames_reserved = self.frames.fresh();
    }

    /// Reserves space in the file system for a frame that was never used, so that a full one causes an error instead of
    /// a signal.
    fn reserve(&mut self, frame: u32) -> io::Result<()> {
        if self.file.is_none() || frame < self.frames_reserved {
            return Ok(());
        }
        let end = (frame + FRAMES_RESERVED).min(self.shape.physical_units() + 1);
        let bytes = self.frame_bytes(frame).start..self.frame_bytes(end - 1).end;
        let reserved = self.reserve_in_file(bytes);
        match &reserved {
            Ok(()) => self.frames_reserved = end,
            Err(error) => self.refused = error.raw_os_error(),
        }
        reserved
    }

    #[inline]
    fn frame_of(&self, ppn: u32) -> u32 {
        u32_at(&self.memory, self.frame_of_at + ppn as usize * FRAME_BYTES)
    }

    #[inline]
    fn set_frame(&mut self, ppn: u32, frame: u32) {
        let at = self.frame_of_at + ppn as usize * FRAME_BYTES;
        // An unchanged part of a sparse file remains sparse.
        if u32_at(&self.memory, at) != frame {
            self.memory[at..at + FRAME_BYTES].copy_from_slice(&frame.to_le_bytes());
        }
    }

    #[inline]
    fn frame_bytes(&self, frame: u32) -> Range<usize> {
        let at = self.payload_at + frame as usize * self.shape.unit_bytes as usize;
        at..at + self.shape.unit_bytes as usize
    }

    /// The payload of a slot; zeroes if there is none.
    #[inline]
    pub fn data(&self, ppn: u32) -> &[u8] {
        &self.memory[self.frame_bytes(self.frame_of(ppn))]
    }

    /// Space for a new payload of a slot. Its contents are undefined.
    #[inline]
    pub fn replace_data(&mut self, ppn: u32) -> io::Result<&mut [u8]> {
        let mut frame = self.frame_of(ppn);
        if !self.frames.is_own(frame) {
            if let Some(fresh) = self.frames.next_fresh() {
                self.reserve(fresh)?;
            }
            self.frames.release(frame);
            frame = self.frames.take();
            self.set_frame(ppn, frame);
        }
        let bytes = self.frame_bytes(frame);
        Ok(&mut self.memory[bytes])
    }

    /// Removes the payload of a slot.
    pub fn drop_data(&mut self, ppn: u32) {
        let frame = self.frame_of(ppn);
        self.set_frame(ppn, ZEROES);
        self.frames.release(frame);
    }

    /// Lets a slot share the payload of another.
    #[inline]
    pub fn copy_data(&mut self, from: u32, to: u32) {
        let frame = self.frame_of(from);
        self.frames.share(frame);
        self.drop_data(to);
        self.set_frame(to, frame);
    }

    /// Combines the payload of one slot with that of another, which has its own frame, by exclusive or.
    pub fn xor_data(&mut self, from: u32, to: u32) {
        let (from, to) = (self.frame_bytes(self.frame_of(from)), self.frame_bytes(self.frame_of(to)));
        let (low, high) = self.memory.split_at_mut(from.start.max(to.start));
        let (source, target) = if from.start < to.start {
            (&low[from], &mut high[..to.len()])
        } else {
            (&high[..from.len()], &mut low[to])
        };
        target.iter_mut().zip(source).for_each(|(target, source)| *target ^= source);
    }

    /// Erases all slots of an erase unit in one step, and then releases their payloads.
    pub fn erase(&mut self, erase_unit: u32) {
        let record = self.record(erase_unit);
        self.set_record(erase_unit, EraseUnitRecord { epoch: record.epoch + 1, ..record });
        compiler_fence(Ordering::SeqCst);
        let first = erase_unit * self.shape.units_per_erase_unit;
        (first..first + self.shape.units_per_erase_unit).for_each(|ppn| self.drop_data(ppn));
    }
}

#[cfg(test)]
mod tests {
    use super::super::medium::tests::SHAPE;
    use super::*;

    #[test]
    fn a_copy_is_like_its_source_until_one_of_the_two_changes() {
        let mut medium = Medium::in_memory(SHAPE, 0).unwrap();
        medium.replace_data(17).unwrap().fill(7);
        medium.copy_data(17, 3);
        medium.copy_data(17, 4);
        medium.replace_data(4).unwrap().fill(8);
        medium.erase(1);
        assert_eq!((medium.data(17), medium.data(3), medium.data(4)), (&[0; 512][..], &[7; 512][..], &[8; 512][..]));
        // Released frames are reused, by one slot only.
        medium.drop_data(4);
        medium.replace_data(18).unwrap().fill(9);
        assert_eq!((medium.data(3), medium.data(4), medium.data(18)), (&[7; 512][..], &[0; 512][..], &[9; 512][..]));
        medium.xor_data(18, 3);
        medium.xor_data(17, 3);
        assert_eq!(medium.data(3), [7 ^ 9; 512]);
    }
}
