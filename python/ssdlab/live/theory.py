"""Theory's write amplification for what runs on the page now: a line next to the measured one, where there is one."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

_MODULE = "ssdlab.theory.expectation"
_LOAD_AFTER_SECONDS = 2.0
LOADING = "loading the formulas"


@dataclass(frozen=True)
class Line:
    """Where theory's line is. Without a value, `reason` says why there is none."""

    value: float | None
    formula: str | None
    reason: str | None = None


class Theory:
    """Closed forms of one drive, kept for each effective over-provisioning to three digits: they take milliseconds."""

    def __init__(self, drive_specification: Mapping[str, Any]) -> None:
        self._drive = drive_specification
        self._jobs: Sequence[Mapping[str, Any]] = ()
        self._known: dict[str, Line] = {}

    def set_jobs(self, jobs: Sequence[Mapping[str, Any]]) -> None:
        """What is running. All that it does not write is taken to be trimmed or never written."""
        self._jobs = list(jobs)
        self._known = {}

    def line(self, effective_over_provisioning: float | None) -> Line:
        """What theory expects once this has gone on for long."""
        if not _loading().is_set():
            return Line(None, None, LOADING)
        if effective_over_provisioning is None:
            return Line(None, None, "no spare area is left for garbage collection")
        key = f"{effective_over_provisioning:.3g}"
        known = self._known
        if key not in known:
            known[key] = self._solved(float(key))
        return known[key]

    def _solved(self, effective_over_provisioning: float) -> Line:
        from ssdlab.theory.expectation import expected

        try:
            expectation = expected(self._jobs, self._drive, effective_over_provisioning)
        except (ArithmeticError, ValueError) as error:
            return Line(None, None, str(error))
        return Line(expectation.value, expectation.formula, expectation.reason)


@cache
def _loading() -> threading.Event:
    """Set once the formulas are there.

    They bring SciPy along, half a second of work that is put off until the first picture is there: even in parallel it
    would slow it down, as one thread of Python runs at a time.
    """
    is_loaded = threading.Event()

    def load() -> None:
        import_module(_MODULE)
        is_loaded.set()

    later = threading.Timer(_LOAD_AFTER_SECONDS, load)
    later.name, later.daemon = "loading theory", True
    later.start()
    return is_loaded
