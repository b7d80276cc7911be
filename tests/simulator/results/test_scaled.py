"""A scaled run reports figures of the full drive. A regression: 1/256 of an endurance rating was printed as the
drive's."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from ssdlab.experiments.comparison.axes import plan
from ssdlab.experiments.comparison.output import compared
from ssdlab.experiments.comparison.table import print_table
from ssdlab.experiments.comparison.variant import Variant
from ssdlab.experiments.sweeps.rows import row
from ssdlab.presentation.report import findings
from ssdlab.presentation.report.table import variants_table
from ssdlab.simulator import workloads
from ssdlab.simulator.drives import load
from ssdlab.simulator.results.text import normal
from ssdlab.simulator.targets import simulated
from ssdlab.simulator.workloads.specifying import specify
from ssdlab.theory import endurance

JOB = Path(__file__).parents[3] / "jobs" / "randwrite.fio"


@pytest.fixture(scope="module")
def variant() -> Variant:
    planned = plan(["generic-tlc-480"], None, [], scale=Fraction(1, 256))[0]
    result = simulated.run(specify(workloads.load(str(JOB)), planned.drive, timed=False, precondition="fill"))
    return Variant(planned, result, 1.0)


def test_ratings_and_bytes_are_those_of_the_drive_as_sold(variant: Variant) -> None:
    drive = load("generic-tlc-480")
    waf = variant.result.settled_waf
    assert waf is not None
    tbw = endurance.lifetime_bytes(drive.nand.endurance_cycles, drive.capacity.physical_bytes, waf)
    assert variant.tbw_bytes == pytest.approx(tbw)
    assert variant.years == pytest.approx(endurance.years(tbw, 1.0, drive.capacity.user_bytes), rel=1e-3)
    shown = compared([variant])[0]
    # The fill and four passes of the job.
    assert shown.host_written_bytes == pytest.approx(5 * drive.capacity.user_bytes, rel=1e-3)
    assert shown.user_bytes == pytest.approx(drive.capacity.user_bytes, rel=1e-3)
    assert shown.series["host_written_bytes"][-1] == shown.host_written_bytes == shown.stages[-1][2]
    assert shown.tbw_bytes == variant.tbw_bytes
    assert row({}, variant.result, drive.nand.endurance_cycles)["tbw_bytes"] == pytest.approx(tbw)


@pytest.mark.parametrize(("size", "is_told"), [("100%", True), ("90%", False)])
def test_a_run_that_writes_little_has_no_life(size: str, is_told: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """Regressions: of one request of 4 KiB a TBW of 3,221 TB and 9.19 years; of a trace of 23 MB "10 years"."""
    planned = plan(["tiny"], None, [])[0]
    job = workloads.load(f"fio --name=a --rw=write --bs=4k --size={size}")
    short = Variant(planned, simulated.run(specify(job, planned.drive, timed=False)), 1.0)
    assert ((short.tbw_bytes is not None), (short.years is not None)) == (is_told, is_told)
    print_table([short], Console(width=200))
    assert ("no TBW: the last stage wrote less than the drive's capacity" in capsys.readouterr().out) is not is_told
    assert (row({}, short.result, 3000)["tbw_bytes"] is not None) is is_told
    assert ("years" in compared([short])[0].missing) is not is_told
    assert ("years" in findings.summary(compared([short]))) is is_told


@pytest.mark.parametrize(("ios", "is_empty"), [(1, True), (100_000, False)])
def test_a_drive_that_holds_nearly_nothing_has_no_figure_of_effective_spare_area(
    ios: int, is_empty: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """A regression: "effective OP=488,063 times" after one request."""
    planned = plan(["generic-tlc-480"], None, [], scale=Fraction(1, 256))[0]
    job = workloads.load(f"fio --name=a --rw=write --bs=4k --number_ios={ios * 256} --direct=1")
    short = Variant(planned, simulated.run(specify(job, planned.drive, timed=False)), 1.0)
    assert ("effective OP=above 10 times (the drive holds nearly no data)" in normal(short.result)) is is_empty
    print_table([short], Console(width=200))
    table = capsys.readouterr().out
    assert ("above 10 times" in table and "never-written space; above 10 times: the drive" in table) is is_empty
    assert ("above 10 times</td>" in str(variants_table(compared([short])))) is is_empty


def test_json_has_both(variant: Variant) -> None:
    ours: Any = variant.to_dict()["ssdlab"]
    assert ours["scaled"]["scale"] == "1/256"
    assert ours["scaled"]["host_written_bytes"] == 256 * ours["host"]["written_bytes"]
    assert ours["scaled"]["nand_programmed_bytes"] == 256 * ours["nand"]["programmed_bytes"]["total"]
    assert ours["scaled"]["physical_bytes"] == load("generic-tlc-480").capacity.physical_bytes
    assert ours["variant"]["tbw_bytes"] == variant.tbw_bytes
    full = plan(["tiny"], None, [])[0].drive
    job = workloads.load(str(JOB))
    assert simulated.run(specify(job, full, timed=False)).to_dict()["ssdlab"]["scaled"] is None


def test_table_and_text_name_the_scale_once(variant: Variant, capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    print_table([variant], Console(width=160))
    printed = capsys.readouterr().out
    assert printed.count("1/256") == 1 and "2.4" in printed
    text = normal(variant.result)
    assert text.count("1/256") == 1 and "as sold: flash=480 GiB, host=480.1 GB, written=2.4 TB" in text
