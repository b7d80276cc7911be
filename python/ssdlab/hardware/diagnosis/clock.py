"""The clock by which a drive is timed: the wall clock, or that of a simulated drive behind a loop device.

A served drive answers as fast as this machine can; its simulated time is in the statistics file next to it.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path

Clock = Callable[[], float]
"""Seconds since an arbitrary moment."""


def of(backing_file: Path | None) -> tuple[Clock, bool]:
    """The clock, and whether it is a simulated drive's. Only a loop device has a backing file."""
    if backing_file is None:
        return time.monotonic, False
    statistics = backing_file.parent / "stats.json"
    try:
        _simulated_seconds(statistics)
    except (OSError, ValueError, KeyError, TypeError):
        return time.monotonic, False
    return lambda: _simulated_seconds(statistics), True


def _simulated_seconds(statistics: Path) -> float:
    whole = json.loads(statistics.read_text(encoding="utf-8"))["ssdlab"]
    if whole["device"]["real_pace"]:
        raise ValueError("the wall clock is its own")
    return float(whole["simulated_seconds"])
