"""Writes the files that the examples in docs/examples.md read. usage: example_files.py FOLDER

All data is made up: an hour of requests from two volumes of a host, SMART reports of a drive on two days, two points
for fitting a drive, and a drive with four tenants.
"""

import gzip
import json
import random
import sys
from pathlib import Path

_BLOCK_BYTES = 4096
# The format counts units of 100 ns since 1601; the day is arbitrary.
_START = 133_500_000_000_000_000
_TICKS_PER_S = 10_000_000
_SECONDS = 3600
_GIB = 2**30

Request = tuple[float, str, int, int]
"""Time in seconds, operation, offset and length in bytes."""


def database(source: random.Random, requests: int) -> list[Request]:
    """Random reads and writes of 8 KiB pages, a tenth of them hot, and a sequentially written log."""
    found, log_end = [], 0
    pages = 24 * _GIB // 8192
    for _ in range(requests):
        at = source.uniform(0, _SECONDS)
        if source.random() < 0.2:
            found.append((at, "Write", log_end, 16384))
            log_end = (log_end + 16384) % _GIB
            continue
        place = source.randrange(pages // 10) if source.random() < 0.8 else source.randrange(pages)
        found.append((at, "Read" if source.random() < 0.55 else "Write", _GIB + place * 8192, 8192))
    return sorted(found)


def mail(source: random.Random, requests: int) -> list[Request]:
    """Files of some hundred KiB, written once to a free place and read a few times."""
    found: list[Request] = []
    while len(found) < requests:
        at, place = source.uniform(0, _SECONDS), source.randrange(12 * _GIB // _BLOCK_BYTES) * _BLOCK_BYTES
        blocks = min(256, 4 + int(source.paretovariate(1.1) * 8))
        for first in range(0, blocks, 32):
            kind = "Write" if source.random() < 0.6 else "Read"
            found.append(
                (at + first * 1e-4, kind, place + first * _BLOCK_BYTES, min(32, blocks - first) * _BLOCK_BYTES)
            )
    return sorted(found)


def trace(requests: list[Request], host: str) -> str:
    """A trace in the format of Microsoft Research Cambridge: timestamp, host, disk, type, offset, size, response."""
    lines = (
        f"{_START + round(at * _TICKS_PER_S)},{host},0,{kind},{offset},{size},{500 + size // 64}"
        for at, kind, offset, size in requests
    )
    return "\n".join(lines) + "\n"


def report(day: int, written_gb: int, used_percent: int) -> dict[str, object]:
    """A report of `smartctl --json -x` on an NVMe drive of 480 GB, reduced to the values that ssdlab reads."""
    return {
        "smartctl": {"version": [7, 3]},
        "model_name": "EXAMPLE 480",
        "serial_number": "EXAMPLE-1",
        "local_time": {"time_t": 1_731_916_800 + day * 86400},
        "power_on_time": {"hours": 9000 + day * 24},
        "user_capacity": {"bytes": 480103981056},
        "smart_status": {"passed": True},
        "nvme_smart_health_information_log": {
            "critical_warning": 0,
            "temperature": 38,
            "available_spare": 100,
            "available_spare_threshold": 10,
            "percentage_used": used_percent,
            "data_units_read": 2 * written_gb * 10**9 // 512_000,
            "data_units_written": written_gb * 10**9 // 512_000,
            "power_on_hours": 9000 + day * 24,
            "media_errors": 0,
        },
        # The log C0h of Open Compute, which counts the flash writes.
        "ocp_smart_log": {"physical_media_units_written_bytes": round(2.9 * written_gb * 10**9)},
    }


POINTS = """# A textbook drive in its steady state, simulated with programs of 400 us: what a fit is to find.
# Workloads are named from the folder of this file.
workload,space_in_use,metric,value
../jobs/randwrite.fio,,write_mib_s,1.76
../jobs/hotcold.fio,,write_mib_s,1.76
"""


TENANTS_DRIVE = """# A drive with four tenants for tenants.fio (docs/simulate/namespaces.md).
name = "tenants"
based_on = "generic-tlc-480"

[[namespace]]
name = "database"
size_bytes = "120 GB"

[[namespace]]
name = "log"
size_bytes = "60 GB"

[[namespace]]
name = "archive"
size_bytes = "240 GB"

[[namespace]]
name = "cache"
size_bytes = "60 GB"
"""

TENANTS_JOBS = """# Four tenants, each on its namespace of tenants.toml: a database, a log, an archive and a cache.
# It shows that tenants that write in order lose by neighbours that write at random, unless each has a placement handle.
[global]
time_based
runtime=20000

[database]
filename=/dev/nvme0n1
rw=randrw
rwmixread=70
bs=8k
iodepth=8
rate_iops=,4000

[log]
filename=/dev/nvme0n2
rw=write
bs=16k
rate=,40m

[archive]
filename=/dev/nvme0n3
rw=write
bs=128k
rate=,20m

[cache]
filename=cache
rw=randwrite
bs=4k
iodepth=8
rate_iops=10000
"""


def write_all(folder: Path) -> None:
    """Writes all files, with the same bytes each time."""
    (folder / "traces").mkdir(parents=True, exist_ok=True)
    for name, make in (("database", database), ("mail", mail)):
        text = trace(make(random.Random(name), 6000), name)
        (folder / "traces" / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    for name, day, written_gb in (("monday", 0, 41_300), ("friday", 4, 41_580)):
        (folder / f"{name}.json").write_text(json.dumps(report(day, written_gb, 15), indent=2) + "\n")
    (folder / "points.csv").write_text(POINTS)
    (folder / "tenants.toml").write_text(TENANTS_DRIVE)
    (folder / "tenants.fio").write_text(TENANTS_JOBS)


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
