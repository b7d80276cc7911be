"""Do the published light, heavy and gaming workloads have their published statistics, in fio and in ssdlab?

Published with the test of a SandForce drive with 13 % and with 28 % of spare area: numbers of reads and writes, some of
the sizes, the sequential share, the mean depth.
"""

import json
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ssdlab.simulator.drives import load as load_drive
from ssdlab.simulator.drives import resolve as resolve_drive
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads import specifying
from ssdlab.simulator.workloads.jobs import load

FIO = shutil.which("fio") or ""
FOLDER = Path(__file__).parents[4] / "jobs"
KIB = 1024


@dataclass(frozen=True)
class Published:
    reads: int
    writes: int
    depth: float
    size_percent: dict[int, tuple[float, float]]
    """Lower and upper bound of the percentage, by size in KiB."""
    sequential_percent: tuple[float, float]


WORKLOADS = {
    "light": Published(37_501, 20_268, 6.09, {4: (30, 33), 16: (11, 11), 32: (22, 22), 64: (13, 13)}, (27, 30)),
    "heavy": Published(128_895, 72_411, 3.59, {4: (30, 30), 16: (12, 12), 32: (14, 14), 64: (20, 20)}, (44, 44)),
    "gaming": Published(75_206, 4_592, 7.76, {4: (20, 20), 32: (20, 20), 64: (38, 40)}, (69, 69)),
}


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_job_file_says_what_was_published(name: str) -> None:
    published = WORKLOADS[name]
    reads: Any
    writes: Any
    reads, writes = load(FOLDER / f"sandforce-{name}.fio").resolve(256 * 10**9, seed=1)
    assert (reads["direction"], writes["direction"]) == ("read", "write")
    assert (reads["number_ios"], writes["number_ios"]) == (published.reads, published.writes)
    assert reads["iodepth"] + writes["iodepth"] == round(published.depth)
    for job in (reads, writes):
        sizes = {entry["bytes"]: entry["percent"] for entry in job["block_sizes"][job["direction"]]}
        for kib, (low, high) in published.size_percent.items():
            assert low <= sizes[kib * KIB] <= high
        low, high = published.sequential_percent
        assert low <= 100 - job["random_percent"][job["direction"]] <= high


@pytest.mark.skipif(not FIO, reason="fio is not installed")
@pytest.mark.parametrize("name", WORKLOADS)
def test_what_fio_does_with_it_has_the_published_statistics(tmp_path: Path, name: str) -> None:
    published = WORKLOADS[name]
    text = (FOLDER / f"sandforce-{name}.fio").read_text()
    # At a greater depth fio's log contains requests twice that its null engine deferred.
    text = re.sub(r"iodepth=\d+", "iodepth=1", text.replace("ioengine=libaio", "ioengine=null\nsize=200g"))
    for job, log in ((f"[{name}-reads]", "reads"), (f"[{name}-writes]", "writes")):
        text = text.replace(job, f"{job}\nwrite_iolog={log}")
    (tmp_path / "job.fio").write_text(text)
    subprocess.run([FIO, "job.fio"], cwd=tmp_path, capture_output=True, check=True)
    for log, count in (("reads", published.reads), ("writes", published.writes)):
        logged = re.findall(rf" {log[:-1]} (\d+) (\d+)$", (tmp_path / log).read_text(), re.MULTILINE)
        requests = [(int(offset), int(length)) for offset, length in logged]
        assert len(requests) == count
        # Four standard deviations of a share, at most two percent of the fewest requests.
        slack = 400 * (0.25 / count) ** 0.5
        lengths = Counter(length for _, length in requests)
        for kib, (low, high) in published.size_percent.items():
            assert low - slack <= 100 * lengths[kib * KIB] / count <= high + slack
        ends = [0, *(offset + length for offset, length in requests)]
        follows = sum(offset == end for (offset, _), end in zip(requests, ends, strict=False))
        low, high = published.sequential_percent
        assert low - slack <= 100 * follows / count <= high + slack


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_run_of_ours_asks_as_often_and_for_as_much(name: str) -> None:
    published = WORKLOADS[name]
    # The sizes do not depend on the drive, so a small one suffices.
    drive = resolve_drive(
        load_drive("tiny"), over_provisioning=0.25, settings={"nand.blocks_per_plane": "256"}, scale=None
    )
    file = load(FOLDER / f"sandforce-{name}.fio")
    specification = specifying.specify(file, drive, seed=1, timed=False)
    reads, writes = json.loads(simulated.run(specification).to_json())["jobs"]
    for job, spec, direction, count in (
        (reads, specification.engine["jobs"][0], "read", published.reads),
        (writes, specification.engine["jobs"][1], "write", published.writes),
    ):
        assert job[direction]["total_ios"] == count
        mean_bytes = sum(entry["bytes"] * entry["percent"] / 100 for entry in spec["block_sizes"][direction])
        # The standard deviation of lengths is about their mean.
        assert job[direction]["io_bytes"] / count == pytest.approx(mean_bytes, rel=5 / count**0.5)
