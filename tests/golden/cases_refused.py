"""Specifications that the engine rejects: one invalid value of the small drive, of a job or of a run; and the named
key."""

from collections.abc import Iterator

from case import Case, Run
from parts import KIB, UNIT, USER_BYTES, Json, changed, drive, job, per_direction, specification

_DRIVES: dict[str, list[Json]] = {
    "nand.channels": [0, 1 << 31],
    "nand.blocks_per_plane": [0, 1, 1 << 31],
    "nand.pages_per_block": [0, 1],
    "nand.pages_per_program": [0, 5],
    "nand.page_bytes": [4000],
    "nand.read_us": [-1.0],
    "nand.channel_mb_s": [0.0],
    "ftl.user_bytes": [0, 1000, 1 << 60],
    "ftl.mapping_unit_bytes": [100, 1 << 20],
    "ftl.reserve_erase_units": [0],
    "ftl.reserved_bytes": [1 << 40],
    "ftl.victim": [{"name": "none"}, {"name": "d-choices", "d": 0}, {"name": "windowed-greedy", "window": 2.0}],
    "ftl.placement": [
        {"name": "none"},
        {"name": "host-streams", "identifiers": 0},
        {"name": "class-spare", "borders": [0.5, 0.2]},
        {"name": "frequency-frontiers", "frontiers": 1},
        {"name": "single", "frontiers": 1},
    ],
    "ftl.wear_leveling": [{"name": "all"}, {"name": "static", "threshold": 0}],
    "ftl.gc_throttling": [{"name": "slow"}, {"name": "proportional", "catch_up": -1.0}],
    "ftl.die_choice": [{"name": "none"}, {"name": "random"}],
    "parity.units_per_stripe": [1, 10_000],
    "host_link.interface": ["usb"],
    "host_link.mb_s": [0.0],
    "host_link.command_us": [-1.0, 1.0],
    "background.idle_after_ms": [-1.0],
    "background.erased_pool_bytes": [1 << 40],
    "background.wear_leveling": [True],
    "background.retention_days": [-1.0],
    "map_cache.bytes": [100],
    "read_ahead.window_bytes": [64 * KIB],
    "stripe.devices": [0, 100_000],
    "zones": [{"open_max": 5}, {"random_write_area_bytes": 64 * KIB}],
    "faults.factory_bad_blocks": [1.5],
    "faults.endurance_spread": [-1.0],
    "controller.commands_per_second_max": [10**15],
    "controller.trim_us": [-1.0],
    "controller.trim_us_per_mib": [-1.0],
}
_DRIVES_OF_TWO: dict[str, dict[str, Json]] = {
    "map-entries": {"map_cache.bytes": 8 * KIB, "map_cache.entries_per_map_page": 0},
    "map-extents": {
        "map_cache.bytes": 1 << 20,
        "map_cache.entries_per_map_page": 1 << 17,
        "map_cache.form": "extent",
        "map_cache.entry_bytes": 1,
    },
    "map-miss": {"map_cache.bytes": 8 * KIB, "map_cache.miss_us": -1.0},
    "read-ahead": {"read_ahead.window_bytes": 64 * KIB, "read_ahead.segment_bytes": 1 << 20},
    "reduction-packing": {"data_reduction.compression": True, "data_reduction.packing_bytes": 100},
    "reduction-index": {"data_reduction.compression": True, "data_reduction.index_bytes_per_unit": 500},
    "reduction-reserve": {"data_reduction.compression": True, "ftl.reserve_erase_units": 1},
    "slc-cell": {"slc_cache.static_bytes": UNIT, "nand.cell": "slc"},
    "slc-share": {"slc_cache.static_bytes": UNIT, "slc_cache.dynamic_free_share": 2.0},
    "slc-pages": {"slc_cache.static_bytes": UNIT, "nand.pages_per_block": 2},
    "slc-static": {"slc_cache.static_bytes": 1 << 40},
    "stripe-chunk": {"stripe.devices": 2, "stripe.chunk_bytes": 100},
    "stripe-user": {"stripe.devices": 2, "ftl.user_bytes": 100 << 20},
    "link-duplex": {"host_link.duplex": "half"},
}
_NONE = per_direction(None)
_LIMITS = {
    "bytes_per_second_min": _NONE,
    "iops_min": _NONE,
    "window_ns": 0,
    "latency_ns_max": _NONE,
    "ends_others": "none",
}
_STEADY = {"criterion": "snia-pts-bw", "limit": 10.0, "is_percent": True, "duration_seconds": 7, "ramp_ns": 0}
_TARGET = {"latency_ns": 0, "window_ns": 1, "percent": 90.0, "goes_on": False}
_JOBS: dict[str, list[Json]] = {
    "start_delay_ns": [1 << 63],
    "think_time_blocks": [0],
    "log": [{"average_ns": 0, "histogram_ns": None}],
    "steady_state": [_STEADY, _STEADY | {"criterion": "bw", "limit": 0.0}],
    "limits": [_LIMITS],
    "latency_target": [_TARGET],
    "rate_iops": [per_direction(0)],
    "wait_for": ["nobody"],
    "dedupe_percent": [101.0],
    "stream_id": [9],
    "identifiers": [{"choose": "random", "among": [9]}],
    "iodepth": [0],
    "loops": [0],
    "size_bytes": [0, USER_BYTES + UNIT],
    "read_percent": [101.0],
    "block_sizes": [
        per_direction([]),
        per_direction([{"bytes": 0, "percent": 100.0}]),
        per_direction([{"bytes": UNIT, "percent": 50.0}]),
    ],
    "block_align_bytes": [per_direction(0)],
    "distribution": [
        {"name": "zipf", "theta": 0.0, "center": None},
        {"name": "pareto", "h": 2.0, "center": None},
        {"name": "normal", "deviation_percent": 0.0, "center": None},
        {"name": "zipf", "theta": 1.0, "center": 3.0},
        {"name": "zoned", "zones": []},
        {"name": "zoned", "zones": [{"access_percent": 50.0, "span_percent": 100.0}]},
        {"name": "zoned-absolute", "zones": per_direction([{"access_percent": 100.0, "span_bytes": 0}])},
    ],
    "runs": [{"ios": 0, "then": "identical"}],
    "random_percent": [per_direction(101.0)],
    "zones": [{"transfer_bytes": 0, "range_bytes": UNIT, "skip_bytes": 0}],
    "files": [
        {"ranges": [], "service": {"kind": "sequential"}},
        {"ranges": [{"offset_bytes": 0, "size_bytes": 1 << 40}], "service": {"kind": "sequential"}},
        {"ranges": [{"offset_bytes": 0, "size_bytes": UNIT}], "service": {"kind": "weighted", "weights": []}},
        {"ranges": [{"offset_bytes": 0, "size_bytes": UNIT}], "service": {"kind": "round-robin", "ios": 0}},
    ],
}


def refused() -> Iterator[tuple[str, Case]]:
    for key, values in _DRIVES.items():
        for index, value in enumerate(values):
            on = drive({key: value})
            for timed in (True, False):
                clock = "timed" if timed else "untimed"
                run = specification([job(number_ios=100)], on, timed=timed)
                yield f"{clock}/{key}-{index}", Run(run)
    for name, changes in _DRIVES_OF_TWO.items():
        yield f"timed/{name}", Run(specification([job(number_ios=100)], drive(changes)))
    heeds = drive({"ftl.placement": {"name": "host-streams", "identifiers": 3}})
    for key, values in _JOBS.items():
        for index, value in enumerate(values):
            one = changed(job(number_ios=100), {key: value})
            yield f"job/{key}-{index}", Run(specification([one], heeds))
    yield "run/no-jobs", Run(specification([]))
    yield "run/stages", Run(specification([job(stage=2), job(stage=1)]))
