"""One life from the same reports, in whatever command they are given and in whatever form they are.

`health` said 9.2 years and `advise smart` 5.9, and `lifetime` refused the text that the others read.
"""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pasted import CASES, rows, unknown_drive
from program import Program, program_in
from reports import nvme
from ssdlab.field.health import drive
from ssdlab.field.health.concerns import duration
from ssdlab.hardware.smart import reading
from ssdlab.hardware.smart.reading import Reading
from ssdlab.theory import endurance_class

BEFORE, AFTER = (str(CASES / f"s28-mx500-{when}.txt") for when in ("before", "after"))


@pytest.fixture
def ssdlab(tmp_path: Path) -> Program:
    return program_in(tmp_path)


def test_every_command_says_the_same_life(ssdlab: Program, tmp_path: Path) -> None:
    """In seven days the flash took 301.7 M of the 29,201.7 M pages that it ever took, for 82 % of its life."""
    years = 18 / 82 * 29201.7 / 301.7 * 7 / 365.25
    (row,) = json.loads(ssdlab("health", BEFORE, AFTER, "--json").stdout)["drives"]
    assert row["years_left"] == pytest.approx(years)
    assert row["host_bytes"] == 24096625190 * 512 and row["left_bytes"] == pytest.approx(24096625190 * 512 * 18 / 82)
    for given in (("--before", BEFORE, "--after", AFTER), ("--smart", AFTER, "--smart", BEFORE)):
        said = ssdlab("lifetime", *given).stdout
        assert f"what was written to flash: {years:.3g} (" in said
        assert "12.3 TB since it was new; 2.7 TB (2.5 TB to 2.9 TB) left" in said
    said = " ".join(ssdlab("advise", "smart", BEFORE, AFTER).stdout.split())
    assert f"{duration(years)} left, by its used percentage and what was written to flash" in said
    done = ssdlab("fleet", "smart", BEFORE, AFTER, "--output", "out")
    assert done.returncode == 0 and "No class of drives is said to be enough: 1 amplify" in done.stdout
    frame = pl.read_parquet(tmp_path / "out/data/fleet.parquet")
    assert frame["years_low"][0] == pytest.approx(years)


def test_a_drive_that_no_workload_explains_gets_no_simulated_life(ssdlab: Program) -> None:
    """A regression: reports of a write amplification of 177, with 5 months left, were answered by a simulated drive of
    5.8: "the drive as sold meets every limit: 52.8 years"."""
    done = ssdlab(
        "advise",
        "space",
        "--smart",
        BEFORE,
        "--smart",
        AFTER,
        "--drive",
        "generic-sata-tlc-500",
        "--life",
        "5y",
        "--output",
        "out",
    )
    assert done.returncode == 2 and "meets every limit" not in done.stdout
    assert "5 months left" in " ".join(done.stdout.split())
    assert "no workload is known that would give the simulated drive the write amplification" in done.stderr


def test_any_form_will_do(ssdlab: Program, tmp_path: Path) -> None:
    quoted = "".join(f"> {line}\n" for line in Path(BEFORE).read_text().splitlines())
    (tmp_path / "mail.txt").write_text(quoted)
    both = ssdlab("lifetime", "--before", "mail.txt", "--after", AFTER)
    assert both.returncode == 0, both.stderr
    assert both.stdout == ssdlab("lifetime", "--before", BEFORE, "--after", AFTER).stdout
    (tmp_path / "both.txt").write_text(f"{Path(BEFORE).read_text()}\n{Path(AFTER).read_text()}\n")
    assert ssdlab("lifetime", "--smart", "both.txt").stdout == both.stdout


def test_one_report_gives_the_mean_since_the_drive_was_new(ssdlab: Program) -> None:
    done = ssdlab("lifetime", "--smart", AFTER)
    assert done.returncode == 0, done.stderr
    assert f"its time with power: {26168 / 8766 * 18 / 82:.3g} (" in done.stdout


def test_reports_of_two_drives_are_not_one(ssdlab: Program, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text(json.dumps(nvme(5)))
    done = ssdlab("lifetime", "--smart", BEFORE, "--smart", "other.json")
    assert done.returncode == 2 and "reports of several drives" in done.stderr
    done = ssdlab("lifetime", "--before", BEFORE, "--after", "other.json")
    assert done.returncode == 2 and "from two drives" in done.stderr


def test_the_most_direct_measure_of_wear_is_used() -> None:
    """The percentage rose by 10 of the 80 left; by what was written only half of the time would be left."""
    pair = [drive.row_of(_read(nvme(10**6 * (1 + day), used=10 + 10 * day, day=365 * day)), "x") for day in (0, 1)]
    row = drive.combined(pair)
    assert (row["years_left"], row["years_by"]) == (pytest.approx(8 * 365 / 365.25), "the rise of its used percentage")
    pair = [drive.row_of(_read(nvme(10**6 * (1 + day), used=20, day=365 * day)), "x") for day in (0, 1)]
    assert drive.combined(pair)["years_by"] == "its used percentage and the host's writes"


def _read(report: dict[str, Any]) -> Reading:
    return reading.parse(report, "x")


def test_reports_of_one_minute_give_no_rate() -> None:
    pair = [drive.row_of(_read(nvme(10**6 + 9 * at, day=at / 1440)), "x") for at in (0, 1)]
    row = drive.combined(pair)
    assert row["reports"] == 2 and row["pace_between_reports"] is not True


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        (0.004, "less than 0.01 drive writes a day: a drive of 0.3 drive writes a day is enough."),
        (0.5, "0.50 drive writes a day: a drive of 1 drive write a day is enough."),
        (1.0, "1.00 drive writes a day: a drive of 1 drive write a day is enough."),
        (2.0, "2.00 drive writes a day: a drive of 3 drive writes a day is enough."),
        (25.0, "25.00 drive writes a day: a drive of 30 drive writes a day is enough."),
        (200.0, "200.00 drive writes a day: more than any class of drives is rated for (100)."),
    ],
)
def test_classes_of_endurance(rate: float, said: str) -> None:
    assert endurance_class.sentence(rate) == said


def test_health_says_the_class() -> None:
    (row,) = rows(unknown_drive("SAMSUNG MZ7LH480HAHQ-00005", "X", [(241, "Total_LBAs_Written", 99, str(3 * 10**11))]))
    rate = 3e11 * 512 / (9000 / 24) / 480103981056
    assert row["drive_writes_per_day"] == pytest.approx(rate) and row["endurance_class"] == 1.0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--writes-per-day", "325GB", "--rated-tbw", "150"], "150 TB rated at 325 GB a day: 1.26 years"),
        (["--writes-per-day", "325GB", "--rated-tbw", "150TB"], "150 TB rated at 325 GB a day: 1.26 years"),
        (["--writes-per-day", "1TB", "--rated-tbw", "365"], "1 years"),
        (["--writes-per-day", "325GB", "--rated-tbw", "150", "--drive", "generic-tlc-480"], "a drive of 1 drive write"),
    ],
)
def test_a_rating_alone_answers(ssdlab: Program, words: list[str], said: str) -> None:
    done = ssdlab("lifetime", *words)
    assert done.returncode == 0 and said in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--writes-per-day", "0GB", "--rated-tbw", "150"], "--writes-per-day is 0"),
        (["--writes-per-day", "325GB", "--rated-tbw", "-1"], "'-1': allowed is a number of TB above 0"),
        (["--writes-per-day", "325GB"], "--rated-tbw"),
        (["--smart", "no.txt"], "no.txt: is neither a file"),
        (["--smart", AFTER, "--before", BEFORE, "--after", AFTER], "leave out --before and --after"),
    ],
)
def test_what_is_wrong_is_said(ssdlab: Program, words: list[str], said: str) -> None:
    done = ssdlab("lifetime", *words)
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr
