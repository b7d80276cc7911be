"""Ctrl-C, SIGTERM and SIGHUP: does the command end with a message, without partial files or leftover processes?"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import synthetic_traces
from processes import cpu_seconds, has_loaded, of_group
from small_drives import drive_file
from waiting import SECONDS_MAX, wait_for

pytestmark = pytest.mark.surroundings

ENDLESS = "[endless]\nrw=randwrite\ndirect=1\nbs=4k\nloops=1000000\n"
RUN = ["run", "endless.fio", "--drive", "small.toml", "--scale", "1"]
COMPARISON = ["compare", *RUN[1:], "--until", "job", "--op", "20%,40%", "--workers", "2"]
# More than reading the job and the drive takes: a process that has computed for this long is running its simulation.
CPU_SECONDS_AT_WORK = 0.3


@contextmanager
def endless(folder: Path, *words: str, workers: int = 0) -> Iterator[subprocess.Popen[str]]:
    """A run that never ends, yielded once its worker processes (or the process itself, without workers) are simulating.
    All processes are ended afterwards."""
    (folder / "endless.fio").write_text(ENDLESS)
    process = subprocess.Popen(
        [sys.executable, "-m", "ssdlab", *words],
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
    """Killed workers disappear after a moment."""
    wait_for("no process of the group is left", lambda: not of_group(group))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(("words", "workers"), [(RUN, 0), (COMPARISON, 2)], ids=["run", "compare"])
def test_a_signal_ends_a_run_and_its_workers(
    words: list[str], workers: int, number: signal.Signals, ssdlab: Any, tmp_path: Path
) -> None:
    before = {*tmp_path.rglob("*"), tmp_path / "endless.fio"}
    with endless(tmp_path, *words, workers=workers) as process:
        # A terminal or a service manager sends the signal to every process of the group.
        os.killpg(process.pid, number)
        out, err = process.communicate(timeout=SECONDS_MAX)
        assert process.returncode == 128 + number
        how = "interrupted" if number == signal.SIGINT else f"ended by {number.name}"
        assert err == f"error: {how}: nothing was written\n"
        assert out == ""
        wait_until_gone(process.pid)
        assert set(tmp_path.rglob("*")) == before


SWEEP = """
name = "endless"
[axes]
drive = ["small.toml"]
job = ["endless.fio"]
op = ["20%", "40%"]
[run]
timed = false
until = "job"
precondition = "none"
"""


@pytest.mark.parametrize(
    ("command", "number"), [("sweep", signal.SIGHUP), ("advise", signal.SIGTERM), ("fleet", signal.SIGHUP)]
)
def test_commands_of_many_runs(command: str, number: signal.Signals, ssdlab: Any, tmp_path: Path) -> None:
    (tmp_path / "endless.toml").write_text(SWEEP)
    if command == "fleet":
        (tmp_path / "traces").mkdir()
        units = np.random.default_rng(1).integers(0, 900_000, 200_000)
        synthetic_traces.write(tmp_path / "traces/random.trace", units)
    # Not endless, but far longer than the test needs.
    (tmp_path / "large.toml").write_text(drive_file("large", blocks=4096, pages=256, user_bytes=3 << 30))
    shares = ",".join(f"{share}%" for share in range(36, 76))
    words = {
        "sweep": ["endless.toml", "--jobs", "2"],
        "advise": ["space", "endless.fio", "--drive", "large.toml", "--waf", "3"],
        "fleet": ["simulate", "traces", "--trace-format", "mqsim", "--drive", "large.toml", "--op", shares],
    }[command]
    with endless(tmp_path, command, *words, workers=0 if command == "advise" else 2) as process:
        os.killpg(process.pid, number)
        _, err = process.communicate(timeout=SECONDS_MAX)
        assert process.returncode == 128 + number, err
        assert f"error: ended by {number.name}: " in err and "Traceback" not in err
        wait_until_gone(process.pid)
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".writing-")]


def test_a_second_signal_does_not_disturb_the_tidying_up(ssdlab: Any, tmp_path: Path) -> None:
    """A closing terminal causes SIGHUP from the kernel and from the shell; systemd sends SIGTERM and SIGHUP."""
    with endless(tmp_path, *COMPARISON, workers=2) as process:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGTERM):
            os.killpg(process.pid, number)
        _, err = process.communicate(timeout=SECONDS_MAX)
        assert process.returncode in (128 + signal.SIGTERM, 128 + signal.SIGHUP)
        assert err.count("\n") == 1 and "ended by" in err
        wait_until_gone(process.pid)


def test_nohup_is_obeyed(ssdlab: Any, tmp_path: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with endless(tmp_path, *RUN) as process:
            signal.signal(signal.SIGHUP, before)
            process.send_signal(signal.SIGHUP)
            seconds = cpu_seconds(process.pid)
            wait_for("it goes on", lambda: cpu_seconds(process.pid) > seconds + CPU_SECONDS_AT_WORK)
            assert process.poll() is None
    finally:
        signal.signal(signal.SIGHUP, before)


def test_workers_do_not_outlive_the_first_process(ssdlab: Any, tmp_path: Path) -> None:
    with endless(tmp_path, *COMPARISON, workers=2) as process:
        process.kill()
        process.wait(SECONDS_MAX)
        wait_until_gone(process.pid)
