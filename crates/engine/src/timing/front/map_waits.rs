//! Waiting for map pages. A request whose map pages are not in memory reads them one after another, as firmware does
//! that translates a command from start to end; the host's units of a map page are read when it has arrived. Programs
//! do not wait: their data is in the controller's memory, and only the end of the request waits.

use crate::ledger::Cause;
use crate::timing::decision::Decision;
use crate::units::Ppn;

/// The index of a chain in its list; reused when the chain is done.
pub type ChainId = u32;

#[derive(Clone, Debug, Default)]
struct Chain {
    slot: u32,
    /// Reads of the host's units and of map pages, in order; the first is of a map page.
    held: Vec<Decision>,
    at: usize,
}

/// The next step after a map page has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Read the next map page of the chain.
    MapPage(Ppn),
    /// The chain is done.
    Done,
}

#[derive(Clone, Debug, Default)]
pub struct MapWaits {
    chains: Vec<Chain>,
    spare: Vec<ChainId>,
}

impl MapWaits {
    /// Removes from the decisions on behalf of `slot` what waits for a map page. Returns the chain, its first map page,
    /// and how many units and map pages the slot waits for; None if no map page must be read.
    pub fn hold_back(&mut self, decisions: &mut Vec<Decision>, slot: u32) -> Option<(ChainId, Ppn, u32)> {
        let is_map_page = |decision: &Decision| matches!(decision, Decision::Read(_, Cause::Metadata));
        let first = decisions.iter().position(is_map_page)?;
        let id = self.spare.pop().unwrap_or_else(|| {
            self.chains.push(Chain::default());
            self.chains.len() as ChainId - 1
        });
        let chain = &mut self.chains[id as usize];
        chain.slot = slot;
        chain.held.clear();
        // Operations of garbage collection and write-backs of map pages in between do not wait, and remain in order.
        let mut index = 0;
        decisions.retain(|decision| {
            let waits = index >= first && matches!(decision, Decision::Read(_, Cause::Host | Cause::Metadata));
            index += 1;
            if waits {
                chain.held.push(*decision);
            }
            !waits
        });
        let Decision::Read(ppn, _) = chain.held[0] else { unreachable!("a chain begins with a map page") };
        chain.at = 1;
        Some((id, ppn, chain.held.len() as u32))
    }

    /// The slot on whose behalf the chain reads.
    pub fn slot(&self, chain: ChainId) -> u32 {
        self.chains[chain as usize].slot
    }

    /// The map page that the chain waited for has arrived: moves the reads that can start now to `released`.
    pub fn arrived(&mut self, id: ChainId, released: &mut Vec<Decision>) -> Next {
        released.clear();
        let chain = &mut self.chains[id as usize];
        while let Some(&decision) = chain.held.get(chain.at) {
            chain.at += 1;
            match decision {
                Decision::Read(ppn, Cause::Metadata) => return Next::MapPage(ppn),
                _ => released.push(decision),
            }
        }
        self.spare.push(id);
        Next::Done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_wait_for_their_map_page_and_programs_do_not() {
        let read = |ppn: u32| Decision::Read(Ppn(ppn), Cause::Host);
        let map_page = |ppn: u32| Decision::Read(Ppn(ppn), Cause::Metadata);
        let program = |ppn: u32| Decision::Program(Ppn(ppn), Cause::Metadata);
        let copy = Decision::Read(Ppn(9), Cause::Gc);
        let mut waits = MapWaits::default();
        let mut plain = vec![read(1), program(2)];
        assert_eq!(waits.hold_back(&mut plain, 7), None);
        assert_eq!(plain, [read(1), program(2)]);
        let mut decisions =
            vec![read(1), program(2), map_page(3), read(4), copy, program(10), read(5), map_page(6), read(7)];
        let (chain, first, waited_for) = waits.hold_back(&mut decisions, 7).unwrap();
        assert_eq!((first, waited_for, waits.slot(chain)), (Ppn(3), 5, 7));
        assert_eq!(decisions, [read(1), program(2), copy, program(10)]);
        let mut released = Vec::new();
        assert_eq!(waits.arrived(chain, &mut released), Next::MapPage(Ppn(6)));
        assert_eq!(released, [read(4), read(5)]);
        assert_eq!(waits.arrived(chain, &mut released), Next::Done);
        assert_eq!(released, [read(7)]);
    }
}
