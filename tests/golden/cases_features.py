"""Each feature of a drive alone and combined with each other one, with and without a clock, and from a saved state."""

from collections.abc import Iterator
from itertools import combinations

from case import Case, Live, Resumed, Run
from parts import KIB, UNIT, USER_BYTES, Changes, Json, drive, fill, job, per_direction, specification

# Bytes of an erase unit of the small drive, a superblock, and of one in SLC mode: a third of it.
_ERASE_UNIT = 384 * UNIT
_SLC_UNIT = 128 * UNIT

FEATURES: dict[str, Changes] = {
    "stripe": {"stripe.devices": 2, "stripe.chunk_bytes": 32 * KIB, "ftl.user_bytes": 2 * USER_BYTES},
    "slc-static": {"slc_cache.static_bytes": _SLC_UNIT, "slc_cache.when_full": "fold"},
    "slc-dynamic": {"slc_cache.dynamic_bytes_max": 3 * _SLC_UNIT, "slc_cache.dynamic_free_share": 0.5},
    "map-cache": {"map_cache.bytes": 8 * KIB, "map_cache.entries_per_map_page": 128, "map_cache.miss_us": 2.0},
    "map-extents": {
        "map_cache.bytes": 4 * KIB,
        "map_cache.entries_per_map_page": 64,
        "map_cache.eviction": "clock",
        "map_cache.form": "extent",
    },
    "reduction": {
        "data_reduction.compression": True,
        "data_reduction.deduplication": True,
        "data_reduction.index_bytes_per_unit": 16,
    },
    "read-retries": {
        "read_retries": {
            "retry_us": [80.0, 160.0, 900.0],
            "severities": [1.0, 1.6, 2.5],
            "reads": 40.0,
            "days": 1e-5,
            "cycles": 8.0,
            "cycles_before": 2,
        },
    },
    "parity": {"parity.units_per_stripe": 16},
    "background": {
        "background.idle_after_ms": 1.0,
        "background.erased_pool_bytes": 2 * _ERASE_UNIT,
        "background.defragment": True,
        "background.wear_leveling": True,
        "background.read_disturb_reads": 200,
        "background.retention_days": 1e-5,
        "ftl.wear_leveling": {"name": "static", "threshold": 2},
    },
    "bad-blocks": {"faults.factory_bad_blocks": 0.01},
    "wear-out": {"faults.wear_out": True, "faults.endurance_spread": 0.3, "nand.endurance_cycles": 3},
    "suspend": {
        "nand.suspend": True,
        "nand.program_suspend_us": 10.0,
        "nand.erase_suspend_us": 20.0,
        "nand.resume_us": 5.0,
        "nand.suspends_per_operation_max": 3,
    },
    "suspend-repeats": {
        "nand.suspend": True,
        "nand.program_suspend_us": 10.0,
        "nand.suspend_repeats_us": 100.0,
        "nand.suspends_per_operation_max": 5,
    },
    "own-turns": {
        "nand.suspend": True,
        "nand.suspend_spread_us": 30.0,
        "nand.copy_pages_together": 6,
        "nand.background_us": 2000.0,
        "nand.background_per_second": 20.0,
        "ftl.gc_throttling": {"name": "in-batches", "units": 24},
    },
    "erases-by-plane": {"nand.erase_by_plane": True, "nand.erases_at_once": 3, "nand.suspend": True},
    "throttle": {
        "write_buffer.gc_admission_share": 0.8,
        "ftl.gc_throttling": {"name": "in-batches", "units": 240},
    },
    "pacing": {
        "write_buffer.paced": True,
        "controller.delayed_share": 0.1,
        "controller.delay_us": 3.0,
    },
    "slots-in-turn": {"controller.command_slots": 6, "controller.slots_in_turn": True},
    "batches-in-pieces": {
        "ftl.gc_throttling": {"name": "in-batches", "units": 240, "units_at_a_time": 12},
    },
    "closing-buffer": {
        "write_buffer.close_bytes": 512 * KIB,
        "write_buffer.resume_bytes": 256 * KIB,
        "write_buffer.closed_per_second": 5000,
        "write_buffer.programs_first": True,
        "controller.program_us": 20.0,
    },
    "one-shot": {"nand.pages_per_program": 3},
    "wear-static": {"ftl.wear_leveling": {"name": "static", "threshold": 1}},
    "blocks": {"ftl.erase_unit": "block"},
    "static-spare": {"ftl.spare_area": "static"},
    "at-once": {"ftl.gc_throttling": {"name": "at-once"}},
    "host-link": {"host_link.interface": "sata-3g", "host_link.command_us": 1.5},
    "read-ahead": {"read_ahead.window_bytes": 512 * KIB, "read_ahead.segment_bytes": 64 * KIB},
    "command-limit": {"controller.commands_per_second_max": 20_000},
    "power-limit": {
        "power": {
            "idle_watts": 1.0,
            "read_uj": 15.0,
            "program_uj": 60.0,
            "erase_uj": 500.0,
            "transfer_nj_per_byte": 0.3,
            "command_uj": 2.0,
            "limit_watts": 1.4,
        },
    },
    "trim-time": {"controller.trim_us": 40.0, "controller.trim_us_per_mib": 300.0},
    "volatile-buffer": {"write_buffer.power_loss_protection": False},
    "no-buffer": {"write_buffer.bytes": 0},
    "host-streams": {"ftl.placement": {"name": "host-streams", "identifiers": 3, "persistently_isolated": False}},
    "reclaim-groups": {
        "ftl.placement": {"name": "host-streams", "identifiers": 3, "reclaim_groups": 2},
        "nand.blocks_per_plane": 28,
    },
    "reserved": {"ftl.reserved_bytes": _ERASE_UNIT},
    "own-channels": {"nand.channels": 4, "nand.dies_per_channel": 1},
}


def workload(share: float) -> list[dict[str, Json]]:
    """A workload for every feature: fills and overwrites the drive until it collects garbage, then skewed writes, reads
    and trims in parallel, with flushes and pauses, and sequential reads.

    `share` is the amount of each job in the middle stage, as a share of the small drive.
    """
    mixed = {"stage": 2, "share": share, "compress_percent": 60.0, "dedupe_percent": 30.0}
    return [
        fill(compress_percent=40.0),
        job(name="scattered", stage=1, share=0.5, block_bytes=4 * UNIT, compress_percent=50.0, dedupe_percent=10.0),
        job(
            **mixed
            | {
                "name": "skewed",
                "distribution": {"name": "zipf", "theta": 1.1, "center": None},
                "block_sizes": per_direction([{"bytes": UNIT, "percent": 70.0}, {"bytes": 4 * UNIT, "percent": 30.0}]),
                "block_align_bytes": per_direction(UNIT),
                "flush_every_writes": 64,
                "stream_id": 1,
            }
        ),
        job(
            **mixed
            | {
                "name": "mixed",
                "direction": "read-write",
                "read_percent": 60.0,
                "think_time_ns": 4_000_000,
                "think_time_blocks": 150,
                "stream_id": 2,
                "seed": 12,
            }
        ),
        job(name="trims", stage=2, direction="trim", share=share / 4, block_bytes=64 * KIB, seed=13, iodepth=1),
        job(name="reads", stage=3, direction="read", sequential=True, share=0.5, block_bytes=64 * KIB, iodepth=2),
    ]


def _alone(name: str, *, timed: bool, share: float) -> Json:
    return specification(workload(share), drive(FEATURES[name]), timed=timed)


def alone() -> Iterator[tuple[str, Case]]:
    for timed in (True, False):
        clock = "timed" if timed else "untimed"
        yield f"{clock}/none", Run(specification(workload(0.6), timed=timed))
        for name in FEATURES:
            yield f"{clock}/{name}", Run(_alone(name, timed=timed, share=0.6))


def in_pairs() -> Iterator[tuple[str, Case]]:
    for first, second in combinations(FEATURES, 2):
        both = drive({**FEATURES[first], **FEATURES[second]})
        for timed in (True, False):
            clock = "timed" if timed else "untimed"
            yield f"{clock}/{first}+{second}", Run(specification(workload(0.2), both, timed=timed))


def resumed() -> Iterator[tuple[str, Case]]:
    """The second run starts from the final state of the first."""
    for name in FEATURES:
        for timed in (True, False):
            clock = "timed" if timed else "untimed"
            first = _alone(name, timed=timed, share=0.4)
            second = specification([job(name="after", share=0.4, seed=21)], first["drive"], timed=timed)
            yield f"{clock}/{name}", Resumed(first, second)


def live() -> Iterator[tuple[str, Case]]:
    """Runs in steps with all queries, jobs that end early or are added later, and losses of power."""
    looks: list[list[Json]] = [
        ["figures"],
        ["marks"],
        *(["cells", by] for by in ("valid", "erase_count", "age", "stream", "temperature", "state")),
        ["erase_unit", 3],
        ["cut_power"],
    ]
    calls = [
        *looks,
        ["advance", 700, 1e6],
        *looks,
        ["advance", 1, 1e6],
        ["end_job"],
        ["advance", 900, 1e6],
        ["append_job", job(name="later", stage=9, share=0.2, seed=31)],
        ["advance", 800, 1e6],
        *looks,
        ["drop_jobs_to_come"],
        ["issued"],
        ["erase_unit", 100_000],
        ["cells", "colour"],
        ["append_job", job(name="again", stage=0)],
        ["advance", 10**9, 1e6],
        *looks,
        ["specification"],
        ["outcome"],
    ]
    for name in FEATURES:
        for timed in (True, False):
            clock = "timed" if timed else "untimed"
            yield f"{clock}/{name}", Live(_alone(name, timed=timed, share=0.2), calls)
