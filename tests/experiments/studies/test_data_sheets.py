"""The study of data sheets: its rows are simulated under their conditions, as the stored counts say."""

from fractions import Fraction
from pathlib import Path

import pytest

from ssdlab.errors import InputError
from ssdlab.experiments.studies import Context
from ssdlab.experiments.studies.data_sheets import comparison, simulating
from ssdlab.experiments.studies.studying import study
from ssdlab.simulator.drives import load, standing
from ssdlab.simulator.drives.data_sheet import Rated
from ssdlab.simulator.drives.schema import mean_us
from ssdlab.simulator.targets import simulated

SHEET = """based_on = "textbook"
[host_link]
interface = "sata-3g"
[datasheet]
source = "by hand"
rows = [
  { quantity = "random read latency", value = 69.4, unit = "us" },
  { quantity = "random write", value = 9e9, unit = "IOPS", depth = 8, state = "steady", fitted = ["nand.program_us"] },
]
"""


@pytest.mark.parametrize("name", ["samsung-845dc-pro-400gb", "samsung-pm983-960gb"])
def test_the_stored_values_are_those_of_the_engine(name: str) -> None:
    found = [value for _, value in comparison.simulate(Context(workers=1), [load(name)])]
    stored = [row["simulated"] for row in standing.stored()["drives"][name]["rows"]]
    assert found == pytest.approx(stored, rel=1e-4), f"run tools/standing.py {name}"


def test_a_drive_file_of_ones_own_is_studied(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(SHEET)
    studied = study("data-sheets", drive=str(path), workers=1)
    read, write = studied.result.rows
    nand = load("textbook").nand
    # Alone on the drive: the array, the channel and the link, at 285 MB/s.
    by_hand = mean_us(nand.read_us) + 4096 / nand.channel_mb_s + 4096 / 285
    assert read.simulated == pytest.approx(by_hand, rel=1e-3)
    assert (read.unit, write.fitted and write.fitted.parameters, read.fitted) == ("us", ("nand.program_us",), None)
    assert studied.finding.startswith("1 of 2 rows of the data sheets of 1 drive are met within 10 %, 1 within 15 %")
    names = studied.write(tmp_path / "out", pictures="svg")
    page = (tmp_path / "out" / "report.html").read_text()
    assert f"--drive {path}" in page and "pictures/rated-and-simulated-light.svg" in names


@pytest.mark.parametrize(
    ("row", "block", "depth"),
    [
        (Rated("sequential read", 1.0, "MB/s", ""), 131072, 32),
        (Rated("random read", 1.0, "IOPS", ""), 4096, 256),
        (Rated("sequential read latency", 1.0, "us", ""), 4096, 1),
        (Rated("random write", 1.0, "IOPS", "", block_bytes=8192, depth=64), 8192, 64),
    ],
)
def test_a_condition_that_is_not_given_is_the_usual_one(row: Rated, block: int, depth: int) -> None:
    assert simulating.condition(row, load("samsung-pm983-960gb")) == (block, depth)


def test_fresh_and_steady_writes_differ_by_garbage_collection() -> None:
    drive = simulating.resolved(load("samsung-pm983-960gb"), full=False)
    wafs = []
    for state in ("fresh", "steady"):
        row = Rated("random write", 1.0, "IOPS", "", state=state)
        wafs.append(simulated.run(simulating.specify(drive, row, seed=1)).settled_waf)
    assert wafs[0] == pytest.approx(1.0, abs=0.01) and wafs[1] is not None and wafs[1] > 2


def test_a_row_takes_seconds() -> None:
    for name in ("samsung-pm883-1920gb", "kioxia-cm7-r-3840gb", "x25m-g2-160gb"):
        file = load(name)
        scale = simulating.scale_of(file)
        is_smallest = file.nand.pages_per_block * scale < 2 * file.nand.pages_per_program
        assert is_smallest or file.capacity.flash_units * scale <= simulating.UNITS_MAX
    assert simulating.scale_of(load("tiny")) == Fraction(1)


def test_a_drive_without_rows_and_another_study_are_refused() -> None:
    with pytest.raises(InputError, match="tiny: has no row"):
        study("data-sheets", drive="tiny")
    with pytest.raises(InputError, match="zones has drives of its own"):
        study("zones", drive="tiny")
