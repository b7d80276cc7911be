//! Which piece of the medium holds the payload of which place. A copy within the flash shares the frame of its source
//! until one of the two is erased or changes, so that garbage collection moves no bytes.

/// Holds zeroes, for all places that have no payload.
pub const ZEROES: u32 = 0;

/// How often each frame is held, and the free ones. As many as there are places, plus the one of zeroes.
pub struct Frames {
    holders: Vec<u32>,
    /// Given back; the last goes first, since it may still be in the cache.
    spare: Vec<u32>,
    /// From here on they were never held.
    fresh: u32,
}

impl Frames {
    pub fn new(slots: u32) -> Self {
        Self { holders: vec![0; slots as usize + 1], spare: Vec::new(), fresh: ZEROES + 1 }
    }

    /// Those that places hold already, of a medium that is opened again.
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

    /// The next that `take` would give if it was never held.
    pub fn next_fresh(&self) -> Option<u32> {
        self.spare.is_empty().then_some(self.fresh)
    }

    /// Past the last that was ever held.
    pub fn fresh(&self) -> u32 {
        self.fresh
    }

    /// One for a place that holds none, or shares its own.
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

    /// Whether a place that holds it may change it.
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
