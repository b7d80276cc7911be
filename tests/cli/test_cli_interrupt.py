"""Ctrl-C: is it quick, is it said, is nothing half-written, is no process left?"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ENDLESS = "[endless]\nrw=randwrite\nbs=4k\nloops=1000000\n"


def of_group(group: int) -> list[str]:
    """The living processes of a process group, from /proc."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _parent, its_group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
            except OSError:
                continue
            if int(its_group) == group and state != "Z":
                found.append(entry.name)
    return found


def wait_until_at_work(process: subprocess.Popen[str], processes: int) -> None:
    """Until the group is so large, and a second more, in which each of them has begun its run."""
    deadline = time.monotonic() + 20
    while len(of_group(process.pid)) < processes and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(of_group(process.pid)) >= processes
    time.sleep(1)
    assert process.poll() is None, process.communicate()


def is_gone(group: int, seconds: float) -> bool:
    """Whether no process of the group is left after a moment: Python's own helper of `spawn` ends last, by itself."""
    deadline = time.monotonic() + seconds
    while of_group(group) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not of_group(group)


@pytest.mark.parametrize("command", ["run", "compare"])
def test_ctrl_c(command: str, ssdlab: Any, tmp_path: Path) -> None:
    (tmp_path / "endless.fio").write_text(ENDLESS)
    before = sorted(tmp_path.rglob("*"))
    arguments = [command, "endless.fio", "--drive", "small.toml"]
    if command == "compare":
        arguments += ["--until", "job", "--op", "20%,40%", "--workers", "2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "ssdlab", *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        # With two workers and Python's own helper of `spawn` there are four.
        wait_until_at_work(process, 4 if command == "compare" else 1)
        started = time.perf_counter()
        # As a terminal does: to every process of the group.
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert time.perf_counter() - started < 2
        assert process.returncode == 130
        assert err == "error: interrupted: nothing was written\n"
        assert out == ""
        assert is_gone(process.pid, 1)
        assert sorted(tmp_path.rglob("*")) == before
    finally:
        for left in of_group(process.pid):
            os.kill(int(left), signal.SIGKILL)


def test_workers_do_not_outlive_the_first_process(ssdlab: Any, tmp_path: Path) -> None:
    (tmp_path / "endless.fio").write_text(ENDLESS)
    arguments = [
        "compare",
        "endless.fio",
        "--drive",
        "small.toml",
        "--until",
        "job",
        "--op",
        "20%,40%",
        "--workers",
        "2",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "ssdlab", *arguments], cwd=tmp_path, text=True, start_new_session=True
    )
    try:
        wait_until_at_work(process, 4)
        process.kill()
        process.wait(10)
        assert is_gone(process.pid, 5)
    finally:
        for left in of_group(process.pid):
            os.kill(int(left), signal.SIGKILL)
