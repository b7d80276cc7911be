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
from ssdlab import lifetime
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
    years = 18 / 82 * 29201.7 / 301.7 * 7 / 365
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
    assert done.returncode == 0
    assert "No rating is named: 1 amplifies" in " ".join(done.stdout.split())
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
    assert f"its time with power: {26168 / 8760 * 18 / 82:.3g} (" in done.stdout


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
    assert (row["years_left"], row["years_by"]) == (pytest.approx(8), "the rise of its used percentage")
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
        (0.004, "less than 0.01 drive writes a day, which a rating of 0.3 drive writes a day allows."),
        (0.5, "0.50 drive writes a day, which a rating of 1 drive write a day allows."),
        (1.0, "1.00 drive writes a day, which a rating of 1 drive write a day allows."),
        (2.0, "2.00 drive writes a day, which a rating of 3 drive writes a day allows."),
        (25.0, "25.00 drive writes a day, which a rating of 30 drive writes a day allows."),
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
        (["--writes-per-day", "325GB", "--rated-tbw", "150", "--drive", "generic-tlc-480"], "a rating of 1 drive"),
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


def test_no_life_is_said_of_a_drive_whose_use_sets_no_upper_bound(ssdlab: Program, tmp_path: Path) -> None:
    """A regression: a drive that said 1 % used from its first hour on was to be replaced within a month, and `lifetime`
    said "0.0113 (0.00559 to inf) years left". 1 % can be anything up to 2 %."""
    new = nvme(12_000, used=1) | {"power_on_time": {"hours": 1}, "user_capacity": {"bytes": 10**12}}
    new["ocp_smart_log"] = {"Physical media units written": {"hi": 0, "lo": 18 * 10**9}}
    (tmp_path / "new.json").write_text(json.dumps(new))
    done = ssdlab("health", "new.json")
    assert done.returncode == 0 and "plan its replacement" not in done.stdout, done.stdout
    assert "life         not known" in ssdlab("lifetime", "--smart", "new.json", "--output", "new").stdout
    page = (tmp_path / "new/report.html").read_text(encoding="utf-8")
    assert "Life of NVME N1: not known" in page, "was: a bug, list index out of range"
    said = " ".join(ssdlab("advise", "smart", "new.json").stdout.split())
    assert "too early for a reliable figure" in said and " left, by" not in said and "more years" not in said
    (as_is,) = (line for line in ssdlab("fleet", "smart", "new.json").stdout.splitlines() if "as they are" in line)
    assert as_is.split()[-3:] == ["0", "to", "1"]
    old = new | {"power_on_time": {"hours": 30_000}}
    (tmp_path / "old.json").write_text(json.dumps(old))
    assert ": more than 168 years left" in ssdlab("lifetime", "--smart", "old.json", "--output", "old").stdout
    unused = old | {
        "nvme_smart_health_information_log": new["nvme_smart_health_information_log"] | {"percentage_used": 0}
    }
    (tmp_path / "unused.json").write_text(json.dumps(unused))
    assert "more than 339 years" in repr(lifetime(smart=[str(tmp_path / "unused.json")])), "was: inf to inf years"
    assert "NVME N1 lasts more than 168 years" in (tmp_path / "old/report.html").read_text(encoding="utf-8")
    assert "more than 50 years left, by" in " ".join(ssdlab("advise", "smart", "old.json").stdout.split())


def test_a_drive_past_its_rated_life_has_no_years_to_gain(ssdlab: Program, tmp_path: Path) -> None:
    """A regression: "by its used percentage: 0 (0 to inf) years left", and "0 more years" for each spare area."""
    past = nvme(1_200_000_000, used=103) | {"power_on_time": {"hours": 30_000}, "user_capacity": {"bytes": 10**12}}
    past["ocp_smart_log"] = {"Physical media units written": {"hi": 0, "lo": 18 * 10**14}}
    (tmp_path / "past.json").write_text(json.dumps(past))
    assert ": 0 years left" in ssdlab("lifetime", "--smart", "past.json").stdout
    said = " ".join(ssdlab("advise", "smart", "past.json").stdout.split())
    assert "past its rated life (103 % used)" in said and "more years" not in said


def test_reports_without_a_time_have_the_drives_hours(ssdlab: Program, tmp_path: Path) -> None:
    """A regression: `lifetime` said "time unknown" of logs of nvme-cli, and `health` the rate by the hours."""
    for name, written, hours in (("a", 110_000_000, 17_000), ("b", 120_000_000, 17_720)):
        log = {"avail_spare": 100, "percent_used": 12, "data_units_written": written, "power_on_hours": hours}
        (tmp_path / f"{name}.json").write_text(json.dumps(log))
    said = ssdlab("lifetime", "--before", "a.json", "--after", "b.json", "--rated-tbw", "600TB").stdout
    assert said.startswith("b.json, 30.0 days") and "170.7 GB a day over the last 30 days" in said
    years = (600 - 120 * 0.512) / 0.17067 / 365
    assert f"by the rated TBW: {years:.3g}" in said


def test_seconds_between_reports_give_no_years(ssdlab: Program, tmp_path: Path) -> None:
    for name, day in (("a", 0.0), ("b", 7 / 86400)):
        (tmp_path / f"{name}.json").write_text(json.dumps(nvme(10**8 + round(day * 10**6), day=day)))
    said = ssdlab("lifetime", "--before", "a.json", "--after", "b.json", "--rated-tbw", "600TB").stdout
    assert said.startswith("NVME N1, 7 s") and "less than 6 hours lie between the readings" in said


def test_counters_that_fell_are_said_to_have(ssdlab: Program, tmp_path: Path) -> None:
    """A regression: after a reset, or with a wrong clock, one of the reports was taken without a word. A rate has the
    reports since then."""
    for name, written, hours, day in (("a", 120_000_000, 4000, 0), ("b", 30_000, 20, 50), ("c", 60_000, 740, 80)):
        log = nvme(written, used=0, day=day) | {"power_on_time": {"hours": hours}}
        (tmp_path / f"{name}.json").write_text(json.dumps(log))
    (row,) = json.loads(ssdlab("health", "a.json", "b.json", "--format", "json").stdout)["drives"]
    assert row["level"] == "note" and row["source"] == "b.json" and row["reports"] == 2
    assert "what the host wrote from 61.4 TB to 15.4 GB, the hours with power from 4,000 to 20" in row["concerns"]
    (row,) = json.loads(ssdlab("health", "a.json", "b.json", "c.json", "--format", "json").stdout)["drives"]
    assert row["host_bytes_per_day"] == pytest.approx(30_000 * 512_000 / 30) and "fell" in row["concerns"]
    done = ssdlab("lifetime", "--smart", "a.json", "--smart", "b.json", "--smart", "c.json")
    assert done.returncode == 2 and "counters fell between the reports" in done.stderr


def test_a_clock_that_was_not_set_gives_no_time() -> None:
    """A regression: a report of 1970 and one of 2024 were 54 years apart, and the rate was that over 54 years."""
    pair = [nvme(10**6 * (1 + day), day=365 * day) | {"power_on_time": {"hours": 4000 + 720 * day}} for day in (0, 1)]
    for unset in pair:
        stored = unset["local_time"]
        unset["local_time"] = {"time_t": 192}
        row = drive.combined([drive.row_of(_read(each), "x") for each in pair])
        assert (
            row["host_bytes_per_day"] == pytest.approx(10**6 * 512_000 / 30)
            and row["host_bytes"] == 2 * 10**6 * 512_000
        )
        unset["local_time"] = stored


def test_reports_of_one_second_are_in_the_order_of_their_bytes() -> None:
    pair = [drive.row_of(_read(nvme(10**6 - 50 * at)), "x") for at in (0, 1)]
    assert drive.fall_of(pair) is None and drive.combined(pair)["host_bytes"] == 10**6 * 512_000
