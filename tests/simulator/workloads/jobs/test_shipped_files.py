"""Do the project's job files, and fio's JESD219 job, run unchanged?"""

from pathlib import Path

import pytest

from ssdlab.simulator.workloads.jobs import load, parse

FOLDER = Path(__file__).parents[4] / "jobs"
FILES = sorted(FOLDER.glob("*.fio"))
DRIVE = 480_103_981_056

# The options of fio's examples/jesd219.fio, in a different order.
JESD219 = """
[jesd219]
filename=/dev/nvme0n1
ioengine=libaio
direct=1
group_reporting=1
numjobs=4
iodepth=256
rw=randrw
rwmixread=40
rwmixwrite=60
norandommap
randrepeat=0
bssplit=512/4:1024/1:1536/1:2048/1:2560/1:3072/1:3584/1:4k/67:8k/10:16k/7:32k/3:64k/3
blockalign=4k
random_distribution=zoned:50/5:30/15:20/80
"""


def test_jesd219_as_fio_has_it() -> None:
    file = parse(JESD219)
    jobs = file.resolve(DRIVE, seed=1)
    assert [job["clone"] for job in jobs] == [0, 1, 2, 3]
    assert file.group_reporting("jesd219")
    job = jobs[0]
    assert (job["direction"], job["sequential"], job["read_percent"], job["iodepth"]) == (
        "read-write",
        False,
        40.0,
        256,
    )
    assert job["io_bytes"] == job["size_bytes"] == DRIVE
    assert not job["random_map"]
    assert job["block_align_bytes"]["write"] == 4096
    # JEDEC JESD219A, the enterprise workload.
    sizes = {entry["bytes"]: entry["percent"] for entry in job["block_sizes"]["write"]}
    assert sizes == {
        **dict.fromkeys((1024, 1536, 2048, 2560, 3072, 3584), 1.0),
        **{512: 4.0, 4096: 67.0, 8192: 10.0, 16384: 7.0, 32768: 3.0, 65536: 3.0},
    }
    assert job["distribution"]["name"] == "zoned"
    zones = [(zone["access_percent"], zone["span_percent"]) for zone in job["distribution"]["zones"]]
    assert zones == [(50, 5), (30, 15), (20, 80)]


def test_ours_asks_for_the_same_as_fios() -> None:
    ours = load(FOLDER / "jesd219-enterprise.fio").resolve(DRIVE, seed=1)
    theirs = parse(JESD219).resolve(DRIVE, seed=1)
    assert [{**job, "name": ""} for job in ours] == [{**job, "name": ""} for job in theirs]


def test_the_files_are_there() -> None:
    assert {path.stem for path in FILES} == {
        *("jesd219-enterprise", "randwrite", "hotcold", "zipf", "mixed"),
        *("sandforce-light", "sandforce-heavy", "sandforce-gaming"),
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_file_resolves_and_says_what_it_shows(path: Path) -> None:
    comments = path.read_text().splitlines()[:2]
    assert all(line.startswith("# ") for line in comments)
    for user_bytes in (DRIVE, 64 << 20):
        for job in load(path).resolve(user_bytes, seed=1):
            assert 0 < job["offset_bytes"] + job["size_bytes"] <= user_bytes
