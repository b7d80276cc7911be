"""Do many runs give the results of single ones, and end cleanly? With the real engine and real processes."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from processes import children_of
from ssdlab.errors import InputError, RunFailed
from ssdlab.simulator.runs import run_many
from ssdlab.simulator.specification import Specification
from ssdlab.simulator.workloads import jobs, specifying

SHORT = "[short]\nrw=randwrite\nbs=4k\nnorandommap\nloops=50\n"
ENDLESS = "[endless]\nrw=randwrite\nbs=4k\nloops=1000000000\n"


@pytest.fixture
def started() -> Callable[[], list[int]]:
    """The living processes that the test has started. Other children, for example the browser of other tests, are left
    out."""
    before = set(children_of(os.getpid()))
    return lambda: [child for child in children_of(os.getpid()) if child not in before]


def specification(job: str = SHORT, seed: int = 1) -> Specification:
    return specifying.specify(jobs.parse(job), ssdlab.drive("tiny"), seed=seed)


def broken() -> Specification:
    sound = specification()
    engine: Any = {**sound.engine, "until": {"kind": "never"}}
    return Specification(engine, sound.reporting)


def test_workers_change_nothing_but_the_order(started: Callable[[], list[int]]) -> None:
    specifications = [specification(seed=seed) for seed in range(5)]
    alone = {index: result.to_json() for index, result in run_many(specifications, workers=1)}
    told: set[int] = set()
    many = {}
    for index, result in run_many(specifications, workers=2, on_progress=lambda index, *_: told.add(index)):
        many[index] = result.to_json()
        assert result.timing is not None
    assert many == alone
    assert len(set(many.values())) == 5, "each seed has its own result"
    assert started() == []


@pytest.mark.parametrize("workers", [1, 2])
def test_wrong_input_of_one_ends_all(workers: int, started: Callable[[], list[int]]) -> None:
    with pytest.raises(InputError):
        list(run_many([specification(), broken(), specification(ENDLESS)], workers=workers))
    assert started() == []


def test_leaving_early_ends_the_workers(started: Callable[[], list[int]]) -> None:
    with closing(run_many([specification(), specification(ENDLESS)], workers=2)) as runs:
        assert next(runs)[0] == 0
        assert len(started()) == 2
    assert started() == []


def test_a_worker_that_is_killed_is_said(started: Callable[[], list[int]]) -> None:
    def kill(index: int, *_: object) -> None:
        for child in started():
            os.kill(child, signal.SIGKILL)

    with pytest.raises(RunFailed, match=r"SIGKILL.*out of memory"):
        list(run_many([specification(ENDLESS), specification(ENDLESS)], workers=2, on_progress=kill))


def test_nothing_to_run() -> None:
    assert list(run_many([])) == []


SCRIPT = """
import ssdlab
from ssdlab.simulator import workloads
print("begun")
runs = [ssdlab.specify(workloads.load("short.fio"), ssdlab.drive("tiny"), seed=seed) for seed in (1, 2)]
print(sorted(index for index, _ in ssdlab.run_many(runs, workers=2)))
"""


@pytest.mark.parametrize("by", ["file", "standard input"])
def test_a_script_without_a_guard_runs_once(by: str, tmp_path: Path) -> None:
    """A regression: workers were spawned processes, which import the caller's script first. Without `if __name__ ==
    "__main__"` each of them started the same runs, and the script ended with a traceback per worker and "a worker
    process ended with code 1"."""
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "short.fio").write_text(SHORT)
    # A worker must not import a module of the working folder in place of Python's own.
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong json')")
    command = [sys.executable, "-P", *(["script.py"] if by == "file" else ["-"])]
    ended = subprocess.run(command, input=SCRIPT, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert ended.stderr == ""
    assert ended.stdout == "begun\n[0, 1]\n"
