"""Theory's write amplification for the current workload, shown as a line next to the measured one."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from ssdlab.theory.expectation import NO_DATA, expected

_SOLVER = "scipy.optimize"
_LOAD_AFTER_SECONDS = 2.0
LOADING = "loading the formulas"


@dataclass(frozen=True)
class Line:
    """The position of theory's line. Without a value, `reason` says why."""

    value: float | None
    formula: str | None
    reason: str | None = None


class Theory:
    """The closed forms of one drive, cached for each effective OP to three digits, because they take milliseconds."""

    def __init__(self, drive_specification: Mapping[str, Any]) -> None:
        self._drive = drive_specification
        self._jobs: Sequence[Mapping[str, Any]] = ()
        self._known: dict[str, Line] = {}

    def set_jobs(self, jobs: Sequence[Mapping[str, Any]]) -> None:
        """Sets the current jobs. Space that they do not write counts as trimmed or never written."""
        self._jobs = list(jobs)
        self._known = {}

    def line(self, effective_over_provisioning: float | None) -> Line:
        """The write amplification that theory predicts for the steady state of the current jobs."""
        if not _loading().is_set():
            return Line(None, None, LOADING)
        if effective_over_provisioning is None:
            return Line(None, None, NO_DATA)
        key = f"{effective_over_provisioning:.3g}"
        known = self._known
        if key not in known:
            known[key] = self._solved(float(key))
        return known[key]

    def _solved(self, effective_over_provisioning: float) -> Line:
        try:
            expectation = expected(self._jobs, self._drive, effective_over_provisioning)
        except (ArithmeticError, ValueError) as error:
            return Line(None, None, str(error))
        return Line(expectation.value, expectation.formula, expectation.reason)


@cache
def _loading() -> threading.Event:
    """The event that is set when the formulas are loaded.

    They use SciPy, whose import takes half a second and is delayed until after the first picture is shown: even in
    another thread it would slow that down, because only one thread executes Python code at a time.
    """
    is_loaded = threading.Event()

    def load() -> None:
        import_module(_SOLVER)
        is_loaded.set()

    later = threading.Timer(_LOAD_AFTER_SECONDS, load)
    later.name, later.daemon = "loading theory", True
    later.start()
    return is_loaded
