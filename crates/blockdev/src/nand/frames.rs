//! Assigns pieces of the medium (frames) to the payloads of slots. A copy within the flash shares the frame of its
//! source until one of the two is erased or changes, so that garbage collection copies no bytes.

/// Contains zeroes, for all slots without payload.
pub const ZEROES: u32 = 0;

/// Reference counts of the frames, and the free ones. There are as many as slots, plus the one of zeroes.
pub struct Frames {
    holders: Vec<u32>,
    /// Released frames; the last is reused first, since it may still be in the cache.
    spare: Vec<u32>,
    /// Frames from this one on were never used.
    fresh: u32,
}

impl Frames {
    pub fn new(slots: u32) -> Self {
        Self { holders: vec![0; slots as usize + 1], spare: Vec::new(), fresh: ZEROES + 1 }
    }

    /// Restores the references of slots, for a medium that is opened again.
    pub fn of_slots(slots: u32, held: impl Iterator<Item = u32>) -> Self {
        let mut frames = Self::new(slots);
        for frame in held {
            frames.share(frame);
            frames.fresh = frames.fresh.max(frame + 1);
        }
        let unheld = |frame: &u32| frames.holders[*frame as usize] == 0;
        frames.spare = (ZEROES + 1..frames.fresh).rev().filter(unheld).collect();
        frames
    }

    /// The next frame that `take` would return if it has never been used.
    pub fn next_fresh(&self) -> Option<u32> {
        self.spare.is_empty().then_some(self.fresh)
    }

    /// The first frame never used.
    pub fn fresh(&self) -> u32 {
        self.fresh
    }

    /// A frame for a slot that has none, or shares its own.
    pub fn take(&mut self) -> u32 {
        let frame = self.spare.pop().unwrap_or_else(|| {
            self.fresh += 1;
            self.fresh - 1
        });
        self.holders[frame as usize] = 1;
        frame
    }

    #[inline]
    pub fn share(&mut self, frame: u32) {
        self.holders[frame as usize] += u32::from(frame != ZEROES);
    }

    #[inline]
    pub fn release(&mut self, frame: u32) {
        if frame == ZEROES {
            return;
        }
        let holders = &mut self.holders[frame as usize];
        *holders -= 1;
        if *holders == 0 {
            self.spare.push(frame);
        }
    }

    /// Whether a slot with this frame may change it.
    pub fn is_own(&self, frame: u32) -> bool {
        self.holders[frame as usize] == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_free_when_its_last_holder_has_given_it_back() {
        let mut frames = Frames::new(2);
        assert_eq!((frames.next_fresh(), frames.take()), (Some(1), 1));
        frames.share(1);
        frames.release(1);
        assert!(frames.is_own(1) && frames.next_fresh() == Some(2));
        frames.release(1);
        assert_eq!((frames.next_fresh(), frames.take(), frames.take()), (None, 1, 2));
        frames.release(ZEROES);
        frames.share(ZEROES);
        assert!(!frames.is_own(ZEROES));
    }

    #[test]
    fn those_of_a_medium_that_is_opened_again_are_found_by_who_holds_them() {
        let mut frames = Frames::of_slots(6, [4, ZEROES, 2, 4].into_iter());
        assert!(frames.is_own(2) && !frames.is_own(4));
        assert_eq!((frames.take(), frames.take(), frames.take()), (1, 3, 5));
    }
}
