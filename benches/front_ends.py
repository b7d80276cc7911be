"""What programs get of a simulated drive through FUSE and NBD, beside a device that does nothing through the same.

4 KiB random writes at depth 32 by fio, three rounds of each in turn, the drive filled before; a line of JSON a front
end with the medians and their ratio. Needs fio, and root and /dev/fuse for the first; says what it leaves out.
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
from pathlib import Path

SECONDS = 3
ROUNDS = 3
DRIVE = ["--drive", "generic-tlc-480", "--op", "7%", "--scale", "1/512"]
WORKLOAD = ["--name=bench", "--rw=randwrite", "--bs=4k", "--iodepth=32", "--time_based", f"--runtime={SECONDS}"]


def iops(folder: Path, *options: str) -> float:
    command = ["fio", "--output-format=json", *WORKLOAD, *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
    return float(json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["write"]["iops"])


def through_fuse(folder: Path, does_nothing: bool) -> float:
    place = folder / "mount"
    process = start("mount", str(place), does_nothing)
    try:
        while not (place / "drive").exists():
            time.sleep(0.05)
        target = [
            "--ioengine=libaio",
            "--direct=1",
            f"--filename={place}/drive",
            f"--size={(place / 'drive').stat().st_size}",
        ]
        fill(folder, does_nothing, *target)
        return iops(folder, *target)
    finally:
        end(process)


def through_nbd(folder: Path, does_nothing: bool) -> float:
    socket = folder / "bench.sock"
    process = start("serve", "--socket", str(socket), does_nothing)
    try:
        while not socket.exists():
            time.sleep(0.05)
        target = ["--ioengine=nbd", f"--uri=nbd+unix:///?socket={socket}", "--size=768m"]
        fill(folder, does_nothing, *target)
        return iops(folder, *target)
    finally:
        end(process)


def start(command: str, *options: "str | bool") -> "subprocess.Popen[bytes]":
    *places, does_nothing = options
    extra = ["--null"] if does_nothing else []
    arguments = [sys.executable, "-m", "ssdlab", command, *map(str, places), *DRIVE, *extra]
    return subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def end(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGTERM)
    process.wait(30)


def fill(folder: Path, does_nothing: bool, *target: str) -> None:
    """Cleaning costs what it does in use only when the drive is full, memory when all flash was written once."""
    if not does_nothing:
        command = ["fio", "--name=fill", "--rw=write", "--bs=256k", "--iodepth=8", "--loops=2", *target]
        subprocess.run(command, stdout=subprocess.DEVNULL, cwd=folder, check=True)


def main() -> None:
    if shutil.which("fio") is None:
        print(json.dumps({"bench": "front_ends", "left_out": "fio is not installed"}))
        return
    front_ends = {"fuse": through_fuse, "nbd": through_nbd}
    if os.geteuid() != 0 or not Path("/dev/fuse").exists():
        print(json.dumps({"bench": "front_ends", "front_end": "fuse", "left_out": "needs root and /dev/fuse"}))
        del front_ends["fuse"]
    for name, measure in front_ends.items():
        rounds: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(ROUNDS):
            for does_nothing, measured in rounds.items():
                with tempfile.TemporaryDirectory() as folder:
                    measured.append(measure(Path(folder), does_nothing))
        drive, null = (statistics.median(rounds[does_nothing]) for does_nothing in (False, True))
        print(
            json.dumps(
                {
                    "bench": "front_ends",
                    "front_end": name,
                    "drive_iops": round(drive),
                    "null_iops": round(null),
                    "ratio": round(drive / null, 3),
                    "machine": f"{platform.machine()}, {os.cpu_count()} processors",
                    "load_average": round(os.getloadavg()[0], 1),
                }
            )
        )


if __name__ == "__main__":
    main()
