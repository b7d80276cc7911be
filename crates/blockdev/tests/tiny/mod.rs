//! A drive so small that garbage collection, wear and a full drive come within a hundred operations; and a slow,
//! obvious model of what a device holds.

use serde_json::json;
use ssdlab_engine::random::Random;
use ssdlab_engine::specification::Drive;
use ssdlab_engine::specification::drive::MapCache;
use std::collections::HashMap;

pub const UNIT: u64 = 512;

/// What one tiny drive has different from another.
#[derive(Clone, Copy, Debug)]
pub struct Tiny {
    pub user_units: u64,
    pub placement: &'static str,
    pub victim: &'static str,
    pub erase_unit: &'static str,
    pub units_per_stripe: u32,
    pub buffer_units: u64,
    pub blocks_per_plane: u32,
    /// Programmed in one shot, but in SLC mode.
    pub pages_per_program: u32,
    pub slc_cache: SlcCache,
    /// The form of its map, if only a part of it fits into memory: four of twenty map pages.
    pub map_cache: Option<&'static str>,
    pub reduction: Reduction,
    /// Of a stripe; each is such a drive, and has its share of the units.
    pub devices: u32,
    pub chunk_units: u64,
}

/// What the drive does with data before it is stored; in places of an eighth of a unit, unless they are whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reduction {
    None,
    Compresses,
    /// Only repetitions are found, of units that take one place each.
    Deduplicates,
    /// Both, with an index in addition to the data.
    Both,
}

/// Erase units of 16 units in SLC mode.
#[derive(Clone, Copy, Debug)]
pub enum SlcCache {
    None,
    /// Two of its own, and at most three others; the host's writes go past it when it is full.
    Direct,
    /// The same, and the host's writes wait for room.
    Fold,
}

/// Two dies of two planes, ten blocks of eight pages of two units: 640 units, in superblocks of 64.
impl Default for Tiny {
    fn default() -> Self {
        Self {
            user_units: 320,
            placement: "host-gc-split",
            victim: "greedy",
            erase_unit: "superblock",
            units_per_stripe: 0,
            buffer_units: 16,
            blocks_per_plane: 10,
            pages_per_program: 1,
            slc_cache: SlcCache::None,
            map_cache: None,
            reduction: Reduction::None,
            devices: 1,
            chunk_units: 2,
        }
    }
}

impl Tiny {
    /// With an SLC cache, and the blocks that it takes.
    pub fn with_slc_cache(slc_cache: SlcCache) -> Self {
        Self { slc_cache, blocks_per_plane: 15, ..Self::default() }
    }

    /// Two devices of 448 units, in chunks that are no whole part of an erase unit.
    pub fn striped() -> Self {
        Self { devices: 2, chunk_units: 3, blocks_per_plane: 7, ..Self::default() }
    }

    pub fn reducing(reduction: Reduction) -> Self {
        // Their indices need room too.
        Self { reduction, user_units: 280, ..Self::default() }
    }

    /// Contents for a write: such as can be reduced where the drive tries to.
    pub fn contents(&self, random: &mut Random, length_bytes: u64) -> Vec<u8> {
        match self.reduction {
            Reduction::None => contents(random, length_bytes),
            _ => reducible_contents(random, length_bytes),
        }
    }

    pub fn drive(&self) -> Drive {
        let slc_cache = match self.slc_cache {
            SlcCache::None => json!({}),
            SlcCache::Direct => json!({"static_bytes": 32 * UNIT, "dynamic_bytes_max": 48 * UNIT}),
            SlcCache::Fold => {
                json!({"static_bytes": 32 * UNIT, "dynamic_bytes_max": 48 * UNIT, "when_full": "fold"})
            }
        };
        let map_cache = match self.map_cache {
            None => serde_json::to_value(MapCache::default()).expect("plain settings"),
            Some(form) => json!({
                "bytes": 256, "entries_per_map_page": 16, "entry_bytes": 4, "eviction": "lru", "form": form, "miss_us": 0.0
            }),
        };
        let (compression, deduplication, packing_bytes, index_bytes) = match self.reduction {
            Reduction::None => (false, false, UNIT / 8, 0),
            Reduction::Compresses => (true, false, UNIT / 8, 0),
            Reduction::Deduplicates => (false, true, UNIT, 0),
            Reduction::Both => (true, true, UNIT / 8, 4),
        };
        let die_choice = if self.reduction == Reduction::None { "round-robin" } else { "one-block" };
        let die_choice = if self.erase_unit == "superblock" { "round-robin" } else { die_choice };
        let text = json!({
            "name": "tiny",
            "nand": {
                "cell": "tlc", "channels": 2, "dies_per_channel": 1, "planes_per_die": 2, "blocks_per_plane": self.blocks_per_plane,
                "pages_per_block": 8, "page_bytes": 2 * UNIT, "read_us": 60.0, "program_us": 700.0, "erase_us": 5000.0,
                "channel_mb_s": 800.0, "endurance_cycles": 3000, "pages_per_program": self.pages_per_program
            },
            "ftl": {
                "user_bytes": self.user_units * UNIT, "mapping_unit_bytes": UNIT, "erase_unit": self.erase_unit,
                "victim": {"name": self.victim}, "placement": {"name": self.placement},
                "wear_leveling": {"name": "none"}, "die_choice": {"name": die_choice}, "reserve_erase_units": 2, "spare_area": "dynamic"
            },
            "slc_cache": slc_cache,
            "map_cache": map_cache,
            "data_reduction": {
                "compression": compression, "deduplication": deduplication, "packing_bytes": packing_bytes,
                "index_bytes_per_unit": index_bytes
            },
            "parity": {"units_per_stripe": self.units_per_stripe},
            "stripe": {"devices": self.devices, "chunk_bytes": self.chunk_units * UNIT},
            "faults": {"factory_bad_blocks": 0.0, "wear_out": false, "endurance_spread": 0.0},
            "write_buffer": {"bytes": self.buffer_units * UNIT},
            "controller": {"command_us": 5.0}
        });
        serde_json::from_value(text).expect("the tiny drive is a drive")
    }
}

/// What each unit holds; zeroes where it holds nothing.
#[derive(Default)]
pub struct Model {
    units: HashMap<u64, [u8; UNIT as usize]>,
}

impl Model {
    pub fn unit(&self, unit: u64) -> &[u8; UNIT as usize] {
        self.units.get(&unit).unwrap_or(&[0; UNIT as usize])
    }

    pub fn read(&self, offset_bytes: u64, length_bytes: u64) -> Vec<u8> {
        let mut data = Vec::with_capacity(length_bytes as usize);
        for (unit, from, part) in parts(offset_bytes, length_bytes) {
            data.extend_from_slice(&self.unit(unit)[from..from + part.len()]);
        }
        data
    }

    pub fn write(&mut self, offset_bytes: u64, data: &[u8]) {
        for (unit, from, part) in parts(offset_bytes, data.len() as u64) {
            let held = self.units.entry(unit).or_insert([0; UNIT as usize]);
            held[from..from + part.len()].copy_from_slice(&data[part]);
        }
    }

    pub fn trim(&mut self, offset_bytes: u64, length_bytes: u64) {
        for unit in offset_bytes.div_ceil(UNIT)..(offset_bytes + length_bytes) / UNIT {
            self.units.remove(&unit);
        }
    }
}

/// The units of a range, each with where in it the range begins and what part of the range lies in it.
fn parts(offset_bytes: u64, length_bytes: u64) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let end = offset_bytes + length_bytes;
    (offset_bytes / UNIT..end.div_ceil(UNIT)).map(move |unit| {
        let (from, to) = (offset_bytes.max(unit * UNIT), end.min((unit + 1) * UNIT));
        (unit, (from - unit * UNIT) as usize, (from - offset_bytes) as usize..(to - offset_bytes) as usize)
    })
}

/// A range within the device: usually a unit or a few, sometimes not on the borders of units.
pub fn range(random: &mut Random, size_bytes: u64) -> (u64, u64) {
    let units = size_bytes / UNIT;
    // Half of all requests fall into an eighth of the drive, so that garbage collection meets hot and cold data.
    let units_near = if random.below(2) == 0 { units / 8 } else { units };
    let offset_bytes = random.below(units_near) * UNIT;
    let units_max = if random.below(8) == 0 { 40 } else { 3 };
    let length_bytes = (1 + random.below(units_max)) * UNIT;
    let length_bytes = length_bytes.min(size_bytes - offset_bytes);
    if random.below(6) > 0 {
        return (offset_bytes, length_bytes);
    }
    let skipped = random.below(UNIT);
    (offset_bytes + skipped, 1 + random.below((length_bytes - skipped).max(1)))
}

/// Units that repeat themselves often, such as can be compressed more or less, and such as cannot.
pub fn reducible_contents(random: &mut Random, length_bytes: u64) -> Vec<u8> {
    let mut data = Vec::with_capacity(length_bytes as usize + UNIT as usize);
    while (data.len() as u64) < length_bytes {
        let mut unit = match random.below(3) {
            0 => contents(&mut Random::new(random.below(12)), UNIT),
            _ => contents(random, UNIT),
        };
        if random.below(3) > 0 {
            let random_bytes = random.below(UNIT) as usize;
            unit[random_bytes..].fill(0);
        }
        data.append(&mut unit);
    }
    data.truncate(length_bytes as usize);
    data
}

/// Bytes that no other write has.
pub fn contents(random: &mut Random, length_bytes: u64) -> Vec<u8> {
    let mut data = Vec::with_capacity(length_bytes as usize + 8);
    while (data.len() as u64) < length_bytes {
        data.extend_from_slice(&random.bits().to_le_bytes());
    }
    data.truncate(length_bytes as usize);
    data
}
