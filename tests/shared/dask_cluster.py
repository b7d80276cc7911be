"""A real Dask scheduler and workers as processes on this machine, for tests of cluster runs."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from waiting import SECONDS_MAX, wait_for


@contextmanager
def scheduler(folder: Path) -> Iterator[str]:
    """Starts a scheduler and yields its address; the process ends with the block."""
    file = folder / "scheduler.json"
    words = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
    with _process(folder, "scheduler", *words):
        yield wait_for("the scheduler's address", lambda: _address_in(file))


def worker(folder: Path, address: str, *words: str) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """A worker with one thread, without a nanny that would restart it."""
    return _process(folder, "worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny", *words)


def await_workers(address: str, count: int) -> None:
    import distributed

    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=SECONDS_MAX)


@contextmanager
def _process(folder: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / f"{words[0]}-{time.monotonic_ns()}.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]], cwd=folder, stdout=log, stderr=log
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def _address_in(file: Path) -> str | None:
    """The address in the file, or None if the file is missing or incomplete."""
    try:
        return str(json.loads(file.read_text())["address"])
    except (OSError, ValueError):
        return None
