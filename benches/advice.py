"""How long `ssdlab advise space` takes for a trace of a million requests and a drive of 1 TB, without and with a clock.

The trace is made from a fixed seed: most writes to 1 MiB regions by zipf 0.9, some in sequence, reads among them.
Prints a line of JSON for each set of limits: seconds until the answer stands there, of the whole process, and of its
processors; and runs by what they were for. Not for the engine's own speed, nor for whether the advice is right.
"""

import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

REQUESTS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
DRIVE = "generic-nvme-tlc-1000"
LIMITS = (
    ["--life", "5y", "--waf", "1.2"],
    ["--life", "5y", "--latency", "write.p99=2ms"],
)

_SPACE_BYTES = 900 * 10**9
_REGION_BYTES = 2**20
_ZIPF = 0.9
_SIZES_KIB = 2 ** np.arange(2, 10)
_SEQUENTIAL_BYTES = 256 * 1024
_DURATION_SECONDS = 12_600
# Of the requests: what reads, and what goes on in sequence; the rest writes by zipf.
_READ_SHARE = 0.2
_SEQUENTIAL_SHARE = 0.1
# A file time of 2009, in ticks of 100 ns.
_START_TICKS = 128_166_372_000_000_000


def write_trace(path: Path, requests: int) -> None:
    """Lines of the Microsoft Research Cambridge format."""
    random = np.random.default_rng(7)
    regions = _SPACE_BYTES // _REGION_BYTES
    weights = np.cumsum(1 / np.arange(1, regions + 1) ** _ZIPF)
    ranks = np.searchsorted(weights / weights[-1], random.random(requests))
    sizes = random.choice(_SIZES_KIB, requests) * 1024
    within = (random.random(requests) * (_REGION_BYTES // sizes)).astype(np.int64) * sizes
    offsets = random.permutation(regions)[ranks] * _REGION_BYTES + within
    kind = random.random(requests)
    is_sequential = kind > 1 - _SEQUENTIAL_SHARE
    sizes[is_sequential] = _SEQUENTIAL_BYTES
    offsets[is_sequential] = np.arange(is_sequential.sum()) * _SEQUENTIAL_BYTES % (_SPACE_BYTES // 2)
    ticks = _START_TICKS + np.sort(random.integers(0, _DURATION_SECONDS * 10**7, requests))
    names = np.where(kind < _READ_SHARE, "Read", "Write")
    with path.open("w") as file:
        for tick, name, offset, size in zip(ticks, names, offsets, sizes, strict=True):
            file.write(f"{tick},host,0,{name},{offset},{size},0\n")


def measured(trace: Path, limits: list[str], folder: Path) -> dict[str, object]:
    """One advice, as a user asks for it."""
    command = [
        sys.executable,
        "-m",
        "ssdlab",
        "advise",
        "space",
        str(trace),
        "--drive",
        DRIVE,
        *limits,
        "--output",
        str(folder),
    ]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout
        process.stdout.readline()
        answer_seconds = time.perf_counter() - started
        process.stdout.read()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {process.returncode}")
    wall_seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = json.loads((folder / "result.json").read_text())
    return {
        "limits": " ".join(limits),
        "answer_seconds": round(answer_seconds, 1),
        "wall_seconds": round(wall_seconds, 2),
        "cpu_seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
        "runs": Counter(run["purpose"] for run in result["runs"]),
        "over_provisioning": result["over_provisioning"],
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        trace = Path(name) / "million.csv"
        write_trace(trace, REQUESTS)
        about = {
            "benchmark": "advice",
            "drive": DRIVE,
            "requests": REQUESTS,
            "trace_sha256": hashlib.sha256(trace.read_bytes()).hexdigest()[:16],
            "processors": os.cpu_count(),
            "load_before": round(os.getloadavg()[0], 1),
        }
        for index, limits in enumerate(LIMITS):
            print(json.dumps(about | measured(trace, limits, Path(name) / str(index))), flush=True)


if __name__ == "__main__":
    main()
