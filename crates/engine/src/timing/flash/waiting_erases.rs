//! Erases that wait until everything decided before them is in flash, so that after a loss of power either the older
//! copy of a unit or the newer one exists. Drives whose memory survives a loss of power do not need this.
//!
//! The erase first waits for the program groups that had begun and were not full; when the last of them is queued, a
//! marker follows in the queue of every die, and when the last marker is reached, the erase is queued. Programs into
//! the erase unit are held back in the meantime. If one arrives while a group still waits to be filled, perhaps by this
//! very write, the erase proceeds at once: a real drive would program the group early, which the model does not.

#[derive(Clone, Debug)]
struct Waiting {
    number: u32,
    erase_unit: u32,
    /// The erase, as queued at its dies.
    operation: u64,
    /// Earlier groups that are not yet queued.
    groups: u32,
    markers: u32,
    /// Dies, and programs held back for them.
    held: Vec<(usize, u64)>,
}

/// An erase that no longer waits, and the programs held back for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Released {
    pub erase_unit: u32,
    pub operation: u64,
    pub held: Vec<(usize, u64)>,
}

#[derive(Clone, Debug, Default)]
pub struct WaitingErases {
    /// In the order of decision; few.
    waiting: Vec<Waiting>,
}

impl WaitingErases {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// An erase is decided on while this many groups have begun and are not queued. Returns whether its markers can be
    /// queued.
    pub fn add(&mut self, number: u32, erase_unit: u32, operation: u64, groups: u32, dies: u32) -> bool {
        self.waiting.push(Waiting { number, erase_unit, operation, groups, markers: dies, held: Vec::new() });
        groups == 0
    }

    /// A group is queued that was opened after `opened_after` erases had been decided on. Calls `then` with the number
    /// of each erase for which it was the last.
    pub fn group_is_queued(&mut self, opened_after: u32, mut then: impl FnMut(u32)) {
        for waiting in &mut self.waiting {
            // Numbers may wrap.
            let is_waited_for = (waiting.number.wrapping_sub(opened_after) as i32) > 0;
            if is_waited_for && waiting.groups > 0 {
                waiting.groups -= 1;
                if waiting.groups == 0 {
                    then(waiting.number);
                }
            }
        }
    }

    /// A marker of an erase was reached; that of an erase that proceeded at once is ignored.
    pub fn marker_ended(&mut self, number: u32) -> Option<Released> {
        let slot = self.waiting.iter().position(|waiting| waiting.number == number)?;
        self.waiting[slot].markers -= 1;
        if self.waiting[slot].markers == 0 { Some(self.release(slot)) } else { None }
    }

    /// Whether an erase waits for its markers, so that a program into the erase unit is held back.
    pub fn hold(&mut self, erase_unit: u32, die: usize, program: u64) -> bool {
        let waiting = self.waiting.iter_mut().find(|waiting| waiting.erase_unit == erase_unit);
        match waiting.filter(|waiting| waiting.groups == 0) {
            Some(waiting) => {
                waiting.held.push((die, program));
                true
            }
            None => false,
        }
    }

    /// Lets the erase of this erase unit proceed, if one waits.
    pub fn go_ahead(&mut self, erase_unit: u32) -> Option<Released> {
        let slot = self.waiting.iter().position(|waiting| waiting.erase_unit == erase_unit)?;
        Some(self.release(slot))
    }

    fn release(&mut self, slot: usize) -> Released {
        let Waiting { erase_unit, operation, held, .. } = self.waiting.remove(slot);
        Released { erase_unit, operation, held }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_erase_waits_for_groups_then_for_markers() {
        let mut erases = WaitingErases::default();
        assert!(!erases.add(u32::MAX, 7, 70, 2, 2));
        assert!(erases.add(0, 8, 80, 0, 1));
        assert!(!erases.hold(7, 0, 99), "its groups are not queued");
        let mut ready = Vec::new();
        erases.group_is_queued(u32::MAX - 1, |number| ready.push(number));
        erases.group_is_queued(u32::MAX, |number| ready.push(number));
        erases.group_is_queued(0, |number| ready.push(number));
        assert!(ready.is_empty(), "the last two were opened after it");
        erases.group_is_queued(u32::MAX - 7, |number| ready.push(number));
        assert_eq!(ready.len(), 1);
        assert!(erases.hold(7, 3, 99));
        assert_eq!(erases.marker_ended(ready[0]), None);
        let held = vec![(3, 99)];
        assert_eq!(erases.marker_ended(ready[0]), Some(Released { erase_unit: 7, operation: 70, held }));
        let ahead = Released { erase_unit: 8, operation: 80, held: Vec::new() };
        assert_eq!(erases.go_ahead(8), Some(ahead));
        assert_eq!(erases.marker_ended(0), None);
        assert!(erases.is_empty());
    }
}
