"""Ctrl-C: does it end a run, is it said, is nothing half-written, is no process left?"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from processes import cpu_seconds, has_loaded, of_group
from waiting import SECONDS_MAX, wait_for

pytestmark = pytest.mark.surroundings

ENDLESS = "[endless]\nrw=randwrite\nbs=4k\nloops=1000000\n"
COMPARISON = ["--until", "job", "--op", "20%,40%", "--workers", "2"]
# More than reading the job and the drive takes: a process that has computed for so long is in the midst of its run.
CPU_SECONDS_AT_WORK = 0.3


@contextmanager
def endless(folder: Path, command: str, *options: str, workers: int = 0) -> Iterator[subprocess.Popen[str]]:
    """A run that never ends, once its worker processes, or without any itself, are in the midst of it. All are ended
    afterwards."""
    (folder / "endless.fio").write_text(ENDLESS)
    process = subprocess.Popen(
        [sys.executable, "-m", "ssdlab", command, "endless.fio", "--drive", "small.toml", *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    began: dict[int, float] = {}

    def is_at_work() -> bool:
        assert process.poll() is None, process.communicate()
        for each in of_group(process.pid) if workers else [process.pid]:
            if each not in began and has_loaded(each, "_engine.abi3.so"):
                began[each] = cpu_seconds(each)
        computing = [each for each, first in began.items() if cpu_seconds(each) - first > CPU_SECONDS_AT_WORK]
        return len({*computing} - {process.pid}) >= workers if workers else bool(computing)

    try:
        wait_for("the run is at work", is_at_work)
        yield process
    finally:
        for left in of_group(process.pid):
            os.kill(left, signal.SIGKILL)
        process.communicate()


def wait_until_gone(group: int) -> None:
    """Python's own helper of `spawn` ends last, by itself."""
    wait_for("no process of the group is left", lambda: not of_group(group))


@pytest.mark.parametrize(("command", "options", "workers"), [("run", [], 0), ("compare", COMPARISON, 2)])
def test_ctrl_c(command: str, options: list[str], workers: int, ssdlab: Any, tmp_path: Path) -> None:
    before = {*tmp_path.rglob("*"), tmp_path / "endless.fio"}
    with endless(tmp_path, command, *options, workers=workers) as process:
        # As a terminal does: to every process of the group.
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS_MAX)
        assert process.returncode == 130
        assert err == "error: interrupted: nothing was written\n"
        assert out == ""
        wait_until_gone(process.pid)
        assert set(tmp_path.rglob("*")) == before


def test_workers_do_not_outlive_the_first_process(ssdlab: Any, tmp_path: Path) -> None:
    with endless(tmp_path, "compare", *COMPARISON, workers=2) as process:
        process.kill()
        process.wait(SECONDS_MAX)
        wait_until_gone(process.pid)
