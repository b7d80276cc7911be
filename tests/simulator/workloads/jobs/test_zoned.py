"""Jobs with `zonemode=zbd`, on a drive with zones and on an ordinary one."""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ssdlab.errors import InputError
from ssdlab.experiments.studies.zones.comparison import CAPACITY_MIB, FOLDER, GIB, MIB, STRIPE, ZONES
from ssdlab.simulator.drives import ResolvedDrive, drive
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads import specifying
from ssdlab.simulator.workloads.jobs import parse

if TYPE_CHECKING:
    from ssdlab.simulator.results import Result

PARITY = STRIPE / (STRIPE - 1)


def zoned_drive(scale: str = "1/64", **settings: str) -> ResolvedDrive:
    return drive(FOLDER / "zoned.toml", scale=scale, settings=settings)


def run(text: str, on: ResolvedDrive, *, timed: bool = False) -> "Result":
    return simulated.run(specifying.specify(parse(text), on, seed=1, timed=timed))


@pytest.mark.parametrize("scale", ["1/64", "1/32"])
def test_a_scaled_drive_has_as_many_zones_each_smaller(scale: str) -> None:
    full, smaller = zoned_drive("1").file, zoned_drive(scale)
    file = smaller.file
    assert file.ftl.user_bytes == ZONES * file.zones.zone_bytes
    assert full.zones.capacity_bytes * smaller.scale == file.zones.capacity_bytes == CAPACITY_MIB * MIB * smaller.scale
    assert file.zones.zone_bytes == GIB * smaller.scale
    assert smaller.capacity.data_units_per_erase_unit * 4096 == file.zones.capacity_bytes
    assert (file.zones.open_max, file.zones.active_max) == (14, 14)


@pytest.mark.parametrize("timed", [False, True], ids=["untimed", "timed"])
def test_writes_that_follow_the_pointers_cost_parity_alone(timed: bool) -> None:
    text = (
        "[fill]\nzonemode=zbd\nrw=write\nbs=48k\niodepth=8\nsize=40g\n[again]\nstonewall\nzonemode=zbd\nrw=randwrite\n"
    )
    result = run(text + "bs=48k\niodepth=8\nsize=40g\nio_size=60g\nmax_open_zones=4", zoned_drive(), timed=timed)
    assert result.failure is None
    assert result.zones is not None and result.zones["refused"] == 0 and result.zones["resets"] > 20
    assert result.settled_waf == pytest.approx(PARITY, rel=2e-3)
    assert sum(result.zones[name] for name in ("implicitly_open", "closed")) <= 5


# fio's examples/zbd-rand-write.fio, with a block size that divides the capacity of the scaled zones, and shorter.
RAND_WRITE = """
[global]
name=zbd-rand-write
group_reporting
rw=randwrite
zonemode=zbd
max_open_zones=32
bs=48K
direct=1
numjobs=16
time_based
runtime=400

[dev1]
filename=/dev/sdj
ioengine=psync
"""


@pytest.mark.parametrize(
    "more",
    [
        "",
        "iodepth=4",
        "iodepth=3\nmax_open_zones=1",
        "runtime=100\n[dev2]\nfilename=/dev/sdj\nnumjobs=2\niodepth=8\nrw=write\n[dev3]\nnumjobs=1\nrw=randread",
        "[reset]\nfilename=/dev/sdj\nnumjobs=1\nrw=randtrim\nbs=16m\nruntime=30",
        "rw=randrw\nzone_reset_threshold=0.3\nzone_reset_frequency=0.01",
        "exitall\nnumber_ios=20000\n[short]\nfilename=/dev/sdj\nnumber_ios=8000",
    ],
    ids=["as it is", "deeper", "one zone", "other jobs", "resets", "early resets", "exitall"],
)
@pytest.mark.parametrize("timed", [False, True], ids=["untimed", "timed"])
def test_jobs_that_write_the_same_zones(more: str, timed: bool) -> None:
    """A regression: fio's own example, sixteen jobs on one range, was refused with a clock, because a reset could
    overtake another job's write to the zone."""
    result = run(f"{RAND_WRITE}{more}", zoned_drive(), timed=timed)
    assert result.failure is None and result.zones is not None
    assert result.zones["refused"] == 0
    assert result.zones["resets"] > (300 if timed and not more else 0)
    # A zone that is reset early has parity that is due for data it never got.
    assert result.waf == pytest.approx(PARITY, rel=5e-3)
    assert all(job.write.total_ios > 0 for job in result.jobs if job.name == "dev1")
    if timed and not more:
        # The drive is never short of work: the others wait only while a zone is reset.
        assert (result.to_dict()["ssdlab"]["die_utilization"] or 0) > 0.95


@pytest.mark.parametrize("rw", ["write", "randwrite"])
def test_a_job_uses_all_zones(rw: str) -> None:
    """A regression: a job without a size had as many addresses as the drive has capacity, so that the last quarter of
    the zones was never written. As fio 3.33 does with zonecapacity, a sequential job fills each zone once."""
    result = run(f"[a]\nzonemode=zbd\nrw={rw}\nbs=48k", zoned_drive())
    file = zoned_drive().file
    assert result.zones is not None
    if rw == "write":
        assert result.jobs[0].write.io_bytes == ZONES * file.zones.capacity_bytes
        assert result.zones["full"] == ZONES and result.zones["resets"] == 0
        more = run("[a]\nzonemode=zbd\nrw=write\nbs=48k\nsize=50%\nio_size=100%", zoned_drive())
        assert more.jobs[0].write.io_bytes == pytest.approx(file.ftl.user_bytes / 2, rel=0.01)
    else:
        assert result.jobs[0].write.io_bytes == pytest.approx(file.ftl.user_bytes, rel=1e-3)
    half = run(f"[a]\nzonemode=zbd\nrw={rw}\nbs=48k\noffset=50%", zoned_drive())
    assert half.jobs[0].write.io_bytes == pytest.approx(result.jobs[0].write.io_bytes / 2, rel=0.01)


@pytest.mark.parametrize("pace", ["rate=1m", "thinktime=100", "fsync=8"])
def test_paced_jobs_need_zones_of_their_own(pace: str) -> None:
    with pytest.raises(InputError, match=r"(?s)at offset 0: .*a range apart .*offset_increment.*think time"):
        run(f"{RAND_WRITE}{pace}", zoned_drive(), timed=True)
    apart = "offset_increment=32g\nsize=32g\nnumjobs=8"
    assert run(f"{RAND_WRITE}{pace}\n{apart}\nruntime=20", zoned_drive(), timed=True).failure is None


AREA = {"zones.random_write_area_bytes": "1048576", "zones.flush_granularity_bytes": "16384"}


@pytest.mark.parametrize("timed", [False, True], ids=["untimed", "timed"])
def test_what_is_overwritten_in_a_random_write_area_is_not_programmed(timed: bool) -> None:
    text = "[log]\nzonemode=zbd\nrw=write\nbs=16k\niodepth=8\nloops=2\nzrwa_overwrite=30"
    result = run(text, zoned_drive(**AREA), timed=timed)
    assert result.failure is None and result.zones is not None
    counts = result.zones.get("random_write_areas")
    assert counts is not None and result.zones["refused"] == counts["gap_units"] == 0
    assert counts["overwritten_units"] * 4096 == pytest.approx(0.3 * result.ledger.host_written_bytes, rel=0.02)
    assert result.settled_waf == pytest.approx(0.7 * PARITY, rel=0.01)


def test_overwriting_needs_an_area_and_zones() -> None:
    with pytest.raises(InputError, match="random_write_area_bytes"):
        run("[a]\nzonemode=zbd\nrw=write\nzrwa_overwrite=30%", zoned_drive())
    with pytest.raises(InputError, match="zonemode=zbd"):
        parse("[a]\nrw=write\nzrwa_overwrite=30").resolve(1 << 30, seed=1)
    with pytest.raises(InputError, match=r"multiple of zones\.flush_granularity_bytes"):
        zoned_drive(**AREA | {"zones.random_write_area_bytes": "10000"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rw=write", "zonemode=zbd"),
        ("rw=randwrite\nzonemode=zbd\nzonesize=1m", "zone_bytes"),
        ("rw=randwrite\nzonemode=zbd\nbs=512", "block_sizes.write"),
        ("rw=randtrim\nzonemode=zbd\nbs=4k", "block_sizes.trim"),
        ("rw=randwrite\nzonemode=zbd\nzone_reset_threshold=2", "zone_reset_threshold"),
        ("rw=randwrite\nzonemode=zbd\nrandom_distribution=zipf:1.1\nzonecapacity=8k", "zonecapacity"),
    ],
)
def test_what_a_zoned_drive_does_not_take(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        run(f"[a]\n{text}", zoned_drive())


def test_an_ordinary_drive_needs_the_size_of_a_zone() -> None:
    tiny = drive("tiny", settings={"nand.blocks_per_plane": "256"})
    # A regression: the engine refused it, by a name of its own and without the line.
    with pytest.raises(InputError, match=r"line 3: zonemode=zbd: the drive has no zones.*add zonesize=SIZE"):
        run("[a]\nrw=randwrite\nzonemode=zbd", tiny)
    result = run("[a]\nrw=randwrite\nzonemode=zbd\nzonesize=64k\nmax_open_zones=1", tiny)
    assert result.zones is None and result.failure is None


def test_the_zones_say_what_the_host_may_use() -> None:
    with pytest.raises(InputError, match=r"zones\.zone_bytes"):
        drive(FOLDER / "zoned.toml", op=0.07)
    with pytest.raises(InputError, match="at most"):
        zoned_drive(**{"ftl.user_bytes": str(310 * GIB)})
    with pytest.raises(InputError, match="superblock"):
        zoned_drive(**{"ftl.erase_unit": "block"})


def test_a_zoned_drive_is_not_mounted(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ssdlab", "mount", str(tmp_path), "--drive", str(FOLDER / "zoned.toml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "zones.zone_bytes" in done.stderr and "serve --nvme" in done.stderr
