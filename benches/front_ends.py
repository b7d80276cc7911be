"""What programs get of a simulated drive through FUSE and NBD, beside a device that does nothing through the same.

4 KiB random writes at depth 32 by fio, the drive filled before. Both servers run at once, and a second on each is
measured in turn: one server measured after the other differs by a factor of three on a busy machine. Prints a line of
JSON a front end with the medians, their ratio, and the quartiles of the ratios of the pairs. Needs fio, and root and
/dev/fuse for the first; says what it leaves out.
"""

import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    FrontEnd = Callable[[Path, bool], AbstractContextManager[list[str]]]

SECONDS = 1
ROUNDS = 15
DRIVE = ["--drive", "generic-tlc-480", "--op", "7%", "--scale", "1/512"]
WORKLOAD = ["--name=bench", "--rw=randwrite", "--bs=4k", "--iodepth=32", "--time_based", f"--runtime={SECONDS}"]


def iops(folder: Path, target: list[str]) -> float:
    command = ["fio", "--output-format=json", *WORKLOAD, *target]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
    return float(json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["write"]["iops"])


@contextmanager
def fuse(folder: Path, does_nothing: bool) -> "Iterator[list[str]]":
    """fio's options for a mounted drive."""
    place = folder / "mount"
    with serving("mount", str(place), does_nothing=does_nothing, appears=place / "drive"):
        drive = place / "drive"
        yield ["--ioengine=libaio", "--direct=1", f"--filename={drive}", f"--size={drive.stat().st_size}"]


@contextmanager
def nbd(folder: Path, does_nothing: bool) -> "Iterator[list[str]]":
    """fio's options for a drive that is served."""
    socket = folder / "bench.sock"
    with serving("serve", "--socket", str(socket), does_nothing=does_nothing, appears=socket):
        yield ["--ioengine=nbd", f"--uri=nbd+unix:///?socket={socket}", "--size=768m"]


@contextmanager
def serving(*command: str, does_nothing: bool, appears: Path) -> "Iterator[None]":
    arguments = [sys.executable, "-m", "ssdlab", *command, *DRIVE, *(["--null"] if does_nothing else [])]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not appears.exists():
            if process.poll() is not None:
                raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}")
            time.sleep(0.05)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def fill(folder: Path, target: list[str]) -> None:
    """Cleaning costs what it does in use only when the drive is full, memory when all flash was written once."""
    command = ["fio", "--name=fill", "--rw=write", "--bs=256k", "--iodepth=8", "--loops=2", *target]
    subprocess.run(command, stdout=subprocess.DEVNULL, cwd=folder, check=True)


def measure(front_end: "FrontEnd") -> dict[bool, list[float]]:
    """Requests a second in each round, by whether the device does nothing."""
    rounds: dict[bool, list[float]] = {True: [], False: []}
    with ExitStack() as stack:
        folders = {nothing: Path(stack.enter_context(tempfile.TemporaryDirectory())) for nothing in rounds}
        targets = {nothing: stack.enter_context(front_end(folders[nothing], nothing)) for nothing in rounds}
        fill(folders[False], targets[False])
        # The first round warms up.
        for number in range(ROUNDS + 1):
            for nothing in rounds:
                measured = iops(folders[nothing], targets[nothing])
                rounds[nothing] += [measured] if number > 0 else []
    return rounds


def main() -> None:
    if shutil.which("fio") is None:
        print(json.dumps({"bench": "front_ends", "left_out": "fio is not installed"}))
        return
    front_ends = {"fuse": fuse, "nbd": nbd}
    if os.geteuid() != 0 or not Path("/dev/fuse").exists():
        print(json.dumps({"bench": "front_ends", "front_end": "fuse", "left_out": "needs root and /dev/fuse"}))
        del front_ends["fuse"]
    for name, front_end in front_ends.items():
        rounds = measure(front_end)
        drive, null = (statistics.median(rounds[does_nothing]) for does_nothing in (False, True))
        pairs = [of_drive / of_null for of_drive, of_null in zip(rounds[False], rounds[True], strict=True)]
        print(
            json.dumps(
                {
                    "bench": "front_ends",
                    "front_end": name,
                    "drive_iops": round(drive),
                    "null_iops": round(null),
                    "ratio": round(drive / null, 3),
                    "quartiles_of_pairs": [round(quartile, 2) for quartile in statistics.quantiles(pairs, n=4)],
                    "machine": f"{platform.machine()}, {os.cpu_count()} processors",
                    "load_average": round(os.getloadavg()[0], 1),
                }
            )
        )


if __name__ == "__main__":
    main()
