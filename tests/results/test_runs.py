"""Do many runs give what single ones give, and end tidily? On the real engine and in real processes."""

import multiprocessing
import os
import signal
from contextlib import closing

import pytest

import ssdlab
from ssdlab import jobs
from ssdlab.errors import InputError, RunFailed
from ssdlab.runs import run_many
from ssdlab.targets import simulated
from ssdlab.targets.specification import Specification

SHORT = "[short]\nrw=randwrite\nbs=4k\nnorandommap\nloops=50\n"
ENDLESS = "[endless]\nrw=randwrite\nbs=4k\nloops=1000000000\n"


def specification(job: str = SHORT, seed: int = 1) -> Specification:
    return simulated.specify(jobs.parse(job), ssdlab.drive("tiny"), seed=seed)


def broken() -> Specification:
    sound = specification()
    return Specification({**sound.engine, "until": {"kind": "never"}}, sound.reporting)


def test_workers_change_nothing_but_the_order() -> None:
    specifications = [specification(seed=seed) for seed in range(5)]
    alone = {index: result.to_json() for index, result in run_many(specifications, workers=1)}
    told: set[int] = set()
    many = {}
    for index, result in run_many(specifications, workers=2, on_progress=lambda index, *_: told.add(index)):
        many[index] = result.to_json()
        assert result.timing is not None
    assert many == alone
    assert len(set(many.values())) == 5, "each seed has its own result"
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("workers", [1, 2])
def test_wrong_input_of_one_ends_all(workers: int) -> None:
    with pytest.raises(InputError):
        list(run_many([specification(), broken(), specification(ENDLESS)], workers=workers))
    assert multiprocessing.active_children() == []


def test_leaving_early_ends_the_workers() -> None:
    with closing(run_many([specification(), specification(ENDLESS)], workers=2)) as runs:
        assert next(runs)[0] == 0
        assert len(multiprocessing.active_children()) == 2
    assert multiprocessing.active_children() == []


def test_a_worker_that_is_killed_is_said() -> None:
    def kill(index: int, *_: object) -> None:
        for child in multiprocessing.active_children():
            if child.pid is not None:
                os.kill(child.pid, signal.SIGKILL)

    with pytest.raises(RunFailed, match=r"SIGKILL.*out of memory"):
        list(run_many([specification(ENDLESS), specification(ENDLESS)], workers=2, on_progress=kill))


def test_nothing_to_run() -> None:
    assert list(run_many([])) == []
