"""PNY's study on drives small enough for a test: the figures that it must reproduce."""

from fractions import Fraction

import polars as pl
import pytest

import ssdlab
from ssdlab.experiments.studies import Context
from ssdlab.experiments.studies.contract import Verdict
from ssdlab.experiments.studies.pny_over_provisioning import endurance, performance, reliability
from ssdlab.experiments.studies.pny_over_provisioning.drives import FOLDER, RESERVE_GB
from ssdlab.simulator.drives import drive as drive_of
from ssdlab.simulator.workloads import jobs
from ssdlab.simulator.workloads.specifying import specify

PARTS_OF_THE_DRIVE = 80
"""The number of parts in which files are written and trimmed; a larger file frees more space while it is deleted."""


def test_the_reserve_of_the_endurance_test_gives_the_speed_straight_after_an_erase(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(performance, "SCALE", "1/128")
    monkeypatch.setattr(performance, "SEEDS", 1)
    monkeypatch.setattr(performance, "RESERVES_GB", (0.0, RESERVE_GB))
    result = performance.run(Context(seed=2, workers=1))
    fresh, *_, gain = (row for row in result.rows if row.what.startswith("gain"))
    assert fresh.simulated == pytest.approx(80, abs=5) and fresh.unfitted == pytest.approx(65, abs=5)
    assert fresh.verdict is Verdict.MET and fresh.is_left_out, "the reserve was fitted to another test"
    assert gain.verdict is None, "a variant of what was published counts for nothing"
    assert gain.simulated == pytest.approx(122, abs=8)
    (start,) = (row for row in result.rows if row.what.startswith("competitor against"))
    assert start.verdict is Verdict.MISSED and start.simulated == pytest.approx(100, abs=1), "nothing makes it slower"
    (hours,) = result.tables
    gains = [float(str(row[3])) for row in hours.rows]
    assert gains == sorted(gains) and hours.rows[-1][0] == "every address written"
    frame = result.series["random-writes"].filter(pl.col("state") == performance.PREPARED)
    assert frame["seconds"].max() == pytest.approx(performance.HOURS * 3600, rel=0.02), "times are the full drive's"


def test_one_share_explains_both_drives_with_their_reserve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endurance, "SEEDS", 1)
    monkeypatch.setattr(endurance, "POLICIES", {endurance.AS_FILED: {}})
    monkeypatch.setattr(endurance, "RESERVES_GB", (0.0, 2.0, RESERVE_GB, 4.0))
    result = endurance.run(Context(workers=1))
    *both, ratio = result.rows[:3]
    assert all(row.is_within_tolerance for row in (*both, ratio))
    assert all(row.verdict is Verdict.SATURATED for row in result.rows), "two parameters for two points prove nothing"
    reserves, _, policies, _ = result.tables
    stated, _ = policies.rows
    assert float(str(stated[5])) == pytest.approx(100 * endurance.SHARE, abs=0.5), "the share is the fitted one"
    crossed = {str(row[0]): abs(float(str(row[-1]))) for row in reserves.rows}
    assert min(crossed, key=crossed.__getitem__) == "3 GB", "the reserve is where the shares of the drives agree"
    assert crossed["3 GB"] < 2 < crossed["4 GB"] and crossed["0 GB"] > 5


def test_the_reserve_and_the_spare_area_are_those_of_the_drive_files() -> None:
    for name, op in (("competitor-128gb", reliability.ZERO), ("pny-120gb", reliability.SEVEN)):
        drive = ssdlab.drive(name)
        assert drive.file.specification["ftl"]["reserved_bytes"] == RESERVE_GB * 1e9
        assert drive.capacity.over_provisioning == pytest.approx(op, abs=1e-4)


@pytest.mark.parametrize("name", ["pny-120gb", "competitor-128gb"])
def test_files_that_are_trimmed_are_never_copied(name: str) -> None:
    """The study adds a share of bytes to the mix by arithmetic; here the engine writes and trims them as files."""
    scale = Fraction(1, 64)
    drive = ssdlab.drive(name, scale=scale)
    mix = jobs.load(FOLDER / endurance.JOB, environment={"USED_PERCENT": "100"})
    (alone,) = Context(workers=1).simulate({"the mix": specify(mix, drive, until="steady", timed=False)}).values()
    user_bytes = ssdlab.drive(name).capacity.user_bytes
    part_bytes = user_bytes // PARTS_OF_THE_DRIVE
    file_bytes = round(part_bytes * endurance.SHARE / 2**20) * 2**20
    mixed_bytes = round((user_bytes - file_bytes) / 2**20) * 2**20
    text = f"[prime]\nrw=write\nbs=128k\niodepth=32\nsize={mixed_bytes}\n"
    of_mix = "".join(
        f"{line.written}\n"
        for line in mix.sections[-1].settings.values()
        if line.raw.key not in ("stonewall", "size", "rw", "rwmixread")
    )
    for part in range(5 * PARTS_OF_THE_DRIVE):
        text += f"[mix-{part}]\nstonewall\n{of_mix}rw=randwrite\nsize={mixed_bytes}\n"
        text += f"io_size={round(part_bytes * (1 - endurance.SHARE) / 4096) * 4096}\n"
        where = f"stonewall\nbs=128k\noffset={mixed_bytes}\nsize={file_bytes}\n"
        text += f"[file-{part}]\n{where}rw=write\niodepth=32\n[delete-{part}]\n{where}rw=trim\n"
    (found,) = Context(workers=1).simulate({"files": specify(jobs.parse(text, "files"), drive, timed=False)}).values()
    late = [job.ledger for job in found.jobs if job.ledger.host_written_bytes][-4 * PARTS_OF_THE_DRIVE :]
    waf = sum(ledger.programmed_bytes for ledger in late) / sum(ledger.host_written_bytes for ledger in late)
    assert waf == pytest.approx(endurance.with_share(alone.settled_waf or 0.0), rel=0.04)


def test_other_consumer_drives_would_copy_half_as_much_again_with_the_same_reserve() -> None:
    for name, filed, kept, waf, waf_kept in endurance._others_table().rows:
        assert isinstance(waf, float) and isinstance(waf_kept, float)
        model = drive_of(str(name))
        assert filed == f"{model.capacity.over_provisioning:.1%}"
        flash = model.capacity.physical_bytes
        # The share of the two drives of the white paper: 3 GB of 128 GiB.
        reserved = drive_of(str(name), settings={"ftl.reserved_bytes": str(round(flash * 3e9 / 2**37))})
        assert float(str(kept).rstrip("%")) / 100 == pytest.approx(reserved.capacity.over_provisioning, abs=0.002)
        assert 1.3 < (waf_kept - 1) / (waf - 1) < 1.6, name
