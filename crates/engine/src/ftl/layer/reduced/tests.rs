//! The accounts by hand: sizes, when the index is due, what is refused.

use super::*;
use crate::specification::drive::Drive;

fn settings(compression: bool, deduplication: bool) -> DataReduction {
    DataReduction { compression, deduplication, packing_bytes: 512, index_bytes_per_unit: 0 }
}

fn reduction(settings: DataReduction) -> Reduced {
    let drive: Drive = serde_json::from_value(drive_json(&settings)).unwrap();
    Reduced::of(&drive, 64, 1, 1).unwrap()
}

fn drive_json(settings: &DataReduction) -> serde_json::Value {
    serde_json::json!({
        "name": "test",
        "nand": {
            "cell": "mlc", "channels": 1, "dies_per_channel": 1, "planes_per_die": 1, "blocks_per_plane": 8,
            "pages_per_block": 16, "page_bytes": 4096, "read_us": 50.0, "program_us": 900.0, "erase_us": 3000.0,
            "channel_mb_s": 40.0, "endurance_cycles": 5000
        },
        "ftl": {
            "user_bytes": 262_144, "mapping_unit_bytes": 4096, "erase_unit": "block", "victim": { "name": "greedy" },
            "placement": { "name": "single" }, "wear_leveling": { "name": "none" }, "reserve_erase_units": 2,
            "reserved_bytes": 0, "spare_area": "dynamic"
        },
        "parity": { "units_per_stripe": 0 },
        "faults": { "factory_bad_blocks": 0.0, "wear_out": false, "endurance_spread": 0.0 },
        "write_buffer": { "bytes": 0 },
        "controller": { "command_us": 5.0 },
        "data_reduction": settings
    })
}

/// 4096 bytes, of which compression takes so many percent away, in places of 512 bytes, counted by hand.
#[test]
fn compressed_units_take_whole_slots() {
    let reduction = reduction(settings(true, false));
    for (compress_percent, slots) in [(0, 8), (12, 8), (13, 7), (33, 6), (50, 4), (51, 4), (75, 2), (99, 1), (100, 1)] {
        let content = Content { compress_percent, ..Content::default() };
        assert_eq!(reduction.slots_for(content), slots, "{compress_percent} %");
    }
}

#[test]
fn without_compression_every_unit_is_stored_whole() {
    let reduction = reduction(settings(false, true));
    assert_eq!(reduction.slots_for(Content { compress_percent: 90, ..Content::default() }), 8);
}

#[test]
fn an_index_unit_is_due_when_its_entries_fill_one() {
    let mut reduction = reduction(DataReduction { index_bytes_per_unit: 16, ..settings(true, false) });
    // 256 entries of 16 bytes are 4096 bytes.
    assert!((0..255).all(|_| !reduction.index_is_due(StreamId(0))));
    assert!(reduction.index_is_due(StreamId(0)));
}

#[test]
fn values_that_do_not_fit_are_refused_by_key() {
    let wrong = [
        (DataReduction { packing_bytes: 500, ..settings(true, false) }, "data_reduction.packing_bytes"),
        (DataReduction { packing_bytes: 8192, ..settings(true, false) }, "data_reduction.packing_bytes"),
        (DataReduction { packing_bytes: 16, ..settings(true, false) }, "data_reduction.packing_bytes"),
        (DataReduction { index_bytes_per_unit: 129, ..settings(true, false) }, "data_reduction.index_bytes_per_unit"),
    ];
    for (settings, key) in wrong {
        let drive: Drive = serde_json::from_value(drive_json(&settings)).unwrap();
        assert_eq!(check(&drive).unwrap_err().key, key);
    }
    let mut drive: Drive = serde_json::from_value(drive_json(&settings(true, false))).unwrap();
    drive.ftl.reserve_erase_units = 1;
    assert_eq!(check(&drive).unwrap_err().key, "ftl.reserve_erase_units");
}
