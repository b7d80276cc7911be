"""Fixtures for results: a toy in place of the native module, and specifications to run on it."""

import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

import ssdlab
from ssdlab.simulator.results import Result
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads import jobs, specifying

Run = Callable[..., Result]

_PLACE = importlib.util.spec_from_file_location("toy_engine", Path(__file__).with_name("toy_engine.py"))


@pytest.fixture
def toy_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    assert _PLACE is not None and _PLACE.loader is not None
    toy = importlib.util.module_from_spec(_PLACE)
    _PLACE.loader.exec_module(toy)
    monkeypatch.setitem(sys.modules, "ssdlab._engine", toy)
    monkeypatch.setattr(ssdlab, "_engine", toy, raising=False)
    yield toy


@pytest.fixture
def run(toy_engine: ModuleType) -> Run:
    """Runs the text of a job file with the toy, on the catalogue's `tiny` (40 units of 4 KiB for the host)."""

    def call(job: str, **choices: object) -> Result:
        specification = specifying.specify(jobs.parse(job), ssdlab.drive("tiny"), **choices)  # type: ignore[arg-type]
        return simulated.run(specification)

    return call


def plain(result: Result) -> dict[str, object]:
    """The result as a reader of its JSON receives it."""
    value: dict[str, object] = json.loads(result.to_json())
    return value
