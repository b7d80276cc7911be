"""A flash cache like CacheLib's: small objects in buckets of 4 KiB selected by a hash, large objects in a log.

The log is overwritten from beginning to end. Popular objects stay in memory above the cache, so that buckets are
rewritten uniformly at random. `ssdlab study flash-cache` compares the results with published figures.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from ssdlab.errors import InputError
from ssdlab.simulator.engine import plain
from ssdlab.simulator.workloads.stores import kvcache

KIND = "flash-cache"
LOG_BLOCK_BYTES = 256 * 1024
_DEPTH_MAX = 64
_SHARE_ERROR_MAX = 0.005


def small_share(source: str, values: Mapping[str, Any]) -> tuple[float, tuple[str, ...]]:
    """The share of small objects in the bytes written, from the options or a trace, and notes on the trace.

    Raises InputError if the trace writes nothing to the flash.
    """
    share: float = values["small-writes"]
    notes: tuple[str, ...] = ()
    if values["trace"] is not None:
        found = kvcache.written(Path(values["trace"]), values["ram"], values["threshold"])
        if found.small_share is None:
            reason = (
                f"{found.sets:,} sets, which all stay in ram={values['ram']:,} bytes; allowed is less memory"
                if found.sets
                else "it has no line with op=SET"
            )
            raise InputError(f"{source}: trace={values['trace']} writes nothing to the flash: {reason}")
        share = found.small_share
        notes = (
            f"{values['trace']}: {found.small_objects:,} small objects and {found.large_bytes:,} bytes of large ones "
            f"are written to the flash; small objects are {100 * share:.1f} % of the bytes written",
            *(
                [f"{values['trace']}: {found.others:,} lines with other operations are left out"]
                if found.others
                else []
            ),
        )
    return share, notes


def jobs(
    source: str,
    values: Mapping[str, Any],
    user_bytes: int,
    *,
    scale: Fraction,
    share: float,
    seed: int,
    base: Callable[[str, int, int, int, int], plain.Job],
) -> list[plain.Job]:
    """The engine's jobs: the stage that settles and the measured one.

    `base` makes a job from name, size, amount, seed and block. Raises InputError if a part of the cache is too small.
    """
    whole = values["data"].on(user_bytes, scale)
    small_bytes = int(whole * values["small"]) // LOG_BLOCK_BYTES * LOG_BLOCK_BYTES
    large_bytes = (whole - small_bytes) // LOG_BLOCK_BYTES * LOG_BLOCK_BYTES
    if whole > user_bytes or min(small_bytes, large_bytes) <= 0:
        raise InputError(
            f"{source}: small objects have {small_bytes:,} bytes and large ones {large_bytes:,} here; allowed are 256 "
            f"KiB or more of each, {user_bytes:,} together"
        )
    handles = values["handles"] == "kind"
    small_depth, large_depth = _depths(share)
    found = []
    for stage, (name, amount) in enumerate(
        (name, amount)
        for name, amount in (("settle", values["settle"]), (KIND, values["writes"]))
        if amount.on(user_bytes, scale)
    ):
        bytes_ = amount.on(user_bytes, scale)
        kinds = (
            ("large", small_bytes, large_bytes, 1 - share, large_depth, LOG_BLOCK_BYTES, 0),
            ("small", 0, small_bytes, share, small_depth, kvcache.BUCKET_BYTES, 1),
        )
        for kind, offset, size, part, depth, block, handle in kinds:
            if part:
                job = base(f"{name}-{kind}", size, max(block, int(bytes_ * part)), seed + handle, block)
                job["offset_bytes"], job["iodepth"], job["stage"] = offset, depth, stage
                job["sequential"] = kind == "large"
                if handles:
                    job["stream_id"] = handle
                found.append(job)
    return found


def _depths(share: float) -> tuple[int, int]:
    """The queue depths of small and large objects. Their shares of the turns follow the shares of the bytes.

    The depths are as small as possible: in long turns, small and large objects would fill separate erase units.
    """
    blocks = LOG_BLOCK_BYTES // kvcache.BUCKET_BYTES
    if share in (0, 1):
        return 1, 1

    def error(large: int) -> float:
        small = max(1, round(large * blocks * share / (1 - share)))
        return abs(small / (small + large * blocks) - share)

    depths = range(1, _DEPTH_MAX + 1)
    large = next((depth for depth in depths if error(depth) < _SHARE_ERROR_MAX), _DEPTH_MAX)
    return max(1, round(large * blocks * share / (1 - share))), large
