"""PNY's study on drives small enough for a test: the figures that it must reproduce."""

from fractions import Fraction

import polars as pl
import pytest

import ssdlab
from ssdlab.experiments.studies import Context
from ssdlab.experiments.studies.contract import Verdict
from ssdlab.experiments.studies.pny_over_provisioning import endurance, performance
from ssdlab.simulator.workloads import jobs
from ssdlab.simulator.workloads.specifying import specify

PARTS_OF_THE_DRIVE = 80
"""The number of parts in which files are written and trimmed; a larger file frees more space while it is deleted."""


def test_spare_area_makes_the_steady_state_faster_the_more_addresses_are_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(performance, "SCALE", "1/128")
    monkeypatch.setattr(performance, "SEEDS", 1)
    result = performance.run(Context(seed=2, workers=1))
    fresh, *_, gain = (row for row in result.rows if row.what.startswith("gain"))
    assert fresh.verdict is Verdict.MISSED and fresh.simulated == pytest.approx(63, abs=6)
    assert gain.verdict is None, "a variant of what was published counts for nothing"
    assert gain.simulated == pytest.approx(82, abs=6), "greedy victims give 1.80 to 1.84 times"
    hours, faster = result.tables
    gains = [float(str(row[3])) for row in hours.rows]
    assert gains == sorted(gains) and hours.rows[-1][0] == "every address written"
    unwritten = [float(str(row[2])) for row in faster.rows]
    assert unwritten == sorted(unwritten, reverse=True), "faster flash leaves less unwritten"
    frame = result.series["random-writes"].filter(pl.col("state") == performance.PREPARED)
    assert frame["seconds"].max() == pytest.approx(performance.HOURS * 3600, rel=0.02), "times are the full drive's"


def test_one_share_explains_both_drives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endurance, "SEEDS", 1)
    policies = {name: endurance.POLICIES[name] for name in (endurance.AS_FILED, endurance.STATED)}
    monkeypatch.setattr(endurance, "POLICIES", policies)
    result = endurance.run(Context(workers=1))
    *both, ratio = result.rows[:3]
    assert all(row.is_within_tolerance for row in (*both, ratio))
    assert all(row.verdict is Verdict.SATURATED for row in (*both, ratio)), (
        "two parameters for two points prove nothing"
    )
    assert [row.deviation for row in result.rows[-2:]] == pytest.approx([0, 0], abs=0.08)
    (stated,) = (row for row in result.tables[0].rows if row[0] == endurance.STATED)
    assert float(str(stated[5])) == pytest.approx(100 * endurance.SHARE, abs=1), "the share is the fitted one"
    as_filed = result.tables[0].rows[0]
    assert both[0].unfitted == as_filed[1], "unfitted: neither the share nor the choice of the victims"


@pytest.mark.parametrize("name", ["pny-120gb", "competitor-128gb"])
def test_files_that_are_trimmed_are_never_copied(name: str) -> None:
    """The study adds a share of bytes to the mix by arithmetic; here the engine writes and trims them as files."""
    scale = Fraction(1, 64)
    drive = ssdlab.drive(name, scale=scale, settings={"ftl.victim": "cost-benefit"})
    mix = jobs.load(endurance.FOLDER / endurance.JOB, environment={"USED_PERCENT": "100"})
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
