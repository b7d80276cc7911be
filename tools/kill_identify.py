#!/usr/bin/env python3
"""Kills identifications of a small simulated drive at random moments, resumes them, and compares the outcome.

    tools/kill_identify.py 12 --seed 1

Each run is killed once, by SIGKILL or SIGTERM, at a moment drawn from the whole duration of a run that was not killed;
two in three moments lie in the simulations after the experiments. `--resume` continues it. The drive file must then be
that of the uninterrupted run to the byte, and neither a temporary file nor an unfinished one may be left. Ends with
exit code 1 otherwise.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_SETTINGS = {
    "nand.channels": 2, "nand.dies_per_channel": 2, "nand.planes_per_die": 2, "nand.blocks_per_plane": 60,
    "nand.pages_per_block": 24, "nand.read_us": 45, "nand.program_us": 500, "write_buffer.bytes": 2097152,
    "host_link.interface": "pcie3x4",
}  # fmt: skip
_LINE = [
    sys.executable, "-m", "ssdlab", "identify", "--drive", "generic-tlc-480", "--op", "15%",
    *[f"--set={key}={value}" for key, value in _SETTINGS.items()], "--output", "out",
]  # fmt: skip
_LAST = "out/experiments/random-writes.json"
_LEFT = {"drive.toml", "experiments", "report.html", "result.json"}
_IN_SIMULATIONS = 2 / 3


def _started(folder: Path, *more: str) -> subprocess.Popen[bytes]:
    (folder / "temporary").mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(folder / "temporary")}
    return subprocess.Popen([*_LINE, *more], cwd=folder, env=environment, stdout=subprocess.DEVNULL)


def _uninterrupted(folder: Path) -> tuple[bytes, float, float]:
    """The drive file, and the seconds that experiments and simulations took."""
    begun, experiments = time.monotonic(), None
    run = _started(folder)
    while run.poll() is None:
        time.sleep(0.02)
        if experiments is None and (folder / _LAST).exists():
            experiments = time.monotonic() - begun
    if run.returncode or experiments is None:
        raise SystemExit(f"the uninterrupted run ended with {run.returncode}")
    return (folder / "out/drive.toml").read_bytes(), experiments, time.monotonic() - begun - experiments


def _wait(run: subprocess.Popen[bytes], folder: Path, seconds: float, *, simulations: bool) -> None:
    """Waits until `seconds` after the start, or after the end of the experiments, or until the run has ended."""
    while simulations and not (folder / _LAST).exists() and run.poll() is None:
        time.sleep(0.02)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and run.poll() is None:
        time.sleep(0.02)


def _wrong(folder: Path, drive: bytes) -> list[str]:
    """What differs from an uninterrupted run, or was left behind."""
    wrong = [] if (folder / "out/drive.toml").read_bytes() == drive else ["drive.toml differs"]
    if (names := {each.name for each in (folder / "out").iterdir()}) != _LEFT:
        wrong.append(f"in the output folder: {sorted(names ^ _LEFT)}")
    others = [each.name for each in (folder / "out/experiments").iterdir() if each.suffix != ".json"]
    return [*wrong, *others, *[each.name for each in (folder / "temporary").iterdir()]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kills", type=int, help="how many runs are killed")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    options = parser.parse_args()
    draw, failed, ended = random.Random(options.seed), 0, 0
    with tempfile.TemporaryDirectory(prefix="ssdlab-kill-") as place:
        drive, experiments_s, simulations_s = _uninterrupted(Path(place) / "whole")
        print(f"uninterrupted: experiments {experiments_s:.1f} s, simulations {simulations_s:.1f} s", flush=True)
        for number in range(options.kills):
            folder = Path(place) / str(number)
            simulations = draw.random() < _IN_SIMULATIONS
            seconds = draw.uniform(0.0, simulations_s if simulations else experiments_s)
            how = draw.choice((signal.SIGKILL, signal.SIGTERM))
            run = _started(folder)
            _wait(run, folder, seconds, simulations=simulations)
            late = run.poll() is not None
            run.send_signal(how)
            run.wait()
            ended += late
            # Before the first experiment there is nothing to resume.
            begun = (folder / "out/experiments/of.json").exists()
            again = _started(folder, *(["--resume"] if begun else []))
            wrong = [f"the resumed run ended with {again.returncode}"] if again.wait() else _wrong(folder, drive)
            failed += bool(wrong)
            phase = "simulations" if simulations else "experiments"
            print(f"{number + 1}: {how.name} {seconds:.2f} s into the {phase}{', which had ended' if late else ''}: "
                  f"{'; '.join(wrong) or 'as uninterrupted'}", flush=True)  # fmt: skip
    print(f"{options.kills} killed, {ended} had ended before, {failed} not as uninterrupted")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
