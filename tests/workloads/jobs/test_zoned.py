"""Jobs with `zonemode=zbd`, on a drive with zones and on an ordinary one."""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ssdlab.drives import ResolvedDrive, drive
from ssdlab.errors import InputError
from ssdlab.studies.zones.comparison import CAPACITY_MIB, FOLDER, GIB, MIB, STRIPE, ZONES
from ssdlab.targets import simulated
from ssdlab.workloads import specifying
from ssdlab.workloads.jobs import parse

if TYPE_CHECKING:
    from ssdlab.results import Result

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
    with pytest.raises(InputError, match="zonesize"):
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


def test_a_zoned_drive_is_not_served(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ssdlab", "mount", str(tmp_path), "--drive", str(FOLDER / "zoned.toml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert "only runs of jobs know zones" in done.stderr
