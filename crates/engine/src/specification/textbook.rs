//! The drive that textbooks write about, as the start of a description: examples, tests and benchmarks change what they
//! are about. No run falls back on it.

use super::drive::*;

impl Drive {
    /// One die of 64 blocks of 16 pages of one mapping unit each, a quarter of it spare; blocks are erase units, host and
    /// cleaning share one that is open, and one more is kept free. Nothing else is there.
    pub fn textbook() -> Self {
        Self {
            name: "textbook".into(),
            nand: Nand {
                cell: Cell::Tlc,
                channels: 1,
                dies_per_channel: 1,
                planes_per_die: 1,
                blocks_per_plane: 64,
                pages_per_block: 16,
                page_bytes: 4096,
                read_us: 60.0,
                program_us: 700.0,
                erase_us: 5000.0,
                channel_mb_s: 800.0,
                endurance_cycles: 3000,
                pages_per_program: 1,
                suspend: false,
                program_suspend_us: 0.0,
                erase_suspend_us: 0.0,
                resume_us: 0.0,
                suspends_per_operation_max: 0,
                cache_program: false,
                cache_read: false,
            },
            ftl: Ftl {
                user_bytes: 768 * 4096,
                mapping_unit_bytes: 4096,
                erase_unit: EraseUnitKind::Block,
                victim: PolicyChoice::named("greedy"),
                placement: PolicyChoice::named("single"),
                wear_leveling: PolicyChoice::named("none"),
                reserve_erase_units: 1,
                spare_area: SpareArea::Dynamic,
                reserved_bytes: 0,
                pacing: even_pacing(),
                die_choice: dies_in_turn(),
            },
            parity: Parity { units_per_stripe: 0 },
            faults: Faults { factory_bad_blocks: 0.0, wear_out: false, endurance_spread: 0.0 },
            write_buffer: WriteBuffer::default(),
            controller: Controller::default(),
            host_link: Default::default(),
            housekeeping: Default::default(),
            map_cache: Default::default(),
            read_ahead: Default::default(),
            data_reduction: Default::default(),
            slc_cache: Default::default(),
            stripe: Default::default(),
        }
    }
}
