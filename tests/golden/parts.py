"""The building blocks of the corpus: a small drive, jobs, and changes of both by dotted keys.

They are complete and independent of the catalogue and of job files, so that changes there do not affect the corpus.
"""

import copy
from collections.abc import Callable
from typing import Any

Json = Any
Changes = dict[str, Json]

KIB, MIB = 1 << 10, 1 << 20
UNIT = 4 * KIB
USER_BYTES = 24 * MIB

# Two channels of two dies of two planes: 24 erase units of 384 mapping units as superblocks, 192 of 48 as blocks. Small
# enough that a run of some thousand requests collects garbage, large enough to keep every die busy.
_DRIVE: dict[str, Json] = {
    "name": "small",
    "nand": {
        "cell": "tlc",
        "channels": 2,
        "dies_per_channel": 2,
        "planes_per_die": 2,
        "blocks_per_plane": 24,
        "pages_per_block": 12,
        "page_bytes": 16384,
        "read_us": 60.0,
        "program_us": 700.0,
        "erase_us": 5000.0,
        "channel_mb_s": 400.0,
        "endurance_cycles": 3000,
        "pages_per_program": 1,
        "suspend": False,
        "program_suspend_us": 0.0,
        "erase_suspend_us": 0.0,
        "resume_us": 0.0,
        "suspends_per_operation_max": 0,
        # Removed keys, which are accepted at their default for one release.
        "cache_program": False,
        "cache_read": False,
    },
    "ftl": {
        "user_bytes": USER_BYTES,
        "mapping_unit_bytes": UNIT,
        "erase_unit": "superblock",
        "victim": {"name": "greedy"},
        "placement": {"name": "host-gc-split"},
        "wear_leveling": {"name": "none"},
        "reserve_erase_units": 2,
        "spare_area": "dynamic",
        "reserved_bytes": 0,
        "gc_throttling": {"name": "proportional"},
        "die_choice": {"name": "round-robin"},
    },
    "parity": {"units_per_stripe": 0},
    "faults": {"factory_bad_blocks": 0.0, "wear_out": False, "endurance_spread": 0.0},
    "write_buffer": {"bytes": MIB, "power_loss_protection": True},
    "controller": {"command_us": 5.0, "commands_per_second_max": 0},
    "host_link": {"interface": "none", "mb_s": None, "duplex": None, "command_us": 0.0},
    "background": {
        "idle_after_ms": 0.0,
        "erased_pool_bytes": 0,
        "defragment": False,
        "wear_leveling": False,
        "read_disturb_reads": 0,
        "retention_days": 0.0,
    },
    "map_cache": {
        "bytes": 0,
        "entries_per_map_page": 1024,
        "entry_bytes": 4,
        "eviction": "lru",
        "form": "page",
        "miss_us": 0.0,
    },
    "read_ahead": {"window_bytes": 0, "segment_bytes": 0},
    "data_reduction": {
        "compression": False,
        "deduplication": False,
        "packing_bytes": 512,
        "index_bytes_per_unit": 0,
    },
    "slc_cache": {
        "static_bytes": 0,
        "dynamic_bytes_max": 0,
        "dynamic_free_share": 0.0,
        "when_full": "direct",
        "read_us": 25.0,
        "program_us": 200.0,
        "erase_us": 3000.0,
    },
    "stripe": {"devices": 1, "chunk_bytes": 64 * KIB},
}


def drive(changes: Changes | None = None) -> dict[str, Json]:
    """The small drive with changed keys, for example `nand.suspend`."""
    return changed(_DRIVE, changes or {})


def changed(base: dict[str, Json], changes: Changes) -> dict[str, Json]:
    """A copy with dotted keys set. Raises KeyError for a table that does not exist."""
    result = copy.deepcopy(base)
    for key, value in changes.items():
        *tables, last = key.split(".")
        table = result
        for name in tables:
            table = table[name]
        table[last] = copy.deepcopy(value)
    return result


def job(**changes: Json) -> dict[str, Json]:
    """Random 4 KiB writes over the whole small drive, as much as its capacity, with changed job keys.

    `block_bytes` and `align_bytes` apply to all directions; `share` is the amount as a share of the drive.
    """
    block_bytes = changes.pop("block_bytes", UNIT)
    sizes = [{"bytes": block_bytes, "percent": 100.0}]
    align_bytes = changes.pop("align_bytes", block_bytes)
    io_bytes = int(USER_BYTES * changes.pop("share", 1.0))
    return {
        "name": "job",
        "clone": 0,
        "stage": 0,
        "direction": "write",
        "sequential": False,
        "read_percent": 50.0,
        "offset_bytes": 0,
        "size_bytes": USER_BYTES,
        "io_bytes": io_bytes,
        "number_ios": None,
        "loops": 1,
        "block_sizes": per_direction(sizes),
        "block_align_bytes": per_direction(align_bytes),
        "distribution": {"name": "random"},
        "random_map": False,
        "skip_bytes": None,
        "runs": None,
        "random_percent": None,
        "files": None,
        "seed": 11,
        "iodepth": 8,
    } | changes


def per_direction(value: Json) -> dict[str, Json]:
    return {"read": value, "write": value, "trim": value}


def fill(**changes: Json) -> dict[str, Json]:
    """Writes the whole drive once, in sequence."""
    return job(**{"name": "fill", "sequential": True, "block_bytes": 128 * KIB, "iodepth": 4} | changes)


def specification(
    jobs: list[dict[str, Json]], on: dict[str, Json] | None = None, *, timed: bool = True, **changes: Json
) -> dict[str, Json]:
    """A run of jobs on a drive, by default the small one."""
    return {
        "seed": 5,
        "drive": on or drive(),
        "timed": timed,
        "until": {"kind": "job"},
        "series_points_max": 32,
        "jobs": jobs,
    } | changes


def numbers(seed: int) -> Callable[[int], int]:
    """Returns a function that draws numbers below a bound; equal on every machine and with every version of Python."""
    state = seed

    def below(bound: int) -> int:
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) % bound

    return below
