//! Copies whose pages a die reads consecutively, without admitting a read of the host.
//!
//! Garbage collection reads the pages of all planes, or of a whole word line, as one operation. So a read of the host
//! that arrives during the first of them waits for the others too, up to the size of a turn, but not for those not yet
//! queued.

use super::operation::Operation;
use crate::specification::drive::Nand;

#[derive(Clone, Debug)]
pub(super) struct CopyTurns {
    pages_max: u32,
    /// By die: how many copies of the current turn have begun.
    begun: Vec<u32>,
}

impl CopyTurns {
    /// None if reads of the host are admitted between any two.
    pub fn new(nand: &Nand) -> Option<Box<Self>> {
        let dies = (nand.channels * nand.dies_per_channel) as usize;
        (nand.copy_pages_together > 1)
            .then(|| Box::new(Self { pages_max: nand.copy_pages_together, begun: vec![0; dies] }))
    }

    /// Whether a die starts the first operation of its queue although reads of the host wait.
    pub fn goes_on(&self, die: usize, next: Option<Operation>) -> bool {
        self.begun[die] > 0 && self.begun[die] < self.pages_max && next.is_some_and(Operation::is_for_copy)
    }

    /// A die starts a read of the host.
    pub fn ends(&mut self, die: usize) {
        self.begun[die] = 0;
    }

    /// A die starts another operation.
    pub fn begins(&mut self, die: usize, operation: Operation) {
        let begun = &mut self.begun[die];
        *begun = match operation.is_for_copy() {
            true if *begun < self.pages_max => *begun + 1,
            true => 1,
            false => 0,
        };
    }
}
