"""A sweep on a real Dask scheduler with real workers: the same bytes as here, also when a worker is killed."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from small_drives import Program
from ssdlab.errors import InputError
from ssdlab.sweeps import cluster
from ssdlab.sweeps.dataset import Dataset
from waiting import SECONDS_MAX, wait_for

Contents = Callable[[Path], dict[str, bytes]]


@contextmanager
def _process(folder: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    log = (folder / f"{words[0]}-{time.monotonic_ns()}.log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]], cwd=folder, stdout=log, stderr=log
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        log.close()


@contextmanager
def _scheduler(folder: Path) -> Iterator[str]:
    file = folder / "scheduler.json"
    words = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
    with _process(folder, "scheduler", *words):
        yield wait_for("the scheduler's address", lambda: _address_in(file))


def _address_in(file: Path) -> str | None:
    """None while it is not there, or not whole."""
    try:
        return str(json.loads(file.read_text())["address"])
    except (OSError, ValueError):
        return None


def _worker(folder: Path, address: str, *words: str) -> AbstractContextManager[subprocess.Popen[bytes]]:
    return _process(folder, "worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny", *words)


# Loaded by a worker: it is killed, without a chance to tidy, in the midst of what it was given.
_DOOM = """
import os, signal
from ssdlab.sweeps.dataset import Dataset

genuine, written = Dataset.write, []

def write(self, key, content):
    written.append(key)
    if len(written) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    genuine(self, key, content)

Dataset.write = write
"""


def _await_workers(address: str, count: int) -> None:
    import distributed

    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=SECONDS_MAX)


@pytest.mark.surroundings
def test_the_same_bytes_as_on_this_machine_with_a_worker_killed(
    folder: Path, ssdlab: Program, contents: Contents
) -> None:
    file = folder / "small-sweep.toml"
    file.write_text(file.read_text().replace("seed = [1, 2]", f"seed = {list(range(20))}"))
    (folder / "doom.py").write_text(_DOOM)
    assert ssdlab("sweep", "small-sweep.toml", "--jobs", "1", "--output", "here").returncode == 0
    with (
        _scheduler(folder) as address,
        _worker(folder, address, "--preload", str(folder / "doom.py")) as doomed,
        _worker(folder, address),
    ):
        _await_workers(address, 2)
        ended = ssdlab("sweep", "small-sweep.toml", "--cluster", address, "--output", "there")
        assert doomed.wait(SECONDS_MAX) == -signal.SIGKILL
    assert ended.returncode == 0, ended.stderr
    assert contents(folder / "there") == contents(folder / "here")


def test_no_scheduler_there(ssdlab: Program, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 1)
    dataset = Dataset(str(folder / "d"))
    dataset.make()
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        list(cluster.on_cluster("tcp://127.0.0.1:9")([], dataset))


class _Client:
    """Answers for workers that are not there."""

    def __init__(self, seen: dict[str, tuple[str | None, bool]]) -> None:
        self._seen = seen

    def run(self, *_: object) -> dict[str, tuple[str | None, bool]]:
        return self._seen


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        ({}, "the scheduler has no workers"),
        ({"tcp://w:1": ("0.0.0", True)}, "worker tcp://w:1 has ssdlab 0.0.0, here it is"),
        ({"tcp://w:1": (None, True)}, "has no ssdlab installed"),
        ({"tcp://w:1": ("", False)}, "does not see"),
    ],
)
def test_workers_that_cannot_take_part_are_refused(
    folder: Path, seen: dict[str, tuple[str | None, bool]], said: str
) -> None:
    from ssdlab.targets.engine import native

    here = native().version()
    seen = {worker: (here if version == "" else version, sees) for worker, (version, sees) in seen.items()}
    dataset = Dataset(str(folder / "d"))
    dataset.make()
    with pytest.raises(InputError, match=said):
        cluster._check_workers(_Client(seen), "tcp://s:1", dataset)
    assert not list((folder / "d/runs").iterdir()), "the marker is taken away"
