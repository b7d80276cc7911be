"""How tests wait for what happens beside them: for a condition, never for a time.

The limit only ends a test that would wait for ever. It is far above what a slow machine needs that is busy with other
tests, so that none fails for being late.
"""

import time
from collections.abc import Callable
from typing import TypeVar

SECONDS_MAX = 300.0

T = TypeVar("T")


def wait_for(what: str, holds: Callable[[], T | None], every_seconds: float = 0.02) -> T:
    """Returns what `holds` gives once it is true of anything; `what` is said when it never is."""
    until = time.monotonic() + SECONDS_MAX
    while not (found := holds()):
        assert time.monotonic() < until, f"not within {SECONDS_MAX:g} s: {what}"
        time.sleep(every_seconds)
    return found
