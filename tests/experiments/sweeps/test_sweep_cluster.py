"""A sweep on a real Dask scheduler with real workers: the same bytes as locally, even if a worker is killed."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from dask_cluster import await_workers, scheduler, worker
from program import Program
from ssdlab.errors import InputError
from ssdlab.experiments.sweeps import cluster
from ssdlab.experiments.sweeps.dataset import Dataset
from waiting import SECONDS_MAX

Contents = Callable[[Path], dict[str, bytes]]


# Loaded by a worker: kills it during its task, without any cleanup.
_DOOM = """
import os, signal
from ssdlab.experiments.sweeps.dataset import Dataset

genuine, written = Dataset.write, []

def write(self, key, content):
    written.append(key)
    if len(written) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    genuine(self, key, content)

Dataset.write = write
"""


@pytest.mark.surroundings
def test_the_same_bytes_as_on_this_machine_with_a_worker_killed(
    folder: Path, ssdlab: Program, contents: Contents
) -> None:
    file = folder / "small-sweep.toml"
    file.write_text(file.read_text().replace("seed = [1, 2]", f"seed = {list(range(20))}"))
    (folder / "doom.py").write_text(_DOOM)
    assert ssdlab("sweep", "small-sweep.toml", "--jobs", "1", "--output", "here").returncode == 0
    with (
        scheduler(folder) as address,
        worker(folder, address, "--preload", str(folder / "doom.py")) as doomed,
        worker(folder, address),
    ):
        await_workers(address, 2)
        ended = ssdlab("sweep", "small-sweep.toml", "--cluster", address, "--output", "there")
        assert doomed.wait(SECONDS_MAX) == -signal.SIGKILL
    assert ended.returncode == 0, ended.stderr
    assert contents(folder / "there") == contents(folder / "here")


def test_no_scheduler_there(ssdlab: Program, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(cluster, "_CONNECT_SECONDS", 1)
    dataset = Dataset(str(folder / "d"))
    dataset.make()
    with pytest.raises(InputError, match="no Dask scheduler responds"):
        list(cluster.on_cluster("tcp://127.0.0.1:9")([], dataset))


class _Client:
    """Answers in place of missing workers."""

    def __init__(self, seen: dict[str, tuple[str | None, bool]]) -> None:
        self._seen = seen

    def run(self, *_: object) -> dict[str, tuple[str | None, bool]]:
        return self._seen


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        ({}, "the scheduler has no workers"),
        ({"tcp://w:1": ("0.0.0", True)}, "worker tcp://w:1 has ssdlab 0.0.0, this machine has"),
        ({"tcp://w:1": (None, True)}, "has no ssdlab installed"),
        ({"tcp://w:1": ("", False)}, "cannot access"),
    ],
)
def test_workers_that_cannot_take_part_are_refused(
    folder: Path, seen: dict[str, tuple[str | None, bool]], said: str
) -> None:
    from ssdlab.simulator.engine import native

    here = native().version()
    seen = {worker: (here if version == "" else version, sees) for worker, (version, sees) in seen.items()}
    dataset = Dataset(str(folder / "d"))
    dataset.make()
    with pytest.raises(InputError, match=said):
        cluster._check_workers(_Client(seen), "tcp://s:1", dataset)
    assert not list((folder / "d/runs").iterdir()), "the marker is taken away"
