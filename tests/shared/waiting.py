"""Helpers to wait for a condition, never for a fixed time.

The limit only ends a test that would wait forever. It is far above the time that a slow, busy machine needs, so that no
test fails for being late.
"""

import time
from collections.abc import Callable
from typing import TypeVar

SECONDS_MAX = 300.0

T = TypeVar("T")


def wait_for(what: str, holds: Callable[[], T | None], every_seconds: float = 0.02) -> T:
    """Returns the value of `holds` as soon as it is true. `what` is part of the error if it never is."""
    until = time.monotonic() + SECONDS_MAX
    while not (found := holds()):
        assert time.monotonic() < until, f"not within {SECONDS_MAX:g} s: {what}"
        time.sleep(every_seconds)
    return found
