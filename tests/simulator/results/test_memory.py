"""Does a clock cost at most a byte of memory per mapping unit, and requests none?

Measured as peaks of separate processes, on drives of two sizes: parts that do not grow with the drive cancel out.
"""

import subprocess
import sys
from pathlib import Path

_UNIT_BYTES = 4096
_SMALL, _LARGE = 12, 96  # pages per block
_JOB = (
    "[global]\niodepth=32\n[fill]\nrw=write\nbs=1m\nsize=100%\n"
    "[random]\nstonewall\nrw=randwrite\nbs=4k\nsize=100%\nnumber_ios={ios}\n"
)
# The kernel's peak of the process since its exec; that of `getrusage` starts with the size of its parent.
_CHILD = """
import sys, ssdlab
path, pages, timed = sys.argv[1:]
drive = ssdlab.drive("generic-tlc-480", op=0.07, settings={"nand.pages_per_block": pages})
result = ssdlab.run(path, drive, timed=timed == "yes")
peak_kib = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak_kib) * 1024, result.capacity.user_bytes)
"""


def _peak_bytes(job: Path, pages: int, *, timed: bool) -> tuple[int, int]:
    """The peak memory of a process that executes only this run, and the capacity of its drive."""
    command = [sys.executable, "-c", _CHILD, str(job), str(pages), "yes" if timed else "no"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    peak_bytes, user_bytes = map(int, done.stdout.split())
    return peak_bytes, user_bytes


def _job(path: Path, ios: int) -> Path:
    job = path / f"{ios}.fio"
    job.write_text(_JOB.format(ios=ios))
    return job


def test_a_clock_costs_at_most_a_byte_a_mapping_unit(tmp_path: Path) -> None:
    job = _job(tmp_path, 200_000)
    peaks = {
        (pages, timed): _peak_bytes(job, pages, timed=timed) for pages in (_SMALL, _LARGE) for timed in (False, True)
    }
    units = (peaks[_LARGE, True][1] - peaks[_SMALL, True][1]) / _UNIT_BYTES
    per_unit = {timed: (peaks[_LARGE, timed][0] - peaks[_SMALL, timed][0]) / units for timed in (False, True)}
    print(f"bytes a mapping unit: untimed {per_unit[False]:.2f}, timed {per_unit[True]:.2f}")
    assert 4 < per_unit[False] < 10, "the drives are large enough that their tables show"
    assert per_unit[True] - per_unit[False] <= 1


def test_requests_cost_no_memory(tmp_path: Path) -> None:
    """Eight times the requests: a byte for each would be 10 MB."""
    few, many = (_peak_bytes(_job(tmp_path, ios), _SMALL, timed=True)[0] for ios in (200_000, 1_600_000))
    assert many - few < 1_400_000, f"{(many - few) / 1_400_000:.2f} bytes a request"
