//! The twin of a drive whose streams have a block open on every die, the dies taking turns.

use super::model::{Slot, Twin};
use ssdlab_engine::specification::drive::{Drive, EraseUnitKind};

pub struct TwinOpenBlocks {
    dies: usize,
    group: usize,
    /// By stream and die.
    open: Vec<Vec<Option<usize>>>,
    /// By stream, whose turn it is, and the place from which writing was last found to go on.
    turn: Vec<usize>,
    begun_at: Vec<Option<(usize, usize)>>,
}

impl TwinOpenBlocks {
    pub fn new(drive: &Drive) -> Option<Self> {
        let dies = (drive.nand.channels * drive.nand.dies_per_channel) as usize;
        let is_on = drive.ftl.erase_unit == EraseUnitKind::Block && drive.ftl.die_choice.name == "round-robin";
        let units_per_page = u64::from(drive.nand.page_bytes) / super::UNIT;
        is_on.then(|| Self {
            dies,
            group: units_per_page as usize * drive.nand.pages_per_program as usize,
            open: vec![vec![None; dies]; 2],
            turn: vec![0; 2],
            begun_at: vec![None; 2],
        })
    }

    /// Erase units are numbered across the dies.
    pub fn die_of(&self, erase_unit: usize) -> usize {
        erase_unit % self.dies
    }
}

impl Twin {
    fn open_blocks(&mut self) -> &mut TwinOpenBlocks {
        self.open_blocks.as_mut().expect("open_blocks")
    }

    fn open_now(&self, stream: usize) -> Option<usize> {
        let open_blocks = self.open_blocks.as_ref().expect("open_blocks");
        open_blocks.open[stream][open_blocks.turn[stream]]
    }

    fn free_on(&self, die: usize) -> usize {
        self.free.iter().filter(|&&free| self.open_blocks.as_ref().expect("open_blocks").die_of(free) == die).count()
    }

    pub fn place_in_open_blocks(&mut self, stream: usize) -> Option<(usize, usize)> {
        loop {
            let erase_unit = self.open_now(stream)?;
            let next = (0..self.units()).find(|&slot| self.slots[erase_unit][slot] == Slot::Empty);
            let Some(slot) = next else {
                let die = self.open_blocks().turn[stream];
                self.open_blocks().open[stream][die] = None;
                self.close(erase_unit);
                self.turn(stream);
                continue;
            };
            let open_blocks = self.open_blocks.as_ref().expect("open_blocks");
            let group_was_full = slot > 0 && slot % open_blocks.group == 0;
            if group_was_full && open_blocks.begun_at[stream] != Some((erase_unit, slot)) {
                self.turn(stream);
            } else if self.is_parity(erase_unit, slot) {
                self.slots[erase_unit][slot] = Slot::Parity;
                self.ledger.programmed_units.parity += 1;
            } else {
                self.open_blocks().begun_at[stream] = Some((erase_unit, slot));
                return Some((erase_unit, slot));
            }
        }
    }

    /// The next die that has a block open, or an erased one that the host could open.
    fn turn(&mut self, stream: usize) {
        let open_blocks = self.open_blocks.as_ref().expect("open_blocks");
        let (last, dies) = (open_blocks.turn[stream], open_blocks.dies);
        let in_turn = (1..=dies).map(|step| (last + step) % dies);
        let may_open = self.free.len() > self.not_for_host();
        let has_room = |&die: &usize| open_blocks.open[stream][die].is_some() || (may_open && self.free_on(die) > 0);
        let die = in_turn.clone().find(has_room).unwrap_or((last + 1) % dies);
        self.begin_turn(stream, die);
    }

    fn begin_turn(&mut self, stream: usize, die: usize) {
        let open = self.open_blocks().open[stream][die];
        let begun_at = open.and_then(|erase_unit| {
            let next = (0..self.units()).find(|&slot| self.slots[erase_unit][slot] == Slot::Empty);
            next.map(|slot| (erase_unit, slot))
        });
        self.open_blocks().turn[stream] = die;
        self.open_blocks().begun_at[stream] = begun_at;
    }

    fn turn_to_one_with_room(&mut self, stream: usize) {
        let open_blocks = self.open_blocks.as_ref().expect("open_blocks");
        let mut in_turn = (0..open_blocks.dies).map(|step| (open_blocks.turn[stream] + step) % open_blocks.dies);
        let with_room = in_turn.find(|&die| open_blocks.open[stream][die].is_some() || self.free_on(die) > 0);
        self.begin_turn(stream, with_room.expect("a die with room"));
    }

    pub fn open_on_each_die(&mut self, stream: usize) {
        if self.free_on(self.open_blocks.as_ref().expect("open_blocks").turn[stream]) == 0 {
            self.turn_to_one_with_room(stream);
        }
        if self.open_now(stream).is_some() {
            return;
        }
        let die = self.open_blocks().turn[stream];
        let open_blocks = self.open_blocks.as_ref().expect("open_blocks");
        let on_die = (0..self.free.len()).filter(|&slot| open_blocks.die_of(self.free[slot]) == die);
        let index = self.next_free(on_die).expect("a free erase unit");
        let erase_unit = self.free.remove(index).expect("it was found");
        self.begin(erase_unit, stream);
        self.open_blocks().open[stream][die] = Some(erase_unit);
    }

    /// Whether the host's next unit cannot just follow the last.
    fn are_open_blocks_stopped(&self) -> bool {
        let Some(erase_unit) = self.open_now(0) else { return true };
        let next = (0..self.units()).find(|&slot| self.slots[erase_unit][slot] == Slot::Empty);
        let open_blocks = self.open_blocks.as_ref().expect("open_blocks");
        next.is_none_or(|slot| {
            self.is_parity(erase_unit, slot)
                || (slot % open_blocks.group == 0 && open_blocks.begun_at[0] != Some((erase_unit, slot)))
        })
    }

    fn make_space_for_open_blocks(&mut self) {
        while self.free.len() <= self.not_for_host() {
            self.clean(None);
            if self.slot(0).is_some() && self.free.len() >= self.reserve {
                break;
            }
        }
    }

    pub fn host_place_in_open_blocks(&mut self) -> (usize, usize) {
        let was_stopped = self.are_open_blocks_stopped();
        loop {
            if let Some(at) = self.slot(0) {
                if !was_stopped || self.free.len() >= self.reserve {
                    return at;
                }
                self.make_space_for_open_blocks();
                continue;
            }
            let die = self.open_blocks().turn[0];
            if self.free.len() <= self.not_for_host() {
                self.make_space_for_open_blocks();
            } else if self.free_on(die) == 0 {
                self.turn_to_one_with_room(0);
            } else {
                self.open(0);
            }
        }
    }
}
